"""The certificate alone: samples that it takes against the least that any test could take on average."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.queries.settings import DELTA, Settings
from benchmarks.queries.targets import generator
from benchmarks.report import Bar, Section, Table
from fidelitree.theory.sequential import Bet, level_of_attempt

EPSILONS, SHARES = (0.1, 0.01, 0.001), (0.0, 0.25, 0.5)
LIMIT = 1.3
LEVEL = level_of_attempt(1, DELTA)


def enough(errors: int, epsilon: float) -> int:
    """Samples, with so many errors among them, that certify epsilon: one error less never needs more."""
    bet = Bet(LEVEL)
    bet.count(errors, errors)
    return errors + bet.needed_for(epsilon)


def kl(one: float, other: float) -> float:
    """Relative entropy of two coins."""
    return (one * math.log(one / other) if one else 0.0) + (1 - one) * math.log((1 - one) / (1 - other))


def stops(error: float, epsilon: float, paths: int, random: np.random.Generator) -> np.ndarray:
    """When each path is certified. Between two errors the e-value only grows, so a path jumps from error to error."""
    limits = [enough(0, epsilon)]
    ends = np.zeros(paths, np.int64)
    if not error:
        return ends + limits[0]
    for path in range(paths):
        next_error, errors = int(random.geometric(error)), 0
        while next_error <= limits[errors]:  # an error comes before, or with, the sample that would suffice
            errors += 1
            if errors == len(limits):
                limits.append(enough(errors, epsilon))
            next_error += int(random.geometric(error))
        ends[path] = limits[errors]
    return ends


def run(settings: Settings) -> Section:
    paths = 50 if settings.smoke else 10_000
    table, ratios = [], []
    for epsilon in EPSILONS:
        for share in SHARES:
            error = share * epsilon
            ends = stops(error, epsilon, paths, generator(settings.seed, f"certificate {epsilon} {share}", 0))
            least = math.log(1 / LEVEL) / kl(error, epsilon)
            ratios.append(float(ends.mean()) / least)
            spread = ends.std() / math.sqrt(paths) / least
            row = [f"{epsilon:g}", f"{share:g} epsilon", f"{ends.mean():,.1f}", f"{least:,.1f}"]
            table.append([*row, f"{ratios[-1]:.3f} ± {2 * spread:.3f}"])
    bars = [
        Bar(
            f"epsilon {row[0]}, error {row[1]}: at most {LIMIT} times ln(1/delta_1)/KL",
            row[-1],
            None if settings.smoke else ratio <= LIMIT,
        )
        for row, ratio in zip(table, ratios, strict=True)
    ]
    headings = ["epsilon", "error", "samples, mean", "ln(1/delta_1)/KL", "ratio"]
    remark = (
        f"{paths:,} paths a row through the first attempt of a run, whose level is delta_1 = 6 delta/pi^2 = "
        f"{LEVEL:.4f}; ± is twice the standard error."
    )
    return Section("certificate", "samples of the certificate alone", [Table(headings, table, 2)], bars, remark)
