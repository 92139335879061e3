"""What the sizes of a frontier are likely to reach, told from the first few hundred labels: a forecast, no certificate.

Trees grown from few labels err more often than those of the end: cross-validation says how often the former do, and
how much is gained on the way was measured on models that no table of ours reports (`benchmarks.frontier.calibrate`).
The forecast is there to tell hopeless from easy before the expensive part.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from fidelitree.asking.limits import Watch, go_on
from fidelitree.certificates.confusion import CONFIDENCE
from fidelitree.errors import FormatError
from fidelitree.runs.economics import answers_until_close, is_close
from fidelitree.search.labelled import HELD, Binning
from fidelitree.search.local.iterated import Refiner
from fidelitree.theory.sequential import FRONTIER, level_in

if TYPE_CHECKING:
    from fidelitree.runs.input_source import Inner
    from fidelitree.search.local.coded import Codes
    from fidelitree.spaces.product import ProductSpace

HOPELESS = 0.3
"""An error with which nobody would call a tree an explanation."""
EASE = 0.03
"""Added to errors before they are compared: what is nearly nothing may become nothing."""
# By leaves: mean of ln((error in the end + EASE) / (cross-validated error + EASE)), and its deviation beyond chance's.
GAINS = {
    1: (-0.02, 0.05),
    2: (-0.02, 0.05),
    3: (-0.05, 0.05),
    5: (-0.10, 0.09),
    8: (-0.16, 0.13),
    13: (-0.24, 0.19),
    23: (-0.43, 0.33),
    38: (-0.54, 0.40),
    64: (-0.59, 0.41),
}


@dataclass(frozen=True)
class Prospect:
    """What one size is likely to reach: its error is between two ends, nine times in ten."""

    leaves: int
    low: float
    likely: float
    high: float
    seen: float
    """The cross-validated error of trees from the labels so far."""
    tests: int
    """Answers that it would take to show the likely error closely."""


@dataclass(frozen=True)
class Forecast:
    """What all sizes are likely to reach; no certificate."""

    labels: int
    """It was made after so many labels."""
    prospects: tuple[Prospect, ...]

    @property
    def hopeless(self) -> bool:
        """Whether even the largest tree is likely to err too often, or no tree has found anything yet."""
        constant, best = self.prospects[0].seen, min(one.seen for one in self.prospects)
        return self.prospects[-1].likely > HOPELESS or (best > HOPELESS and is_close(constant, best))

    def __str__(self) -> str:
        best = self.prospects[-1]
        shares = f"{1 - best.high:.0%} to {1 - best.low:.0%}"
        tests = max(one.tests for one in self.prospects)
        likely = f"{best.leaves} leaves would agree on {shares}"
        return f"forecast after {self.labels:,} labels: {likely}; tests would take about {tests:,} labels"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as ``run.json`` has it."""
        return {"labels": self.labels, "prospects": [asdict(one) for one in self.prospects]}

    @classmethod
    def from_dict(cls, data: Any) -> Forecast:
        """The inverse of `to_dict`; FormatError says that it is nothing of the kind."""
        names = [entry.name for entry in fields(Prospect)]
        try:
            prospects = tuple(Prospect(*(one[name] for name in names)) for one in data["prospects"])
            numbers = [data["labels"], *(number for one in prospects for number in astuple(one))]
        except (KeyError, TypeError):
            raise FormatError(f"a stored forecast must hold labels and prospects; got {data!r:.80}") from None
        if not prospects or any(isinstance(one, bool) or not isinstance(one, int | float) for one in numbers):
            raise FormatError(f"a stored forecast must hold numbers; got {data!r:.80}")
        return cls(data["labels"], prospects)


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
    binning, part = Binning.of(space, inner), np.arange(len(codes)) % HELD
    wrong = np.zeros(len(sizes), np.intp)
    for fold in range(HELD):
        some, others = (binning.coded(codes[rows], rows) for rows in (part != fold, part == fold))
        found = Refiner(some, 0, watch)
        wrong += [int(others.errors(found.with_leaves(size).tree)) for size in sizes]
    return [int(count) for count in wrong]


def _prospect(leaves: int, errors: int, labels: int, level: float) -> Prospect:
    share = errors / labels
    mean, spread = gain(leaves)
    wide = float(special.ndtri(CONFIDENCE))  # both ends are wrong as often as that, together one time in ten
    deviation = math.hypot(spread, math.sqrt(share * (1 - share) / labels) / (share + EASE))
    low, likely, high = (
        min(1.0, max(0.0, (share + EASE) * math.exp(mean + side * wide * deviation) - EASE)) for side in (-1, 0, 1)
    )
    return Prospect(leaves, low, likely, high, share, answers_until_close(likely, level))


def gain(leaves: int) -> tuple[float, float]:
    """Mean and deviation of what the way to the end changes in the logarithm of the error."""
    known = np.log(list(GAINS))
    mean, spread = (np.interp(math.log(leaves), known, column) for column in zip(*GAINS.values(), strict=True))
    return float(mean), float(spread)


def halved(few: int, many: int) -> bool:
    """Whether one tree has half the mistakes of another among the answers that taught them, beyond chance.

    >>> halved(0, 2), halved(0, 1), halved(5, 10), halved(5, 12)
    (True, False, False, True)
    """
    return 2 * (few + 1) <= many
