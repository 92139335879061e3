"""``strategy="auto"`` over bits: labels first, questions where the tree is wrong, attempts on the way.

Until the first attempt is opened nothing is counted for it, so the learner may choose what it asks (`explore`). Where
that takes long, a quarter of the inputs come as they are drawn, for the standing attempts.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.certificates.attempts import LATE, Attempt, Attempts
from fidelitree.exact.engine import ENUMERATE_UNASKED
from fidelitree.runs.size_grid import sizes_up_to
from fidelitree.runs.stopping import forecast, price
from fidelitree.search.bits.explore import Explorer, Weights
from fidelitree.search.bits.learner import BitLearner
from fidelitree.search.bits.rivals import Rivals
from fidelitree.search.bits.sketch import predict
from fidelitree.search.optimal.substitutes import Prunings
from fidelitree.search.questions import Answered, Ask, Steps, Tests
from fidelitree.spaces.draw import Stream, draw_feature
from fidelitree.theory.sequential import divergence
from fidelitree.trees.bits import pack
from fidelitree.trees.nested import Nested, build, leaf_sets, size

if TYPE_CHECKING:
    from fidelitree.runs.outcome import Outcome
    from fidelitree.runs.session import Session
    from fidelitree.runs.stopping import Stopping
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.trees.tree import Tree

READY = 12  # answers without a mistake before an attempt is opened, where epsilon is USUAL
MORE_READY = 2  # for each attempt so far: their levels make the next one's test longer
SHORT, READY_SHORT = 8, 4  # bits by which a tree is shorter than the answers it fits, and READY for such a tree
SHORTEST = 16  # the same of a tree that is ready at first sight
USUAL, CARE = 0.1, 1 / 3  # the smaller epsilon, the more a test that fails costs: by which power all of these grow
READY_SLACK = 0.1
REFERENCE = 400  # inputs, never asked, on which two trees are compared
MATERIAL = 1 / 3  # of epsilon: a change of the tree on more of them starts the count again
FIRST_BATCH = 32
BATCH = 8
MISTAKES = 0.6  # that a batch of a test holds, at an error of epsilon
MANY, TOO_MANY = 2_000, 20_000  # answers from which on a run may be stuck, and is if nothing is certified
AS_DRAWN, LONG = 0.25, 256  # of the inputs come as they are drawn, once so many labels have opened no attempt
FEW_BITS = 16  # of which so many inputs may be known in the end that a tree which repeats them will do
PRUNED = 256  # leaves of a tree whose prunings are tested with it
BY_HEART = 8  # answers a leaf, below which a tree only repeats them
FIRST_RIVALS, MORE = 48, 1.25  # answers at which other trees are looked for, and how many more the next time
WIDE = 64  # features: of more only those that are known to matter are looked at
EXPECTED = 0.35  # epsilons: the error of a tree that is ready for a test
PRICE, FITS = 1.0, 0.3  # of a leaf, in errors; epsilons: a smaller tree with more errors on what is known will not do
MOSTLY_NEW = 0.95  # of the space: where more is unknown, what is known need not be taken into account
NEARLY_ALL = 0.2  # of the inputs: so few that it takes no tree to ask about them
KNOWN = 1.25  # times what a test would cost: what it is worth to know every answer
DEAREST = 2  # times what was asked: what the test of another tree may take
Said = dict[int, int]
"""The inputs that get each label, by its code."""


class ReferenceInputs:
    """Inputs that are never asked about, on which two trees are compared; a feature is drawn when a tree tests it.

    Sets of them are whole numbers, a bit for each input: so few bits are combined faster so than as an array.
    """

    def __init__(self, space: ProductSpace, stream: Stream) -> None:
        self._whole, self._stream = space.whole, stream
        self._columns: dict[int, int] = {}
        self._last: tuple[Nested, Said] | None = None

    def description(self, candidate: Nested) -> float:
        """Bits that say which tree it is: its shape, a feature for every test, one of two labels for every leaf."""
        tests, features = size(candidate) - 1, len(self._whole.space)
        return math.log2(math.comb(2 * tests, tests) / (tests + 1)) + tests * math.log2(features) + tests + 1

    def __getitem__(self, i: int) -> int:
        """The inputs with x_i = 1."""
        if i not in self._columns:
            drawn = pack(draw_feature(self._whole, self._stream, 0, REFERENCE, i))
            self._columns[i] = int.from_bytes(drawn.tobytes(), sys.byteorder)
        return self._columns[i]

    def said(self, candidate: Nested) -> Said:
        """What a tree says about them; most often it is the tree of the last time."""
        if self._last is None or self._last[0] != candidate:
            said: Said = {}
            for code, reached in leaf_sets(candidate, self, (1 << REFERENCE) - 1):
                said[code] = said.get(code, 0) | reached
            self._last = candidate, said
        return self._last[1]


def changed(before: Said, after: Said) -> float:
    """The share of the reference inputs about which two trees say different things."""
    same = sum((inputs & after.get(code, 0)).bit_count() for code, inputs in before.items())
    return (REFERENCE - same) / REFERENCE


class Readiness:
    """Says when a tree has done well enough, on answers that the certificate will not count, to attempt one."""

    def __init__(self, attempts: Attempts, reference: ReferenceInputs) -> None:
        self._attempts, self._reference = attempts, reference
        self._care = max(1.0, USUAL / attempts.epsilon) ** CARE
        self._before: Said | None = None
        self._seen: list[tuple[float, float]] = []
        self._trees = 0

    def see(self, candidate: Nested, wrong: NDArray[np.float64], weights: NDArray[np.float64], answers: float) -> bool:
        """Answers came in, this is the tree now: is it time?

        A mistake counts for as much of the space as new inputs are. An answer weighs what its leaf weighs in the space
        against the inputs that were drawn. A tree that changed materially starts again. The first tree, if it is
        shorter to write down than the answers, is most often right: it is ready sooner, or at once (Occam's razor).
        """
        after, epsilon, first = self._reference.said(candidate), self._attempts.epsilon, self._before is None
        if after is not self._before and (self._before is None or changed(self._before, after) > MATERIAL * epsilon):
            self._seen, self._trees = [], self._trees + 1
        else:
            self._seen += zip(weights.tolist(), wrong.tolist(), strict=True)
        self._before = after
        ready = self._care * (READY + MORE_READY * len(self._attempts.all))
        if self._trees == 1 and (first or not wrong.any()):
            saved = (answers - self._reference.description(candidate)) / self._care
            if first and saved >= SHORTEST:
                return True
            if saved >= SHORT:
                ready = self._care * READY_SHORT
        total = bad = 0.0
        for weight, mistake in reversed(self._seen):
            total += weight
            bad += weight * mistake
            if total >= ready and bad <= epsilon / 2 * (total - ready) + READY_SLACK:
                return True
        return False


class BitStrategy:
    """A learner that keeps up with the answers; its tree is put to the test as soon as it does well.

    Where leaves cost much (``few_leaves``), the tree and a smaller one are tested; a ``faithful`` run wants the first.
    """

    walk_parts = 2

    def __init__(self, session: Session, seed: int, few_leaves: bool = False, faithful: bool = False) -> None:
        self._frugal, self._faithful = not (few_leaves or faithful), faithful
        self._session, self._counted, self._attempts = session, session.counted, session.attempts
        space = session.counted.space
        self._was_late, self._drawn = False, 0
        self._explorer = Explorer(space.biases, Stream.named(seed, "label"))
        random = np.random.default_rng(np.random.SeedSequence(list(Stream.named(seed, "walk").key)))
        self.learner = BitLearner(len(space), random, session.counted.watch, self.walk_parts)
        self._readiness = Readiness(session.attempts, ReferenceInputs(space, Stream.named(seed, "watch")))
        self._under_test: Nested | None = None
        self._as_it_is = False
        self._tested: Attempt | None = None
        self._weights, self._next_rivals = np.empty(0), FIRST_RIVALS

    def steps(self, stopping: Stopping) -> Steps[Outcome | None]:
        """What the stopping rule makes of an attempt; None once it is cheaper to ask about all inputs, or stuck."""
        while not (self._cheaper_to_ask_all(stopping) or self.stuck):
            if self._attempts.all:
                needed = stopping.needed(self._attempts)
                self._attempts.tell(self._session.observer, self._counted.asked, needed)
                seen = yield Tests(min(self._batch(), needed))
                weights = np.ones(len(seen.codes))
            else:
                seen, weights = yield from self._exploring()
            done = stopping.done(self._attempts)
            if done is not None:
                return done
            yield from self._learn(seen, weights)
        return None

    def _learn(self, seen: Answered, weights: Weights) -> Steps[None]:
        """Take answers in, and open an attempt where the tree has done well on them."""
        newest = self._as_it_is and self._attempts.all[-1] is self._tested
        failed = seen.wrong if newest and self.learner.sketch == self._under_test else None
        new, first = weights[self.learner.pool.unknown(seen.inner)], self.learner.sketch is None
        wrong = yield from self.learner.learn(seen.inner, seen.codes, failed)
        walked = np.zeros(self.learner.pool.size - len(self._weights) - len(new))
        self._weights = np.concatenate([self._weights, new, walked])
        candidate = self.learner.sketch
        assert candidate is not None, "a learner that was told something has a tree"
        new_share = 1.0 if self._attempts.all else self._counted.unknown  # tests repeat what is known
        mistakes = np.where(wrong, new_share, 0.0)
        explained = self._explained(candidate) if first or not wrong.any() else 0.0
        passed = self._readiness.see(candidate, mistakes, weights, explained) or self.learner.confirmations >= READY
        if passed and self._frugal and not self.learner.confirmations:
            passed = self._cost(EXPECTED * self._attempts.epsilon, size(candidate)) < self._least_cost()
        if (passed or self._late()) and (candidate != self._under_test or self._too_small):
            self._test(candidate)
        if len(self._weights) >= self._next_rivals:
            self._next_rivals = int(MORE * len(self._weights))
            self._open_rival()
        self._session.stand(self._to_stand)
        self._session.judge(size(candidate), np.count_nonzero(wrong) / len(wrong), self._tested)

    def _explained(self, candidate: Nested) -> float:
        """Answers that a tree saves telling: those that it gets right, less what it takes to name the others."""
        pool = self.learner.pool
        missed = np.count_nonzero(predict(candidate, pool.bits) != pool.codes)
        return pool.size - missed * math.log2(2 * pool.size)

    def _test(self, candidate: Nested) -> None:
        """Open an attempt for the learner's tree, and one for what a search for fewer leaves makes of it.

        Where labels are to be saved, that one alone if it fits as many answers.
        """
        pool = self.learner.pool
        smaller = candidate if self._faithful or candidate == self._under_test else self._smaller(candidate)
        wrong = [int(np.count_nonzero(predict(tree, pool.bits) != pool.codes)) for tree in (smaller, candidate)]
        tested = smaller if self._frugal and wrong[0] <= wrong[1] else candidate
        self._as_it_is, self._under_test = tested == candidate, candidate
        self._tested = self._attempts.open(self._built(tested))
        if smaller != tested:
            self._attempts.open(self._built(smaller))

    @property
    def _too_small(self) -> bool:
        """Whether what was made of the learner's tree has been wrong; the learner's own, if it is the same, was not."""
        return not self._as_it_is and self._tested is not None and self._tested.errors > 0

    def _least_cost(self) -> float:
        """What the tree under test that promises to cost least will have cost, in labels and leaves."""
        epsilon = self._attempts.epsilon
        costs = (self._deal(forecast(one, epsilon), one.tree.size) for one in self._attempts.all)
        return min(costs, default=math.inf)

    def _cost(self, share: float, leaves: int) -> float:
        """The same of a tree that errs so often, if it were put to the test now."""
        return self._deal(self._needed(share), leaves)

    def _deal(self, answers: float, leaves: int) -> float:
        return price(self._counted.asked + self._counted.labels_for(answers), leaves)

    def _needed(self, share: float) -> float:
        """Answers that the next attempt takes for a tree that errs so often."""
        if share >= self._attempts.epsilon:
            return math.inf
        return -math.log(self._attempts.level(len(self._attempts.all) + 1)) / divergence(share, self._attempts.epsilon)

    def _rivals(self, some: NDArray[np.bool_]) -> Rivals | None:
        """Other trees for some of the answers; None where few features are known to matter, or a table does better."""
        pool, n = self.learner.pool, len(self._counted.space)
        features = list(range(n)) if n <= WIDE else sorted(self.learner.relevant)
        if self._faithful or len(features) < 2 or self.learner.tabulates or self.learner.confirmations:
            return None
        weights = np.where(self._weights > 0, self._weights, 1.0)[some]
        unknown = self._counted.unknown if self._counted.unknown < MOSTLY_NEW else 1.0
        return Rivals(pool.bits[some], pool.codes[some], weights, features, self._counted.watch, unknown)

    def _smaller(self, sketch: Nested) -> Nested:
        """What a search that pays more for leaves makes of the learner's tree, if it still fits the answers."""
        pool = self.learner.pool
        rivals = self._rivals(np.ones(pool.size, np.bool_))
        if rivals is None or size(sketch) < 3:
            return sketch
        found = rivals.cheapest(sketch, PRICE)
        fits = (predict(found, pool.bits) != pool.codes).mean() <= FITS * self._attempts.epsilon
        return found if fits and size(found) < size(sketch) else sketch

    def _open_rival(self) -> None:
        """Open an attempt for another tree where the answers say that it will cost less than those under test."""
        rivals = self._rivals(self._weights > 0)
        if rivals is None:
            return
        most, least = max(DEAREST * self._counted.asked, self._attempts.at_best), self._least_cost()

        def too_much(leaves: int, share: float) -> bool:
            return self._cost(share, leaves) >= least or self._counted.labels_for(self._needed(share)) > most

        worth = [one for one in rivals.shares(too_much) if not too_much(*one)]
        if worth:
            _, leaves = min((self._cost(share, leaves), leaves) for leaves, share in worth)
            self._attempts.open(self._built(rivals.with_leaves(leaves)))

    def _built(self, nested: Nested) -> Tree:
        book = self._counted.book
        return build(self._counted.space, nested, book.sorted(), book.ranks())

    @property
    def stuck(self) -> bool:
        """Whether the tree learns answers by heart, or many answers did not certify it: votes of many bits do that.

        In a small space by heart is good enough.
        """
        known, attempts = self.learner.pool.size, self._attempts
        if known < MANY or self.learner.tabulates or attempts.error_bound <= attempts.epsilon:
            return False
        if self._counted.once and len(self._counted.space) <= FEW_BITS:
            return False
        by_heart = self.learner.sketch is not None and size(self.learner.sketch) * BY_HEART > known
        return by_heart or known > max(TOO_MANY, BY_HEART * attempts.at_best)

    def tree(self) -> Tree:
        """The learner's tree; where queries ended its first lesson, the one that fits them; where time did, a label."""
        known = self.learner.pool.codes
        if self.learner.sketch is None and (not len(known) or self._counted.budget.max_seconds is not None):
            codes = known if len(known) or self._counted.cut is None else self._counted.cut
            return self._session.constant(np.asarray(codes, np.intp))
        if self.learner.sketch is None:
            self.learner.refit()
        return self._built(self.learner.sketch or 0)

    def trees(self) -> list[Tree]:
        """The same and its prunings, one of each size."""
        tree = self.tree()
        if not 1 < tree.size <= PRUNED:
            return [tree]
        prunings = Prunings(tree, self._counted.space)
        return list(dict.fromkeys([tree, *(prunings.with_leaves(size) for size in sizes_up_to(tree.size))]))

    def _to_stand(self) -> list[Tree]:
        """The tree, and the best constant by what came as it was drawn; before that, the two most frequent labels.

        Inputs that the learner chose do not tell which of them is the more frequent one.
        """
        usual = self._attempts.standing.usual()
        if usual is not None:
            return [self.tree(), self._session.always(usual)]
        known = self.learner.pool.codes
        others = known[known != self._counted.book.majority(np.bincount(known).tolist())]
        return [self.tree(), *(self._session.constant(codes) for codes in (known, others) if len(codes))]

    def _cheaper_to_ask_all(self, stopping: Stopping) -> bool:
        """No tree is in sight and little is left to ask, or the rest costs hardly more than what would be spent."""
        inputs, known = 1 << len(self._counted.space), self.learner.pool.size
        left = self._counted.left
        if not self._counted.deterministic or inputs > (ENUMERATE_UNASKED if left is None else left + known):
            return False
        if not self._attempts.all:
            return inputs - known <= NEARLY_ALL * inputs
        spent = max(stopping.to_spend(), stopping.needed(self._attempts))
        expected = min(forecast(one, self._attempts.epsilon) for one in self._attempts.all)
        rows = max(spent, min(expected, self._counted.asked))
        return inputs - known <= KNOWN * self._counted.labels_for(rows)

    def _late(self) -> bool:
        """Whether so much of the budget is gone that what is left must go into certifying the tree there is.

        Where an error was asked for, that is when it could not be certified after another batch, whatever the answers:
        a budget that is not reached must change nothing.
        """
        limit, left = self._counted.budget.max_queries, self._counted.left
        if limit is None or left is None or self._was_late or self._counted.asked < LATE * limit:
            return False
        self._was_late = not self._attempts.all and left - self._batch() < self._attempts.at_best
        return self._was_late

    def _exploring(self) -> Steps[tuple[Answered, Weights]]:
        """Answers that no attempt of the run will count, and what each of them weighs."""
        wanted = self._batch()
        if self._drawn >= AS_DRAWN * (self._counted.asked - LONG):
            batch, weights = self._explorer.take(self.learner.sketch, wanted, self.learner.pool.unknown)
            if len(batch):
                return (yield Ask(batch, "label")), weights
        self._drawn += wanted
        return (yield Tests(wanted)), np.ones(wanted)

    def _batch(self) -> int:
        """Answers between two looks at the tree: more of them as each counts for less."""
        known = self.learner.pool.size
        wanted = max(BATCH, known // 64) if known else FIRST_BATCH
        if self._attempts.all:  # a mistake is rare; after so many answers, so few of them wrong, it is known how rare
            leading = self._attempts.all[-1:] if self._faithful else self._attempts.all
            lucky = max(one.samples // (4 * (1 + one.errors)) for one in leading)
            wanted = max(wanted, int(min(MISTAKES / self._attempts.epsilon, TOO_MANY)), lucky)
        return self._counted.affordable(wanted)
