"""One frontier, the peers' curves from as many labels, and the true errors of all their trees."""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np

import fidelitree as ft
from benchmarks.frontier.cases import Case
from benchmarks.frontier.peers import PEERS
from benchmarks.leaves.peers import Labelled
from fidelitree.asking.counted import Counted
from fidelitree.asking.events import TreeJudged
from fidelitree.asking.memory import Memory
from fidelitree.runs.input_source import source_of
from fidelitree.runs.learning import EFFORTS, Effort
from fidelitree.runs.size_grid import sizes_up_to

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fidelitree.trees.tree import Tree

DELTA, MOST = 0.05, 30_000
PORTION = 50_000
JUDGE = 7_919  # added to the seed: inputs that no run has drawn
OURS = "fidelitree"
SIZES = sizes_up_to(64)


@dataclass(frozen=True)
class Trial:
    """What one run came to: for each size the bound, and the true error of every method's tree."""

    case: Case
    seed: int
    learnt: int
    tested: int
    points: int
    seconds: float
    bounds: dict[int, float]
    errors: dict[tuple[str, int], float]
    alone: int | None = None
    """Labels that `distill` takes for the tree with the most leaves, and nothing else."""


@dataclass(frozen=True)
class Settings:
    """What two trials must share to stand in one table."""

    seconds: float
    """For each peer that seeks an optimum."""
    fresh: int
    alone: bool
    most: int = MOST
    learning: int = 0
    """Labels to learn from; 0 where a run decides that itself, as every run does but for measurements."""


def perform(case: Case, seed: int, told: Settings) -> Trial:
    """One call of `frontier`, and the peers on the labels of the same stream."""
    started = time.process_time()
    front = _frontier(case, seed, told)
    taken = time.process_time() - started
    tested = front.queries.asked.by_purpose.get("certify", 0)
    trees: dict[tuple[str, int], Tree] = {(OURS, size): front.at(leaves=size).tree for size in SIZES}
    data = labelled(case, seed, int(front.queries.asked))
    for name, peer in PEERS.items():
        trees |= {(name, size): tree for size, tree in peer(data, SIZES, told.seconds).items()}
    errors = dict(zip(trees, true_errors(case, list(trees.values()), seed, told.fresh), strict=True))
    bounds = {size: front.at(leaves=size).error_bound for size in SIZES}
    least = _alone(case, seed, front.points[-1].error_bound) if told.alone else None
    learnt = int(front.queries.asked) - tested
    return Trial(case, seed, learnt, tested, len(front), taken, bounds, errors, least)


def _frontier(case: Case, seed: int, told: Settings) -> ft.Frontier:
    usual = EFFORTS["queries"]
    fixed = Effort(-inf, told.learning, usual.steps) if told.learning else usual
    with patch.dict(EFFORTS, queries=fixed):
        return ft.frontier(case.target, case.space(), DELTA, seed=seed, max_queries=told.most)


def labelled(case: Case, seed: int, labels: int) -> Labelled:
    """The first inputs for learning of a run with this seed; of rows, all that are there for learning."""
    source = source_of(case.space(), seed)
    counted = Counted(case.target, source.product, Memory())
    inner = source.label(int(min(labels, source.most)))
    return Labelled(source.product, inner, counted.labels(counted.ask(inner, "label")), 0.0)


def true_errors(case: Case, trees: Sequence[Tree], seed: int, fresh: int) -> list[float]:
    """Shares of fresh inputs; of rows, of all those that no tree was grown from."""
    rows = case.over == "rows"
    source = source_of(case.space(), seed if rows else seed + JUDGE)
    fresh = int(source.tests) if rows else fresh
    counted, seen = Counted(case.target, source.product), 0
    errors = np.zeros(len(trees))
    while seen < fresh:
        inner = source.test(min(PORTION, fresh - seen))
        labels = counted.labels(counted.ask(inner, "certify"))
        errors += [(tree.predict_inner(inner) != labels).sum() for tree in trees]
        seen += len(inner)
    return [float(count / seen) for count in errors]


def _alone(case: Case, seed: int, epsilon: float) -> int | None:
    """Labels after which a run that is asked for this error alone has certified it; None where it does not get there.

    What it asks afterwards, for a smaller tree, is not counted.
    """
    limits = {"max_queries": 4 * MOST, "max_leaves": SIZES[-1]}
    found = ft.distill(case.target, case.space(), epsilon, DELTA, seed=seed, **limits)
    if not found.certificate.holds:
        return None
    judged = (one for one in found.trace if isinstance(one, TreeJudged))
    return next((one.asked for one in judged if one.error_bound <= epsilon), int(found.queries.asked))
