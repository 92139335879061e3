"""The best test of a feature from pairs: the formula, the counts, the candidates."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fidelitree as ft
import reference
from fidelitree.asking.counted import Counted
from fidelitree.exact.grid import GridSubfunction
from fidelitree.search.scores import Pairs, best_test, draw_pairs
from fidelitree.search.scores.drop import Range, drops
from fidelitree.search.scores.subsets import apart, every_set, ordered_sets, principal_order, set_drops, subset_drops
from fidelitree.search.scores.thresholds import _below, threshold_drops
from fidelitree.spaces.draw import Stream
from fidelitree.spaces.features import AtMost, IsIn, IsOne
from fidelitree.spaces.features.marginals import EVERYTHING
from fidelitree.spaces.region import Region
from mixed import every_input, mixed_spaces

SPACE = ft.ProductSpace(
    [
        ft.Boolean("owner", 0.3),
        ft.Categorical("job", {"clerk": 0.4, "nurse": 0.3, "pilot": 0.2, "chef": 0.1}),
        ft.Numeric.from_values("rooms", [1, 1, 2, 3, 3, 5]),
    ]
)


def exactly(value: Any) -> Range:
    return Range(*[np.asarray(value, np.float64)] * 3)


def random_target(space: ft.ProductSpace, labels: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows, chances = every_input(space)
    return rows, chances, np.random.default_rng(seed).integers(0, labels, len(rows))


@settings(max_examples=60)
@given(mixed_spaces(most=3, finite=True), st.integers(2, 4), st.integers(0, 10**6))
def test_drop_is_what_the_formula_of_crossing_pairs_says(space: ft.ProductSpace, labels: int, seed: int) -> None:
    rows, chances, answers = random_target(space, labels, seed)
    rng = np.random.default_rng(seed)
    for i in range(len(space)):
        inside = np.isin(rows[:, i], np.unique(rows[:, i])[rng.random(len(np.unique(rows[:, i]))) < 0.5])
        expected = reference.slow_drop(rows, chances, answers, i, inside)
        q1 = chances[inside].sum()
        influence = reference.slow_influence(rows, chances, answers, i)
        within = [
            reference.slow_influence(rows[side], chances[side], answers[side], i) if chances[side].sum() else 0.0
            for side in (inside, ~inside)
        ]
        # slow_influence of a part is weighed by the part's mass: in/q1 and out/q0 as they stand
        both_in, both_out = within[0] * q1, within[1] * (1 - q1)
        found = drops(exactly(influence), exactly([both_in]), exactly([both_out]), np.array([q1]))
        assert found.value[0] == pytest.approx(expected, abs=1e-12)
        assert expected >= -1e-12
        assert found.low[0] <= found.high[0] + 1e-12


def test_drop_is_what_a_split_takes_off_the_cost() -> None:
    """Total influence of the leaf, less the children's, weighed by their masses."""
    rows, chances, answers = random_target(SPACE, 3, 5)

    def cost(side: np.ndarray) -> float:
        return sum(reference.slow_influence(rows[side], chances[side], answers[side], i) for i in range(3))

    for test in (IsOne(0), IsIn(1, frozenset({0, 2})), AtMost(2, 2.5)):
        yes = test.answers(rows[:, test.feature])
        expected = cost(np.ones(len(rows), bool)) - cost(yes) - cost(~yes)
        assert reference.slow_drop(rows, chances, answers, test.feature, yes) == pytest.approx(expected, abs=1e-12)


def test_the_drop_of_a_bit_is_the_score_of_the_paper() -> None:
    """Inside every region: probability of the leaf times the influence there, from the definition of either."""
    biases = [0.5, 0.3, 0.8, 0.4]
    table = np.random.default_rng(1).integers(0, 2, 16).tolist()
    for region in itertools.product((0, 1, None), repeat=4):
        listed = reference.inputs(biases, region)
        rows = np.array([[number >> i & 1 for i in range(4)] for number, _ in listed])
        chances, answers = np.array([float(chance) for _, chance in listed]), np.array([table[n] for n, _ in listed])
        for i in reference.free(region):
            drop = reference.slow_drop(rows, chances, answers, i, rows[:, i] == 1)
            assert drop == pytest.approx(float(reference.influence(table, biases, i, region)), abs=1e-12)


def counted_pairs(
    space: ft.ProductSpace, target: Any, i: int, count: int, given: dict[str, Any] | None = None
) -> Pairs:
    return draw_pairs(Counted(target, space), Region.of(space, given), i, Stream.named(1, "grow"), count)


def rule(batch: dict[str, np.ndarray]) -> np.ndarray:
    pilot = (batch["job"] == "pilot") | (batch["job"] == "chef")
    return np.where(batch["rooms"] > 2, np.where(pilot, "a", "b"), np.where(batch["owner"] == 1, "b", "c"))


