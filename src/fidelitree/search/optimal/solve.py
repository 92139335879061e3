"""The door to all searches for the smallest tree of a known function; which of them is affordable is decided here.

The optimum is computed where it can be: by a dynamic program over all restrictions (`optimum` where no error is
allowed, `least_errors` elsewhere) or, for circuits of more inputs, by branch and bound (`branching`). Elsewhere
rollouts go on from the paper's tree (`rollout`), and what they find is never larger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.exact.diagram import DiagramSubfunction
from fidelitree.search.optimal import affordable
from fidelitree.search.optimal.affordable import SearchEnded
from fidelitree.search.optimal.branching import Branching, Functions
from fidelitree.search.optimal.optimum import CellFunction, Optimum
from fidelitree.search.optimal.rollout import Answer, Rollouts
from fidelitree.trees.nested import Nested, simplest

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted
    from fidelitree.exact.subfunction import Subfunction
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.trees.curve import Curve


@dataclass(frozen=True)
class KnownFunction:
    """A function with all its answers; ``table`` lists their codes in truth-table order."""

    space: ProductSpace
    root: Subfunction
    answer: Answer
    table: Callable[[], NDArray[np.intp]]
    clock: Counted

    def improving(self, epsilon: float) -> Iterator[Nested]:
        """Trees with an error of at most epsilon; the last is the optimum, where that is affordable."""
        searched = self._searched(epsilon) if self.space.all_bits else iter(())
        if self.clock.budget.max_seconds is not None:
            yield from _there(islice(searched, 1))  # something to show when the time is up
        best = self._optimum(epsilon)
        if best is not None:
            yield best
        else:
            yield from _there(searched)

    def curve(self, most: int) -> Curve | None:
        """The least error for every number of leaves, up to ``most`` or as many as fit; None where none do."""
        function, found = self._cells(), None
        if function is not None:
            for found in function.curves((2, most), watch=self._watch):  # noqa: B007
                pass
        return found

    def _cells(self) -> CellFunction | None:
        """Its answers by cells; None where there are too many to be solved."""
        function = CellFunction.of(self.space, self.table()) if self._listed else None
        return None if function is None or function.restrictions > affordable.NUMBERS else function

    @property
    def _listed(self) -> bool:
        return self.space.points is not None and self.space.points <= affordable.LISTED

    def _optimum(self, epsilon: float) -> Nested | None:
        """The smallest tree of all; None where it would take too long."""
        function = self._cells()
        if function is None:
            return None
        if epsilon == 0:
            return Optimum(*function, watch=self._watch).nested()
        for curve in function.curves((2, None), watch=self._watch):
            leaves = curve.first_within(epsilon)
            if leaves is not None:
                return curve.build(leaves)
        return None

    def _watch(self) -> None:
        if self.clock.over():
            raise SearchEnded

    def _searched(self, epsilon: float) -> Iterator[Nested | None]:
        """What each rollout finds; after the first the optimum, if branch and bound gets there.

        None where a search found nothing smaller.
        """
        exact, least = epsilon == 0, 1 << 62
        search = Rollouts(self.space, self.answer, affordable.NODE, exact, self.clock)
        for number, curve in enumerate(search.curves(self.root, epsilon)):
            leaves = curve.first_within(epsilon)
            if leaves is not None and leaves < least:
                least = leaves
                yield simplest(curve.build(leaves))
            else:
                yield None
            if least <= (len(self.root.labels) if exact else 1):
                return
            if exact and not number:
                tree, optimal = self._branched(least)
                yield tree
                if optimal:
                    return

    def _branched(self, least: int) -> tuple[Nested | None, bool]:
        """Branch and bound: the best tree with fewer leaves, if one is found, and whether none can be smaller.

        It may take half of the time that is left.
        """
        known = self._functions() if least <= affordable.NODE else None
        if known is None:
            return None, False
        functions, number = known
        for level, bias in enumerate(self.space.biases[functions.order].tolist()):
            if bias in (0, 1):  # the other value is never drawn
                number = functions.fixed(number, level, int(bias))
        if functions.support[number].bit_count() * len(functions) > affordable.FUNCTIONS:  # each bit fixed once
            return None, False
        until = (1 + self.clock.budget.gone) / 2

        def watch() -> None:
            if self.clock.over(until) or len(functions) > affordable.FUNCTIONS:
                raise SearchEnded

        branching, optimal = Branching(functions, watch), False
        with suppress(SearchEnded):
            branching.search(number, least)
            optimal = True
        found = branching.nested(number)
        return None if found is None else simplest(found), optimal

    def _functions(self) -> tuple[Functions, int] | None:
        """The function, and room for all that are left of it when bits are fixed; None where it is too large."""
        if isinstance(self.root, DiagramSubfunction):
            return Functions.of_diagram(self.root)
        if self._listed:
            return Functions.of_table(self.table(), len(self.root.labels))
        return None


def _there(trees: Iterable[Nested | None]) -> Iterator[Nested]:
    return (tree for tree in trees if tree is not None)
