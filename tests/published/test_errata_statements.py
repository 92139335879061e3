"""Every statement that the errata print has a brute force of its own: here, or in `test_errata` as named here.

Code and arithmetic are the tests' own: `reference` for functions, exact fractions for probabilities, the paper's
formulas typed again for samples.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import pytest

import reference
from fidelitree.experiments import errata
from published import test_errata as elsewhere

ELSEWHERE = {
    "Theorem 1.1, full binary targets": elsewhere.test_theorem_1_1_holds_for_full_binary_targets_and_fair_paths,
    "Theorem 1.1, paths, fair bits": elsewhere.test_theorem_1_1_holds_for_full_binary_targets_and_fair_paths,
    "Lemma 5.2": elsewhere.test_lemma_5_2_is_lost_when_the_leaf_was_chosen_from_the_same_pairs,
    "Delta of leaves (proofs of 4.4, 4.5)": elsewhere.test_a_leaf_can_have_a_larger_best_average_depth_than_the_whole,
    "Lemma 4.4": elsewhere.test_lemma_4_4_fails_without_its_2_on_four_bits,
    "Lemma 4.5": elsewhere.test_lemma_4_5_fails_on_27_bits,
    "Lemma 4.6": elsewhere.test_lemma_4_6_fails_on_the_family,
    "Lemma 4.7": elsewhere.test_lemma_4_7_fails_on_45_bits_with_the_maximum_of_lemma_4_6,
    "Theorem 1.1": elsewhere.test_theorem_1_1_fails_on_2201_bits,
    "Abstract": elsewhere.test_abstract_fails_on_the_family,
    "Theorem 5.1": elsewhere.test_theorem_5_1_fails_on_the_family,
    "Lemma C.1, and the 2 in 4.4": elsewhere.test_c_1_is_off_by_a_factor_of_two,
    "Lemma 4.7, J_1 = 0": elsewhere.test_lemma_4_7_fails_when_the_first_phase_is_empty,
}
HERE = {
    "Lemma 4.1",
    "Lemma 4.2",
    "Lemma 4.3",
    "Lemma C.2",
    "D of leaves (proof of 4.5)",
    "Lemma 5.3",
    "Lemma 5.4, Algorithm 2's error",
    "Path tree (appendix)",
    "Samples (section 5.5)",
    "Full binary trees (section 4.2)",
}


def test_every_statement_is_confirmed() -> None:
    assert {*ELSEWHERE, *HERE} == {statement.name for statement in errata.STATEMENTS}


def targets() -> Iterator[tuple[tuple[int, ...], list[Fraction]]]:
    """All functions of one and two bits, one in five of three, under biases that no grid of the package has."""
    for n, step in ((1, 1), (2, 1), (3, 5)):
        for number in range(0, 1 << (1 << n), step):
            table = tuple((number >> place) & 1 for place in range(1 << n))
            for biases in ((3, 11, 5), (8, 2, 9)):
                yield table, [Fraction(p, 16) for p in biases[:n]]


def test_the_lemmas_about_functions_by_brute_force() -> None:
    """Lemmas 4.1, 4.2, 4.3 and C.2, and the depth of leaves, with the paper's variance, twice the Gini impurity."""
    for f, p in targets():
        best, variance = reference.optima(f, p), 2 * reference.gini(f, p)
        influences = [reference.influence(f, p, i) for i in range(len(p))]
        assert sum(influences) <= best.depth * variance
        assert sum(influences) <= best.average_depth
        assert all(one <= 2 * reference.error(f, p) <= variance for one in influences)
        steps = reference.build_top_down(f, p)  # until every leaf is constant, so the cost ends at 0
        costs = [step.cost for step in steps] + [Fraction(0)]
        assert costs[0] == sum(influences)
        assert all(low == high - step.score for step, (high, low) in zip(steps, itertools.pairwise(costs), strict=True))
        assert all(step.error <= step.cost for step in steps)
        for i, v in itertools.product(range(len(p)), (0, 1)):
            kept = tuple(label for place, label in enumerate(f) if reference.value(place, i) == v)
            if len(kept) > 1:
                assert reference.optima(kept, p[:i] + p[i + 1 :]).depth <= best.depth


def binomial(m: int, k: int, q: Fraction) -> int:
    """Pr[Bin(m, q) = k] times the m-th power of q's denominator."""
    return math.comb(m, k) * q.numerator**k * (q.denominator - q.numerator) ** (m - k)


def test_lemma_5_3_in_fractions() -> None:
    """One leaf, j = 1, delta = 1/2: the majority of m labels errs too much in 1/16 of all cases at most."""
    seen = Fraction(0)
    for m, twentieths in itertools.product((9, 30, 100), range(10)):
        q = Fraction(twentieths, 20)
        excess = 1 - 2 * q  # of the wrong label
        if excess > math.sqrt(2 * (math.log(2) + math.log(32)) / m):
            wrong = Fraction(sum(binomial(m, k, q) for k in range(m // 2 + 1, m + 1)), q.denominator**m)
            assert wrong <= Fraction(1, 16)
            seen = max(seen, wrong)
    assert seen > 0


def test_lemma_5_4_in_fractions() -> None:
    """epsilon = .3, delta = 1/2, j = 1: 32 ln(32)/.09 tests tell 5/8 epsilon from more than epsilon."""
    m = math.ceil(32 / 0.09 * math.log(32))
    most = math.floor(Fraction(9, 40) * m)  # three quarters of epsilon
    for error, good in (
        (Fraction(3, 16), True),
        (Fraction(1, 8), True),
        (Fraction(31, 100), False),
        (Fraction(1, 2), False),
    ):
        passed = Fraction(sum(binomial(m, k, error) for k in range(most + 1)), error.denominator**m)
        assert (1 - passed if good else passed) <= Fraction(1, 16)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_the_average_depth_of_a_path_by_walking_every_input(n: int) -> None:
    walked = sum(next((k for k, bit in enumerate(bits, 1) if bit), n) for bits in itertools.product((0, 1), repeat=n))
    assert Fraction(walked, 2**n) == 2 - Fraction(2, 2**n) <= 2


def test_the_samples_of_section_5_5_with_its_formulas_typed_again() -> None:
    j, epsilon, delta = 16, 0.1, 0.1
    remark = next(row for row in errata.STATEMENTS if row.name == "Samples (section 5.5)").elsewhere()[0]
    for n, shown in ((10, "2.61"), (10**3, "0.553"), (10**5, "0.409"), (10**7, "0.349")):
        scores = 12 * (j + 1) * n / epsilon * math.log(4 * j**2 * (j + 1) * n / delta)
        labels = 128 * ((j + 1) * math.log(2) + math.log(16 * j**2 / delta)) / epsilon**2
        tests = 32 / epsilon**2 * math.log(16 * j**2 / delta)
        claim = j * math.log(j) * n * math.log(n) * math.log(1 / delta) / epsilon**2
        assert f"{(scores + labels + tests) / claim:.3g}" == shown
        assert f"{shown} at n = {n:.0e}" in remark


def test_the_slip_of_section_4_2_by_powers() -> None:
    """s = 2: (e/epsilon)^1 is e/epsilon, and exp(1 log(1/epsilon)) is 1/epsilon."""
    assert (f"{math.log(math.e / 0.1):.2f}", f"{math.log(1 / 0.1):.2f}") == ("3.30", "2.30")
