"""``strategy="auto"``: labels first, questions where the tree is wrong, certificates on the way.

Answers to inputs drawn from the space count for every open attempt first and teach the learner afterwards. Until
the first attempt is opened nothing is counted for it, so the learner may choose what it asks (`explore`). Where that
takes long, a quarter of the inputs come as they are drawn, for the standing attempts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.counted import Counted
from fidelitree.asking.events import Observer, TreeJudged
from fidelitree.certificates.attempts import LATE, Attempt, Attempts
from fidelitree.exact.engine import ENUMERATE_UNASKED
from fidelitree.runs.result import SplitRecord
from fidelitree.runs.supply import Drawn, Source
from fidelitree.search.bits.explore import Explorer, Weights
from fidelitree.search.bits.feed import Feed
from fidelitree.search.bits.learner import Learner
from fidelitree.search.bits.pool import Bits, Codes
from fidelitree.spaces.draw import Stream, draw_feature
from fidelitree.spaces.product import ProductSpace
from fidelitree.spaces.region import Region
from fidelitree.trees.bits import Words, everyone, pack, unpack
from fidelitree.trees.nested import Nested, build, size
from fidelitree.trees.tree import Tree

FIRST_BATCH = 32
BATCH = 8
MISTAKES = 0.6  # that a batch of a test holds, at an error of epsilon
GATE = 12  # answers without a mistake before an attempt is opened
GATE_SLACK = 0.1
WATCHED = 400  # inputs, never asked, on which two trees are compared
MATERIAL = 1 / 3  # of epsilon: a change of the tree on more of them starts the gate again
MANY, TOO_MANY = 2_000, 20_000  # answers from which on a run may be stuck, and is if nothing is certified
AS_DRAWN, LONG = 0.25, 256  # of the inputs come as they are drawn, once so many labels have opened no attempt
BY_HEART = 8  # answers a leaf, below which a tree only repeats them


@dataclass(frozen=True)
class Outcome:
    """A tree, the attempt that vouches for it, and how often it differs from the tree that was tested.

    ``error`` is its error where that is known exactly.
    """

    tree: Tree
    attempt: Attempt
    differs: float
    splits: tuple[SplitRecord, ...] = ()
    """How the tree was grown, where that is part of the promise."""
    error: float | None = None

    @property
    def error_bound(self) -> float:
        """The error certified for the tree."""
        if self.error is not None:
            return self.error
        return min(1.0, self.attempt.error_bound + self.differs)

    @property
    def tested(self) -> Tree | None:
        """The tree that was tested, where another one is returned and its error is not known."""
        return None if self.error is not None or self.tree == self.attempt.tree else self.attempt.tree


class Finish(Protocol):
    """Decides what is returned, and when the answers suffice for it."""

    def needed(self, attempts: Attempts) -> int:
        """Answers without an error that would end the run."""

    def to_spend(self) -> int:
        """Queries that it would spend for a better tree, once one is certified."""

    def done(self, attempts: Attempts) -> Outcome | None:
        """The outcome, if the answers suffice."""


class AutoRun:
    """One run, to be ended by a certified attempt or by its budget."""

    def __init__(self, counted: Counted, source: Source, attempts: Attempts, seed: int, observer: Observer) -> None:
        space = counted.space
        self.source, self.attempts = source, attempts
        self.counted, self._observer = counted, observer
        self.history: list[TreeJudged] = []
        self._was_late, self._drawn = False, 0
        self._inputs = Feed(space.biases, Stream.named(seed, "certify"))
        if isinstance(source, Drawn):
            source.tests_from = self._inputs
        self._explorer = Explorer(space.biases, Stream.named(seed, "label"))
        random = np.random.default_rng(np.random.SeedSequence(list(Stream.named(seed, "walk").key)))
        self.learner = Learner(len(space), lambda bits: self._ask(bits, "walk"), random, counted.watch)
        self._gate = Gate(attempts, Watched(space, Stream.named(seed, "watch")))
        self._under_test: Nested | None = None
        self._tested: Attempt | None = None

    def run(self, finish: Finish) -> Outcome | None:
        """What ``finish`` makes of an attempt; None once it is cheaper to ask about all inputs, or it is stuck."""
        while not (self._cheaper_to_ask_all(finish) or self.stuck):
            done = self._step(finish)
            if done is not None:
                return done
        return None

    @property
    def stuck(self) -> bool:
        """Whether the tree learns answers by heart, or many answers did not certify it: votes of many bits do that."""
        known, attempts = self.learner.pool.size, self.attempts
        if known < MANY or attempts.open_ended or attempts.error_bound <= attempts.epsilon:
            return False
        by_heart = self.learner.sketch is not None and size(self.learner.sketch) * BY_HEART > known
        return by_heart or known > max(TOO_MANY, BY_HEART * attempts.at_best)

    def tree(self) -> Tree:
        """The learner's tree; where queries ended its first lesson, the one that fits them; where time did, a label."""
        book, known = self.counted.book, self.learner.pool.codes
        if self.learner.sketch is None and (not len(known) or self.counted.budget.max_seconds is not None):
            codes = known if len(known) or self.counted.cut is None else self.counted.cut
            return self._constant(book.seen[book.majority(np.bincount(codes).tolist())])
        if self.learner.sketch is None:
            self.learner.refit()
        return build(self.counted.space, self.learner.sketch or 0, book.sorted(), book.ranks())

    def _constant(self, label: Any) -> Tree:
        labels = self.counted.book.sorted()
        return Tree.build(self.counted.space, [labels.index(label)], labels)

    def fresh(self, rows: int) -> Bits:
        """The next inputs for tests."""
        return self._inputs.take(rows)

    def _step(self, finish: Finish) -> Outcome | None:
        if self.attempts.all:
            needed = finish.needed(self.attempts)
            self.attempts.tell(self._observer, self.counted.asked, needed)
            batch, codes = self._independent(min(self._batch(), needed))
            failed = self.attempts.count(batch, self.counted.labels(codes))
            done = finish.done(self.attempts)
            if done is not None:
                return done
            weights = np.ones(len(batch))
            known = failed if self.learner.sketch == self._under_test else None
        else:
            batch, codes, weights = self._exploring()
            known = None
        wrong = self.learner.learn(batch, codes, known)
        sketch = self.learner.sketch
        assert sketch is not None, "a learner that was told something has a tree"
        if (self._gate.see(sketch, wrong, weights) or self._late()) and sketch != self._under_test:
            self._tested = self.attempts.open(self.tree())
            self._under_test = sketch
        self._stand()
        judged = self.attempts.judged(self.counted.asked, size(sketch), float(wrong.mean()), self._tested)
        self.history.append(judged)
        self._observer(judged)
        return None

    def _stand(self) -> None:
        """Open standing attempts when it is time, for the tree and for the best constant."""
        standing, book = self.attempts.standing, self.counted.book
        if standing.due(self.counted.asked):
            usual = standing.usual()
            if usual is None:
                usual = book.seen[book.majority(np.bincount(self.learner.pool.codes).tolist())]
            standing.open(self.counted.asked, [self.tree(), self._constant(usual)])

    def _cheaper_to_ask_all(self, finish: Finish) -> bool:
        """Half of all inputs are known and no tree is in sight, or the rest costs no more than what would be spent."""
        inputs, known = 1 << len(self.counted.space), self.learner.pool.size
        left = self.counted.left
        if not self.counted.deterministic or inputs > (ENUMERATE_UNASKED if left is None else left + known):
            return False
        if not self.attempts.all:
            return inputs - known <= known
        return inputs - known <= max(finish.to_spend(), finish.needed(self.attempts))

    def _late(self) -> bool:
        """Whether so much of the budget is gone that what is left must go into certifying the tree there is.

        Where an error was asked for, that is when it could not be certified after another batch, whatever the answers:
        a budget that is not reached must change nothing.
        """
        limit, left = self.counted.budget.max_queries, self.counted.left
        if limit is None or left is None or self._was_late or self.counted.asked < LATE * limit:
            return False
        out_of_reach = not self.attempts.all and left - self._batch() < self.attempts.at_best
        self._was_late = self.attempts.open_ended or out_of_reach
        return self._was_late

    def _exploring(self) -> tuple[Bits, Codes, Weights]:
        """Answers that no attempt will count, to inputs not known yet, and what each of them weighs."""
        wanted = self._batch()
        if self._drawn < AS_DRAWN * (self.counted.asked - LONG):
            batch, codes = self._independent(wanted)
            return batch, codes, np.ones(len(batch))
        batch, weights = self._explorer.take(self.learner.sketch, wanted, self.learner.pool.unknown)
        if not len(batch):
            batch, codes = self._independent(wanted)
            return batch, codes, np.ones(len(batch))
        return batch, self._ask(batch, "label"), weights

    def _batch(self) -> int:
        """Answers between two looks at the tree: more of them as each counts for less."""
        known, left = self.learner.pool.size, self.counted.left
        wanted = max(BATCH, known // 64) if known else FIRST_BATCH
        if self.attempts.all:  # a mistake is rare; after so many answers, so few of them wrong, it is known how rare
            last = self.attempts.all[-1]
            wanted = max(wanted, int(MISTAKES / self.attempts.epsilon), last.samples // (4 * (1 + last.errors)))
        return wanted if left is None else max(1, min(wanted, left))

    def _independent(self, rows: int) -> tuple[Bits, Codes]:
        """Answers to inputs as they come; before an attempt of the run counts them, those that stand do."""
        batch = self._inputs.take(rows)
        codes = self._ask(batch, "certify" if self.attempts.all else "label")
        if not self.attempts.all:
            self._drawn += rows
            self.attempts.standing.count(batch, self.counted.labels(codes))
        return batch, codes

    def _ask(self, bits: Bits, purpose: str) -> Codes:
        return np.asarray(self.counted.ask(bits, purpose), np.intp)


class Watched:
    """Inputs that are never asked about, on which two trees are compared; a feature is drawn when a tree tests it."""

    def __init__(self, space: ProductSpace, stream: Stream) -> None:
        self._whole, self._stream = Region.whole(space), stream
        self._columns: dict[int, Words] = {}
        self._last: tuple[Nested, Codes] | None = None

    def __getitem__(self, i: int) -> Words:
        if i not in self._columns:
            self._columns[i] = pack(draw_feature(self._whole, self._stream, 0, WATCHED, i))
        return self._columns[i]

    def codes(self, sketch: Nested) -> Codes:
        """What a tree says about them; most often it is the tree of the last time."""
        if self._last is None or self._last[0] != sketch:
            self._last = sketch, self._predicted(sketch)
        return self._last[1]

    def _predicted(self, sketch: Nested) -> Codes:
        codes = np.empty(WATCHED, np.intp)
        waiting = [(sketch, everyone(WATCHED))]
        while waiting:
            node, mask = waiting.pop()
            if isinstance(node, tuple):
                upper = mask & self[node[0].feature]
                waiting += [(node[1], mask ^ upper), (node[2], upper)]
            else:
                codes[unpack(mask, WATCHED).view(np.bool_)] = node
        return codes


class Gate:
    """Says when a tree has done well enough, on answers that the certificate will not count, to attempt one."""

    def __init__(self, attempts: Attempts, watched: Watched) -> None:
        self._attempts, self._watched = attempts, watched
        self._before: Codes | None = None
        self._seen: list[tuple[float, bool]] = []

    def see(self, sketch: Nested, wrong: NDArray[np.bool_], weights: NDArray[np.float64]) -> bool:
        """Answers came in, this is the tree now: is it time?

        An answer weighs what its leaf weighs in the space against the inputs that were drawn. A tree that changed
        materially starts again.
        """
        after, epsilon = self._watched.codes(sketch), self._attempts.epsilon
        if after is not self._before and (self._before is None or (after != self._before).mean() > MATERIAL * epsilon):
            self._seen = []
        else:
            self._seen += zip(weights.tolist(), wrong.tolist(), strict=True)
        self._before = after
        total = bad = 0.0
        for weight, mistake in reversed(self._seen):
            total += weight
            bad += weight * mistake
            if total >= GATE and bad <= epsilon / 2 * (total - GATE) + GATE_SLACK:
                return True
        return False
