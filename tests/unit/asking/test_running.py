"""The running arguments: each has its rule and says it."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import pytest

import fidelitree as ft
from fidelitree.asking.limits import Running
from journals import BITS, on_bits


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"batch_size": 0}, "batch_size must be at least 1; got 0"),
        ({"retries": -1}, "retries must be at least 0; got -1"),
        (
            {"executor": 4},
            "executor must be a concurrent.futures.Executor, or a function making one, or 'joblib'; got 4",
        ),
        ({"journal": 3}, "journal must be a path: text that a file system can hold; got 3"),
        ({"timeout": 0, "executor": ProcessPoolExecutor}, "timeout must be above 0 seconds; got 0"),
    ],
)
def test_rules(arguments: dict[str, Any], sentence: str) -> None:
    for call in (Running, lambda **given: ft.distill(on_bits, BITS, **given)):
        with pytest.raises(ft.ParameterError) as caught:
            call(**arguments)
        assert sentence in str(caught.value)


def test_threads_cannot_be_timed() -> None:
    with pytest.raises(ft.ParameterError, match="timeout must be None where the target runs in this process, which"):
        ft.distill(on_bits, BITS, timeout=5)
    with ThreadPoolExecutor(1) as pool, pytest.raises(ft.ParameterError, match="give an executor of processes too"):
        Running(executor=pool, timeout=1)
    with pytest.raises(ft.ParameterError, match="threads of this process call the target: they cannot be ended"):
        ft.distill(on_bits, BITS, executor=ThreadPoolExecutor, timeout=1)


def test_a_factory_must_make_an_executor() -> None:
    with pytest.raises(ft.ParameterError, match=r"executor must make a concurrent\.futures\.Executor; it made \[\]"):
        ft.distill(on_bits, BITS, executor=list)
