"""What a target is like inside a region: its labels, and how much each feature matters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fidelitree.binomial import lower_bound, upper_bound
from fidelitree.budget import Budget
from fidelitree.checks import check_delta
from fidelitree.draw import Stream, block_rows, draw, paired, redraw
from fidelitree.errors import ParameterError
from fidelitree.exact.diagram import NoDiagramError
from fidelitree.exact.engine import exact_subfunction
from fidelitree.features import Boolean
from fidelitree.region import Region
from fidelitree.space import ProductSpace
from fidelitree.targets.counting import Counted, Queries, Target

Floats = NDArray[np.float64]

ENUMERATE_UNASKED = 4096
DRAW_UNASKED = 100_000
METHODS = ("auto", "exact", "sampled")


@dataclass(frozen=True, eq=False)
class Analysis:
    """Influences and label probabilities, exact or estimated.

    ``intervals`` holds a lower and an upper end for every influence; all of them are right with probability
    1 - delta, and the ends are equal where the analysis is exact.
    """

    names: tuple[str, ...]
    influences: Floats
    intervals: Floats
    exact: bool
    labels: list[Any]
    label_probabilities: Floats
    queries: Queries
    reason: str = ""
    """Why inputs were drawn where an exact analysis was tried first."""

    @property
    def total_influence(self) -> float:
        """Sum of all influences."""
        return float(self.influences.sum())

    @property
    def gini(self) -> float:
        """Probability that two independent inputs have different labels."""
        shares = self.label_probabilities
        return float(sum(share * (shares[:k].sum() + shares[k + 1 :].sum()) for k, share in enumerate(shares)))

    @property
    def error(self) -> float:
        """Error of the best constant."""
        return float(np.delete(self.label_probabilities, self.label_probabilities.argmax()).sum())

    @property
    def mean(self) -> float:
        """Probability of the second label, where there are two."""
        if len(self.labels) != 2:
            raise ParameterError(f"mean needs a target with two labels; this one has {len(self.labels)}")
        return float(self.label_probabilities[1])

    @property
    def variance(self) -> float:
        """4 mean (1 - mean): the variance of labels -1 and 1."""
        return 4 * self.mean * (1 - self.mean)

    def __str__(self) -> str:
        width = max(map(len, self.names))
        lines = []
        for i in np.argsort(-self.influences, kind="stable"):
            low, high = self.intervals[i]
            span = "" if self.exact else f"  [{low:.4f}, {high:.4f}]"
            lines.append(f"{self.names[i]:<{width}}  {self.influences[i]:.4f}{span}")
        how = "exact" if self.exact else f"estimated{self.reason and f': {self.reason}'}"
        return "\n".join([f"influence of each feature ({how}); total {self.total_influence:.4f}", *lines])


def analyze(
    target: Target,
    space: ProductSpace,
    given: Mapping[str, Any] | None = None,
    *,
    method: Literal["auto", "exact", "sampled"] = "auto",
    max_queries: int | None = None,
    delta: float = 0.05,
    seed: int = 0,
) -> Analysis:
    """Influences and label probabilities of a target inside the region that ``given`` names, as in ``{"x3": 1}``.

    The answer is exact where the target is a table, a tree, or a circuit whose decision diagram can be built, or where
    all inputs that are left may be asked: up to 4 096 of them, or up to ``max_queries`` where that is given. Otherwise
    inputs are drawn and every bit of each is flipped, within ``max_queries`` (100 000 when not given), and all
    intervals hold together with probability 1 - delta; ``Analysis.reason`` says why where an exact answer was tried
    first. ``method="exact"`` ends with that reason instead, ``method="sampled"`` always draws.

    >>> from fidelitree.targets.table import TruthTable
    >>> print(analyze(TruthTable([0, 0, 0, 1]), ProductSpace.bernoulli(2)))
    influence of each feature (exact); total 0.5000
    x0  0.2500
    x1  0.2500

    Features that are not bits are re-drawn inside the region instead of flipped; ``given`` takes an interval of a
    number and a set of categories, as in ``{"age": (18, 30), "job": {"nurse"}}``.
    """
    budget, delta = Budget(max_queries=max_queries), check_delta(delta)
    if method not in METHODS:
        raise ParameterError(f"method must be one of {', '.join(METHODS)}; got {method!r}")
    region = Region.of(space, given)
    if region.mass == 0:
        raise ParameterError(f"given must name a region of positive probability; {region} has probability 0")
    counted = Counted(target, space)
    may_ask = ENUMERATE_UNASKED if budget.max_queries is None else budget.max_queries
    found = _exactly(counted, region, method, may_ask)
    if isinstance(found, Analysis):
        return found
    queries = DRAW_UNASKED if budget.max_queries is None else budget.max_queries
    return replace(_estimate(counted, region, queries, delta, seed), reason=found)


def _exactly(counted: Counted, region: Region, method: str, may_ask: int) -> Analysis | str:
    """The exact analysis; or the reason why there is none, empty where it is that nobody allowed the queries."""
    if method == "sampled":
        return ""
    try:
        function = exact_subfunction(counted, region, may_ask)
        influences = None if function is None else function.influences()
    except NoDiagramError as error:
        if method == "exact":
            raise
        return str(error)
    if function is not None and influences is not None:
        intervals = np.stack([influences, influences], axis=1)
        shares = np.asarray(function.label_probabilities())
        return Analysis(region.space.names, influences, intervals, True, function.labels, shares, counted.queries)
    if method == "exact":
        inputs = "infinitely many" if region.points is None else f"{region.points:,}"
        raise ParameterError(
            f"method must not be 'exact' where not every input may be asked: {inputs} inputs are more than "
            f"{may_ask:,}; raise max_queries (a table may hold 2^26), or use method='auto'"
        )
    return ""


def _estimate(counted: Counted, region: Region, max_queries: int, delta: float, seed: int) -> Analysis:
    """Pairs of inputs that differ in one feature.

    A bit is flipped instead of re-drawn: then every pair counts, and its influence is 2p(1-p) times the share of pairs
    with different labels. Any other feature is re-drawn inside the region.
    """
    space = region.space
    bits = [i for i in region.free() if isinstance(space.features[i], Boolean)]
    others = [i for i, feature in enumerate(space) if not isinstance(feature, Boolean)]
    free = sorted(bits + others)
    rows = max_queries // (len(free) + 1)
    if rows < 1:
        changes = "flips" if not others else "changes"
        raise ParameterError(
            f"max_queries must allow one input and its {len(free)} {changes}; got {max_queries}, needed {len(free) + 1}"
        )
    stream = Stream.named(seed, "analyze")
    changed = np.zeros(len(region.space), np.int64)
    labels: dict[int, int] = {}
    step = max(1, block_rows(len(region.space)) // (len(free) + 1))
    for block, start in enumerate(range(0, rows, step)):
        inputs = draw(region, stream, block, min(step, rows - start))
        changed_to = {i: 1 - inputs[i] for i in bits}
        changed_to.update({i: redraw(region, stream, block, inputs.shape[1], i) for i in others})
        batch = paired(inputs, changed_to, free).reshape(len(inputs), -1).T
        before, *after = counted.ask(batch, "analyze").reshape(-1, inputs.shape[1])
        changed[free] += [np.count_nonzero(codes != before) for codes in after]
        for code, count in zip(*np.unique(before, return_counts=True), strict=True):
            labels[int(code)] = labels.get(int(code), 0) + int(count)
    scale = np.zeros(len(space))
    scale[others] = 1
    scale[bits] = [2 * space.features[i].mass(1) * space.features[i].mass(0) for i in bits]
    return _summary(counted, scale, changed, labels, rows, delta)


def _summary(
    counted: Counted, scale: Floats, changed: NDArray[np.int64], labels: Mapping[int, int], rows: int, delta: float
) -> Analysis:
    level = delta / (2 * len(changed))
    ends = [(lower_bound(hits, rows, level), upper_bound(hits, rows, level)) for hits in changed.tolist()]
    intervals = np.array(ends) * scale[:, None]
    ranks = counted.book.ranks()
    found = np.zeros(len(ranks))
    for code, count in labels.items():
        found[ranks[code]] = count / rows
    names, order = counted.space.names, counted.book.sorted()
    return Analysis(names, scale * changed / rows, intervals, False, order, found, counted.queries)
