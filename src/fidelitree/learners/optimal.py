"""The optimum: no tree has fewer leaves (or less depth, or less average depth), because all of them were considered.

Dynamic programming over subcubes is folklore (Guijarro, Lavin, Raghavan 1999 for truth tables; Mehta and Raghavan 2002
for every error). Every input is asked, and what is returned is exact.

Running time: 3^r r/3 additions for r bits that matter, seconds at 14, half a minute at 16; of other features every set
of values counts (`search.optimal`). Where its guarantee ends: beyond 3^16 restrictions, and with an error allowed
beyond about 12 bits, it refuses; `distill(strategy="smallest")` goes on without the word "optimal".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fidelitree.asking.limits import BudgetSpent
from fidelitree.errors import ParameterError
from fidelitree.exact.engine import ENUMERATE_UNASKED, free_of_charge
from fidelitree.learners.lesson import Lesson, learner
from fidelitree.search.optimal.affordable import NUMBERS
from fidelitree.search.optimal.optimum import OBJECTIVES, CellFunction, Objective, Optimum
from fidelitree.trees import nested

if TYPE_CHECKING:
    from fidelitree.runs.result import Distillation
    from fidelitree.trees.tree import Tree

TESTS = ("sets", "one value")


@learner("dynamic programming over subcubes", "everything", epsilon=0.0)
def optimal(
    lesson: Lesson, *, objective: Objective = "leaves", tests: Literal["sets", "one value"] = "sets"
) -> Distillation:
    """The smallest tree with an error of at most epsilon; its certificate is exact.

    ``objective="depth"`` or ``"average_depth"`` (at epsilon 0) makes something else least; ``tests="one value"`` asks a
    category only whether it is one value.

    >>> from fidelitree import ProductSpace
    >>> from fidelitree.targets import hidden_weighted_bit
    >>> optimal(hidden_weighted_bit(8), ProductSpace.bernoulli(8)).tree.size
    128
    """
    for name, value, known in (("objective", objective, OBJECTIVES), ("tests", tests, TESTS)):
        if value not in known:
            raise ParameterError(f"{name} must be one of {', '.join(known)}; got {value!r}")
    if objective == "average_depth" and lesson.epsilon > 0:
        raise ParameterError(f'epsilon must be 0 with objective="average_depth"; got {lesson.epsilon}')
    check_listable(lesson)

    def teach() -> str:
        function = CellFunction.of(lesson.product, lesson.table(), tests == "one value")
        try:
            tree = smallest(lesson, function, objective)
        except BudgetSpent as stop:
            lesson.settle_greedily()
            return str(stop)
        return lesson.settle(tree, lesson.all_answers())

    return lesson.run(teach)


def check_listable(lesson: Lesson) -> None:
    """Refuse a space whose inputs cannot all be asked."""
    points, limit = lesson.product.points, lesson.counted.budget.max_queries
    allowed = ENUMERATE_UNASKED if limit is None else limit
    if lesson.space.independent is None or points is None:
        raise ParameterError(
            f"space must have finitely many inputs for all of them to be asked; got {lesson.space!r:.80}"
        )
    if points > (max(allowed, ENUMERATE_UNASKED) if free_of_charge(lesson.counted) else allowed):
        raise ParameterError(
            f"all inputs must be asked, and {lesson.product.extent} are more than {allowed:,} - raise max_queries, or "
            f'use distill(strategy="smallest")'
        )


def smallest(lesson: Lesson, function: CellFunction, objective: Objective) -> Tree:
    """The optimum of a function over cells; ParameterError where there are too many restrictions."""
    restrictions, labels = function.restrictions, lesson.counted.book.sorted()
    if restrictions > NUMBERS:
        raise ParameterError(
            f"at most {NUMBERS:,} restrictions can be solved (16 bits that matter); {len(function.axes)} features "
            f'matter, with {restrictions:,} - use distill(strategy="smallest"), or another learner'
        )
    most = lesson.counted.budget.max_leaves
    if lesson.epsilon == 0:
        best = Optimum(*function, objective, lesson.watch)
        if objective != "leaves" or most is None or best.cost <= most:
            return nested.build(lesson.product, best.nested(), labels)
        return _within(lesson, function, (most, most), "leaves")
    if objective == "depth":
        return _within(lesson, function, (2, None), "depth")
    return _within(lesson, function, (2, most), "leaves")


def _within(
    lesson: Lesson, function: CellFunction, widths: tuple[int, int | None], by: Literal["leaves", "depth"]
) -> Tree:
    """The fewest leaves, or levels, for which the error is small enough; as many as are allowed where it is not."""
    width, most = widths
    for curve in function.curves(widths, by=by, watch=lesson.watch):
        width = len(curve.errors)
        size = curve.first_within(lesson.epsilon) if lesson.epsilon else None
        if size is not None or width == most:
            return nested.build(lesson.product, curve.build(size or width), lesson.counted.book.sorted())
        width *= 2
    raise ParameterError(
        f"epsilon must be 0 where {len(function.axes)} features matter: the least errors of trees with up to "
        f'{min(width, most or width)} leaves take too much memory - or use distill(strategy="smallest")'
    )
