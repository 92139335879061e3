"""Asking some inputs once more, early and among other inputs: a model that is random is noticed before it is certified.

One answered input in `EACH` is asked again, until `MOST` have been. They are asked together, in a batch of their own,
so that an answer that depends on its batch is noticed too: first after `FIRST` answers, then whenever twice as many
are there. So a run pays at most a twentieth of its rows for it, and a long one 142. Every check is a round more, so a
run that is to have few of them has its first check after 512 answers, and the next after 8 times as many. Of a target
that changes a share q of its answers m repeats miss every change with probability (1 - q)^m: for q = 2.2 % and m = 142
in 4 of 100 runs. What is said of a space whose inputs are all answered is exact, so 142 of them are asked again, or all
where there are fewer.
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
SHARE = 1e-3  # of a tolerance, by which two numbers differ that are one
SINGLE = 1e-6  # of their size, by which two numbers of 32 bits differ that are one, up to a `PART` of the tolerance
PART = 0.1
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
    points: int | None = None
    """The inputs that there are; None where nobody can answer them all."""
    most: int = MOST
    """Inputs to ask again at most."""
    _waiting: list[tuple[NDArray[Any], Any]] = field(default_factory=list)
    _others: list[tuple[NDArray[Any], Any]] = field(default_factory=list)
    """Answered inputs of a small space that were not put aside."""
    _next: int = 0
    _ended: bool = False

    def __post_init__(self) -> None:
        self._next = SELDOM * FIRST if self.seldom else FIRST

    def see(self, rows: NDArray[Any], labels: NDArray[Any]) -> None:
        """Put every twentieth of these answered inputs aside, with its answer; of a small space, know the others."""
        places = self.places(len(rows))
        self.keep([(rows[place].copy(), labels[place : place + 1].tolist()[0]) for place in places])
        if self.points is not None and not self._ended and self.points < EACH * self.most:
            left = sorted(set(range(len(rows))) - set(places))
            self._others += [(rows[place].copy(), labels[place : place + 1].tolist()[0]) for place in left]

    def places(self, rows: int) -> range:
        """Which of so many inputs that are being answered are put aside."""
        first = EACH - 1 - self.seen % EACH
        self.seen += rows
        found = range(first, rows, EACH)[: max(0, self.most - self.chosen)]
        self.chosen += len(found)
        return found

    def keep(self, answered: list[tuple[Any, Any]]) -> None:
        """Put these inputs aside, with their answers."""
        self._waiting += answered

    def all_known(self) -> None:
        """Put more inputs aside, evenly spread: every input of the space has been answered, and none is to come."""
        if self._ended:
            return
        self._ended = True
        wanted = min(len(self._others), max(0, self.most - self.chosen))
        self._waiting += [self._others[k * len(self._others) // wanted] for k in range(wanted)]
        self.chosen += wanted
        self._others = []
        self._next = min(self._next, self.seen)

    def due(self, room: int | None) -> Again | None:
        """Return the inputs that are to be asked again now, the last one first; None if it is not time.

        ``room`` is how many rows may still be paid for.
        """
        found = self.due_now(room)
        if not found:
            return None
        rows, labels = zip(*found, strict=True)
        return Again(np.array(rows, order="F"), list(labels))

    def due_now(self, room: int | None) -> list[tuple[Any, Any]]:
        """Return the same one by one, each with its answer; none if it is not time."""
        complete = self.chosen >= self.most and not self.seldom
        if not self._waiting or (self.seen < self._next and not complete):
            return []
        while self.seen >= self._next:
            self._next *= SELDOM if self.seldom else 2
        most = len(self._waiting) if room is None else max(0, min(room, len(self._waiting)))
        found, self._waiting = self._waiting[:most], []
        return found[::-1]


def most_checks(answers: int) -> int:
    """Rows that a run with so many answers pays for at most, besides those, to see that answers repeat.

    It may have asked every input of a small space.
    """
    return min(MOST, answers) + CHECKED


def same(first: Any, second: Any, tolerance: float | None) -> bool:
    """Whether two answers to one input are one: equal labels, or numbers that differ by rounding where they may.

    >>> same(0.1 + 0.2, 0.3, 0.5), same(0.1 + 0.2, 0.3, None), same(1.0, 1.1, 0.5)
    (True, False, False)
    """
    if first == second:
        return True
    if tolerance is None:
        return False
    size = max(abs(first), abs(second))
    return bool(abs(first - second) <= max(ROUNDING * size, SHARE * tolerance, min(SINGLE * size, PART * tolerance)))


@dataclass(frozen=True)
class Equality:
    """When two answers of a target are one, and how a message shows two that are not."""

    space: ProductSpace
    tolerance: float | None = None
    """How far numbers may be apart; None where answers are labels."""
    words: Callable[[Any], str] = repr
    scores: bool = False
    """Whether labels are scores that were cut at a threshold."""
    numbers: bool = False
    """Whether answers are numbers although there is no tolerance: then their size says what rounding is."""
    way_out: str = "or pass deterministic=False, and every input is asked anew"

    def compare(self, row: NDArray[Any], first: Any, second: Any) -> None:
        """TargetError if an input was answered in two ways."""
        if not same(first, second, self.tolerance):
            raise self.contradiction(row, (first, second))

    def contradiction(self, row: NDArray[Any] | str, answers: tuple[Any, Any], share: str = "") -> TargetError:
        """What to say of an input that was answered in two ways; ``share`` says how many were."""
        first, second = (self.words(answer)[:_WIDE] for answer in answers)
        shown = row if isinstance(row, str) else self._shown(row)
        near = " A score next to the threshold may also be rounded to either side of it." if self.scores else ""
        return TargetError(
            f"the target answered an input differently the second time: first {first}, then, in another batch, "
            f"{second}{share}. The input: {shown}.{near} Switch off what makes the model random (dropout: "
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
    tolerance = equality.tolerance
    if tolerance is None and equality.numbers:  # sums that cancel round by the size of the others
        tolerance = SINGLE / SHARE * max(map(abs, answers))
    both = zip(again.rows, again.labels, answers, strict=True)
    odd = [(row, first, second) for row, first, second in both if not same(first, second, tolerance)]
    if odd:
        row, first, second = odd[0]
        share = f" ({len(odd):,} of {len(answers):,} inputs that were asked again had another answer)"
        raise equality.contradiction(row, (first, second), share)
