"""Inputs for learning: rare parts more often, none twice, and weights that put the balance right."""

from __future__ import annotations

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.search.bits.explore import Explorer, leaves, mass, temper
from fidelitree.search.bits.pool import Pool
from fidelitree.search.bits.sketch import predict
from fidelitree.spaces.draw import Stream
from fidelitree.trees.nested import Nested
from small import Bits, bits_asked

BIASES = np.array([0.1, 0.5, 0.7, 0.02])
CHAIN = bits_asked((0, (1, 0, 1), (2, (3, 2, 3), 4)))


def explorer(biases: np.ndarray = BIASES, seed: int = 0) -> Explorer:
    return Explorer(biases, Stream.named(seed, "label"))


def everything(bits: Bits) -> list[int]:
    return list(range(len(bits)))


@pytest.mark.parametrize(("p", "tempered"), [(0.5, 0.5), (0.1, 0.25), (0.9, 0.75), (0.2, 1 / 3), (0, 0), (1, 1)])
def test_log_odds_are_halved(p: float, tempered: float) -> None:
    assert temper(np.array([p, 0.5])).tolist() == pytest.approx([tempered, 0.5])


@pytest.mark.parametrize("p", [1e-300, 5e-324, 1e-12, 1 - 1e-12, 1 - 2**-53])
def test_extreme_biases_are_survived(p: float) -> None:
    (tempered,) = temper(np.array([p]))
    assert min(p, 0.5) < tempered < max(p, 0.5)


def test_paths_lead_to_every_leaf_and_their_masses_add_up() -> None:
    paths = list(leaves(CHAIN))
    assert sorted(paths) == sorted(
        [((0, 0), (1, 0)), ((0, 0), (1, 1)), ((0, 1), (2, 0), (3, 0)), ((0, 1), (2, 0), (3, 1)), ((0, 1), (2, 1))]
    )
    assert sum(mass(path, BIASES) for path in paths) == pytest.approx(1)
    assert mass(((0, 1), (2, 0), (3, 1)), BIASES) == pytest.approx(0.1 * 0.3 * 0.02)


def test_weights_put_the_balance_right() -> None:
    """The weighted share of every leaf is its mass: six standard errors, so a false alarm below 1e-7 in all."""
    rows = 40_000
    bits, weights = explorer().take(CHAIN, rows, everything)
    codes = predict(CHAIN, bits)
    for code, path in enumerate([((0, 0), (1, 0)), ((0, 0), (1, 1)), ((0, 1), (2, 0), (3, 0))]):
        inside = np.where(codes == code, weights, 0.0)
        assert abs(inside.mean() - mass(path, BIASES)) < 6 * inside.std() / rows**0.5
    rare = float((codes == 3).mean())
    assert rare > 20 * mass(((0, 1), (2, 0), (3, 1)), BIASES), "what is rare is asked about more often"


@pytest.mark.parametrize("sketch", [None, 0])
def test_without_a_split_nothing_is_weighed(sketch: Nested | None) -> None:
    bits, weights = explorer().take(sketch, 50, everything)
    assert bits.shape == (50, 4)
    assert weights.tolist() == [1.0] * 50


def test_known_inputs_are_not_drawn_again() -> None:
    pool, source = Pool(4), explorer()
    for _ in range(12):
        bits, weights = source.take(CHAIN, 3, pool.unknown)
        assert len(bits) == len(weights) == len(np.unique(bits, axis=0))
        assert pool.unknown(bits) == list(range(len(bits)))
        pool.add(bits, np.zeros(len(bits), np.intp))
    assert pool.size == 16
    assert len(source.take(CHAIN, 3, pool.unknown)[0]) == 0


def test_a_leaf_that_cannot_be_reached_is_never_drawn() -> None:
    bits, weights = explorer(np.array([0.0, 0.5, 1.0, 0.5])).take(CHAIN, 500, everything)
    assert not bits[:, 0].any()
    assert weights.max() < 10


def test_the_same_seed_explores_alike() -> None:
    one, two, other = explorer(), explorer(), explorer(seed=1)
    first = one.take(CHAIN, 20, everything)[0]
    assert np.array_equal(first, two.take(CHAIN, 20, everything)[0])
    assert not np.array_equal(first, other.take(CHAIN, 20, everything)[0])


def test_a_run_with_certain_bits_ends() -> None:
    space = ft.ProductSpace.bernoulli(6, [0, 1, 0.5, 0.5, 0.5, 0.5])
    assert ft.distill(ft.targets.parity(6), space, 0.1).certificate.holds
