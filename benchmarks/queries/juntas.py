"""Functions of few bits among many: hidden parities and random tables, and labels against what there is to ask.

Which bits matter, and which run, is drawn from 100 k + n + seed. No bit of a parity tells anything alone; a random
table of 12 bits has no tree that is much smaller than itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import fidelitree as ft
from benchmarks.queries.functions import CIRCUITS, circuit
from benchmarks.queries.runs import progress, workers
from benchmarks.queries.settings import DELTA, Settings
from benchmarks.report import Bar, Section, Table

if TYPE_CHECKING:
    from collections.abc import Callable

EPSILON, SEEDS, FEW_SEEDS = 0.05, 7, 2
SIZES = (12, 16, 20, 24, 25, 30, 200, 2_000)
PARITIES, TABLE, TABLES_AMONG = (4, 5, 6, 7, 8), 12, (20, 200, 2_000)
CIRCUIT, CIRCUIT_SEEDS = "pla/t481.pla", 3
SAMPLE = 4_096


@dataclass(frozen=True)
class Hidden:
    """A function of k bits among n."""

    kind: str
    k: int
    n: int

    @property
    def allowed(self) -> float:
        """Labels: all cells, walks to all bits, and a certificate."""
        return 2**self.k + 2 * self.k * math.log2(self.n) + (120 if self.kind == "parity" else 800)

    def target(self, seed: int) -> Callable[[Any], Any]:
        """The function of a seed."""
        random = np.random.default_rng(100 * self.k + self.n + seed)
        bits = random.choice(self.n, self.k, replace=False)
        if self.kind == "parity":
            return lambda batch: batch[:, bits].sum(axis=1) % 2
        table, places = random.integers(0, 2, 1 << self.k), 1 << np.arange(self.k)
        return lambda batch: table[batch[:, bits].astype(np.intp) @ places]


def perform(hidden: Hidden, settings: Settings, seed: int) -> tuple[int, bool, float]:
    """Labels, whether they certified a tree, and how often that is wrong on other inputs."""
    space, target = ft.ProductSpace.bernoulli(hidden.n), hidden.target(seed)
    found = ft.distill(target, space, EPSILON, DELTA, seed=seed, max_seconds=settings.seconds)
    inputs = space.draw(SAMPLE, seed=seed + 1)
    wrong = float(np.mean(found.tree.predict(inputs) != target(inputs)))
    return int(found.queries.asked), found.certificate.holds, wrong


def asked_of(path: str, seed: int) -> tuple[int, int]:
    """Labels of a circuit that nobody can read, and all its inputs."""
    known = circuit(path, 0)
    found = ft.distill(known.__call__, ft.ProductSpace.bernoulli(known.n), 0.02, DELTA, seed=seed)
    return int(found.queries.asked), 1 << known.n


def run(settings: Settings) -> Section:
    cells = [Hidden("parity", k, n) for k in PARITIES for n in SIZES]
    cells += [Hidden("table", TABLE, n) for n in TABLES_AMONG]
    if settings.smoke:
        cells = [Hidden("parity", 4, 12), Hidden("table", 5, 12)]
    table: list[list[str]] = []
    kinds: dict[str, list[tuple[Hidden, int, bool, float]]] = {}
    with workers(settings) as each:
        for cell in cells:
            count = 1 if settings.smoke else min(settings.targets, SEEDS if cell.kind == "parity" else FEW_SEEDS)
            found = each(partial(perform, cell, settings), range(count))
            kinds.setdefault(cell.kind, []).extend((cell, *one) for one in found)
            labels, held, wrong = zip(*found, strict=True)
            figures = [f"{sum(held)}/{count}", f"{np.median(labels):,.0f}", f"{max(labels):,}", f"{cell.allowed:,.0f}"]
            table.append([f"{cell.kind} of {cell.k} among {cell.n:,}", *figures, f"{max(wrong):.4f}"])
            progress(" ".join(table[-1]))
    bars = [bar for kind, found in kinds.items() for bar in _bars(kind, found, settings.smoke)]
    if not settings.smoke and (CIRCUITS / CIRCUIT).is_file():
        asked = [asked_of(CIRCUIT, seed) for seed in range(CIRCUIT_SEEDS)]
        most = max(asked)
        bars.append(Bar("t481: no more labels than inputs", f"{most[0]:,} of {most[1]:,}", most[0] <= most[1]))
    headings = ["target", "certified", "labels", "most", "allowed", "wrong"]
    remark = (
        f"epsilon {EPSILON:g}, delta {DELTA:g}, fair bits. *Labels*: median, and the most of any seed; *wrong*: the "
        f"largest share of {SAMPLE:,} other inputs that a tree gets wrong. t481 is asked as a black box, epsilon .02."
    )
    return Section("juntas", "functions of few bits among many", [Table(headings, table)], bars, remark)


def _bars(kind: str, found: list[tuple[Hidden, int, bool, float]], smoke: bool) -> list[Bar]:
    failed = sum(not held for _, _, held, _ in found)
    wrong = sum(share > 0 for *_, share in found)
    dearest = max(found, key=lambda one: one[1] / one[0].allowed)
    cell, labels = dearest[:2]
    above = sum(one[1] > one[0].allowed for one in found)
    worst = f"{above} of {len(found)} above; {labels:,} of {cell.allowed:,.0f} for {cell.k} among {cell.n:,}"
    bars = [
        (f"{kind}: every run certified", f"{failed} of {len(found)} not", not failed),
        (f"{kind}: every tree exact", f"{wrong} of {len(found)} not", not wrong),
        (f"{kind}: labels within what is allowed", worst, not above),
    ]
    return [Bar(promise, measured, None if smoke else met) for promise, measured, met in bars]
