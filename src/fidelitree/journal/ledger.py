"""One numbering of attempts for all runs of a journal.

A run that is resumed with other limits goes through the same inputs again, and may open attempts for other trees. Its
user sees the certificates of both runs, so they share one delta: an attempt keeps its number, and its share of delta,
through all runs that open it at the same place, and every other attempt takes the next number. Whoever chose the new
limits had seen what came of the old ones; so an attempt that is opened for the first time counts no input that an
earlier run has drawn for a test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fidelitree.errors import TargetError
from fidelitree.journal.journal import Journal
from fidelitree.journal.records import Opened


@dataclass(frozen=True)
class Ledger:
    """The attempts of a journal; ``drawn`` tells how many inputs the run has drawn for tests so far."""

    journal: Journal
    drawn: Callable[[], int]

    def __post_init__(self) -> None:
        self.journal.position = self.drawn

    def open(self, tree: str) -> tuple[int, int]:
        """The number of an attempt for a tree, and how many of the test inputs to come it must not count."""
        here = self.drawn()
        found = next((one for one in self.journal.attempts if (one.tree, one.opened) == (tree, here)), None)
        if found is None:
            found = self._opened(tree, here)
            self.journal.open_attempt(found)
        return found.number, found.since - here

    def _opened(self, tree: str, here: int) -> Opened:
        number, journal = len(self.journal.attempts) + 1, self.journal
        if journal.writes:
            return Opened(number, tree, here, max(here, journal.drawn))
        if journal.lists_attempts:
            raise TargetError(f"the journal {str(journal.path)!r} does not list an attempt that the run opens")
        return Opened(number, tree, here, here)
