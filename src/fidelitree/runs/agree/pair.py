"""Two targets asked as one: each through a way of its own, the same inputs, answers side by side.

A journal keeps what each of them answered as soon as it is there: an answer of one is not lost where the other fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.access import Access, run_of, way_to
from fidelitree.asking.events import Observer, nobody
from fidelitree.asking.journal.journal import Journal
from fidelitree.asking.journalled import Journalled, ask_again, name_of
from fidelitree.asking.memory import CHECKED, REMEMBERED_BYTES, Memory
from fidelitree.asking.repeats import CHECK
from fidelitree.spaces.product import product_of
from fidelitree.targets.labels import LabelBook
from fidelitree.trees.disagreements import EXAMPLES

if TYPE_CHECKING:
    from fidelitree.asking.access import Call
    from fidelitree.asking.call import Calls, Part
    from fidelitree.asking.guarded import Inner
    from fidelitree.asking.limits import Budget, Running
    from fidelitree.spaces.world import World
    from fidelitree.targets.labels import Target

NAMES = "old ", "new "
"""What the purposes in a journal begin with."""
OLD, HIGHER, LOWER = "the old number", "a higher one", "a lower one"
"""Labels that stand for numbers: what was answered before, and where it went by more than the tolerance."""
Codes = NDArray[np.intp]


class _Both:
    """A way to both targets; their labels are numbered in one book, so that equal labels have equal codes.

    Numbers have three labels for all of them: that a number is another one is seen here, where both are known.
    """

    def __init__(self, ways: list[Calls], tolerance: float | None) -> None:
        self._ways, self._tolerance, self.book = ways, tolerance, LabelBook()
        self.numbers: dict[bytes, tuple[float, float]] = {}
        """Both answers to inputs that changed in the last batch, where they are numbers."""
        if tolerance is not None:
            self.book.encode(np.array([OLD, HIGHER, LOWER]))

    def __call__(self, batch: Any) -> Any:
        raise AssertionError("a pair is asked part by part")

    def parts(self, inner: Inner, purpose: str) -> Iterator[Part]:
        old, new = (_gathered(way, inner, purpose) for way in self._ways)
        before, after = self._labels(inner, old, new, purpose != CHECK)
        yield 0, _joined(self.book.encode(before), self.book.encode(after))

    def _labels(
        self, inner: Inner, old: NDArray[Any], new: NDArray[Any], keeps: bool
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        if self._tolerance is None:
            return old, new
        moved = np.where(np.abs(new - old) <= self._tolerance, OLD, np.where(new > old, HIGHER, LOWER))
        changed = np.flatnonzero(moved != OLD)[:EXAMPLES].tolist()
        if keeps:
            self.numbers = {inner[row].tobytes(): (float(old[row]), float(new[row])) for row in changed}
        return np.full(len(old), OLD), moved


def _joined(old: NDArray[Any], new: NDArray[Any]) -> NDArray[np.int64]:
    """One number for two codes, which are its halves."""
    return np.column_stack([new, old]).astype(np.int32).view(np.int64).ravel()


def _parts(joined: Sequence[int]) -> tuple[Codes, Codes]:
    """The two codes of each number."""
    new, old = np.array(joined, np.int64)[:, None].view(np.int32).T.astype(np.intp)
    return old, new


def _gathered(way: Calls, inner: Inner, purpose: str) -> NDArray[Any]:
    """All answers of one target, in the order of the inputs."""
    found = {start: labels for start, labels in way.parts(inner, purpose) if len(labels)}
    return np.concatenate([found[start] for start in sorted(found)])


class Pair:
    """Compares two targets: every input counts once, however many models answer it."""

    def __init__(self, way: Access, both: _Both, budget: Budget, deterministic: bool, observer: Observer) -> None:
        memory = Memory.within(REMEMBERED_BYTES, way.space, CHECKED) if deterministic else None
        self._way, self._both, self.counted = way, both, way.counted(memory, budget, observer)
        self.counted.equality = replace(self.counted.equality, words=self._words)

    def _words(self, pair: int) -> str:
        """Both answers that a code stands for."""
        old, new = (self.book.seen[int(code[0])] for code in _parts([pair]))
        return f"{old!r} (old) and {new!r} (new)"

    @property
    def book(self) -> LabelBook:
        """The labels of both."""
        return self._both.book

    @property
    def seed(self) -> int:
        """The journal's, where there is one."""
        return self._way.seed

    @property
    def seed_chosen(self) -> bool:
        """Whether somebody chose it."""
        return self._way.seed_chosen

    def ask(self, inner: NDArray[Any], purpose: str) -> tuple[Codes, Codes]:
        """The codes of the old and the new labels; BudgetSpent before it would ask too much."""
        if not len(inner):
            return np.zeros(0, np.intp), np.zeros(0, np.intp)
        codes = self.counted.ask(inner, purpose)
        old, new = _parts(self.counted.book.seen)
        return old[codes], new[codes]

    def answers(self, row: NDArray[Any], old: int, new: int) -> tuple[Any, Any]:
        """Both answers to an input that changed, given their codes: numbers as they were, where it was just asked."""
        return self._both.numbers.get(row.tobytes(), (self.book.seen[old], self.book.seen[new]))

    def end(self, reason: str) -> None:
        """Tell the journal how the run ended."""
        self._way.end(self.counted, reason)


@contextmanager
def paired(
    targets: tuple[Target, Target],
    space: World,
    running: Running,
    call: Call,
    budget: Budget,
    observer: Observer = nobody,
) -> Iterator[Pair]:
    """Open the ways to both targets, and the journal; all are closed at the end, and what was answered is kept."""
    product, told = product_of(space), call.arguments
    with ExitStack() as closing:
        book = LabelBook(told.get("tolerance") is not None)
        ways = [way_to(one, product, book, (running, call), closing) for one in targets]
        journal, seed, chosen = None, call.seed, call.seed_chosen
        if running.journal is not None:
            run = run_of(" and ".join(map(name_of, targets)), space, call)
            journal = closing.enter_context(Journal(running.journal, run))
            seed, chosen = journal.run.seed, journal.run.seed_chosen
            for name, way in zip(NAMES, ways, strict=True):
                ask_again(journal, way, told["deterministic"], name)
            ways = [Journalled(way, journal, name) for name, way in zip(NAMES, ways, strict=True)]
        both = _Both(ways, told.get("tolerance"))
        opened = Access(both, product, both, LabelBook(), journal, seed, chosen, deterministic=told["deterministic"])
        yield Pair(opened, both, budget, told["deterministic"], observer)
