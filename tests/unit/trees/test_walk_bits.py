"""Rows of bits walk down a tree as its twin says, and nothing unsound is walked down."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.spaces.features import IsOne
from fidelitree.trees import kernels, nested

needs_kernels = pytest.mark.skipif(not kernels.compiled, reason="the kernels are not compiled here")


@needs_kernels
@pytest.mark.parametrize("depth", [0, 1, 5])
@pytest.mark.parametrize("layout", ["rows", "columns", "every other"])
def test_both_ways_predict_the_same(depth: int, layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = ft.targets.balanced(ft.ProductSpace.bernoulli(9), depth, 2)
    bits = np.random.default_rng(0).integers(0, 2, (40, 9), np.uint8)
    bits = {"rows": bits, "columns": np.asfortranarray(bits), "every other": np.repeat(bits, 2, axis=0)[::2]}[layout]
    found = tree._codes_by_steps(bits)
    monkeypatch.setattr(kernels, "compiled", False)
    assert found.tolist() == tree._codes_by_steps(bits).tolist()


@needs_kernels
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"feature": [2, 0, 0]}, "must ask a feature of the rows"),
        ({"feature": [-1, 0, 0]}, "must ask a feature of the rows"),
        ({"child": [0, 2, 1, 1, 2, 2]}, "lead to later nodes"),
        ({"child": [1, 3, 1, 1, 2, 2]}, "lead to later nodes"),
        ({"child": [1, 2, 1, 1, 2, 0]}, "a leaf leads to itself"),
        ({"child": [1, 2, 1, 1]}, "two children"),
        ({"code": [0, 1]}, "a code"),
        ({"rows": np.zeros(4, np.uint8)}, "2-D array of bytes"),
        ({"out": np.zeros(3, np.int64)}, "one entry a row"),
    ],
)
def test_the_kernel_refuses_what_is_not_sound(change: dict[str, Any], sentence: str) -> None:
    given: dict[str, Any] = {"feature": [1, 0, 0], "child": [1, 2, 1, 1, 2, 2], "code": [0, 0, 1]}
    given |= {"rows": np.zeros((4, 2), np.uint8), "out": np.zeros(4, np.int64)} | change
    arrays = [np.array(given[name], np.int32) for name in ("feature", "child", "code")]
    with pytest.raises(ValueError, match=sentence):
        kernels.native.walk_bits(*arrays, given["rows"], given["out"])


@needs_kernels
@pytest.mark.parametrize("layout", ["rows", "columns", "every other"])
def test_tuples_predict_as_the_tree_does(layout: str) -> None:
    tree = ft.targets.balanced(ft.ProductSpace.bernoulli(9), 5, 2)
    bits = np.random.default_rng(0).integers(0, 2, (40, 9), np.uint8)
    bits = {"rows": bits, "columns": np.asfortranarray(bits), "every other": np.repeat(bits, 2, axis=0)[::2]}[layout]
    found = np.empty(40, np.intp)
    kernels.native.walk_nested(nested.of(tree), bits, found)
    assert found.tolist() == tree._codes_by_steps(bits).tolist()


def deep(splits: int) -> nested.Nested:
    tree: nested.Nested = 0
    for _ in range(splits):
        tree = (IsOne(0), tree, 1)
    return tree


@needs_kernels
@pytest.mark.parametrize(
    ("tree", "error", "sentence"),
    [
        ((IsOne(2), 0, 1), ValueError, "must ask a feature of the rows"),
        ((IsOne(1), 0), ValueError, "a test and two sides"),
        ((1, 0, 1), AttributeError, "feature"),
        ((IsOne(1), 0, "1"), TypeError, "str"),
        (deep(100_000), RecursionError, "in a tree"),
    ],
)
def test_the_kernel_refuses_tuples_that_are_no_tree(tree: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        kernels.native.walk_nested(tree, np.zeros((4, 2), np.uint8), np.zeros(4, np.int64))
    with pytest.raises(ValueError, match="one entry a row"):
        kernels.native.walk_nested(0, np.zeros((4, 2), np.uint8), np.zeros(3, np.int64))
