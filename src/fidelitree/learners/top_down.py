"""BuildTopDown with a budget of s leaves: always split where probability times influence is largest.

G. Blanc, J. Lange, L.-Y. Tan, *Top-down induction of decision trees: rigorous guarantees and inherent limitations*,
ITCS 2020; G. Blanc, N. Gupta, J. Lange, L.-Y. Tan, *Universal guarantees for decision tree induction via a higher-order
splitting criterion*, NeurIPS 2020, for the budget. Queries of the learner's own choice: an input, and the same input
with one bit drawn anew.

Running time: a split takes ``pairs`` x (n + 1) queries for each of its two leaves. Where its guarantee ends: to error
epsilon it grows s^O(log(s/epsilon) log(1/epsilon)) leaves at most (fair bits), and there are functions where it needs
s^Omega(log s): a selector whose influence is small comes last (`targets.selector_parity`). Here influences are
estimated from few pairs, exactly where all inputs are asked; `practical_top_down` takes as many as its promise about
splits needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fidelitree.asking.events import nobody
from fidelitree.asking.limits import Budget
from fidelitree.errors import check_count
from fidelitree.learners.judging import MOST_LEAVES, grown_from
from fidelitree.learners.lesson import Lesson, learner
from fidelitree.search.exact_growth import grow_exactly
from fidelitree.search.sampled_probes import FreshPairs
from fidelitree.spaces.draw import Stream

if TYPE_CHECKING:
    from fidelitree.runs.result import Distillation

PAIRS = 64


@learner("Blanc, Lange, Tan 2020", "queries", bits_only=True)
def top_down(lesson: Lesson, *, size: int | None = None, pairs: int = PAIRS) -> Distillation:
    """Top-down growth by influence to a size or an error, certified.

    ``size`` is the number of leaves to grow, as many as epsilon takes where it is not given. ``pairs`` are drawn inside
    each leaf to estimate influences.

    >>> from fidelitree import ProductSpace
    >>> from fidelitree.targets import multiplexer
    >>> top_down(multiplexer(2), ProductSpace.bernoulli(6), epsilon=0).tree.size
    8
    """
    pairs = check_count("pairs", pairs)
    size = None if size is None else check_count("size", size)
    most = min(size or MOST_LEAVES, lesson.counted.budget.max_leaves or MOST_LEAVES)
    drawn = FreshPairs(lesson.counted, Stream.named(lesson.goal.seed, "grow"), lambda leaves: pairs * leaves)
    return lesson.learn(lambda: _exactly(lesson, size, most), lambda: grown_from(lesson, drawn, size, most))


def _exactly(lesson: Lesson, size: int | None, most: int) -> str:
    counted = lesson.counted
    limit = Budget(max_leaves=most if size or counted.budget.max_leaves else None)
    grown = grow_exactly(counted, lesson.function(), 0.0 if size else lesson.epsilon, limit, nobody)
    return lesson.settle_at(grown.tree, grown.error)
