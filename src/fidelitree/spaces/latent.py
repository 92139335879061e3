"""Latent classes of rows of codes, by expectation maximisation: columns are independent within each class.

Probabilities are rounded to millionths, so that the last digits of a machine's arithmetic change nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from fidelitree.spaces.dependence import SMOOTHING
from fidelitree.spaces.features.feature import uniforms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fidelitree.spaces.bins import Codes
    from fidelitree.spaces.draw import Stream
    from fidelitree.spaces.features import Floats

COUNTS = (1, 2, 3, 4, 6, 8, 12, 16)
"""Numbers of classes that are tried, until two in a row are not clearly better on held-out rows."""
ROWS_A_CLASS = 10
MOST_ROWS = 10_000
"""Rows that classes are fitted to: more would change little."""
_GRAIN = 1e-6
_ROUNDS, _ENOUGH = 60, 1e-5


@dataclass(frozen=True, eq=False)
class Classes:
    """The share of each class, and for each column the probabilities of its codes, a row for each class."""

    weights: Floats
    tables: tuple[Floats, ...]

    def logs(self, codes: Codes) -> Floats:
        """For each class (a row) and each row of the table, the logarithm of how likely both are together."""
        total = np.repeat(np.log(self.weights)[:, None], codes.shape[1], axis=1)
        for table, row in zip(self.tables, codes, strict=True):
            total += np.log(table)[:, row]
        return total

    def log_likelihoods(self, codes: Codes) -> Floats:
        """Of each row."""
        return np.asarray(logsumexp(self.logs(codes), axis=0))


def fitted(codes: Codes, marginals: Sequence[Floats], count: int, stream: Stream) -> Classes:
    """So many classes, begun from as many rows, each the centre of what is like it."""
    if count == 1:
        return Classes(np.ones(1), tuple(marginal[None] for marginal in marginals))
    rows = codes.shape[1]
    centres = codes[:, np.argsort(stream.lane(count, 0).random_raw(rows), kind="stable")[:count]]
    alike = (codes[:, None, :] == centres[:, :, None]).sum(axis=0) + uniforms(stream.lane(count, 1), rows)
    members = np.exp(alike - logsumexp(alike, axis=0))
    before = -np.inf
    for _ in range(_ROUNDS):
        found = _from_members(codes, members, marginals)
        logs = found.logs(codes)
        likely = logsumexp(logs, axis=0)
        members, now = np.exp(logs - likely), float(likely.mean())
        if now - before < _ENOUGH:
            break
        before = now
    return Classes(_rounded(found.weights[None])[0], tuple(_rounded(table) for table in found.tables))


def _from_members(codes: Codes, members: Floats, marginals: Sequence[Floats]) -> Classes:
    """Shares and tables for the probability that each row (a column here) belongs to each class."""
    sizes = members.sum(axis=1)
    tables = []
    for row, marginal in zip(codes, marginals, strict=True):
        counts = np.array([np.bincount(row, one, len(marginal)) for one in members])
        tables.append((counts + SMOOTHING * marginal) / (sizes[:, None] + SMOOTHING))
    return Classes(np.maximum(sizes / sizes.sum(), _GRAIN), tuple(tables))


def _rounded(table: Floats) -> Floats:
    """Rows in proportion to whole numbers of grains, none of them 0."""
    grains = np.maximum(np.round(table / _GRAIN), 1.0)
    return np.asarray(grains / grains.sum(axis=1, keepdims=True))


def best_count(kept: Codes, held: Codes, marginals: Sequence[Floats], stream: Stream) -> int:
    """The number of classes that describes held-out rows best; more must gain more than a standard error."""
    best, before, in_vain = 1, np.array([-np.inf]), 0
    for count in COUNTS:
        if in_vain == 2 or count > max(1, kept.shape[1] // ROWS_A_CLASS) or held.shape[1] < 2:
            break
        now = fitted(kept, marginals, count, stream).log_likelihoods(held)
        gain = now - before
        if count == 1 or gain.mean() > gain.std() / len(gain) ** 0.5:
            best, before, in_vain = count, now, 0
        else:
            in_vain += 1
    return best
