"""A process that answers lines with lines: started without a shell, fed without deadlock, ended for certain.

Three threads move the bytes, each the only owner of its pipe, so that neither side can block the other whatever the
size of a batch: the process may answer while it is still being fed, or only afterwards, and complain at any length.
"""

from __future__ import annotations

import os
import queue
import shlex
import signal
import subprocess
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, NoReturn

from fidelitree.errors import TargetError

_PIECE = 1 << 16
_GRACE = 5.0  # seconds that a process may take to end once its input is closed
_CLOSE = b""
_LAST_WORDS = 600  # characters of standard error that a message quotes


class LineProcess:
    """A running process; after any error it is dead, and a new one is needed."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        try:
            # A session of its own: Ctrl-C ends the run in an orderly way, and what the process starts dies with it.
            self._process = subprocess.Popen(
                self.words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise TargetError(f"the command {self.words[0]!r} cannot be started: {error.strerror}") from error
        self._requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._written: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._complaints: deque[bytes] = deque(maxlen=8)
        self._end = weakref.finalize(self, _kill, self._process, self._requests.put)
        _start(_feed, self._process.stdin, self._requests.get, self._written.put)
        _start(_drain, self._process.stdout, self._answers.put)
        self._listener = _start(_drain, self._process.stderr, self._complaints.append)

    def exchange(self, request: bytes, lines: int, timeout: float) -> list[bytes]:
        """The ``lines`` lines that answer a request; ``timeout`` seconds of silence are too many."""
        if not self._answers.empty():
            early = self._next(timeout, f"after 0 of {lines} labels")
            self._fail(f"answered more labels than it received inputs: {early[:80]!r} came unasked")
        self._requests.put(request)
        pieces, seen = [], 0
        while seen < lines:
            pieces.append(self._next(timeout, f"after {seen} of {lines} labels"))
            seen += pieces[-1].count(b"\n")
        answers = b"".join(pieces).split(b"\n")
        if extra := b"\n".join(answers[lines:]):
            self._fail(f"answered more labels than the {lines} inputs it received: {extra[:80]!r} came unasked")
        try:
            self._written.get(timeout=timeout)
        except queue.Empty:
            self._fail(f"answered {lines} labels without reading its {lines} inputs")
        return answers[:lines]

    def close(self) -> None:
        """Close its input and let it end; it is killed when it does not. Labels left over are an error."""
        self._requests.put(_CLOSE)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)
        self._end()
        with suppress(queue.Empty):
            if late := self._answers.get(timeout=_GRACE):
                self._fail(f"answered more labels than it received inputs: {late[:80]!r} came unasked")

    def _next(self, timeout: float, progress: str) -> bytes:
        try:
            piece = self._answers.get(timeout=timeout)
        except queue.Empty:
            self._fail(
                f"was silent for {timeout:g} seconds {progress}, and was killed. It must answer every line at once and "
                f"flush its output, without waiting for the end of its input; a slow one needs a larger timeout"
            )
        if not piece:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE)
            code = self._process.poll()
            self._fail(f"{'closed its output' if code is None else f'ended with exit code {code}'} {progress}")
        return piece

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


def _start(work: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=work, args=arguments, daemon=True)
    thread.start()
    return thread


def _drain(pipe: IO[bytes], put: Callable[[bytes], None]) -> None:
    """Hand on what arrives, piece by piece; an empty piece is the end."""
    with pipe:
        while piece := pipe.read(_PIECE):
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


def _kill(process: subprocess.Popen[bytes], put: Callable[[bytes], None]) -> None:
    """End a process and all that it started; nothing happens to one that has ended."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
        process.wait()
    put(_CLOSE)
