"""Targets that are no small complete trees: ours against CART, family by family, every label counted.

CART is the luckier of two on each target: grown best first, and grown to the end and pruned. Ratios are paired: the
same target, the same draw of seeds. A cell is flagged where the 95 % lower limit of its geometric mean is above 1.05;
flagged cells are run again with seeds that were not used before.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean, stdev
from typing import Any

import numpy as np
from scipy.special import stdtrit

import fidelitree as ft
from benchmarks.queries import peers
from benchmarks.queries.functions import CIRCUITS, FUNCTIONS, Function, circuit
from benchmarks.queries.kept import Kept, sources
from benchmarks.queries.runs import progress, workers
from benchmarks.queries.settings import DELTA, Settings
from benchmarks.queries.targets import generator
from benchmarks.report import Bar, Section, Table
from fidelitree.runs.distill import distill

EPSILONS = (0.1, 0.02)
MOST = {0.1: 25_600, 0.02: 102_400}  # labels that a peer may buy
SIZES: dict[str, Sequence[tuple[int, int]]] = {
    "DNF": ((12, 4), (16, 4), (20, 6), (24, 8), (30, 6), (60, 4)),
    "lists of one literal": ((12, 6), (20, 8), (30, 12), (100, 8)),
    "lists of two literals": ((12, 6), (16, 8), (20, 10), (30, 12), (60, 8)),
    "read-once": ((10, 8), (16, 12), (20, 16), (30, 12), (60, 10)),
    "thresholds": ((9, 9), (16, 7), (20, 9), (30, 7), (60, 5)),
    "networks": ((8, 4), (8, 8), (12, 4), (12, 8), (16, 4)),
    "unbalanced trees": ((12, 8), (20, 12), (30, 20), (60, 16), (200, 12)),
    "selectors": ((10, 2), (16, 3), (20, 3), (30, 4), (60, 3)),
    "nested canalizing": ((10, 6), (20, 8), (30, 12), (100, 10)),
}
"""Features, and the size that the family is about."""
WIRED = (
    *(("pla/alu4.pla", 0), ("pla/alu4.pla", 1), ("pla/alu4.pla", 2), ("pla/t481.pla", 0), ("pla/b12.pla", 2)),
    *(("pla/b12.pla", 3), ("pla/b12.pla", 4), ("pla/duke2.pla", 4), ("pla/duke2.pla", 26), ("pla/vg2.pla", 4)),
    *(("pla/vg2.pla", 5), ("pla/vg2.pla", 7), ("pla/misex1.pla", 4), ("pla/rd84.pla", 3), ("epfl/i2c.aig", 0)),
    *(("epfl/i2c.aig", 5), ("epfl/priority.aig", 0), ("epfl/arbiter.aig", 0)),
)
CIRCUIT = "circuits"
QUICK = {"DNF": 2, "lists of two literals": 2, "read-once": 1, "thresholds": 1, "networks": 2, "unbalanced trees": 1}
LEAST = 0.2  # share of the rarer label: below, a constant is nearly good enough
SAMPLE = 4_096
CARTS = {"best first": peers.cart, "pruned": peers.pruned}
FLAG, LIMIT, OVERALL = 1.05, 1.0, (0.57, 0.65)
LEVEL = 0.95
SEEDS, AGAIN = 8, 32


@dataclass(frozen=True)
class Cell:
    """Targets of one family and size, a fresh one for each number; or one circuit."""

    family: str
    n: int
    size: int
    epsilon: float
    path: str = ""

    @property
    def name(self) -> str:
        what = f"{self.path.split('/')[-1]} {self.size}" if self.path else f"{self.family} {self.size} of {self.n}"
        return f"{what}, epsilon {self.epsilon:g}"

    def target(self, seed: int, number: int) -> Function:
        """Drawn again until both labels are frequent; a function that nobody can read."""
        if self.path:
            return circuit(self.path, self.size).__call__
        random = generator(seed, f"{self.family} {self.size} of {self.n}", number)
        while True:
            found = FUNCTIONS[self.family](random, self.n, self.size)
            share = found(random.integers(0, 2, (SAMPLE, self.n), dtype=np.uint8)).mean()
            if LEAST <= share <= 1 - LEAST:
                return lambda bits: np.asarray(found(bits)).astype(np.uint8)


@dataclass(frozen=True)
class Pair:
    """What one target took: labels, leaves (not a number where nothing was certified) and seconds of ours."""

    ours: tuple[float, float]
    cart: tuple[float, float]
    seconds: float

    def log(self, what: int) -> float | None:
        """The logarithm of ours over CART's; None where one of the two has no tree to compare.

        Of labels, that is where neither was certified: what was spent in vain is a lower limit of what it takes.
        """
        if math.isnan(self.ours[1]) and (what or math.isnan(self.cart[1])):
            return None
        return None if what and math.isnan(self.cart[1]) else math.log(self.ours[what] / self.cart[what])


def cells(quick: bool, smoke: bool = False) -> list[Cell]:
    """All of them; for a quick look the first of some families and three circuits, at the larger epsilon."""
    chosen = {family: SIZES[family][: QUICK[family]] for family in QUICK} if quick else SIZES
    if smoke:
        return [Cell(family, *sizes[0], EPSILONS[0]) for family, sizes in chosen.items() if family != "thresholds"]
    found = []
    for epsilon in EPSILONS[: 1 if quick else None]:
        found += [Cell(family, n, size, epsilon) for family, sizes in chosen.items() for n, size in sizes]
        for path, output in WIRED[: 3 if quick else None]:
            if (CIRCUITS / path).is_file():
                found.append(Cell(CIRCUIT, circuit(path, output).n, output, epsilon, path))
    return found


def ours(cell: Cell, settings: Settings, number: int) -> tuple[float, float, float]:
    """Labels, leaves (not a number where nothing is certified) and seconds of one run of ours."""
    space, target = ft.ProductSpace.bernoulli(cell.n), cell.target(settings.seed, number)
    started = time.perf_counter()
    result = distill(target, space, cell.epsilon, DELTA, seed=settings.seed_of(number), max_seconds=settings.seconds)
    leaves = result.tree.size if result.certificate.holds else math.nan
    return int(result.queries.asked), leaves, time.perf_counter() - started


def cart(cell: Cell, settings: Settings, number: int) -> tuple[float, float]:
    """The same of the luckier CART."""
    space, target = ft.ProductSpace.bernoulli(cell.n), cell.target(settings.seed, number)
    most = 400 if settings.smoke else MOST[cell.epsilon]
    found = []
    for name, candidates in CARTS.items():
        random = generator(settings.seed, f"{cell.name} {name}", number)
        tree, asked = peers.buy(candidates, target, space, random, most, cell.epsilon)
        found.append((tree is None, asked, math.nan if tree is None else tree.size))
    _, labels, leaves = min(found)
    return labels, leaves


def limits(logs: Sequence[float]) -> tuple[float, float]:
    """The geometric mean and its lower limit; without a spread there is none."""
    if len(logs) < 2:
        return math.exp(fmean(logs)) if logs else math.nan, 0.0
    below = float(stdtrit(len(logs) - 1, LEVEL)) * stdev(logs) / math.sqrt(len(logs))
    return math.exp(fmean(logs)), math.exp(fmean(logs) - below)


def logs_of(pairs: Iterable[Pair], what: int) -> list[float]:
    return [log for log in (pair.log(what) for pair in pairs) if log is not None]


def flagged(pairs: Sequence[Pair]) -> bool:
    """Whether ours is behind, as far as these runs can tell."""
    return any(limits(logs_of(pairs, what))[1] > FLAG for what in (0, 1))


def measure(chosen: Sequence[Cell], settings: Settings) -> dict[Cell, list[Pair]]:
    """Every cell; those that are flagged once more, with numbers that were not used before, which replace the first."""
    count = 1 if settings.smoke else min(SEEDS, settings.targets)
    found: dict[Cell, list[Pair]] = {}
    kept = Kept(settings.kept)
    with workers(settings) as each:
        for cell in chosen:
            found[cell] = _pairs(cell, settings, range(count), partial(kept.runs, each))
            progress(" ".join([cell.name, *figures(found[cell])]))
        for cell in [cell for cell in chosen if flagged(found[cell])]:
            again = range(count, count + AGAIN * count // SEEDS)
            found[cell] = _pairs(cell, settings, again, partial(kept.runs, each))
            progress(" ".join(["again:", cell.name, *figures(found[cell])]))
    return found


def _pairs(cell: Cell, settings: Settings, numbers: range, runs: Callable[..., list[Any]]) -> list[Pair]:
    """One cell; CART's runs stay as they are whatever our sources say."""
    name = f"{cell.name}, seed {settings.seed}"
    sides = [
        runs(f"{name}, ours {sources()}", partial(ours, cell, settings), numbers),
        runs(f"{name}, CART", partial(cart, cell, settings), numbers),
    ]
    return [Pair((one[0], one[1]), (two[0], two[1]), one[2]) for one, two in zip(*sides, strict=True)]


