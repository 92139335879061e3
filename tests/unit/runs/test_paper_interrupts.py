"""Ctrl-C between any two lines of the library: no result, or an honest one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

import fidelitree as ft
from small import cube, true_error

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

SPACE = ft.ProductSpace.bernoulli(3, 0.4)
TARGET = ft.targets.multiplexer(1)
TABLE = ft.targets.TruthTable(TARGET(cube(3)))
RUNS: dict[str, Callable[[], ft.Distillation]] = {
    "build": lambda: ft.build_top_down(TABLE, SPACE, 0),
    "printed": lambda: ft.practical_top_down(TARGET, SPACE, 0.3, 1e-7, schedule="printed"),
    "corrected": lambda: ft.practical_top_down(TARGET, SPACE, 0.3, 1e-7),
}


def interrupted(run: Callable[[], ft.Distillation], line: int) -> tuple[ft.Distillation | None, int]:
    """Raise KeyboardInterrupt before a line of the library, counted as they are run; None where it came through."""
    seen = 0

    def step(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal seen
        if event == "line":
            seen += 1
            if seen == line:
                raise KeyboardInterrupt
        return step

    def enter(frame: FrameType, event: str, argument: object) -> Any:
        return step if "fidelitree" in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        return run(), seen
    except KeyboardInterrupt:
        return None, seen
    finally:
        sys.settrace(before)


@pytest.mark.parametrize("name", RUNS)
def test_wherever_it_comes_the_result_is_honest(name: str, soak: bool) -> None:
    """Sampled bounds are asked for at delta = 1e-7, so that a false one is a bug."""
    run = RUNS[name]
    whole, lines = interrupted(run, 0)
    sizes = set()
    for line in range(1, lines + 1, 1 if soak else 23):
        result, _ = interrupted(run, line)
        if result is None:
            continue
        error = true_error(result.tree, TARGET, SPACE)
        bound = result.certificate.error_bound
        assert error <= bound + 1e-12
        assert name != "build" or bound == pytest.approx(error, abs=1e-12)
        assert len(result.trace) == result.tree.size - 1
        assert result.certificate.tree_digest == result.tree.digest
        sizes.add(result.tree.size)
    assert sizes == set(range(1, whole.tree.size + 1))
