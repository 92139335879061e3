"""Calls on workers: any executor, in any order of completion, with pools that are rebuilt when they break."""

from __future__ import annotations

import hashlib
import math
import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import connection, parent_process
from typing import TYPE_CHECKING, Any

from fidelitree.asking.call import NOTHING_YET, Part, pieces, wait_before
from fidelitree.asking.guarded import Failure, GuardedTarget, Inner, failed
from fidelitree.asking.threads import one_thread_for_good
from fidelitree.errors import RAISED, ParameterError, TargetError, show
from fidelitree.targets.labels import answered

if TYPE_CHECKING:
    from fidelitree.asking.limits import Running
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.targets.labels import LabelBook, Target

_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
_targets: dict[str, GuardedTarget] = {}
_limited: list[int] = []
_LOOK = 1.0  # seconds between two looks at who the parent is
_CLOCK = 0.2  # seconds between two looks at the clock of a run that waits
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has one way only
REBUILDS = 3  # pools that may break one after the other without an answer in between


def call_in_worker(home: int, key: str, pickled: bytes | None, inner: Inner) -> Any:
    """The target's labels, or the `Failure` that came of it; None where the worker does not have the target yet.

    ``home`` is the process of the run, whose own libraries are left alone. What is ``pickled`` is the `GuardedTarget`.
    """
    if os.getpid() not in (home, *_limited):
        one_thread_each()
        _limited[:] = [os.getpid()]  # a process that is forked off later must do it itself
    target = _targets.get(key)  # threads of one process may serve several runs
    if target is not None:
        return target.tried(inner)
    if pickled is None:
        return None
    try:
        target = pickle.loads(pickled)
    except RAISED as error:  # its modules may be missing here
        return Failure(str(failed(error, len(inner))), again=True)
    _targets.clear()
    _targets[key] = target
    return target.tried(inner)


def one_thread_each() -> None:
    """As many workers as cores is right only if none of them uses several: limit what is loaded and what will be."""
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    one_thread_for_good()


