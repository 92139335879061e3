"""Splits: the best test is as good as the best that brute force finds, and counts are those of the rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from fidelitree.search.local import coded as grouping
from fidelitree.search.local.coded import Coded, Grouped
from fidelitree.search.local.splits import IMPURITIES, MANY, Splits, entropy, errors, gini, greedy_impurity
from fidelitree.spaces.features import AtMost, IsIn
from fidelitree.spaces.features import Test as FeatureTest
from labelled import coded_rows


def as_rows(coded: Coded) -> list[reference.Binned]:
    lines = zip(coded.bins.T.tolist(), coded.codes.tolist(), coded.weights.tolist(), strict=True)
    return [reference.Binned(tuple(line), code, weight) for line, code, weight in lines]


def best_by_brute_force(coded: Coded) -> float:
    rows, best = as_rows(coded), np.inf
    for feature, test in reference.binned_tests(coded.ordered, coded.sizes):
        yes = [row for row in rows if reference.passes(row, feature, test)]
        no = [row for row in rows if not reference.passes(row, feature, test)]
        if yes and no:
            best = min(best, reference.gini_mass(yes) + reference.gini_mass(no))
    return best


def look(coded: Coded) -> tuple[Splits, np.ndarray, list[FeatureTest]]:
    splits = Splits(Grouped(coded))
    rows = splits.grouped.all_rows
    menu = splits.look(splits.grouped.histogram(rows), splits.grouped.counts(rows))
    scores = menu.scores(gini)
    return splits, scores, [menu.decode(number) for number in range(len(scores))]


@given(coded_rows(classes=4))
def test_no_test_is_better(coded: Coded) -> None:
    _, scores, _ = look(coded)
    assert scores.min(initial=np.inf) == pytest.approx(best_by_brute_force(coded))


@given(coded_rows(classes=4))
def test_every_score_is_that_of_its_test(coded: Coded) -> None:
    splits, scores, tests = look(coded)
    rows = splits.grouped.all_rows
    seen = set[tuple[int, bytes]]()
    for score, test in zip(scores, tests, strict=True):
        passed = coded.says_yes(test, rows)
        way = test.feature, passed.tobytes()
        if passed.all() or not passed.any() or (score == np.inf and way in seen):
            assert score == np.inf
            continue
        seen.add(way)
        sides = [splits.grouped.counts(rows[part])[:, None] for part in (passed, ~passed)]
        assert score == pytest.approx(sum(float(gini(side)[0]) for side in sides))


@given(coded_rows())
def test_the_test_over_bins_divides_as_well_as_the_one_over_groups(coded: Coded) -> None:
    splits, scores, tests = look(coded)
    rows = splits.grouped.all_rows
    for score, test in zip(scores, tests, strict=True):
        if score < np.inf:
            exact, passed = splits.divide(test, rows, gini)
            assert np.array_equal(coded.says_yes(exact, rows), passed)
            sides = [splits.grouped.counts(rows[part])[:, None] for part in (passed, ~passed)]
            assert sum(float(gini(side)[0]) for side in sides) == pytest.approx(score)


def many_values(classes: int) -> Coded:
    random = np.random.default_rng(classes)
    bins = random.integers(14, size=(1, 400)).astype(np.uint16)
    codes = (random.random(400) < np.linspace(0, 1, 14)[(bins[0] * 5) % 14]).astype(np.intp) * (bins[0] % classes)
    return Coded(bins, [False], [14], codes.astype(np.intp), np.ones(400))


def test_two_classes_lose_nothing_by_order_of_share() -> None:
    coded = many_values(2)
    splits, scores, _ = look(coded)
    table = splits.grouped.histogram(splits.grouped.all_rows)
    masks = (np.arange(1, 1 << 13) >> np.arange(14)[:, None]) & 1
    left = table @ masks
    assert scores.min() == pytest.approx(float((gini(left) + gini(table.sum(axis=1)[:, None] - left)).min()))


def test_many_classes_and_values_are_tried_by_the_share_of_each_class() -> None:
    _, scores, tests = look(many_values(3))
    assert len(tests) == 14 + 3 * 14
    assert isinstance(tests[int(scores.argmin())], IsIn)


def test_a_set_loses_absent_values_and_is_the_smaller_side() -> None:
    bins = np.array([[0, 1, 2, 2]], np.uint16)
    coded = Coded(bins, [False], [5], np.array([0, 0, 1, 1]), np.ones(4))
    splits = Splits(Grouped(coded))
    test, passed = splits.divide(IsIn(0, frozenset([0, 1, 4])), splits.grouped.all_rows, gini)
    assert test == IsIn(0, frozenset([2]))
    assert passed.tolist() == [False, False, True, True]


def test_a_threshold_goes_to_the_middle_of_its_gap() -> None:
    bins = np.array([[0, 0, 8, 8, *range(9)]], np.uint16)
    coded = Coded(bins, [True], [9], np.array([0, 0, 1, 1] + [0] * 9), np.ones(13))
    splits = Splits(Grouped(coded))
    test, _ = splits.divide(AtMost(0, 0), np.arange(4, dtype=np.int32), gini)
    assert test == AtMost(0, 3)  # by weight: 3 rows in bin 0, then one a bin to 7


def test_groups_hide_no_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    bins = random.integers(1000, size=(2, 3000)).astype(np.uint16)
    codes = (bins[0] > 617).astype(np.intp)
    coded = Coded(bins, [True, True], [1000, 1000], codes, np.ones(3000))
    splits, scores, tests = look(coded)
    assert len(tests) < 500
    test, passed = splits.divide(tests[int(scores.argmin())], splits.grouped.all_rows, gini)
    assert test == AtMost(0, 617)
    assert np.array_equal(passed, codes == 0)
    monkeypatch.setattr(grouping, "GROUPS", 1000)
    assert len(look(coded)[2]) == 2 * 999


@given(st.lists(st.floats(0, 100), min_size=2, max_size=5))
def test_impurities_are_zero_for_one_class_and_never_rise_by_a_split(counts: list[float]) -> None:
    side = np.array(counts)[:, None]
    pure = np.zeros_like(side)
    pure[0] = side.sum()
    for impurity in (*IMPURITIES, errors):
        assert impurity(pure)[0] == pytest.approx(0, abs=1e-9)
        half = side * np.linspace(0, 1, len(side))[:, None]
        assert impurity(half)[0] + impurity(side - half)[0] <= impurity(side)[0] + 1e-9


@given(coded_rows())
def test_counts_are_those_of_the_rows(coded: Coded) -> None:
    grouped = Grouped(coded)
    table = grouped.histogram(grouped.all_rows)
    for feature, size in enumerate(coded.sizes):
        for group in range(size):
            for code in range(coded.classes):
                there = (coded.bins[feature] == group) & (coded.codes == code)
                assert table[code, grouped.starts[feature] + group] == coded.weights[there].sum()


def test_of_very_many_labels_only_some_put_values_in_order() -> None:
    """Each label's order takes a look at all tests, and each look counts all labels: of many one order is enough."""
    values = np.arange(40)
    for labels in (12, MANY, 40):
        coded = Coded(values[None].astype(np.uint16), [False], [40], values % labels, np.ones(40))
        _, scores, tests = look(coded)
        assert len(tests) == 40 + 40 * min(labels, MANY**2 // labels)
    assert isinstance(tests[int(scores.argmin())], IsIn)


def test_many_labels_are_parted_evenly() -> None:
    """Of equal labels, Gini's index likes every division as much; a tree that peels them off is as deep as large."""
    sides = np.array([[2.0, 2.0], [0.0, 2.0], [0.0, 0.0], [0.0, 0.0]])  # one label of four, and two of them
    whole = np.full((4, 1), 2.0)
    index, even = (impurity(sides) + impurity(whole - sides) for impurity in (gini, entropy))
    assert index[0] == index[1]
    assert even[1] < even[0]
    assert (greedy_impurity(MANY), greedy_impurity(MANY + 1)) == (gini, entropy)
