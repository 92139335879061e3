"""One numbering of attempts for all runs of a journal.

A run that is resumed with other limits goes through the same inputs again, and may open attempts for other trees. Its
user sees the certificates of both runs, so they share one delta: an attempt keeps its number, and its share of delta,
through all runs that open it at the same place, and every other attempt takes the next number. Whoever chose the new
limits had seen what came of the old ones; so an attempt that is opened for the first time counts no input that an
earlier run has drawn, neither of the inputs for tests nor of those for learning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fidelitree.asking.journal.records import Opened
from fidelitree.errors import TargetError
from fidelitree.theory.sequential import STANDING

if TYPE_CHECKING:
    from fidelitree.asking.journal.journal import Journal
    from fidelitree.trees.tree import Tree

LABEL, TEST = "label", "test"
"""The two streams of inputs."""


@dataclass(frozen=True)
class LedgerEntry:
    """The place of an attempt in a ledger, and how many of the inputs to come, of each stream, are not for it."""

    ledger: str
    number: int
    waits: Mapping[str, int]


@dataclass(frozen=True)
class Ledger:
    """The attempts of a journal; ``drawn`` tells how many inputs the run has drawn for learning, and for tests."""

    journal: Journal
    drawn: Callable[[], tuple[int, int]]

    def __post_init__(self) -> None:
        self.journal.position = self.drawn

    def open(self, ledger: str, tree: str) -> LedgerEntry:
        """The entry of an attempt for a tree that is opened now."""
        here = labels, tests = self.drawn()
        mine = [one for one in self.journal.attempts if one.ledger == ledger]
        found = next((one for one in mine if (one.tree, one.labels, one.tests) == (tree, *here)), None)
        if found is None:
            found = self._opened(ledger, len(mine) + 1, tree)
            self.journal.open_attempt(found)
        waits = {TEST: found.tests_since - tests}
        if ledger == STANDING:  # the others count inputs for tests alone
            waits[LABEL] = found.labels_since - labels
        return LedgerEntry(ledger, found.number, waits)

    def _opened(self, ledger: str, number: int, tree: str) -> Opened:
        here, journal = self.drawn(), self.journal
        if journal.lists_attempts and not journal.writes:
            raise TargetError(f"the journal {str(journal.path)!r} does not list an attempt that the run opens")
        seen = journal.drawn if journal.writes else here
        return Opened(ledger, number, tree, *here, *map(max, here, seen))


def entered(journalled: Ledger | None, ledger: str, tree: Tree, before: int) -> LedgerEntry:
    """An attempt's entry in the journal; without one, the next number after those ``before``."""
    # A digest names all features: where they are thousands, it takes as long as many answers.
    return LedgerEntry(ledger, before + 1, {}) if journalled is None else journalled.open(ledger, tree.digest)
