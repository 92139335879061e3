"""The archive: for each number of leaves the tree with the least loss, as far as brute force can tell."""

from __future__ import annotations

import itertools
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fidelitree as ft
from fidelitree.asking.limits import BudgetSpent, go_on
from fidelitree.search.archive import Archive, LabelLoss, NumberLoss
from fidelitree.search.bits.learner import SEARCH_ALL
from fidelitree.spaces.features import IsOne
from fidelitree.targets.labels import LabelBook
from fidelitree.trees.answers import apart
from fidelitree.trees.nested import build
from mixed import mixed_spaces, some_inputs
from small import cube

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fidelitree.search.archive import Loss

STEPS = 60
BITS = ft.ProductSpace.bernoulli(10)
CUBE = ft.ProductSpace.bernoulli(3)
NUMBERS = ft.ProductSpace([ft.Numeric(name, 0, 1) for name in "abc"])


def archive_of(space: ft.ProductSpace, inner: Any, labels: Any, loss: Loss | None = None) -> Archive:
    book = LabelBook(numbers=isinstance(loss, NumberLoss))
    archive = Archive(space, book, loss or LabelLoss(0, go_on))
    archive.add(inner, np.asarray(book.encode(np.asarray(labels)), np.intp))
    return archive


def wrong(archive: Archive, labels: Any, leaves: int, tolerance: float | None = None) -> int:
    return int(apart(archive.at(leaves).predict_inner(archive.inner), np.asarray(labels), tolerance).sum())


def least(labels: Sequence[int], most: int) -> list[int]:
    """By brute force, the fewest errors on all inputs of three bits with 1, 2, ... ``most`` leaves."""

    @cache
    def errors(box: tuple[int | None, ...], leaves: int) -> int:
        inside = [
            label
            for row, label in zip(cube(3).tolist(), labels, strict=True)
            if all(fixed in (None, value) for fixed, value in zip(box, row, strict=True))
        ]
        found = len(inside) - max(inside.count(label) for label in set(inside))
        for i, few in itertools.product(range(3), range(1, leaves)):
            if box[i] is None:
                sides = [(*box[:i], value, *box[i + 1 :]) for value in (0, 1)]
                found = min(found, errors(sides[0], few) + errors(sides[1], leaves - few))
        return found

    return [errors((None, None, None), leaves) for leaves in range(1, most + 1)]


@given(st.lists(st.integers(0, 2), min_size=8, max_size=8))
def test_no_tree_of_a_tiny_table_loses_less(labels: list[int]) -> None:
    archive = archive_of(CUBE, cube(3), labels)
    archive.fit(range(1, 9), STEPS)
    assert [wrong(archive, labels, leaves) for leaves in range(1, 9)] == least(labels, 8)


@settings(max_examples=40)
@given(mixed_spaces(), st.integers(0, 1000), st.sampled_from([0, 20]))
def test_trees_are_no_larger_than_asked_and_larger_ones_lose_no_more(
    space: ft.ProductSpace, seed: int, steps: int
) -> None:
    inner = some_inputs(space, 60, seed)
    labels = np.random.default_rng(seed).choice(["a", "b", "c"], 60)
    archive = archive_of(space, inner, labels)
    archive.fit([2, 4, 7], steps)
    sizes = range(1, 12)
    assert all(archive.at(leaves).size <= leaves for leaves in sizes)
    lost = [wrong(archive, labels, leaves) for leaves in sizes]
    assert lost == sorted(lost, reverse=True)
    assert lost[0] == 60 - np.unique(labels, return_counts=True)[1].max()


@settings(max_examples=25)
@given(mixed_spaces(), st.integers(0, 1000))
def test_of_numbers_too(space: ft.ProductSpace, seed: int) -> None:
    inner = some_inputs(space, 60, seed)
    answers = np.random.default_rng(seed).normal(size=60)
    archive = archive_of(space, inner, answers, NumberLoss(0.3, go_on))
    archive.fit([2, 4, 7], STEPS)
    assert all(archive.at(leaves).size <= leaves for leaves in range(1, 12))
    lost = [wrong(archive, answers, leaves, 0.3) for leaves in range(1, 12)]
    assert lost == sorted(lost, reverse=True)


def test_numbers_within_a_tolerance_are_right() -> None:
    inner = np.random.default_rng(0).random((300, 3))
    answers = 10 * np.floor(3 * inner[:, 0]) + inner[:, 1] / 2
    archive = archive_of(NUMBERS, inner, answers, NumberLoss(0.25, go_on))
    archive.fit([2, 3], STEPS)
    assert [archive.at(leaves).size for leaves in (1, 2, 3)] == [1, 2, 3]
    assert wrong(archive, answers, 1, 0.25) > wrong(archive, answers, 2, 0.25) > 0
    assert wrong(archive, answers, 3, 0.25) == 0


def test_rows_stay_in_their_order_and_count_as_fitted_once_they_are() -> None:
    archive = archive_of(BITS, *drawn(40))
    first = archive.inner.copy()
    assert (len(archive), archive.fitted) == (40, 0)
    archive.fit()
    assert archive.fitted == 40
    archive.add(archive.inner[:7], archive.codes[:7])
    assert (len(archive), archive.fitted) == (47, 40)
    assert np.array_equal(archive.inner, np.concatenate([first, first[:7]]))


