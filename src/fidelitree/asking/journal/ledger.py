"""The attempts of a run, numbered, and the keys that let test inputs bear witness to them.

**Keys.** Inputs are drawn from streams that are named by a key. Opening an attempt makes a new one: a hash of the key
so far and of what was opened, its ledger, its tree and its place in the two streams. So the inputs that an attempt
counts depend on its tree, and a tree that was changed afterwards has other test inputs, which nobody was asked about.
It costs no label, and one seed still gives one result. The first attempt's key follows from what is promised: the
space, delta, the tolerance, and whether the target may answer differently each time. They cannot be changed afterwards
either: where features are many, test inputs alone leave room for spaces in which the tree errs far more often. Rows of
a table come in an order that no key changes.

**Numbers.** A run that is resumed with other limits goes through the same inputs as long as it opens the same
attempts at the same places. Its user sees the certificates of both runs, so they share one delta: every run with
limits of its own takes numbers of its own, after those of the runs before. The same run, resumed after a crash, has
its old ones. Where inputs are not keyed, an attempt that no earlier run has opened at this place counts no input that
an earlier run has drawn: whoever chose the new limits had seen what came of them.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from fidelitree.asking.journal.records import Opened
from fidelitree.errors import TargetError
from fidelitree.theory.sequential import STANDING

if TYPE_CHECKING:
    from fidelitree.asking.journal.journal import Journal
    from fidelitree.trees.tree import Tree

LABEL, TEST = "label", "test"
"""The two streams of inputs."""
FIRST_KEY = "0"
"""The key of the inputs before the first attempt."""


class KeyedInputs(Protocol):
    """Where inputs come from, as far as a ledger knows."""

    @property
    def keyed(self) -> bool:
        """Whether a key changes the inputs to come."""

    @property
    def drawn(self) -> tuple[int, int]:
        """How many inputs were given out for learning, and for tests."""

    def rekey(self, key: str) -> None:
        """Draw from the streams of another key from now on."""


@dataclass(frozen=True)
class LedgerEntry:
    """The place of an attempt in a ledger, and how many of the inputs to come, of each stream, are not for it."""

    ledger: str
    number: int
    waits: Mapping[str, int] = field(default_factory=dict)


def promised(space: str, delta: float, tolerance: float | None, deterministic: bool) -> str:
    """What the key of the first attempt follows from: a hash of what is promised; ``space`` is its digest."""
    told = [space, float(delta), None if tolerance is None else float(tolerance), deterministic]
    return hashlib.sha256(json.dumps(told, separators=(",", ":")).encode()).hexdigest()


def next_key(key: str, opened: Opened) -> str:
    """The key after an attempt was opened."""
    return opened.key_after(key)


class Ledger:
    """The attempts of one run; ``journal`` keeps them, where there is one. The first key follows ``promise``."""

    def __init__(self, inputs: KeyedInputs, journal: Journal | None = None, promise: str = FIRST_KEY) -> None:
        self._inputs = inputs
        self._journal = journal
        self._key = promise
        self._numbers: Counter[str] = Counter()
        if journal is not None:
            journal.position = lambda: inputs.drawn

    def open(self, ledger: str, tree: Tree) -> LedgerEntry:
        """The entry of an attempt for a tree that is opened now; inputs come from another key afterwards."""
        if self._journal is None and not self._inputs.keyed:
            self._numbers[ledger] += 1
            return LedgerEntry(ledger, self._numbers[ledger])
        labels, tests = self._inputs.drawn
        opened = Opened(ledger, 0, tree.digest, labels, tests, labels, tests)
        if self._inputs.keyed:
            opened = opened.between(self._key, next_key(self._key, opened))
            self._key = opened.key
            self._inputs.rekey(self._key)
        if self._journal is None:
            self._numbers[ledger] += 1
            return LedgerEntry(ledger, self._numbers[ledger])
        return self._entered(opened, self._journal)

    def _entered(self, opened: Opened, journal: Journal) -> LedgerEntry:
        """The entry in a journal, which this run may have written before."""
        place = journal.place
        mine = [one for one in journal.attempts if one.ledger == opened.ledger]
        found = next((one for one in mine if one.run == place and one.same_place(opened)), None)
        if found is None:
            if journal.lists_attempts and not journal.writes:
                raise TargetError(f"the journal {str(journal.path)!r} does not list an attempt that the run opens")
            since = next((one for one in mine if one.same_place(opened)), opened.since(*self._seen(opened)))
            found = opened.numbered(len(mine) + 1, place).since(since.labels_since, since.tests_since)
            journal.open_attempt(found)
        waits = {TEST: found.tests_since - opened.tests}
        if opened.ledger == STANDING:  # the others count inputs for tests alone
            waits[LABEL] = found.labels_since - opened.labels
        return LedgerEntry(found.ledger, found.number, waits)

    def _seen(self, opened: Opened) -> tuple[int, int]:
        """How far earlier runs went through the inputs that come now: not at all, where a new key draws them."""
        assert self._journal is not None, "without a journal there is no earlier run"
        here = opened.labels, opened.tests
        if opened.key or not self._journal.writes:
            return here
        labels, tests = map(max, here, self._journal.drawn)
        return labels, tests


def entered(ledger: Ledger | None, name: str, tree: Tree, before: int) -> LedgerEntry:
    """An attempt's entry; without a ledger, the next number after those ``before``."""
    return LedgerEntry(name, before + 1) if ledger is None else ledger.open(name, tree)
