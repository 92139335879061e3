"""A process that answers lines with lines: started without a shell, fed without deadlock, ended for certain.

Three threads move the bytes, each the only owner of its pipe, so that neither side can block the other whatever the
size of a batch: the process may answer while it is still being fed, or only afterwards, and complain at any length.
What it writes is limited in bytes (a line, an answer, what waits unread) and in time: only a finished line is progress.

A watchdog ends the process when this program is gone: one that is killed (SIGKILL, out of memory) cleans up nothing. A
shell of a few hundred kilobytes waits at a pipe whose other end only this program holds. The pipe closes with the
program, and the shell kills the process group. PR_SET_PDEATHSIG would do it without a shell, but on Linux alone, and it
tells of the end of a thread, not of a program. Where there is no POSIX shell, as on Windows, there is no watchdog; and
a program that forks without starting another one, as `multiprocessing` may, shares its end of the pipe with that.
"""

from __future__ import annotations

import os
import queue
import shlex
import shutil
import signal
import subprocess
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, NoReturn

from fidelitree.errors import TargetError, warn

_WAIT_THEN_KILL = 'read -r line; kill -s KILL -- "-$1"'
_PIECE = 1 << 16
_GRACE = 5.0  # seconds that a process may take to end once its input is closed
_CLOSE = b""
_LAST_WORDS = 600  # characters of standard error that a message quotes
MOST_LINE = 1 << 16  # bytes of a label
MOST_ANSWER = 1 << 26  # bytes of the labels of one batch
_LOOK = 0.01
SILENT = 5.0
"""Seconds until a first answer after which a warning says what the reason may be."""
_FLUSH = (
    "It must answer every line at once and flush its output, without waiting for the end of its input: mawk needs "
    "-W interactive, python -u, and other programs run under stdbuf -oL"
)
_WAITING = 64  # pieces that wait unread: 4 MB; then the pipe is left to fill up, and the process to wait


