"""Asking a target: every query is counted here, by purpose, and nowhere else."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.call import Calls, Direct, on_their_way
from fidelitree.asking.events import Asked, Observer, nobody
from fidelitree.asking.limits import LEARNING, Budget, BudgetSpent
from fidelitree.asking.queries import Queries, Tally
from fidelitree.asking.repeats import CHECK, Equality, check
from fidelitree.spaces.draw import block_rows
from fidelitree.spaces.product import ProductSpace, check_space
from fidelitree.targets.labels import Codes, LabelBook, Target
from fidelitree.targets.models.fromscores import Above
from fidelitree.targets.models.remote import Terms, terms_of
from fidelitree.targets.table import TruthTable

if TYPE_CHECKING:
    from fidelitree.asking.journal.journal import Ending, Journal
    from fidelitree.asking.limits import Running
    from fidelitree.asking.memory import Memory, Recalled
    from fidelitree.asking.on_loop import OnLoop
    from fidelitree.asking.repeats import Again, Repeats
    from fidelitree.spaces.region import Region

__all__ = ["Counted", "Queries", "Tally", "Target"]


REPEAT, SMALL = 1 / 32, 1 << 16  # labels that the time of a known answer is worth; inputs, of which many will be known


@dataclass(eq=False)
class Counted:
    """A target that counts what it is asked.

    ``memory`` answers repeated inputs of a deterministic target without paying again; None switches it off. ``calls``
    is the way to the target, straight there unless told otherwise. A replayed run ends where ``ending`` says. The
    ``observer`` hears of every request.
    """

    target: Target
    space: ProductSpace
    memory: Memory | None = None
    budget: Budget = field(default_factory=Budget)
    book: LabelBook = field(default_factory=LabelBook)
    observer: Observer = nobody
    calls: Calls | None = None
    ending: Ending | None = None
    journal: Journal | None = None
    """Where answers and attempts are written down."""
    questions: int = 0
    """Batches that were answered so far, from memory or not."""
    reserve: Callable[[], bool] | None = None
    """Whether a part of a limited time is to be kept for tests."""
    looks: int = 0
    late_looks: list[tuple[int, int]] = field(default_factory=list)
    """The looks at the clock so far, and those that found the time to be over (`Ending`)."""
    cut: Codes | None = None
    """What was answered of a batch that the clock cut off."""
    once: bool = False
    """Whether an input counts only the first time: who may end by asking about all never counts more than there are."""
    unknown: float = 1.0
    """Where it does, and inputs are few, the probability of those that have not come so far."""
    batch_size: int | None = None
    """The most inputs of one call, which calls that have a price are counted by."""
    repeats: Repeats | None = None
    """Which inputs are asked once more, to see that answers repeat; None where they need not."""
    equality: Equality = field(init=False)
    rounds: int = 0
    """Batches that the target has answered; none of them was known before the one before it was answered."""
    _sent: tuple[int, int] = 0, 0  # inputs and calls that were paid for
    _terms: Terms | None = field(default=None, init=False)
    _asked: Counter[str] = field(default_factory=Counter)
    _paid: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        check_space(self.space)
        self._terms = terms_of(self.target)
        if self.calls is None:
            self.calls = straight_to(self.target, self.space, self.book)
        self.equality = Equality(self.space, scores=isinstance(self.target, Above))

    @property
    def deterministic(self) -> bool:
        """Whether a remembered answer is as good as a new one."""
        return self.memory is not None

    @property
    def asked(self) -> int:
        """Labels used so far."""
        return sum(self._asked.values())

    @property
    def paid(self) -> int:
        """Rows that the target answered so far."""
        return sum(self._paid.values())

    @property
    def left(self) -> int | None:
        """Labels that the budget still allows; None without a limit."""
        limit = self.budget.max_queries
        return None if limit is None else max(0, limit - max(self.asked, self.paid))

    def labels_for(self, rows: float) -> float:
        """What so many draws will cost, about: where an input counts once, those that are known cost only time."""
        if self.unknown == 1 or math.isinf(rows):
            return rows
        left = max(1, (self.space.points or 1) - self.asked)
        return rows * REPEAT - left * math.expm1(-rows * max(0.0, self.unknown) / left)

    def affordable(self, rows: int) -> int:
        """So many rows, or as many as may still be asked; one where none may, which ends the run."""
        return rows if self.left is None else max(1, min(rows, self.left))

    @property
    def queries(self) -> Queries:
        """The counts so far, frozen."""
        return Queries(Tally.of(self._asked), Tally.of(self._paid), self.rounds, self.cost)

    @property
    def cost(self) -> float | None:
        """What the answers have cost so far, where the target has a price."""
        return self._terms.price(*self._sent) if self._terms is not None and self._terms.costs else None

    def _charge(self, rows: int, answered: int | None = None) -> None:
        """BudgetSpent where a batch would cost too much; then charge what was ``answered`` of it."""
        if self._terms is not None:
            sent, calls = self._sent
            each = max(1, self._terms.rows_a_call(rows, self.batch_size))
            after = sent + (came := rows if answered is None else answered), calls - (-came // each)
            if answered is None:
                self.budget.check_cost(self._terms.price(*after))
            else:
                self._sent = after

    def ask(self, batch: NDArray[Any], purpose: str, spare: bool = False) -> Codes:
        """Label codes of inner values (rows by features); raises BudgetSpent before it would ask too much.

        A batch that is ``spare`` is not read again by anybody, so that it need not be copied for the target.
        """
        if self.memory is None:
            self._check(len(batch), purpose)
            codes, labels = self._pay(batch, purpose, spare), len(batch)
        else:
            recalled = self.memory.recall(batch)
            rows = len(recalled.rows) if self.once else len(batch)
            labels, paid = rows - len(recalled.repeats) if self.once else rows, self.paid
            try:  # no call of its own: the way to a target is short
                self._check(rows, purpose)
                answers = self._pay(recalled.rows, purpose)
            except BudgetSpent:
                self._take_back(recalled, paid)
                raise
            codes = self._learn(recalled, answers, purpose)
            if self.once and (self.space.points or 0) <= SMALL:
                self.unknown -= float(self.space.chances(recalled.fresh).sum())
        if (again := self._due()) is not None:
            check(again, self.labels(self._pay(again.rows, CHECK)).tolist(), self.equality)
        self._count(purpose, labels)
        return codes

    def _check(self, rows: int, purpose: str) -> None:
        """BudgetSpent where so many more labels are too many; a run that is replayed ends where and as it did."""
        self._look(purpose != "certify")
        if self.ending is not None and self.questions >= self.ending.questions and not self._cut_after():
            if self.ending.interrupted:
                raise KeyboardInterrupt
            raise BudgetSpent(self.ending.reason)
        self.budget.check(max(self.asked, self.paid) + rows)

    def watch(self) -> None:
        """The clock, looked at inside a search: ends it when the time is over, or that for learning."""
        self._look(learning=True)

    def over(self, share: float = 1.0) -> bool:
        """Whether a share of the time is over; told to a replay by the run that it repeats."""
        return self._looked_late(lambda: self.budget.gone > share)

    def interrupted(self) -> None:
        """Note that an interrupt came after this look at the clock: a replay is interrupted at the next one."""
        if self.ending is None:
            self.late_looks.append((self.looks + 1, 0))
        elif self.ending.late_looks:
            self.late_looks.append(self.ending.late_looks[-1])

    def _hear(self) -> None:
        """Be interrupted where the run was that is replayed."""
        ending = self.ending
        if ending is not None and ending.interrupted and ending.late_looks and self.looks >= ending.late_looks[-1][0]:
            raise KeyboardInterrupt

    def _look(self, learning: bool) -> None:
        if self.budget.max_seconds is None:  # a search looks at every node
            self.looks += 1
            if self.ending is not None:
                self._hear()
        elif self._looked_late(lambda: self._late(learning)):
            raise BudgetSpent(self.budget.time_over)

    def _looked_late(self, late: Callable[[], bool]) -> bool:
        self.looks += 1
        if self.ending is not None:
            self._hear()
        if self.budget.max_seconds is None:
            return False
        if self.ending is not None and self.ending.late_looks:
            return (self.looks, 0) in self.ending.late_looks
        if late():
            self.late_looks.append((self.looks, 0))
            return True
        return False

    def _late(self, learning: bool) -> bool:
        gone = self.budget.gone
        if gone > 1:
            return True
        return learning and gone > LEARNING and self.reserve is not None and self.reserve()

    def _cut_after(self) -> int:
        """Of a replayed batch, the answers after which the clock cut it off; 0 where it did not."""
        late = () if self.ending is None else self.ending.late_looks
        return next((rows for look, rows in late if look == self.looks), 0)

    def labels(self, codes: Codes) -> NDArray[Any]:
        """The labels that codes stand for."""
        return np.array(self.book.seen)[codes]

    def complete(self, batch: NDArray[Any], purpose: str) -> Codes:
        """Like `ask`, but inputs that are remembered are not asked again, nor counted."""
        if self.memory is None:
            return self.ask(batch, purpose)
        missing = self.memory.missing(batch)
        self._check(missing, purpose)
        recalled, paid = self.memory.recall(batch, self._spare(len(batch), missing)), self.paid
        try:
            answers = self._pay(recalled.rows, purpose)
        except BudgetSpent:
            self._take_back(recalled, paid)
            raise
        codes = self._learn(recalled, answers, purpose)
        if (again := self._due()) is not None:
            check(again, self.labels(self._pay(again.rows, CHECK)).tolist(), self.equality)
        self._count(purpose, missing)
        return codes

    def _spare(self, rows: int, missing: int) -> int | None:
        """Checks that `complete`, which counts none, may pay for: what a limit leaves once every input is known."""
        return None if self.left is None else self.left - missing if rows == self.space.points else 0

    def _take_back(self, recalled: Recalled, paid: int) -> None:
        """Where the time ends before any answer came, repeats are still to be checked: a replay does not ask at all."""
        if self.memory is not None and self.paid == paid:
            self.memory.take_back(recalled)

    def _learn(self, recalled: Recalled, answers: Codes, purpose: str) -> Codes:
        """Take what was paid for into memory; repeats that were checked have a purpose of their own."""
        assert self.memory is not None, "what was recalled came from a memory"
        seen = self.book.seen
        codes = self.memory.learn(
            recalled, answers, lambda row, first, second: self.equality.compare(row, seen[first], seen[second])
        )
        if recalled.repeats:
            self._paid[purpose] -= len(recalled.repeats)
            self._paid[CHECK] += len(recalled.repeats)
        return codes

    def _due(self) -> Again | None:
        """Inputs that are to be asked again now, as far as limits allow."""
        if self.repeats is None:
            return None
        if (self.repeats.seen if self.memory is None else len(self.memory)) >= (self.repeats.points or math.inf):
            self.repeats.all_known()
        again = self.repeats.due(self.room)
        try:
            self._charge(0 if again is None else len(again.rows))
        except BudgetSpent:
            return None
        return again

    @property
    def room(self) -> int | None:
        """Rows that limits leave for checks; if all inputs may be asked, they go first."""
        limit, points = self.budget.max_queries, self.space.points
        kept = 0 if points is None or limit is None or points > limit else points + self._paid[CHECK]
        return None if limit is None else limit - max(self.paid, kept)

    def check_elsewhere(self, rows: int) -> None:
        """Count rows that `on_device` asks again."""
        self._paid[CHECK] += rows
        self.rounds += 1

    def _count(self, purpose: str, labels: int) -> None:
        self._asked[purpose] += labels
        self.questions += 1
        if self.observer is not nobody:
            self.observer(Asked(self.asked, self.paid))

    def ask_known(self, answers: NDArray[Any], purpose: str) -> Codes:
        """Codes of answers that the target itself lists, counted like any others."""
        self._asked[purpose] += len(answers)
        self._paid[purpose] += len(answers)
        return self.book.encode(answers)

    def ask_elsewhere(self, rows: int, purpose: str) -> None:
        """Check and count labels that never come here: `on_device` asks for them."""
        self._check(rows, purpose)
        self._paid[purpose] += rows
        self.rounds += 1
        self._count(purpose, rows)

    def _cut_off(self, found: Mapping[int, NDArray[Any]], purpose: str) -> bool:
        """Of a batch that takes several calls, the time may be over after any of them; its labels are known then.

        A check is given up without a word, and the run ends at its next look at the clock.
        """
        if self.budget.max_seconds is None:
            return False
        if purpose == CHECK:
            return self._late(learning=False)
        answered, replayed = sum(map(len, found.values())), self._cut_after()
        if answered >= replayed > 0 or (not replayed and self._late(purpose != "certify")):
            self.late_looks.append((self.looks, answered))
            self.cut = self.book.encode(np.concatenate(list(found.values()))) if found else self.cut
            raise BudgetSpent(self.budget.time_over)
        return False

    def _pay(self, batch: NDArray[Any], purpose: str, spare: bool = False) -> Codes:
        if not len(batch):
            return np.zeros(0, np.intp)
        assert self.calls is not None, "made with the object"
        self._charge(len(batch))
        found: dict[int, NDArray[Any]] = {}
        answered = 0
        seen = self.repeats is None or self.repeats.chosen >= self.repeats.most  # else it is read again below
        way = self.calls.spend if spare and seen and isinstance(self.calls, Direct) else self.calls.parts
        coming = way(batch, purpose)
        try:
            for start, labels in coming:
                if len(labels):  # else it is only time to look at the clock
                    found[start] = labels
                    self._paid[purpose] += len(labels)
                answered += len(labels)
                if answered < len(batch) and self._cut_off(found, purpose):
                    break
        except KeyboardInterrupt as stop:
            came = sum(len(labels) for _, labels in on_their_way(coming, stop))
            self._paid[purpose] += came
            answered += came
            raise
        finally:
            if isinstance(coming, Generator):  # calls that nobody waits for any more are given up now
                coming.close()
            self._charge(len(batch), answered)
        if answered < len(batch):  # a check that the clock ended, in this run or in the one that is replayed
            return np.zeros(0, np.intp)
        self.rounds += 1
        # Labels are numbered in draw order, whatever order they were answered in.
        parts = [found[start] for start in sorted(found)]
        labels = parts[0] if len(parts) == 1 else np.concatenate(parts)
        if self.repeats is not None and purpose != CHECK:
            self.repeats.see(batch, labels)
        return self.book.encode(labels)


def straight_to(
    target: Target, space: ProductSpace, book: LabelBook, running: Running | None = None
) -> Direct | OnLoop:
    """The way to a target that is called in this process: on an event loop where its answers are awaited."""
    if terms_of(target) is not None:
        from fidelitree.asking.on_loop import OnLoop  # noqa: PLC0415 - asyncio takes as long to import as all of this

        return OnLoop(target, space, book, running)
    return Direct(target, space, book)


def tabulate(target: Counted, region: Region, purpose: str = "enumerate") -> NDArray[np.integer[Any]]:
    """Label codes of every input of a finite region, asked in blocks."""
    points = region.points
    assert points is not None, "only finite regions are tabulated"
    rows = block_rows(len(region.space))
    if isinstance(target.target, TruthTable) and not region.restrictions and not target.memory:
        return target.ask_known(target.target.labels, purpose)
    codes: NDArray[np.integer[Any]] = np.empty(points, np.uint8)
    for start in range(0, points, rows):
        stop = min(start + rows, points)
        answers = target.complete(region.inputs(start, stop), purpose)
        if answers.max() > np.iinfo(codes.dtype).max:
            codes = codes.astype(np.uint32)
        codes[start:stop] = answers
    return codes
