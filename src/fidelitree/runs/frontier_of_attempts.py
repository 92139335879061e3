"""The frontier that a run of `distill` leaves behind: what its attempts certify at every size, without a label more.

All attempts of a run hold together, so each tree that was tested may be a point. A tree that disagrees with a tested
one on d of the inputs, which is known exactly, has an error that is higher by d at most: a pruning of it, or the tree
that the archive has of a size. There is a point for each size that `frontier` has, as far as it is better than those
below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fidelitree.display.wording import at_most
from fidelitree.display.wording import leaves as in_words
from fidelitree.exact.paths import disagreement
from fidelitree.runs import economics
from fidelitree.runs.frontier_result import PRICE, Frontier
from fidelitree.runs.goal import Goal, result_of
from fidelitree.runs.outcome import Outcome
from fidelitree.runs.size_grid import LARGEST, sizes_up_to
from fidelitree.search.optimal.substitutes import Prunings

if TYPE_CHECKING:
    from fidelitree.certificates.attempts import Attempt
    from fidelitree.runs.result import Distillation
    from fidelitree.runs.session import Session
    from fidelitree.trees.tree import Tree

GRID = sizes_up_to(LARGEST)
"""Numbers of leaves that a result's frontier may have beside the result's own."""


def frontier_of(session: Session, made: Distillation, outcome: Outcome, goal: Goal, trees: Sequence[Tree]) -> Frontier:
    """The result itself, and what is certified of each size; ``trees`` are those that the archive has."""
    best = _best_of_each_size(session, trees)
    size, bound = outcome.tree.size, made.error_bound
    listed = [one for one in _curve(best) if one.tree.size in GRID]
    others = [one for one in listed if one.tree.size < size or (one.tree.size > size and one.error_bound < bound)]
    points = [_point(session, made, one, goal) for one in others]
    return Frontier.of([made, *points], goal.delta, max([size, *best]))


def at_the_knee(session: Session, outcome: Outcome) -> Outcome:
    """Where epsilon is out of reach: the last tree whose leaves are each worth their price.

    Who gave ``max_leaves`` has said what a leaf is worth, and gets the best tree within it.
    """
    if session.counted.budget.max_leaves is not None:
        return outcome
    points = _best_of_each_size(session).values()
    return min(points, key=lambda one: (one.error_bound + PRICE * one.tree.size, one.tree.size), default=outcome)


def shortfall(trouble: str, session: Session, would_help: str = "") -> str:
    """Why a run ends without what was asked for: what each size reached, and what epsilon would take."""
    most, epsilon = session.counted.budget.max_leaves, session.attempts.epsilon
    curve = _curve(_best_of_each_size(session))
    allowed = [one for one in curve if most is None or one.tree.size <= most]
    shown = sorted({0, len(allowed) // 2, len(allowed) - 1}) if allowed else []
    told = ", ".join(_reaching(allowed[place], epsilon) for place in shown)
    enough = next((one.tree.size for one in curve if one.error_bound <= epsilon), None)
    needs = would_help or f"more than {in_words(allowed[-1].tree.size if allowed else 1)}"
    needs = needs if enough is None else in_words(enough)
    return (
        f"{trouble}: after {session.counted.asked:,} labels {told or 'nothing is certified'}; "
        f"{100 * epsilon:g}% needs {needs}"
    )


def _reaching(point: Outcome, epsilon: float) -> str:
    """Rounded up: a bound above epsilon never looks like epsilon."""
    reach = "reaches" if point.tree.size == 1 else "reach"
    return f"{in_words(point.tree.size)} {reach} {at_most(point.error_bound, epsilon)}"


def _best_of_each_size(session: Session, trees: Sequence[Tree] = ()) -> dict[int, Outcome]:
    best: dict[int, Outcome] = {}
    for point in _certified(session, trees):
        if point.error_bound < min(1.0, best[point.tree.size].error_bound if point.tree.size in best else 1.0):
            best[point.tree.size] = point
    return best


def _curve(best: dict[int, Outcome]) -> list[Outcome]:
    """Those that no smaller one is as good as."""
    curve: list[Outcome] = []
    for _, one in sorted(best.items()):
        if not curve or one.error_bound < curve[-1].error_bound:
            curve.append(one)
    return curve


def _certified(session: Session, trees: Sequence[Tree]) -> Iterator[Outcome]:
    attempts, space = session.attempts, session.source.masses
    tested: list[Attempt] = sorted((one for one in attempts.live if one.samples), key=lambda one: one.error_bound)
    for one in tested:
        yield Outcome(one.tree, one, 0.0)
        if space is not None and 1 < one.tree.size <= economics.LARGEST:
            prunings = Prunings(one.tree, space)
            for size in (size for size in GRID if size < one.tree.size):
                yield Outcome(prunings.with_leaves(size), one, float(prunings.disagreements[size - 1]))
            for tree in (tree for tree in trees if tree.size < one.tree.size):
                yield Outcome(tree, one, disagreement(tree, one.tree, space))


def _point(session: Session, made: Distillation, outcome: Outcome, goal: Goal) -> Distillation:
    """A point that is not the result: no error was asked of it."""
    point = result_of(outcome, session, replace(goal, split_quality=False), made.reason)
    return replace(point, certificate=replace(point.certificate, epsilon=None), trace=())
