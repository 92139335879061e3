"""What holds in the paper, what does not, and the one cause; each statement checked on all functions of up to 3 bits.

A statement is taken in the reading that helps it most: without a factor or an edge case that is a slip elsewhere. The
slips have rows of their own. What fails only on larger targets has the numbers of one, computed from its formula.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fidelitree.experiments.errata import chances, checks, examples
from fidelitree.experiments.errata.checks import over, theorem_1_1, worst
from fidelitree.experiments.errata.small import Floats, Study, studies

Check = Callable[[Any], Floats]
Verdict = Literal["holds", "slip", "fails"]

HOLDS, CAUSE, FOLLOWS, SLIPS = "What holds", "The one error", "What follows from it", "Slips"
SIZES = (
    "ln size <= D Delta* max(ln(e Inf/(eps D)), 1)/kappa; <= Inf Delta/(2 kappa eps^2); "
    "<= D_e^2 (1 + ln(Delta/(2 eps D_e)))/kappa with D_e = min(D, Delta/(2 eps))"
)
ROUNDING = 1e-12


@dataclass(frozen=True)
class Erratum:
    """A statement, what was found, and the form that holds; ``features`` of the smallest target known to break it."""

    part: str
    statement: str
    verdict: Verdict
    printed: str
    checked: int
    violations: int
    features: int
    remark: str
    corrected: str
    corrected_violations: int


@dataclass(frozen=True)
class Statement:
    """What the paper says and what holds, each as a ratio that must not exceed 1 in any of some cases.

    ``example`` words a violation that was found, ``elsewhere`` one too large to run, or a remark.
    """

    part: str
    name: str
    printed: str
    check: Check
    corrected: str = "as printed"
    corrected_check: Check | None = None  # the same as printed
    example: examples.Describe | None = None
    elsewhere: Callable[[], examples.Large] = lambda: ("", 0)
    cases: Sequence[Any] | None = None  # all functions of up to three bits

    def examined(self, functions: Sequence[Study]) -> Erratum:
        """Check it in every case."""
        cases = functions if self.cases is None else self.cases
        bad = [self.check(case) > 1 + ROUNDING for case in cases]
        violations = sum(int(found.sum()) for found in bad)
        corrected_check = self.corrected_check or self.check
        corrected = sum(int((corrected_check(case) > 1 + ROUNDING).sum()) for case in cases)
        text, features = self.elsewhere()
        if violations and self.example:
            study, row = _smallest(self.check, functions, bad)
            text, features = self.example(study, row), study.n
        broken: Verdict = "slip" if self.part == SLIPS else "fails"
        verdict = broken if violations or features else "holds"
        checked = sum(map(len, bad))
        what = (self.part, self.name, verdict, self.printed)
        return Erratum(*what, checked, violations, features, text, self.corrected, corrected)


STATEMENTS = (
    Statement(
        HOLDS,
        "Theorem 1.1, full binary targets",
        "size <= max((e Delta/(eps D))^(Delta D), e^(Delta D)), any biases, where D = Delta",
        lambda t: np.where(t.depth == t.average_depth, theorem_1_1(t), 0.0),
        elsewhere=lambda: ("Delta* lies between Delta and D, which are one number here", 0),
    ),
    Statement(
        HOLDS,
        "Theorem 1.1, paths, fair bits",
        "the same, with D = n and Delta = 2 - 2^(1-n)",
        checks.theorem_1_1_path,
        elsewhere=lambda: ("a restricted path is a shorter path, so Delta* = Delta", 0),
    ),
    Statement(
        HOLDS,
        "Lemma 4.1",
        "error <= cost",
        lambda t: over(t.error, t.influence),
        "error <= G <= Inf, hence error <= cost",
        lambda t: worst(over(t.error, t.gini), over(t.gini, t.influence)),
    ),
    Statement(
        HOLDS,
        "Lemma 4.2",
        "Inf <= D Var and Inf <= Delta",
        checks.lemma_4_2,
        "Inf <= D G and Inf <= Delta/2",
        lambda t: 2 * checks.lemma_4_2(t),
        elsewhere=lambda: ("could be twice as sharp: a fair dictator has Inf = D Var/2 = Delta/2", 0),
    ),
    Statement(
        HOLDS,
        "Lemma 4.3",
        "cost drop = score of the split",
        checks.lemma_4_3,
        "the same for any feature, not only the best",
    ),
    Statement(
        HOLDS,
        "Lemma C.2",
        "Inf_i <= 2 error <= Var",
        checks.lemma_c_2,
        "and Inf_i <= G = Var/2",
        lambda t: worst(checks.lemma_c_2(t), over(t.influences, t.gini[:, None])),
    ),
    Statement(HOLDS, "D of leaves (proof of 4.5)", "D(f_l) <= D_opt", lambda t: over(t.depths, t.depth[:, None])),
    Statement(
        HOLDS,
        "Lemma 5.2",
        "E[estimated score] = score",
        checks.lemma_5_2,
        "for a leaf that the pairs did not choose",
        elsewhere=examples.lemma_5_2,
    ),
    Statement(
        HOLDS,
        "Lemma 5.3",
        "excess error <= sqrt(2 (l ln 2 + ln(16 j^2/delta))/m) with probability 1 - delta/(8 j^2)",
        chances.lemma_5_3,
    ),
    Statement(
        HOLDS,
        "Lemma 5.4, Algorithm 2's error",
        "32 ln(16 j^2/delta)/eps^2 tests tell an error <= 5 eps/8 from one > eps with probability 1 - delta/(8 j^2)",
        chances.lemma_5_4,
    ),
    Statement(
        HOLDS,
        "Path tree (appendix)",
        "Delta <= 2, fair bits",
        lambda n: np.array([float(chances.path_depth(n) / 2)]),
        "Delta = 2 - 2^(1-n)",
        lambda n: chances.same(chances.path_depth(n), 2 - Fraction(2, 2**n)),
        cases=range(1, 65),
    ),
    Statement(
        HOLDS,
        "Samples (section 5.5)",
        "O(J log J n log n log(1/delta)/eps^2), one x for all features as in section 5.2",
        chances.run_time,
        "label queries, n + 1 or 2n for each x: Theta(J n^2 log(J n/delta)/eps + (J + log(1/delta))/eps^2)",
        chances.run_time_corrected,
        elsewhere=lambda: (chances.run_time_words(), 0),
        cases=chances.FEATURES,
    ),
    Statement(
        CAUSE,
        "Delta of leaves (proofs of 4.4, 4.5)",
        "Delta(f_l) <= Delta_opt",
        lambda t: over(t.largest_average_depth, t.average_depth),
        "sum_l p_l Delta(f_l) <= Delta_opt; each only <= Delta*",
        checks.average_depth_of_leaves_corrected,
        example=examples.average_depth_of_leaves,
    ),
    Statement(
        FOLLOWS,
        "Lemma 4.4",
        "Score >= 2 eps/(j Delta_opt), read as eps/(j Delta_opt)",
        checks.lemma_4_4,
        "Score >= max(eps/(j Delta*), 2 eps^2/(j Delta_opt))",
        checks.lemma_4_4_corrected,
        elsewhere=examples.lemma_4_4,
    ),
    Statement(
        FOLLOWS,
        "Lemma 4.5",
        "Score >= cost/(j D Delta_opt)",
        checks.lemma_4_5,
        "Score >= max(cost/(j D Delta*), 2 cost^2/(j D^2 Delta_opt))",
        checks.lemma_4_5_corrected,
        elsewhere=examples.lemma_4_5,
    ),
    Statement(
        FOLLOWS,
        "Lemma 4.6",
        "J_1 <= max((Delta/(eps D))^(D Delta), 1)",
        lambda t: checks.first_phase_over(t, t.average_depth, t.average_depth),
        "J_1 = 0 or J_1 < (Inf/(eps D))^(D Delta*)",
        lambda t: checks.first_phase_over(t, t.influence, t.largest_average_depth),
        elsewhere=examples.lemma_4_6,
    ),
    Statement(
        FOLLOWS,
        "Lemma 4.7",
        "J_total <= J_1 e^(Delta D), read with max(J_1, 1)",
        lambda t: checks.second_phase_over(t, np.maximum(checks.first_phase(t), 1)),
        "J_total < (J_1 + 1) e^((D-1) Delta*) and J_total + 1 <= (J_1 + 1) e^(D Delta*)",
        checks.lemma_4_7_corrected,
        elsewhere=examples.lemma_4_7,
    ),
    Statement(
        FOLLOWS,
        "Theorem 1.1",
        "size <= max((e Delta/(eps D))^(Delta D), e^(Delta D))",
        theorem_1_1,
        f"{SIZES}; kappa = 1",
        checks.sizes_corrected,
        elsewhere=examples.theorem_1_1,
    ),
    Statement(
        FOLLOWS,
        "Abstract",
        "size <= exp(Delta D ln(e/eps))",
        checks.abstract,
        "as for Theorem 1.1",
        checks.sizes_corrected,
        elsewhere=examples.abstract,
    ),
    Statement(
        FOLLOWS,
        "Theorem 5.1",
        "size <= max((e Delta/(eps D))^(4 Delta D), e^(4 Delta D))",
        checks.theorem_5_1,
        f"{SIZES}; kappa = 1/4",
        checks.theorem_5_1_corrected,
        elsewhere=examples.theorem_5_1,
    ),
    Statement(
        SLIPS,
        "Lemma C.1, and the 2 in 4.4",
        "max Inf_i >= Var/Delta: true of the source's influence, which is twice the paper's",
        lambda t: over(2 * t.gini, t.average_depth * t.influences.max(axis=1)),
        "max Inf_i >= G/Delta = Var/(2 Delta)",
        lambda t: over(t.gini, t.average_depth * t.influences.max(axis=1)),
        example=examples.lemma_c_1,
    ),
    Statement(
        SLIPS,
        "Lemma 4.7, J_1 = 0",
        "J_total <= J_1 e^(Delta D): 4.6 has max(., 1), 4.7 has not",
        lambda t: checks.second_phase_over(t, checks.first_phase(t)),
        "as for Lemma 4.7",
        checks.lemma_4_7_corrected,
        example=examples.empty_first_phase,
    ),
    Statement(
        SLIPS,
        "Full binary trees (section 4.2)",
        "(e/eps)^(log^2 s) = exp(log^2(s) log(1/eps)): right in section 1.2 and the appendix",
        lambda case: chances.same(*chances.full_binary(*case)),
        "(e/eps)^(log^2 s) = exp(log^2(s) log(e/eps))",
        chances.full_binary_corrected,
        elsewhere=lambda: (chances.full_binary_words(1, 0.1), 1),
        cases=[(depth, epsilon) for depth in (1, 2, 3) for epsilon in (0.1, 0.3)],
    ),
)


def rows() -> list[Erratum]:
    """Check every statement; takes a few seconds."""
    functions = list(studies())
    return [statement.examined(functions) for statement in STATEMENTS]


def lines(found: Sequence[Erratum]) -> list[str]:
    """The rows as text, part by part."""
    told: list[str] = []
    for number, row in enumerate(found):
        if number == 0 or row.part != found[number - 1].part:
            told += ["", row.part] if told else [row.part]
        told.append(f"  {row.verdict:<6}{row.statement}: {row.printed}")
        told += [f"        {row.remark}"] if row.remark else []
        told += [f"        instead: {row.corrected}"] if row.verdict != "holds" else []
    still = sum(row.corrected_violations for row in found)
    told += ["", "No constant in the exponent repairs 1.1, 5.1 or the abstract", f"  {examples.no_constant()}"]
    return [*told, "", f"violations of the forms that are said to hold: {still}"]


def _smallest(check: Check, where: Sequence[Study], bad: list[NDArray[np.bool_]]) -> tuple[Study, int]:
    """The violation with the fewest bits and ones, then the clearest, then the fairest, then with fewest NOTs."""
    least = min(t.n for t, found in zip(where, bad, strict=True) if found.any())
    candidates = [
        (int(t.tables[row].sum()), -round(float(ratio[row]), 9), sum(abs(p - 5) for p in t.tenths), -row, at)
        for at, (t, found) in enumerate(zip(where, bad, strict=True))
        if t.n == least and found.any()
        for ratio in [check(t)]
        for row in np.flatnonzero(found).tolist()
    ]
    *_, row, at = min(candidates)
    return where[at], -row
