"""Trees of all sizes for the answers of a run, from one leaf up."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.search.labelled import Binning
from fidelitree.search.local.every_size import EverySize
from fidelitree.search.numbers.alternating import every_size
from fidelitree.theory.sequential import ROUND

if TYPE_CHECKING:
    from fidelitree.asking.limits import Watch
    from fidelitree.runs.session import Session, TrainingSet
    from fidelitree.search.local.coded import Coded, Codes
    from fidelitree.trees.nested import Nested
    from fidelitree.trees.tree import Tree

LARGEST = 64
"""Leaves of the largest tree that is looked for, unless another number is given."""
FREE, MOST_FREE = 2, 20_000  # free inputs: times the labels, and at most
_MANY = 200  # labels, from which on a strong model may be one
_WORK, _LITTLE, _MORE = 4e9, 1e9, 10  # label counts that a search may take: a minute, or a moment, of so many steps


def sizes_up_to(most: int) -> list[int]:
    """Numbers of leaves, from 1 up to ``most``, evenly spread on a logarithmic scale; nine of them, as one round has.

    >>> sizes_up_to(64), sizes_up_to(4), sizes_up_to(1)
    ([1, 2, 3, 5, 8, 13, 23, 38, 64], [1, 2, 3, 4], [1])
    """
    return sorted({round(size) for size in np.geomspace(1, float(most), ROUND).tolist()})


def filled(sizes: Sequence[int], most: int) -> list[int]:
    """Those below ``most``, ``most`` itself, and more where gaps are widest, as many as one round has room for.

    >>> filled([1, 2, 3, 5, 8, 13, 23, 38, 64], 15), filled([1, 2, 3, 4], 4)
    ([1, 2, 3, 4, 5, 8, 10, 13, 15], [1, 2, 3, 4])
    """
    found = [*(size for size in sizes if size < most), most]
    while len(found) < ROUND:
        gaps = [(two / one, one * two) for one, two in pairwise(found) if two - one > 1]
        if not gaps:
            break
        found = sorted([*found, round(max(gaps)[1] ** 0.5)])
    return found


def sized_trees(
    session: Session, pool: TrainingSet, sizes: Sequence[int], seed: int, free: int = 0, watch: Watch | None = None
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
        free: int = 0,
        watch: Watch | None = None,
    ) -> None:
        """``free`` inputs, about which nobody is asked, help the search; ``watch`` may end it before the run's."""
        self._session, self._sizes, self._labels = session, sizes, len(pool)
        self._free = session.source.free(free if len(pool) >= _MANY else 0)
        self._binning = Binning.of(session.source.product, np.concatenate([pool.inner, self._free]))
        coded = self._binning.coded(pool.codes, slice(len(pool)))
        self._search = EverySize(coded, sizes, seed, watch or session.counted.watch)
        self._codes = np.zeros(len(self._free), np.intp)
        self._new = self._told = np.zeros(len(self._free), np.bool_)
        self._work = pool.inner.size * len(session.counted.book.seen) * len(sizes)

    def improve(self, steps: int, again: bool = True) -> None:
        """So many proposals near each size, or what is affordable; and twice, if ``again``."""
        self._search.improve(self._affordable(steps, _MORE if again else 1), again)

    def doubted(self, most: int) -> NDArray[Any]:
        """The free inputs on which learners of several kinds do not agree, those left out whose labels were told.

        Where they are more than ``most``, the last free inputs are given up, as long as the usual number is left; once
        labels were told, only the first of them are given.
        """
        if len(self._free):
            self._new = self._search.doubted(self._coded(self._codes), self._told)
            few = np.cumsum(self._new) <= most
            if self._told.any():
                self._new &= few
            else:
                left = max(int(few.sum()), min(FREE * self._labels, MOST_FREE))
                self._free, self._codes = self._free[:left], self._codes[:left]
                self._new, self._told = self._new[:left], self._told[:left]
        return self._free[self._new]

    def tell(self, codes: Codes) -> None:
        """The answers to what was doubted."""
        self._codes[self._new] = codes
        self._told |= self._new

    def go_on(self, steps: int, agreed: bool) -> None:
        """The same with free inputs; where learners ``agreed`` in the end, all their labels are as good as known."""
        if len(self._free):
            told = self._told if agreed else None
            self._search.go_on_with(self._coded(self._codes), self._affordable(steps, _MORE), told)

    def _coded(self, codes: Codes) -> Coded:
        """Free inputs."""
        return self._binning.coded(codes, slice(self._labels, self._labels + len(codes)))

    def _affordable(self, steps: int, more: int) -> int:
        """So many steps, or what there is time for; up to ``more`` times as many where labels are few."""
        return int(min(max(steps, min(more * steps, _LITTLE / self._work)), max(10, _WORK / self._work)))

    def trees(self, sizes: Sequence[int] | None = None) -> list[Tree]:
        """One for each size, or for others than were asked for, with at most so many leaves."""
        return self._built(self._search.trees(sizes))

    def rivals(self) -> list[Tree]:
        """Others that may have fewer errors where no row teaches."""
        return self._built(self._search.rivals())

    def _built(self, trees: Sequence[Nested]) -> list[Tree]:
        book = self._session.counted.book
        return [self._binning.tree(tree, book.ranks(), book.sorted()) for tree in trees]

    def spread(self) -> list[int]:
        """The sizes up to the largest tree that was found, and some between them: as many as one round has."""
        return filled(self._sizes, self._search.most)


class NumberTrees:
    """The same for targets that answer numbers; the clock may end the search, and then there is a constant."""

    def __init__(self, session: Session, pool: TrainingSet, sizes: Sequence[int], watch: Watch | None = None) -> None:
        self._numbers = pool.numbers(Binning.of(session.source.product, pool.inner))
        self._sizes, self._watch = sizes, watch or session.counted.watch
        self._found: dict[int, tuple[Nested, int]] = {1: self._numbers.leaf(np.arange(len(pool)))}

    def improve(self, steps: int, again: bool = True) -> None:
        """Look for them."""
        self._found = every_size(self._numbers, self._sizes, self._watch)

    def trees(self, sizes: Sequence[int] | None = None) -> list[Tree]:
        """One for each size, with at most so many leaves."""
        best = (max(found for found in self._found if found <= size) for size in sizes or self._sizes)
        return [self._numbers.tree(self._found[size][0]) for size in best]

    def spread(self) -> Sequence[int]:
        """The sizes that were asked for."""
        return self._sizes
