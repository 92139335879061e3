"""A tree that keeps up with the answers: search over what is known, and questions where it is wrong.

When the tree is wrong about an input, another input of the same leaf has the other label; walking from one to the
other by halves finds a feature that matters in a few queries.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import Watch, go_on
from fidelitree.asking.threads import one_thread
from fidelitree.search.bits import junta
from fidelitree.search.bits.conflicts import RelevantCells, distances
from fidelitree.search.bits.lookahead import AHEAD
from fidelitree.search.bits.pool import Bits, Codes, Pool
from fidelitree.search.bits.sketch import LabelledRows, Search, predict
from fidelitree.search.bits.walk import walk
from fidelitree.search.labelled import ENOUGH
from fidelitree.search.optimal.affordable import LISTED
from fidelitree.search.questions import Ask, Steps, together
from fidelitree.trees.kernels import compiled
from fidelitree.trees.nested import size

if TYPE_CHECKING:
    from fidelitree.trees.nested import Nested

SPLIT = 0.85  # what a split costs, in errors
SEARCH_ALL = 24  # up to so many features the search looks at all of them
SHOWN = 24  # answers that are taken in at a time: a tree is asked about the mistakes among them
STALLED = 192  # drawn answers: a target that a look-ahead sees into is known by then


class BitLearner:
    """Holds the answers, the features known to matter, and the tree that fits both."""

    def __init__(
        self,
        features: int,
        random: np.random.Generator,
        watch: Watch = go_on,
        *,
        parts: int = 2,
        side_by_side: int = 1,
    ) -> None:
        """Walks are in this many ``parts``, and this many of them go ``side_by_side``."""
        self.pool = Pool(features)
        self._cells = RelevantCells(self.pool)
        self.tabulates = False
        """Whether the table over the relevant features is what it learns."""
        self._complete = False
        self._checked = False  # whether an answer could have shown another feature, and did not
        self.relevant: list[int] = []
        """Features that were seen to matter somewhere."""
        self.sketch: Nested | None = None
        self._features, self._random, self._watch, self._parts = features, random, watch, parts
        self._together, self._search = side_by_side, Search()

    @property
    def known(self) -> int:
        """Inputs whose answers it knows."""
        return self.pool.size

    @property
    def all_searched(self) -> bool:
        """Whether there are so few features that trees test any of them."""
        return self._features <= SEARCH_ALL

    @property
    def by_heart(self) -> bool:
        """Whether its tree only repeats what it was told."""
        return self.sketch is not None and size(self.sketch) * ENOUGH > self.known

    @property
    def _searched(self) -> list[int]:
        """The features that trees test: all of a few, of many those that are known to matter once some are."""
        return sorted(self.relevant) if self.relevant and not self.all_searched else list(range(self._features))

    def learn(self, bits: Bits, codes: Codes, wrong: NDArray[np.bool_] | None = None) -> Steps[NDArray[np.bool_]]:
        """Take answers in; which of them the tree had ``wrong``, unless that is known already."""
        wrong = self.wrong(bits, codes) if wrong is None else wrong
        mistaken = bool(wrong.any())
        if self.sketch is not None:
            self.pool.stress(bits[wrong])
        self._checked = self._checked or self._checks(bits)
        self.pool.add(bits, codes)
        if mistaken:
            yield from self._settle_conflicts()
            if not (self.sketch is None or self.tabulates or self.all_searched):
                yield from self._explain(bits[wrong], codes[wrong])
            if not (yield from self._tabulate()):
                self.refit()
        return wrong

    def wrong(self, bits: Bits, codes: Codes) -> NDArray[np.bool_]:
        """Return which of these inputs the tree has wrong: all of them before there is one."""
        if self.sketch is None:
            return np.ones(len(codes), np.bool_)
        found: NDArray[np.bool_] = predict(self.sketch, bits) != codes
        return found

    def search(self, bits: Bits, codes: Codes, wrong: NDArray[np.bool_]) -> None:
        """Take answers in without asking anything; the tree had some of them ``wrong``."""
        self.pool.stress(bits[wrong])
        self.pool.add(bits, codes)
        if wrong.any():
            self.refit()

    def _tabulate(self) -> Steps[bool]:
        """Ask the table over the relevant features if it seems complete and costs no more than was paid; whether it is.

        So a table that was in vain has at most doubled the labels. A table of all features is the whole space: it need
        not be known while a test may do with less.
        """
        self._complete = False
        while 1 << len(self.relevant) <= LISTED and self._checked:
            missing, before = junta.missing(self.pool.bits, self.relevant), len(self.relevant)
            if not len(missing):
                self._know_table()
                return True
            paid = 0 if before == self._features else self.pool.size
            self.tabulates = len(missing) <= paid
            if not self.tabulates:
                return False
            others = self.pool.bits[self._random.integers(self.pool.size, size=len(missing))]
            seen = yield Ask(junta.members(missing, self.relevant, others), "walk")
            self.pool.add(seen.inner, seen.codes)
            yield from self._settle_conflicts()
        self.tabulates = False
        return False

    def _checks(self, bits: Bits) -> bool:
        """Whether one of these inputs agrees with a known one on all relevant features: their labels may differ."""
        return bool(self.relevant) and self._cells.known(bits, self.relevant)

    @property
    def confirmations(self) -> int:
        """Answers that a complete table did not need, and that agree with it; 0 where it is not complete."""
        return self.pool.size - (1 << len(self.relevant)) if self._complete else 0

    def _know_table(self) -> None:
        self._complete = True
        table = np.empty(1 << len(self.relevant), np.intp)
        table[junta.cells(self.pool.bits, self.relevant)] = self.pool.codes
        self.sketch = junta.tree(table, self.relevant)

    def refit(self) -> None:
        """Search for the tree that fits all answers; where its watch ends it, the tree stays as it was."""
        pool = self.pool
        used = self._searched
        bits = pool.bits if self.all_searched else pool.bits.take(used, axis=1)
        rows = LabelledRows(bits, pool.codes, pool.weights, np.full(len(used), SPLIT, np.float32), tuple(used))
        horizon = AHEAD if len(used) <= SEARCH_ALL else AHEAD - 1
        if not (self.relevant or self.all_searched):
            horizon = 1  # nothing is known of so many features
        with nullcontext() if compiled and rows.countable else one_thread():  # only NumPy has threads
            self.sketch = self._search.fit(rows, horizon, self.sketch, self._watch)

    def _settle_conflicts(self) -> Steps[None]:
        """Two inputs that agree on all relevant features but not in their label show that another one matters."""
        while pairs := self._cells.conflicts(self.relevant, self._watch, self._together):
            bits, codes = self.pool.bits, self.pool.codes
            yield from together([self.walk(bits[one], bits[two], codes[one]) for one, two in pairs])

    def _explain(self, bits: Bits, codes: Codes) -> Steps[None]:
        """Look into mistakes where trees test only features that are known to matter: others may be missing."""
        for start in range(0, len(bits), self._together):
            some = slice(start, start + self._together)
            yield from together([self._look_into(*one) for one in zip(bits[some], codes[some], strict=True)])

    def _look_into(self, row: Bits, code: int) -> Steps[None]:
        other = self._partner(row, code)
        if other is None or (yield from self._answer(row)) != code:  # noise may have answered otherwise before
            return
        mixed = other.copy()
        mixed[self.relevant] = row[self.relevant]
        if (yield from self._answer(mixed)) != code:
            yield from self.walk(row, mixed, code)

    def _partner(self, row: Bits, code: int) -> Bits | None:
        """The closest input of the same leaf that has another label."""
        path, node = [], self.sketch
        while isinstance(node, tuple):
            path.append(node[0].feature)
            node = node[2] if row[node[0].feature] else node[1]
        bits, codes = self.pool.bits, self.pool.codes
        rows = np.flatnonzero((bits[:, path] == row[path]).all(axis=1) & (codes != code))
        if not len(rows):
            return None
        near = self.relevant or slice(None)
        closest = int(distances(row[None, near], bits[rows][:, near]).argmin())
        other: Bits = bits[rows[closest]]
        return other

    def walk(self, one: Bits, two: Bits, code: int) -> Steps[int]:
        """Find a feature that matters between two inputs with different labels."""

        def same(rows: Bits) -> Steps[NDArray[np.bool_]]:
            return np.equal((yield from self.answers(rows)), code)

        found = yield from walk(one, two, same, self._random, self._parts)
        if found not in self.relevant:
            self.relevant.append(found)
            self._checked = False
        return found

    def _answer(self, row: Bits) -> Steps[int]:
        return int((yield from self.answers(row[None]))[0])

    def answers(self, rows: Bits) -> Steps[Codes]:
        """Labels of inputs; those that are not known are asked together."""
        missing = self.pool.unknown(rows)
        if missing:
            seen = yield Ask(rows if len(missing) == len(rows) else rows[missing], "walk")
            self.pool.add(seen.inner, seen.codes)
            if len(missing) == len(rows):
                return seen.codes
        return self.pool.codes_of(rows)
