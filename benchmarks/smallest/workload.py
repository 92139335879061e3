"""The workload of `distill`: `strategy="smallest"`, `strategy="auto"`, CART and pystreed, one certificate for all."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

from benchmarks.leaves.peers import PEERS, Labelled, streed_within
from benchmarks.leaves.trial import put_to_test
from benchmarks.queries.forests import compas
from benchmarks.queries.known import Named
from benchmarks.queries.runs import Cell, progress, workers
from benchmarks.queries.settings import DELTA, EPSILON, Settings
from benchmarks.queries.targets import FAMILIES
from benchmarks.report import Bar, Section, Table
from fidelitree.asking.counted import Counted
from fidelitree.asking.memory import Memory
from fidelitree.certificates.attempts import Attempts
from fidelitree.runs.distill import distill
from fidelitree.runs.input_source import source_of
from fidelitree.runs.outcome import best_so_far
from fidelitree.trees.tree import Tree

OURS, AUTO = "smallest", "auto"
LABELS = 20_000  # that a peer is taught by; its tests come on top
DEPTH, SECONDS = 4, 60.0  # that pystreed is told, and what it may take a target
STREED = "pystreed"
FEW = 20  # features: of 200 pystreed takes longer than that, and CART's pruning minutes, for trees like CART's


@dataclass(frozen=True)
class Certified:
    """Leaves and queries of one run; infinitely many leaves where nothing was certified."""

    leaves: float
    queries: int
    seconds: float


def cells(smoke: bool) -> list[Cell]:
    """All families at all biases, few features and many; fixed functions; forests trained on COMPAS."""
    sizes, biases, depth = ((8,), (0.3,), 3) if smoke else ((20, 200), (0.5, 0.3, 0.1), DEPTH)
    found = [Cell(f"{family} p={p:g} n={n}", n, p, family, depth) for n in sizes for family in FAMILIES for p in biases]
    made = [("multiplexer 11", Named("multiplexer", 3)), ("majority 9", Named("majority", 9))]
    if not smoke:
        made.append(("tribes 3x5", Named("tribes", 3, 5)))
    found += [Cell(name, target.function().n, fixed=target) for name, target in made]
    forests = list(compas().items())[: 1 if smoke else None]
    return found + [Cell(f"COMPAS {name}", forest.n, fixed=forest) for name, forest in forests]


def methods(cell: Cell) -> list[str]:
    """Those that apply."""
    return [OURS, AUTO, *(PEERS if cell.n <= FEW else ["CART"])]


def perform(cell: Cell, method: str, settings: Settings, number: int) -> Certified:
    """One method on one target."""
    target, seed, started = _black_box(cell.target(settings.seed, number)), settings.seed_of(number), time.monotonic()
    if method in (OURS, AUTO):
        result = distill(target, cell.space(), EPSILON, DELTA, seed=seed, strategy=method)  # type: ignore[arg-type]
        leaves, queries = result.tree.size if result.certificate.holds else math.inf, int(result.queries.asked)
        return Certified(leaves, queries, time.monotonic() - started)
    source = source_of(cell.space(), seed)
    counted, attempts = Counted(target, source.product, Memory()), Attempts(EPSILON, DELTA)
    inner = source.label(400 if settings.smoke else LABELS)
    data = Labelled(source.product, inner, counted.labels(counted.ask(inner, "label")), EPSILON)
    trees = streed_within(data, cell.depth, SECONDS) if method == STREED else PEERS[method](data, SECONDS)
    put_to_test(trees, counted, source, attempts)
    outcome = best_so_far(attempts, None, None)
    leaves = outcome.tree.size if outcome.error_bound <= EPSILON else math.inf
    return Certified(leaves, counted.asked, time.monotonic() - started)


def _black_box(target: Any) -> Callable[[Any], Any]:
    """A tree would be read, not asked."""
    return target.predict if isinstance(target, Tree) else target  # type: ignore[no-any-return]


Results = Mapping[tuple[str, str], Sequence[Certified]]


def measure(chosen: Iterable[Cell], count: int, settings: Settings) -> dict[tuple[str, str], list[Certified]]:
    """So many targets of every cell, or one fixed target under so many seeds."""
    found = {}
    with workers(settings) as each:
        for cell in chosen:
            for method in methods(cell):
                runs = each(partial(perform, cell, method, settings), range(count))
                found[cell.name, method] = runs
                leaves = ", ".join(_leaves(run.leaves) for run in runs)
                progress(f"{cell.name} {method}: {leaves} ({sum(run.seconds for run in runs):.1f} s)")
    return found


def _leaves(value: float) -> str:
    return "none" if math.isinf(value) else f"{value:g}"


def larger(found: Results) -> list[str]:
    """Where ours has more leaves than another's certified tree."""
    return [
        f"{cell}, target {number}: {_leaves(ours.leaves)}, {method} {_leaves(other.leaves)}"
        for (cell, method), runs in found.items()
        for number, (ours, other) in enumerate(zip(found[cell, OURS], runs, strict=True))
        if ours.leaves > other.leaves
    ]


def section(found: Results, count: int, smoke: bool) -> Section:
    """The table and its bar."""
    columns = [OURS, AUTO, *PEERS]
    rows = []
    for cell in dict.fromkeys(cell for cell, _ in found):
        row = [cell]
        for method in columns:
            runs = found.get((cell, method))
            row.append("-" if runs is None else _leaves(float(median(run.leaves for run in runs))))
        rows.append(row)
    worse, pairs = larger(found), sum(len(runs) for (_, method), runs in found.items() if method != OURS)
    promise = "on no target more leaves than auto, CART or pystreed, all certified"
    bar = Bar(promise, "; ".join(worse) or f"{pairs} comparisons", None if smoke else not worse)
    table = Table(["target", *columns], rows)
    return Section("workload", "the targets of `distill`", [table], [bar], _remark(count))


def _remark(count: int) -> str:
    return (
        f"Epsilon {EPSILON:g}, delta {DELTA:g}; median leaves over {count} targets a row, or over as many seeds where "
        "there is one target; *none*: in half of the runs or more nothing was certified. All methods see a black box. "
        f"CART and pystreed are taught by {LABELS:,} labels, and several of their trees are put to the test, each with "
        "its own share of delta, until the smallest that can be certified is, on answers that come on top of the "
        f"labels; pystreed is told that depth {DEPTH} suffices, and gives its best trees for 1, 2, 3, ... splits as "
        f"far as it gets in {SECONDS:g} s; of more than {FEW} features it takes too long, as does pruning (-)."
    )


def run(settings: Settings) -> Section:
    count = 1 if settings.smoke else settings.targets
    return section(measure(cells(settings.smoke), count, settings), count, settings.smoke)