class LineProcess:
    """A running process; after any error it is dead, and a new one is needed."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words, self._answered = tuple(words), False
        self._process, watchdog = _started(self.words)
        gone: list[bool] = []  # no lock: the end may come while this very thread holds one
        self._requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._written: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._complaints: deque[bytes] = deque(maxlen=8)
        self._end = weakref.finalize(self, _kill, self._process, watchdog, self._requests.put, gone)
        _start(_feed, self._process.stdin, self._requests.get, self._written.put)
        _start(_drain, self._process.stdout, self._answers.put, self._answers.qsize, gone)
        self._listener = _start(_drain, self._process.stderr, self._complaints.append, lambda: 0, gone)

    def exchange(self, request: bytes, lines: int, timeout: float) -> list[bytes]:
        """The ``lines`` lines that answer a request; ``timeout`` seconds without another one are too many."""
        if not self._answers.empty():
            early = self._next(timeout, "was silent", f"after 0 of {lines} labels")
            self._fail(f"answered more labels than it received inputs: {early[:80]!r} came unasked")
        self._requests.put(request)
        answers = self._read(lines, timeout).split(b"\n")
        if extra := b"\n".join(answers[lines:]):
            self._fail(f"answered more labels than the {lines} inputs it received: {extra[:80]!r} came unasked")
        try:
            self._written.get(timeout=timeout)
        except queue.Empty:
            self._fail(f"answered {lines} labels without reading its {lines} inputs")
        return answers[:lines]

    def _read(self, lines: int, timeout: float) -> bytes:
        """What it writes until there are so many lines; bytes that end no line buy it no time."""
        pieces: list[bytes] = []
        seen = total = unfinished = 0
        deadline = time.monotonic() + timeout
        while seen < lines:
            progress = f"after {seen} of {lines} labels"
            did = "finished no line" if unfinished else "was silent"
            piece = self._next(max(0.0, deadline - time.monotonic()), f"{did} for {timeout:g} seconds", progress)
            pieces.append(piece)
            if ended := piece.count(b"\n"):
                seen, unfinished, deadline = seen + ended, 0, time.monotonic() + timeout
            unfinished, total = unfinished + len(piece) - piece.rfind(b"\n") - 1, total + len(piece)
            if unfinished > MOST_LINE:
                self._fail(f"answered a line of more than {MOST_LINE:,} bytes {progress}, and was killed")
            if total > MOST_ANSWER:
                self._fail(f"answered more than {MOST_ANSWER:,} bytes to {lines} inputs, and was killed")
        return b"".join(pieces)

    def close(self) -> None:
        """Close its input and let it end; it is killed when it does not. Labels left over are an error."""
        self._requests.put(_CLOSE)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        self._end()
        with suppress(queue.Empty):
            if late := self._answers.get(timeout=_GRACE):
                self._fail(f"answered more labels than it received inputs: {late[:80]!r} came unasked")

    def _next(self, wait: float, late: str, progress: str) -> bytes:
        try:
            piece = self._answers.get(timeout=wait) if self._answered else self._first(wait, progress)
        except queue.Empty:
            self._fail(f"{late} {progress}, and was killed. {_FLUSH}; a slow one needs a larger timeout")
        self._answered = True
        if not piece:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE)
            code = self._process.poll()
            self._fail(f"{'closed its output' if code is None else f'ended with exit code {code}'} {progress}")
        return piece

    def _first(self, wait: float, progress: str) -> bytes:
        """The first piece of all; where it takes long, whoever waits should know what the usual reason is."""
        with suppress(queue.Empty):
            return self._answers.get(timeout=min(wait, SILENT))
        if wait > SILENT:
            warn(f"the command {shown(self.words)!r} has been silent for {SILENT:g} seconds {progress}. {_FLUSH}")
        return self._answers.get(timeout=max(0.0, wait - SILENT))

    def _fail(self, what: str) -> NoReturn:
        self._end()
        self._listener.join(_GRACE)
        last = b"".join(self._complaints).decode(errors="replace").strip()[-_LAST_WORDS:]
        said = f" Its last words on standard error: {last}" if last else " It said nothing on standard error."
        raise TargetError(f"the command {shown(self.words)!r} {what}.{said}")


def shown(words: Sequence[str]) -> str:
    """The command as a line, cut where it would drown a message."""
    line = shlex.join(words)
    return line if len(line) <= 80 else f"{line[:77]}..."


def _started(words: Sequence[str]) -> tuple[subprocess.Popen[bytes], subprocess.Popen[bytes] | None]:
    """The process and its watchdog."""
    try:
        # A session of its own: Ctrl-C ends the run in an orderly way, and what the process starts dies with it.
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        try:
            return process, _watch(process.pid)
        except OSError:
            process.kill()
            process.communicate()
            raise
    except OSError as error:
        raise TargetError(f"the command {words[0]!r} cannot be started: {error.strerror}") from error


def _start(work: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=work, args=arguments, daemon=True)
    thread.start()
    return thread


def _drain(pipe: IO[bytes], put: Callable[[bytes], None], waiting: Callable[[], int], gone: list[bool]) -> None:
    """Hand on what arrives, piece by piece; an empty piece is the end. Where much waits unread, its writer waits too.

    What the process left behind may write on: once nobody reads any more, the pipe is closed on it.
    """
    with pipe:
        while piece := pipe.read(_PIECE):
            while waiting() >= _WAITING and not gone:
                time.sleep(_LOOK)
            if waiting() >= _WAITING:
                break
            put(piece)
    put(b"")


def _feed(pipe: IO[bytes], get: Callable[[], bytes], done: Callable[[int], None]) -> None:
    """Write each request to its end; an empty one closes the pipe."""
    with suppress(OSError), pipe:  # it died; whoever waits for its answers will notice
        while request := get():
            left = memoryview(request)
            while left:
                left = left[pipe.write(left) :]
            done(len(request))


def _kill(
    process: subprocess.Popen[bytes],
    watchdog: subprocess.Popen[bytes] | None,
    put: Callable[[bytes], None],
    gone: list[bool],
) -> None:
    """End a process and all that it started; nothing happens to one that has ended."""
    _dismiss(watchdog)
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
        process.wait()
    gone.append(True)
    put(_CLOSE)


def _watch(group: int) -> subprocess.Popen[bytes] | None:
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


def _dismiss(watchdog: subprocess.Popen[bytes] | None) -> None:
    """End a watchdog before its process is collected: afterwards the number may be another's."""
    if watchdog is None:
        return
    watchdog.kill()
    watchdog.wait()
    if watchdog.stdin is not None:
        with suppress(OSError):
            watchdog.stdin.close()
