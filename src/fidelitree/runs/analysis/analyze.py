"""What a target is like inside a region: its labels, and how much each feature matters."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.access import as_used
from fidelitree.asking.counted import Counted, Queries
from fidelitree.asking.limits import Budget
from fidelitree.asking.on_device import OnDevice
from fidelitree.asking.repeats import EACH, MOST, Repeats
from fidelitree.display.canvas import bars, check_suffix, save
from fidelitree.display.wording import tag
from fidelitree.errors import NoDiagramError, ParameterError, check_choice, check_count, check_delta, check_switch
from fidelitree.exact.device_table import FROM, MOST_FEATURES, DeviceTable
from fidelitree.exact.engine import exact_subfunction, free_of_charge
from fidelitree.runs.agree.claim import FEW
from fidelitree.runs.analysis.control_variate import corrected
from fidelitree.runs.analysis.sobol import SobolIndices, sobol_indices
from fidelitree.runs.analysis.stars import Stars, able_to_change, draw_stars, stars_of_rows, stars_of_world, trial_level
from fidelitree.spaces.draw import Stream, seed_of
from fidelitree.spaces.region import Region
from fidelitree.spaces.rows import taken_for_granted
from fidelitree.targets.labels import LabelBook
from fidelitree.theory.sequential import lower_bound, upper_bound

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fidelitree.spaces.world import KnownJoint, World

Floats = NDArray[np.float64]

DRAW_UNASKED = 100_000
METHODS = ("auto", "exact", "sampled")


@dataclass(frozen=True, eq=False)
class Analysis:
    """Influences and label probabilities, exact or estimated.

    Attributes:
        names: The features.
        influences: For each, the chance that the label changes when it is drawn anew.
        intervals: Both ends of each influence; all are right with probability 1 - delta.
        exact: Whether everything was counted: then both ends are equal, and delta is 0.
        labels: The labels of the target.
        label_probabilities: How likely each of them is.
        queries: Labels asked and rows paid, by purpose.
        delta: The chance that one of the intervals is wrong.
        reason: Why inputs were drawn where an exact analysis was tried first.
        seed: Chose all draws; None where nothing was drawn.
        assumes: What intervals over rows of a table take for granted.

    Examples:
        >>> from fidelitree.spaces.product import ProductSpace
        >>> analyze(lambda bits: bits[:, 0], ProductSpace.bernoulli(2)).influences.tolist()
        [0.5, 0.0]
    """

    names: tuple[str, ...]
    influences: Floats
    intervals: Floats
    exact: bool
    labels: list[Any]
    label_probabilities: Floats
    queries: Queries
    delta: float = 0.0
    reason: str = ""
    seed: int | None = None
    assumes: tuple[str, ...] = ()

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

    @property
    def total_indices(self) -> Floats:
        """Total Sobol indices of labels -1 and 1, where there are two: an influence is variance/2 times its index.

        Re-drawing a feature changes the label by 2 or not at all, so half the expected squared change, which is the
        index times the variance, is twice the influence. All 0 for a constant.
        """
        constant = len(self.labels) == 1 or self.variance == 0
        return np.zeros(len(self.influences)) if constant else 2 * self.influences / self.variance

    def plot(self, path: str | os.PathLike[str] | None = None, *, most: int = 30) -> Figure:
        """A bar for each of the ``most`` influential features with its interval, written to ``path`` if there is one.

        It needs matplotlib (the extra ``plot``) and returns its figure, which a notebook shows.
        """
        if path is not None:
            check_suffix("path", path)
        how = "exact" if self.exact else f"intervals hold together with confidence {1 - self.delta:g}"
        shown = min(check_count("most", most), len(self.names))
        part = "" if shown == len(self.names) else f"the {shown} largest of {len(self.names)}, "
        picture = bars(self.names, self.influences, self.intervals, f"{part}{how}", shown)
        if path is not None:
            save(picture, path)
        return picture

    def __str__(self) -> str:
        width = max(map(len, self.names))
        lines = []
        for i in np.argsort(-self.influences, kind="stable"):
            low, high = self.intervals[i]
            span = "" if self.exact else f"  [{low:.4f}, {high:.4f}]"
            lines.append(f"{self.names[i]:<{width}}  {self.influences[i]:.4f}{span}")
        how = "exact" if self.exact else f"estimated, seed {self.seed}{self.reason and f': {self.reason}'}"
        told = f". Assumes: {'; '.join(self.assumes)}" if self.assumes else ""
        return "\n".join([f"influence of each feature ({how}); total {self.total_influence:.4f}{told}", *lines])

    def __repr__(self) -> str:
        how = "exact" if self.exact else f"{1 - self.delta:.4g} for all"
        return f"<Analysis: {len(self.names)} features, total influence {self.total_influence:.4g} ({how})>"

    def _repr_html_(self) -> str:
        return tag("pre", str(self), style="background:none")


Method = Literal["auto", "exact", "sampled"]


@overload
def analyze(
    target: Any,
    space: Any,
    given: Mapping[str, Any] | None = None,
    *,
    groups: Any = None,
    numbers: Literal[False] = False,
    threshold: float | None = None,
    method: Method = "auto",
    max_queries: int | None = None,
    delta: float = 0.05,
    seed: int | None = None,
) -> Analysis: ...
@overload
def analyze(
    target: Any,
    space: Any,
    given: Mapping[str, Any] | None = None,
    *,
    groups: Any = None,
    numbers: Literal[True],
    threshold: float | None = None,
    method: Method = "auto",
    max_queries: int | None = None,
    delta: float = 0.05,
    seed: int | None = None,
) -> SobolIndices: ...
def analyze(
    target: Any,
    space: Any,
    given: Mapping[str, Any] | None = None,
    *,
    groups: Any = None,
    numbers: bool = False,
    threshold: float | None = None,
    method: Method = "auto",
    max_queries: int | None = None,
    delta: float = 0.05,
    seed: int | None = None,
) -> Analysis | SobolIndices:
    """Influences and label probabilities of a target inside a region.

    The answer is exact where the target is a table, a tree, or a circuit whose decision diagram can be built, or where
    all inputs that are left may be asked. Otherwise inputs are drawn and changed one feature at a time, bits by
    flipping, other features by drawing again inside the region, and all intervals hold together with probability 1 -
    delta. ``Analysis.reason`` says why where an exact answer was tried first.

    Over a `ChowLiu` a feature is drawn again given all others. Over `Rows` an influence is the probability that a row's
    label changes when its value of the feature is replaced by that of another row. Over both it is always estimated.
    Rows are taken to be independent of each other, and the target not to be fitted to them; of rows in groups one row
    of each counts.

    Args:
        target: What is explained: a callable from a batch of inputs to labels, or a fitted model.
        space: Where inputs come from: any space, or a table, to one half of which a `ChowLiu` is fitted.
        given: The region: ``{"owner": 1, "age": (18, 30), "job": {"nurse"}}``; all inputs where it is left out.
        groups: The column of a table that says which rows belong together, or an entry for each row.
        numbers: Whether the target answers numbers: then Sobol indices take the place of influences.
        threshold: Turns scores into labels: 1 above this value, otherwise 0; of a classifier, by its second class.
        method: "exact" refuses to estimate, "sampled" always draws, "auto" does what costs less.
        max_queries: The most rows paid; where it is left out, 4,096 labels to list all inputs, or 100,000 to draw.
        delta: The chance that one of the intervals is wrong.
        seed: Chooses all draws: the same seed gives the same result. None takes a fresh one, which is recorded.

    Returns:
        Influences with their intervals, and how likely each label is.

    Raises:
        ParameterError: An argument breaks its rule, or no exact answer is possible where one was asked for.
        TargetError: The target failed, or answered something that is no label.

    Examples:
        >>> from fidelitree.spaces.product import ProductSpace
        >>> from fidelitree.targets.table import TruthTable
        >>> print(analyze(TruthTable([0, 0, 0, 1]), ProductSpace.bernoulli(2)))
        influence of each feature (exact); total 0.5000
        x0  0.2500
        x1  0.2500
    """
    budget, delta = Budget(max_queries=max_queries), check_delta(delta)
    check_choice("method", method, METHODS)
    check_switch("numbers", numbers)
    if numbers and threshold is not None:
        raise ParameterError(f"threshold must be left out with numbers=True, which are no labels; got {threshold!r}")
    target, space = as_used(target, space, threshold, groups=groups)
    counted = Counted(target, space.product, book=LabelBook(numbers))
    region = Region.of(space.product, given)
    if (region.mass if space.masses is None else space.masses.mass(region)) == 0:
        raise ParameterError(f"given must name a region of positive probability; {region} has probability 0")
    listed = space.independent is not None and method != "sampled" and not numbers
    counted.equality = replace(counted.equality, numbers=numbers)
    queries = _labels(counted, region, budget.max_queries, listed)
    known_seed = seed_of(seed)
    stream = Stream.named(known_seed, "analyze")
    if numbers:
        return replace(_sobol(counted, space, region, method, (queries, stream, delta)), seed=known_seed)
    if space.table is not None:
        if method == "exact":
            raise ParameterError("method must not be 'exact' over rows of a table: there are more rows than these")
        stars = stars_of_rows(counted, space.table, region, queries, stream)
        return replace(_estimated(counted, stars, delta), seed=known_seed, assumes=taken_for_granted(space))
    if space.independent is None:
        stars = stars_of_world(counted, _redraws(space, method), region, queries, stream)
        return replace(_estimated(counted, stars, delta), seed=known_seed, assumes=taken_for_granted(space))
    may_ask = FEW if budget.max_queries is None else budget.max_queries
    found = _exactly(counted, region, method, may_ask)
    if isinstance(found, Analysis):
        return found
    stars = draw_stars(counted, region, queries, stream)
    return replace(_estimated(counted, stars, delta), reason=found, seed=known_seed)


def _labels(counted: Counted, region: Region, limit: int | None, listed: bool) -> int:
    """Have some inputs asked again, and return how many labels a limit leaves for draws beside them."""
    if free_of_charge(counted):
        return DRAW_UNASKED if limit is None else limit
    way_out = "or use ft.distill with deterministic=False: analyze takes functions only"
    counted.equality = replace(counted.equality, way_out=way_out)
    counted.repeats = Repeats(points=region.points)
    if limit is None:
        return DRAW_UNASKED
    listed = listed and region.points is not None and region.points <= limit
    checks = limit - (region.points or 0) if listed else limit // EACH
    if not listed and limit - checks < 2 * (len(region.space) + 2):  # the least that a run can do with
        checks = 0
    counted.repeats.most = min(MOST, checks)
    return limit - counted.repeats.most


def _sobol(counted: Counted, space: World, region: Region, method: str, how: tuple[int, Stream, float]) -> SobolIndices:
    if space.independent is None:
        raise ParameterError(
            f"space must have independent features where numbers are analyzed, or variances do not add up; inputs are "
            f"{space.in_words} - analyze over its marginals (space.product)"
        )
    if method == "exact":
        raise ParameterError("method must not be 'exact' where numbers are analyzed: their indices are estimated")
    return sobol_indices(counted, region, able_to_change(region), *how)


def _redraws(space: World, method: str) -> KnownJoint:
    """What dependent features are drawn again by; refused where nothing is."""
    if method == "exact":
        raise ParameterError(f"method must not be 'exact' where inputs are {space.in_words}")
    if space.redraws is None:
        raise ParameterError(
            f"space must say how a feature depends on all others; inputs are {space.in_words} - analyze over its "
            f"marginals (space.product), over Rows, or over a world that is fitted to draws of it"
        )
    return space.redraws


def _exactly(counted: Counted, region: Region, method: str, may_ask: int) -> Analysis | str:
    """The exact analysis; or the reason why there is none, empty where it is that nobody allowed the queries."""
    if method == "sampled":
        return ""
    there = None if region.restrictions or not FROM <= len(region.space) <= MOST_FEATURES else OnDevice.of(counted)
    if there is not None and region.points is not None and region.points <= may_ask:
        return _from_table(there)
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


def _from_table(there: OnDevice) -> Analysis:
    """The exact analysis of a model on a device, whose table never leaves it."""
    table, space = DeviceTable.of(there), there.counted.space
    found, labels = table.influences(), [there.model.label(code) for code in range(len(table.shares))]
    kept = [code for code, share in enumerate(table.shares.tolist()) if share > 0]
    labels, shares = [labels[code] for code in kept], table.shares[kept]
    return Analysis(space.names, found, np.stack([found, found], axis=1), True, labels, shares, there.counted.queries)


def _estimated(counted: Counted, stars: Stars, delta: float) -> Analysis:
    """Influences from stars: intervals from the plain counts, estimates with the help of control variates."""
    rows, ranks = stars.rows, counted.book.ranks()
    level = trial_level(delta / (2 * max(1, len(stars.changes))))
    ends = np.zeros((2, len(counted.space)))  # what cannot change has no influence
    for i in stars.changes:
        ends[:, i] = lower_bound(stars.changed[i], rows, level), upper_bound(stars.changed[i], rows, level)
    low, high = stars.weights * ends
    changed, labels = stars.changed / rows, np.pad(stars.labels, (0, len(ranks) - len(stars.labels))) / rows
    if stars.held:
        changed, labels = corrected(stars)
    found = np.zeros(len(ranks))
    found[ranks] = labels
    influences = np.clip(stars.weights * changed, 0, 1)
    # Where the counts were unlucky a control variate may know better: an interval that is made wider stays right.
    intervals = np.stack([np.minimum(low, influences), np.maximum(high, influences)], axis=1)
    names, order = counted.space.names, counted.book.sorted()
    return Analysis(names, influences, intervals, False, order, found, counted.queries, delta)