def test_a_bit_scores_what_the_paper_scores() -> None:
    region = Region.of(SPACE, {"rooms": (1, 3)})
    pairs = counted_pairs(SPACE, rule, 0, 3000, {"rooms": (1, 3)})
    found = best_test(pairs)
    assert found is not None
    assert found.test == IsOne(0)
    assert found.score == region.mass * pairs.changed.mean(), "probability of the leaf times the influence"
    assert found.low <= found.score <= found.high == found.most


def test_a_bit_of_the_path_and_a_single_value_have_no_test() -> None:
    assert best_test(counted_pairs(SPACE, rule, 0, 50, {"owner": 1})) is None
    assert best_test(counted_pairs(SPACE, rule, 1, 50, {"job": {"nurse"}})) is None
    assert best_test(counted_pairs(SPACE, rule, 2, 50, {"rooms": 5})) is None


def test_pairs_cost_two_queries_each_and_agree_on_everything_else() -> None:
    seen: list[dict[str, np.ndarray]] = []

    def target(batch: dict[str, np.ndarray]) -> np.ndarray:
        seen.append(batch)
        return rule(batch)

    counted = Counted(target, SPACE)
    pairs = draw_pairs(counted, Region.whole(SPACE), 1, Stream.named(0, "grow"), 70_000)
    assert (len(pairs), counted.asked) == (70_000, 140_000)
    assert len(seen) == 3, "in blocks"
    rows = len(seen[0]["owner"]) // 2
    assert all(np.array_equal(seen[0][name][:rows], seen[0][name][rows:]) for name in ("owner", "rooms"))
    assert not np.array_equal(pairs.one[:1000], pairs.one[-1000:])
    assert abs((pairs.one == pairs.two).mean() - 0.3) < 0.02, "independent draws: .16 + .09 + .04 + .01"
    with pytest.raises(ft.ParameterError, match="count must be at least 1; got 0"):
        draw_pairs(counted, Region.whole(SPACE), 1, Stream.named(0, "grow"), 0)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("feature", [ft.Numeric("x", 0, 1), ft.Numeric.from_values("x", [1, 2, 2, 5, 7, 8])])
def test_all_thresholds_in_one_pass_are_each_threshold_on_its_own(feature: ft.Numeric, seed: int) -> None:
    space = ft.ProductSpace([feature, ft.Boolean("b")])
    pairs = counted_pairs(space, lambda batch: np.floor(batch["x"] * 3 + batch["b"]) % (2 + seed), 0, 300)
    cuts, found = threshold_drops(pairs, 0.05)
    assert (np.diff(cuts) > 0).all()
    for cut, value in zip(cuts.tolist()[::7], found.value[::7], strict=True):
        one, two = pairs.one <= cut, pairs.two <= cut
        q1 = feature.mass((-np.inf, cut))
        both_in, both_out = (pairs.changed & one & two).mean(), (pairs.changed & ~one & ~two).mean()
        cross = (pairs.changed & (one != two)).mean()
        assert value == pytest.approx(cross - (1 - q1) / q1 * both_in - q1 / (1 - q1) * both_out, abs=1e-9)


QUANTILES = ft.Numeric.from_quantiles("x", [0, 10, 10, 10, 25, 80])


