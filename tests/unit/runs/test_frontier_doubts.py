"""Targets that small trees follow closely: a few chosen questions, which no certificate counts, and tests that tell."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.counted import Counted
from fidelitree.asking.events import nobody
from fidelitree.runs.frontier_result import Frontier
from fidelitree.runs.goal import Goal
from fidelitree.runs.input_source import source_of
from fidelitree.runs.session import Session
from fidelitree.runs.strategies import frontier_strategy
from fidelitree.runs.strategies.forecast import needed_for
from fidelitree.runs.strategies.frontier_strategy import EFFORTS, FrontierStrategy
from fidelitree.runs.strategies.sized_trees import SizedTrees
from fidelitree.theory.sequential import FRONTIER, ROUND, level_in

if TYPE_CHECKING:
    from pathlib import Path

SPACE = ft.ProductSpace([ft.Numeric(name, 0, 1) for name in "abcd"])


def easy(batch: dict[str, Any]) -> Any:
    """Six leaves; two of them are rare."""
    a, b, c, d = (np.asarray(batch[name]) for name in "abcd")
    return np.where(a > 0.5, b > 0.3, np.where(c < 0.01, d > 0.4, d > 0.995))


def hard(batch: dict[str, Any]) -> Any:
    return sum(np.asarray(batch[name]) for name in "abcd") > 2


def rare(batch: dict[str, Any]) -> Any:
    """Three leaves, of which one holds eight inputs in ten thousand."""
    return np.where(np.asarray(batch["a"]) > 0.5, 1, np.where(np.asarray(batch["b"]) < 0.0016, 2, 0))


def test_the_target_is_asked_where_learners_differ_and_nobody_counts_it() -> None:
    front = ft.frontier(easy, SPACE)
    asked = front.queries.asked.by_purpose
    chosen = asked["label"] - 3_200
    assert 0.05 * 3_200 < chosen <= 0.2 * 3_200, "errors are so rare that more are asked where learners differ"
    assert front[-1].certificate.samples == asked["certify"], "each test once, and nothing else"
    fresh = SPACE.draw(200_000, seed=9)
    error = float((front[-1].tree.predict(fresh) != easy(fresh)).mean())
    assert error < 0.0005
    assert error <= front[-1].error_bound


def test_tests_are_labels_too_when_a_run_asks_whether_more_would_pay() -> None:
    session = Session.of(Counted(hard, SPACE), source_of(SPACE, 0), Goal(0.0, 0.05, 0), nobody, FRONTIER)
    strategy = FrontierStrategy(session, [1, 2, 3], EFFORTS["queries"], 0)
    strategy._pool.codes = np.zeros(6_400, np.intp)
    strategy.held_out = [0.4, 0.2, 0.03]
    assert needed_for(0.03, level_in(FRONTIER, 1, 0.05)) > 5_000
    assert strategy._enough(0.1) == "", "a run that takes twice as many labels in all has more than twice to learn from"
    assert "10%" in strategy._enough(0.05)
    strategy.held_out = [0.4, 0.2, 0.003]
    assert "50 times less often" in strategy._enough(1.0)


def test_where_learners_differ_on_much_nothing_more_is_asked() -> None:
    assert ft.frontier(hard, SPACE, max_queries=4_000).queries.asked.by_purpose["label"] == 2_400


def test_rows_that_were_not_asked_about_are_free() -> None:
    rows = ft.Rows(SPACE.draw(1_000, seed=1))
    source = source_of(rows, 0)
    first, left = source.label(300), source.free(1_000)
    assert len(left) == 1_000 - 300 - source.tests
    assert not {row.tobytes() for row in left} & {row.tobytes() for row in np.concatenate([first, source.test(500)])}


def test_tests_go_on_while_a_better_tree_is_hidden(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told = ft.frontier(rare, SPACE, seed=0)
    monkeypatch.setattr(frontier_strategy, "_APART", 0.0)
    hidden = ft.frontier(rare, SPACE, seed=0)
    assert [point.leaves for point in told] == [point.leaves for point in hidden] == [1, 2, 3]
    assert hidden[1].error_bound == hidden[2].error_bound, "with this seed: no test has met the third leaf by then"
    hidden.save(tmp_path / "tied")
    assert [point.leaves for point in ft.Frontier.load(tmp_path / "tied")] == [1, 2, 3]
    more, most = told.queries.asked.by_purpose["certify"], 3_200 * 9 / 8
    assert hidden.queries.asked.by_purpose["certify"] < more <= most
    assert told[1].error_bound > told[2].error_bound or more > most / 1.2, "tests go on until they tell, or are many"


def test_of_equal_bounds_a_larger_tree_stays_that_has_far_fewer_mistakes_among_what_taught() -> None:
    points = ft.frontier(rare, SPACE).points
    same = [replace(one, certificate=points[-1].certificate) for one in points]

    def sizes(*wrong: int) -> list[int]:
        taught = dict(zip((one.tree for one in points), wrong, strict=True))
        return [one.leaves for one in Frontier.of(same, 0.05, 64, taught.__getitem__)]

    assert sizes(9, 9, 9) == sizes(9, 9, 5) == sizes(1, 1, 0) == [1], "that may be chance"
    assert sizes(9, 1, 0) == [1, 2, 3], "the first of the equal ones is what a tree must be better than by far"
    assert sizes(9, 1, 1) == [1, 2]
    assert sizes(9, 9, 0) == [1, 3]
    worse = [same[0], replace(points[1], certificate=points[0].certificate)]
    assert worse[0].error_bound < worse[1].error_bound
    assert len(Frontier.of(worse, 0.05, 64, lambda tree: -tree.size)) == 1, "a larger bound is never made up for"


def test_a_rival_that_tests_find_better_takes_the_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SizedTrees, "trees", lambda self, sizes=None: self._built([0] * len(self._sizes)))
    front = ft.frontier(easy, SPACE)
    assert [point.leaves for point in front][:2] == [1, 2]
    assert front[-1].error_bound < 0.05 < front[0].error_bound
    numbers = [point.certificate.attempt for point in front]
    assert numbers[0] == 1
    assert 2 * ROUND >= max(numbers) > len(front)
    assert all(point.certificate.level == level_in(FRONTIER, point.certificate.attempt, 0.05) for point in front)
    monkeypatch.setattr(SizedTrees, "rivals", lambda self: [])
    assert len(ft.frontier(easy, SPACE)) == 1, "there was nothing else to test"
