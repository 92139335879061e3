"""The numbers of the paper and of THEORY: sample sizes, queries, worked examples."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import reference
from fidelitree import theory


def test_sample_sizes_at_16_leaves() -> None:
    assert theory.score_pairs(16, 0.1, 0.1, 20) == 614_571
    assert theory.label_samples(16, 0.1, 0.1) == 286_770
    assert theory.test_samples(16, 0.1, 0.1) == 33_986


def test_queries_at_16_leaves_are_24_9_million() -> None:
    queries = theory.queries_of_schedule(16, 20, 0.1, 0.1)
    assert queries == 2 * 20 * 614_571 + 286_770 + 33_986 == 24_903_596


def test_pseudocode_draws_one_increment_late() -> None:
    """Its sets hold M(1) + M(j+1) - M(2): more pairs and fewer tests than the text asks for."""
    assert theory.queries_of_schedule(16, 20, 0.1, 0.1, "drawn") == 25_413_395
    assert theory.queries_of_schedule(1, 20, 0.1, 0.1, "drawn") == theory.queries_of_schedule(1, 20, 0.1, 0.1)


def test_pseudocode_holds_about_88_to_91_percent_of_its_tests() -> None:
    """So the stop test, which compares with (3 epsilon/4) M_EE(j), really stops at .82 to .86 epsilon."""
    sizes = {j: theory.test_samples(j, 0.1, 0.1) for j in range(1, 201)}
    held = [(sizes[1] + sizes[j + 1] - sizes[2]) / sizes[j] for j in range(2, 101)]
    assert round(min(held), 3) == 0.875
    assert round(max(held), 3) == 0.911


@pytest.mark.parametrize(("j", "delta", "epsilon", "n"), [(1, 0.5, 0.3, 1), (16, 0.1, 0.1, 20), (999, 1e-9, 0.01, 50)])
def test_corrected_pairs_are_the_formula(j: int, delta: float, epsilon: float, n: int) -> None:
    corrected = theory.score_pairs(j, delta, epsilon, n, schedule="corrected")
    assert corrected == math.ceil(24 * (j + 1) * n / epsilon * math.log(8 * j**2 * (j + 1) * n / delta))
    assert corrected > 2 * theory.score_pairs(j, delta, epsilon, n)


def test_label_samples_satisfy_lemma_5_4_with_one_leaf_more() -> None:
    """sqrt(2(l ln 2 + ln(16 j^2/delta))/m) <= epsilon/8 for l = j + 1 leaves, and no longer with one input less."""
    for j in (1, 16, 300):
        m = theory.label_samples(j, 0.1, 0.05)
        deviation = [math.sqrt(2 * ((j + 1) * math.log(2) + math.log(16 * j * j / 0.05)) / size) for size in (m, m - 1)]
        assert deviation[0] <= 0.1 / 8 < deviation[1]


def test_test_samples_make_both_hoeffding_tails_small() -> None:
    for j in (1, 16, 300):
        m = theory.test_samples(j, 0.1, 0.05)
        assert math.exp(-m * 0.1**2 / 32) <= 0.05 / (16 * j * j) < math.exp(-(m - 1) * 0.1**2 / 32)


def test_sample_size_of_section_4_for_attempt_100() -> None:
    """THEORY 4(a): at epsilon .01, delta .05, attempt 100 the paper asks for 4 793 172 tests."""
    assert theory.test_samples(100, 0.01, 0.05) == 4_793_172


# --- worked examples -------------------------------------------------------------------------------------------------


def comb_sum(n: int) -> Fraction:
    """The appendix's own sum: sum of k 2^-k for k < n, and n 2^-(n-1)."""
    return sum((Fraction(k, 2**k) for k in range(1, n)), Fraction(n, 2 ** (n - 1)))


@pytest.mark.parametrize("n", [*range(1, 40), 53])
def test_path_average_depth_is_exact(n: int) -> None:
    assert comb_sum(n) == 2 - Fraction(2, 2**n)
    assert Fraction(theory.path_average_depth(n)) == comb_sum(n)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("alternate", [False, True])
def test_paths_have_no_region_harder_than_the_whole(n: int, alternate: bool) -> None:
    """Read x0, x1, ...; leave at the first 0. AND is the path whose exits share a label; the other alternates."""

    def label(x: int) -> int:
        exit_at = next((i for i in range(n) if not reference.value(x, i)), n)
        return exit_at % 2 if alternate else exit_at == n

    best = reference.optima(tuple(map(label, range(2**n))), [Fraction(1, 2)] * n)
    assert best.depth == n
    assert best.leaves == n + 1
    assert best.average_depth == best.largest_average_depth == comb_sum(n)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_complete_trees_have_one_depth_under_any_bias(n: int) -> None:
    parity = tuple(x.bit_count() % 2 for x in range(2**n))
    best = reference.optima(parity, [Fraction(1, 10), Fraction(1, 2), Fraction(4, 5)][:n])
    assert best.depth == best.average_depth == best.largest_average_depth == n
    assert best.leaves == 2**n


def test_balanced_example_is_s_to_the_log_s_log_e_over_epsilon() -> None:
    example = theory.balanced_example(16, 0.1)
    assert (example.name, example.leaves, example.depth, example.average_depth) == ("balanced", 16, 4, 4)
    in_base_2 = 4 * math.log2(math.e / 0.1)  # s^(log s log(e/eps)), all logarithms to base 2
    assert example.theorem_1_1_printed == pytest.approx(in_base_2 * math.log(16))
    assert example.abstract_printed == pytest.approx(example.theorem_1_1_printed)
    assert example.corrected == pytest.approx(16 * (1 + math.log(5)))  # Inf <= Delta/2 halves the base


def test_path_example_does_not_grow_beyond_a_constant() -> None:
    """Printed: about 2n. Form 1 where Inf < epsilon D: Inf Delta*/epsilon <= 2/epsilon, whatever n."""
    example = theory.path_example(1_000, 0.1)
    assert (example.name, example.leaves, example.depth) == ("path", 1_001, 1_000)
    assert example.theorem_1_1_printed == pytest.approx(2_000)
    assert example.corrected == pytest.approx(20)
    assert theory.path_example(16, 0.1).corrected == pytest.approx(10 * theory.path_average_depth(16), rel=1e-4)
