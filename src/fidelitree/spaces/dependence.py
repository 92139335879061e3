"""Tree-shaped dependence between columns of codes (Chow and Liu 1968): fitted, weighed and drawn from.

Each column depends on one other, its parent, or on none. So the probability of any product of sets of codes is a walk
from the leaves to the roots (one matrix by one vector for each column), and draws inside it are a walk back.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from fidelitree.spaces.features import pick, pick_each
from fidelitree.spaces.held_out import Fit, quarters
from fidelitree.trees import kernels

if TYPE_CHECKING:
    from fidelitree.spaces.bins import Codes
    from fidelitree.spaces.draw import Stream
    from fidelitree.spaces.features import Floats
    from fidelitree.spaces.groups import Groups

Counts = NDArray[np.int32]
SMOOTHING = 3.0
"""Rows like the column's marginal that are added to those with each code of its parent."""
SHARES = (0.25, 0.5, 0.75, 1.0)
"""Of the dependence: the one that describes held-out rows best is taken, or none."""
FEWEST = 20
"""Rows below which columns are taken to be independent."""
_CHUNK = 4096  # rows that are counted at once
_LINES = 512  # codes that are counted in one call: Ctrl-C waits no longer
_WORD = 64
_DIGITS = 9  # of a mutual information: rounding must not decide which tree it is


@dataclass(frozen=True, eq=False)
class Dependence:
    """For each column its parent (-1: none), and the probabilities of its codes, a row for each code of the parent."""

    parents: tuple[int, ...]
    tables: tuple[Floats, ...]

    @cached_property
    def order(self) -> list[int]:
        """Columns, parents first."""
        found = [i for i, parent in enumerate(self.parents) if parent < 0]
        for i in found:
            found.extend(self.children[i])
        return found

    @cached_property
    def children(self) -> list[list[int]]:
        """Of each column."""
        return [[i for i, parent in enumerate(self.parents) if parent == above] for above in range(len(self.parents))]

    def weigh(self, evidence: Mapping[int, Floats]) -> tuple[dict[int, Floats], float]:
        """How likely evidence is: for each column given its code, from it and from all below; and as a whole.

        Evidence is the probability that each code of a column meets what is asked of it.
        """
        likely, mass = dict(evidence), 1.0
        for i in reversed(self.order):
            if i in likely:
                above = self.tables[i] @ likely[i]
                if self.parents[i] < 0:
                    mass *= float(above[0])
                else:
                    likely[self.parents[i]] = likely.get(self.parents[i], 1.0) * above
        return likely, mass

    def draw(self, stream: Stream, block: int, rows: int, evidence: Mapping[int, Floats]) -> Codes:
        """Codes that meet the evidence, a row of the result for each column."""
        likely, _ = self.weigh(evidence)
        codes = np.zeros((len(self.parents), rows), np.intp)
        for i in self.order:
            above = codes[self.parents[i]] if self.parents[i] >= 0 else np.zeros(rows, np.intp)
            codes[i] = _picked(stream.uniforms(block, i, rows), self.tables[i] * likely.get(i, 1.0), above)
        return codes

    def redraw(self, column: int, codes: Codes, uniform: Floats, evidence: Floats | float) -> Codes:
        """Another code of a column for each row, given the codes of all others."""
        weights = self.tables[column][codes[self.parents[column]] if self.parents[column] >= 0 else 0] * evidence
        for child in self.children[column]:
            weights = weights * self.tables[child][:, codes[child]].T
        return pick_each(uniform, np.broadcast_to(weights, (codes.shape[1], weights.shape[-1])))


def _picked(uniform: Floats, weights: Floats, above: Codes) -> Codes:
    """A code for each row, by the weights for the code above it."""
    if len(weights) == 1:
        return pick(uniform, weights[0])
    codes, order = np.empty(len(above), np.intp), np.argsort(above, kind="stable")
    ends = np.searchsorted(above[order], np.arange(len(weights) + 1)).tolist()
    for code, (first, end) in enumerate(itertools.pairwise(ends)):
        if first < end:
            places = order[first:end]
            codes[places] = pick(uniform[places], weights[code])
    return codes


