"""The goal of `distill`: one tree whose error is at most epsilon, certified, for the fewest labels and leaves.

An ending is judged by labels and leaves together (`economics.Price`). From what is known of a tree follows how likely
it is to pass a test that begins now, and what the test will take. So the tree that promises the cheapest ending is
opened as soon as beginning now is worth more than another look at it. Once a tree is certified, the run ends with the
substitute for it that is cheapest, unless more answers are likely to certify a smaller one that is worth them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from fidelitree.exact.engine import ENUMERATE_UNASKED
from fidelitree.runs import economics
from fidelitree.runs.curve_goal import LastTests
from fidelitree.runs.loop import Focus
from fidelitree.runs.outcome import AsItIs, Outcome
from fidelitree.runs.portions import FEW, InRounds
from fidelitree.runs.size_grid import LARGEST, near, sizes_up_to
from fidelitree.search.bits.junta import crowds
from fidelitree.search.exact_growth import as_grown
from fidelitree.search.labelled import ENOUGH
from fidelitree.search.optimal.affordable import NUMBERS
from fidelitree.search.optimal.substitutes import Prunings, SmallestSubstitutes
from fidelitree.theory.sequential import Bet, divergence, log_e_value

if TYPE_CHECKING:
    from fidelitree.certificates.attempts import Attempt
    from fidelitree.runs.economics import Price
    from fidelitree.runs.known_answers import KnownErrors
    from fidelitree.runs.loop import Candidate, Loop, RunGoal
    from fidelitree.runs.portions import Portions
    from fidelitree.trees.tree import Tree


TOO_FEW_ROWS = "the table has too few rows"


class AskAll:
    """What a run comes to that had better ask about every input."""


class Option(NamedTuple):
    """A way to an ending: its cost, the answers that are still needed, and the chance that they suffice."""

    cost: float
    rows: float
    chance: float


@dataclass(frozen=True)
class Opening:
    """A candidate that could be opened now, with what it would lead to."""

    candidate: Candidate
    way: Option
    failure: float
    """What an attempt in vain adds to the cost."""
    delay: float
    """What another portion before the opening adds."""

    @property
    def expected(self) -> float:
        """The cost to be expected."""
        return economics.expected_cost(self.way.cost, self.way.chance, self.failure + self.delay)


class EpsilonGoal:
    """A tree with an error of at most epsilon; of several, that whose labels and leaves cost least."""

    portions: Portions
    refit = economics.REFIT_SOON
    compares = False

    def __init__(
        self,
        epsilon: float,
        price: Price,
        max_leaves: int | None = None,
        known: KnownErrors | None = None,
        portions: Portions = FEW,
    ) -> None:
        """``known`` knows the errors of trees without a label, where the target lists its answers."""
        self._few_rounds, self.portions = price.a_round > 0, portions
        if self._few_rounds:
            self.portions, self.refit = InRounds(epsilon), 1.0  # each round is long enough for another fit
        self.epsilon, self._price, self._max_leaves, self._known = epsilon, price, max_leaves, known
        self._substitutes: dict[int, Prunings | AsItIs] = {}
        self._in_hand = math.inf
        """The least cost of an ending that there was."""
        self._first = 0
        """Labels of the first certificate."""
        self._ended = ""
        """Why learning ended, if it did before anything was certified."""
        self._looked = 0
        """Answers of the last fit whose trees were looked at, whether so few leaves will do."""

    @property
    def learning(self) -> bool:
        """Always: what tests a tree teaches the next one."""
        return True

    @property
    def largest(self) -> float:
        """As many leaves as may be."""
        return math.inf if self._max_leaves is None else self._max_leaves

    def may_choose(self, loop: Loop[Outcome | AskAll]) -> bool:
        """Until something is certified: they lead to the tree that is to be tested."""
        return not self._first

    def wanted(self, loop: Loop[Outcome | AskAll]) -> Sequence[int]:
        """Return all sizes that there are enough answers for."""
        return [size for size in near(self._most(loop)) if size <= max(1, loop.known // ENOUGH)]

    def _most(self, loop: Loop[Outcome | AskAll]) -> int:
        """The most leaves that are looked for: a tree that tells many labels apart has a leaf or two for each."""
        return int(min(self.largest, max(economics.LARGEST, 2 * len(loop.counted.book.seen))))

    def search(self, loop: Loop[Outcome | AskAll]) -> Focus:
        """Return the sizes about that of the cheapest ending; none while chosen inputs lead to a tree soon."""
        if loop.inquiry.chooses and loop.known < economics.SEARCH_FROM:
            return Focus([], 0)
        rated = [(self._opening(loop, one).expected, one.size) for one in loop.candidates.values()]
        likely = [one for one in rated if one[0] < math.inf]
        best = min(likely)[1] if likely else max((size for _, size in rated), default=1)
        apart = economics.BETWEEN**2
        sizes = {max(1, round(best / apart)), best, round(best * apart)}
        return Focus(sorted(size for size in sizes if size <= self._most(loop)), economics.NEAR_STEPS)

    def testing(self, loop: Loop[Outcome | AskAll]) -> bool:
        """Return whether an attempt is open; of a table's rows, whether one is likely to succeed, or none can teach."""
        if loop.source.tests == math.inf or not loop.source.labels_left:
            return bool(loop.attempts.all)
        return any(self._left(loop, one).chance > economics.UNLIKELY for one in loop.attempts.all)

    def needed(self, loop: Loop[Outcome | AskAll]) -> float:
        """Return the answers after which a test may be over; before tests, those that a budget leaves for learning."""
        if not self.testing(loop):
            return self._may_teach(loop)
        if self._known is not None and not self._known.judged(loop.attempts):
            return 1
        aims = [(one, self.aim(one.tree)) for one in loop.attempts.all]
        rows = [one.needed_for(aim) for one, aim in aims if not one.certifies(aim)]
        needed = min(rows, default=economics.LEAST_FEW)
        if self._holds(loop):
            needed = min(needed, int(self._price.patience * self._first) - loop.counted.asked)
        return max(1, needed)

    def aim(self, tree: Tree) -> float:
        """Return the error that is to be certified for a tree."""
        return self.epsilon

    def proposals(self, loop: Loop[Outcome | AskAll]) -> list[Candidate]:
        """Return the trees that may be tested."""
        return [one for one in loop.proposals if one.size <= self.largest and loop.attempts.of(one.tree) is None]

    def done(self, loop: Loop[Outcome | AskAll]) -> Outcome | AskAll | None:
        """Return the cheapest ending, once there is one and nothing better is likely."""
        if self.better_to_know_all(loop):
            return AskAll()
        known = None if self._known is None else self._known.done(loop.attempts)
        if known is not None:
            return known
        good = self._good(loop)
        if not good:  # one that was in hand may be lost while a smaller one is waited for
            self._in_hand = math.inf
            return None
        ready, waits = self._endings(loop, good)
        self._in_hand = min(self._in_hand, ready[0])
        self._first = self._first or loop.counted.asked
        if any(self._pays_to_wait(loop, one) for one in waits):
            return None
        _, leaves, attempt = ready
        found = self._of(loop, attempt)
        return Outcome(found.with_leaves(leaves), attempt, float(found.disagreements[leaves - 1]))

    def instead(self, loop: Loop[Outcome | AskAll]) -> RunGoal[Outcome | AskAll] | None:
        """Return tests of what there is, where epsilon is out of reach."""
        why = self._ended or self._too_late(loop) or self._out_of_reach(loop)
        if not why:
            return None
        last = LastTests(sizes_up_to(min(LARGEST, self._max_leaves or LARGEST)), why, self._few_rounds)
        if self._ended:
            last.close(why)
        return last  # type: ignore[return-value]

    def close(self, why: str) -> None:
        """End learning: what was learnt is opened before anything else is asked."""
        self._ended = why

    def open(self, loop: Loop[Outcome | AskAll]) -> None:
        """Open the candidate that promises the cheapest ending, if now is the time."""
        options = [self._opening(loop, one) for one in self.proposals(loop)]
        options = [one for one in options if one.way.rows < math.inf]
        if not options:
            return
        best = min(options, key=lambda one: one.expected)
        way, evidence = best.way, best.candidate.evidence
        if self._holds(loop):
            gain, shows = self._in_hand - way.cost, 1.0
            loss = self._price.wasted(way.rows, loop.counted.asked)
        else:
            gain = min(self._running(loop) - way.cost, best.delay)
            likely = economics.AIM * self.aim(best.candidate.tree)
            waiting = self._portion(loop) if loop.source.labels_left else 0  # no answers come where a table has ended
            shows, loss = evidence.shows(likely, waiting), best.failure
        if economics.pays(way.chance, gain, shows, loss):
            loop.open(best.candidate)

    def _holds(self, loop: Loop[Outcome | AskAll]) -> bool:
        """Whether there is an ending: what was certified may not be any more, by what was counted since."""
        return self._in_hand < math.inf and bool(self._good(loop))

    def _good(self, loop: Loop[Outcome | AskAll]) -> list[Attempt]:
        """Attempts that are certified, and whose trees are not known to err more often."""
        good = (one for one in loop.attempts.all if one.certifies(self.epsilon))
        return [one for one in good if one.number not in self._refuted]

    @property
    def _refuted(self) -> set[int]:
        """Numbers of attempts whose trees are known to be no good, whatever their tests say."""
        return set() if self._known is None else self._known.refuted

    def _portion(self, loop: Loop[Outcome | AskAll]) -> int:
        return int(self.portions.rows(loop.known, math.inf))

    # What things cost

    def _cost(self, loop: Loop[Outcome | AskAll], rows: float, leaves: int) -> float:
        """What an ending costs after this many answers more."""
        return self._price.log_cost(loop.counted.asked + loop.counted.labels_for(rows), leaves)

    def _failure(self, loop: Loop[Outcome | AskAll], rows: float) -> float:
        """What an attempt that fails adds to the cost of the ending."""
        number = len(loop.attempts.all) + 1
        more = economics.next_level_costs(number, loop.attempts.level(number), rows)
        return self._price.wasted(more, loop.counted.asked + rows)

    def _opening(self, loop: Loop[Outcome | AskAll], one: Candidate) -> Opening:
        """What comes of a test that begins now."""
        epsilon, level = self.aim(one.tree), loop.attempts.level(len(loop.attempts.all) + 1)
        likely = economics.AIM * epsilon
        best_of_many = 0.0 if one is loop.asked_for else economics.CURSE
        evidence = one.evidence.and_(best_of_many, best_of_many)
        chance = evidence.chance(likely)
        if chance < economics.UNLIKELY:
            return Opening(one, Option(math.inf, math.inf, chance), math.inf, math.inf)
        least = float(Bet(level).needed_for(epsilon))
        errors = evidence.errors_below(likely)
        lengths = [max(least, economics.test_length(error, level, epsilon)) for error in errors]
        way = self._way(loop, lengths, one.size, chance)
        later = self._cost(loop, way.rows + self._portion(loop), one.size)
        delay = later - self._cost(loop, way.rows, one.size) + self._price.a_round if way.rows < math.inf else math.inf
        return Opening(one, way, self._failure(loop, way.rows), delay)

    def _way(self, loop: Loop[Outcome | AskAll], lengths: Sequence[float], leaves: int, chance: float) -> Option:
        """An ending by a test whose length may be any of these."""
        rows = lengths[len(lengths) // 2]
        if rows > loop.source.tests_left:
            rows = math.inf
        if rows == math.inf:
            return Option(math.inf, rows, 0.0)
        return Option(fmean(self._cost(loop, length, leaves) for length in lengths), rows, chance)

    def _left(
        self, loop: Loop[Outcome | AskAll], attempt: Attempt, lost: float = 0.0, leaves: int | None = None
    ) -> Option:
        """What is left of a test; for a tree with other leaves, which disagrees with the tested one on this part."""
        leaves = leaves or attempt.tree.size
        epsilon, evidence = self.aim(attempt.tree) - lost, loop.evidence(attempt)
        if attempt.certifies(epsilon):
            return Option(self._cost(loop, 0, leaves), 0.0, 1.0)
        missing = -math.log(attempt.level) - log_e_value(attempt.errors, attempt.samples, epsilon)
        least = attempt.needed_for(epsilon)
        lengths = [
            max(least, missing / divergence(error, epsilon) if error < epsilon else math.inf)
            for error in evidence.errors_below(epsilon)
        ]
        return self._way(loop, lengths, leaves, evidence.chance(epsilon))

    def _running(self, loop: Loop[Outcome | AskAll]) -> float:
        """The expected cost of the best ending by a test that is under way."""
        open_still = (one for one in loop.attempts.all if one.number not in self._refuted)
        ways = [way for one in open_still if (way := self._left(loop, one)).rows < math.inf]
        costs = [economics.expected_cost(one.cost, one.chance, self._failure(loop, one.rows)) for one in ways]
        return min(costs, default=math.inf)

    # Endings

    def _endings(
        self, loop: Loop[Outcome | AskAll], good: Sequence[Attempt]
    ) -> tuple[tuple[float, int, Attempt], list[Option]]:
        """The cheapest ending by what is certified, and the smaller trees that more answers may certify."""
        ready: list[tuple[float, int, Attempt]] = []
        waits: list[Option] = []
        for attempt in good:
            for leaves, way in self._prunings(loop, attempt):
                if way.rows:
                    waits.append(way)
                else:
                    ready.append((way.cost, leaves, attempt))
        best = min(ready, key=lambda one: one[:2])
        others = (one for one in loop.attempts.all if one not in good and one.tree.size < best[1])
        return best, [*waits, *(self._left(loop, one) for one in others)]

    def _prunings(self, loop: Loop[Outcome | AskAll], attempt: Attempt) -> Iterator[tuple[int, Option]]:
        """Substitutes for a certified tree by their leaves, up to the first that is certified, too."""
        tree = attempt.tree
        disagreements = self._of(loop, attempt).disagreements[: self._max_leaves]
        tabular = loop.counted.space.all_bits and self._tabular(tree)
        kept = economics.FEWER * tree.size if tabular else math.inf
        for leaves, lost in enumerate(disagreements.tolist(), start=1):
            if lost < self.epsilon and not kept < leaves < tree.size:
                way = self._left(loop, attempt, lost, leaves)
                if way.rows < math.inf:
                    yield leaves, way
                if not way.rows:
                    return

    def _tabular(self, tree: Tree) -> bool:
        """Whether a tree is about the whole table of its bits: it has no structure that an error would make simpler."""
        if self._max_leaves is not None or self._price.long_search:
            return False
        return crowds(tree.size, len(set(tree.feature.tolist()) - {-1}))

    def _pays_to_wait(self, loop: Loop[Outcome | AskAll], way: Option) -> bool:
        asked = loop.counted.asked
        if way.rows == math.inf or asked + way.rows > self._price.patience * self._first:
            return False
        return economics.pays(way.chance, self._in_hand - way.cost, 1.0, self._price.wasted(way.rows, asked))

    def _of(self, loop: Loop[Outcome | AskAll], attempt: Attempt) -> Prunings | AsItIs:
        """Trees that could stand in for a tested one; only itself where masses are not known."""
        if attempt.number not in self._substitutes:
            self._substitutes[attempt.number] = self._substitutes_of(loop, attempt.tree)
        return self._substitutes[attempt.number]

    def _substitutes_of(self, loop: Loop[Outcome | AskAll], tree: Tree) -> Prunings | AsItIs:
        masses, space, watch = loop.source.masses, loop.source.independent, loop.counted.watch
        if masses is None:
            return AsItIs(tree)
        if space is None or not self._price.long_search:
            return SmallestSubstitutes(tree, masses, watch=watch)
        return SmallestSubstitutes(tree, masses, [as_grown(tree, space, watch).tree], NUMBERS, watch)

    # Out of reach

    def _out_of_reach(self, loop: Loop[Outcome | AskAll]) -> str:
        """Why no tree will be certified; nothing where one may be."""
        if self._holds(loop):
            return ""
        if self._too_few_leaves(loop):
            return f"max_leaves = {self._max_leaves}"
        if economics.hopeless(loop.history, self.epsilon) and not self._all_can_be_asked(loop):
            return "no small tree was found that is good enough"
        if not loop.source.labels_left and not self._any_hope(loop):
            return TOO_FEW_ROWS
        return ""

    def _too_few_leaves(self, loop: Loop[Outcome | AskAll]) -> bool:
        """Whether trees as large as may be are far from the answers that they were fitted to."""
        fitted, most = loop.archive.fitted, self._max_leaves
        if most is None or fitted == self._looked:
            return False
        self._looked = fitted
        larger = loop.asked_for  # where that one will do, it is clear sooner
        learnt = larger is not None and larger.evidence.chance(self.epsilon) > 1 - economics.UNLIKELY
        if not learnt and fitted < min(economics.ENOUGH_A_LEAF * most, loop.source.most):
            return False
        return economics.too_few(loop.mistakes(loop.archive.at(most)), loop.known, self.epsilon)

    def _too_late(self, loop: Loop[Outcome | AskAll]) -> str:
        """Why learning is over: nothing is under test, and what is left of a budget could certify nothing."""
        limit, left = loop.counted.budget.max_queries, self._left_to_certify(loop)
        late = limit is not None and loop.counted.asked >= max(1, int(economics.LEARNING * limit)) and left < 0
        return f"max_queries = {limit}" if late and not loop.attempts.all else ""

    def _may_teach(self, loop: Loop[Outcome | AskAll]) -> float:
        """Answers that may teach before tests; fewer where a usual portion leaves too few to certify anything."""
        limit, left = loop.counted.budget.max_queries, self._left_to_certify(loop)
        if limit is None or left >= self._portion(loop):
            return math.inf
        return max(1.0, left, economics.LEARNING * limit - loop.counted.asked)

    def _left_to_certify(self, loop: Loop[Outcome | AskAll]) -> float:
        """Labels that a budget leaves beyond those of a test at its best; no limit where none has to be made."""
        left = loop.counted.left
        if left is None or self._known is not None or self._points(loop) < math.inf:
            return math.inf
        return left - loop.attempts.at_best

    def _any_hope(self, loop: Loop[Outcome | AskAll]) -> bool:
        ways = [self._left(loop, one) for one in loop.attempts.all]
        ways += [self._opening(loop, one).way for one in self.proposals(loop)]
        return any(one.rows < math.inf and one.chance > economics.UNLIKELY for one in ways)

    def _all_can_be_asked(self, loop: Loop[Outcome | AskAll]) -> bool:
        """Whether every input may be asked about for what learning would cost; then epsilon is in reach."""
        return self._max_leaves is None and self._points(loop) <= 2 * economics.FAR_AHEAD

    def _points(self, loop: Loop[Outcome | AskAll]) -> float:
        """The number of inputs, where all of them may be asked about and a known answer is known for good."""
        points = None if loop.source.independent is None else loop.source.independent.points
        left = loop.counted.left
        allowed = ENUMERATE_UNASKED if left is None else left + self._answered(loop)
        unknown = points is None or not loop.counted.deterministic or loop.attempts.tolerance is not None
        return math.inf if unknown or points is None or points > allowed else points

    def _answered(self, loop: Loop[Outcome | AskAll]) -> int:
        return loop.counted.asked if loop.counted.once else max(loop.known, loop.inquiry.known)

    def better_to_know_all(self, loop: Loop[Outcome | AskAll]) -> bool:
        """Whether all inputs that are left cost less than the best ending in sight."""
        missing = self._points(loop) - self._answered(loop)
        if missing == math.inf or self._ended:
            return False
        if missing <= loop.counted.labels_for(loop.attempts.at_best) and not loop.attempts.all:
            return True
        ways = [self._left(loop, one) for one in loop.attempts.all]
        rows = min((one.rows / max(one.chance, economics.UNLIKELY) for one in ways), default=math.inf)
        labels = loop.counted.labels_for(rows) if rows < math.inf else math.inf
        return missing <= min(labels, max(economics.FEW_INPUTS, self._answered(loop)))