def start_worker() -> None:
    """For pools of our own: Ctrl-C is for the run, which ends its workers itself; they end when it is killed, too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_run, args=(os.getppid(),), daemon=True).start()
    one_thread_each()


def _end_with_the_run(parent: int) -> None:
    """Wait for the end of the run, then end, whatever the target does.

    The sentinel tells of it at once. But a worker that was forked keeps the sentinels of older ones open, and so does
    whatever it starts; then it is the new parent that tells.
    """
    run = parent_process()
    assert run is not None, "a worker was started by a run"
    while os.getppid() == parent and not connection.wait([run.sentinel], _LOOK):
        pass
    os._exit(1)


@dataclass
class _Piece:
    """A call to be made."""

    start: int
    rows: Inner
    failures: int = 0
    carries: bool = False
    """Whether the target goes with it."""


@dataclass
class _Out:
    """Calls that are being made."""

    futures: dict[Future[Any], _Piece] = field(default_factory=dict)
    carriers: int = 0
    """How many of them carry the target."""

    def add(self, future: Future[Any], piece: _Piece) -> None:
        """One more."""
        self.futures[future] = piece
        self.carriers += piece.carries

    def pop(self, future: Future[Any]) -> _Piece:
        """One that is done."""
        piece = self.futures.pop(future)
        self.carriers -= piece.carries
        return piece

    def take_back(self) -> list[_Piece]:
        """Give up on all of them."""
        found = list(self.futures.values())
        for future in self.futures:
            future.cancel()
        self.futures.clear()
        self.carriers = 0
        return found


class OnWorkers:
    """A target called on an executor.

    The target is pickled once. It goes with the first calls, as many as there are workers, and with as many again only
    where a worker says that it does not have it, because another one was faster. Threads call it as it is. A pool that
    breaks is made again where ``executor`` is a function that makes one; so is a pool that was silent for too long.
    """

    def __init__(self, target: Target, space: ProductSpace, book: LabelBook, running: Running) -> None:
        self._target, self._book, self._running = GuardedTarget(target, space, book.numbers), book, running
        given = running.executor
        self._pool: Executor | None = None
        self._make = None if isinstance(given, Executor) else given
        self._broken = self._owed = 0
        self._heard = 0.0
        self._pickled: bytes | None = None
        self._key = ""
        if isinstance(given, Executor):
            self._begin(given)

    def parts(self, inner: Inner, purpose: str) -> Iterator[Part]:
        size = self._running.batch_size or -(-len(inner) // _width(self._executor()))
        waiting = [_Piece(start, rows) for start, rows in pieces(inner, size)]
        out = _Out()
        lost: TargetError | None = None
        try:
            while out.futures or (waiting and lost is None):
                if lost is None:
                    self._submit(waiting, out)
                came = False
                for piece, answer in self._wait(waiting, out):
                    came = True
                    if isinstance(answer, Failure):
                        lost = self._again(waiting, piece, answer) or lost
                        continue
                    try:  # what an executor gives need not be what a worker answered
                        labels = self._book.one_kind(answered(answer, len(piece.rows), numbers=self._book.numbers))
                    except TargetError as error:
                        lost = error
                        continue
                    yield piece.start, labels
                if not came:
                    yield NOTHING_YET
            if lost is not None:  # what else was on its way has arrived first
                raise lost
        finally:
            if out.take_back() and self._make is not None:
                self._discard()

    def close(self) -> None:
        """End the workers of a pool that was made here."""
        if self._make is not None and self._pool is not None:
            self._pool.shutdown(wait=True)  # nothing waits in it: what was given up is cancelled already
            self._pool = None

    def _executor(self) -> Executor:
        if self._pool is None:
            assert callable(self._make), "an executor is given or made"
            made = self._make()
            if not isinstance(made, Executor):
                raise ParameterError(f"executor must make a concurrent.futures.Executor; it made {made!r:.80}")
            self._check_timeout(made)
            return self._begin(made)
        return self._pool

    def _begin(self, pool: Executor) -> Executor:
        """Take a pool whose workers do not have the target yet: as many calls will carry it."""
        self._pool = pool
        self._owed = 0 if isinstance(pool, ThreadPoolExecutor) else _width(pool)
        return pool

    def _check_timeout(self, pool: Executor) -> None:
        if self._running.timeout is not None and isinstance(pool, ThreadPoolExecutor):
            raise ParameterError(
                "timeout must be None where threads of this process call the target: they cannot be ended"
            )

    def _submit(self, waiting: list[_Piece], out: _Out) -> None:
        while waiting and self._has_room(out):
            piece = waiting[0]
            try:
                future: Any = self._send(self._executor(), piece)
            except BrokenExecutor as error:
                self._rebuild(error)
                waiting += out.take_back()
                continue
            except RuntimeError as error:
                raise ParameterError(f"executor must be one that takes work; it says: {error}") from error
            if not isinstance(future, Future) or future in out.futures:
                raise ParameterError(f"executor must give a Future of its own for each call; it gave {show(future)}")
            waiting.pop(0)
            out.add(future, piece)
            self._heard = time.monotonic()

    def _has_room(self, out: _Out) -> bool:
        """While the target is on its way, one call for each worker: the others would find workers without it."""
        if not (self._owed or out.carriers):
            return True
        return len(out.futures) < (_workers(self._pool) or math.inf)

    def _send(self, pool: Executor, piece: _Piece) -> Future[Any]:
        if isinstance(pool, ThreadPoolExecutor):
            return pool.submit(self._target.tried, piece.rows)
        pickled, piece.carries = self._pickle(), self._owed > 0
        rows = piece.rows.copy(order="K")  # a part of an array that is not copied would travel row by row
        future = pool.submit(call_in_worker, os.getpid(), self._key, pickled if piece.carries else None, rows)
        self._owed -= piece.carries
        return future

    def _wait(self, waiting: list[_Piece], out: _Out) -> Iterator[tuple[_Piece, Any]]:
        """Answers and failures as they arrive; what must be sent again joins the waiting."""
        done, _ = wait(out.futures, min(_CLOCK, self._running.timeout or _CLOCK), FIRST_COMPLETED)
        self._heard = time.monotonic() if done else self._heard
        if self._running.timeout is not None and time.monotonic() - self._heard >= self._running.timeout:
            self._silent(waiting, out)
        for future in done:
            piece = out.pop(future)
            try:
                answer = future.result()
            except BrokenExecutor as error:
                self._rebuild(error)
                waiting += [piece, *out.take_back()]
                return
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - the executor's own, such as a batch that cannot be sent
                answer = Failure(str(failed(error, len(piece.rows))), again=True)
            if (
                answer is None and not piece.carries
            ):  # any worker may take the next call, so one that carries the target is not enough
                self._owed = max(self._owed, 1 if out.carriers else _width(self._executor()))
                waiting.append(piece)
                continue
            self._broken = 0
            yield piece, answer

    def _again(self, waiting: list[_Piece], piece: _Piece, failure: Failure) -> TargetError | None:
        """Another try for a call that failed, or the error once there were enough."""
        if not failure.again or piece.failures == self._running.retries:
            return TargetError(failure.said)
        wait_before(piece.failures)
        piece.failures += 1
        waiting.append(piece)
        return None

    def _silent(self, waiting: list[_Piece], out: _Out) -> None:
        silence = f"the workers were silent for timeout = {self._running.timeout:g} seconds"
        pieces_out = out.take_back()
        if self._make is None:
            raise TargetError(f"{silence}; an executor that is made by a function could be ended and made again")
        self._discard()
        if any(piece.failures == self._running.retries for piece in pieces_out):
            raise TargetError(f"{silence} while they had {sum(len(p.rows) for p in pieces_out)} inputs, and were ended")
        for piece in pieces_out:
            piece.failures += 1
        waiting += pieces_out

    def _rebuild(self, error: BrokenExecutor) -> None:
        if self._make is None:
            raise TargetError(
                f"the executor broke: {error}. Give a function that makes one as executor, and it is made again"
            ) from error
        self._broken += 1
        if self._broken > REBUILDS:
            raise TargetError(f"the executor broke {self._broken} times one after the other: {error}") from error
        self._discard()

    def _discard(self) -> None:
        """End a pool at once, hanging workers included, which would keep this process from ending."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        for process in list((getattr(pool, "_processes", None) or {}).values()):
            with suppress(OSError, ValueError):
                if process.exitcode is None:
                    os.kill(process.pid, _KILL)  # processes of loky have no method for it
        pool.shutdown(wait=False)

    def _pickle(self) -> bytes:
        if self._pickled is None:
            self._pickled = pickled_target(self._target)
            self._key = hashlib.sha256(self._pickled).hexdigest()
        return self._pickled


def processes(jobs: int) -> partial[Executor]:
    """A function that makes a pool of so many processes."""
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - needs semaphores, which some systems lack

    return partial(ProcessPoolExecutor, jobs, initializer=start_worker)


def _workers(pool: Executor | None) -> int | None:
    """How many calls run at once, where an executor tells."""
    return getattr(pool, "_max_workers", None)


def _width(pool: Executor) -> int:
    """How many calls run at once; where an executor does not tell, as many as there are cores here."""
    return _workers(pool) or os.cpu_count() or 1


def pickled_target(target: GuardedTarget) -> bytes:
    """A target as it travels to other processes."""
    try:  # it comes with Dask, and takes functions that are not part of a module
        from cloudpickle import dumps
    except ModuleNotFoundError:
        dumps = pickle.dumps
    try:
        return bytes(dumps(target))
    except RAISED as error:
        raise ParameterError(
            f"target must be one that can be pickled to reach other processes; {target.target!r:.60} cannot: {error}. "
            f"A function of a module can, and threads (ThreadPoolExecutor) take any target"
        ) from error
