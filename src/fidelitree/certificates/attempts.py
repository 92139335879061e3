"""Attempts to certify a tree while answers are still coming in (the prequential protocol).

An attempt is opened by writing down its number, its tree and its level. From then on it counts every input that is
drawn independently from the whole space, and nothing that was drawn before: whatever led to opening it is never
counted for it. Each attempt's e-value is a bet that cannot win on average while its tree is not good enough, so all
attempts together fail with probability at most the sum of their levels, which is below delta. A journal keeps one
numbering for all runs that share it (`journal.ledger`).

There are two ledgers. The attempts that a run opens to end by them share 19/20 of delta; those of a frontier share
23/25, nine at a time in equal parts, because all of them are returned. The others are *standing* attempts, which share
3/100; what is left of delta is for the lower ends of intervals. At 64 labels, and whenever twice as many were asked,
the tree that there is gets a standing attempt, and so does the best constant. They cost no label, because every input
that comes as the space gives it counts for them before it teaches; so whatever ends a run, there is a bound. Whether
the run goes on, what it opens and when it ends may depend on all that was counted: each e-value is a supermartingale
given the past from the moment its attempt was opened, and what it has won exceeds 1/level, at any time, with
probability at most its level (THEORY 4(a)). The outcome of a failed attempt may therefore steer everything but one
thing: which of the inputs drawn since are counted. All are, or, once an attempt is given up, none.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.events import Observer, TreeJudged, UnderTest, nobody
from fidelitree.asking.journal.ledger import TEST, Ledger, LedgerEntry, entered
from fidelitree.theory.sequential import RUN, STANDING, Bet, level_in, log_e_value
from fidelitree.trees.answers import Answers, Kept, answered, apart

if TYPE_CHECKING:
    from fidelitree.trees.tree import Tree

LATE = 0.6  # of a budget that will be spent goes into learning, the rest into tests
LOOK = 20  # answers before an attempt may be given up
FAIR_TRIAL = 200  # over epsilon: answers by which a tree is judged in the end that is not good enough
MILESTONE = 64  # labels at which the first standing attempts are opened; the next at twice as many, and so on
Step = Callable[[], None]
_TREES, _CONSTANTS = 3, 2  # standing attempts that still count: the last ones
_TOLD = 2  # standard deviations between the counts of two labels tell which is the more frequent one


@dataclass(frozen=True)
class BatchCounts:
    """What an attempt will have counted after a batch: which inputs of it are ``wrong``, and its new counts."""

    wrong: NDArray[np.bool_]
    counts: tuple[int, int]
    waits: dict[str, int]
    drawn: int = 0


class Attempt(Bet):
    """A tree, what it may spend of delta, and how it has fared since the attempt was opened.

    ``waits`` says how many of the inputs to come, of each stream, are not for it: an earlier run has drawn them.
    """

    def __init__(self, tree: Tree, delta: float, entry: LedgerEntry, tolerance: float | None = None) -> None:
        super().__init__(level_in(entry.ledger, entry.number, delta))
        self._tolerance = tolerance
        self.tree, self.number, self.ledger, self.waits = tree, entry.number, entry.ledger, dict(entry.waits)

    def tally(self, batch: NDArray[Any], labels: NDArray[Any], stream: str = TEST) -> BatchCounts:
        """What answers to inputs drawn since would add; nothing is counted before `add`."""
        wrong = apart(self.tree.predict_inner(batch), labels, self._tolerance)
        passed, waits = self._passed(len(wrong), stream)
        new = wrong[passed:]
        counts = self.errors + int(np.count_nonzero(new)), self.samples + len(new)
        return BatchCounts(wrong, counts, waits)

    def add(self, tally: BatchCounts) -> None:
        """Count what was worked out; to do so twice changes nothing."""
        self.counts, self.waits = tally.counts, tally.waits

    def _passed(self, rows: int, stream: str) -> tuple[int, dict[str, int]]:
        """How many of the next inputs are not for it, and of those after them; none is until every stream is so far."""
        others = any(left for name, left in self.waits.items() if name != stream)
        left = self.waits.get(stream, 0)
        return rows if others else min(left, rows), {**self.waits, stream: max(0, left - rows)}


class StandingAttempts:
    """Attempts that are opened on the way, for what there is, so that no ending finds a run without a bound."""

    def __init__(self, delta: float, ledger: Ledger | None = None, tolerance: float | None = None) -> None:
        self._tolerance = tolerance
        self.all: list[Attempt] = []
        self.live: list[Attempt] = []
        """Those that still count."""
        self.kept = Kept()
        self._delta, self._ledger, self._next = delta, ledger, MILESTONE
        self._votes: Counter[Any] = Counter()

    @property
    def next(self) -> int:
        """Labels at which the next ones are to be opened."""
        return self._next

    def due(self, asked: int) -> bool:
        """Whether so many labels are a reason to open some."""
        return asked >= self._next

    def open(self, asked: int, trees: Sequence[Tree]) -> None:
        """Begin to count for trees that have no attempt here yet."""
        while self.due(asked):
            self._next *= 2
        for tree in trees:
            if all(attempt.tree != tree for attempt in self.all):
                entry = entered(self._ledger, STANDING, tree, len(self.all))
                self.all.append(Attempt(tree, self._delta, entry, self._tolerance))
                self.live.append(self.all[-1])
        constants, others = _parted(self.live)
        self.live = others[-_TREES:] + constants[-_CONSTANTS:]

    def count(self, batch: NDArray[Any], labels: NDArray[Any], stream: str = TEST) -> None:
        """Count answers to inputs that came as the space gives them, before they teach anybody."""
        _in_one_step(self.steps(batch, labels, stream))

    def steps(self, batch: NDArray[Any], labels: NDArray[Any], stream: str = TEST) -> list[Step]:
        """What is left to do of it once everything is worked out."""
        kept = [self.kept.keeping(batch, labels)] if self.live else []
        return [_adding(self.live, _worked_out(self.live, batch, labels, stream)), *kept, self._voting(labels)]

    def _voting(self, labels: NDArray[Any]) -> Step:
        """Counts the votes of these labels; to do so twice changes nothing."""
        votes = {label: self._votes[label] + new for label, new in Counter(labels.tolist()).items()}
        return partial(dict.update, self._votes, votes)

    def usual(self) -> Any:
        """The most frequent label of those inputs, the first in order among equals; None before the first."""
        return max(sorted(self._votes), key=self._votes.__getitem__, default=None)

    def second(self) -> Any:
        """The label next to the most frequent one, if these inputs do not tell which of the two is; else None."""
        most = self._votes.most_common(2)
        if len(most) < 2:
            return None
        usual = self.usual()
        label, votes = next(one for one in sorted(most) if one[0] != usual)
        return label if self._votes[usual] - votes <= _TOLD * math.sqrt(self._votes.total()) else None

    @property
    def constants(self) -> list[Attempt]:
        """Those for a constant that still count."""
        return _parted(self.live)[0]


def _worked_out(
    attempts: Sequence[Attempt], batch: NDArray[Any], labels: NDArray[Any], stream: str
) -> list[BatchCounts]:
    """What a batch would add to each attempt; nothing is counted yet, so an interrupt loses nothing."""
    return [attempt.tally(batch, labels, stream) for attempt in attempts]


def _adding(attempts: Sequence[Attempt], tallies: Sequence[BatchCounts]) -> Step:
    """Counts what was worked out, for all attempts; to do so twice changes nothing."""
    pairs = list(zip(attempts, tallies, strict=True))

    def add() -> None:
        for attempt, tally in pairs:
            attempt.add(tally)

    return add


def _in_one_step(steps: Sequence[Step]) -> None:
    """Take all of these short steps; after an interrupt all of them again, each of which may be taken twice.

    So an interrupt finds either nothing counted or everything, and is heard when everything is.
    """
    try:
        for step in steps:
            step()
    except KeyboardInterrupt:
        _in_one_step(steps)
        raise


def _parted(attempts: list[Attempt]) -> tuple[list[Attempt], list[Attempt]]:
    """Those for constants, and the others."""
    return [one for one in attempts if one.tree.size == 1], [one for one in attempts if one.tree.size > 1]


class Attempts:
    """All attempts of a run; they read one stream of answers.

    ``epsilon`` is the error that they are to certify; 0 where their bounds are wanted, whatever they are. ``part`` is
    the name of their ledger. Answers are wrong that differ, or that are further apart than a ``tolerance``.
    """

    def __init__(
        self,
        epsilon: float,
        delta: float,
        ledger: Ledger | None = None,
        part: str = RUN,
        tolerance: float | None = None,
    ) -> None:
        self._ledger, self._part, self.tolerance = ledger, part, tolerance
        self.epsilon, self.delta = epsilon, delta
        self.all: list[Attempt] = []
        self.kept = Kept()
        """All that was counted: an attempt's own answers are the last ones, as many as it has samples."""
        self.standing = StandingAttempts(delta, ledger, tolerance)

    def open(
        self,
        tree: Tree,
        written_down: bool = True,
        made: Callable[[Tree, float, LedgerEntry], Attempt] | None = None,
    ) -> Attempt:
        """Begin to count for a tree; a tree that has an attempt already gets no second one.

        An attempt that will count nothing, and promises nothing, need not be written down. ``made`` makes one of
        another kind.
        """
        found = self.of(tree)
        if found is None:
            ledger = self._ledger if written_down else None
            entry = entered(ledger, self._part, tree, len(self.all))
            found = Attempt(tree, self.delta, entry, self.tolerance) if made is None else made(tree, self.delta, entry)
            self.all.append(found)
        return found

    def of(self, tree: Tree) -> Attempt | None:
        """The attempt for a tree, if there is one."""
        return next((attempt for attempt in self.all if attempt.tree == tree), None)

    def opened(self, ledger: str) -> int:
        """How many attempts of a ledger have numbers up to the last one's."""
        return max(attempt.number for attempt in (self.standing.all if ledger == STANDING else self.all))

    def judged(self, asked: int, size: int, error: float, tested: Attempt | None) -> TreeJudged:
        """One tree's own figures: what an attempt has counted for its tree; before that, an estimate and no bound."""
        if tested is None or not tested.samples:
            return TreeJudged(asked, size, error, 1.0)
        return TreeJudged(asked, tested.tree.size, tested.errors / tested.samples, tested.error_bound)

    @property
    def live(self) -> list[Attempt]:
        """Every attempt of both ledgers that still counts."""
        return [*self.all, *self.standing.live]

    def answers(self, attempt: Attempt) -> Answers | None:
        """What an attempt has counted, as far as it was kept."""
        return self.kept_for(attempt).last(attempt.samples, attempt.tree)

    def kept_for(self, attempt: Attempt) -> Kept:
        """Where its answers are."""
        return self.standing.kept if attempt.ledger == STANDING else self.kept

    @property
    def certified(self) -> bool:
        """Whether the error asked for is certified by what was counted so far."""
        return any(one.certifies(self.epsilon) for one in self.live)

    @property
    def at_best(self) -> int:
        """Answers that the first attempt takes if none is wrong."""
        return Bet(self.level(1)).needed_for(self.epsilon)

    def level(self, number: int) -> float:
        """What an attempt of the run may spend."""
        return level_in(self._part, number, self.delta)

    def count(
        self, batch: NDArray[Any], labels: NDArray[Any], asked: NDArray[np.bool_] | None = None
    ) -> NDArray[np.bool_]:
        """Count answers to inputs drawn since; which of them the last tree has wrong.

        Where some were not ``asked``, because every tree defers them, what is left tells nothing about other trees.
        """
        tallies = _worked_out(self.all, batch, labels, TEST)
        own = (batch, labels) if asked is None else (batch[asked], labels[asked])
        standing = self.standing.steps(batch, labels) if asked is None else []
        _in_one_step([_adding(self.all, tallies), self.kept.keeping(*own), *standing])
        return tallies[-1].wrong if tallies else np.zeros(len(labels), np.bool_)

    def to_ask(self, batch: NDArray[Any]) -> NDArray[np.bool_] | None:
        """Which inputs some tree under test answers; None where one of them answers all."""
        if not self.all or not all(attempt.tree.defers for attempt in self.all):
            return None
        return np.asarray(np.any([answered(attempt.tree, batch) for attempt in self.all], axis=0))

    def tell(self, observer: Observer, asked: int, needed: int) -> None:
        """Describe the attempt with the most evidence for it; nothing is recorded by looking at it."""
        if observer is not nobody:
            best = max(self.all, key=lambda attempt: log_e_value(attempt.errors, attempt.samples, self.epsilon))
            observer(UnderTest(asked, best.tree.size, best.errors, best.samples, best.level, needed))

    @property
    def error_bound(self) -> float:
        """The smallest error that is certified now."""
        least = 1.0
        for attempt in reversed(self.all):  # the last tree is the best, most often
            least = attempt.lower(least)
        return least
