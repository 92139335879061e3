"""``compare``: all learners that apply, side by side on one target, each with answers and a certificate of its own."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.access import as_used
from fidelitree.asking.counted import Counted, tabulate
from fidelitree.asking.events import LearnerBegan, Observer, nobody
from fidelitree.display.canvas import figure
from fidelitree.display.wording import table
from fidelitree.errors import (
    MissingExtraError,
    NoDiagramError,
    ParameterError,
    check_choice,
    check_delta,
    check_epsilon,
    check_names,
    check_observer,
    check_path,
    show,
    writing,
)
from fidelitree.exact.engine import error_inside, exact_subfunction, free_of_charge
from fidelitree.learners import LEARNERS
from fidelitree.runs.distill import distill
from fidelitree.search.optimal.optimum import CellFunction
from fidelitree.spaces.draw import seed_of
from fidelitree.spaces.rows import taken_for_granted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fidelitree.exact.subfunction import Subfunction
    from fidelitree.runs.result import Distillation
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.spaces.world import World
    from fidelitree.targets.labels import Target

UNASKED = 4096  # inputs that are listed without asking, to know true errors
LISTED = 1 << 12  # inputs of which the exact frontier is drawn
_SECONDS = 60.0

OURS: dict[str, Callable[..., Distillation]] = {"distill": distill, "smallest": partial(distill, strategy="smallest")}


_HEAD = ("learner", "queries", "leaves", "depth", "certified", "error", "seconds", "remark")


@dataclass(frozen=True)
class Entry:
    """One learner on one target.

    ``error`` is the true error where it can be known without a surprise, ``remark`` why it ended, or does not apply;
    then the numbers are None.
    """

    learner: str
    certified: bool
    queries: int | None = None
    leaves: int | None = None
    depth: int | None = None
    error_bound: float | None = None
    error: float | None = None
    seconds: float | None = None
    remark: str = ""


@dataclass(frozen=True, eq=False)
class Comparison:
    """What the learners made of one target; ``str()`` is a table.

    Attributes:
        epsilon: The error that was tolerated.
        delta: The chance that a run states a false bound.
        rows: A line for each learner.
        results: Their results by name.
        frontier: ``frontier[s - 1]`` is the least error of any tree with s leaves, where it is known.
        interrupted: Whether Ctrl-C ended the last learner, or came before the next: there are no more rows.
        seed: Chose all draws of all learners.
        assumes: What certificates over rows of a table take for granted.

    Examples:
        >>> from fidelitree.targets import multiplexer
        >>> compare(multiplexer(2), ProductSpace.bernoulli(6), 0, learners=["optimal", "id3"])
        <Comparison: 2 learners, error 0 asked for>
    """

    epsilon: float
    delta: float
    rows: tuple[Entry, ...]
    results: Mapping[str, Distillation]
    frontier: NDArray[np.float64] | None = None
    interrupted: bool = False
    seed: int | None = None
    assumes: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [list(_HEAD), *(_cells(row) for row in self.rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(_HEAD))]
        told = [f"Assumes: {'; '.join(self.assumes)}."] if self.assumes else []
        return "\n".join([*("  ".join(_aligned(line, widths)).rstrip() for line in lines), *told])

    def __repr__(self) -> str:
        return f"<Comparison: {len(self.rows)} learners, error {self.epsilon:g} asked for>"

    def _repr_html_(self) -> str:
        return table(_HEAD, map(_cells, self.rows))

    def to_csv(self) -> str:
        """The rows as CSV, a column for each field."""
        text = io.StringIO()
        writer = csv.DictWriter(text, [field.name for field in fields(Entry)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in self.rows)
        return text.getvalue()

    def plot(self) -> Figure:
        """Error against leaves, a point for each learner, the exact frontier behind them; matplotlib draws it."""
        picture, places = figure(1, 1, 4.2)
        axes = places[0, 0]
        shown = [row for row in self.rows if row.leaves is not None]
        if self.frontier is not None:
            most = max([row.leaves or 1 for row in shown], default=1)
            curve = self.frontier[: max(most, 2)]
            axes.step(np.arange(1, len(curve) + 1), curve, where="post", color="0.6", lw=1.2, label="exact frontier")
        for number, row in enumerate(shown):
            error = row.error if row.error is not None else row.error_bound
            marker = "o" if row.certified else "x"
            axes.plot([row.leaves], [error], marker, color=f"C{number % 10}", ms=6, label=row.learner)
        axes.axhline(self.epsilon, color="0.8", lw=0.8, zorder=0)
        axes.set(xlabel="leaves", ylabel="error (certified bound where unknown)", xscale="log")
        axes.legend(fontsize=7, frameon=False)
        return picture

    def save(self, folder: str | Path) -> list[Path]:
        """Write ``comparison.txt``, ``comparison.csv`` and, where matplotlib is installed, ``comparison.svg``."""
        folder = check_path("folder", folder)
        files = {"comparison.txt": f"{self}\n", "comparison.csv": self.to_csv()}
        paths = [folder / name for name in files]
        with writing(folder, "give a folder, or a name that is not taken"):
            folder.mkdir(parents=True, exist_ok=True)
            for path, text in zip(paths, files.values(), strict=True):
                path.write_text(text, encoding="utf-8")
            try:
                picture = self.plot()
            except MissingExtraError:
                return paths
            picture.savefig(folder / "comparison.svg", metadata={"Date": None})
        return [*paths, folder / "comparison.svg"]


def compare(
    target: Any,
    space: Any,
    epsilon: float = 0.05,
    delta: float = 0.05,
    *,
    groups: Any = None,
    seed: int | None = None,
    learners: Sequence[str] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    max_queries: int | None = None,
    max_seconds: float | None = _SECONDS,
    threshold: float | None = None,
    observer: Observer = nobody,
) -> Comparison:
    """Every learner that applies, `distill` and `distill(strategy="smallest")` first, on the same target.

    Every learner asks for itself, so that queries can be compared. True errors and the exact frontier are looked up for
    circuits, tables and trees, and for at most 4,096 inputs. Ctrl-C ends the comparison with the rows so far.

    Args:
        target: What is explained: a callable from a batch of inputs to labels, or a fitted model.
        space: Where inputs come from: any space, or a table, to one half of which a `ChowLiu` is fitted.
        epsilon: The error that is tolerated.
        delta: The chance that the run states a false bound.
        groups: The column of a table that says which rows belong together, or an entry for each row.
        seed: Chooses all draws: the same seed gives the same result. None takes a fresh one, which is recorded.
        learners: Names of learners; all that apply where it is left out.
        options: Further arguments by learner, as in ``{"streed": {"depth": 3}}``.
        max_queries: The most labels of each learner.
        max_seconds: The most seconds of each learner.
        threshold: Turns scores into labels: 1 above this value, otherwise 0; of a classifier, by its second class.
        observer: Receives an event for each step of the run; `Progress` is one.

    Returns:
        A row for each learner, and their results by name.

    Raises:
        ParameterError: An argument breaks its rule.
        TargetError: The target failed, or answered something that is no label.

    Examples:
        >>> from fidelitree.targets import multiplexer
        >>> found = compare(multiplexer(2), ProductSpace.bernoulli(6), 0, learners=["optimal", "id3", "top_down"])
        >>> [(row.learner, row.leaves) for row in found.rows]
        [('optimal', 8), ('id3', 18), ('top_down', 8)]
    """
    check_observer(observer)
    target, space = as_used(target, space, threshold, groups=groups)
    known = (*OURS, *LEARNERS)
    names = list(known) if learners is None else check_names("learners", learners, "names of learners")
    options = _check_options(options)
    for name in (*names, *options):
        check_choice("learners", name, known)
    epsilon, delta, root = check_epsilon(epsilon), check_delta(delta), _known(target, space)
    known_seed = seed_of(seed)
    limits = {"max_queries": max_queries, "max_seconds": max_seconds, "observer": observer}
    rows, results, frontier, interrupted = [], {}, None, False
    try:
        for number, name in enumerate(names):
            observer(LearnerBegan(0, name, number + 1, len(names)))
            started = time.perf_counter()
            found = _learnt(name, (target, space, epsilon, delta), known_seed, {**limits, **options.get(name, {})})
            if isinstance(found, str):
                rows.append(Entry(name, certified=False, remark=found))
                continue
            rows.append(_entry(name, found, root, time.perf_counter() - started))
            results[name] = found
            if interrupted := "interrupted" in found.reason:
                break
        else:
            frontier = _frontier(target, space)
    except KeyboardInterrupt:
        if not results:
            raise
        interrupted = True
    return Comparison(epsilon, delta, tuple(rows), results, frontier, interrupted, known_seed, taken_for_granted(space))


def _check_options(options: object) -> Mapping[str, Mapping[str, Any]]:
    """Arguments by the name of a learner."""
    found = {} if options is None else options
    if not isinstance(found, Mapping) or not all(isinstance(told, Mapping) for told in found.values()):
        raise ParameterError(f"options must map names of learners to their arguments; got {show(options)}")
    return found


def _learnt(name: str, what: tuple[Any, ...], seed: int, told: Mapping[str, Any]) -> Distillation | str:
    """The result, or why there is none."""
    if name in LEARNERS and (reason := LEARNERS[name].why_not(what[1])) is not None:
        return reason
    learn = OURS[name] if name in OURS else LEARNERS[name].learn
    try:
        return learn(*what, seed=seed, **told)
    except ParameterError as error:  # what all would refuse was refused before: this is about this learner
        return str(error)


def _entry(name: str, found: Distillation, root: Subfunction | None, seconds: float) -> Entry:
    tree, certificate = found.tree, found.certificate
    error = certificate.error_bound if certificate.method == "exact" else None
    if root is not None:
        error = error_inside(tree, root, found.space.product)
    asked, bound = int(found.queries.asked), certificate.error_bound
    remark = "" if found.reason == "certified" else found.reason
    return Entry(name, certificate.holds, asked, tree.size, tree.depth, bound, error, seconds, remark)


def _listable(space: ProductSpace, most: int) -> bool:
    return space.points is not None and space.points <= most


def _known(target: Target, space: World) -> Subfunction | None:
    """The target with all answers known, where that is no surprise to anybody."""
    product = space.independent
    if product is None:
        return None
    counted = Counted(target, product)
    if not free_of_charge(counted) and not _listable(product, UNASKED):
        return None
    try:
        return exact_subfunction(counted, product.whole, UNASKED)
    except NoDiagramError:
        return None


def _frontier(target: Target, space: World) -> NDArray[np.float64] | None:
    """The least error for every number of leaves, where it takes seconds."""
    product = space.independent
    if product is None or not _listable(product, LISTED):
        return None
    counted = Counted(target, product)
    codes = np.array(tabulate(counted, product.whole), np.intp)
    function = CellFunction.of(product, np.array(counted.book.ranks())[codes])
    return next((curve.errors for curve in function.curves((function.grid.size, None))), None)


def _cells(row: Entry) -> list[str]:
    def shown(value: float | None, how: str) -> str:
        return "-" if value is None else format(value, how)

    bound = "-" if row.error_bound is None else f"{row.error_bound:.4f}{'' if row.certified else ' no'}"
    numbers = [shown(row.queries, ","), shown(row.leaves, ","), shown(row.depth, ","), bound, shown(row.error, ".4f")]
    return [row.learner, *numbers, shown(row.seconds, ".1f"), row.remark]


def _aligned(line: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Names and remarks to the left, numbers to the right."""
    last = len(line) - 1
    return [
        cell.ljust(width) if place in (0, last) else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(line, widths, strict=True))
    ]
