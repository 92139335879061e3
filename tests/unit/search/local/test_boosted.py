"""Boosted trees: a strong model of our own, the same on every machine."""

from __future__ import annotations

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.search.labelled import Binning
from fidelitree.search.local.boosted import Boosted
from fidelitree.search.local.coded import Coded
from fidelitree.spaces.features import Categorical, Numeric

SPACE = ft.ProductSpace([Numeric("x", 0, 1), Numeric("y", 0, 1), Categorical("z", ["a", "b", "c", "d"])])


def rows(count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.random((count, 2)), rng.integers(0, 4, count)]).astype(float)


def two(inner: np.ndarray) -> np.ndarray:
    return (inner[:, 0] + inner[:, 1] + 0.3 * (inner[:, 2] == 1) > 1).astype(np.intp)


def three(inner: np.ndarray) -> np.ndarray:
    return np.where(inner[:, 2] == 3, 2, two(inner))


def coded(binning: Binning, codes: np.ndarray, first: int = 0) -> Coded:
    return binning.coded(codes, slice(first, first + len(codes)))


@pytest.mark.parametrize("target", [two, three])
def test_it_errs_far_less_than_a_constant(target: type) -> None:
    known, fresh = rows(2_000, 0), rows(4_000, 1)
    binning = Binning.of(SPACE, np.concatenate([known, fresh]))
    model = Boosted(coded(binning, target(known)), 0)
    found = model.predict(coded(binning, np.zeros(len(fresh), np.intp), len(known)))
    assert (found != target(fresh)).mean() < 0.03


def test_the_same_seed_gives_the_same_model_and_another_one_another() -> None:
    known, fresh = rows(300, 0), rows(4_000, 1)
    binning = Binning.of(SPACE, np.concatenate([known, fresh]))
    data, more = coded(binning, three(known)), coded(binning, np.zeros(len(fresh), np.intp), len(known))
    one, again, other = (Boosted(data, seed).predict(more) for seed in (3, 3, 4))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_a_constant_stays_one() -> None:
    known = rows(50, 0)
    data = coded(Binning.of(SPACE, known), np.zeros(50, np.intp))
    assert not Boosted(data, 0).predict(data).any()


def test_a_watch_may_end_it() -> None:
    class EndedError(Exception):
        pass

    def watch() -> None:
        raise EndedError

    known = rows(50, 0)
    with pytest.raises(EndedError):
        Boosted(coded(Binning.of(SPACE, known), two(known)), 0, watch)
