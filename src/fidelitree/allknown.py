"""Runs that end by knowing the answer to every input: their error is exact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fidelitree.binning import Binning
from fidelitree.budget import Budget, BudgetSpent
from fidelitree.certificate import Certificate
from fidelitree.errors import ParameterError
from fidelitree.events import TreeJudged, nobody
from fidelitree.exact.engine import ENUMERATE_UNASKED, exact_subfunction, free_of_charge
from fidelitree.exact.subfunction import Subfunction
from fidelitree.finishes import FewestLeaves
from fidelitree.paper import grow_exactly
from fidelitree.refine.coded import size
from fidelitree.refine.search import Refiner
from fidelitree.region import Region
from fidelitree.result import Distillation, SplitRecord
from fidelitree.targets.counting import Counted
from fidelitree.targets.table import enumerate_inputs, tabulate
from fidelitree.tree import Tree

_PROPOSALS, _ROUNDS = 150, 20
_ROWS = 2e5  # rows that all rounds together may look at, about


@dataclass(frozen=True)
class Wanted:
    """What was asked for."""

    epsilon: float | None
    delta: float
    seed: int
    seed_chosen: bool
    split_quality: bool
    few_leaves: bool


def distil_all(counted: Counted, wanted: Wanted) -> Distillation:
    """No error at all: every input must be asked."""
    if not counted.deterministic:
        raise ParameterError("epsilon must be above 0 with deterministic=False: no error of a noisy target is 0; got 0")
    limit, points = counted.budget.max_queries, counted.space.points
    allowed = ENUMERATE_UNASKED if limit is None else limit
    if not free_of_charge(counted) and (points is None or points > allowed):
        raise ParameterError(
            f"epsilon must be above 0 where not every input can be asked: {counted.space.extent} are more than "
            f"{allowed:,}; got 0 - raise max_queries, or ask for a small epsilon"
        )
    try:
        return distil_exactly(counted, wanted)
    except BudgetSpent as stop:
        raise ParameterError(
            f"epsilon must be above 0 where not every input can be asked: {stop} ended the run; got 0"
        ) from None


def distil_exactly(counted: Counted, wanted: Wanted) -> Distillation:
    """All answers; then Algorithm 1, or the smallest tree found that is good enough."""
    epsilon, most = wanted.epsilon or 0.0, counted.budget.max_leaves
    if wanted.split_quality:
        return grow_exactly(counted, _root(counted), epsilon, Budget(max_leaves=most), nobody)
    if counted.space.dtype == np.uint8 or isinstance(counted.target, Tree):
        tree, error, trace = _smallest_substitute(counted, epsilon)
    else:
        tree, error, trace = _smallest_of_all(counted, epsilon, wanted.seed)
    certificate = exact_certificate(counted, tree, error, wanted.epsilon)
    reason = "certified" if error <= epsilon else f"max_leaves = {most}"
    return Distillation(tree, certificate, counted.queries, trace, counted.space, reason)


def exact_certificate(counted: Counted, tree: Tree, error: float, epsilon: float | None) -> Certificate:
    """The certificate of an error that is known."""
    digests = tree.digest, counted.space.digest
    queries = dict(counted.queries.asked)
    return Certificate(epsilon, 0.0, min(1.0, error), counted.asked, None, "exact", *digests, queries=queries)


_Found = tuple[Tree, float, tuple[SplitRecord | TreeJudged, ...]]


def _root(counted: Counted) -> Subfunction:
    root = exact_subfunction(counted, Region.whole(counted.space), counted.space.points or 0)
    if root is None:
        raise ParameterError(f"the target must be a tree, or have fewer inputs to be known; got {counted.space.extent}")
    return root


def _smallest_substitute(counted: Counted, epsilon: float) -> _Found:
    """A tree without error by Algorithm 1, then the smallest substitute for it."""
    perfect = grow_exactly(counted, _root(counted), 0.0, Budget(), nobody)
    found = FewestLeaves(counted).search(perfect.tree)  # no query is at stake any more
    leaves = int(np.argmax(found.disagreements <= epsilon)) + 1
    leaves = min(leaves, counted.budget.max_leaves or leaves)
    return found.with_leaves(leaves), float(found.disagreements[leaves - 1]), perfect.trace


def _smallest_of_all(counted: Counted, epsilon: float, seed: int) -> _Found:
    """A search over all inputs, weighed by their probabilities."""
    space, whole = counted.space, Region.whole(counted.space)
    codes = tabulate(counted, whole).astype(np.intp)
    inner = enumerate_inputs(whole, 0, len(codes))
    binning = Binning.of(space, inner)
    rows = binning.coded(inner, codes, space.chances(inner))
    refiner = Refiner(rows, None, seed)
    least = 1 if epsilon else len(counted.book.seen)
    for _ in range(int(min(_ROUNDS, max(1, _ROWS / len(codes))))):
        if size(refiner.smallest(epsilon)) <= least:
            break
        refiner.improve(epsilon, _PROPOSALS)
    sketch = refiner.smallest(epsilon)
    tree = binning.tree(sketch, counted.book.ranks(), counted.book.sorted())
    if not counted.budget.allows(tree.size):
        sketch = [point for point in refiner.points() if counted.budget.allows(point.leaves)][-1].tree
        tree = binning.tree(sketch, counted.book.ranks(), counted.book.sorted())
    error = rows.errors(sketch) / rows.total
    return tree, error, (TreeJudged(counted.asked, tree.size, error, error),)