def fitted(codes: Codes, marginals: Sequence[Floats], groups: Groups | None = None) -> tuple[Dependence, Fit | None]:
    """The dependence between the rows of the codes, and how well such a one describes rows that it has not seen.

    Each quarter of the table is described by the tree of the others. The share of the dependence that does so best is
    taken of the tree of all rows: none, where it gains no more than two standard errors. So few rows never make a world
    that is worse than independent columns.
    """
    sizes = [len(marginal) for marginal in marginals]
    parts = quarters(codes, groups)
    counts = [_pairs(part, sizes) for part in parts]
    total = reduce(np.add, counts)
    if not all(part.size for part in parts):
        return _weakened(tree_of(total, marginals), marginals, 0.0), None
    judged = ((tree_of(total - own, marginals), part) for own, part in zip(counts, parts, strict=True))
    gains = np.concatenate([_gains(others, part, marginals) for others, part in judged], axis=1)
    best = int(np.argmax(np.round(gains.mean(axis=1), _DIGITS)))
    gain = float(gains[best].mean())
    share = SHARES[best] if _clear(gains[best]) else 0.0
    alone = sum(float(marginal @ np.log(np.maximum(marginal, 1e-300))) for marginal in marginals)
    fit = Fit(round(alone + (gain if share else 0.0), 6), round(alone, 6), codes.shape[1])
    return _weakened(tree_of(total, marginals), marginals, share), fit


def _clear(gains: Floats) -> bool:
    """Whether rows gain more than chance gives them; a handful of rows cannot tell."""
    return len(gains) >= FEWEST and float(gains.mean()) > 2 * float(gains.std()) / len(gains) ** 0.5


def _gains(found: Dependence, codes: Codes, marginals: Sequence[Floats]) -> Floats:
    """Log-likelihood of each row beyond that of independent columns, for each share of the dependence."""
    total = np.zeros((len(SHARES), codes.shape[1]))
    for i, parent in enumerate(found.parents):
        if parent >= 0:
            ratio = found.tables[i][codes[parent], codes[i]] / marginals[i][codes[i]]
            total += np.log1p(np.outer(SHARES, ratio - 1))
    return total


def _weakened(found: Dependence, marginals: Sequence[Floats], share: float) -> Dependence:
    """So much of the dependence, the rest independent; of none, no column has a parent."""
    if share == 0:
        return Dependence((-1,) * len(marginals), tuple(np.asarray(marginal)[None] for marginal in marginals))
    both = zip(found.tables, marginals, strict=True)
    return Dependence(found.parents, tuple(share * table + (1 - share) * marginal for table, marginal in both))


def tree_of(counts: Counts, marginals: Sequence[Floats]) -> Dependence:
    """The tree of the largest mutual information, for counts of pairs of codes; marginals may be of more rows.

    A pair of columns is joined only where it shows more than the best of as many independent ones would, and enough to
    pay for the numbers of its table on rows that it has not seen (Akaike).
    """
    sizes = [len(marginal) for marginal in marginals]
    starts = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    rows = int(counts.diagonal()[: starts[1]].sum())
    gains = _information(counts, starts[:-1]) - _price(np.array(sizes), rows)
    parents = _spanning(np.round(gains, _DIGITS))
    tables = []
    for i, parent in enumerate(parents):
        if parent < 0:
            tables.append(np.asarray(marginals[i])[None])
            continue
        block = counts[starts[parent] : starts[parent + 1], starts[i] : starts[i + 1]]
        tables.append((block + SMOOTHING * marginals[i]) / (block.sum(axis=1, keepdims=True) + SMOOTHING))
    return Dependence(tuple(parents), tuple(tables))


def _price(sizes: NDArray[np.intp], rows: int) -> Floats:
    """The mutual information that each pair of columns must exceed.

    That of independent columns is a chi-square by 2n, with as many degrees of freedom as the table has free numbers; of
    the columns' best partners about one exceeds the bound of Laurent and Massart (2000) at level 1/columns.
    """
    free, level = np.outer(sizes - 1, sizes - 1), math.log(len(sizes))
    return np.asarray(np.maximum(2 * free, free + 2 * np.sqrt(level * free) + 2 * level) / (2 * rows))


