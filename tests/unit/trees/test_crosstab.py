"""Two answers to the same inputs, counted batch by batch."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fidelitree.trees.answers import Crosstab


def test_batches_add_up_and_the_first_can_be_had_alone() -> None:
    both = Crosstab()
    both.count(np.array(["a", "b", "a"]), np.array(["a", "a", "b"]))
    both.count(np.array(["a"]), np.array(["a"]))
    assert both.table() == {("a", "a"): 2, ("b", "a"): 1, ("a", "b"): 1}
    assert both.table(3) == {("a", "a"): 1, ("b", "a"): 1, ("a", "b"): 1}
    assert both.table(0) == {}


def test_labels_that_are_equal_are_one() -> None:
    """Numbers and truth values of a predictor compare as NumPy compares them; whatever it answers can be stored."""
    both = Crosstab()
    both.count(np.array([0, 1, 1]), np.array([0.0, 1.0, math.nan]))
    both.count(np.array([1]), np.array([True]))
    both.count(np.array([1, 0]), np.array([1, None], object))
    assert both.table() == {(0, 0): 1, (1, 1): 3, (1, "nan"): 1, (0, "None"): 1}


def test_weights() -> None:
    both = Crosstab()
    both.count(np.array([0, 1]), np.array([0, 0]), np.array([0.25, 0.5]))
    assert both.table() == pytest.approx({(0, 0): 0.25, (1, 0): 0.5})