def figures(pairs: Sequence[Pair]) -> list[str]:
    """Runs, those of ours and of CART's that were certified, then ratio and lower limit of labels and of leaves."""
    held = [
        sum(not math.isnan(which[1]) for which in side) for side in zip(*[(p.ours, p.cart) for p in pairs], strict=True)
    ]
    ratios = [f"{value:.2f}" for what in (0, 1) for value in limits(logs_of(pairs, what))]
    medians = [f"{np.median([pair.ours[what] for pair in pairs]):,.0f}" for what in (0, 1)]
    return [f"{len(pairs)}", *map(str, held), *medians, *ratios, f"{fmean(pair.seconds for pair in pairs):.1f}"]


def run(settings: Settings) -> Section:
    found = measure(cells(settings.smoke or settings.targets < SEEDS, settings.smoke), settings)
    headings = ["target", "runs", "certified", "CART's", "labels", "leaves"]
    headings += ["labels/CART", "limit", "leaves/CART", "limit", "seconds"]
    table = [[cell.name, *figures(pairs)] for cell, pairs in found.items()]
    families: dict[str, list[Pair]] = {}
    for cell, pairs in found.items():
        families.setdefault(cell.family, []).extend(pairs)
    families["all"] = [pair for pairs in found.values() for pair in pairs]
    sums = [[name, *figures(pairs)] for name, pairs in families.items()]
    remark = (
        f"{len(found)} cells, {len({(cell.family, cell.n, cell.size, cell.path) for cell in found})} targets; delta "
        f"{DELTA:g}, p = .5. Ratios are geometric means over targets of labels, and of leaves, ours over CART's; "
        f"*limit*: 95 % lower limit, one-sided. Labels and leaves: medians of ours. CART (scikit-learn, Gini) is on "
        "each target the one of two that asks fewer labels: best first with 2, 4, 8, ... leaves, and cost-complexity "
        "pruning in steps of 1.5. Labels of CART that end without a certificate count as if they had sufficed. "
        f"Flagged cells are run again with {AGAIN} fresh seeds, which replace the first."
    )
    tables = [Table(headings, table), Table(["family", *headings[1:]], sums)]
    bars = [Bar(bar.promise, bar.measured, None if settings.smoke else bar.met) for bar in _bars(found, families)]
    return Section("workload", "functions that are no small trees", tables, bars, remark)


def _bars(found: dict[Cell, list[Pair]], families: dict[str, list[Pair]]) -> list[Bar]:
    bars = []
    for what, name in enumerate(("labels", "leaves")):
        for family, pairs in families.items():
            mean, limit = limits(logs_of(pairs, what))[0], OVERALL[what] if family == "all" else LIMIT
            bars.append(Bar(f"{family}: {name} at most {limit:g} of CART's", f"{mean:.3f}", mean <= limit))
        behind = [cell.name for cell, pairs in found.items() if limits(logs_of(pairs, what))[1] > FLAG]
        bars.append(Bar(f"no cell behind CART in {name}", "; ".join(behind) or f"{len(found)} cells", not behind))
    failed = [cell.name for cell, pairs in found.items() if any(math.isnan(pair.ours[1]) for pair in pairs)]
    bars.append(Bar("every run certified", "; ".join(failed) or "all", not failed))
    return bars
