"""One method on one case: grow, choose, test."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.leaves.cases import DELTA, Case
from benchmarks.leaves.peers import PEERS, Labelled
from fidelitree.asking.counted import Counted
from fidelitree.asking.limits import BudgetSpent
from fidelitree.asking.memory import Memory
from fidelitree.certificates.attempts import FAIR_TRIAL, Attempts
from fidelitree.runs.input_source import Source
from fidelitree.runs.outcome import best_so_far
from fidelitree.runs.size_grid import near
from fidelitree.search.archive import Archive, LabelLoss
from fidelitree.trees.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Sequence

OURS = "fidelitree"
STEPS = 900  # proposals near the sizes that are likely to do
HELD = 5  # one label in so many judges sizes
LARGEST = 512  # leaves
MARGINS = (0.0, 0.5, 1.0, 1.75, 2.5, 3.5, 5.0)  # standard errors that a held-out error is to be below epsilon
PATIENCE = 2_000  # over epsilon: answers that may go into deciding whether a smaller tree will do
BATCHES = 64


@dataclass(frozen=True)
class Found:
    """What a method came to."""

    case: Case
    method: str
    growing: int
    queries: int
    tree: Tree
    bound: float
    seconds: float
    error: float = float("nan")

    @property
    def certified(self) -> bool:
        return self.bound <= self.case.epsilon


def perform(case: Case, method: str, seed: int, seconds: float = 60.0, labels: int | None = None) -> Found:
    """One method; ``labels`` replaces the number of growing labels. Seconds are those of the processor."""
    started = time.process_time()
    source = case.source(seed)
    counted = Counted(case.target, source.product, Memory())
    attempts = Attempts(case.epsilon, DELTA)
    growing = labels or case.growing(source)
    if method == OURS:
        _ours(counted, source, attempts, growing, seed)
    else:
        inner = source.label(growing)
        answers = counted.labels(counted.ask(inner, "label"))
        data = Labelled(source.product, inner, answers, case.epsilon)
        put_to_test(PEERS[method](data, seconds), counted, source, attempts)
    masses = source.masses if method == OURS else None
    outcome = best_so_far(attempts, masses, None)
    taken = time.process_time() - started
    return Found(case, method, growing, counted.asked, outcome.tree, outcome.error_bound, taken)


def _ours(counted: Counted, source: Source, attempts: Attempts, growing: int, seed: int) -> None:
    """Trees of our archive, with so many labels to grow from and no more."""
    inner = source.label(growing)
    codes = np.asarray(counted.ask(inner, "label"), np.intp)
    held = np.arange(growing) % HELD == HELD - 1
    answers, sizes = counted.labels(codes[held]), near(LARGEST)
    archive = Archive(source.product, counted.book, LabelLoss(seed, counted.watch))
    archive.add(inner[~held], codes[~held])
    focus: list[int] = []
    for steps in (0, STEPS):
        archive.fit(focus, steps)
        errors = [float((archive.at(size).predict_inner(inner[held]) != answers).mean()) for size in sizes]
        focus = sorted(_promising(sizes, errors, attempts.epsilon, int(held.sum())))
    trees = [archive.at(size) for size in focus]
    archive.add(inner[held], codes[held])
    archive.fit(focus, STEPS)
    put_to_test(list(dict.fromkeys([*trees, *map(archive.at, focus)])), counted, source, attempts)


def _promising(sizes: Sequence[int], errors: Sequence[float], epsilon: float, answers: int) -> set[int]:
    """The smallest sizes whose held-out errors are below epsilon by some margin, else the best there is."""
    error = (epsilon * (1 - epsilon) / answers) ** 0.5
    aims = [max(epsilon / 4, epsilon - margin * error) for margin in MARGINS]
    found = [next((size for size, share in zip(sizes, errors, strict=True) if share <= aim), 0) for aim in aims]
    return {size for size in found if size} or {sizes[int(np.argmin(errors))]}


def _settled(attempts: Attempts) -> bool:
    """Whether a tree is certified, and none that is smaller has a chance."""
    epsilon = attempts.epsilon
    size = min((one.tree.size for one in attempts.all if one.certifies(epsilon)), default=0)
    return bool(size) and not any(
        one.tree.size < size
        and not one.unlucky(epsilon)
        and one.samples + one.needed_for(epsilon) <= PATIENCE / epsilon
        for one in attempts.all
    )


def put_to_test(trees: Sequence[Tree], counted: Counted, source: Source, attempts: Attempts) -> None:
    """Count answers until the smallest tree that can be certified is, or none will be."""
    for tree in trees:
        attempts.open(tree)
    epsilon = attempts.epsilon
    rows, samples = max(8, counted.asked // BATCHES), 0
    while not _settled(attempts) and samples < PATIENCE / epsilon:
        if samples >= FAIR_TRIAL / epsilon and all(bet.errors > epsilon * bet.samples for bet in attempts.all):
            return
        try:
            inner = source.test(rows)
        except BudgetSpent:
            return
        attempts.count(inner, counted.labels(np.asarray(counted.ask(inner, "certify"), np.intp)))
        samples += len(inner)
