"""How often workers are sent the target: once each, whoever takes which call."""

from __future__ import annotations

import random
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from functools import partial
from typing import Any

import pytest

import fidelitree as ft
from fidelitree.asking import workers
from journals import BITS, alike, on_bits


class Staffed(Executor):
    """Workers with a memory each, which take turns once all of them are there; counts calls, and targets sent."""

    _max_workers = 2

    def __init__(self, monkeypatch: pytest.MonkeyPatch, late: int = 0, turns: random.Random | None = None) -> None:
        self.memories: list[dict[str, Any]] = [{} for _ in range(self._max_workers)]
        self.use, self.late, self.turns = partial(monkeypatch.setattr, workers, "_targets"), late, turns
        self.calls = self.sent = 0

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
        turn = self.calls if self.turns is None else self.turns.randrange(self._max_workers)
        self.use(self.memories[0 if self.calls < self.late else turn % self._max_workers])
        self.calls += 1
        self.sent += any(isinstance(argument, bytes) for argument in arguments)
        future: Future[Any] = Future()
        future.set_result(function(*arguments, **named))
        return future


def asked_all(executor: Executor | None) -> ft.Distillation:
    """Every input is asked about, in 64 calls."""
    return ft.distill(on_bits, BITS, 0, executor=executor, batch_size=64)


def test_each_worker_is_sent_the_target_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Staffed(monkeypatch)
    assert alike(asked_all(pool), asked_all(None))
    assert (pool.calls, pool.sent) == (64, 2)


def test_a_worker_that_comes_late_asks_for_the_target_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is quick to say of each call that it does not have the target: those that are out come back."""
    pool = Staffed(monkeypatch, late=10)
    assert alike(asked_all(pool), asked_all(None))
    assert (pool.calls, pool.sent) == (64 + 27, 2 + 2)


@pytest.mark.parametrize("seed", range(20))
def test_whoever_takes_a_call(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Staffed(monkeypatch, turns=random.Random(seed))
    assert alike(asked_all(pool), asked_all(None))
    assert all(pool.memories)
    assert pool.sent <= 6


def test_a_pool_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[bytes] = []
    submit = ProcessPoolExecutor.submit

    def noting(pool: Executor, function: Any, /, *arguments: Any) -> Future[Any]:
        sent.extend(argument for argument in arguments if isinstance(argument, bytes))
        return submit(pool, function, *arguments)

    monkeypatch.setattr(ProcessPoolExecutor, "submit", noting)
    with ProcessPoolExecutor(2) as pool:
        assert alike(asked_all(pool), asked_all(None))
    assert 2 <= len(sent) < 32  # more than twice only where a worker sleeps through the first calls
