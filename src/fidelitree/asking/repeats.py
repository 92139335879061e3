"""Asking some inputs once more, early and among other inputs: a model that is random is noticed before it is certified.

One answered input in `EACH` is asked again, until `MOST` have been. They are asked together, in a batch of their own,
so that an answer that depends on its batch is noticed too: first after `FIRST` answers, then whenever twice as many
are there. So a run pays at most a twentieth of its rows for it, and a long one 142. Every check is a round more, so a
run that is to have few of them has its first check after 512 answers, and the next after 8 times as many. Of a target
that changes a share q of its answers m repeats miss every change with probability (1 - q)^m: for q = 2.2 % and m = 142
in 4 of 100 runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.memory import CHECKED
from fidelitree.errors import TargetError
from fidelitree.trees.disagreements import text, value_of

if TYPE_CHECKING:
    from fidelitree.spaces.product import ProductSpace

CHECK = "check"
"""The purpose of rows that are asked again, to see that answers repeat; nobody uses their labels."""
EACH = 20  # answered inputs, of which one is asked again
MOST = 142  # inputs that a run asks again in this way
FIRST = 64  # answers before the first inputs are asked again; the next are at twice as many
SELDOM = 8  # times these are the answers before each check of a run that is to have few rounds
ROUNDING = 1e-9  # of their size, by which two numbers differ that are one
SHARE = 1e-3  # of a tolerance, by which two numbers differ that are one: models of 32 bits round to 7 digits
_SHOWN = 12  # features of an input that a message shows
_WIDE = 60  # characters of an answer, or of a value, that a message shows


class Again(NamedTuple):
    """Inputs that are to be asked once more, with their first answers."""

    rows: NDArray[Any]
    labels: list[Any]


@dataclass(eq=False)
class Repeats:
    """Chooses the inputs of a run that are asked again, and when."""

    seen: int = 0
    """Answers so far."""
    chosen: int = 0
    """Inputs that were put aside to be asked again; all but those that wait have been."""
    seldom: bool = False
    """Whether each check makes the run wait for a round that it can ill afford."""
    _waiting: list[tuple[NDArray[Any], Any]] = field(default_factory=list)
    _next: int = 0

    def __post_init__(self) -> None:
        self._next = SELDOM * FIRST if self.seldom else FIRST

    def see(self, rows: NDArray[Any], labels: NDArray[Any]) -> None:
        """Put every twentieth of these answered inputs aside, with its answer."""
        first = EACH - 1 - self.seen % EACH
        places = range(first, len(rows), EACH)[: MOST - self.chosen]
        self._waiting += [(rows[place].copy(), labels[place : place + 1].tolist()[0]) for place in places]
        self.chosen += len(places)
        self.seen += len(rows)

    def due(self, room: int | None) -> Again | None:
        """Return the inputs that are to be asked again now, the last one first; None if it is not time.

        ``room`` is how many rows may still be paid for.
        """
        complete = self.chosen == MOST and not self.seldom
        if not self._waiting or (self.seen < self._next and not complete):
            return None
        while self.seen >= self._next:
            self._next *= SELDOM if self.seldom else 2
        most = len(self._waiting) if room is None else max(0, min(room, len(self._waiting)))
        found, self._waiting = self._waiting[:most], []
        if not found:
            return None
        rows, labels = zip(*reversed(found), strict=True)
        return Again(np.array(rows, order="F"), list(labels))


def most_checks(answers: int) -> int:
    """Rows that a run with so many answers pays for at most, besides those, to see that answers repeat."""
    return min(MOST, answers // EACH) + CHECKED


def same(first: Any, second: Any, tolerance: float | None) -> bool:
    """Whether two answers to one input are one: equal labels, or numbers that differ by rounding where they may.

    >>> same(0.1 + 0.2, 0.3, 0.5), same(0.1 + 0.2, 0.3, None), same(1.0, 1.1, 0.5)
    (True, False, False)
    """
    if first == second:
        return True
    if tolerance is None:
        return False
    return bool(abs(first - second) <= max(ROUNDING * max(abs(first), abs(second)), SHARE * tolerance))


@dataclass(frozen=True)
class Equality:
    """When two answers of a target are one, and how a message shows two that are not."""

    space: ProductSpace
    tolerance: float | None = None
    """How far numbers may be apart; None where answers are labels."""
    words: Callable[[Any], str] = repr
    scores: bool = False
    """Whether labels are scores that were cut at a threshold."""
    way_out: str = "or pass deterministic=False, and every input is asked anew"

    def compare(self, row: NDArray[Any], first: Any, second: Any) -> None:
        """TargetError if an input was answered in two ways."""
        if not same(first, second, self.tolerance):
            raise self.contradiction(row, (first, second))

    def contradiction(self, row: NDArray[Any], answers: tuple[Any, Any], share: str = "") -> TargetError:
        """What to say of an input that was answered in two ways; ``share`` says how many were."""
        first, second = (self.words(answer)[:_WIDE] for answer in answers)
        near = " A score next to the threshold may also be rounded to either side of it." if self.scores else ""
        return TargetError(
            f"the target answered an input differently the second time: first {first}, then, in another batch, "
            f"{second}{share}. The input: {self._shown(row)}.{near} Switch off what makes the model random (dropout: "
            f"model.eval()), {self.way_out}"
        )

    def _shown(self, row: NDArray[Any]) -> str:
        """An input as names and values; of many features the first ones."""
        cells = zip(self.space, row[:_SHOWN].tolist(), strict=False)
        told = ", ".join(f"{feature.name} = {text(value_of(feature, value))[:_WIDE]}" for feature, value in cells)
        return f"{told}, ... ({len(self.space):,} features)" if len(self.space) > _SHOWN else told


def check(again: Again, answers: list[Any], equality: Equality) -> None:
    """TargetError if inputs were answered otherwise the second time; fewer answers may have come than were asked."""
    if not answers:
        return
    both = zip(again.rows, again.labels, answers, strict=True)
    odd = [(row, first, second) for row, first, second in both if not same(first, second, equality.tolerance)]
    if odd:
        row, first, second = odd[0]
        share = f" ({len(odd):,} of {len(answers):,} inputs that were asked again had another answer)"
        raise equality.contradiction(row, (first, second), share)
