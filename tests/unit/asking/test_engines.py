"""Engines that people have: the same tree, certificate and rounds on each of them."""

from __future__ import annotations

from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from journals import BITS, on_bits

joblib = pytest.importorskip("joblib")


class Oldest(Executor):
    """The least that an executor can be."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        pass


def loky() -> Any:
    return pytest.importorskip("loky").ProcessPoolExecutor(2)


ENGINES = {"threads": partial(ThreadPoolExecutor, 3), "least": Oldest, "loky": loky}


@pytest.mark.parametrize("name", ENGINES)
def test_executors(name: str) -> None:
    same(ft.distill(on_bits, BITS, executor=ENGINES[name]))


@pytest.mark.parametrize("backend", ["threading", "loky", "sequential"])
def test_back_ends_of_joblib(backend: str) -> None:
    with joblib.parallel_config(backend=backend, n_jobs=2):
        same(ft.distill(on_bits, BITS, executor="joblib"))


def same(found: ft.Distillation) -> None:
    usual = ft.distill(on_bits, BITS)
    assert found.tree.digest == usual.tree.digest
    assert found.certificate == usual.certificate
    assert found.queries == usual.queries


def test_failures_on_joblib() -> None:
    calls = 0

    def shaky(batch: np.ndarray) -> Any:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise ConnectionError("the line is dead")
        return on_bits(batch)

    def odd(batch: np.ndarray) -> Any:
        return on_bits(batch) if len(batch) == 32 else on_bits(batch).astype(str)

    with joblib.parallel_config(backend="threading", n_jobs=2):
        with pytest.raises(ft.TargetError, match="the target raised ConnectionError"):
            ft.distill(shaky, BITS, executor="joblib")
        calls = 0
        same(ft.distill(shaky, BITS, executor="joblib", retries=1))
        with pytest.raises(ft.TargetError, match="labels must be of one kind during a run"):
            ft.distill(odd, BITS, executor="joblib", batch_size=32)
    with pytest.raises(ft.ParameterError, match="timeout must be None"):
        ft.distill(on_bits, BITS, executor="joblib", timeout=1)
    with pytest.raises(ft.ParameterError, match="or 'joblib'; got 'ray'"):
        ft.distill(on_bits, BITS, executor="ray")  # type: ignore[arg-type]
