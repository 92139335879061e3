"""Rows of bits walk down a tree as its twin says, and nothing unsound is walked down."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.trees import kernels

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
