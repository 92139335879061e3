"""How far it is from a public door to the target: a reader of the code can follow a call in one sitting.

Frames are counted from the door, which is the first, to the last one of ours before the target. No module is left and
entered again.
"""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from mixed import MIXED

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGE = str(Path(ft.__file__).parent)


class Watching:
    """A target that notes which frames of ours lead to it."""

    def __init__(self, answer: Callable[[Any], Any]) -> None:
        self._answer = answer
        self.paths: set[tuple[str, ...]] = set()

    def __call__(self, batch: Any) -> Any:
        frame, modules = sys._getframe(1), []
        while frame is not None:
            if frame.f_code.co_filename.startswith(PACKAGE):
                modules.append(frame.f_globals["__name__"].removeprefix("fidelitree."))
            frame = frame.f_back
        self.paths.add(tuple(reversed(modules)))
        return self._answer(batch)

    @property
    def deepest(self) -> int:
        return max(map(len, self.paths))

    def entered_again(self) -> list[tuple[str, ...]]:
        visited = ([module for module, _ in groupby(path)] for path in self.paths)
        return [tuple(path) for path in visited if len(set(path)) < len(path)]


def vote(bits: Any) -> Any:
    return bits[:, :7].sum(axis=1) > 3


def older(batch: Any) -> Any:
    return np.where(batch["age"] > 40, "old", "young")


BITS = ft.ProductSpace.bernoulli(30)
RUNS: dict[str, tuple[Callable[[Any], Any], int, Callable[[Any], Any]]] = {
    "distill, bits": (vote, 9, lambda f: ft.distill(f, BITS, 0.1)),
    "distill, bits, fewest leaves": (vote, 9, lambda f: ft.distill(f, BITS, 0.1, prefer="leaves", max_queries=9_000)),
    "distill, bits, noisy": (vote, 9, lambda f: ft.distill(f, BITS, 0.2, deterministic=False)),
    "distill, bits, time": (vote, 9, lambda f: ft.distill(f, BITS, 0.001, max_seconds=1.5)),
    "distill, all inputs": (vote, 9, lambda f: ft.distill(f, ft.ProductSpace.bernoulli(9), 0)),
    "distill, table": (older, 9, lambda f: ft.distill(f, MIXED, 0.1)),
    "distill, table, smallest": (older, 9, lambda f: ft.distill(f, MIXED, 0.1, strategy="smallest")),
    "certify": (vote, 6, lambda f: ft.certify(ft.Tree.constant(BITS, True), f, BITS, 0.9)),
    "certify, table": (older, 6, lambda f: ft.certify(ft.Tree.constant(MIXED, "old"), f, MIXED, 0.9)),
}


@pytest.mark.parametrize("run", RUNS)
def test_a_target_is_few_frames_away(run: str) -> None:
    answer, most, call = RUNS[run]
    target = Watching(answer)
    call(target)
    assert target.paths
    assert target.deepest <= most, max(target.paths, key=len)
    assert not target.entered_again()


def test_a_journal_and_workers_add_one_frame_each(tmp_path: Path) -> None:
    target = Watching(vote)
    ft.distill(target, BITS, 0.1, journal=tmp_path / "run.db")
    assert target.deepest <= 10, max(target.paths, key=len)
    assert not target.entered_again()
