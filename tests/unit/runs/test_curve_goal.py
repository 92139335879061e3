"""The goal of a frontier: each size is opened once it has learnt enough, and all of them in the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.counted import Counted
from fidelitree.asking.events import Foreseen
from fidelitree.asking.limits import Budget
from fidelitree.asking.memory import Memory
from fidelitree.runs import economics
from fidelitree.runs.curve_goal import CurveGoal
from fidelitree.runs.economics import is_close
from fidelitree.runs.goal import Goal
from fidelitree.runs.input_source import source_of
from fidelitree.runs.learning import QUERIES, Effort
from fidelitree.runs.loop import Loop
from fidelitree.runs.session import Session
from fidelitree.runs.size_grid import filled, sizes_up_to
from fidelitree.theory.sequential import FRONTIER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fidelitree.certificates.attempts import Attempt

SPACE = ft.ProductSpace([ft.Numeric(name, 0, 1) for name in "abc"])
SHORT = Effort(0.1, 3_000, 10)
BUDGET = Budget(max_queries=2_000)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes are opened from few answers on, so that runs are short."""
    monkeypatch.setattr(economics, "SOONEST", 400)
    monkeypatch.setattr(economics, "A_LEAF", 40)


def slope(batch: Any) -> Any:
    """Which no small tree follows closely, and larger ones follow better and better."""
    return np.asarray(batch["a"]) + np.asarray(batch["b"]) > 1


def stairs(batch: Any) -> Any:
    """Which six leaves follow."""
    return np.floor(6 * np.asarray(batch["a"])).astype(int) % 3


def scattered(batch: Any) -> Any:
    columns = np.column_stack([np.asarray(batch[name]) for name in "abc"])
    return (np.floor(columns * 997).astype(np.int64) @ np.array([1, 27, 125])) % 11 % 2


@dataclass
class Opening:
    """When attempts were opened."""

    known: int
    asked: int
    sizes: list[int]
    learning: bool
    """Whether learning went on."""


class Watched(CurveGoal):
    """A goal that remembers its openings."""

    def __init__(self, sizes: Sequence[int], effort: Effort) -> None:
        super().__init__(sizes, effort)
        self.openings: list[Opening] = []

    def open(self, loop: Loop[str]) -> None:
        before = len(loop.attempts.all)
        super().open(loop)
        new = loop.attempts.all[before:]
        if new:
            sizes = [one.tree.size for one in new]
            self.openings.append(Opening(loop.known, loop.counted.asked, sizes, self.learning))


def run(
    target: Callable[[Any], Any],
    sizes: Sequence[int] = (1, 2, 4, 8, 16),
    effort: Effort = SHORT,
    budget: Budget | None = None,
    **told: Any,
) -> tuple[Watched, Loop[str], str]:
    space = told.get("space", SPACE)
    counted = Counted(target, space.product, Memory.usual(space.product), budget or Budget())
    goal = Watched(sizes, effort)
    observer = told.get("observer", lambda _: None)
    session = Session.of(counted, source_of(space, 0), Goal(0.0, 0.05, 0), observer, FRONTIER)
    loop = Loop.of(session, goal, 0)
    return goal, loop, loop.ending()


def attempts_of(goal: CurveGoal) -> dict[int, Attempt]:
    return goal._opened


def test_small_sizes_are_opened_before_large_ones_have_learnt() -> None:
    goal, loop, _ = run(slope)
    first, last = goal.openings[0], goal.openings[-1]
    assert first.learning
    assert 1 in first.sizes
    assert 16 not in first.sizes
    assert first.known < last.known
    assert not last.learning
    attempts = attempts_of(goal)
    assert attempts[1].samples > attempts[16].samples, "all that large ones learn from counts for small ones"
    assert attempts[1].samples == loop.counted.asked - first.asked


def test_everything_is_opened_when_learning_ends() -> None:
    goal, loop, reason = run(slope)
    assert reason in {
        f"{SHORT.most:,} labels to learn from",
        "no size would gain 10% of its error from as many labels again",
    }
    assert loop.known <= SHORT.most
    assert set(attempts_of(goal)) == {1, 2, 4, 8, 16}
    assert not goal.learning
    assert all(one.samples > 0 for one in loop.attempts.all)


def test_it_ends_when_every_bound_is_close() -> None:
    goal, loop, reason = run(slope)
    for one in attempts_of(goal).values():
        assert is_close(one.error_bound, one.rate)
    assert goal.done(loop) == reason


def test_every_size_may_have_learnt_enough_before_the_end() -> None:
    goal, loop, reason = run(stairs, (1, 2, 3), Effort(0.1, 30_000, 10))
    assert reason == "no size would gain 10% of its error from as many labels again"
    assert loop.known < 10_000
    assert set(attempts_of(goal)) == {1, 2, 3}


