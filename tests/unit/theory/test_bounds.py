"""Arguments out of range, edges of the formulas, and relations between them."""

from __future__ import annotations

import doctest
import math
from typing import TYPE_CHECKING, Any

import pytest

from fidelitree import theory
from fidelitree.errors import FidelitreeError, ParameterError
from fidelitree.theory import bounds
from fidelitree.theory.bounds import early_looks, level_of_set

if TYPE_CHECKING:
    from collections.abc import Callable

loose: Any = theory  # so that the type checker lets arguments of a wrong kind pass

BAD_ARGUMENTS: list[tuple[Callable[[], object], str]] = [
    (lambda: loose.score_pairs(0, 0.1, 0.1, 20), "j must be at least 1; got 0"),
    (lambda: loose.score_pairs(1.5, 0.1, 0.1, 20), "j must be a whole number; got 1.5"),
    (lambda: loose.score_pairs(1, 0, 0.1, 20), "delta must be above 0 and below 1; got 0"),
    (lambda: loose.score_pairs(1, 0.1, 5, 20), "epsilon must be at least 0 and below 1; got 5 - did you mean 0.05?"),
    (lambda: loose.score_pairs(1, 0.1, 0.1, 0), "n must be at least 1; got 0"),
    (
        lambda: loose.score_pairs(1, 0.1, 0.1, 2, schedule="fast"),
        "schedule must be one of printed, corrected; got 'fast'",
    ),
    (lambda: loose.label_samples(1, 0, 0.1), "epsilon must be above 0 where inputs are drawn; got 0"),
    (lambda: loose.label_samples(1, 0.1, 1), "delta must be above 0 and below 1; got 1"),
    (lambda: loose.test_samples(True, 0.1, 0.1), "j must be a whole number; got True"),
    (lambda: loose.test_samples(1, math.nan, 0.1), "epsilon must be a number; got NaN"),
    (lambda: loose.queries_of_schedule(0, 20, 0.1, 0.1), "leaves must be at least 1; got 0"),
    (lambda: loose.queries_of_schedule(4, -1, 0.1, 0.1), "n must be at least 1; got -1"),
    (lambda: loose.queries_of_schedule(4, 2, 0.1, 0.1, "all"), "count must be one of stated, drawn; got 'all'"),
    (lambda: loose.log_size_theorem_1_1_printed(4, 5, 0.1), "average_depth must be at most the depth, 4; got 5"),
    (lambda: loose.log_size_theorem_5_1_printed(-1, 0, 0.1), "depth must be finite and at least 0; got -1"),
    (lambda: loose.log_size_abstract_printed(math.inf, 1, 0.1), "depth must be finite and at least 0; got inf"),
    (
        lambda: loose.log_size_corrected_by_influence(-1, 2, 1, 0.1),
        "influence must be finite and at least 0; got -1",
    ),
    (
        lambda: loose.log_size_corrected_by_influence(1, 2, 3, 0.1),
        "largest_average_depth must be at most the depth, 2; got 3",
    ),
    (lambda: loose.log_size_corrected_by_influence(1, 2, 1, 0.1, 0), "kappa must be above 0 and at most 1; got 0"),
    (lambda: loose.log_size_corrected_without_depth(1, 2, 0.1, 2), "kappa must be above 0 and at most 1; got 2"),
    (lambda: loose.log_size_corrected_without_depth(1, 2, 0.1, labels=1), "labels must be at least 2; got 1"),
    (lambda: loose.log_size_corrected_by_depths(2, 1, "x"), "epsilon must be a number; got 'x'"),
    (lambda: loose.influence_cap_corrected(1, labels=2.0), "labels must be a whole number; got 2.0"),
    (lambda: loose.influence_floor_lemma_c_1_printed(1, 0), "average_depth must be finite and above 0; got 0"),
    (lambda: loose.score_floor_lemma_4_4_printed(0, 0.1, 1), "leaves must be at least 1; got 0"),
    (
        lambda: loose.score_floor_lemma_4_4_corrected(1, 0.1, 1, 0),
        "largest_average_depth must be finite and above 0; got 0",
    ),
    (lambda: loose.score_floor_lemma_4_5_printed(1, -0.5, 1, 1), "cost must be finite and at least 0; got -0.5"),
    (lambda: loose.score_floor_lemma_4_5_corrected(1, 0.5, 0, 1, 1), "depth must be finite and above 0; got 0"),
    (lambda: loose.log_steps_lemma_4_7_printed(-1, 1, 1), "first_phase must be at least 0; got -1"),
    (lambda: loose.balanced_example(12, 0.1), "leaves must be a power of 2 for a complete tree; got 12"),
    (lambda: loose.balanced_example(1, 0.1), "leaves must be at least 2; got 1"),
    (lambda: loose.path_example(0, 0.1), "n must be at least 1; got 0"),
]


