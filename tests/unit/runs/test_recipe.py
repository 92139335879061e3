"""A recorded call can be made again."""

from __future__ import annotations

from typing import Any

import numpy as np

import fidelitree as ft
from fidelitree.asking.events import nobody
from mixed import MIXED


def test_the_call_of_a_run_gives_the_same_tree() -> None:
    def target(batch: Any) -> Any:
        return np.where(batch["age"] > 40, "old", "young")

    result = ft.distill(target, MIXED, 0.1, seed=3, prefer="leaves", max_queries=9_000, observer=lambda event: None)
    assert result.call == (
        "ft.distill(target, space, epsilon=0.1, delta=0.05, seed=3, prefer='leaves', max_queries=9000)"
    )
    again = eval(result.call, {"ft": ft, "target": target, "space": MIXED})
    assert again.tree == result.tree
    assert again.certificate == result.certificate


def test_a_seed_from_the_machine_is_written_down() -> None:
    result = ft.distill(lambda bits: bits[:, 0], ft.ProductSpace.bernoulli(30), 0.1, seed=None)
    assert f"seed={result.certificate.seed})" in result.call


def test_the_algorithms_of_the_paper_record_their_calls_too() -> None:
    space, table = ft.ProductSpace.bernoulli(2), ft.targets.TruthTable([0, 1, 1, 0])
    assert ft.build_top_down(table, space, 0.0, observer=nobody).call == "ft.build_top_down(target, space, epsilon=0.0)"
    assert ft.practical_top_down(table, space, 0.3, 0.2, schedule="printed").call == (
        "ft.practical_top_down(target, space, epsilon=0.3, delta=0.2, seed=0, schedule='printed')"
    )
