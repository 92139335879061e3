"""Runs with `max_seconds` over real models: every bound against the true error, every tree against the best constant.

$ python -m benchmarks.budgets --runs 300
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass

import numpy as np

import fidelitree as ft
from benchmarks.budgets.cases import Case, cases, subject
from benchmarks.machine import describe

DELTA = 0.05
PAID = 400
"""Labels from which on a bound must mean something."""
LOOSE = 0.15
"""A bound may be above the true error by so much."""
OVER = 1.2
"""Times the limit that a run may take."""


@dataclass(frozen=True)
class Outcome:
    """What came of a run; the errors are shares of fresh inputs."""

    case: Case
    result: ft.Distillation
    seconds: float
    error: float
    constant: float
    doubt: float
    """Two standard errors of their difference."""

    @property
    def violations(self) -> list[str]:
        """Promises that were not kept."""
        bound, paid = self.result.certificate.error_bound, int(self.result.queries.paid)
        found = []
        if paid >= PAID and bound > self.error + LOOSE:
            found.append(f"the bound is {bound - self.error:.3f} above the error")
        if paid >= PAID and self.error > self.constant + self.doubt:
            found.append(f"a constant has an error of {self.constant:.3f}")
        if self.seconds > OVER * self.case.seconds:
            found.append(f"it took {self.seconds / self.case.seconds:.2f} times the limit")
        return found

    def __str__(self) -> str:
        certificate = self.result.certificate
        return (
            f"{self.case}  labels {int(self.result.queries.paid):7,d} leaves {self.result.tree.size:5,d}  "
            f"bound {certificate.error_bound:.3f} error {self.error:.3f} constant {self.constant:.3f}  "
            f"{self.seconds / self.case.seconds:4.2f} of the time  {self.result.reason[:40]}"
        )


def measured(case: Case) -> Outcome:
    """One run, judged."""
    subject(case.model)  # is not part of the run
    space, fresh = case.space()
    distill = ft.distill  # loads what a run needs; loading is no part of the run either
    began = time.perf_counter()
    result = distill(
        case.target, space, case.epsilon, DELTA, seed=case.number, max_seconds=case.seconds, **case.options
    )
    taken = time.perf_counter() - began
    labels, answers = case.target(fresh), result.tree.predict(fresh)
    values, counts = np.unique(labels, return_counts=True)
    wrong, usual = answers != labels, values[counts.argmax()] != labels
    doubt = 2 * (wrong != usual).mean() ** 0.5 / len(labels) ** 0.5
    return Outcome(case, result, taken, float(wrong.mean()), float(usual.mean()), float(doubt))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.budgets", description=__doc__)
    parser.add_argument("--runs", type=int, default=300, help="how many (default %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first (default %(default)s)")
    parser.add_argument("--step", type=int, default=1, help="from one to the next (default %(default)s)")
    options = parser.parse_args()
    print(describe())
    outcomes = []
    for case in cases(options.runs)[options.first :: options.step]:
        outcomes.append(measured(case))
        print(outcomes[-1], flush=True)
        for violation in outcomes[-1].violations:
            print(f"    VIOLATION: {violation}", flush=True)
    bad = sum(bool(outcome.violations) for outcome in outcomes)
    false = sum(outcome.error > outcome.result.certificate.error_bound for outcome in outcomes)
    ratios = [outcome.seconds / outcome.case.seconds for outcome in outcomes]
    print(f"{len(outcomes)} runs, {bad} with a violation, {false} bounds below the error measured")
    print(f"time taken / limit: largest {max(ratios):.2f}, mean {np.mean(ratios):.2f}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
