"""What the sizes of a frontier are likely to reach, told from the first few hundred labels: a forecast, no certificate.

Trees grown from few labels err more often than those of the end: cross-validation says how often the former do, and
how much is gained on the way was measured on models that no table of ours reports (`benchmarks.frontier.calibrate`).
The forecast is there to tell hopeless from easy before the expensive part.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fidelitree.asking.limits import Watch, go_on
from fidelitree.search.labelled import Binning
from fidelitree.search.local.every_size import EverySize
from fidelitree.theory.sequential import FRONTIER, error_bound, level_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fidelitree.runs.input_source import Inner
    from fidelitree.search.local.coded import Codes
    from fidelitree.spaces.product import ProductSpace

FOLDS = 4
HOPELESS = 0.3
"""Errors that the largest tree makes at best, where nobody would call it an explanation."""
TIGHT, SLACK = 1.12, 0.008
"""A bound of TIGHT times the error, and SLACK more, is close to it."""
EASE = 0.03
"""Added to errors before they are compared: what is nearly nothing may become nothing."""
_WIDE = 1.645  # standard deviations on either side, for nine in ten
# By leaves: mean and deviation of ln((error in the end + EASE) / (cross-validated error + EASE)).
GAINS = {
    1: (-0.02, 0.14),
    2: (-0.02, 0.14),
    3: (-0.09, 0.14),
    5: (-0.14, 0.14),
    8: (-0.17, 0.14),
    13: (-0.24, 0.14),
    23: (-0.41, 0.18),
    38: (-0.52, 0.22),
    64: (-0.59, 0.25),
}


@dataclass(frozen=True)
class Prospect:
    """What one size is likely to reach: its error is between two ends, nine times in ten; and tests to show it."""

    leaves: int
    low: float
    high: float
    tests: int


@dataclass(frozen=True)
class Forecast:
    """What all sizes are likely to reach; no certificate."""

    labels: int
    """It was made after so many labels."""
    prospects: tuple[Prospect, ...]

    @property
    def hopeless(self) -> bool:
        """Whether even the largest tree would err too often to be worth the labels."""
        return self.prospects[-1].low > HOPELESS

    def __str__(self) -> str:
        best = self.prospects[-1]
        shares = f"{1 - best.high:.0%} to {1 - best.low:.0%}"
        tests = max(one.tests for one in self.prospects)
        return f"forecast after {self.labels:,} labels: {best.leaves} leaves would agree on {shares}; {tests:,} tests"


def forecast(
    space: ProductSpace, inner: Inner, codes: Codes, sizes: Sequence[int], delta: float, watch: Watch = go_on
) -> Forecast:
    """From labelled inputs that came as they were drawn."""
    level = level_in(FRONTIER, 1, delta)
    return Forecast(
        len(codes),
        tuple(
            _prospect(size, errors, len(codes), level)
            for size, errors in zip(sizes, cross_validated(space, inner, codes, sizes, watch), strict=True)
        ),
    )


def cross_validated(
    space: ProductSpace, inner: Inner, codes: Codes, sizes: Sequence[int], watch: Watch = go_on
) -> list[int]:
    """For each size the mistakes on all labels, each made by a tree that the others taught."""
    binning, part = Binning.of(space, inner), np.arange(len(codes)) % FOLDS
    wrong = np.zeros(len(sizes), np.intp)
    for fold in range(FOLDS):
        some, others = (binning.coded(inner[rows], codes[rows]) for rows in (part != fold, part == fold))
        found = EverySize(some, sizes, 0, watch).trees()
        wrong += [int(others.errors(tree)) for tree in found]
    return [int(count) for count in wrong]


def _prospect(leaves: int, errors: int, labels: int, level: float) -> Prospect:
    mean, deviation = gain(leaves)
    low, middle, high = (
        min(1.0, max(0.0, (errors / labels + EASE) * math.exp(mean + side * _WIDE * deviation) - EASE))
        for side in (-1, 0, 1)
    )
    return Prospect(leaves, low, high, _tests(middle, level))


def gain(leaves: int) -> tuple[float, float]:
    """Mean and deviation of what the way to the end changes in the logarithm of the error."""
    known = np.log(list(GAINS))
    mean, spread = (np.interp(math.log(leaves), known, column) for column in zip(*GAINS.values(), strict=True))
    return float(mean), float(spread)


def _tests(error: float, level: float) -> int:
    """Answers after which a bound is close to this error, within an eighth."""
    rows = 50
    while error_bound(round(error * rows), rows, level) > TIGHT * error + SLACK:
        rows += rows // 8
    return rows