def _pairs(codes: Codes, sizes: Sequence[int]) -> Counts:
    """How often each code of a column comes with each code of another, for all columns side by side."""
    starts, codes_of_all = np.cumsum([0, *sizes[:-1]]), sum(sizes)
    total = np.zeros((codes_of_all, codes_of_all), np.int32)
    for first in range(0, codes.shape[1], _CHUNK):
        some = codes[:, first : first + _CHUNK] + starts[:, None]
        if kernels.compiled:
            _add_compiled(total, some)
        else:
            hot = np.zeros((some.shape[1], len(total)), np.float32)  # whole numbers this small stay exact
            hot[np.arange(len(hot)), some] = 1
            total += (hot.T @ hot).astype(np.int32)
    if kernels.compiled:
        for i in range(1, codes_of_all):  # line by line: a copy of the whole may be large
            total[i, :i] = total[:i, i]
    return total


def _add_compiled(total: Counts, some: Codes) -> None:
    """Add the pairs of codes of some rows, each pair once: above the diagonal."""
    octets = 8 * -(-some.shape[1] // _WORD)
    planes = np.zeros((len(total), octets), np.uint8)
    hot = np.zeros((len(total), some.shape[1]), np.bool_)
    hot[some, np.arange(some.shape[1])] = True
    packed = np.packbits(hot, axis=1)
    planes[:, : packed.shape[1]] = packed
    for first in range(0, len(total), _LINES):
        kernels.native.count_pairs(planes.view(np.uint64), total, first, min(len(total), first + _LINES))


def _information(counts: Counts, starts: list[int]) -> Floats:
    """Mutual information of each pair of columns, in nats: both entropies less that of the pair."""
    alone = counts.diagonal()
    rows = int(alone[: starts[1] if len(starts) > 1 else None].sum())
    whole = np.arange(rows + 1)
    parts = special.xlogy(whole, whole) / rows
    single = np.add.reduceat(parts[alone], starts)
    together = np.empty((len(starts), len(starts)))
    for i, (first, last) in enumerate(itertools.pairwise([*starts, len(counts)])):  # a pair for each code is a lot
        together[i] = np.add.reduceat(parts[counts[first:last]].sum(axis=0), starts)
    return np.asarray(together - single - single[:, None] + math.log(rows))


def _spanning(gains: NDArray[Any]) -> list[int]:
    """The parent of each column in the tree of the largest gains, grown from the first column; -1 without a gain."""
    parents, best = [-1] * len(gains), gains[0].copy()
    nearest, waiting = np.zeros(len(gains), np.intp), np.ones(len(gains), np.bool_)
    waiting[0] = False
    while waiting.any():
        i = int(np.argmax(np.where(waiting, best, -np.inf)))
        waiting[i] = False
        if best[i] > 0:
            parents[i] = int(nearest[i])
        closer = gains[i] > best
        best[closer], nearest[closer] = gains[i][closer], i
    return parents


def checked(parents: Any, tables: Any, sizes: Sequence[int]) -> Dependence:
    """A dependence read from a file; ValueError where it is none."""
    if len(parents) != len(sizes) or len(tables) != len(sizes):
        raise ValueError(f"it must have a parent and a table for each of the {len(sizes)} features")
    found = Dependence(tuple(parents), tuple(np.array(table, np.float64) for table in tables))
    for i, (parent, table) in enumerate(zip(found.parents, found.tables, strict=True)):
        if type(parent) is not int or not -1 <= parent < len(sizes):
            raise ValueError(f"parents must be places of features, or -1; got {parent!r:.40}")
        if table.shape != (1 if parent < 0 else sizes[parent], sizes[i]):
            raise ValueError(f"table {i} must have a row for each bin of its parent, and a column for each of its own")
        if not (table >= 0).all() or not np.allclose(table.sum(axis=1), 1, atol=1e-9):
            raise ValueError(f"rows of table {i} must be probabilities that add up to 1")
    if len(found.order) != len(sizes):
        raise ValueError("parents must not go round in a circle")
    return found
