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
    assert (pool.calls, pool.sent) == (64 + 3, 2), "three calls ask inputs again"


def test_a_worker_that_comes_late_asks_for_the_target_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is quick to say of each call that it does not have the target: those that are out come back."""
    pool = Staffed(monkeypatch, late=10)
    assert alike(asked_all(pool), asked_all(None))
    assert (pool.calls, pool.sent) == (64 + 3 + 27, 2 + 2)


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


class Odd(Executor):
    """Gives what it likes for the calls that it is given; a real executor would not."""

    _max_workers = 2

    def __init__(self, gives: Any) -> None:
        self.gives = gives

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Any:
        return self.gives(partial(function, *arguments, **named))


def over(value: Any = None, error: BaseException | None = None) -> Future[Any]:
    future: Future[Any] = Future()
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)
    return future


ONE: Future[Any] = over([0])
ODD = [
    (lambda call: call(), ft.ParameterError, "executor must give a Future of its own for each call"),
    (lambda call: None, ft.ParameterError, "executor must give a Future of its own for each call; it gave None"),
    (lambda call: ONE, ft.ParameterError, "executor must give a Future of its own for each call"),
    (lambda call: over("garbage"), ft.TargetError, "labels must be one per input"),
    (lambda call: over(), ft.TargetError, "labels must be one per input"),
    (lambda call: over(call()[:1]), ft.TargetError, "labels must be one per input"),
    (lambda call: over(error=GeneratorExit()), ft.TargetError, "GeneratorExit"),
]


@pytest.mark.parametrize(("gives", "kind", "said"), ODD)
def test_executors_that_give_something_else(gives: Any, kind: Any, said: str) -> None:
    with pytest.raises(kind, match=said):
        ft.distill(on_bits, BITS, epsilon=0.1, executor=Odd(gives))


def test_time_ends_a_run_whose_workers_never_answer() -> None:
    told = ft.distill(on_bits, BITS, epsilon=0.1, executor=Odd(lambda call: over(call())))
    left = [int(told.queries.asked) // 2]

    def gives(call: Any) -> Future[Any]:
        left[0] -= len(call.args[-1])
        return over(call()) if left[0] > 0 else Future()

    found = ft.distill(on_bits, BITS, epsilon=0.1, executor=Odd(gives), max_seconds=3)
    assert found.reason == "max_seconds = 3"
    assert 0 < found.queries.asked < told.queries.asked
