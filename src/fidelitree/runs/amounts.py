"""Whole numbers that are amounts, as counts and rounded prices are: taken for classes, no small tree repeats them.

The first answers tell. Classes are few; and where a tree takes one class for another, their numbers say nothing. With
amounts a tree that is mistaken is close.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import go_on
from fidelitree.runs.economics import AT_LEAST
from fidelitree.runs.size_grid import LARGEST
from fidelitree.search.labelled import HELD, Binning
from fidelitree.search.local.moves import engine
from fidelitree.search.local.splits import MANY

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted
    from fidelitree.spaces.product import ProductSpace

_PARTS = 8  # of the numbers, from small to large
_CLOSE = 0.4  # correlation of wrong eighths with the right ones: 0.55 and more for regressors, below 0.25 for classes


class FirstAnswers:
    """Waits for the first answers to drawn inputs of a run that takes them for classes, and looks at them once."""

    def __init__(self) -> None:
        self._kept: list[tuple[NDArray[Any], NDArray[np.intp]]] | None = []

    def amounts(self, counted: Counted, inner: NDArray[Any], codes: NDArray[np.intp]) -> str:
        """What to say of them if they are amounts; nothing if they are not, or not all are there, or it was said."""
        if self._kept is None or counted.book.kind != "int":
            return ""
        self._kept.append((inner, codes))
        if sum(len(some) for _, some in self._kept) < AT_LEAST:
            return ""
        rows, answers = (np.concatenate(parts) for parts in zip(*self._kept, strict=True))
        self._kept = None
        if not are_amounts(counted.space, rows, answers, counted.book.seen):
            return ""
        return (
            f"the target answers amounts, not classes: {len(counted.book.seen)} different whole numbers so far. "
            f"See docs/numbers.md: give threshold= (a score above it means 1) or tolerance= (how far off still agrees)"
        )


def are_amounts(space: ProductSpace, inner: NDArray[Any], codes: NDArray[np.intp], numbers: Sequence[int]) -> bool:
    """Whether trees miss most of these numbers, but tell large from small: eighths that they miss are close by."""
    if len(numbers) <= MANY:
        return False
    values, binning = np.asarray(numbers, np.float64)[codes], Binning.of(space, inner)
    guess, truth = _told(binning, codes)
    if 2 * np.count_nonzero(guess == truth) >= len(truth):
        return False
    eighths = np.searchsorted(np.quantile(values, np.arange(1, _PARTS) / _PARTS), values)
    guess, truth = _told(binning, eighths)
    wrong = guess != truth
    if not wrong.any():
        return True
    return bool(guess[wrong].std() and truth[wrong].std() and np.corrcoef(guess[wrong], truth[wrong])[0, 1] > _CLOSE)


def _told(binning: Binning, codes: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Of every fourth row the code by a tree that the others taught, and its own."""
    held = np.arange(len(codes)) % HELD == 0
    tree = engine(binning.coded(codes[~held], ~held), None, go_on).cart(LARGEST).nested()
    return np.asarray(binning.coded(codes[held], held).predict(tree), np.intp), codes[held]
