"""One tree of each size: sizes are kept, errors fall, and free inputs help large trees only."""

from __future__ import annotations

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.limits import go_on
from fidelitree.search.labelled import Binning
from fidelitree.search.local import every_size
from fidelitree.search.local.every_size import EverySize
from fidelitree.search.local.iterated import engine
from fidelitree.spaces.features import Numeric
from fidelitree.trees.nested import size

SPACE = ft.ProductSpace([Numeric(name, 0, 1) for name in "abcdef"])
SIZES = [1, 2, 3, 5, 8, 13, 24, 40]


def target(inner: np.ndarray) -> np.ndarray:
    """A line through six features: smooth for a strong model, ragged for a tree."""
    return (inner @ [1, 1, 1, -1, -1, -1] > 0).astype(np.intp)


@pytest.fixture(name="data")
def fixture_data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    return rng.random((2_500, 6)), rng.random((5_000, 6)), rng.random((20_000, 6))


def test_each_size_has_a_tree_and_errors_fall(data: tuple[np.ndarray, ...]) -> None:
    known, _, _ = data
    binning = Binning.of(SPACE, known)
    rows = binning.coded(target(known))
    search = EverySize(rows, SIZES, 0, go_on)
    before = search.trees()
    search.improve(20, again=False)
    after = search.trees()
    assert all(size(tree) <= most for tree, most in zip(after, SIZES, strict=True))
    errors = [rows.errors(tree) for tree in after]
    assert errors == sorted(errors, reverse=True)
    assert all(now <= rows.errors(tree) for now, tree in zip(errors, before, strict=True))
    assert sum(errors) < sum(map(rows.errors, before))


@pytest.mark.parametrize(("rows", "all_searched"), [(2_000, False), (1_999, True)])
def test_a_short_search_over_many_features_looks_at_those_that_matter(rows: int, all_searched: bool) -> None:
    inner = np.random.default_rng(1).random((rows, 70))
    space = ft.ProductSpace([Numeric(f"x{i}", 0, 1) for i in range(70)])
    search = EverySize(Binning.of(space, inner).coded(target(inner[:, :6])), [1, 2, 30], 0, go_on)
    search.improve(10, again=False)
    features = search._refiner._features
    assert (features is None) == all_searched
    assert features is None or ({*range(6)} <= set(features) and len(features) < 35)


def test_free_inputs_that_a_model_labels_help_large_trees(data: tuple[np.ndarray, ...]) -> None:
    known, free, fresh = data
    first, last = len(known), len(known) + len(free)
    binning = Binning.of(SPACE, np.concatenate([known, free, fresh]))
    search = EverySize(binning.coded(target(known), slice(first)), SIZES, 0, go_on)
    search.improve(30)
    alone = search.trees()
    search.go_on_with(binning.coded(np.zeros(len(free), np.intp), slice(first, last)), 30)
    together = search.trees()
    assert together[:5] == alone[:5], "small trees learn no noise"
    judge = binning.coded(target(fresh), slice(last, None))
    errors = [[judge.errors(tree) / len(fresh) for tree in trees[6:]] for trees in (alone, together)]
    assert sum(errors[1]) < sum(errors[0])


