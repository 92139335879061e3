"""Latent classes of rows of codes, by expectation maximisation: columns are independent within each class.

Probabilities are rounded to millionths, so that the last digits of a machine's arithmetic change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array
from scipy.special import logsumexp

from fidelitree.spaces.dependence import SMOOTHING

if TYPE_CHECKING:
    from fidelitree.spaces.bins import Codes
    from fidelitree.spaces.draw import Stream
    from fidelitree.spaces.features import Floats

COUNTS = (2, 3, 4, 6, 8, 12, 16)
"""Numbers of classes that are tried, until two in a row are not clearly better on held-out rows."""
Marks: TypeAlias = Any  # a sparse array of SciPy, which has no types
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

    def logs(self, marks: Marks) -> Floats:
        """For each row of the table and each class, the logarithm of how likely both are together."""
        return np.asarray(marks @ np.log(np.concatenate(self.tables, axis=1)).T + np.log(self.weights))

    def log_likelihoods(self, codes: Codes) -> Floats:
        """Of each row."""
        return np.asarray(logsumexp(self.logs(marked(codes, [table.shape[1] for table in self.tables])), axis=1))


def marked(codes: Codes, sizes: Sequence[int]) -> Marks:
    """A row for each row of the table, with a one at its code of each column; the codes of all columns side by side."""
    columns, rows = codes.shape
    places = (codes + np.cumsum([0, *sizes[:-1]])[:, None]).T.ravel()
    ends = np.arange(rows + 1) * columns
    return csr_array((np.ones(len(places)), places, ends), shape=(rows, sum(sizes)))


def fitted(codes: Codes, marginals: Sequence[Floats], count: int, stream: Stream) -> Classes:
    """So many classes, begun from as many rows, each the centre of what is like it."""
    if count == 1:
        return Classes(np.ones(1), tuple(marginal[None] for marginal in marginals))
    rows = codes.shape[1]
    marks = marked(codes, [len(marginal) for marginal in marginals])
    centres = marks[np.argsort(stream.lane(count, 0).random_raw(rows), kind="stable")[:count]]
    alike = (marks @ centres.T).toarray() + stream.uniforms(count, 1, rows)[:, None]
    members = np.exp(alike - logsumexp(alike, axis=1)[:, None])
    back, before = csr_array(marks.T), -np.inf
    for _ in range(_ROUNDS):
        found = _from_members(back, members, marginals)
        logs = found.logs(marks)
        most = logs.max(axis=1)[:, None]
        members = np.exp(logs - most)
        sums = members.sum(axis=1)[:, None]
        members, now = members / sums, float((np.log(sums) + most).mean())
        if now - before < _ENOUGH:
            break
        before = now
    return Classes(_rounded(found.weights[None])[0], tuple(_rounded(table) for table in found.tables))


def _from_members(back: Marks, members: Floats, marginals: Sequence[Floats]) -> Classes:
    """Shares and tables, from the codes' marks of rows and the probability that each row belongs to each class."""
    sizes, ends = members.sum(axis=0), np.cumsum([len(marginal) for marginal in marginals])[:-1]
    counts = np.split(np.asarray(back @ members).T, ends, axis=1)
    smoothed = [count + SMOOTHING * marginal for count, marginal in zip(counts, marginals, strict=True)]
    tables = tuple(table / (sizes[:, None] + SMOOTHING) for table in smoothed)
    return Classes(np.maximum(sizes / sizes.sum(), _GRAIN), tables)


def _rounded(table: Floats) -> Floats:
    """Rows in proportion to whole numbers of grains, none of them 0."""
    grains = np.maximum(np.round(table / _GRAIN), 1.0)
    return np.asarray(grains / grains.sum(axis=1, keepdims=True))


def best_count(folds: Sequence[tuple[Codes, Codes]], marginals: Sequence[Floats], stream: Stream) -> tuple[int, Floats]:
    """The number of classes that describes held-out rows best, and what each of these gains over independent columns.

    A fold is rows to fit to, and rows to judge by. More classes must gain more than a standard error.
    """
    alone = [fitted(held, marginals, 1, stream).log_likelihoods(held) for _, held in folds]
    best, gains, in_vain = 1, np.zeros(sum(map(len, alone))), 0
    most = min((kept.shape[1] for kept, _ in folds), default=0) // ROWS_A_CLASS
    for count in COUNTS:
        if in_vain == 2 or count > most:
            break
        each = [fitted(kept, marginals, count, stream).log_likelihoods(held) for kept, held in folds]
        now = np.concatenate(each) - np.concatenate(alone)
        more = now - gains
        if more.mean() > more.std() / len(more) ** 0.5:
            best, gains, in_vain = count, now, 0
        else:
            in_vain += 1
    return best, gains
