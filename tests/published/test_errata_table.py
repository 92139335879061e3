"""The `errata` and `bounds` experiments: what they say, and their arithmetic against the reference."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import reference
from fidelitree import theory
from fidelitree.experiments import errata
from fidelitree.experiments.catalogue import DEPTHS, EPSILONS, FEATURES, worked_examples
from fidelitree.experiments.errata import chances, checks, examples, small
from fidelitree.theory import SelectorParity

FAILS = {
    "Delta of leaves (proofs of 4.4, 4.5)": (3, "p = (0.1, 0.9, 0.9): Delta_opt = 1.19, but the leaf x0 = 1 has 1.9"),
    "Lemma 4.4": (4, "error 0.0244 and score 0.01024 < error/(j Delta) = 0.01087"),
    "Lemma 4.5": (27, "D = 12, Delta = 1.0091, the tree that reads x0 (j = 2): score 0.000125022 < 0.000125152"),
    "Lemma 4.6": (26396, "D = 956, Delta = 1.5603, epsilon = 1e-05: ln J_1 >= 15062.28 > 7600.04"),
    "Lemma 4.7": (45, "D = 21, Delta = 1.0158, epsilon = 0.00028: Inf = 0.00556 <= epsilon D = 0.00588, so J_1 = 0"),
    "Theorem 1.1": (573, "epsilon = 0.000131: ln size >= 1455.61 > 1162.58; smallest known: F(r=12, k=44, s=4"),
    "Abstract": (11756, "ln size >= 7985.06 > 7897.16"),
    "Theorem 5.1": (30806, "ln size >= 21085.54 > 21015.90"),
}
SLIPS = {
    "Lemma C.1, and the 2 in 4.4": (1, "largest influence 0.5 < Var/Delta = 1/1 = 1"),
    "Lemma 4.7, J_1 = 0": (2, "Inf = 0.54 <= epsilon D = 0.57, so J_1 = 0"),
    "Full binary trees (section 4.2)": (1, "exp(3.30) is not exp(2.30)"),
}
HOLDS = {
    "Theorem 1.1, full binary targets",
    "Theorem 1.1, paths, fair bits",
    "Lemma 4.1",
    "Lemma 4.2",
    "Lemma 4.3",
    "Lemma C.2",
    "D of leaves (proof of 4.5)",
    "Lemma 5.2",
    "Lemma 5.3",
    "Lemma 5.4, Algorithm 2's error",
    "Path tree (appendix)",
    "Samples (section 5.5)",
}


@pytest.fixture(scope="module")
def rows() -> dict[str, errata.Erratum]:
    return {row.statement: row for row in errata.rows()}


def test_verdicts(rows: dict[str, errata.Erratum]) -> None:
    for verdict, names in (("holds", HOLDS), ("fails", FAILS.keys()), ("slip", SLIPS.keys())):
        assert {name for name, row in rows.items() if row.verdict == verdict} == set(names)


def test_what_holds_comes_first_and_slips_last(rows: dict[str, errata.Erratum]) -> None:
    parts = list(dict.fromkeys(row.part for row in rows.values()))
    assert parts == ["What holds", "The one error", "What follows from it", "Slips"]


@pytest.mark.parametrize(("statement", "known"), sorted({**FAILS, **SLIPS}.items()))
def test_what_fails_has_its_counter_example(
    rows: dict[str, errata.Erratum], statement: str, known: tuple[int, str]
) -> None:
    row = rows[statement]
    assert (row.features, known[1] in row.remark) == (known[0], True), row.remark
    assert (row.violations == 0) == (row.features > 3), "all functions of up to three bits were tried"


@pytest.mark.parametrize("statement", sorted(HOLDS))
def test_what_holds_has_no_violation(rows: dict[str, errata.Erratum], statement: str) -> None:
    assert (rows[statement].violations, rows[statement].features) == (0, 0)


def test_corrected_forms_have_no_violation(rows: dict[str, errata.Erratum]) -> None:
    assert {row.corrected_violations for row in rows.values()} == {0}


def test_every_function_of_three_bits_was_checked(rows: dict[str, errata.Erratum]) -> None:
    assert rows["Theorem 1.1"].checked == 4 * 11 + 16 * 11**2 + 256 * 7**3


def test_a_wrong_correction_would_be_seen() -> None:
    """Plant one: Lemma 4.2 tightened by 2.1 instead of 2."""

    def planted(t: small.Study) -> small.Floats:
        return 2.1 * checks.lemma_4_2(t)

    row = errata.Statement("What holds", "planted", "", checks.lemma_4_2, "", planted).examined(list(small.studies()))
    assert row.verdict == "holds"
    assert row.corrected_violations > 0


# --- arithmetic ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tenths", [(5,), (1, 9), (0, 5), (1, 9, 9), (3, 7, 10), (5, 5, 5)], ids=str)
def test_study_agrees_with_reference(tenths: tuple[int, ...]) -> None:
    t, p = small.study(tenths), [Fraction(tenth, 10) for tenth in tenths]
    for row in range(0, len(t.tables), 1 if t.n < 3 else 11):
        f = tuple(int(v) for v in t.tables[row])
        best = reference.optima(f, p)
        assert t.depth[row] == best.depth
        assert t.average_depth[row] == pytest.approx(float(best.average_depth))
        assert t.largest_average_depth[row] == pytest.approx(float(best.largest_average_depth))
        assert t.error[row] == pytest.approx(float(reference.error(f, p)))
        assert t.gini[row] == pytest.approx(float(reference.gini(f, p)))
        influences = [float(reference.influence(f, p, i)) for i in range(t.n)]
        assert list(t.influences[row]) == pytest.approx(influences)
        grown = reference.build_top_down(f, p)
        assert list(t.growth[0][row, : len(grown)]) == pytest.approx([float(step.score) for step in grown])
        assert list(t.growth[1][row, : len(grown)]) == pytest.approx([float(step.cost) for step in grown])


@pytest.mark.parametrize("shape", [(2, 1, 3), (4, 5, 2), (12, 44, 4), (21, 100, 5)], ids=str)
def test_family_agrees_with_reference(shape: tuple[int, int, int]) -> None:
    here, there = SelectorParity(*shape, 0.01), reference.SelectorParity(*shape, Fraction(1, 100))
    assert (here.n, here.depth, here.blocks_first) == (there.n, there.depth, there.reads_blocks_first)
    assert list(here.weights) == pytest.approx([float(w) for w in there.weights], rel=1e-9)
    assert list(here.selector_caps) == pytest.approx([float(c) for c in there.selector_caps], rel=1e-9)
    assert here.average_depth == pytest.approx(float(there.average_depth), rel=1e-12)
    assert here.inner_influence == pytest.approx(float(there.inner_influence), rel=1e-12)
    least = 0.01 * (float(there.error_after_blocks) if there.r <= 16 else there.error_after_blocks_at_least)
    assert here.error_after_blocks == pytest.approx(least)


def test_family_refuses_a_member_whose_order_is_not_known() -> None:
    with pytest.raises(ArithmeticError, match="does not force Algorithm 1 to read all blocks at epsilon"):
        SelectorParity(4, 5, 2, 0.001).log_greedy_size(1e-4)
    with pytest.raises(ArithmeticError, match="does not force"):
        SelectorParity(12, 44, 4, 0.001).log_greedy_size(0.001)


def test_no_constant_repairs_the_printed_bounds() -> None:
    assert (
        "ln size >= 311,916 > 20,258 (Theorem 1.1), 81,030 (Theorem 5.1), 59,295 (abstract)" in examples.no_constant()
    )


def test_the_functions_of_paths_are_those_of_paths() -> None:
    """All functions of one bit; of two, all but the parities; of three, by walking down every path."""
    assert checks.path_functions(1) == [0, 1, 2, 3]
    assert set(range(16)) - set(checks.path_functions(2)) == {0b0110, 0b1001}
    assert 0b11101000 not in checks.path_functions(3), "majority"
    assert 0b10000000 in checks.path_functions(3), "AND"


def test_target_is_worded_as_an_or_of_its_ones() -> None:
    assert examples.target(small.study((1, 5)), 0b0101) == "f = NOT x0 AND NOT x1 OR NOT x0 AND x1, p = (0.1, 0.5)"


def test_binomial_rows_are_distributions_with_the_right_mean() -> None:
    table = chances.binomial(30)
    assert table.shape == (1001, 31)
    np.testing.assert_allclose(table.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(table @ np.arange(31), 30 * np.arange(1001) / 1000, atol=1e-10)


def test_lemmas_5_3_and_5_4_are_checked_where_they_can_fail() -> None:
    """Some probability is positive: the checks are not empty."""
    assert 0 < chances.labels_too_often_wrong().max() <= 1
    assert 0 < chances.tests_too_often_misleading().max() <= 1


# --- bounds ----------------------------------------------------------------------------------------------------------


def test_bounds_rows_hold_both_examples_at_every_size_and_epsilon() -> None:
    rows = worked_examples()
    pairs = {(name, epsilon) for name in ("balanced", "path") for epsilon in EPSILONS}
    assert {(row.name, row.epsilon) for row in rows} == pairs
    assert len(rows) == len(EPSILONS) * (len(DEPTHS) + len(FEATURES))
    assert theory.balanced_example(16, 0.1) in rows
    assert theory.path_example(64, 0.01) in rows


def test_corrected_is_below_printed_on_both_examples() -> None:
    """Here no region is harder than the whole, and Inf <= Delta/2 even improves on the print."""
    assert all(row.corrected < row.theorem_1_1_printed * (1 + 1e-12) for row in worked_examples())
