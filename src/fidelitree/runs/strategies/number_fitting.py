"""What strategies ask of a search, for answers that are numbers: the counterpart of `fitting` and `sized_trees`."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fidelitree.search.labelled import HELD, Binning
from fidelitree.search.numbers.alternating import every_size
from fidelitree.search.numbers.growth import Numbers, errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fidelitree.asking.limits import Watch
    from fidelitree.runs.session import Session, TrainingSet
    from fidelitree.trees.nested import Nested
    from fidelitree.trees.tree import Tree

_ROWS_A_LEAF, _MOST, _STEP = 5, 128, 1.2
Floats = NDArray[np.float64]


class _Point(NamedTuple):
    leaves: int
    errors: int
    share: float
    tree: Nested


class NumberFitting:
    """Trees for the numbers at hand: most of them teach, the others are held out to choose a size by."""

    def __init__(self, session: Session, pool: TrainingSet, most: int | None) -> None:
        tolerance = session.attempts.tolerance
        assert tolerance is not None, "labels have a search of their own"
        self._answers, self._tolerance, self._watch = answers_of(session, pool.codes), tolerance, session.counted.watch
        self.binning, self._most = Binning.of(session.source.product, pool.inner), most
        held = np.arange(len(pool)) % HELD == HELD - 1
        self._some, self._enough = self._numbers(~held), 1.0
        # Leaves have one list of values, whoever judges them; where there are too few to hold any out, all judge.
        others = self._numbers(held, self._some) if held.any() else self._some
        self._others = replace(others, values=self._some.values)

    def _numbers(self, rows: slice | NDArray[np.bool_], like: Numbers | None = None) -> Numbers:
        return Numbers.of(self.binning, rows, self._answers[rows], self._tolerance, like)

    def improve(self, aim: float, steps: int) -> None:
        """Look for trees with this share of held-out errors, and half of it; without it there is no search."""
        self._enough = aim / 2

    @cached_property
    def points(self) -> list[_Point]:
        """One tree for each of some sizes, each with fewer errors than those before it."""
        largest = max(1, min(_MOST if self._most is None else self._most, len(self._some) // _ROWS_A_LEAF))
        found = every_size(self._some, sizes_to(largest), self._watch, lambda tree: self.share(tree) <= self._enough)
        return [_Point(size, wrong, self.share(tree), tree) for size, (tree, wrong) in found.items()]

    def reaching(self, aim: float) -> Nested | None:
        """The smallest tree with at most this share of held-out errors."""
        return next((point.tree for point in self.points if point.share <= aim), None)

    def most_faithful(self) -> Nested:
        """The tree with the fewest held-out errors."""
        return min(self.points, key=lambda point: (point.share, point.leaves)).tree

    def share(self, candidate: Nested) -> float:
        """The share of held-out answers that a tree is too far from."""
        return errors(self._others, candidate) / len(self._others)

    def fitted(self, most: int) -> float:
        """The share of wrong answers, among those that the trees of at most so many leaves were fitted to."""
        return min(point.errors for point in self.points if point.leaves <= most) / len(self._some)

    def held(self) -> float:
        """The smallest share of held-out errors."""
        return min(point.share for point in self.points)

    def on_all(self, sizes: Sequence[int], aim: float, steps: int) -> list[Nested]:
        """Trees of these sizes fitted to all answers."""
        everything = replace(self._numbers(slice(None)), values=self._some.values)
        wanted = sorted({min(size, self._most or size) for size in sizes})
        return [tree for tree, _ in every_size(everything, wanted, self._watch).values()]

    def carried_on(self, sizes: Sequence[int], steps: int) -> list[Nested]:
        """The same; sizes that may not be are left out."""
        return self.on_all([size for size in sizes if self._most is None or size <= self._most] or [1], 0.0, steps)

    def tree(self, sketch: Nested, book: Any) -> Tree:
        """A tree of inputs; its leaves hold numbers."""
        return _with_values(self.binning, sketch, self._some.values)


class NumberTrees:
    """Trees of all sizes for the answers of a run, from one leaf up."""

    def __init__(self, session: Session, pool: TrainingSet, sizes: Sequence[int], watch: Watch | None = None) -> None:
        tolerance = session.attempts.tolerance
        assert tolerance is not None, "labels have a search of their own"
        self._binning, self._sizes = Binning.of(session.source.product, pool.inner), sizes
        answers = answers_of(session, pool.codes)
        self._numbers = Numbers.of(self._binning, slice(None), answers, tolerance)
        self._watch = watch or session.counted.watch
        self._found: dict[int, tuple[Nested, int]] = {1: self._numbers.leaf(np.arange(len(answers)))}

    def improve(self, steps: int, again: bool = True) -> None:
        """Look for them; the clock may end it, and then there is a constant."""
        self._found = every_size(self._numbers, self._sizes, self._watch)

    def trees(self, sizes: Sequence[int] | None = None) -> list[Tree]:
        """One for each size, with at most so many leaves."""
        best = (max(found for found in self._found if found <= size) for size in sizes or self._sizes)
        return [_with_values(self._binning, self._found[size][0], self._numbers.values) for size in best]

    def spread(self) -> Sequence[int]:
        """The sizes that were asked for."""
        return self._sizes

    def surrogate(self) -> None:
        """None: numbers are tested without one."""


def sizes_to(most: int) -> list[int]:
    """Numbers of leaves that are looked at: all small ones, and a fifth more each time afterwards.

    >>> sizes_to(20)
    [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20]
    """
    found = [1]
    while found[-1] < most:
        found.append(min(most, max(found[-1] + 1, int(_STEP * found[-1] + 0.5))))
    return found


def answers_of(session: Session, codes: NDArray[np.intp]) -> Floats:
    """The numbers that codes stand for."""
    return np.asarray(session.counted.labels(codes), np.float64)


def _with_values(binning: Binning, sketch: Nested, values: Sequence[float]) -> Tree:
    used = sorted({values[code] for code in _codes(sketch)})
    places = {value: place for place, value in enumerate(used)}
    return binning.tree(sketch, [places.get(value, -1) for value in values], used)


def _codes(nested: Nested) -> list[int]:
    return [*_codes(nested[1]), *_codes(nested[2])] if isinstance(nested, tuple) else [nested]
