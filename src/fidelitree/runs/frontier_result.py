"""A frontier: trees of many sizes, each with its certificate, all of them true together with confidence 1 - delta."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from fidelitree.asking.counted import Queries, Tally
from fidelitree.asking.events import TreeJudged
from fidelitree.certificates import store
from fidelitree.certificates.attempts import LATE
from fidelitree.certificates.frontierfile import StoredFrontier, StoredPoint
from fidelitree.display.canvas import check_suffix, save
from fidelitree.display.card import card, folded
from fidelitree.display.frontier_chart import Mark, chart, figure_of, table
from fidelitree.display.wording import at_least, at_most, join, tag
from fidelitree.display.wording import leaves as in_words
from fidelitree.errors import FormatError, MissingExtraError, ParameterError, check_count, check_number
from fidelitree.runs.forecast import Forecast, halved
from fidelitree.runs.result import Distillation
from fidelitree.runs.size_grid import sizes_up_to
from fidelitree.theory.sequential import FRONTIER, error_bound, level_in

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fidelitree.report.contents import Contents, TracePoint
    from fidelitree.spaces.world import World
    from fidelitree.trees.tree import Tree

FORECAST = "forecast"
"""The entry of ``run.json`` that says what was to be expected."""
PRICE = 0.005
"""What a leaf must bring, as a share of inputs on which the tree then agrees, to be worth reading."""
_HOPED = 0.1  # share of the tests that a tree gets wrong, for the labels that are advised where nothing is certified


@dataclass(frozen=True, eq=False)
class Frontier(Sequence[Distillation]):
    """Results from one leaf up, each larger tree with a smaller bound.

    Or with the same one, where tests have not told two trees apart, and the larger has far fewer mistakes among the
    answers that taught both.

    Any of them may be chosen afterwards, by whatever one likes: with probability 1 - ``delta`` all bounds are true.

    Attributes:
        points: The results, smallest tree first, at nearly every size up to 32; listed and drawn are `shown`.
        delta: The chance that the run states a false bound.
        queries: Labels asked and rows paid, by purpose.
        reason: Why the run ended.
        max_leaves: The largest size that was looked for.
        forecast: What was to be expected after the first labels, where a run of `frontier` came so far; no certificate.

    Examples:
        >>> from fidelitree.runs.frontier import frontier
        >>> from fidelitree.spaces.product import ProductSpace
        >>> frontier(lambda bits: bits[:, 0], ProductSpace.bernoulli(3)).knee.leaves
        2
    """

    points: tuple[Distillation, ...]
    delta: float
    queries: Queries
    reason: str
    max_leaves: int
    forecast: Forecast | None = None

    @overload
    def __getitem__(self, index: int) -> Distillation: ...
    @overload
    def __getitem__(self, index: slice) -> list[Distillation]: ...
    def __getitem__(self, index: int | slice) -> Distillation | list[Distillation]:
        if isinstance(index, slice):
            return [self._with_me(point) for point in self.shown[index]]
        return self._with_me(self.shown[index])

    def __len__(self) -> int:
        return len(self.shown)

    def __iter__(self) -> Iterator[Distillation]:
        return (self._with_me(point) for point in self.shown)

    @cached_property
    def shown(self) -> tuple[Distillation, ...]:
        """The points that are listed and drawn: of a run of `frontier`, which has nearly every size, some."""
        if any(point.certificate.epsilon is not None for point in self.points):
            return self.points
        some = {self._with_leaves(max(size, self.points[0].leaves)).leaves for size in sizes_up_to(self.max_leaves)}
        return tuple(point for point in self.points if point.leaves in some)

    def at(
        self, *, leaves: int | None = None, epsilon: float | None = None, price: float | None = None
    ) -> Distillation:
        """One point of the curve: by its size, by its error, or by what a leaf is worth.

        Args:
            leaves: Return the largest tree with at most this many leaves, also of those that are not listed.
            epsilon: Gives the smallest tree whose error is certified to be at most that.
            price: Gives the last tree whose leaves each bring so much agreement, or coverage.

        Returns:
            The point as a result of its own, which can be printed, stored and reported.

        Raises:
            ParameterError: None or several of the three are given, or no tree reaches the epsilon, or is so small.

        Examples:
            >>> from fidelitree.runs.frontier import frontier
            >>> from fidelitree.spaces.product import ProductSpace
            >>> from fidelitree.targets import majority
            >>> curve = frontier(majority(5), ProductSpace.bernoulli(5), max_leaves=8)
            >>> curve.at(leaves=3).leaves
            2
        """
        given = {"leaves": leaves, "epsilon": epsilon, "price": price}
        if sum(value is not None for value in given.values()) != 1:
            raise ParameterError(f"at takes one of leaves, epsilon and price; got {given}")
        if leaves is not None:
            check_count("leaves", leaves)
            return self._with_me(self._with_leaves(leaves))
        if epsilon is not None:
            return self._reaching(check_number("epsilon", epsilon))
        cost = check_number("price", price)
        return self._with_me(min(self.shown, key=lambda point: point.certificate.lost + cost * point.leaves))

    def _with_leaves(self, most: int) -> Distillation:
        found = [point for point in self.points if point.leaves <= most]
        if not found:
            raise ParameterError(
                f"leaves must be at least {self.points[0].leaves}, since nothing is certified about smaller trees; "
                f"got {most} - or allow more labels"
            )
        return found[-1]

    def _reaching(self, epsilon: float) -> Distillation:
        found = next((point for point in self.points if point.error_bound <= epsilon), None)
        if found is None:
            best = self.points[-1]
            raise ParameterError(
                f"epsilon must be reached by a tree of the frontier: the best, with {in_words(best.leaves)}, is "
                f"certified to {best.error_bound:.4g}; got {epsilon:g} - allow more labels, or larger trees"
            )
        certificate = replace(found.certificate, epsilon=epsilon)
        return self._with_me(replace(found, certificate=certificate, run=_picked(found, found.run, epsilon)))

    @property
    def knee(self) -> Distillation:
        """The last tree whose leaves each bring half a per cent of agreement: ``at(price=0.005)``."""
        return self.at(price=PRICE)

    @property
    def has_knee(self) -> bool:
        """Whether the curve bends: leaves are worth their price up to some size, and no longer after it."""
        return 1 < self.knee.leaves < self.max_leaves

    def told(self, space: World, run: Mapping[str, Any], call: str, journal: Path | None = None) -> Frontier:
        """The same, where every point knows how the run was asked for, and which of its points it is."""
        if self.forecast is not None:
            run = {**run, FORECAST: self.forecast.to_dict()}

        def told(point: Distillation) -> Distillation:
            own = point.certificate.epsilon is not None  # the result of `distill`, which nobody has to pick
            asked = run if own else _picked(point, run, None)
            return replace(point, space=space, run=asked, call=call, journal=journal)

        return replace(self, points=tuple(map(told, self.points)))

    def commanded(self, command: str) -> Frontier:
        """The same, asked for by a command."""
        points = (replace(point, run={**point.run, "command": command}, call=command) for point in self.points)
        return replace(self, points=tuple(points))

    @classmethod
    def of(
        cls, points: Sequence[Distillation], delta: float, max_leaves: int, taught: Callable[[Tree], int] = lambda _: 0
    ) -> Frontier:
        """Of these points of one run, those whose bound is below that of every smaller one; or their coverage above.

        Among equal bounds a tree's mistakes decide that it has among the answers that ``taught``: where tests have met
        no mistake of either tree, the better one is not to be lost because it is larger. A bound of 1 says nothing: a
        tree that has it is no point, unless there is no other.
        """
        found, bound, first, last = [], math.inf, 0, 0  # its last bound; mistakes of the first and last that have it
        ranks = ((point.leaves, point.certificate.lost, taught(point.tree), point) for point in points)
        for _, lost, wrong, point in sorted(ranks, key=itemgetter(0, 1, 2)):
            if lost < bound:
                bound, first = lost, wrong
            elif lost > bound or wrong >= last or not halved(wrong, first):
                continue
            found.append(point)
            last = wrong
        found = [point for point in found if point.error_bound < 1] or found
        return cls(tuple(found), delta, found[0].queries, found[0].reason, max_leaves)

    def _with_me(self, point: Distillation) -> Distillation:
        return replace(point, curve=self)

    def rows(self) -> list[dict[str, Any]]:
        """A line for each point: leaves, depth, the bound, both ends of the error, tests and errors counted."""
        return [
            {
                "leaves": point.leaves,
                "depth": point.depth,
                "error_bound": point.error_bound,
                "lower": point.interval[0],
                "upper": point.interval[1],
                "samples": point.certificate.samples,
                "errors": point.certificate.errors,
                **({} if point.certificate.coverage is None else {"coverage": point.certificate.coverage}),
            }
            for point in self.shown
        ]

    def to_frame(self) -> Any:
        """The same as a pandas DataFrame."""
        try:
            pandas: Any = import_module("pandas")
        except ImportError:
            raise MissingExtraError("to_frame needs pandas; install it, or use rows(), which is a list") from None
        return pandas.DataFrame(self.rows())

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """The curve with both ends of every interval and the knee.

        Args:
            path: Where the picture goes, if anywhere; its ending (.png, .svg, .pdf) says which kind.

        Returns:
            The figure, which a notebook shows. It is transparent, and readable on light and on dark pages.

        Raises:
            MissingExtraError: matplotlib (the extra ``plot``) is not installed.
        """
        if path is not None:
            check_suffix("path", path)
        picture = figure_of(self.marks, self._promise())
        if path is not None:
            save(picture, path)
        return picture

    def report(self, path: str | os.PathLike[str], **about: Any) -> Path:
        """Write the curve as one HTML page, opened at the knee, with a control that moves along it.

        Args:
            path: The file to write.
            **about: ``title``, ``target_name``, ``notes`` and ``date``, as `Distillation.report` takes them.

        Returns:
            The path of the page.
        """
        return self.knee.report(path, **about)

    def save(
        self, folder: str | os.PathLike[str], *, title: str = "", target_name: str = "", notes: str = ""
    ) -> list[Path]:
        """Write the knee as `Distillation.save` does, and with it all other points; `load` reads them again.

        Args:
            folder: Where the files go; it is made where it is missing.
            title: The headline of the report.
            target_name: What the report calls the model.
            notes: A paragraph of yours in the report.

        Returns:
            The files that were written, the report last.
        """
        return self.knee.save(folder, title=title, target_name=target_name, notes=notes)

    @property
    def stored(self) -> StoredFrontier:
        """The points as a folder keeps them."""
        points = (StoredPoint(one.tree, one.certificate, one.tested, one.leaf_labels) for one in self.points)
        return StoredFrontier(self.delta, self.max_leaves, tuple(points))

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Frontier:
        """The frontier in a folder that `save`, or the ``save`` of any result that has one, wrote; nobody is asked.

        Its files are data, nothing in them is executed. `ft.verify` says whether they are what they claim to be.

        Args:
            folder: The folder of a result.

        Returns:
            The curve, as the run left it, but for the answers one by one.

        Raises:
            ParameterError: The folder holds no frontier.
            FormatError: A file is damaged, or not of this kind.
        """
        kept = store.load(folder)
        if kept.frontier is None or kept.space is None:
            missing = store.FRONTIER if kept.frontier is None else store.SPACE
            raise ParameterError(f"folder must hold a stored frontier; {missing} is not in {os.fspath(folder)!r}")
        queries = Queries(*(Tally.of(_counts(kept.run, name)) for name in ("asked", "paid")))
        reason, call = str(kept.run.get("reason", "")), str(kept.run.get("command", ""))
        trace, points = _trace(kept.trace), []
        for one in kept.frontier.points:
            seen = trace if one.certificate.ledger == FRONTIER or one.tree == kept.tree else ()
            point = Distillation(one.tree, one.certificate, queries, seen, kept.space, reason, leaf_labels=one.labels)
            points.append(replace(point, tested=one.tested, surrogate=kept.surrogate))
        told = kept.run.get(FORECAST)
        foreseen = None if told is None else Forecast.from_dict(told)
        found = cls(tuple(points), kept.frontier.delta, queries, reason, kept.frontier.max_leaves, foreseen)
        run = {name: value for name, value in kept.run.items() if name not in (store.FILES, store.POINT)}
        return found.told(kept.space, run, call, kept.journal)

    def around(self, chosen: Contents) -> Contents:
        """What a report of one point shows, and of all others with it; a result that is dominated is added to them."""
        from fidelitree.report.contents import SizeCurve  # noqa: PLC0415 - only who wants a page waits for what draws it

        knee = self.knee.leaves if self.has_knee else None
        plain = [point.contents for point in self.shown]  # these know of no frontier
        others = [one for one in plain if one.tree.size != chosen.tree.size]
        points = sorted([chosen, *others], key=lambda one: one.tree.size)
        marked = tuple(replace(one, knee=one.tree.size == knee, steps=_of_size(one)) for one in points)
        place = points.index(chosen)
        return replace(marked[place], curve=SizeCurve(marked, place, tuple(self.sentences())))

    @property
    def marks(self) -> list[Mark]:
        """The points as a drawing needs them."""
        knee = self.knee.leaves if self.has_knee else None
        return [point.certificate.mark(point.leaves, point.leaves == knee) for point in self.shown]

    def __str__(self) -> str:
        return "\n".join([*table(self.marks), *self.sentences(), *self.lost_labels()])

    def sentences(self) -> list[str]:
        """Why there is no knee, where there is none, what the numbers are worth, and which ones real rows refute."""
        sizes = [str(point.leaves) for point in self.shown if point.refuted_by_rows]
        against = "On real rows that were kept aside, these sizes agree less often than is certified over draws: "
        none = [] if self.has_knee else ["No knee: " + self._why_none()]
        return [*none, self._promise(), *([f"{against}{', '.join(sizes)}."] if sizes else [])]

    def lost_labels(self) -> list[str]:
        """Which labels of the target the tree at the knee never answers; nothing where it answers all."""
        knee = self.knee
        table = None if knee.certificate.coverage is not None else knee.certificate.confusion
        lines = [] if table is None else table.never_answers(knee.leaves)
        return [f"Of {in_words(knee.leaves)}: {line}" for line in lines]

    @property
    def refuted_by_rows(self) -> bool:
        """Whether real rows that were kept aside show a larger error than is certified over draws at the knee."""
        return self.knee.refuted_by_rows

    @property
    def informative(self) -> bool:
        """Whether the tree at the knee is certified to agree more often than a guess among the labels that came.

        Of k labels some guess is right on at least 1/k of the inputs; k is 2 if one label came, or if answers are
        numbers.
        """
        return self.knee.error_bound < self._guess

    @property
    def _guess(self) -> float:
        """The error of a guess."""
        seen = {label for point in self.points for label in point.tree.labels.tolist()}
        return 1 - 1 / (max(2, len(seen)) if self.knee.certificate.tolerance is None else 2)

    @property
    def shortfall(self) -> str:
        """What to do where nothing useful is certified."""
        if self.knee.certificate.method == "exact":
            return "no tree this small agrees more often than a guess: allow more leaves with max_leaves"
        tests, level, asked = 1, level_in(FRONTIER, 1, self.delta), int(self.queries.asked)
        while error_bound(math.ceil(_HOPED * tests), tests, level) >= self._guess:
            tests += 1
        others = sum(self.queries.asked[name] for name in self.queries.asked.keys() - {"label", "certify"})
        least = math.ceil((tests + others) / (1 - LATE))
        if asked < least:
            told = "1 label is" if asked == 1 else f"{asked:,} labels are"
            return f"nothing useful certified: {told} too few, give max_queries at least {least}"
        return "nothing useful certified: allow more labels with max_queries, or more time with max_seconds"

    def foreseen(self) -> list[str]:
        """What was to be expected before the expensive part, where somebody looked; it is no promise."""
        return [] if self.forecast is None else [f"Before the tests there was a {self.forecast} (no promise)."]

    def _promise(self) -> str:
        if all(point.certificate.method == "exact" for point in self.points):
            return "Exact: every answer is known."
        return f"All of these hold together, with {at_least(self.delta)} confidence."

    def _why_none(self) -> str:
        if len(self) == 1:
            return "no larger tree is certified to agree more often."
        what = self.marks[0].what
        if self.knee.leaves == 1:
            return f"no larger tree brings half a per cent of {what} for each of its leaves."
        return f"every leaf brings half a per cent of {what}, up to {in_words(self.max_leaves)}."

    def _repr_html_(self) -> str:
        knee = self.knee
        facts = [
            ("Trees", f"{len(self)}"),
            ("Leaves", f"{self.points[0].leaves:,} to {self.points[-1].leaves:,}"),
            ("Labels asked", f"{self.queries.asked:,}"),
        ]
        picture = tag("div", chart(self.marks), style="margin-top:.6em;max-width:40em")
        numbers = folded("The same in numbers", "\n".join(table(self.marks)), opened=False)
        lost = (tag("p", line, style="margin:.6em 0 0") for line in self.lost_labels())
        return card(knee.certificate.standing, self.verdict(), facts, join(*lost, picture, numbers))

    def verdict(self) -> str:
        """One sentence: what the tree that is taken where nobody picks another one reaches."""
        if self.has_knee:
            return f"{_reach(self.knee)}: the knee of {len(self)} certified trees."
        return f"{_reach(self.knee)}. {' '.join(self.sentences()[:1])}"

    def __repr__(self) -> str:
        ends = self.points[0], self.points[-1]
        shares = "error <= " + " to ".join(at_most(one.error_bound) for one in ends)
        if ends[1].certificate.coverage is not None:
            shares = "coverage >= " + " to ".join(at_least(one.certificate.lost) for one in ends)
        span = f"{len(self)} trees, {ends[0].leaves} to {ends[1].leaves} leaves, {shares}"
        return f"<Frontier: {span} ({at_least(self.delta)} for all), {self.queries.asked:,} labels>"


def _reach(point: Distillation) -> str:
    size, verb = in_words(point.leaves), "agrees" if point.leaves == 1 else "agree"
    if point.certificate.agreement == at_least(1.0):  # or rounds to it
        return f"Nothing is certified about {size}"
    least = "" if point.certificate.method == "exact" else "at least "
    if point.certificate.coverage is not None:
        return f"{size} answer{'s' if point.leaves == 1 else ''} {least}{at_least(point.certificate.lost)} of inputs"
    if point.certificate.tolerance is not None:
        verb, near = ("comes" if point.leaves == 1 else "come"), f"{point.certificate.tolerance:.6g}"
        return f"{size} {verb} within {near} of the target on {least}{point.certificate.agreement} of inputs"
    return f"{size} {verb} with the target on {least}{point.certificate.agreement} of inputs"


def _of_size(contents: Contents) -> tuple[TracePoint, ...]:
    """How a tree came about: of a frontier, whose trees are judged together, the steps of its own size."""
    if contents.certificate.ledger != FRONTIER:
        return contents.steps
    return tuple(step for step in contents.steps if step.size == contents.tree.size)


def _picked(point: Distillation, run: Mapping[str, Any], epsilon: float | None) -> dict[str, Any]:
    """How the run was asked for, and which of its points was picked, by which error."""
    return {**run, store.POINT: {"leaves": point.leaves, "epsilon": epsilon}}


def _counts(run: Mapping[str, Any], name: str) -> dict[str, int]:
    found = run.get(name, {})
    if not isinstance(found, dict) or not all(isinstance(count, int) for count in found.values()):
        raise FormatError(f"{store.RUN}: {name} must hold counts; got {found!r:.80}")
    return found


def _trace(text: str | None) -> tuple[TreeJudged, ...]:
    """The trees on the way; of splits, whose leaves are written as text, nothing is read again."""
    names = tuple(entry.name for entry in fields(TreeJudged))
    rows = csv.DictReader(io.StringIO(text or ""))
    if tuple(rows.fieldnames or ()) != names:
        return ()
    try:
        return tuple(TreeJudged(int(a), int(b), float(c), float(d)) for a, b, c, d in map(dict.values, rows))
    except (TypeError, ValueError):
        raise FormatError(f"{store.TRACE} must hold numbers") from None
