"""The paper's two figures: size of the recovered tree against epsilon, and against the number of features."""

from __future__ import annotations

import hashlib
import itertools
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fidelitree.asking.counted import Counted
from fidelitree.exact.engine import exact_subfunction, tree_error
from fidelitree.runs.paper import practical_top_down
from fidelitree.spaces.product import ProductSpace
from fidelitree.targets.random_trees import balanced, chain

if TYPE_CHECKING:
    from fidelitree import theory
    from fidelitree.trees.tree import Tree

BIASES = (0.5, 0.3, 0.1)
EXITS = {"chain-1": 1, "chain-0": 0}
"""The paper does not say on which side a chain exits; under biased bits the two are different targets."""
FAMILIES = ("balanced", *EXITS)
DELTA = 0.1


@dataclass(frozen=True)
class PlannedRun:
    """One run: a random target of a family, distilled by Algorithm 2."""

    family: str
    p: float
    n: int
    depth: int
    epsilon: float
    repetition: int
    schedule: theory.Schedule
    seed: int

    def target(self, space: ProductSpace) -> Tree:
        """A target for each repetition, whatever epsilon and p are: balanced, or a chain with as many leaves."""
        name = f"{self.seed}/{self.n}/{self.repetition}"
        seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "big")
        if self.family == "balanced":
            return balanced(space, self.depth, seed)
        return chain(space, 2**self.depth, seed, EXITS[self.family])


@dataclass(frozen=True)
class Row:
    """What one run gave; ``error`` is exact, ``constant_error`` is the error of the best single leaf."""

    family: str
    p: float
    n: int
    epsilon: float
    repetition: int
    schedule: str
    target_size: int
    size: int
    depth: int
    error: float
    certified: float
    constant_error: float
    asked: int
    seconds: float

    @property
    def constant_suffices(self) -> bool:
        """Whether a single leaf is already good enough."""
        return self.constant_error <= self.epsilon


def size_vs_epsilon(schedule: theory.Schedule, repetitions: int, seed: int) -> list[PlannedRun]:
    """n = 20, epsilon from .10 to .30, targets of 16 leaves."""
    return _planned([(20, 4, epsilon) for epsilon in (0.10, 0.15, 0.20, 0.25, 0.30)], repetitions, schedule, seed)


def size_vs_dimension(schedule: theory.Schedule, repetitions: int, seed: int) -> list[PlannedRun]:
    """epsilon = .15, n from 3 to 7, targets of 8 leaves (or as many as n allows)."""
    return _planned([(n, 3, 0.15) for n in range(3, 8)], repetitions, schedule, seed)


def _planned(
    cells: Sequence[tuple[int, int, float]], repetitions: int, schedule: theory.Schedule, seed: int
) -> list[PlannedRun]:
    """All families and biases, for each n, depth and epsilon."""
    every = itertools.product(FAMILIES, BIASES, cells, range(repetitions))
    return [PlannedRun(family, p, *cell, repetition, schedule, seed) for family, p, cell, repetition in every]


def run_cell(cell: PlannedRun) -> Row:
    """Distil one target and compare exactly."""
    space = ProductSpace.bernoulli(cell.n, cell.p)
    target = cell.target(space)
    started = time.perf_counter()
    result = practical_top_down(
        target, space, cell.epsilon, DELTA, seed=cell.seed + cell.repetition, schedule=cell.schedule
    )
    seconds = time.perf_counter() - started
    function = exact_subfunction(Counted(target, space), space.whole, 0)
    assert function is not None, "a tree has an exact engine"
    return Row(
        **{name: getattr(cell, name) for name in ("family", "p", "n", "epsilon", "repetition", "schedule")},
        target_size=target.size,
        size=result.tree.size,
        depth=result.tree.depth,
        error=tree_error(result.tree, target, space),
        certified=result.certificate.error_bound,
        constant_error=1 - float(function.label_probabilities().max()),
        asked=int(result.queries.asked),
        seconds=round(seconds, 4),
    )


def run(cells: Iterable[PlannedRun], jobs: int, advance: Callable[[], None]) -> list[Row]:
    """All cells, the largest first, on ``jobs`` processes; ``advance`` is called after each."""
    cells = list(cells)
    costly_first = sorted(range(len(cells)), key=lambda k: (cells[k].epsilon, -cells[k].n))
    rows: dict[int, Row] = {}
    if jobs == 1:
        for k in costly_first:
            rows[k] = run_cell(cells[k])
            advance()
    else:
        with ProcessPoolExecutor(jobs) as pool:
            waiting = {pool.submit(run_cell, cells[k]): k for k in costly_first}
            try:
                for done in as_completed(waiting):
                    rows[waiting[done]] = done.result()
                    advance()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)  # else it waits for all cells that nobody wants
                raise
    return [rows[k] for k in range(len(cells))]
