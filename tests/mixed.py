"""Spaces and trees of any mix of features for many tests, and the slow ways to look at them."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import fidelitree as ft
from fidelitree.spaces.draw import Stream, draw
from fidelitree.spaces.features import AtMost, Boolean, Categorical, Feature, IsIn, IsOne
from fidelitree.spaces.features.numeric import left_of
from fidelitree.spaces.region import Region
from fidelitree.trees.tree import Tree

LABELS: list[list[Any]] = [[0, 1], ["a", "b", "c"], [False, True]]
MIXED = ft.ProductSpace(
    [
        ft.Boolean("owner", 0.3),
        ft.Categorical("job", {"clerk": 0.5, "nurse": 0.3, "pilot": 0.2}),
        ft.Numeric("age", 18, 90),
        ft.Numeric.from_values("rooms", [1, 1, 2, 2, 2, 3, 5]),
        ft.Numeric.from_quantiles("income", [0, 10, 10, 25, 80]),
    ]
)

GAPS = ft.ProductSpace(
    [
        feature.with_missing(share) if isinstance(feature, ft.Numeric) else feature
        for feature, share in zip(MIXED, [0, 0, 0.3, 0.1, 0.7], strict=True)
    ]
)
"""The same features, of which all numbers may be missing."""


@st.composite
def features(draw: st.DrawFn, name: str, finite: bool) -> Feature:
    """A feature of any kind, with values of probability 0 among them."""
    kind = draw(st.sampled_from(["bit", "category", "values"] + ([] if finite else ["interval", "quantiles"])))
    if kind == "bit":
        return ft.Boolean(name, draw(st.sampled_from([0.0, 0.3, 0.5, 1.0])))
    if kind == "category":
        counts = draw(st.lists(st.integers(0, 5), min_size=1, max_size=4).filter(any))
        return ft.Categorical.from_counts(name, {f"v{k}": count for k, count in enumerate(counts)})
    return draw(numeric_features(name, kind)).with_missing(draw(st.sampled_from([0.0, 0.0, 0.1, 0.5])))


@st.composite
def numeric_features(draw: st.DrawFn, name: str, kind: str) -> ft.Numeric:
    """A number of one kind."""
    numbers = st.floats(-1e6, 1e6).map(lambda x: round(x, 2)) | st.integers(-3, 3).map(float)
    if kind == "values":
        return ft.Numeric.from_values(name, draw(st.lists(numbers, min_size=1, max_size=5)))
    if kind == "interval":
        low = draw(numbers)
        return ft.Numeric(name, low, low + draw(st.floats(0.01, 1000)))
    return ft.Numeric.from_quantiles(name, sorted(draw(st.lists(numbers, min_size=2, max_size=5))))


@st.composite
def mixed_spaces(draw: st.DrawFn, most: int = 4, finite: bool = False) -> ft.ProductSpace:
    """Up to ``most`` features of any kind."""
    count = draw(st.integers(1, most))
    return ft.ProductSpace([draw(features(f"x{i}", finite)) for i in range(count)])


def possible_tests(region: Region, rng: np.random.Generator) -> list[Any]:
    """Some tests that split a region, one for each feature at most."""
    found: list[Any] = []
    for i, feature in enumerate(region.space):
        left = region.restrictions.get(i)
        if isinstance(feature, Boolean):
            found += [IsOne(i)] if left is None else []
        elif isinstance(feature, Categorical):
            codes = sorted(range(feature.points) if left is None else left)
            if len(codes) > 1:
                some = rng.permutation(codes)[: rng.integers(1, len(codes))]
                found.append(IsIn(i, frozenset(some.tolist())))
        else:
            found += _thresholds(i, feature, left, rng)
    return found


def _thresholds(i: int, feature: ft.Numeric, left: Any, rng: np.random.Generator) -> list[Any]:
    low, high, gap = left_of(left)
    if not gap or not feature.missing:
        return [AtMost(i, cut) for cut in _some_cut(feature, left, rng)]
    known = [AtMost(i, math.inf, False)] if low < high else []
    return known + [AtMost(i, cut, bool(rng.integers(2))) for cut in _some_cut(feature, left, rng)]


def _some_cut(feature: ft.Numeric, left: Any, rng: np.random.Generator) -> list[float]:
    cuts = feature.cuts(left)
    if cuts is not None:
        return rng.choice(cuts, 1).tolist() if len(cuts) else []
    edges = feature.marginal.edges
    low, high = np.clip(left_of(left)[:2], edges[0], edges[-1])
    cut = float(low + (high - low) * rng.random())
    return [cut] if low < cut < high else []


def mixed_tree(space: ft.ProductSpace, rng: np.random.Generator, labels: list[Any], grow: float = 0.8) -> Tree:
    """A tree of random shape and tests."""
    nodes: list[Any] = []

    def below(region: Region, depth: int) -> int:
        position = len(nodes)
        nodes.append(int(rng.integers(len(labels))))
        tests = possible_tests(region, rng)
        if tests and depth < 6 and rng.random() < grow:
            test = tests[rng.integers(len(tests))]
            no, yes = region.split(test)
            nodes[position] = (test, below(no, depth + 1), below(yes, depth + 1))
        return position

    below(space.whole, 0)
    return Tree.build(space, nodes, labels)


@st.composite
def mixed_trees(draw: st.DrawFn, space: ft.ProductSpace, labels: list[Any] | None = None) -> Tree:
    """Trees of any shape over a space."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return mixed_tree(space, rng, labels or draw(st.sampled_from(LABELS)), draw(st.floats(0.3, 1)))


def some_inputs(space: ft.ProductSpace, rows: int, seed: int = 0) -> NDArray[Any]:
    """Drawn inner values, rows by features."""
    return draw(space.whole, Stream.named(seed, "test"), 0, rows).T


def every_input(space: ft.ProductSpace) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """All inner values of a finite space with their probabilities, the slow way."""
    lists = [feature.listed(None) for feature in space]
    rows = np.array(list(itertools.product(*[values.tolist() for values, _ in lists])), space.dtype)
    chances = [math.prod(row) for row in itertools.product(*[shares.tolist() for _, shares in lists])]
    return rows.reshape(-1, len(space)), np.array(chances)
