"""Inputs come one after the other, each bit with its own bias."""

from __future__ import annotations

import numpy as np
import pytest

from chances import plausible
from fidelitree.spaces.draw import BIT_ROWS, BitDraws, Stream

BIASES = np.array([0.5, 0.5, 0.1, 0.1, 0.1, 0.0, 1.0, 1.0, 0.5])


def feed(seed: int = 0) -> BitDraws:
    return BitDraws(BIASES, Stream.named(seed, "test"))


def test_every_bit_and_every_pair_of_bits_has_its_probability() -> None:
    """54 counts, each with a false alarm of 1e-9; the seed is fixed."""
    inputs, rows = feed().take(100_000), 100_000
    assert inputs.shape == (rows, len(BIASES))
    for i, p in enumerate(BIASES):
        assert plausible(int(inputs[:, i].sum()), rows, p, 1e-9)
        for j, q in enumerate(BIASES[:i]):
            assert plausible(int((inputs[:, i] & inputs[:, j]).sum()), rows, p * q, 1e-9)


@pytest.mark.parametrize("sizes", [[1] * 10, [BIT_ROWS, 1], [7, 300, 2]])
def test_how_inputs_are_taken_does_not_change_them(sizes: list[int]) -> None:
    one, many = feed(), feed()
    pieces = np.concatenate([many.take(size) for size in sizes])
    assert np.array_equal(one.take(sum(sizes)), pieces)


def test_another_seed_gives_other_inputs() -> None:
    assert not np.array_equal(feed(0).take(50), feed(1).take(50))
