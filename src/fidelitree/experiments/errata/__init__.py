"""Every statement of the paper, checked on all functions of up to three bits; the false ones with a counter-example."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fidelitree.experiments.errata import chances, checks, examples
from fidelitree.experiments.errata.small import Floats, Study, studies

Check = Callable[[Any], Floats]

AS_PRINTED = "as printed"
SIZES = (
    "ln size <= D Delta* max(ln(e Inf/(eps D)), 1)/kappa; <= Inf Delta/(2 kappa eps^2); "
    "<= D_e^2 (1 + ln(Delta/(2 eps D_e)))/kappa with D_e = min(D, Delta/(2 eps))"
)
ROUNDING = 1e-12


@dataclass(frozen=True)
class Erratum:
    """A statement, what was found, and the form that holds."""

    statement: str
    verdict: Literal["true", "false"]
    printed: str
    checked: int
    violations: int
    counterexample: str
    corrected: str
    corrected_violations: int


@dataclass(frozen=True)
class Statement:
    """What the paper says and what holds, each as a ratio that must not exceed 1 in any of some cases.

    ``example`` words a counter-example that was found, ``elsewhere`` one too large to run, or a remark.
    """

    name: str
    printed: str
    check: Check
    corrected: str
    corrected_check: Check
    example: examples.Describe | None = None
    elsewhere: Callable[[], examples.Large] = lambda: ("", False)
    cases: Sequence[Any] | None = None  # all functions of up to three bits

    def examined(self, functions: Sequence[Study]) -> Erratum:
        """Check it in every case."""
        cases = functions if self.cases is None else self.cases
        bad = [self.check(case) > 1 + ROUNDING for case in cases]
        violations = sum(int(found.sum()) for found in bad)
        corrected = sum(int((self.corrected_check(case) > 1 + ROUNDING).sum()) for case in cases)
        text, broken = self.elsewhere()
        if violations and self.example:
            text = self.example(*_smallest(self.check, functions, bad))
        verdict: Literal["true", "false"] = "false" if violations or broken else "true"
        checked = sum(map(len, bad))
        return Erratum(self.name, verdict, self.printed, checked, violations, text, self.corrected, corrected)


STATEMENTS = (
    Statement(
        "Lemma 4.1", "error <= cost", checks.lemma_4_1, "error <= G <= Inf, hence error <= cost", checks.lemma_4_1_tight
    ),
    Statement(
        "Lemma 4.2",
        "Inf <= D Var and Inf <= Delta",
        checks.lemma_4_2,
        "Inf <= D G and Inf <= Delta/2",
        checks.lemma_4_2_tight,
        elsewhere=lambda: ("none, but loose by 2: a fair dictator has Inf = D Var/2 = Delta/2", False),
    ),
    Statement(
        "Lemma 4.3",
        "cost drop = score of the split",
        checks.lemma_4_3,
        "the same for any feature, not only the best",
        checks.lemma_4_3,
    ),
    Statement(
        "Lemma C.1",
        "max Inf_i >= Var/Delta",
        checks.lemma_c_1,
        "max Inf_i >= G/Delta = Var/(2 Delta)",
        checks.lemma_c_1_corrected,
        example=examples.lemma_c_1,
    ),
    Statement(
        "Lemma C.2", "Inf_i <= 2 error <= Var", checks.lemma_c_2, "and Inf_i <= G = Var/2", checks.lemma_c_2_tight
    ),
    Statement(
        "D of leaves (proof of 4.5)", "D(f_l) <= D_opt", checks.depth_of_leaves, AS_PRINTED, checks.depth_of_leaves
    ),
    Statement(
        "Delta of leaves (proofs of 4.4, 4.5)",
        "Delta(f_l) <= Delta_opt",
        checks.average_depth_of_leaves,
        "sum_l p_l Delta(f_l) <= Delta_opt; each only <= Delta*",
        checks.average_depth_of_leaves_corrected,
        example=examples.average_depth_of_leaves,
    ),
    Statement(
        "Lemma 4.4",
        "Score >= 2 eps/(j Delta_opt)",
        checks.lemma_4_4,
        "Score >= max(eps/(j Delta*), 2 eps^2/(j Delta_opt))",
        checks.lemma_4_4_corrected,
        example=examples.lemma_4_4,
    ),
    Statement(
        "Lemma 4.5",
        "Score >= cost/(j D Delta_opt)",
        checks.lemma_4_5,
        "Score >= max(cost/(j D Delta*), 2 cost^2/(j D^2 Delta_opt))",
        checks.lemma_4_5_corrected,
        elsewhere=examples.lemma_4_5,
    ),
    Statement(
        "Lemma 4.6",
        "J_1 <= max((Delta/(eps D))^(D Delta), 1)",
        checks.lemma_4_6,
        "J_1 = 0 or J_1 < (Inf/(eps D))^(D Delta*)",
        checks.lemma_4_6_corrected,
        elsewhere=examples.lemma_4_6,
    ),
    Statement(
        "Lemma 4.7",
        "J_total <= J_1 e^(Delta D)",
        checks.lemma_4_7,
        "J_total < (J_1 + 1) e^((D-1) Delta*) and J_total + 1 <= (J_1 + 1) e^(D Delta*)",
        checks.lemma_4_7_corrected,
        example=examples.lemma_4_7,
    ),
    Statement(
        "Theorem 1.1",
        "size <= max((e Delta/(eps D))^(Delta D), e^(Delta D))",
        checks.theorem_1_1,
        f"{SIZES}; kappa = 1",
        checks.sizes_corrected,
        elsewhere=examples.theorem_1_1,
    ),
    Statement(
        "Abstract",
        "size <= exp(Delta D ln(e/eps))",
        checks.abstract,
        "as for Theorem 1.1",
        checks.sizes_corrected,
        elsewhere=examples.abstract,
    ),
    Statement(
        "Theorem 5.1",
        "size <= max((e Delta/(eps D))^(4 Delta D), e^(4 Delta D))",
        checks.theorem_5_1,
        f"{SIZES}; kappa = 1/4",
        checks.theorem_5_1_corrected,
        elsewhere=examples.theorem_5_1,
    ),
    Statement(
        "Lemma 5.2",
        "E[estimated score] = score",
        checks.lemma_5_2,
        "for a leaf that the pairs did not choose",
        checks.lemma_5_2,
        elsewhere=examples.lemma_5_2,
    ),
    Statement(
        "Lemma 5.3",
        "excess error <= sqrt(2 (l ln 2 + ln(16 j^2/delta))/m) with probability 1 - delta/(8 j^2)",
        chances.lemma_5_3,
        AS_PRINTED,
        chances.lemma_5_3,
    ),
    Statement(
        "Lemma 5.4",
        "32 ln(16 j^2/delta)/eps^2 tests tell an error <= 5 eps/8 from one > eps with probability 1 - delta/(8 j^2)",
        chances.lemma_5_4,
        AS_PRINTED,
        chances.lemma_5_4,
    ),
    Statement(
        "Path tree (appendix)",
        "Delta <= 2, fair bits",
        chances.path,
        "Delta = 2 - 2^(1-n)",
        chances.path_corrected,
        cases=range(1, 65),
    ),
    Statement(
        "Full binary trees (section 4.2)",
        "(e/eps)^(log^2 s) = exp(log^2(s) log(1/eps))",
        chances.full_binary,
        "(e/eps)^(log^2 s) = exp(log^2(s) log(e/eps))",
        chances.full_binary_corrected,
        elsewhere=lambda: (chances.full_binary_words(1, 0.1), False),
        cases=[(depth, epsilon) for depth in (1, 2, 3) for epsilon in (0.1, 0.3)],
    ),
    Statement(
        "Run time (section 5.5)",
        "O(J log J n log n log(1/delta)/eps^2) samples",
        chances.run_time,
        "Theta(J n^2 log(J n/delta)/eps + (J + log(1/delta))/eps^2) label queries",
        chances.run_time_corrected,
        elsewhere=lambda: (chances.run_time_words(), False),
        cases=chances.FEATURES,
    ),
)


def rows() -> list[Erratum]:
    """Check every statement; takes a few seconds."""
    functions = list(studies())
    return [statement.examined(functions) for statement in STATEMENTS]


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
