"""The best-first loop and its frontier: largest score first, near ties settled, stale scores forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fidelitree as ft
from fidelitree.asking.limits import Budget
from fidelitree.search.best_first import NEAR_TIE, LeafQueue
from fidelitree.search.grow import GOOD_ENOUGH, NOTHING_LEFT, Evidence, grow
from fidelitree.spaces.features import IsOne
from fidelitree.spaces.features import Test as FeatureTest
from fidelitree.trees.growing import GrowingLeaf, GrowingTree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def evidence(*scores: float) -> Evidence:
    return Evidence(np.array(scores))


def queue(scores: Mapping[int, float]) -> LeafQueue[FeatureTest]:
    made = LeafQueue[FeatureTest]()
    for number, score in scores.items():
        made.put(number, *evidence(score).split)
    return made


def test_the_largest_score_comes_first() -> None:
    assert queue({0: 0.1, 1: 0.5, 2: 0.3}).best() == (1, 0.5, IsOne(0))


def test_looking_does_not_take_away() -> None:
    leaves = queue({0: 0.1, 1: 0.5})
    assert leaves.best() == leaves.best() == (1, 0.5, IsOne(0))


def test_the_best_feature_of_the_leaf_is_chosen() -> None:
    leaves = LeafQueue[FeatureTest]()
    leaves.put(0, *evidence(0.1, 0.4, 0.2).split)
    assert leaves.best() == (0, 0.4, IsOne(1))


def test_ties_go_to_the_leaf_made_first_then_to_the_lowest_feature() -> None:
    leaves = LeafQueue[FeatureTest]()
    for number in (7, 3, 5):
        leaves.put(number, *evidence(0.1, 0.4, 0.4).split)
    assert leaves.best() == (3, 0.4, IsOne(1))


@pytest.mark.parametrize(("gap", "chosen"), [(NEAR_TIE / 2, 2), (2 * NEAR_TIE, 5)])
def test_near_ties_are_ties_and_what_is_farther_is_not(gap: float, chosen: int) -> None:
    leaves = queue({5: 0.3, 2: 0.3 * (1 - gap)})
    assert leaves.best()[0] == chosen


def test_near_ties_between_features_go_to_the_lowest() -> None:
    leaves = LeafQueue[FeatureTest]()
    leaves.put(0, *evidence(0.1, 0.3 * (1 - 1e-13), 0.3).split)
    assert leaves.best() == (0, 0.3, IsOne(1))


def test_a_near_tie_is_measured_from_the_best_and_not_along_a_chain() -> None:
    steps = {number: 0.3 * (1 - 6e-13 * (9 - number)) for number in range(10)}  # leaf 9 has the best score
    assert queue(steps).best()[0] == 8


def test_no_score_no_split() -> None:
    assert LeafQueue().best() is None
    assert queue({0: 0.0, 1: 0.0}).best() is None


def test_new_evidence_replaces_old() -> None:
    leaves = queue({0: 0.5, 1: 0.4})
    leaves.put(0, *evidence(0.1).split)
    assert leaves.best() == (1, 0.4, IsOne(0))
    leaves.put(0, *evidence(0.5).split)
    assert leaves.best() == (0, 0.5, IsOne(0))
    leaves.put(0, *evidence(0.0).split)
    assert leaves.best() == (1, 0.4, IsOne(0))


def test_the_same_score_with_another_feature_is_new_evidence_too() -> None:
    leaves = LeafQueue[FeatureTest]()
    leaves.put(0, *evidence(0.5, 0.1).split)
    leaves.put(0, *evidence(0.1, 0.5).split)
    assert leaves.best() == (0, 0.5, IsOne(1))


def test_a_dropped_leaf_does_not_come_back() -> None:
    leaves = queue({0: 0.5, 1: 0.5, 2: 0.1})
    leaves.drop(0)
    assert leaves.best() == (1, 0.5, IsOne(0))
    leaves.drop(1)
    assert leaves.best() == (2, 0.1, IsOne(0))
    leaves.drop(2)
    leaves.drop(2)
    assert leaves.best() is None


steps = st.tuples(st.sampled_from(["put", "put", "drop", "best"]), st.integers(0, 6), st.sampled_from([0, 1, 2, 2, 3]))


@given(st.lists(steps, max_size=60))
def test_the_frontier_does_what_a_dict_of_scores_does(script: list[tuple[str, int, int]]) -> None:
    leaves, plain = LeafQueue[FeatureTest](), {}
    for verb, number, score in script:
        if verb == "put":
            leaves.put(number, *evidence(score / 4).split)
            plain[number] = score / 4
        elif verb == "drop":
            leaves.drop(number)
            plain.pop(number, None)
        top = max(plain.values(), default=0)
        first = min((number for number, score in plain.items() if score == top), default=None)
        assert leaves.best() == ((first, top, IsOne(0)) if top > 0 else None)


def test_thousands_of_ties_cost_no_more_than_two() -> None:
    """Counted, not timed: one bucket holds them all, and looking at the best one touches no other."""
    leaves = queue(dict.fromkeys(reversed(range(20_000)), 0.25))
    assert len(leaves._buckets) == len(leaves._gains) == 1
    for number in range(20_000):
        assert leaves.best() == (number, 0.25, IsOne(0))
        leaves.drop(number)
    assert leaves.best() is None
    assert leaves._buckets == {}


def test_hundreds_of_near_ties_are_ties_one_after_another() -> None:
    """Scores that rounding made different: each leaf comes in its turn, and the last have no worse claim."""
    rng = np.random.default_rng(0)
    scores = 0.3 * (1 - NEAR_TIE / 4 * rng.random(500))
    leaves = queue(dict(enumerate(scores.tolist())))
    for number in range(500):
        assert leaves.best()[0] == number
        leaves.drop(number)
        leaves.put(500 + number, *evidence(0.1).split)
    assert leaves.best() == (500, 0.1, IsOne(0))


class Script:
    """A probe and judge that say what they were told to, and a tracer that listens."""

    def __init__(self, scores: Mapping[int, Sequence[float]], enough: int = 10**9) -> None:
        self.scores, self.size_enough = scores, enough
        self.splits: list[tuple[int, int, float]] = []
        self.heard: list[list[int]] = []

    def look(self, bare: GrowingTree, made: Sequence[GrowingLeaf]) -> dict[int, Evidence]:
        return {leaf.number: evidence(*self.scores[leaf.number]) for leaf in made}

    def hear(self, bare: GrowingTree, made: Sequence[GrowingLeaf]) -> None:
        self.heard.append([leaf.number for leaf in made])

    def enough(self, bare: GrowingTree, evidence: Mapping[int, Evidence]) -> bool:
        return bare.size >= self.size_enough

    def split(self, leaf: GrowingLeaf, test: FeatureTest, score: float) -> None:
        self.splits.append((leaf.number, test.feature, score))


NOTHING = (0.0, 0.0, 0.0)
SCORES = {
    **dict.fromkeys(range(9), NOTHING),
    0: (0.1, 0.5, 0.0),
    1: (0.2, 0.0, 0.3),
    2: (0.4, 0.0, 0.0),
    5: (0.1, 0.0, 0.0),
}


@pytest.fixture
def bare() -> Iterator[GrowingTree]:
    return GrowingTree(ft.ProductSpace.bernoulli(3))


def test_growing_splits_the_best_leaf_until_nothing_scores(bare: GrowingTree) -> None:
    script = Script(SCORES)
    assert grow(bare, script, script, Budget(), script.split) == NOTHING_LEFT
    assert script.splits == [(0, 1, 0.5), (2, 0, 0.4), (1, 2, 0.3), (5, 0, 0.1)]
    assert script.heard == [[0], [1, 2], [3, 4], [5, 6], [7, 8]]
    assert bare.size == 5


def test_the_judge_ends_it(bare: GrowingTree) -> None:
    script = Script(SCORES, enough=3)
    assert grow(bare, script, script, Budget(), script.split) == GOOD_ENOUGH
    assert bare.size == 3


def test_the_largest_tree_allowed_ends_it(bare: GrowingTree) -> None:
    script = Script(SCORES)
    assert grow(bare, script, script, Budget(max_leaves=4), script.split) == "max_leaves = 4"
    assert (bare.size, len(script.splits)) == (4, 3)


def test_a_judge_that_has_enough_at_the_limit_is_content(bare: GrowingTree) -> None:
    script = Script(SCORES, enough=2)
    assert grow(bare, script, script, Budget(max_leaves=2), script.split) == GOOD_ENOUGH