@pytest.mark.parametrize("interval", [EVERYTHING, (5.0, 30.0), (10.0, 80.0), (-3.0, 10.0), (-np.inf, 12.0)])
def test_shares_below_cuts_are_the_masses_of_intervals(interval: tuple[float, float]) -> None:
    cuts = np.array([5.5, 9.999, 10.0, 10.5, 11.0])
    cuts = cuts[(cuts > interval[0]) & (cuts < interval[1])]
    expected = [QUANTILES.mass((interval[0], cut)) / QUANTILES.mass(interval) for cut in cuts]
    np.testing.assert_allclose(_below(QUANTILES, interval, cuts), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("given", [None, {"job": {"clerk", "nurse", "chef"}}])
def test_every_set_of_categories_counts_its_own_pairs(given: dict[str, Any] | None) -> None:
    pairs = counted_pairs(SPACE, rule, 1, 500, given)
    codes, sets, found = subset_drops(pairs, 0.05)
    assert len(sets) == 2 ** (len(codes) - 1) - 1
    shares = pairs.drawn.listed(pairs.left)[1]
    for inside, value in zip(sets, found.value, strict=True):
        one, two = (np.isin(values, codes[inside]) for values in (pairs.one, pairs.two))
        q1 = shares[inside].sum()
        both_in, both_out = (pairs.changed & one & two).mean(), (pairs.changed & ~one & ~two).mean()
        assert value == pytest.approx(pairs.changed.mean() - both_in / q1 - both_out / (1 - q1), abs=1e-12)


def test_best_test_is_found_for_every_kind_of_feature() -> None:
    job, rooms = (best_test(counted_pairs(SPACE, rule, i, 20_000)) for i in (1, 2))
    assert job is not None
    assert rooms is not None
    assert job.test in (IsIn(1, frozenset({0, 1})), IsIn(1, frozenset({2, 3})))
    assert rooms.test == AtMost(2, 2.5)
    function = GridSubfunction(Region.whole(SPACE), *_codes(rule))
    for found, exact in zip((job, rooms), function.splits().drops[1:], strict=True):
        assert found.low <= exact <= found.high <= found.most
        assert found.score == pytest.approx(exact, abs=0.03)


def _codes(target: Any) -> tuple[np.ndarray, list[str]]:
    lists = [feature.listed(None)[0] for feature in SPACE]
    rows = np.array([row[::-1] for row in itertools.product(*lists[::-1])])
    labels, codes = np.unique(target(SPACE.batch(rows)), return_inverse=True)
    return codes, labels.tolist()


def test_a_score_counts_the_probability_of_the_leaf() -> None:
    given = {"rooms": (3, 5)}
    found = best_test(counted_pairs(SPACE, rule, 1, 20_000, given))
    assert found is not None
    assert found.score == pytest.approx(0.5 * 2 * 0.7 * 0.3, abs=0.02)


MANY = [f"v{k:02}" for k in range(14)]


def test_order_is_the_order_of_shares_where_nothing_else_matters() -> None:
    """Points on a line: squared differences of the categories' own shares."""
    chances = np.random.default_rng(3).random(14)
    shares = np.random.default_rng(4).dirichlet(np.full(14, 3.0))
    distances = (chances[:, None] - chances) ** 2
    order = principal_order(shares[:, None] * distances * shares, shares)
    assert order.tolist() in (np.argsort(chances).tolist(), np.argsort(-chances).tolist())


def test_ordered_sets_find_the_best_of_all_sets_where_all_can_be_tried() -> None:
    """Ten categories and a function of them and three bits: the order's best drop is near the best of all 511 sets."""
    shares = np.random.default_rng(0).dirichlet(np.full(10, 5.0))
    near = []
    for seed in range(20):
        answers = np.random.default_rng(seed).integers(0, 3, (10, 8))
        distances = (answers[:, None, :] != answers).mean(axis=2)
        pairs = shares[:, None] * distances * shares * 1e9
        best, ordered = (
            set_drops(pairs.astype(np.int64), 10**9, shares, sets, 0.05).value.max()
            for sets in (every_set(10), ordered_sets(principal_order(pairs, shares)))
        )
        near.append(ordered / best)
    assert min(near) > 0.75
    assert np.mean(near) > 0.95


def test_more_than_ten_categories_are_ordered_by_one_half_and_judged_by_the_other() -> None:
    space = ft.ProductSpace([ft.Categorical("c", MANY), ft.Boolean("b", 0.5)])
    evens = MANY[::2]
    pairs = counted_pairs(space, lambda batch: np.isin(batch["c"], evens) & (batch["b"] == 1), 0, 8000)
    found = best_test(pairs)
    assert found is not None
    assert isinstance(found.test, IsIn)
    assert found.test.codes in (frozenset(range(0, 14, 2)), frozenset(range(1, 14, 2)))
    assert found.low <= 0.25 <= found.high
    half = pairs.part(slice(4000, None))
    assert found.score == pytest.approx(half.changed.mean()), "both sides are uniform inside"
    assert apart(pairs, np.arange(14.0)).sum() == pairs.changed.sum()


def test_candidates_are_no_empty_set_and_no_complement_twice() -> None:
    sets = every_set(4)
    assert len(sets) == 7
    assert not sets[:, -1].any()
    assert sets.any(axis=1).all()
    assert every_set(1).shape == (0, 1)
    ordered = ordered_sets(np.array([2, 0, 1]))
    assert ordered.tolist() == [
        [False, False, True],
        [True, False, True],
        [True, False, False],
        [False, True, False],
        [False, False, True],
    ]


def test_a_score_lies_between_its_ends() -> None:
    """A fair coin that decides everything: the estimate may be above 1/2, the score of a bit cannot."""
    space = ft.ProductSpace.bernoulli(1)
    for seed in range(20):
        counted = Counted(lambda batch: batch[:, 0], space)
        found = best_test(draw_pairs(counted, Region.whole(space), 0, Stream.named(seed, "grow"), 20))
        assert found is not None
        assert found.low <= found.score <= found.high <= 0.5


def test_delta_is_checked() -> None:
    with pytest.raises(ft.ParameterError, match="delta must be above 0 and below 1; got 2"):
        best_test(counted_pairs(SPACE, rule, 0, 10), delta=2)