@pytest.mark.parametrize(("call", "message"), BAD_ARGUMENTS, ids=[message for _, message in BAD_ARGUMENTS])
def test_bad_argument_is_named_with_its_rule_and_value(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        call()
    assert str(caught.value).startswith(message)
    assert isinstance(caught.value, FidelitreeError)
    assert isinstance(caught.value, ValueError)


def test_zero_epsilon_names_the_way_out() -> None:
    with pytest.raises(ParameterError, match="use build_top_down for 0"):
        theory.test_samples(1, 0, 0.1)


def test_example_in_the_module() -> None:
    result = doctest.testmod(bounds)
    assert result.attempted > 0
    assert result.failed == 0


def test_epsilon_zero_has_no_bound() -> None:
    assert theory.log_size_theorem_1_1_printed(4, 3, 0) == math.inf
    assert theory.log_size_abstract_printed(4, 3, 0) == math.inf
    assert theory.log_size_corrected_by_influence(1, 4, 3, 0) == math.inf
    assert theory.log_size_corrected_without_depth(1, 3, 0) == math.inf
    assert theory.log_size_corrected_by_depths(4, 3, 0) == math.inf


@pytest.mark.parametrize("epsilon", [0, 0.1])
def test_constant_target_has_size_one(epsilon: float) -> None:
    assert theory.log_size_theorem_1_1_printed(0, 0, epsilon) == 0
    assert theory.log_size_abstract_printed(0, 0, epsilon) == 0
    assert theory.log_size_corrected_by_influence(0, 0, 0, epsilon) == 0
    assert theory.log_size_corrected_without_depth(0, 0, epsilon) == 0
    assert theory.log_size_corrected_by_depths(0, 0, epsilon) == 0
    assert theory.log_steps_lemma_4_6_printed(0, 0, epsilon) == 0


@pytest.mark.parametrize("kappa", [1, 0.5, 0.25])
def test_kappa_divides_every_exponent(kappa: float) -> None:
    assert theory.log_size_corrected_by_influence(1, 4, 3, 0.1, kappa) == pytest.approx(
        theory.log_size_corrected_by_influence(1, 4, 3, 0.1) / kappa
    )
    assert theory.log_size_corrected_without_depth(1, 3, 0.1, kappa) == pytest.approx(3 / (0.02 * kappa))
    assert theory.log_size_corrected_by_depths(4, 3, 0.1, kappa) == pytest.approx(
        theory.log_size_corrected_by_depths(4, 3, 0.1) / kappa
    )


def test_printed_theorem_5_1_is_the_fourth_power_of_theorem_1_1() -> None:
    assert theory.log_size_theorem_1_1_printed(4, 3, 0.1) == pytest.approx(12 * (1 + math.log(7.5)))
    assert theory.log_size_theorem_5_1_printed(4, 3, 0.1) == pytest.approx(48 * (1 + math.log(7.5)))
    assert theory.log_size_theorem_1_1_printed(10, 1, 0.5) == 10  # the second half of the maximum


def test_form_1_goes_on_as_a_line_below_epsilon_times_depth() -> None:
    assert theory.log_size_corrected_by_influence(0.5, 4, 3, 0.1) == pytest.approx(12 * (1 + math.log(1.25)))
    assert theory.log_size_corrected_by_influence(0.4, 4, 3, 0.1) == pytest.approx(12)
    assert theory.log_size_corrected_by_influence(0.3, 4, 3, 0.1, 0.25) == pytest.approx(0.3 * 3 / (0.25 * 0.1))


def test_form_3_is_form_1_for_shallow_and_form_2_for_deep_targets() -> None:
    shallow = theory.log_size_corrected_by_influence(1.5, 4, 4, 0.1)  # Inf = Delta/2, Delta* = D
    assert theory.log_size_corrected_by_depths(4, 3, 0.1) == pytest.approx(shallow)
    deep = theory.log_size_corrected_without_depth(1.5, 3, 0.1)
    assert theory.log_size_corrected_by_depths(400, 3, 0.1) == pytest.approx(deep)


def test_more_labels_lose_the_factor_two() -> None:
    assert theory.influence_cap_corrected(3) == 1.5
    assert theory.influence_cap_corrected(3, labels=4) == 2.25
    assert theory.log_size_corrected_without_depth(1, 3, 0.1, labels=3) == pytest.approx(300)
    assert theory.log_size_corrected_without_depth(1, 3, 0.1) == pytest.approx(150)
    assert theory.log_size_corrected_by_depths(400, 3, 0.1, labels=3) == pytest.approx(900)


def test_floors_of_lemmas_4_4_and_4_5() -> None:
    assert theory.score_floor_lemma_4_4_printed(4, 0.2, 2) == pytest.approx(0.05)
    assert theory.score_floor_lemma_4_4_corrected(4, 0.2, 2, 2) == pytest.approx(0.025)
    assert theory.score_floor_lemma_4_4_corrected(4, 0.4, 1, 10) == pytest.approx(0.08)  # the second half
    assert theory.score_floor_lemma_4_5_printed(4, 0.6, 3, 2) == pytest.approx(0.025)
    assert theory.score_floor_lemma_4_5_corrected(4, 0.6, 3, 2, 2) == pytest.approx(0.025)
    assert theory.score_floor_lemma_4_5_corrected(4, 1.2, 3, 1, 10) == pytest.approx(0.08)  # the second half


def test_steps_of_the_two_phases() -> None:
    assert theory.log_steps_lemma_4_6_printed(4, 2, 0.1) == pytest.approx(8 * math.log(5))
    assert theory.log_steps_lemma_4_6_printed(40, 2, 0.1) == 0
    assert theory.log_steps_lemma_4_6_corrected(1, 4, 3, 0.1) == pytest.approx(12 * math.log(2.5))
    assert theory.log_steps_lemma_4_6_corrected(0.4, 4, 3, 0.1) == -math.inf
    assert theory.log_steps_lemma_4_7_printed(5, 4, 2) == pytest.approx(8 + math.log(5))
    assert theory.log_steps_lemma_4_7_corrected(5, 4, 2) == pytest.approx(6 + math.log(6))


def test_bounds_fall_as_epsilon_grows() -> None:
    levels = (0.001, 0.01, 0.1, 0.3, 0.5)
    bounds: list[Callable[[float], float]] = [
        lambda eps: theory.log_size_theorem_1_1_printed(4, 3, eps),
        lambda eps: theory.log_size_abstract_printed(4, 3, eps),
        lambda eps: theory.log_size_corrected_by_influence(1, 4, 3, eps),
        lambda eps: theory.log_size_corrected_without_depth(1, 3, eps),
        lambda eps: theory.log_size_corrected_by_depths(4, 3, eps),
    ]
    for bound in bounds:
        sizes = [bound(level) for level in levels]
        assert sizes == sorted(sizes, reverse=True)


def test_the_levels_of_all_trees_and_looks_stay_below_half_of_delta() -> None:
    assert list(early_looks(257)) == [16, 64, 256]
    assert list(early_looks(256)) == [16, 64]
    assert [level_of_set(1, size, 0.8) for size in (16, 64, 256)] == [0.1, 0.05, 0.025]
    assert [level_of_set(1, size, 0.8) for size in (15, 17, 100, 1_000)] == [0.1] * 4
    assert [level_of_set(2, size, 0.8) for size in (16, 17, 64)] == [0.025] * 3
    looks = [level_of_set(1, size, 1.0) for size in early_looks(10**12)]
    assert sum(looks) + sum(level_of_set(leaves, 1_000, 1.0) for leaves in range(1, 10_000)) < 0.5