def test_a_tree_that_was_handed_out_stays_as_it_was() -> None:
    inner, coin = drawn(80)[0], np.random.default_rng(5).integers(0, 2, 480)
    archive = archive_of(BITS, inner, coin[:80])
    archive.fit([4, 8], 20)
    before = {leaves: (archive.at(leaves), archive.at(leaves).nodes, archive.at(leaves).digest) for leaves in (1, 4, 8)}
    assert all(archive.at(leaves) is tree for leaves, (tree, *_) in before.items()), "one fit, one tree"
    archive.add(drawn(400, seed=1)[0], coin[80:])
    archive.fit([4, 8], 20)
    assert archive.at(8) != before[8][0]
    for tree, nodes, digest in before.values():
        assert (tree.nodes, ft.Tree.build(BITS, list(tree.nodes), tree.labels).digest) == (nodes, digest)


def test_the_same_seed_finds_the_same_trees() -> None:
    found = [archive_of(BITS, *drawn(200)) for _ in range(2)]
    for archive in found:
        archive.fit([3, 6, 12], 40)
    assert all(found[0].at(leaves) == found[1].at(leaves) for leaves in range(1, 13))


def drawn(rows: int, seed: int = 0) -> tuple[Any, Any]:
    """Bits with the parity of two of them, which no growth by single splits finds."""
    inner = np.random.default_rng(seed).integers(0, 2, (rows, 10)).astype(np.uint8)
    return inner, np.where(inner[:, 3] == inner[:, 7], "same", "other")


def parity(labels: Sequence[str] = ("other", "same")) -> ft.Tree:
    return build(BITS, (IsOne(3), (IsOne(7), 1, 0), (IsOne(7), 0, 1)), labels)


def test_known_trees_are_taken_into_account_and_kept_by_later_fits() -> None:
    inner, labels = drawn(300)
    archive = archive_of(BITS, inner, labels)
    archive.fit([4])
    assert wrong(archive, labels, 4) > 0, "or the test shows nothing"
    archive.fit([4], known=[parity()])
    assert wrong(archive, labels, 4) == 0
    archive.add(inner[:50], archive.codes[:50])
    archive.fit([4])
    assert int((archive.at(4).predict_inner(inner) != labels).sum()) == 0, "the one before it was known"
    archive.fit([2])
    assert wrong(archive, np.append(labels, labels[:50]), 4) > 0, "near these sizes only"


def test_a_known_tree_with_a_label_that_never_came_is_left_out() -> None:
    inner, labels = drawn(300)
    archive = archive_of(BITS, inner, labels)
    archive.fit([4], known=[parity(("never", "same"))])
    assert set(archive.at(4).labels.tolist()) <= {"other", "same"}
    assert wrong(archive, labels, 4) > 0


def test_two_tests_at_a_time_find_what_single_ones_do_not() -> None:
    inner, labels = drawn(300)
    archive = archive_of(BITS, inner, labels)
    archive.fit([4], STEPS)
    assert wrong(archive, labels, 4) == 0


def test_of_many_features_the_noisy_ones_are_left_alone() -> None:
    space = ft.ProductSpace.bernoulli(SEARCH_ALL + 6)
    inner = np.random.default_rng(0).integers(0, 2, (150, SEARCH_ALL + 6)).astype(np.uint8)
    labels = inner[:, 2] & inner[:, 9]
    noisy = np.where(np.random.default_rng(1).random(150) < 0.1, 1 - labels, labels)
    archive = archive_of(space, inner, noisy)
    archive.fit([3], STEPS)
    assert {int(one) for one in archive.at(3).feature if one >= 0} == {2, 9}


def test_without_steps_or_with_a_constant_alone_there_is_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    archive = archive_of(BITS, *drawn(60))
    monkeypatch.setattr("fidelitree.search.local.iterated.Refiner.improve_at", None)
    archive.fit([4], 0)
    archive.fit([1], STEPS)
    archive.fit()


# --- a watch that ends the search


def ending_after(looks: int) -> Callable[[], None]:
    left = iter(range(looks))

    def watch() -> None:
        if next(left, None) is None:
            raise BudgetSpent("max_seconds = 1")

    return watch


@pytest.mark.parametrize("looks", [0, 1, 2, 3, 5, 8, 13, 21, 34, 80, 200])
def test_a_search_that_is_ended_leaves_what_it_has_found(looks: int) -> None:
    inner, labels = drawn(200)
    plain = archive_of(BITS, inner, labels)
    plain.fit()
    archive = archive_of(BITS, inner, labels, LabelLoss(0, ending_after(looks)))
    with pytest.raises(BudgetSpent):
        archive.fit([4, 8, 16] * 20, 400)
    if not archive.fitted:
        assert looks < 3, "before CART's tree is there"
        with pytest.raises(AssertionError, match="after a fit"):
            archive.at(4)
        return
    for leaves in (1, 2, 4, 8, 16):
        assert archive.at(leaves).size <= leaves
        assert wrong(archive, labels, leaves) <= wrong(plain, labels, leaves)


def test_a_fit_that_ends_before_it_finds_anything_leaves_the_trees_of_the_one_before() -> None:
    inner, labels = drawn(200)
    loss = LabelLoss(0, go_on)
    archive = archive_of(BITS, inner, labels, loss)
    archive.fit([4], STEPS)
    before = archive.at(4)
    archive.add(inner[:20], archive.codes[:20])
    loss._watch = ending_after(0)
    with pytest.raises(BudgetSpent):
        archive.fit([4], STEPS)
    assert archive.fitted == 200
    assert archive.at(4) is before


def test_of_numbers_there_is_a_constant_at_least() -> None:
    inner = np.random.default_rng(0).random((300, 3))
    answers = np.floor(3 * inner[:, 0])
    archive = archive_of(NUMBERS, inner, answers, NumberLoss(0.25, ending_after(2)))
    with pytest.raises(BudgetSpent):
        archive.fit([2, 3], STEPS)
    assert [archive.at(leaves).size for leaves in (1, 3)] == [1, 1]
    assert wrong(archive, answers, 3, 0.25) < 300
