"""The search against every tree: costs are the least possible, and whole trees where the horizon reaches the ground.

Weights are multiples of 1/4 and penalties of 1/8, so that sums of floats are exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from fidelitree.search.bits.lookahead import Lookahead
from fidelitree.search.bits.sketch import LabelledRows, fit, predict
from fidelitree.spaces.features import IsOne
from fidelitree.trees.nested import Nested, size


@dataclass(frozen=True)
class Problem:
    """Rows as the search and as the reference see them."""

    found: list[reference.Row]
    penalties: list[float]

    @property
    def rows(self) -> LabelledRows:
        return LabelledRows(
            np.array([row.bits for row in self.found], np.float32),
            np.array([row.code for row in self.found], np.intp),
            np.array([row.weight for row in self.found], np.float32),
            np.array(self.penalties, np.float32),
        )

    def cost(self, sketch: Nested) -> float:
        """Weight of the rows that a tree gets wrong, plus its penalties."""
        wrong = predict(sketch, self.rows.bits) != self.rows.codes
        return float(self.rows.weights[wrong].sum()) + self._penalty(sketch)

    def _penalty(self, sketch: Nested) -> float:
        if not isinstance(sketch, tuple):
            return 0.0
        return self.penalties[sketch[0].feature] + self._penalty(sketch[1]) + self._penalty(sketch[2])


@st.composite
def problems(draw: st.DrawFn, most: int = 4, rows: int = 14) -> Problem:
    """A few rows over a few features, two or three labels, unequal weights and penalties; rows may contradict."""
    n = draw(st.integers(1, most))
    labels = draw(st.sampled_from([1, 2, 2, 3]))
    row = st.builds(
        reference.Row,
        st.tuples(*[st.integers(0, 1)] * n),
        st.integers(0, labels - 1),
        st.integers(1, 8).map(lambda quarters: quarters / 4),
    )
    penalty = st.integers(1, 10).map(lambda eighths: eighths / 8)
    return Problem(draw(st.lists(row, min_size=1, max_size=rows)), draw(st.lists(penalty, min_size=n, max_size=n)))


@pytest.mark.parametrize("horizon", [1, 2, 3, 4])
@given(problem=problems())
def test_the_cost_from_each_feature_is_the_least_of_all_trees(horizon: int, problem: Problem) -> None:
    rows = problem.rows
    costs = Lookahead(rows.bits, rows.codes, rows.weights, rows.penalties).costs(horizon)
    expected = [
        reference.cost_from(problem.found, problem.penalties, horizon, i) for i in range(len(problem.penalties))
    ]
    assert costs.tolist() == pytest.approx(expected, abs=1e-5)


@given(problems())
def test_a_tree_of_four_features_is_the_cheapest_there_is(problem: Problem) -> None:
    """Four levels from the root, and three from each child, are all there are."""
    found = fit(problem.rows, 4)
    assert problem.cost(found) == pytest.approx(reference.least_cost(problem.found, problem.penalties, 4), abs=1e-5)


@pytest.mark.parametrize("horizon", [1, 2, 3, 4])
@given(problem=problems(most=6))
def test_a_tree_never_costs_more_than_a_leaf_and_asks_nothing_twice(horizon: int, problem: Problem) -> None:
    found = fit(problem.rows, horizon)
    assert problem.cost(found) <= reference.wrong_as_leaf(problem.found) + 1e-5
    assert_no_feature_twice(found, frozenset())


def assert_no_feature_twice(sketch: Nested, path: frozenset[int]) -> None:
    if isinstance(sketch, tuple):
        assert sketch[0].feature not in path
        assert sketch[1] != sketch[2]
        for side in sketch[1:]:
            assert_no_feature_twice(side, path | {sketch[0].feature})


@pytest.mark.parametrize("horizon", [1, 2, 3, 4])
@given(problem=problems(most=6))
def test_fitting_again_changes_nothing(horizon: int, problem: Problem) -> None:
    found = fit(problem.rows, horizon)
    assert fit(problem.rows, horizon, found) == found


@given(problems(most=5), st.data())
def test_a_tree_from_before_costs_nothing_extra(problem: Problem, data: st.DataObject) -> None:
    """Whatever tree there was, the new one is as cheap as without it where the horizon reaches the ground."""
    before = data.draw(sketches(range(min(4, len(problem.penalties)))))
    if len(problem.penalties) <= 4:
        assert problem.cost(fit(problem.rows, 4, before)) == pytest.approx(problem.cost(fit(problem.rows, 4)), abs=1e-5)
    assert size(fit(problem.rows, 3, before)) <= len({row.bits for row in problem.found})


@st.composite
def sketches(draw: st.DrawFn, free: range | list[int]) -> Nested:
    if not len(free) or draw(st.booleans()):
        return draw(st.integers(0, 2))
    feature = draw(st.sampled_from(list(free)))
    rest = [i for i in free if i != feature]
    return IsOne(feature), draw(sketches(rest)), draw(sketches(rest))
