"""Least errors by layers: those of the frontier, and of every tree there is."""

from __future__ import annotations

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.exact.frontier import Frontier
from fidelitree.exact.lattice import axes_of, label_masses
from fidelitree.exact.leasterrors import least_errors


@pytest.mark.parametrize("bits", range(1, 8))
@pytest.mark.parametrize("labels", [2, 3])
def test_they_are_those_of_the_frontier(bits: int, labels: int) -> None:
    random = np.random.default_rng(bits)
    space = ft.ProductSpace.bernoulli(bits, random.uniform(0.05, 0.95, bits).tolist())
    codes = random.permutation(np.arange(1 << bits) % labels)
    axes, grid = axes_of(space, codes)
    slow = Frontier(axes, grid, 40).errors
    slow = np.pad(slow, (0, 40 - len(slow)), mode="edge")
    fast = least_errors(label_masses(axes, grid), 40)
    assert fast == pytest.approx(slow, abs=1e-14)
    assert ((fast == 0) == (slow == 0)).all(), "no error is none"


def test_one_leaf_has_the_rarer_labels_wrong() -> None:
    masses = np.array([[0.5, 0.1, 0.0], [0.0, 0.0, 0.4]])
    assert least_errors(masses, 1).tolist() == pytest.approx([0.5])
    assert least_errors(masses, 3).tolist() == pytest.approx([0.5, 0.1, 0.1])


def test_a_constant_takes_no_bit() -> None:
    assert least_errors(np.array([0.0, 1.0]), 2).tolist() == [0.0, 0.0]
