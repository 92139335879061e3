"""The paper's statements in the forms that hold, on every target of up to three bits and many of four.

Optima come from law/optima.py, which is compared with ``reference`` here. FIDELITREE_SOAK=1 adds all 65 536 targets of
four bits.
"""

from __future__ import annotations

import os
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.typing import NDArray

import reference
from fidelitree import theory
from law import laws
from law.laws import LAWS, PRINTED
from law.optima import UNIT, Facts, all_targets, biases, tables_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def failures(tables: NDArray[np.uint8], bias: tuple[int, ...]) -> Iterator[tuple[str, str]]:
    """Every law that fails, with its first counter-example; a few thousand targets at a time bound the memory."""
    for chunk in np.array_split(tables, max(len(tables) // 4_096, 1)):
        t = Facts(chunk, bias)
        for law in [*LAWS, *PRINTED]:
            bad = law(t)
            if bad.any():
                yield law.__name__, f"{chunk[bad.argmax()]} with biases {bias} out of {UNIT}"


@cache
def all_failures(n: int) -> dict[str, str]:
    return {name: example for bias in biases(n) for name, example in failures(tables_of(n), bias)}


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_law_holds(law: laws.Law, n: int) -> None:
    assert law.__name__ not in all_failures(n), f"{law.__name__} fails for {all_failures(n)[law.__name__]}"


def test_at_least_25_biases_each() -> None:
    assert all(len(set(biases(n))) >= 25 for n in (1, 2, 3, 4))


@pytest.mark.skipif(os.environ.get("FIDELITREE_SOAK") != "1", reason="set FIDELITREE_SOAK=1: all targets of 4 bits")
def test_laws_hold_for_all_targets_of_four_bits() -> None:
    holding = {law.__name__ for law in LAWS}
    for bias in biases(4, count=65):
        failed = {name: example for name, example in failures(all_targets(4), bias) if name in holding}
        assert not failed


# --- the same machinery sees what is false ---------------------------------------------------------------------------


LEAST_BITS: dict[laws.Law, int] = {
    laws.lemma_c_1_printed: 1,
    laws.lemma_4_4_printed: 1,
    laws.lemma_4_7_printed: 2,
    laws.average_depth_of_regions_printed: 3,
}


@pytest.mark.parametrize("law", LEAST_BITS, ids=lambda law: law.__name__)
def test_false_as_printed_from_this_many_bits_on(law: laws.Law) -> None:
    for n in (1, 2, 3, 4):
        assert (law.__name__ in all_failures(n)) == (n >= LEAST_BITS[law])


def test_printed_size_theorem_needs_more_than_four_bits_to_fail() -> None:
    assert not any(laws.theorem_1_1_printed.__name__ in all_failures(n) for n in (1, 2, 3, 4))


# --- the machinery against its slow twin, and the package's formulas against the machinery ---------------------------


def sample(n: int, count: int) -> Iterator[tuple[Facts, tuple[int, ...], list[Fraction]]]:
    """Single targets: their facts, truth table and biases."""
    rng = np.random.default_rng(n)
    for _ in range(count):
        bias = biases(n)[rng.integers(len(biases(n)))]
        table = tables_of(n)[[rng.integers(len(tables_of(n)))]]
        yield Facts(table, bias), tuple(int(v) for v in table[0]), [Fraction(p, UNIT) for p in bias]


@pytest.mark.parametrize(("n", "count"), [(1, 20), (2, 40), (3, 60), (4, 25)])
def test_vectorised_optima_agree_with_reference(n: int, count: int) -> None:
    for t, f, p in sample(n, count):
        best = reference.optima(f, p)
        assert t.depth[0] == best.depth
        assert t.average_depth[0] == pytest.approx(float(best.average_depth), rel=1e-14)
        assert t.largest_average_depth[0] == pytest.approx(float(best.largest_average_depth), rel=1e-14)
        assert t.error[0] == pytest.approx(float(reference.error(f, p)), rel=1e-14)
        assert t.gini[0] == pytest.approx(float(reference.gini(f, p)), rel=1e-14)
        influences = [reference.influence(f, p, i) for i in range(n)]
        assert list(t.influences[0]) == pytest.approx([float(v) for v in influences], rel=1e-14)
        read = reference.least_expected_cost(f, p, influences)
        assert t.least_influence_read[0] == pytest.approx(float(read), rel=1e-12)


@pytest.mark.parametrize(("n", "count"), [(1, 20), (2, 40), (3, 60), (4, 25)])
def test_vectorised_greedy_agrees_with_reference(n: int, count: int) -> None:
    for t, f, p in sample(n, count):
        grown = reference.build_top_down(f, p)
        score, cost, error = (values[0] for values in t.growth)
        assert list(score[: len(grown)]) == pytest.approx([float(step.score) for step in grown], rel=1e-14)
        assert list(cost[: len(grown)]) == pytest.approx([float(step.cost) for step in grown], rel=1e-14)
        if len({step.score for step in grown}) == len(grown):  # equal scores may be taken in any order
            assert list(error[: len(grown)]) == pytest.approx([float(step.error) for step in grown], rel=1e-14)
        assert (error[len(grown) :] == 0).all()


@pytest.mark.parametrize("n", [2, 3, 4])
def test_package_formulas_are_the_ones_checked_here(n: int) -> None:
    """The scalar formulas of ``theory`` at Algorithm 1's own numbers."""
    for t, _, _ in sample(n, 40):
        depth, average, star = t.depth[0], t.average_depth[0], t.largest_average_depth[0]
        for leaves, (score, cost, error) in enumerate(zip(*(values[0] for values in t.growth), strict=True), 1):
            if error > 0:
                floor = theory.score_floor_lemma_4_4_corrected(leaves, error, average, star)
                assert floor <= score * (1 + 1e-12)
                floor = theory.score_floor_lemma_4_5_corrected(leaves, cost, depth, average, star)
                assert floor <= score * (1 + 1e-12)
                for log_size in (
                    theory.log_size_corrected_by_influence(t.influence[0], depth, star, error),
                    theory.log_size_corrected_without_depth(t.influence[0], average, error),
                    theory.log_size_corrected_by_depths(depth, average, error),
                ):
                    assert np.log(leaves + 1) <= log_size * (1 + 1e-12)
