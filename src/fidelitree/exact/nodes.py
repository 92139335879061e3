"""Functions of bits as nodes that test a bit and go on with two smaller functions; no function is there twice."""

from __future__ import annotations

from collections.abc import Sequence


class Nodes:
    """All nodes made so far, by number; the first are the constants, one for each label.

    ``order`` holds the features that are tested, first to last.
    """

    def __init__(self, order: Sequence[int], labels: int) -> None:
        self.order = list(order)
        self._level = [len(self.order)] * labels
        self._no, self._yes = list(range(labels)), list(range(labels))
        self._known: dict[tuple[int, int, int], int] = {}

    def node(self, level: int, no: int, yes: int) -> int:
        """The function that tests ``order[level]`` and goes on with ``no`` or ``yes``."""
        if no == yes:
            return no
        found = self._known.get((level, no, yes))
        if found is None:
            found = self._known[level, no, yes] = len(self._level)
            self._level.append(level)
            self._no.append(no)
            self._yes.append(yes)
            self._describe(level, no, yes)
        return found

    def _describe(self, level: int, no: int, yes: int) -> None:
        """What else is to be known of the node that was made last."""
