"""Model files are tried in a child process first: their parsers are native code, which a damaged file can crash.

Of 60 LightGBM files that were cut off somewhere, 58 end the interpreter that reads them. So a child reads each file and
asks the model once (`sandboxed`), within limits on time and memory; only then is it read here. It costs a fraction of
a second, once for each file and process. Saved scikit-learn models need none: a skops file is a zip archive, whose
checksums tell of damage before any native code sees it, and a pickle is a program anyway, which its reader must trust.

No child can be started where `sys.executable` is no Python, as in a frozen application; then files are read without.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

from fidelitree.errors import FormatError, reading

SECONDS = 60
MEGABYTES = 2048  # besides what the library itself takes; a model in memory is a few times its file
_TIMES = 32
_CHILD = Path(__file__).with_name("sandboxed.py")
_tried: set[tuple[str | int, ...]] = set()


class Refused(Exception):  # noqa: N818 - not an error that users see: the reader of the format says what it means
    """The library refused a file in an orderly way; the text is what it said."""


def try_first(kind: str, library: str, path: Path) -> None:
    """Refuse a file that a child process could not read and ask."""
    with reading(path):
        found = path.stat()
    key = kind, str(path.absolute()), found.st_ino, found.st_size, found.st_mtime_ns
    if key in _tried or not _has_interpreter():
        return
    megabytes = MEGABYTES + _TIMES * (found.st_size >> 20)
    said = _child_says(kind, library, path, megabytes)
    if said == "memory":
        _damaged(path, f"it needed more than {megabytes:,} MB")
    if said is not None:
        raise Refused(said)
    _tried.add(key)


def _child_says(kind: str, library: str, path: Path, megabytes: int) -> str | None:
    """None where all went well, or what the library said; FormatError where the child said nothing at all."""
    limits, folders = json.dumps([megabytes, SECONDS]), json.dumps(sys.path)
    arguments = [kind, library, str(path.absolute()), limits, folders]
    try:
        done = subprocess.run(
            [sys.executable, "-I", str(_CHILD), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            check=False,
        )
    except subprocess.TimeoutExpired:
        _damaged(path, f"it took more than {SECONDS} seconds")
    except OSError as error:
        raise FormatError(f"{path.name} cannot be tried in a process of its own: {error.strerror}") from error
    if done.returncode:
        _damaged(path, _ending(done.returncode))
    answer: str | None = json.loads(done.stdout)
    return answer


def _has_interpreter() -> bool:
    name = Path(sys.executable or "").name.lower()
    return _CHILD.is_file() and not getattr(sys, "frozen", False) and name.startswith(("python", "pypy"))


def _ending(code: int) -> str:
    if code >= 0:
        return f"it ended that process with exit code {code}"
    try:
        return f"it ended that process by {signal.Signals(-code).name}"
    except ValueError:
        return f"it ended that process by signal {-code}"


def _damaged(path: Path, what: str) -> NoReturn:
    raise FormatError(
        f"{path.name} is damaged, or not the model that its name says: it was read in a process of its own first, and "
        f"{what}"
    )
