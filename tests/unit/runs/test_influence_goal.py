"""What a run returns: a pruning of the tested tree, or the paper's tree with its promise."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import fidelitree as ft
import reference
from fidelitree.asking.counted import Counted
from fidelitree.asking.limits import BudgetSpent
from fidelitree.certificates.attempts import Attempts
from fidelitree.errors import NoDiagramError
from fidelitree.exact.engine import all_answers_of
from fidelitree.runs import stopping
from fidelitree.runs.stopping import Smallest, exact_error, forecast
from fidelitree.runs.strategies.greedy import KAPPA, Greedy, _closeness
from fidelitree.theory.sequential import divergence
from mixed import MIXED, every_input

SPACE = ft.ProductSpace.bernoulli(12, 0.3)
TREE = ft.targets.balanced(SPACE, 3, seed=4)


def attempts_for(tree: ft.Tree, epsilon: float = 0.1) -> Attempts:
    attempts = Attempts(epsilon, 0.05)
    attempts.open(tree)
    return attempts


def count_clean(attempts: Attempts, samples: int) -> None:
    batch = np.zeros((samples, 12), np.uint8)
    for attempt in attempts.all:
        attempt.count(0, len(batch))


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


def test_nothing_is_returned_before_the_tree_is_certified() -> None:
    attempts, finish = attempts_for(TREE), Smallest(Counted(TREE, SPACE))
    assert finish.needed(attempts) == 40
    count_clean(attempts, 39)
    assert finish.done(attempts) is None
    assert finish.needed(attempts) == 1


def test_a_forecast_says_how_many_answers_a_tree_still_takes() -> None:
    (attempt,) = attempts_for(TREE).all
    wanted = -np.log(attempt.level)
    assert forecast(attempt, 0.1) == pytest.approx(wanted / divergence(0.05, 0.1)), "before it errs half as often"
    attempt.count(0, 30)
    assert attempt.needed_for(0.1) <= forecast(attempt, 0.1) < wanted / divergence(0.05, 0.1) / 2
    attempt.count(3, 0)
    assert forecast(attempt, 0.1) > wanted / divergence(0.08, 0.1), "just below epsilon"
    attempt.count(3, 10)
    assert forecast(attempt, 0.1) == float("inf")
    attempt.count(0, 500)
    assert attempt.certifies(0.1)
    assert forecast(attempt, 0.1) == 0


def test_a_smaller_tree_under_test_is_waited_for_where_it_is_close() -> None:
    small = ft.Tree.constant(SPACE, 1)

    def ended(errors: int) -> int:
        """Leaves of what is returned, with so many errors of the small tree among the first answers."""
        attempts = Attempts(0.1, 0.05)
        large, other = attempts.open(TREE), attempts.open(small)
        counted = Counted(TREE, SPACE)
        counted.ask(np.zeros((100, 12), np.uint8), "label")
        rule = Smallest(counted)
        large.count(0, 60)
        other.count(errors, 60)
        outcome = rule.done(attempts)
        if outcome is None:
            assert 0 < rule.needed(attempts) <= 30
            other.count(0, rule.needed(attempts))
            outcome = rule.done(attempts)
        assert outcome is not None
        return outcome.tree.size

    assert ended(errors=0) == 1
    assert ended(errors=9) > 1, "it errs too often to be waited for"


def test_a_pruning_is_vouched_for_by_the_tested_tree() -> None:
    attempts, finish = attempts_for(TREE), Smallest(Counted(TREE, SPACE))
    count_clean(attempts, 400)
    outcome = finish.done(attempts)
    assert outcome is not None
    assert outcome.tree.size < TREE.size
    assert outcome.differs == pytest.approx(ft.tree_error(outcome.tree, TREE, SPACE), abs=1e-15)
    assert outcome.error_bound == attempts.all[0].error_bound + outcome.differs <= 0.1


def test_leaves_beyond_the_limit_are_never_returned_even_if_the_promise_breaks() -> None:
    attempts, finish = attempts_for(TREE), Smallest(Counted(TREE, SPACE), max_leaves=2)
    count_clean(attempts, 60)
    outcome = finish.done(attempts)
    assert outcome is not None
    assert outcome.tree.size <= 2
    assert outcome.error_bound == pytest.approx(min(1.0, attempts.all[0].error_bound + outcome.differs))


def test_the_papers_tree_waits_until_its_scores_are_certain() -> None:
    attempts, finish = attempts_for(TREE), Greedy(Counted(TREE, SPACE))
    needed = finish.needed(attempts)
    assert needed > 40
    count_clean(attempts, needed - 1)
    assert finish.done(attempts) is None
    count_clean(attempts, 1)
    outcome = finish.done(attempts)
    assert outcome is not None
    bound = attempts.all[0].error_bound
    assert all(bound <= _closeness(split.score, SPACE) for split in outcome.splits)
    assert len(outcome.splits) == outcome.tree.size - 1
    assert outcome.error_bound <= 0.1


def test_the_papers_tree_is_algorithm_1_on_the_tested_tree() -> None:
    attempts, finish = attempts_for(TREE), Greedy(Counted(TREE, SPACE))
    count_clean(attempts, 5000)
    outcome = finish.done(attempts)
    assert outcome is not None
    exact = ft.build_top_down(TREE, SPACE, 0, max_leaves=outcome.tree.size)
    assert outcome.tree == exact.tree


def test_all_answers_of_a_circuit_are_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A diagram of many inputs takes a second; a run that opened five attempts built it five times."""
    asked: list[int] = []

    def counting(target: Any, space: ft.ProductSpace, watch: Any) -> Any:
        asked.append(len(space))
        return all_answers_of(target, space, watch)

    monkeypatch.setattr(stopping, "all_answers_of", counting)
    space = ft.ProductSpace.bernoulli(12)
    table = ft.targets.TruthTable(TREE.predict(space.whole.inputs(0, 1 << 12)).astype(np.uint8))
    counted = Counted(table, space)
    trees = [TREE, ft.Tree.constant(SPACE, 0), ft.Tree.constant(SPACE, 1)]
    errors = [exact_error(tree, counted) for tree in trees]
    assert errors == pytest.approx([ft.tree_error(tree, table, space) for tree in trees])
    assert asked == [12]
    assert exact_error(TREE, Counted(table, space)) == 0
    assert asked == [12, 12], "another run may have another target"


def test_what_takes_too_long_to_know_is_tried_again_only_if_time_ended_it(monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[Exception] = [BudgetSpent("max_seconds = 1"), NoDiagramError("too large")]

    def failing(*told: Any) -> Any:
        raise raised.pop(0)

    monkeypatch.setattr(stopping, "all_answers_of", failing)
    counted = Counted(TREE.predict, SPACE)
    assert [exact_error(TREE, counted) for _ in range(3)] == [None, None, None]
    assert not raised


def test_leaves_that_nobody_reads_count_for_less() -> None:
    assert stopping.price(100, 20) == pytest.approx(2 * stopping.price(100, 10))
    assert stopping.price(100, 64 * 16) == pytest.approx(4 * stopping.price(100, 64))
    assert stopping.price(200, 10) == pytest.approx(2**stopping.WORTH * stopping.price(100, 10))