def test_where_few_leaves_answer_everything_sizes_between_are_opened_too() -> None:
    sizes = sizes_up_to(64)
    goal, loop, _ = run(stairs, sizes, Effort(0.1, 1_500, 30))
    most = loop.archive.at(64).size
    assert 6 <= most < 13
    assert goal.sizes == filled([size for size in sizes if size < most], most)
    assert 4 in goal.sizes
    assert set(goal.sizes) <= set(attempts_of(goal))
    assert attempts_of(goal)[most].error_bound < 0.02
    assert all(one.tree.size <= most for one in loop.attempts.all)


# --- hopeless


@pytest.fixture
def late(soon: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """No size ends learning before a forecast does."""
    monkeypatch.setattr(economics, "SOONEST", 1_000)


@pytest.mark.usefixtures("late")
def test_a_hopeless_target_ends_early_and_says_so() -> None:
    seen: list[Any] = []
    goal, loop, reason = run(scattered, (1, 2, 4), QUERIES, observer=seen.append)
    assert reason == f"hopeless ({goal.forecast}); give max_queries to go on"
    assert loop.known == economics.AT_LEAST
    assert [one.size for one in seen if isinstance(one, Foreseen)] == [1, 2, 4], "said once, for each size"
    assert attempts_of(goal), "what there is has a bound all the same"


@pytest.mark.usefixtures("late")
@pytest.mark.parametrize(("effort", "budget"), [(SHORT, None), (QUERIES, BUDGET)])
def test_who_says_what_may_be_spent_is_not_sent_home(effort: Effort, budget: Budget | None) -> None:
    goal, loop, reason = run(scattered, (1, 2, 4), effort, budget)
    assert goal.forecast is not None
    assert goal.forecast.hopeless
    assert not reason.startswith("hopeless")
    assert loop.known > economics.AT_LEAST


def test_what_can_be_learnt_is_not_hopeless() -> None:
    goal, _, reason = run(stairs, (1, 2, 3, 6), Effort(0.1, 1_500, 10))
    assert goal.forecast is not None
    assert not goal.forecast.hopeless
    assert not reason.startswith("hopeless")


# --- budgets and rows


@pytest.mark.parametrize("queries", [60, 300, 2_000])
def test_a_budget_leaves_labels_for_tests(queries: int) -> None:
    goal, loop, reason = run(slope, budget=Budget(max_queries=queries))
    assert reason == f"max_queries = {queries}"
    asked = loop.counted.queries.asked
    assert loop.counted.asked <= queries
    assert asked["label"] <= economics.LEARNING * queries + 1
    assert loop.known <= economics.LEARNING * queries + 1
    assert set(attempts_of(goal)) >= {1, 2, 4}
    kept = (1 - economics.LEARNING) * queries - 1
    assert all(one.samples >= kept for one in loop.attempts.all), "every size is tested with what is kept"
    assert min(one.error_bound for one in loop.attempts.all) < (0.9 if queries < 100 else 0.6)


def test_a_single_label_is_a_run() -> None:
    _, loop, reason = run(slope, budget=Budget(max_queries=1))
    assert reason == "max_queries = 1"
    assert loop.counted.asked == 1


def test_of_rows_no_size_is_opened_before_all_are() -> None:
    random = np.random.default_rng(3)
    rows = ft.Rows({name: random.random(6_000) for name in "abc"})
    goal, loop, _ = run(slope, space=rows, effort=Effort(0.1, 1_500, 10))
    assert len(goal.openings) == 1, "rows that test are others than those that teach"
    assert not goal.openings[0].learning
    assert loop.counted.queries.asked["label"] == loop.known


def test_few_rows_end_learning_before_the_effort_does() -> None:
    random = np.random.default_rng(3)
    rows = ft.Rows({name: random.random(900) for name in "abc"})
    goal, loop, reason = run(slope, space=rows)
    assert loop.known == loop.source.most < SHORT.most
    assert set(attempts_of(goal)) == {1, 2, 4, 8, 16}
    assert "rows" in reason or "enough" in reason


def test_nothing_is_opened_before_anything_is_known() -> None:
    goal = CurveGoal((1, 2), SHORT)
    goal.close("max_seconds = 1")
    counted = Counted(slope, SPACE, Memory.usual(SPACE))
    session = Session.of(counted, source_of(SPACE, 0), Goal(0.0, 0.05, 0), lambda _: None, FRONTIER)
    loop = Loop.of(session, goal, 0)
    goal.open(loop)
    assert loop.attempts.all == []
    assert goal.learning
