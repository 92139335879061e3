"""The table engine: packing, idle slots, halves, look-up of words. Its answers are checked in tests/contract."""

from __future__ import annotations

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.exact import truthtable as engine
from fidelitree.exact.truthtable import TableSubfunction
from fidelitree.spaces.features import IsOne
from fidelitree.spaces.region import Region
from fidelitree.trees import kernels
from small import cube, weights


def subfunction(n: int, classes: int = 2, seed: int = 0) -> tuple[TableSubfunction, np.ndarray, ft.ProductSpace]:
    rng = np.random.default_rng(seed)
    space = ft.ProductSpace.bernoulli(n, rng.random(n))
    codes = rng.integers(0, classes, 2**n).astype(np.uint8)
    return TableSubfunction.of(codes, space.whole, list(range(classes))), codes, space


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("classes", [1, 2, 3, 4, 5, 9])
def test_masses_of_labels_are_sums_over_inputs(n: int, classes: int) -> None:
    function, codes, space = subfunction(n, classes)
    expected = [weights(space)[codes == code].sum() for code in range(classes)]
    np.testing.assert_allclose(function.label_probabilities(), expected, rtol=1e-12, atol=1e-15)
    assert function.labels == list(range(classes))


def test_whole_words_are_looked_up_exactly_as_bytes_are(monkeypatch: pytest.MonkeyPatch) -> None:
    function, _, _ = subfunction(10)
    small = function.influences(), function.label_probabilities()
    monkeypatch.setattr(engine, "_LARGE", 1)
    large = function.influences(), function.label_probabilities()
    for one, two in zip(small, large, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-14)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 9])
def test_a_half_holds_the_inputs_of_its_side(n: int) -> None:
    function, codes, space = subfunction(n, 3, seed=n)
    rows = cube(n)
    for i in range(n):
        for value, half in enumerate(function.split(IsOne(i))):
            inside = rows[:, i] == value
            given = weights(space)[inside] / weights(space)[inside].sum()
            expected = [given[codes[inside] == code].sum() for code in range(3)]
            np.testing.assert_allclose(half.label_probabilities(), expected, rtol=1e-11, atol=1e-14)


@pytest.mark.skipif(not kernels.compiled, reason="the kernels are not compiled here")
@pytest.mark.parametrize("classes", [2, 3, 9])
@pytest.mark.parametrize("n", [9, 10, 12, 13, 14, 16])
def test_a_table_is_counted_in_one_order(n: int, classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a compiler, without one, and where a table of all pairs of bytes pays."""
    function, _, _ = subfunction(n, classes)
    compiled = function.influences()
    monkeypatch.setattr(kernels, "compiled", False)
    assert compiled.tolist() == function.influences().tolist(), "bit for bit"
    monkeypatch.setattr(engine, "_LARGE", 1)
    assert compiled.tolist() == function.influences().tolist(), "bit for bit"
    monkeypatch.setattr(engine, "_LANED", n + 1)
    np.testing.assert_allclose(compiled, function.influences(), rtol=1e-12)


@pytest.mark.skipif(not kernels.compiled, reason="the kernels are not compiled here")
@pytest.mark.parametrize("shapes", [((1, 7), 9, 1, 9), ((1, 8), 8, 1, 9), ((1, 8), 9, 2, 9), ((1, 8), 10, 1, 10)])
def test_a_table_of_another_size_is_refused(shapes: tuple[tuple[int, int], int, int, int]) -> None:
    planes, *others = shapes
    with pytest.raises(ValueError, match="planes must have 2"):
        kernels.native.changes(np.zeros(planes, np.uint64), *[np.zeros(count) for count in others])


def test_halves_are_half_as_large() -> None:
    function, _, _ = subfunction(8)
    for i in range(8):
        no, yes = function.split(IsOne(i))
        assert no._planes.size == yes._planes.size == function._planes.size // 2


def test_a_feature_that_was_split_cannot_be_split_again() -> None:
    function, _, _ = subfunction(3)
    with pytest.raises(ValueError, match="not in tuple"):
        function.split(IsOne(1))[0].split(IsOne(1))


def test_the_table_of_a_region_has_its_free_features_only() -> None:
    space = ft.ProductSpace.bernoulli(5, 0.3)
    region = Region.of(space, {"x1": 1, "x3": 0})
    xor = np.array([(k & 1) ^ (k >> 2 & 1) for k in range(8)])  # x0 xor x4; the free features are x0, x2, x4
    function = TableSubfunction.of(xor, region, [0, 1])
    np.testing.assert_allclose(function.influences(), [0.42, 0, 0, 0, 0.42], rtol=1e-12)


@pytest.mark.parametrize("classes", [1, 2, 3, 9])
@pytest.mark.parametrize("n", [1, 3, 4, 6, 9, 11])
def test_influences_are_sums_over_inputs(n: int, classes: int) -> None:
    function, codes, space = subfunction(n, classes, seed=n)
    rows = np.arange(1 << n)
    for i, p in enumerate(space.biases.tolist()):
        apart = weights(space)[codes != codes[rows ^ 1 << i]].sum()
        np.testing.assert_allclose(function.influences()[i], 2 * p * (1 - p) * apart, rtol=1e-11, atol=1e-15)
