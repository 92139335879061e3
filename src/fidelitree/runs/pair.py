"""Two targets asked as one: each through a door of its own, the same inputs, answers side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.call import Direct
from fidelitree.asking.counted import Counted
from fidelitree.asking.events import Observer, nobody
from fidelitree.asking.memory import CHECKED, REMEMBERED_BYTES, Memory
from fidelitree.targets.labels import LabelBook

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fidelitree.asking.call import Part
    from fidelitree.asking.guarded import Inner
    from fidelitree.asking.limits import Budget, Running
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.targets.labels import Target

_BASE = 1 << 20  # more labels than a model has: a pair of codes is one number
Codes = NDArray[np.intp]


class _Both:
    """A way to both targets; their labels are numbered in one book, so that equal labels have equal codes."""

    def __init__(self, ways: tuple[Direct, Direct], book: LabelBook) -> None:
        self._ways, self._book = ways, book

    def parts(self, inner: Inner, purpose: str) -> Iterator[Part]:
        old, new = (self._codes(way, inner, purpose) for way in self._ways)
        yield 0, old * _BASE + new

    def _codes(self, way: Direct, inner: Inner, purpose: str) -> NDArray[np.int64]:
        codes = np.empty(len(inner), np.int64)
        for start, labels in way.parts(inner, purpose):
            codes[start : start + len(labels)] = self._book.encode(labels)
        return codes


class Pair:
    """Compares two targets: every input counts once, however many models answer it."""

    def __init__(
        self,
        targets: tuple[Target, Target],
        space: ProductSpace,
        budget: Budget,
        running: Running,
        deterministic: bool = True,
        observer: Observer = nobody,
    ) -> None:
        self.book = LabelBook()
        """The labels of both."""
        old, new = (
            Direct(one, space, self.book, running.batch_size, running.retries, budget.max_seconds) for one in targets
        )
        memory = Memory.within(REMEMBERED_BYTES, space, CHECKED) if deterministic else None
        self.counted = Counted(targets[0], space, memory, budget, observer=observer, calls=_Both((old, new), self.book))

    def ask(self, inner: NDArray[Any], purpose: str) -> tuple[Codes, Codes]:
        """The codes of the old and the new labels; BudgetSpent before it would ask too much."""
        if not len(inner):
            return np.zeros(0, np.intp), np.zeros(0, np.intp)
        codes = self.counted.ask(inner, purpose)
        pairs = np.array(self.counted.book.seen, np.int64)[codes]
        return (pairs // _BASE).astype(np.intp), (pairs % _BASE).astype(np.intp)
