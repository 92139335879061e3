"""The search finds small trees where looking one split ahead sees nothing."""

from __future__ import annotations

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.search.bits.sketch import LabelledRows, fit, predict
from fidelitree.trees.nested import size
from small import Bits, bits_asked, cube


def rows_of(bits: Bits, codes: np.ndarray, penalty: float = 0.5, weights: np.ndarray | None = None) -> LabelledRows:
    return LabelledRows(
        bits.astype(np.float32),
        np.asarray(codes, np.intp),
        np.ones(len(bits), np.float32) if weights is None else weights.astype(np.float32),
        np.full(bits.shape[1], penalty, np.float32),
    )


def drawn(n: int, rows: int, seed: int = 0) -> Bits:
    return np.random.default_rng(seed).integers(0, 2, (rows, n)).astype(np.uint8)


@pytest.mark.parametrize(
    ("target", "n", "horizon", "leaves"),
    [
        (ft.targets.parity(8, 1), 8, 1, 2),
        (ft.targets.parity(8, 2), 8, 2, 4),
        (ft.targets.parity(8, 3), 8, 3, 8),
        (ft.targets.parity(12, 4), 12, 4, 16),
        (ft.targets.multiplexer(2), 6, 3, 8),
        (ft.targets.multiplexer(3), 11, 4, 16),
    ],
    ids=repr,
)
def test_small_trees_are_found_without_an_error(target: ft.targets.Textbook, n: int, horizon: int, leaves: int) -> None:
    bits = drawn(n, 400)
    found = fit(rows_of(bits, target(bits)), horizon)
    assert predict(found, bits).tolist() == target(bits).tolist()
    assert size(found) == leaves


def test_two_steps_ahead_see_nothing_in_a_parity_of_four() -> None:
    bits = cube(6)
    assert size(fit(rows_of(bits, ft.targets.parity(6, 4)(bits), penalty=1), 2)) == 1


def test_trees_deeper_than_the_horizon_are_grown_step_by_step() -> None:
    bits = cube(6)
    codes = bits.argmax(axis=1) % 2  # the number of the first bit that is 1
    found = fit(rows_of(bits, codes, penalty=0.1), 3)
    assert predict(found, bits).tolist() == codes.tolist()
    assert size(found) == 7


def test_several_labels() -> None:
    bits = cube(5)
    codes = bits[:, 0] + 2 * bits[:, 3] * bits[:, 4]
    found = fit(rows_of(bits, codes), 3)
    assert predict(found, bits).tolist() == codes.tolist()
    assert size(found) == 6


def test_codes_that_no_row_has_do_not_matter() -> None:
    bits = cube(3)
    found = fit(rows_of(bits, np.where(bits[:, 1], 7, 4)), 3)
    assert found == bits_asked((1, 4, 7))


def test_rows_that_cannot_be_told_apart_get_the_heavier_label() -> None:
    bits = np.ones((5, 3), np.uint8)
    assert fit(rows_of(bits, np.array([0, 0, 0, 1, 1])), 4) == 0
    assert fit(rows_of(bits, np.array([0, 0, 0, 1, 1]), weights=np.array([1, 1, 1, 2, 2])), 4) == 1


def test_without_features_there_is_one_leaf() -> None:
    assert fit(rows_of(np.empty((3, 0), np.uint8), np.array([1, 0, 1])), 3) == 1


def test_a_split_must_be_worth_its_penalty() -> None:
    bits = cube(2)
    codes = np.array([0, 0, 0, 1])
    assert fit(rows_of(bits, codes, penalty=0.5), 3) == 0, "two splits cost as much as the one error"
    assert size(fit(rows_of(bits, codes, penalty=0.49), 3)) == 3
    assert fit(rows_of(bits, bits[:, 0], penalty=2), 3) == 0
    assert fit(rows_of(bits, bits[:, 0], penalty=1.99), 3) == bits_asked((0, 0, 1))


def test_cheaper_features_are_preferred() -> None:
    bits = cube(3)[[0, 7, 0, 7]]
    rows = rows_of(bits, bits[:, 0])
    rows.penalties[:] = [0.5, 0.4, 0.6]
    assert fit(rows, 3) == bits_asked((1, 0, 1))


@pytest.mark.parametrize("feature", [0, 1, 2])
def test_where_trees_cost_the_same_the_one_from_before_is_kept(feature: int) -> None:
    bits, before = cube(3)[[0, 7, 0, 7]], bits_asked((feature, 0, 1))
    assert fit(rows_of(bits, bits[:, 0]), 3, before) == before


def test_the_tree_from_before_is_kept_below_the_root_too() -> None:
    bits = drawn(3, 64)[:, [0, 1, 1, 2]]
    codes = bits[:, 0] & bits[:, 1]
    for before in map(bits_asked, [(0, 0, (1, 0, 1)), (0, 0, (2, 0, 1)), (1, 0, (0, 0, 1)), (2, 0, (0, 0, 1))]):
        assert fit(rows_of(bits, codes), 3, before) == before


def test_a_tree_from_before_that_costs_more_is_given_up() -> None:
    bits = cube(3)
    for before in map(bits_asked, [(1, 0, 1), (2, (1, 0, 1), 1), 1]):
        assert fit(rows_of(bits, bits[:, 0]), 3, before) == bits_asked((0, 0, 1))