def test_sizes_that_the_model_is_too_bad_for_stay_as_they_were(
    data: tuple[np.ndarray, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    known, free, _ = data
    binning = Binning.of(SPACE, np.concatenate([known, free]))
    rows = binning.coded(target(known), slice(len(known)))
    search = EverySize(rows, SIZES, 0, go_on)
    search.improve(30)
    alone = search.trees()
    thirteen = rows.errors(alone[5]) / rows.total
    more, enough = binning.coded(np.zeros(len(free), np.intp), slice(len(known), None)), thirteen * 13
    monkeypatch.setattr(every_size, "MANY", 1.001 * enough / search._strong_model()[1])
    search.go_on_with(more, 30)
    assert search.trees()[:6] == alone[:6], "with few leaves the model must be better"
    assert search.trees()[6] != alone[6]
    assert search.most == size(search.trees()[-1])
    monkeypatch.setattr(every_size, "MANY", 0.999 * enough / search._strong_model()[1])
    search.go_on_with(more, 30)
    assert search.trees()[5] != alone[5]


def test_rivals_are_what_others_make_of_the_same_rows(data: tuple[np.ndarray, ...]) -> None:
    known, free, _ = data
    binning = Binning.of(SPACE, np.concatenate([known, free]))
    rows = binning.coded(target(known), slice(len(known)))
    search = EverySize(rows, SIZES, 0, go_on)
    search.improve(30)
    alone, carts = search.trees(), [engine(rows, None, go_on).cart(most).nested() for most in SIZES]
    search.go_on_with(binning.coded(np.zeros(len(free), np.intp), slice(len(known), None)), 30)
    assert search.trees()[-1] != alone[-1]
    assert search.rivals() == [tree for pair in zip(alone[::-1], carts[::-1], strict=True) for tree in pair]


def test_a_model_that_is_no_better_than_the_trees_labels_nothing() -> None:
    rng = np.random.default_rng(6)
    known, free = rng.random((600, 6)), rng.random((600, 6))
    coins = rng.integers(0, 2, 600)
    binning = Binning.of(SPACE, np.concatenate([known, free]))
    search = EverySize(binning.coded(coins, slice(600)), SIZES, 0, go_on)
    before = search.trees()
    search.go_on_with(binning.coded(np.zeros(600, np.intp), slice(600, None)), 10)
    assert search.trees() == before


def staircase(inner: np.ndarray) -> np.ndarray:
    """A tree with few leaves, some of them rare."""
    first, second = inner[:, 0] > 0.5, inner[:, 1] < 0.02
    return np.where(
        first, (inner[:, 2] * 4).astype(np.intp) % 2, np.where(second, inner[:, 3] > 0.3, inner[:, 4] < 0.6)
    )


def test_what_is_doubted_are_few_inputs_and_most_mistakes_are_among_them(data: tuple[np.ndarray, ...]) -> None:
    known, free, _ = data
    binning = Binning.of(SPACE, np.concatenate([known, free]))
    search = EverySize(binning.coded(staircase(known), slice(len(known))), SIZES, 0, go_on)
    search.improve(30)
    unlabelled = binning.coded(np.zeros(len(free), np.intp), slice(len(known), None))
    doubted, truth = search.doubted(unlabelled, np.zeros(len(free), np.bool_)), staircase(free)
    assert 0 < doubted.mean() < 0.05
    wrong = unlabelled.predict(search.trees()[-1]) != truth
    assert wrong[doubted].sum() > 2 * wrong[~doubted].sum()
    told = binning.coded(np.where(doubted, truth, 0), slice(len(known), None))
    again = search.doubted(told, doubted)
    assert not again[doubted].any(), "what was told is in doubt no more"
    assert again.sum() < doubted.sum() / 2, "and it teaches"


def test_answers_to_what_was_doubted_help_every_size(data: tuple[np.ndarray, ...]) -> None:
    known, free, fresh = data
    first, last = len(known), len(known) + len(free)
    binning = Binning.of(SPACE, np.concatenate([known, free, fresh]))
    search = EverySize(binning.coded(staircase(known), slice(first)), SIZES, 0, go_on)
    search.improve(30)
    alone = search.trees()
    unlabelled = binning.coded(np.zeros(len(free), np.intp), slice(first, last))
    doubted = search.doubted(unlabelled, np.zeros(len(free), np.bool_))
    told = np.where(doubted, staircase(free), 0)
    search.go_on_with(binning.coded(told, slice(first, last)), 30, doubted)
    judge = binning.coded(staircase(fresh), slice(last, None))
    errors = [[judge.errors(tree) / len(fresh) for tree in trees] for trees in (alone, search.trees())]
    assert errors[1][-1] < 0.8 * errors[0][-1]
    assert sum(errors[1]) < sum(errors[0])
