"""``diff``: what changed between two targets, how much of it, and where.

A portion of inputs is drawn, counts for all attempts that are open, ends the run or not, and teaches; then a tree of
where the changes sit is grown (`diff_growing`), and an attempt for it is opened (`diff_testing`). Every mistake of the
last one refines the tree. Where no small tree explains the changes, trees of many sizes are tested together. What is
known of both sides is compared exactly (`diff_exact`).

This is the order of `runs/loop`, but no goal of it. There an attempt is about one error, its inputs come from the whole
space, and trees are judged by how often they are wrong. Here most of what is drawn has not changed, and any tree is
right about it; an attempt is about precision and recall, the first of which is tested inside of what it flags; and
what a tree is asked about, the old answer, is known only when an input has been asked about.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.access import Call, asked_target
from fidelitree.asking.events import Observer, nobody
from fidelitree.asking.limits import Budget, BudgetSpent, Running, Workers
from fidelitree.errors import (
    ParameterError,
    check_count,
    check_delta,
    check_epsilon,
    check_observer,
    check_share,
    check_switch,
    check_tolerance,
)
from fidelitree.runs import economics
from fidelitree.runs.agree.diff_exact import (
    ChangeGrower,
    few_inputs,
    known_difference,
    listed,
    of_all_inputs,
    of_circuits,
    stored_tree,
)
from fidelitree.runs.agree.diff_growing import FEW, ChangeExplorer
from fidelitree.runs.agree.diff_testing import Changed, DiffAttempt, level_of, level_together
from fidelitree.runs.agree.difference import SAME, Difference, Flagging, says_where
from fidelitree.runs.agree.pair import Pair, paired
from fidelitree.runs.input_source import source_of
from fidelitree.runs.portions import Growing
from fidelitree.runs.size_grid import sizes_up_to
from fidelitree.spaces.draw import seed_of
from fidelitree.spaces.given import world_of
from fidelitree.targets.circuits.circuit import Circuit
from fidelitree.trees.disagreements import EXAMPLES
from fidelitree.trees.tree import Tree

if TYPE_CHECKING:
    from fidelitree.runs.agree.diff_exact import KnownChanges
    from fidelitree.runs.input_source import Source
    from fidelitree.spaces.world import World
    from fidelitree.targets.labels import Target

_PORTIONS = Growing(economics.FIRST_FEW, economics.FIRST, economics.PART_OF_TEST)


def diff(
    old: Target | str | os.PathLike[str],
    new: Target | str | os.PathLike[str],
    space: World | None = None,
    delta: float = 0.05,
    *,
    groups: Any = None,
    precision: float = 0.9,
    recall: float = 0.9,
    epsilon: float = 0.001,
    max_leaves: int = 64,
    tolerance: float | None = None,
    threshold: float | None = None,
    seed: int | None = None,
    deterministic: bool = True,
    max_queries: int | None = None,
    max_seconds: float | None = None,
    batch_size: int | None = None,
    executor: Workers | None = None,
    timeout: float | None = None,
    retries: int = 0,
    journal: str | os.PathLike[str] | None = None,
    observer: Observer = nobody,
) -> Difference:
    """How often two targets answer differently, and a small tree of where, and from what to what.

    The run ends as soon as the share of changed inputs is certified to be at most ``epsilon``, or a tree is certified
    to flag at least ``recall`` of all changes with at least ``precision``. Where no tree of at most ``max_leaves`` can,
    trees of many sizes come with the bounds that they reach (``curve``), and the share that none explains is stated.
    All bounds are true together with confidence 1 - delta. The tree's first feature is what the old target answers. Of
    two trees, and of two circuits, everything is exact. An input that both answer counts as one label.

    Args:
        old: The target as it was: a callable, a model, a tree, or the folder of a stored result.
        new: The target as it is, in any of these forms.
        space: Where inputs come from, as for `distill`; it may be left out for two folders.
        delta: The chance that the run states a false bound.
        groups: The column of a table that says which rows belong together, or an entry for each row.
        precision: The share of what the tree flags that must have changed.
        recall: The share of all changes that the tree must flag.
        epsilon: The share of changed inputs that is as good as none.
        max_leaves: The most leaves that a tree may have.
        tolerance: For targets that answer numbers: an error is to be further away than this.
        threshold: Turns scores into labels: 1 above this value, otherwise 0; of a classifier, by its second class.
        seed: Chooses all draws: the same seed gives the same result. None takes a fresh one, which is recorded.
        deterministic: False where the target may answer an input differently each time: no answer is remembered.
        max_queries: Ends the run after so many labels, with what is certified by then.
        max_seconds: Ends the run after so many seconds, with what is certified by then.
        batch_size: The most inputs that one call of the target receives.
        executor: Runs calls elsewhere: a `concurrent.futures.Executor`, a function that makes one, or "joblib".
        timeout: The longest silence of the executor's workers, in seconds.
        retries: How often a call that failed is made again.
        journal: The file that keeps every answer: the same call goes on from there, and `verify` checks by it.
        observer: Receives an event for each step of the run; `Progress` is one.

    Returns:
        How much changed, where, and what no tree explains; it prints, stores and reports itself.

    Raises:
        ParameterError: An argument breaks its rule.
        TargetError: The target failed, or answered something that is no label.
        JournalError: The journal cannot be opened or written.

    Examples:
        >>> from fidelitree.spaces.product import ProductSpace
        >>> old, new = (lambda batch: batch[:, 0]), (lambda batch: batch[:, 0] & ~(batch[:, 1] & batch[:, 2]))
        >>> found = diff(old, new, ProductSpace.bernoulli(10))
        >>> found.explained, found.leaves
        (True, 4)
    """
    wanted = check_share("precision", precision), check_share("recall", recall)
    check_observer(observer)
    goal = _Goal(check_epsilon(epsilon), check_delta(delta), *wanted, check_count("max_leaves", max_leaves, least=2))
    known_seed = seed_of(seed)
    near = check_tolerance(tolerance, threshold)
    before, after, world = _sides(old, new, (space, groups), threshold)
    running = Running(batch_size, executor, timeout, retries, journal)
    budget = Budget(max_queries=economics.FAR_AHEAD if max_queries is None else max_queries, max_seconds=max_seconds)
    told = {**goal._asdict(), "deterministic": check_switch("deterministic", deterministic), **budget.limits()}
    told |= {} if near is None else {"tolerance": near}
    call = Call("diff", known_seed, seed is not None, told)
    return _compared((before, after), world, goal, (running, call), budget, observer)


def _compared(
    sides: tuple[Any, Any], world: World, goal: _Goal, asked: tuple[Running, Call], budget: Budget, observer: Observer
) -> Difference:
    """Exactly where that costs nothing, or next to nothing; by draws elsewhere."""
    (old, new), (running, call) = sides, asked
    near = call.arguments.get("tolerance")
    if isinstance(old, Tree) and isinstance(new, Tree) and world.masses is not None:
        return known_difference((old, new, near), world, (goal.epsilon, (goal.precision, goal.recall), goal.max_leaves))
    free = listed(old, new)
    every = call.arguments["deterministic"] and few_inputs(world, free, budget)
    limits = Budget() if every and free else budget
    with paired((_callable(old), _callable(new)), world, running, call, limits, observer) as pair:
        found = _Comparison(pair, world, goal)
        if isinstance(old, Circuit) and isinstance(new, Circuit) and world.independent is not None:
            changes = of_circuits(old, new, world.independent) if near is None else None
            if changes is not None:
                return found.known(changes, "both are circuits")
        return found.all_inputs() if every else found.run()


def _sides(old: Any, new: Any, given: tuple[Any, Any], threshold: float | None) -> tuple[Any, Any, World]:
    """Both sides as they are used, trees as trees, and where inputs come from: a space, or a table with groups."""
    space, groups = given
    (before, stored), (after, other) = stored_tree(old), stored_tree(new)
    for tree in (before, after):
        if isinstance(tree, Tree):
            tree.check_answers("one side of a difference")
    space = space if space is not None else other or stored
    if space is None:
        raise ParameterError("space must say where inputs come from, unless both are folders of results; got None")
    one, two = (side if isinstance(side, Tree) else asked_target(side, threshold) for side in (before, after))
    return one, two, world_of(space, groups)


def _callable(target: Any) -> Target:
    """A tree is asked by its `predict`, like any model."""
    return target.predict if isinstance(target, Tree) else target


class _Goal(NamedTuple):
    """What was asked for."""

    epsilon: float
    delta: float
    precision: float
    recall: float
    max_leaves: int


class _Comparison:
    """One run."""

    def __init__(self, pair: Pair, space: World, goal: _Goal) -> None:
        self._pair, self._space, self._goal = pair, space, goal
        self._source: Source = source_of(space, pair.seed)
        self._explorer = ChangeExplorer(pair, self._source.world or space, goal.max_leaves)
        self._changed, self._attempts = Changed(goal.delta), list[DiffAttempt]()
        self._examples: list[dict[str, Any]] = []
        self._proposals = 0

    def run(self) -> Difference:
        """Until something is certified, or a limit ends it."""
        try:
            reason = self._found()
        except BudgetSpent as stop:
            reason = str(stop)
        except KeyboardInterrupt:
            if not self._changed.samples:
                raise
            reason = "interrupted"
        self._pair.end(reason)
        return self._result(reason)

    def known(self, changes: KnownChanges, reason: str) -> Difference:
        """Everything is exact."""
        self._pair.end(reason)
        grown = ChangeGrower(changes, self._space.product, self._goal.max_leaves)
        return self._summary(grown.curve(), (grown.share, grown.share), reason, exact=True)

    def all_inputs(self) -> Difference:
        """The same from all inputs."""
        changes, inner, old, new = of_all_inputs(self._pair, self._space.product)
        self._show(inner, old, new)
        return self.known(changes, "every input was asked")

    def _found(self) -> str:
        while True:
            wrong = self._draw(self._portion(self._needed()))
            if not wrong and self._attempts and self._attempts[-1].misses.certifies(1 - self._goal.recall):
                wrong = self._test_inside(self._attempts[-1])
            if self._done():
                return "certified"
            if self._changed.certifies(self._goal.epsilon):
                return "at most epsilon changed"
            if self._changed.errors < FEW:
                continue
            if self._hopeless():
                self._open_many()
                return "certified" if self._done() else "no small tree explains the changes"
            if wrong or not self._attempts:
                self._propose()

    def _done(self) -> bool:
        return any(one.holds(self._goal.precision, self._goal.recall) for one in self._attempts)

    def _hopeless(self) -> bool:
        """Whether trees one by one lead nowhere."""
        return self._proposals >= FEW

    def _needed(self) -> float:
        """Inputs to the end of the run, if all goes well: nothing else changes, or all changes are flagged."""
        if not self._attempts:
            return self._changed.needed_for(self._goal.epsilon) if self._goal.epsilon else math.inf
        changes = min(one.misses.needed_for(1 - self._goal.recall) for one in self._attempts)
        return max(economics.LEAST_FEW, changes / self._changed.rate)

    def _portion(self, needed: float) -> int:
        """What to draw next, of those that are ``needed``."""
        return max(1, math.ceil(_PORTIONS.rows(self._changed.samples, needed)))

    def _draw(self, rows: int) -> bool:
        """Count inputs of the whole space for all that is open, and let them teach; whether the last one erred."""
        inner = self._source.test(self._pair.counted.affordable(rows))
        old, new = self._pair.ask(inner, "certify" if self._attempts else "label")
        changed, wrong = old != new, False
        self._changed.count(int(changed.sum()), len(changed))
        self._show(inner, old, new)
        for one in self._attempts:
            flagged = one.flags(self._explorer, inner, old)
            one.count(flagged, changed)
            wrong = bool((flagged != changed).any())
        self._explorer.know(inner, (old, new))
        return wrong

    def _test_inside(self, attempt: DiffAttempt) -> bool:
        """Draws in what an attempt flags, until its precision is certified; whether one of them was none.

        Those of the whole space that test its recall test its precision too, and are often enough.
        """
        while not attempt.false_alarms.certifies(1 - self._goal.precision):
            inner, leaves = self._explorer.inside(attempt.tree, economics.LEAST_FEW)
            if not len(inner):
                return False
            old, new = self._pair.ask(inner, "certify")
            here = attempt.tree.reached_inner(self._explorer.extend(inner, old)) == leaves
            unchanged = int((here & (old == new)).sum())
            attempt.false_alarms.count(unchanged, int(here.sum()))
            self._explorer.seen.add(inner, (old, new))
            if unchanged:
                return True
            if not here.any():
                return False
        return False

    def _propose(self) -> None:
        """Grow a tree, bisect its borders if it flags a patch, and open an attempt for what comes of it."""
        explorer = self._explorer
        self._proposals += 1
        if explorer.sharpened():
            explorer.sharpened()  # a tree that knows the borders of the first one has others
        tree = explorer.fit(economics.STEPS)
        # One leaf flags everything: that is tested where nearly everything changed.
        everywhere = self._changed.rate > (1 + self._goal.precision) / 2 and says_where(tree)
        if (tree.size > 1 or everywhere) and all(one.tree != tree for one in self._attempts):
            self._attempts.append(DiffAttempt(tree, level_of(len(self._attempts) + 1, self._goal.delta)))

    def _open_many(self) -> None:
        """Trees of many sizes from as many inputs as tell what is hopeless, tested together on others."""
        most = min(int(economics.HOPELESS_FROM / economics.LEARNING), self._pair.counted.left or 0)
        learnt = int(economics.LEARNING * most)
        self._draw_all(learnt)
        trees = self._explorer.fit_sizes(sizes_up_to(self._goal.max_leaves)[1:], economics.STEPS)
        level = level_together(len(self._attempts), max(1, len(trees)), self._goal.delta)
        self._attempts += [DiffAttempt(tree, level) for tree in trees]
        self._draw_all(most - learnt)

    def _draw_all(self, rows: int) -> None:
        """So many inputs, in portions: an interrupt loses one."""
        while rows > 0:
            portion = self._portion(rows)
            self._draw(portion)
            rows -= portion

    def _show(self, inner: NDArray[Any], old: NDArray[np.intp], new: NDArray[np.intp]) -> None:
        for row in np.flatnonzero(old != new)[: EXAMPLES - len(self._examples)].tolist():
            values = {
                feature.name: feature.column(inner[row : row + 1, i].astype(np.float64))[0]
                for i, feature in enumerate(self._space.product)
            }
            told = {name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()}
            before, after = self._pair.answers(inner[row], int(old[row]), int(new[row]))
            self._examples.append({**told, "old": before, "new": after})

    def _result(self, reason: str) -> Difference:
        curve = [Flagging(one.tree, one.precision, one.recall) for one in self._attempts if one.misses.samples]
        return self._summary(curve, self._changed.interval, reason)

    def _summary(
        self, curve: list[Flagging], changed: tuple[float, float], reason: str, exact: bool = False
    ) -> Difference:
        """The smallest tree that has what was asked for, or the one that comes nearest."""
        goal = self._goal
        good = [one for one in curve if one.precision >= goal.precision and one.recall >= goal.recall]
        ranked = sorted(curve, key=lambda one: -min(one.precision / goal.precision, one.recall / goal.recall))
        space = self._explorer.extended if self._pair.book.seen else self._space.product
        nothing = Flagging(Tree.constant(space, SAME), 1.0, 0.0)
        best = min(good, key=lambda one: one.leaves) if good else [*ranked, nothing][0]
        return Difference(
            changed,
            goal.epsilon,
            0.0 if exact else goal.delta,
            best.tree,
            best.precision,
            best.recall,
            (goal.precision, goal.recall),
            tuple(sorted(curve, key=lambda one: one.leaves)),
            tuple(self._examples),
            self._pair.counted.queries,
            self._space,
            reason,
            exact,
            seed=None if exact else self._pair.seed,
            seed_chosen=self._pair.seed_chosen and not exact,
        )
