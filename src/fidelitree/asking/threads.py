"""One thread for small matrix products: on a busy machine several threads wait for each other longer than they work.

Most libraries know one number of threads for the whole process, so the runs of a process must agree: it is one while
some run works and no run is inside its target, and what it was before at all other times. Measured with 9 busy
processes on 2 cores, the searches of two runs took 1.8 seconds on one thread and 10 on two.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController, threadpool_limits

_STUCK = 1.0  # seconds, for what takes microseconds


class _Held:
    """Libraries that are held at one thread, with what they had before."""

    def __init__(self, libraries: Iterable[Any]) -> None:
        self._before = [(library, library.get_num_threads()) for library in libraries]
        for library, _ in self._before:
            _set(library, 1)

    def release(self) -> None:
        for library, number in self._before:
            _set(library, number)


class _Shared:
    """Which threads of this process do work of our own, and which are inside a target.

    Ctrl-C may come between any two steps. So what was begun is a token, which can be taken away whether it was put down
    or not, and a lock that an interrupt has left behind is replaced.
    """

    def __init__(self) -> None:
        self._held: _Held | None = None
        self.forget()

    def forget(self) -> None:
        """Begin anew: in a process that was forked off, no other thread lives on to end what it began."""
        self._lock = threading.Lock()
        self._tokens: dict[str, set[object]] = {"own": set(), "target": set()}
        self._settle()

    @contextmanager
    def inside(self, what: str) -> Iterator[None]:
        """A ``with`` block that counts."""
        token = object()
        try:
            self._tokens[what].add(token)
            self._settle()
            yield
        finally:
            self._tokens[what].discard(token)
            self._settle()

    def _settle(self) -> None:
        if not self._tokens["own"] and self._held is None:  # whoever begins work of our own settles it himself
            return
        lock = self._lock
        if not lock.acquire(timeout=_STUCK):
            self._lock = lock = threading.Lock()
            lock.acquire()
        try:
            wanted = bool(self._tokens["own"]) and not self._tokens["target"]
            if wanted and self._held is None:
                self._held = _Held(library for library in _libraries() if not _by_thread(library))
            elif not wanted and self._held is not None:
                self._held.release()
                self._held = None
        finally:
            lock.release()


_shared = _Shared()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_shared.forget)


@contextmanager
def one_thread() -> Iterator[None]:
    """A block in which linear algebra stays on one thread, unless a target is being called somewhere."""
    held = _Held(filter(_by_thread, _libraries()))
    try:
        with _shared.inside("own"):
            yield
    finally:
        held.release()


def all_threads() -> Any:
    """A ``with`` block for a call of a target, which has all its threads."""
    return _shared.inside("target")


def one_thread_for_good() -> None:
    """For workers, which are as many as there are cores: every library that is loaded is limited from now on."""
    threadpool_limits(1)


@cache
def _libraries() -> list[Any]:
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


def _by_thread(library: Any) -> bool:
    """Whether a library has a number for each thread of the process, which only that thread can set."""
    return getattr(library, "threading_layer", None) == "openmp"


def _set(library: Any, number: int) -> None:
    """Set the number from any thread; threadpoolctl 3.8 listens to the first one only, until that lets go."""
    let_go = getattr(library, "clear_controlling_thread", None)
    if let_go is not None:
        let_go(force=True)
    library.set_num_threads(number)
    if let_go is not None:
        let_go()
