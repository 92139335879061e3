"""Runs over features of any kind: labels, a search for small trees, tests, and more labels where they are not enough.

Labels are bought in growing portions. After each, trees are looked for that fit most of them, and the smallest one that
errs little enough on the others is put to the test: an attempt is opened, and counts answers to inputs drawn since.
What was counted joins the labels afterwards. Where queries are to be saved the first portion is small; where leaves
are, it is large, the search is long, and several sizes are tested at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from fidelitree.attempts import FAIR_TRIAL, LATE, LOOK, Attempt, Attempts
from fidelitree.binning import Binning
from fidelitree.budget import BudgetSpent
from fidelitree.events import Observer, TreeJudged
from fidelitree.exact.engine import ENUMERATE_UNASKED
from fidelitree.needs import LABELLED_BYTES, inputs_within
from fidelitree.refine.coded import Coded, Sketch, size
from fidelitree.refine.search import Refiner
from fidelitree.runs.auto import Finish, Outcome
from fidelitree.runs.source import Inner, Source
from fidelitree.sequential import divergence
from fidelitree.targets.counting import Counted
from fidelitree.tree import Tree

Codes = NDArray[np.intp]

HELD = 4  # every so many-th label is held out of the search, to choose a size by
BATCH = 8
MOST_LABELS = 100_000
NO_DOUBT = 6  # standard deviations


@dataclass(frozen=True)
class Plan:
    """How a run spends: labels at first, proposals a search, and held-out errors (in epsilons) of what is tested.

    The frugal plan tests a tree as soon as that would take half as many answers as there are labels; the other tests
    several sizes at once, down to one that is likely to be good enough. A ``faithful`` plan tests the tree with the
    fewest held-out errors, because more is asked of it than an error of epsilon.
    """

    first: int
    steps: int
    frugal: bool
    growth: float = 1.6
    faithful: bool = False


FRUGAL = Plan(first=64, steps=60, frugal=True)
FAITHFUL = Plan(first=64, steps=60, frugal=True, faithful=True)
_AIMS = (0.9, 0.85, 0.8, 0.7, 0.6, 0.5)  # in epsilons
# In standard errors of the held-out share, below epsilon. The test sees many more answers than were held out, so sizes
# are worth a try that the latter leave open (0, 0.5), and some that are safe if the held-out labels flattered (5).
_MARGINS = (0.0, 0.5, 1.0, 1.75, 2.5, 3.5, 5.0)
# Times the largest of those: trees fitted to the held-out labels too, which err less than the others of their size, and
# are there to fall back on if those labels flattered all of them.
_LARGER = (0.85, 1.0, 1.2, 1.45)


def patient(epsilon: float) -> Plan:
    """The plan where leaves are dear and labels cheap; a small epsilon takes more labels to see."""
    return Plan(first=5_000 if epsilon > 0.05 else 20_000, steps=900, frugal=False, growth=2)


class TableRun:
    """One run, to be ended by its finish, by a budget, or by the insight that no small tree will do."""

    def __init__(
        self, counted: Counted, source: Source, attempts: Attempts, plan: Plan, seed: int, observer: Observer
    ) -> None:
        self.counted, self.source, self.attempts = counted, source, attempts
        self.history: list[TreeJudged] = []
        self._plan, self._seed, self._observer = plan, seed, observer
        self._inner: Inner = np.empty((0, len(source.product)), source.product.dtype)
        self._codes: Codes = np.empty(0, np.intp)
        self._best: Tree | None = None
        self._late = self._hopeless = self._quick = False
        # Bins, and the parts for learning and for judging, take as much again as the inputs.
        self._most = min(MOST_LABELS, inputs_within(LABELLED_BYTES, 2 * self._inner.itemsize * self._inner.shape[1]))

    def run(self, finish: Finish) -> Outcome | None:
        """What ``finish`` makes of an attempt; None where it is cheaper to ask about all inputs."""
        limit = self.counted.budget.max_queries
        wanted = self._plan.first
        if self.attempts.open_ended and limit is not None:
            wanted = max(1, min(self._most, int(LATE * limit)))
        while not self.cheaper_to_ask_all(wanted):
            self._learn(wanted)
            if self._open_attempts():
                done = self._test(finish)
                if done is not None:
                    return done
            enough = len(self._codes) >= min(self._most, self.source.most)
            if (enough or self._hopeless) and not self._late:
                self._last_trial()
            wanted = int(self._plan.growth * len(self._codes))
        return None

    def look_once(self, finish: Finish) -> Outcome | None:
        """One portion of labels, one search, one test; None where nothing comes of it."""
        self._learn(self._plan.first)
        return self._test(finish) if self._open_attempts() else None

    def cheaper_to_ask_all(self, wanted: int) -> bool:
        """Whether as many labels would answer for every input."""
        masses, left = self.source.masses, self.counted.left
        points = None if masses is None else masses.points
        if points is None or not self.counted.deterministic:
            return False
        most = ENUMERATE_UNASKED if left is None else left + len(self._codes)
        return points <= min(wanted, most) or (points <= most and points - len(self._codes) <= len(self._codes))

    def tree(self) -> Tree:
        """The best tree so far; the best constant while nothing was fitted."""
        return self._constant() if self._best is None else self._best

    def fresh(self, rows: int) -> Inner:
        """The next inputs for tests."""
        return self.source.test(rows)

    def _constant(self) -> Tree:
        """The most frequent label of those that taught, or that came as they were drawn, or of what there is."""
        book, usual = self.counted.book, self.attempts.standing.usual()
        if len(self._codes) or usual is None:
            codes = self._codes if len(self._codes) or self.counted.cut is None else self.counted.cut
            usual = book.seen[book.majority(np.bincount(codes).tolist())]
        return Tree.build(self.source.product, [book.sorted().index(usual)], book.sorted())

    def _learn(self, wanted: int) -> None:
        """Buy labels, but leave enough of the budget for a test that could succeed."""
        rows, left = wanted - len(self._codes), self.counted.left
        if left is not None:
            limit = self.counted.budget.max_queries or 0
            # Where these labels leave too little for a test, the budget will be spent anyhow.
            self._late = self.attempts.open_ended or rows > left - self.attempts.at_best
            if self._late:
                rows = min(rows, max(int(LATE * limit) - self.counted.asked, 0 if len(self._codes) else 1))
        self._buy(len(self._codes) + rows)

    def _buy(self, wanted: int) -> None:
        """Labels up to a number; where they are many, standing attempts are opened for quick trees on the way."""
        standing, found = self.attempts.standing, True
        while found and len(self._codes) < wanted:
            if len(self._codes):
                self._stand()
            rows = min(wanted - len(self._codes), standing.next - self.counted.asked)
            inner = self.source.label(max(1, rows))
            found = len(inner) >= rows
            codes = self._ask(inner, "label")
            standing.count(inner, self.counted.labels(codes))
            self._add(inner, codes)

    def _stand(self) -> None:
        """Open standing attempts when it is time, for the tree there is and for the best constant."""
        if self.attempts.standing.due(self.counted.asked):
            self.attempts.standing.open(self.counted.asked, [self._quickly(), self._constant()])

    def _quickly(self) -> Tree:
        """A tree for the labels so far without a search; the best one where there is one."""
        if self._best is None or self._quick:
            binning, some, others = self._parted()
            refiner = Refiner(some, others, self._seed, self.counted.watch)
            self._best, self._quick = self._tree(binning, _most_faithful(refiner, self.counted.budget.max_leaves)), True
        return self._best

    def _open_attempts(self) -> bool:
        """Look for trees, and open attempts for those worth it; whether there are any, or one was certified before."""
        before = len(self.attempts.all)
        trees = self._fit()
        self._stand()
        for tree in trees or ([self.tree()] if self._late else []):
            self.attempts.open(tree)
        good = [attempt.tree for attempt in self.attempts.all[:before] if attempt.certifies(self.attempts.epsilon)]
        return len(self.attempts.all) > before or self._late or any(tree in good for tree in trees)

    def _parted(self) -> tuple[Binning, Coded, Coded]:
        """The labels as bins, some of them held out."""
        binning = Binning.of(self.source.product, self._inner)
        held = np.arange(len(self._codes)) % HELD == HELD - 1
        some = binning.coded(self._inner[~held], self._codes[~held])
        others = binning.coded(self._inner[held], self._codes[held]) if held.any() else some  # too few to hold any out
        return binning, some, others

    def _fit(self) -> list[Tree]:
        """Trees that err little enough on held-out labels, the smallest first."""
        binning, some, others = self._parted()
        refiner, aims = Refiner(some, others, self._seed, self.counted.watch), self._aims()
        try:
            refiner.improve(aims[len(aims) // 2], self._plan.steps)  # where the tree that will pass is likely to be
        except BudgetSpent:
            self._best = self._tree(binning, _most_faithful(refiner, self.counted.budget.max_leaves))
            raise
        most = self.counted.budget.max_leaves
        found: dict[int, Sketch] = {}
        best: Sketch | None = None
        faithful = self.attempts.open_ended or self._plan.faithful
        for aim in () if faithful else aims:
            sketch = refiner.smallest(aim)
            if others.errors(sketch) <= aim * others.total and (most is None or size(sketch) <= most):
                found.setdefault(size(sketch), sketch)
                best = sketch
        if best is None and most is not None:
            self._hopeless = self._beyond_reach(_within(refiner, most), some)
        best = _most_faithful(refiner, most) if best is None else best
        self._best, self._quick = self._tree(binning, best), False
        self._judge(self._best, others.errors(best) / others.total)
        if faithful:
            return [self._best]
        sketches = [self._on_all(binning, sketch) for sketch in found.values()]
        if found and not self._plan.frugal:
            everything = refiner.carried_on(binning.coded(self._inner, self._codes), self._plan.steps)
            sizes = [max(1, int(factor * max(found))) for factor in _LARGER]
            sketches += [_within(everything, leaves) for leaves in sizes if most is None or leaves <= most]
        return [self._tree(binning, sketch) for sketch in sorted(sketches, key=size)]

    def _aims(self) -> tuple[float, ...]:
        """Held-out errors of trees that are worth a test, falling."""
        epsilon, labels = self.attempts.epsilon, len(self._codes)
        if self._plan.frugal:
            answers = -np.log(self.attempts.level(len(self.attempts.all) + 1))
            worth = [aim for aim in _AIMS if answers / divergence(aim * epsilon, epsilon) <= labels / 2]
            return (epsilon * (worth[0] if worth else _AIMS[-1]),)
        error = (epsilon * (1 - epsilon) * HELD / labels) ** 0.5
        return tuple(max(epsilon / 4, epsilon - margin * error) for margin in _MARGINS)

    def _beyond_reach(self, sketch: Sketch, rows: Coded) -> bool:
        """Whether even the rows that a tree with ``max_leaves`` was fitted to leave no doubt that it is not enough."""
        epsilon, errors = self.attempts.epsilon, rows.errors(sketch) / rows.total
        return bool(errors > epsilon + NO_DOUBT * (epsilon * (1 - epsilon) / len(self._codes)) ** 0.5)

    def _on_all(self, binning: Binning, sketch: Sketch) -> Sketch:
        """The same size fitted to all labels, where they are too few for some to be left out."""
        if not self._plan.frugal:
            return sketch
        refiner = Refiner(binning.coded(self._inner, self._codes), None, self._seed, self.counted.watch)
        refiner.improve(self._aims()[0], self._plan.steps)
        return _within(refiner, size(sketch))

    def _tree(self, binning: Binning, sketch: Sketch) -> Tree:
        return binning.tree(sketch, self.counted.book.ranks(), self.counted.book.sorted())

    def _test(self, finish: Finish) -> Outcome | None:
        """Count answers for all attempts until the finish is content, or none of the attempts is worth it."""
        patience = self.counted.asked + max(len(self._codes), FAIR_TRIAL / self.attempts.epsilon)
        while True:
            rows, needed = max(BATCH, len(self._codes) // 64), finish.needed(self.attempts)
            self.attempts.tell(self._observer, self.counted.asked, needed)
            inner = self.source.test(self._allowed(min(rows, needed)))
            codes = self._ask(inner, "certify")
            self.attempts.count(inner, self.counted.labels(codes))
            done = finish.done(self.attempts)
            if done is not None:
                return done
            self._add(inner, codes)
            left = patience - self.counted.asked
            hopeful = any(self._hopeful(attempt, left) for attempt in self.attempts.all)
            if self._plan.faithful:
                hopeful = hopeful and finish.needed(self.attempts) <= left
            if not self._late and not hopeful:
                return None

    def _hopeful(self, attempt: Attempt, left: float) -> bool:
        epsilon = self.attempts.epsilon
        many = attempt.errors > epsilon * attempt.samples if self._plan.frugal else attempt.unlucky(epsilon)
        return (attempt.samples < LOOK or not many) and attempt.needed_for(epsilon) <= left

    def _last_trial(self) -> NoReturn:
        """No small tree is good enough: give the best one a bound that means something, and say so."""
        tree = self.tree()
        self.attempts.open(tree)
        last = next(attempt for attempt in self.attempts.all if attempt.tree == tree)
        wanted = math.ceil(min(FAIR_TRIAL / self.attempts.epsilon, self.source.tests))
        while last.samples < wanted:
            inner = self.source.test(self._allowed(wanted - last.samples))
            self.attempts.count(inner, self.counted.labels(self._ask(inner, "certify")))
        listed = self.source.masses is None
        trouble = "the table has too few rows" if listed else "no small tree was found that is good enough"
        leaves = "1 leaf" if tree.size == 1 else f"{tree.size} leaves"
        raise BudgetSpent(
            f"{trouble}: after {self.counted.asked:,} labels the best tree, with {leaves}, still disagrees with the "
            f"target on about {last.errors / max(1, last.samples):.2g} of inputs"
        )

    def _allowed(self, rows: int) -> int:
        left = self.counted.left
        return rows if left is None else max(1, min(rows, left))

    def _ask(self, inner: Inner, purpose: str) -> Codes:
        return np.asarray(self.counted.ask(inner, purpose), np.intp)

    def _add(self, inner: Inner, codes: Codes) -> None:
        self._inner = np.concatenate([self._inner, inner])
        self._codes = np.concatenate([self._codes, codes])

    def _judge(self, tree: Tree, error: float) -> None:
        judged = TreeJudged(self.counted.asked, tree.size, error, self.attempts.error_bound)
        self.history.append(judged)
        self._observer(judged)


def _most_faithful(refiner: Refiner, most: int | None) -> Sketch:
    """The tree with the fewest held-out errors; of the larger ones only some are looked at."""
    points = [point for point in refiner.points() if most is None or point.leaves <= most]
    some = sorted({round(len(points) * 0.8**k) for k in range(20)} & set(range(len(points)))) or [0]
    return min((points[k] for k in {*some, len(points) - 1}), key=lambda point: (point.share, point.leaves)).tree


def _within(refiner: Refiner, most: int | None) -> Sketch:
    """The tree with the fewest errors on the rows that has at most so many leaves."""
    return [point for point in refiner.points() if most is None or point.leaves <= most][-1].tree
