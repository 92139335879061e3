"""Sobol indices of a target that answers numbers: the share of its variance that is due to each feature.

Two sets of inputs are drawn, A and B, and for each feature a third one, A with that feature's values from B (Saltelli
2002). The first index, what a feature explains alone, is estimated as by Saltelli and others (2010), the total one, of
all that it has a part in, as by Jansen (1999): the definitions of SALib. Features must be independent, or variances do
not add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from fidelitree.errors import ParameterError
from fidelitree.spaces.draw import block_rows, draw, paired

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted, Queries
    from fidelitree.spaces.draw import Stream
    from fidelitree.spaces.region import Region

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SobolIndices:
    """First and total indices of every feature, with the mean and the variance of the answers.

    ``first_margins`` and ``total_margins`` are half the lengths of intervals, each right with probability 1 - delta as
    far as averages are normal; they are no certificate.
    """

    names: tuple[str, ...]
    first: Floats
    total: Floats
    first_margins: Floats
    total_margins: Floats
    mean: float
    variance: float
    queries: Queries
    delta: float
    seed: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        columns = (self.first, self.first_margins, self.total, self.total_margins)
        keys = ("feature", "first", "first_margin", "total", "total_margin")
        rows = zip(self.names, *(column.tolist() for column in columns), strict=True)
        return {
            "mean": self.mean,
            "variance": self.variance,
            "delta": self.delta,
            "seed": self.seed,
            "indices": [dict(zip(keys, row, strict=True)) for row in rows],
            "queries": {"asked": dict(self.queries.asked), "paid": dict(self.queries.paid)},
        }

    def __str__(self) -> str:
        width = max(map(len, self.names))
        moments = f"mean {self.mean:.4g}, variance {self.variance:.4g}"
        lines = [f"Sobol indices of each feature, first and total (seed {self.seed}); {moments}"]
        for i in np.argsort(-self.total, kind="stable"):
            first = f"{self.first[i]:7.4f} ± {self.first_margins[i]:.4f}"
            lines.append(f"{self.names[i]:<{width}}  {first}  {self.total[i]:7.4f} ± {self.total_margins[i]:.4f}")
        return "\n".join(lines)


def sobol_indices(
    counted: Counted, region: Region, changes: Sequence[int], queries: int, stream: Stream, delta: float
) -> SobolIndices:
    """Indices inside a region, from as many inputs as the queries allow; features that cannot change have none."""
    rows, space = queries // (len(changes) + 2), region.space
    if rows < 2:
        raise ParameterError(
            f"max_queries must allow two inputs, each with {len(changes) + 1} changes; got {queries}, needed "
            f"{2 * (len(changes) + 2)}"
        )
    step = max(1, block_rows(len(space)) // (len(changes) + 2))
    found = []
    for block, start in enumerate(range(0, rows, step)):
        some = min(step, rows - start)
        one, two = (draw(region, stream.child(name), block, some) for name in ("A", "B"))
        inputs = np.concatenate([paired(one, two, changes).reshape(len(space), -1), two], axis=1)
        found.append(counted.labels(counted.ask(inputs.T, "analyze")).reshape(-1, some))
    answers = np.concatenate(found, axis=1)  # of A, of A with each feature from B, of B
    mean = float(answers[[0, -1]].mean())
    base, mixed, other = answers[0] - mean, answers[1:-1] - mean, answers[-1] - mean
    spread = (base**2 + other**2) / 2
    first, total = other * (mixed - base), (mixed - base) ** 2 / 2
    indices, margins = np.zeros((2, len(space))), np.zeros((2, len(space)))
    if (variance := float(spread.mean())) > 0:
        sure = float(special.ndtri(1 - delta / 2)) / rows**0.5
        for k, terms in enumerate((first, total)):
            share = terms.mean(axis=1) / variance
            indices[k, list(changes)] = share
            # A ratio of two averages varies as the average of what the one is beyond its share of the other.
            margins[k, list(changes)] = sure * (terms - share[:, None] * spread).std(axis=1) / variance
    both = indices[0], indices[1], margins[0], margins[1]
    return SobolIndices(space.names, *both, mean, variance, counted.queries, delta)
