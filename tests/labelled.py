"""Small labelled rows for tests of the search: drawn by hypothesis, with ordered and unordered features."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from fidelitree.search.local.coded import Coded
from fidelitree.spaces.features import AtMost, IsIn, Test
from fidelitree.trees.nested import Nested


@st.composite
def coded_rows(draw: st.DrawFn, classes: int = 3, weighted: bool = True) -> Coded:
    """Up to 24 rows over up to 3 features with 2 to 5 bins; the label depends on the features, with noise."""
    sizes = draw(st.lists(st.integers(2, 5), min_size=1, max_size=3))
    ordered = draw(st.lists(st.booleans(), min_size=len(sizes), max_size=len(sizes)))
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    rows = draw(st.integers(2, 24))
    bins = np.stack([random.integers(size, size=rows) for size in sizes]).astype(np.uint16)
    codes = (bins.sum(axis=0) + (random.random(rows) < 0.2)) % draw(st.integers(1, classes))
    weights = random.integers(1, 4, size=rows).astype(float) if weighted else np.ones(rows)
    return Coded(bins, ordered, sizes, codes.astype(np.intp), weights)


def multiplexer(rows: int, seed: int, noise: float = 0.0) -> Coded:
    """Rows whose label is the value (0 to 2) of the feature that feature 0 points at; two of six features are noise."""
    random = np.random.default_rng(seed)
    sizes = [3, 12, 12, 12, 40, 4]
    bins = np.stack([random.integers(size, size=rows) for size in sizes]).astype(np.uint16)
    pointed = np.take_along_axis(bins[1:4], bins[0].astype(np.intp)[None], axis=0)[0]
    codes = np.digitize(pointed, [4, 8])
    wrong = random.random(rows) < noise
    codes[wrong] = random.integers(3, size=int(wrong.sum()))
    return Coded(bins, [False, True, True, True, True, False], sizes, codes.astype(np.intp), np.ones(rows))


def asked(feature: int, what: int | frozenset[int]) -> Test:
    """The test over bins: at most a bin, or one of some."""
    return IsIn(feature, what) if isinstance(what, frozenset) else AtMost(feature, what)


def random_nested(coded: Coded, seed: int, depth: int) -> Nested:
    """A random tree over the features of some rows."""
    random = np.random.default_rng(seed)

    def grow(left: int) -> Nested:
        if left == 0 or random.random() < 0.2:
            return int(random.integers(coded.classes))
        feature = int(random.integers(len(coded.sizes)))
        size = coded.sizes[feature]
        if coded.ordered[feature]:
            return asked(feature, int(random.integers(size - 1))), grow(left - 1), grow(left - 1)
        chosen = random.choice(size, size=int(random.integers(1, size)), replace=False)
        return asked(feature, frozenset(chosen.tolist())), grow(left - 1), grow(left - 1)

    return grow(depth)
