"""Calls through joblib: its own processes and threads, and whatever has registered itself there (Dask, Ray, Spark)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fidelitree.asking.call import Part, pieces, wait_before
from fidelitree.asking.guarded import Failure, GuardedTarget, Inner
from fidelitree.asking.workers import call_in_worker, pickled_target
from fidelitree.errors import MissingExtraError, TargetError

if TYPE_CHECKING:
    from fidelitree.asking.limits import Running
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.targets.labels import LabelBook, Target

NAME = "joblib"


class OnJoblib:
    """A target called through the back-end of joblib that is active: ``joblib.parallel_config`` chooses it.

    Where nothing is chosen, processes on all cores. The target travels once to each worker, as it does with executors.
    Workers are kept from batch to batch: those of Ray take seconds to start.
    """

    def __init__(self, target: Target, space: ProductSpace, book: LabelBook, running: Running) -> None:
        try:
            joblib: Any = import_module(NAME)
        except ModuleNotFoundError:
            raise MissingExtraError(
                'executor="joblib" needs joblib: install it with: pip install joblib (scikit-learn brings it, too)'
            ) from None
        self._joblib, self._book, self._running = joblib, book, running
        self._target, self._pickled, self._key = GuardedTarget(target, space, book.numbers), b"", ""
        self._carries = True  # whether the next calls take the target along
        self._workers: Any = None

    def parts(self, inner: Inner, purpose: str) -> Iterator[Part]:
        backend, jobs = self._joblib.parallel.get_active_backend()
        jobs = -1 if jobs in (None, 1) else jobs
        size = self._running.batch_size or -(-len(inner) // max(1, backend.effective_n_jobs(jobs)))
        waiting, tries = dict(pieces(inner, size)), 0
        lost: TargetError | None = None
        while waiting and lost is None:
            failure: Failure | None = None
            lacking = False
            for start, answer in self._answers(backend, jobs, waiting):
                if isinstance(answer, Failure):
                    failure = answer
                elif answer is None:
                    lacking = True
                else:
                    del waiting[start]
                    try:
                        labels = self._book.one_kind(answer)
                    except TargetError as error:
                        lost = error
                        continue
                    yield start, labels
            self._carries = lacking
            if failure is not None:
                if not failure.again or tries == self._running.retries:
                    lost = TargetError(failure.said)
                else:
                    wait_before(tries)
                    tries += 1
        if lost is not None:  # what else was on its way has arrived first
            raise lost

    def _answers(self, backend: Any, jobs: int, waiting: dict[int, Inner]) -> Iterator[tuple[int, Any]]:
        """What workers say, in the order in which they say it where the back-end can do that."""
        how = "generator_unordered" if getattr(backend, "supports_return_generator", False) else "list"
        call = self._joblib.delayed(_numbered)
        if getattr(backend, "supports_sharedmem", False):  # threads of this process
            work = [call(start, self._target.tried, rows) for start, rows in waiting.items()]
        else:
            if not self._pickled:
                self._pickled = pickled_target(self._target)
                self._key = hashlib.sha256(self._pickled).hexdigest()
            home, carried = os.getpid(), self._pickled if self._carries else None
            work = [call(start, call_in_worker, home, self._key, carried, rows) for start, rows in waiting.items()]
        if self._workers is None:
            self._workers = self._joblib.Parallel(n_jobs=jobs, return_as=how).__enter__()
        try:
            yield from self._workers(work)
        except BaseException:  # given up, or broken: whoever is asked next begins anew
            self.close()
            raise

    def close(self) -> None:
        """Let the workers go; some back-ends keep them for the next run."""
        workers, self._workers = self._workers, None
        if workers is not None:
            workers.__exit__(None, None, None)


def _numbered(start: int, call: Any, *arguments: Any) -> tuple[int, Any]:
    return start, call(*arguments)
