"""The paper's tree with its promise: grown on a tested tree, and returned as soon as that is close enough."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

import fidelitree as ft
import reference
from driving import loop_over
from fidelitree.runs.economics import QUERIES, Belief
from fidelitree.runs.epsilon_goal import EpsilonGoal
from fidelitree.runs.influence_goal import KAPPA, InfluenceGoal, _closeness
from fidelitree.runs.loop import Candidate
from fidelitree.runs.outcome import Outcome
from mixed import MIXED, every_input

if TYPE_CHECKING:
    from fidelitree.runs.loop import Loop

SPACE = ft.ProductSpace.bernoulli(12, 0.3)
TREE = ft.targets.balanced(SPACE, 3, seed=4)


def test_closeness_is_the_quarter_rule() -> None:
    """At the largest error allowed, the worst case of score and best score is exactly kappa."""
    score = 0.03
    for space, moves in ((SPACE, 2), (MIXED, 4)):
        error = _closeness(score, space)
        assert (score - moves * error) / (score + moves * error) == pytest.approx(KAPPA)


def every_score(space: ft.ProductSpace, answers: NDArray[Any]) -> NDArray[np.float64]:
    """The score of every test of the first feature at the root."""
    rows, chances = every_input(space)
    codes = range(int(rows[:, 0].max()) + 1)
    sets = [set(some) for size in range(1, len(codes)) for some in itertools.combinations(codes, size)]
    if space.features[0].kind == "numeric":
        sets = [set(codes[: k + 1]) for k in codes[:-1]]
    return np.array([reference.slow_drop(rows, chances, answers, 0, np.isin(rows[:, 0], list(s))) for s in sets])


@pytest.mark.parametrize(
    ("first", "moves"),
    [
        (ft.Categorical("a", range(4)), 4),
        (ft.Categorical("a", {0: 0.6, 1: 0.3, 2: 0.05, 3: 0.05}), 4),
        (ft.Numeric.from_values("a", range(5)), 4),
        (ft.Boolean("a", 0.3), 2),
    ],
)
def test_scores_of_two_functions_differ_by_a_few_times_their_disagreement(first: Any, moves: int) -> None:
    space = ft.ProductSpace([first, ft.Numeric.from_values("b", range(4))])
    _, chances = every_input(space)
    rng = np.random.default_rng(0)
    for _ in range(40):
        one = rng.integers(0, 1 + rng.integers(1, 3), len(chances))
        other = np.where(rng.random(len(chances)) < rng.choice([0.1, 0.3]), rng.integers(0, 2, len(chances)), one)
        change = np.abs(every_score(space, one) - every_score(space, other)).max()
        assert change <= moves * chances[one != other].sum() + 1e-12


@pytest.mark.parametrize("kind", ["category", "number"])
def test_twice_the_disagreement_is_not_enough_for_other_features(kind: str) -> None:
    """The one input of a rare side that answers as the other side does, or as its own."""
    values = [0] * 90 + list(range(1, 11))
    counts = {value: values.count(value) for value in sorted(set(values))}
    first = ft.Numeric.from_values("a", values) if kind == "number" else ft.Categorical.from_counts("a", counts)
    space = ft.ProductSpace([first, ft.Boolean("b", 1.0)])
    rows, chances = every_input(space)
    listed = [(rows, chances, (rows[:, 0] > least).astype(int)) for least in (0, 1)]
    apart = float(chances[listed[0][2] != listed[1][2]].sum())
    change = abs(
        reference.slow_drop(*listed[0], 0, rows[:, 0] > 0) - reference.slow_drop(*listed[1], 0, rows[:, 0] > 0)
    )
    assert apart == pytest.approx(0.01)
    assert 3 * apart < change <= 4 * apart


# --- when it is returned, and what


def under_test(tree: ft.Tree, epsilon: float = 0.1, **limits: Any) -> Loop[Any]:
    """A run that has opened an attempt for a tree, and counted nothing."""
    loop = loop_over(EpsilonGoal(epsilon, QUERIES), tree.predict, SPACE, epsilon, **limits)
    loop.goal = InfluenceGoal(epsilon, QUERIES, loop.counted)
    loop.attempts.open(tree)
    return loop


def done(loop: Loop[Any]) -> Outcome | None:
    found = loop.goal.done(loop)
    assert found is None or isinstance(found, Outcome)
    return found


def test_the_papers_tree_waits_until_its_scores_are_certain() -> None:
    loop = under_test(TREE)
    needed = int(loop.goal.needed(loop))
    assert needed > loop.attempts.at_best
    loop.attempts.all[0].count(0, needed - 1)
    assert done(loop) is None
    loop.attempts.all[0].count(0, 1)
    outcome = done(loop)
    assert outcome is not None
    bound = loop.attempts.all[0].error_bound
    assert all(bound <= _closeness(split.score, SPACE) for split in outcome.splits)
    assert len(outcome.splits) == outcome.tree.size - 1
    assert outcome.error_bound <= 0.1


def test_the_papers_tree_is_algorithm_1_on_the_tested_tree() -> None:
    loop = under_test(TREE)
    loop.attempts.all[0].count(0, 5_000)
    outcome = done(loop)
    assert outcome is not None
    assert outcome.tree == ft.build_top_down(TREE, SPACE, 0, max_leaves=outcome.tree.size).tree


def test_where_leaves_are_limited_the_promise_about_splits_is_kept_and_the_error_is_what_it_is() -> None:
    loop = under_test(TREE, 0.01, max_leaves=2)
    loop.attempts.all[0].count(0, int(loop.goal.needed(loop)))
    outcome = done(loop)
    assert outcome is not None
    assert outcome.tree.size == 2
    assert outcome.differs == pytest.approx(ft.tree_error(outcome.tree, TREE, SPACE))
    assert outcome.error_bound > 0.01


def test_only_the_tree_with_the_fewest_errors_is_worth_a_test() -> None:
    loop = loop_over(EpsilonGoal(0.1, QUERIES), TREE.predict, SPACE, 0.1)
    goal = InfluenceGoal(0.1, QUERIES, loop.counted)
    for size, errors in ((1, 30), (3, 12), (8, 2)):
        found = Candidate(ft.targets.balanced(SPACE, 3, size) if size > 1 else ft.Tree.constant(SPACE, 0))
        found.evidence = Belief(errors, 100)
        loop.candidates[size] = found
    assert goal.proposals(loop) == [loop.candidates[8]]
    loop.attempts.open(loop.candidates[8].tree)
    assert goal.proposals(loop) == [], "and it is under test"


# --- whole runs


@pytest.mark.parametrize("limit", [5, 40, 70])
def test_a_run_that_is_ended_early_promises_nothing_about_splits(limit: int) -> None:
    result = ft.distill(TREE.predict, SPACE, 0.02, strategy="influence", max_queries=limit)
    assert result.reason == f"max_queries = {limit}"
    assert not result.certificate.split_quality


def test_nor_does_one_that_is_interrupted() -> None:
    left = itertools.count(3, -1)

    def target(batch: Any) -> Any:
        if next(left) == 0:
            raise KeyboardInterrupt
        return TREE.predict(batch)

    result = ft.distill(target, SPACE, 0.02, strategy="influence")
    assert result.reason == "interrupted"
    assert not result.certificate.split_quality
