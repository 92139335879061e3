"""Trees of all sizes for the answers of a run, from one leaf up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fidelitree.runs.number_fitting import NumberTrees
from fidelitree.search.labelled import Binning
from fidelitree.search.local.every_size import EverySize
from fidelitree.theory.sequential import ROUND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fidelitree.asking.limits import Watch
    from fidelitree.runs.session import Session, TrainingSet
    from fidelitree.trees.tree import Tree

LARGEST = 64
"""Leaves of the largest tree that is looked for, unless another number is given."""
_FREE, _MOST_FREE = 2, 20_000  # free inputs: times the labels, and at most
_MANY = 200  # labels, from which on a strong model may be one
_WORK = 4e9  # label counts that one search may take, about: a minute of it


def sizes_up_to(most: int) -> list[int]:
    """Numbers of leaves, from 1 up to ``most``, evenly spread on a logarithmic scale; nine of them, as one round has.

    >>> sizes_up_to(64), sizes_up_to(4), sizes_up_to(1)
    ([1, 2, 3, 5, 8, 13, 23, 38, 64], [1, 2, 3, 4], [1])
    """
    return sorted({round(size) for size in np.geomspace(1, float(most), ROUND).tolist()})


def sized_trees(
    session: Session,
    pool: TrainingSet,
    sizes: Sequence[int],
    seed: int,
    free: bool = False,
    watch: Watch | None = None,
) -> SizedTrees | NumberTrees:
    """The search for labels, or that for numbers."""
    if session.attempts.tolerance is not None:
        return NumberTrees(session, pool, sizes, watch)
    return SizedTrees(session, pool, sizes, seed, free, watch)


class SizedTrees:
    """A search on the answers that may teach; where it is ended, what was found is known."""

    def __init__(
        self,
        session: Session,
        pool: TrainingSet,
        sizes: Sequence[int],
        seed: int,
        free: bool = False,
        watch: Watch | None = None,
    ) -> None:
        """With ``free``, inputs that nobody is asked about help the search; ``watch`` may end it before the run's."""
        self._session, self._sizes = session, sizes
        draws = free and len(pool) >= _MANY
        self._free = session.source.free(min(_FREE * len(pool), _MOST_FREE) if draws else 0)
        self._binning = Binning.of(session.source.product, np.concatenate([pool.inner, self._free]))
        coded = self._binning.coded(pool.codes, slice(len(pool)))
        self._search = EverySize(coded, sizes, seed, watch or session.counted.watch)
        self._work = pool.inner.size * len(session.counted.book.seen) * len(sizes)

    def improve(self, steps: int, again: bool = True) -> None:
        """So many proposals near each size, or what is affordable; and twice, if ``again``."""
        steps = int(min(steps, max(10, _WORK / self._work)))
        self._search.improve(steps, again)
        if len(self._free):
            unknown = np.zeros(len(self._free), np.intp)
            self._search.go_on_with(self._binning.coded(unknown, slice(-len(unknown), None)), steps)

    def trees(self) -> list[Tree]:
        """One for each size, with at most so many leaves."""
        book = self._session.counted.book
        return [self._binning.tree(tree, book.ranks(), book.sorted()) for tree in self._search.trees()]
