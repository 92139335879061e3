"""Runs of one cell, ours and the peers', side by side on several processes."""

from __future__ import annotations

import math
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import fidelitree as ft
from benchmarks.queries import peers
from benchmarks.queries.settings import DELTA, EPSILON, Settings
from benchmarks.queries.targets import FAMILIES, generator, merged
from fidelitree.runs.distill import distill

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

CANDIDATES = {"CART": peers.cart, "pystreed": peers.streed}
FEW_LEAVES: dict[str, dict[str, Any]] = {
    "leaves": {"prefer": "leaves"},
    "leaves, 5,000": {"prefer": "leaves", "max_queries": 5_000},
}
NEVER = math.inf


@dataclass(frozen=True)
class Run:
    """One run: labels asked and rows paid, infinite where nothing was certified, and the tree it returned."""

    asked: float
    paid: float
    leaves: int
    depth: int
    error: float
    certified: bool


@dataclass(frozen=True)
class Cell:
    """Fresh targets of one family, or one fixed target under fresh seeds."""

    name: str
    n: int
    p: float = 0.5
    family: str = ""
    depth: int = 4
    fixed: Callable[[Any], Any] | None = None

    def space(self) -> ft.ProductSpace:
        return ft.ProductSpace.bernoulli(self.n, self.p)

    def target(self, seed: int, number: int) -> Callable[[Any], Any]:
        if self.fixed is not None:
            return self.fixed
        return FAMILIES[self.family](self.space(), self.depth, generator(seed, self.name, number))

    def merged_leaves(self, seed: int, number: int) -> int:
        target = self.target(seed, number)
        assert isinstance(target, ft.Tree)
        return merged(target, self.space()).size


def perform(cell: Cell, method: str, settings: Settings, number: int) -> Run:
    """One run of a strategy of ours, or of a peer."""
    space, target = cell.space(), cell.target(settings.seed, number)
    if method in CANDIDATES:
        random = generator(settings.seed, f"{cell.name} {method}", number)
        most = 400 if settings.smoke else peers.MOST
        tree, asked = peers.buy(CANDIDATES[method], target, space, random, most)
        if tree is None:
            return Run(NEVER, NEVER, 0, 0, math.nan, False)
        return Run(asked, asked, tree.size, tree.depth, _error(tree, target, space), True)
    options = FEW_LEAVES.get(method) or {"strategy": method}
    seed, seconds = settings.seed_of(number), settings.seconds
    result = distill(target, space, EPSILON, DELTA, seed=seed, max_seconds=seconds, **options)  # type: ignore[arg-type]
    holds, tree = result.certificate.holds, result.tree
    asked, paid = (int(result.queries.asked), int(result.queries.paid)) if holds else (NEVER, NEVER)
    return Run(asked, paid, tree.size, tree.depth, _error(tree, target, space), holds)


def _error(tree: ft.Tree, target: Callable[[Any], Any], space: ft.ProductSpace) -> float:
    """The true error; not a number where it cannot be exact."""
    return ft.tree_error(tree, target, space) if isinstance(target, ft.Tree) or len(space) <= 20 else math.nan


@dataclass(frozen=True)
class Summary:
    """Medians over the runs of a cell; a run without a certificate asked for infinitely many labels."""

    runs: Sequence[Run]

    @property
    def certified(self) -> list[Run]:
        return [run for run in self.runs if run.certified]

    @property
    def asked(self) -> float:
        return float(median(run.asked for run in self.runs))

    @property
    def paid(self) -> float:
        return float(median(run.paid for run in self.runs))

    @property
    def leaves(self) -> float:
        """Of certified runs, where at least half of them are."""
        return float(median(run.leaves for run in self.certified)) if self.asked < NEVER else NEVER

    @property
    def depth(self) -> float:
        return float(median(run.depth for run in self.certified)) if self.asked < NEVER else NEVER

    @property
    def error(self) -> float:
        return fmean(run.error for run in self.certified) if self.certified else math.nan

    @property
    def false(self) -> float:
        """Share of the certified trees whose true error is above epsilon."""
        return fmean(run.error > EPSILON for run in self.certified) if self.certified else math.nan

    def cells(self) -> list[str]:
        """For a table: certified runs, labels, leaves, depth, true error, share of false certificates."""
        known = not math.isnan(self.error)
        errors = [f"{self.error:.4f}", f"{100 * self.false:.0f} %"] if known else ["-", "-"]
        return [f"{len(self.certified)}/{len(self.runs)}", *map(number, (self.asked, self.leaves, self.depth)), *errors]


HEADINGS = ["certified", "queries", "leaves", "depth", "true error", "false"]


def number(value: float) -> str:
    """A median: whole where it is."""
    return "never" if value == NEVER else f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


@contextmanager
def workers(settings: Settings) -> Iterator[Callable[..., list[Any]]]:
    """A way to do the same for many numbers on several processes; the order is kept."""
    if settings.smoke or settings.processes == 1:
        yield lambda work, numbers: [work(k) for k in numbers]
        return
    with ProcessPoolExecutor(settings.processes) as pool:
        yield lambda work, numbers: list(pool.map(work, numbers))


def compare(cells: Iterable[tuple[Cell, Sequence[str], int]], settings: Settings) -> dict[tuple[str, str], Summary]:
    """A summary for every cell and every method named with it, over so many targets."""
    found = {}
    with workers(settings) as each:
        for cell, methods, count in cells:
            for method in methods:
                started = time.perf_counter()
                runs = each(partial(perform, cell, method, settings), range(count))
                found[cell.name, method] = Summary(runs)
                took = time.perf_counter() - started
                progress(f"{cell.name} {method}: {number(found[cell.name, method].asked)} queries ({took:.1f} s)")
    return found


def progress(line: str) -> None:
    """For whoever waits."""
    print(line, file=sys.stderr, flush=True)
