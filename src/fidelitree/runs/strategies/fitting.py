"""Trees for the answers at hand: a search on most of them, and the others held out to choose a size by."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from fidelitree.search.labelled import HELD, Binning
from fidelitree.search.local.iterated import Refiner
from fidelitree.search.numbers.alternating import every_size
from fidelitree.search.numbers.growth import Numbers, errors

if TYPE_CHECKING:
    from fidelitree.runs.session import Session, TrainingSet
    from fidelitree.search.local.by_leaves import Point
    from fidelitree.trees.nested import Nested
    from fidelitree.trees.tree import Tree

_ROWS_A_LEAF, _MOST, _STEP = 5, 128, 1.2


class Fitting(ABC):
    """A search over answers; ``most`` is the number of leaves that a tree may have, None is no limit."""

    total: float
    """The weight of the answers that teach."""

    def __init__(self, session: Session, pool: TrainingSet, most: int | None) -> None:
        self._session, self._pool, self._most = session, pool, most
        self._binning = Binning.of(session.source.product, pool.inner)
        self._held = np.arange(len(pool)) % HELD == HELD - 1

    @abstractmethod
    def improve(self, aim: float, steps: int) -> None:
        """Look for trees with a share of held-out errors near this."""

    @abstractmethod
    def points(self, most: int | None = None) -> Sequence[Sized]:
        """The best trees found, up to so many leaves, each larger one with fewer errors."""

    @abstractmethod
    def share(self, candidate: Nested) -> float:
        """The share of held-out answers that a tree gets wrong."""

    @abstractmethod
    def on_all(self, sizes: Sequence[int], aim: float, steps: int) -> list[Nested]:
        """Trees of these sizes fitted to all answers: they may be too few for some to be left out."""

    @abstractmethod
    def carried_on(self, sizes: Sequence[int], steps: int) -> list[Nested]:
        """The same from where the search has come to, for as many steps again; sizes that may not be are left out."""

    @abstractmethod
    def tree(self, sketch: Nested) -> Tree:
        """A tree of inputs."""

    def reaching(self, aim: float) -> Nested | None:
        """The smallest tree with at most this share of held-out errors, if one of them may be as large."""
        return next((point.tree for point in self.points() if point.share <= aim), None)

    def most_faithful(self) -> Nested:
        """The tree with the fewest held-out errors."""
        return min(self.points(), key=lambda point: (point.share, point.leaves)).tree

    def fitted(self, most: int) -> float:
        """The share of wrong answers, among those that the trees of at most so many leaves were fitted to."""
        return self.points(most)[-1].errors / self.total

    def held(self) -> float:
        """The smallest share of held-out errors."""
        return min(point.share for point in self.points())


class LabelFitting(Fitting):
    """Trees of labels."""

    def __init__(self, session: Session, pool: TrainingSet, most: int | None, seed: int) -> None:
        super().__init__(session, pool, most)
        self._seed, self._watch, held = seed, session.counted.watch, self._held
        some = self._binning.coded(pool.codes[~held], ~held)
        # Where there are too few to hold any out, all judge.
        self._others = self._binning.coded(pool.codes[held], held) if held.any() else some
        self._refiner, self.total = Refiner(some, self._others, seed, self._watch), some.total
        self._everything: Refiner | None = None

    def tree(self, sketch: Nested) -> Tree:
        book = self._session.counted.book
        return self._binning.tree(sketch, book.ranks(), book.sorted())

    def improve(self, aim: float, steps: int) -> None:
        self._refiner.improve(aim, steps)

    def most_faithful(self) -> Nested:
        """Of the larger ones only some are looked at."""
        points = self.points()
        some = sorted({round(len(points) * 0.8**k) for k in range(20)} & set(range(len(points)))) or [0]
        return min((points[k] for k in {*some, len(points) - 1}), key=lambda point: (point.share, point.leaves)).tree

    def share(self, candidate: Nested) -> float:
        return self._others.errors(candidate) / self._others.total

    def on_all(self, sizes: Sequence[int], aim: float, steps: int) -> list[Nested]:
        if self._everything is None:
            self._everything = Refiner(self._binning.coded(self._pool.codes), None, self._seed, self._watch)
            self._everything.improve(aim, steps)
        return [self._everything.with_leaves(min(leaves, self._most or leaves)).tree for leaves in sizes]

    def carried_on(self, sizes: Sequence[int], steps: int) -> list[Nested]:
        everything = self._refiner.carried_on(self._binning.coded(self._pool.codes), steps)
        return [everything.with_leaves(leaves).tree for leaves in sizes if self._most is None or leaves <= self._most]

    def points(self, most: int | None = None) -> list[Point]:
        limit = min((leaves for leaves in (most, self._most) if leaves is not None), default=None)
        return [point for point in self._refiner.points() if limit is None or point.leaves <= limit]


class NumberPoint(NamedTuple):
    """A tree of numbers with its errors on the answers that taught, and the share of held-out ones."""

    leaves: int
    errors: int
    share: float
    tree: Nested


Sized = Union["Point", NumberPoint]
"""A tree with its leaves, its errors and its share of held-out ones."""


class NumberFitting(Fitting):
    """Trees of numbers, which are right within a tolerance."""

    def __init__(self, session: Session, pool: TrainingSet, most: int | None) -> None:
        super().__init__(session, pool, most)
        self._some, self._enough = self._numbers(~self._held), 1.0
        # Leaves have one list of values, whoever judges them; where there are too few to hold any out, all judge.
        others = self._numbers(self._held, self._some) if self._held.any() else self._some
        self._others, self.total = replace(others, values=self._some.values), len(self._some)

    def _numbers(self, rows: slice | NDArray[np.bool_], like: Numbers | None = None) -> Numbers:
        return self._pool.numbers(self._binning, rows, like)

    def improve(self, aim: float, steps: int) -> None:
        """This share, and half of it; without it there is no search."""
        self._enough = aim / 2

    @cached_property
    def _points(self) -> list[NumberPoint]:
        largest = max(1, min(_MOST if self._most is None else self._most, len(self._some) // _ROWS_A_LEAF))
        sizes, watch = sizes_to(largest), self._session.counted.watch
        found = every_size(self._some, sizes, watch, lambda tree: self.share(tree) <= self._enough)
        return [NumberPoint(size, wrong, self.share(tree), tree) for size, (tree, wrong) in found.items()]

    def points(self, most: int | None = None) -> list[NumberPoint]:
        return [point for point in self._points if most is None or point.leaves <= most]

    def share(self, candidate: Nested) -> float:
        return errors(self._others, candidate) / len(self._others)

    def on_all(self, sizes: Sequence[int], aim: float, steps: int) -> list[Nested]:
        everything = replace(self._numbers(slice(None)), values=self._some.values)
        wanted = sorted({min(size, self._most or size) for size in sizes})
        return [tree for tree, _ in every_size(everything, wanted, self._session.counted.watch).values()]

    def carried_on(self, sizes: Sequence[int], steps: int) -> list[Nested]:
        return self.on_all([size for size in sizes if self._most is None or size <= self._most] or [1], 0.0, steps)

    def tree(self, sketch: Nested) -> Tree:
        return self._some.tree(sketch)


def sizes_to(most: int) -> list[int]:
    """Numbers of leaves that are looked at: all small ones, and a fifth more each time afterwards.

    >>> sizes_to(20)
    [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20]
    """
    found = [1]
    while found[-1] < most:
        found.append(min(most, max(found[-1] + 1, int(_STEP * found[-1] + 0.5))))
    return found
