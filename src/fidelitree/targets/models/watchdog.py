"""Ends a process when the program that started it is gone, whatever became of that program.

A program that is killed (SIGKILL, out of memory) cleans up nothing. So a shell of a few hundred kilobytes waits at a
pipe whose other end only that program holds. The pipe closes with the program, and the shell kills the process group.
PR_SET_PDEATHSIG would do it without a shell, but on Linux alone, and it tells of the end of a thread, not of a program.
Where there is no POSIX shell, as on Windows, there is no watchdog; and a program that forks without starting another
one, as `multiprocessing` may, shares its end of the pipe with what it forked.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress

_WAIT_THEN_KILL = 'read -r line; kill -s KILL -- "-$1"'


def watch(group: int) -> subprocess.Popen[bytes] | None:
    """A watchdog for a process group; None where there can be none."""
    shell = shutil.which("sh") if hasattr(os, "killpg") else None
    if shell is None:
        return None
    return subprocess.Popen(
        [shell, "-c", _WAIT_THEN_KILL, "watchdog", str(group)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C and the end of a terminal are not for it
    )


def dismiss(watchdog: subprocess.Popen[bytes] | None) -> None:
    """End a watchdog before its process is collected: afterwards the number may be another's."""
    if watchdog is None:
        return
    watchdog.kill()
    watchdog.wait()
    if watchdog.stdin is not None:
        with suppress(OSError):
            watchdog.stdin.close()
