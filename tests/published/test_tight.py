"""The tight exponent: each step of docs/tight.md in exact fractions, and Algorithm 1 watched on small members."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import reference
from fidelitree import theory

SHAPES = [(2, 1, 5), (2, 2, 5), (2, 3, 5), (3, 1, 5), (2, 2, 6)]


def member(r: int, k: int, s: int) -> tuple[tuple[int, ...], list[Fraction], int]:
    """The truth table of the selected parity without a gate, its biases, and the number of selectors; by definition."""
    picked = s * (r - 1)
    shape = theory.SelectorParity(r, k, s)
    biases = [Fraction(round(p * 10_000), 10_000) for p in shape.biases.tolist() for _ in range(s)]

    def label(x: int) -> int:
        selectors = [x >> i & 1 for i in range(picked)]
        block = next((t // s for t, one in enumerate(selectors) if one), r - 1)
        return sum(x >> (picked + block * k + i) & 1 for i in range(k)) % 2

    return tuple(label(x) for x in range(2 ** (picked + k * r))), [*biases, *[Fraction(1, 2)] * (k * r)], picked


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_greedy_reads_every_block_before_any_selector(shape: tuple[int, int, int]) -> None:
    f, p, selectors = member(*shape)
    known = theory.SelectorParity(*shape)
    assert (len(p), known.blocks_first) == (known.n, True)
    steps = reference.build_top_down(f, [float(q) for q in p], known.error_after_blocks * 0.99)
    first = next(t for t, step in enumerate(steps) if step.feature < selectors)
    assert first + 1 == 2 ** (known.k * known.r), "leaves at the first selector"
    assert math.log(len(steps) + 1) >= known.log_greedy_size(known.error_after_blocks * 0.98)


@pytest.mark.parametrize("shape", [(2, 1, 5), (3, 1, 5)], ids=str)
def test_closed_forms_are_those_of_brute_force(shape: tuple[int, int, int]) -> None:
    f, p, selectors = member(*shape)
    known = theory.SelectorParity(*shape)
    influences = [reference.influence(f, p, i) for i in range(len(p))]
    assert float(sum(influences)) == pytest.approx(known.influence, rel=1e-12)
    assert [float(i) for i in influences[selectors:]] == pytest.approx(np.repeat(known.weights / 2, known.k).tolist())
    assert all(i <= c + 1e-15 for i, c in zip(influences, np.repeat(known.selector_caps, known.s), strict=False))
    read = [
        (next((i + 1 for i in range(selectors) if reference.value(x, i)), selectors) + known.k, w)
        for x, w in reference.inputs(p, reference.whole(p))
    ]
    assert max(depth for depth, _ in read) == known.depth
    assert float(sum(depth * w for depth, w in read)) == pytest.approx(known.average_depth, rel=1e-12)


def test_step_2_of_the_proof() -> None:
    """p <= 1/(s (m - 1)), as (1 - 1/(s (m - 1)))^s <= 1 - 1/m by whole numbers; then 2/(s r) < 1/(2 r)."""
    s = 5
    for left in range(1, 400):
        assert (s * left - 1) ** s * (left + 1) <= left * (s * left) ** s
    assert Fraction(2, s) < Fraction(1, 2)


def test_the_ratio_stays_while_the_sum_of_depths_falls_behind() -> None:
    shapes = [theory.SelectorParity(r, 5 * r, 5) for r in (10, 20, 40, 80, 160, 320)]
    lower, upper = ([f(t) for t in shapes] for f in (lambda t: t.log_greedy_size(0.1), lambda t: t.log_size_bound(0.1)))
    ratios = [round(one / two, 4) for one, two in zip(lower, upper, strict=True)]
    assert ratios == [0.0192, 0.0186, 0.0183, 0.0182, 0.0181, 0.0181]
    assert all(t.k * t.r >= t.depth**2 / 20 and t.influence <= t.k / 2 + 1 for t in shapes)
    assert all(two <= 2.4 * t.depth**2 for two, t in zip(upper, shapes, strict=True))
    sums = [one / (t.depth + t.average_depth) for one, t in zip(lower, shapes, strict=True)]
    assert all(two > 1.9 * one for one, two in itertools.pairwise(sums))


def test_the_logarithm_of_the_short_tree() -> None:
    shape = theory.SelectorParity(3, 2, 5)
    assert math.exp(shape.log_size) == pytest.approx((5 * 2 + 1) * 2**2)
