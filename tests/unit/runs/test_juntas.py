"""Targets that depend on few of their bits, whatever their correlations: no cliff at any number of features."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import fidelitree as ft


def hidden(n: int, bits: int, table: np.ndarray, seed: int) -> Any:
    relevant = np.random.default_rng([n, bits, seed]).permutation(n)[:bits]
    return lambda batch: table[batch[:, relevant].astype(np.intp) @ (1 << np.arange(bits))]


@pytest.mark.parametrize("n", [12, 20, 24, 25, 200])
@pytest.mark.parametrize("bits", [4, 5, 6, 8])
def test_a_parity_is_found_with_few_labels(n: int, bits: int, soak: bool) -> None:
    """At 0.1.0 a parity of 6 among 20 took 120 900 labels and was not certified; among 25 it took 300 to 500."""
    table = np.array([int(cell).bit_count() % 2 for cell in range(1 << bits)])
    for seed in range(7 if soak else 1):
        result = ft.distill(hidden(n, bits, table, seed), ft.ProductSpace.bernoulli(n), seed=seed)
        assert result.certificate.holds
        assert (result.tree.size, result.certificate.errors) == (1 << bits, 0)
        assert result.queries.asked <= 2**bits + 2 * bits * math.log2(n) + 120


@pytest.mark.parametrize(("bits", "n", "seed"), [(4, 12, 6), (4, 24, 1), (5, 12, 3)])
def test_no_search_for_fewer_leaves_spoils_a_parity(bits: int, n: int, seed: int) -> None:
    """A local search sees nothing in a parity; its trees must not stand in the way of the right one."""
    relevant = np.random.default_rng([bits, n, seed]).choice(n, bits, replace=False)
    result = ft.distill(lambda batch: batch[:, relevant].sum(axis=1) % 2, ft.ProductSpace.bernoulli(n), 0.1, seed=seed)
    assert result.certificate.holds
    assert (result.tree.size, result.certificate.errors) == (1 << bits, 0)
    assert result.queries.asked <= 2**bits + 2 * bits * math.log2(n) + 120


@pytest.mark.parametrize("n", [20, 60])
def test_a_random_function_of_ten_bits_is_asked_cell_by_cell(n: int) -> None:
    bits = 10
    table = np.random.default_rng(n).integers(0, 2, 1 << bits)
    result = ft.distill(hidden(n, bits, table, 1), ft.ProductSpace.bernoulli(n))
    assert result.certificate.holds
    assert result.certificate.errors == 0
    assert result.queries.asked <= 2**bits + 2 * bits * math.log2(n) + 800
    inputs = np.random.default_rng(1).integers(0, 2, (2_000, n), dtype=np.uint8)
    assert (result.tree.predict(inputs) == hidden(n, bits, table, 1)(inputs)).all(), "it has no simpler neighbour"


def test_a_parity_that_a_tree_of_another_bit_resembles() -> None:
    """14 leaves over 5 bits fit the first 60 answers; their test failed, and 206 labels were asked."""
    relevant = np.random.default_rng(100 * 4 + 16 + 4).choice(16, 4, replace=False)
    result = ft.distill(lambda batch: batch[:, relevant].sum(axis=1) % 2, ft.ProductSpace.bernoulli(16), seed=4)
    assert result.certificate.holds
    assert result.queries.asked <= 2**4 + 2 * 4 * math.log2(16) + 120


def test_fewer_leaves_are_worth_an_error_where_a_table_was_not_asked() -> None:
    """An AND of eight bits is nearly a constant; nobody wants its nine leaves."""
    result = ft.distill(lambda batch: batch[:, :8].all(axis=1).astype(int), ft.ProductSpace.bernoulli(12), 0.05)
    assert result.certificate.holds
    assert result.tree.size == 1


def test_noise_does_not_make_a_table() -> None:
    """Every bit seems to matter; the run ends all the same, with a bound that says how little is known."""
    random = np.random.default_rng(0)

    def coin(batch: Any) -> Any:
        return random.integers(0, 2, len(batch))

    result = ft.distill(coin, ft.ProductSpace.bernoulli(20), deterministic=False, max_queries=600)
    assert not result.certificate.holds
    assert result.certificate.error_bound >= 0.45
