"""The optimum: no tree has fewer leaves (or less depth, or less average depth), because all of them were considered.

Dynamic programming over subcubes is folklore (Guijarro, Lavin, Raghavan 1999 for truth tables; Mehta and Raghavan 2002
for every error). Every input is asked, and what is returned is exact.

Running time: 3^r r/3 additions for r bits that matter, seconds at 14, half a minute at 16; of other features every set
of values counts (`exact.lattice`). Where its guarantee ends: beyond 3^16 restrictions, and with an error allowed beyond
about 12 bits, it refuses; `distill(strategy="smallest")` goes on without the word "optimal".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import BudgetSpent
from fidelitree.errors import ParameterError
from fidelitree.exact.engine import ENUMERATE_UNASKED, free_of_charge
from fidelitree.exact.frontier import MOST as MOST_ENTRIES
from fidelitree.exact.frontier import Frontier, entries
from fidelitree.exact.lattice import Axis, Codes, Lattice, axes_of
from fidelitree.exact.optimum import MOST, OBJECTIVES, Objective, Optimum
from fidelitree.learners.entropy import fit as fit_id3
from fidelitree.learners.lesson import Lesson, Limits
from fidelitree.runs.result import Distillation
from fidelitree.spaces.product import ProductSpace
from fidelitree.spaces.rows import Rows
from fidelitree.targets.labels import Target
from fidelitree.trees.tree import Tree

TESTS = ("sets", "one value")
_FIRST = 16  # leaves, or levels, that a frontier is looked at first; then twice as many
_ROUNDING = 1e-12


class Own(Limits, total=False):
    """``objective`` is what is least; ``tests`` is what may be asked about a category."""

    objective: Objective
    tests: Literal["sets", "one value"]


def optimal(
    target: Target,
    space: ProductSpace | Rows,
    epsilon: float = 0.0,
    delta: float = 0.05,
    seed: int = 0,
    **own: Unpack[Own],
) -> Distillation:
    """The smallest tree with an error of at most epsilon; its certificate is exact.

    ``objective="depth"`` or ``"average_depth"`` (at epsilon 0) makes something else least; ``tests="one value"`` asks a
    category only whether it is one value.

    >>> from fidelitree.targets import hidden_weighted_bit
    >>> optimal(hidden_weighted_bit(8), ProductSpace.bernoulli(8)).tree.size
    128
    """
    objective, tests = own.pop("objective", "leaves"), own.pop("tests", "sets")
    for name, value, known in (("objective", objective, OBJECTIVES), ("tests", tests, TESTS)):
        if value not in known:
            raise ParameterError(f"{name} must be one of {', '.join(known)}; got {value!r}")
    lesson = Lesson.begin(target, space, (epsilon, delta, seed), own)
    if objective == "average_depth" and lesson.epsilon > 0:
        raise ParameterError(f'epsilon must be 0 with objective="average_depth"; got {epsilon}')
    check_listable(lesson)

    def teach() -> str:
        codes = lesson.table()
        axes, grid = axes_of(lesson.product, codes, tests == "one value")
        try:
            tree = smallest(lesson, axes, grid, objective)
        except BudgetSpent as stop:
            everything = lesson.all_answers()
            lesson.settle(fit_id3(everything), everything)
            return str(stop)
        return lesson.settle(tree, lesson.all_answers())

    return lesson.run(teach)


def check_listable(lesson: Lesson) -> None:
    """Refuse a space whose inputs cannot all be asked."""
    points, limit = lesson.product.points, lesson.counted.budget.max_queries
    allowed = ENUMERATE_UNASKED if limit is None else limit
    if isinstance(lesson.space, Rows) or points is None:
        raise ParameterError(
            f"space must have finitely many inputs for all of them to be asked; got {lesson.space!r:.80}"
        )
    if points > (max(allowed, ENUMERATE_UNASKED) if free_of_charge(lesson.counted) else allowed):
        raise ParameterError(
            f"all inputs must be asked, and {lesson.product.extent} are more than {allowed:,} - raise max_queries, or "
            f'use distill(strategy="smallest")'
        )


def smallest(lesson: Lesson, axes: list[Axis], grid: Codes, objective: Objective) -> Tree:
    """The optimum of a function over cells; ParameterError where there are too many restrictions."""
    restrictions, labels = Lattice(axes).restrictions, lesson.counted.book.sorted()
    if restrictions > MOST:
        raise ParameterError(
            f"at most {MOST:,} restrictions can be solved (16 bits that matter); {len(axes)} features matter, with "
            f'{restrictions:,} - use distill(strategy="smallest"), or another learner'
        )
    most = lesson.counted.budget.max_leaves
    if lesson.epsilon > 0:
        return _within(lesson, axes, grid, "depth" if objective == "depth" else "leaves")
    best = Optimum(axes, grid, objective, lesson.watch)
    if objective == "leaves" and most is not None and best.cost > most:
        return _frontier(axes, grid, most, "leaves", lesson.watch).tree(lesson.product, labels, most)
    return best.tree(lesson.product, labels)


def _within(lesson: Lesson, axes: list[Axis], grid: Codes, by: Literal["leaves", "depth"]) -> Tree:
    """The fewest leaves, or levels, for which the error is small enough; as many as are allowed where it is not."""
    most, wanted = lesson.counted.budget.max_leaves, _FIRST
    while True:
        wanted = wanted if most is None or by == "depth" else min(wanted, most)
        frontier = _frontier(axes, grid, wanted, by, lesson.watch)
        place = first_within(frontier.errors, lesson.epsilon)
        if place is None and len(frontier.errors) == wanted != most:
            wanted *= 2
            continue
        place = len(frontier.errors) - 1 if place is None else place
        return frontier.tree(lesson.product, lesson.counted.book.sorted(), place + (by == "leaves"))


def first_within(errors: NDArray[np.float64], epsilon: float) -> int | None:
    """The place of the first error that is small enough, if there is one."""
    good = np.flatnonzero(errors <= epsilon + _ROUNDING)
    return int(good[0]) if len(good) else None


def _frontier(
    axes: list[Axis], grid: Codes, most: int, by: Literal["leaves", "depth"], watch: Callable[[], None]
) -> Frontier:
    if entries(axes, most) > MOST_ENTRIES:
        raise ParameterError(
            f"epsilon must be 0 where {len(axes)} features matter: the least errors of trees with up to {most} leaves "
            f'take too much memory - or use distill(strategy="smallest")'
        )
    return Frontier(axes, grid, most, by, watch)
