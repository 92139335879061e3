"""Targets over numbers and categories: ours against CART, pystreed and pycontree, every label counted.

Each peer is on every target the luckiest of several: CART grown best first and CART pruned, optimal trees of several
depths. Cells, ratios and flags are those of `workload`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.frontier import peers as sized
from benchmarks.leaves.peers import Cart, Labelled, streed_tree
from benchmarks.queries import peers
from benchmarks.queries.kept import Kept, sources
from benchmarks.queries.peers import Array, Candidates, Labels
from benchmarks.queries.runs import progress, workers
from benchmarks.queries.settings import DELTA, Settings
from benchmarks.queries.targets import generator
from benchmarks.queries.workload import FLAG, LIMIT, Cell, Pair, figures, flagged, limits, logs_of
from benchmarks.report import Bar, Section, Table
from benchmarks.table_targets import FAMILIES, Made
from fidelitree.asking.counted import Counted
from fidelitree.asking.memory import Memory
from fidelitree.runs.distill import distill
from fidelitree.runs.input_source import source_of
from fidelitree.search.labelled import FeatureColumns
from fidelitree.spaces.product import ProductSpace
from fidelitree.trees.nested import build, simplest
from fidelitree.trees.tree import Tree

EPSILONS = (0.1, 0.05)
MOST = {0.1: 12_800, 0.05: 25_600}  # labels that a peer may buy
SIZES: dict[str, Sequence[tuple[int, int]]] = {
    "rules": ((6, 3), (8, 5), (12, 7)),
    "numeric trees": ((6, 3), (10, 4), (12, 5)),
    "logistic regressions": ((4, 2), (8, 3)),
    "boosted models": ((6, 10), (10, 40)),
    "forests": ((6, 10), (10, 20)),
}
"""Features, and the size that the family is about."""
FIT = 3.0  # seconds that one optimal tree may take
AGAIN = 4  # times as many fresh seeds for cells that are flagged


class TableCell(Cell):
    """Targets over numbers and categories, with the space that each is about."""

    def made(self, seed: int, number: int) -> Made:
        return FAMILIES[self.family](
            generator(seed, f"{self.family} {self.size} of {self.n}", number), self.n, self.size
        )


class RowLabels(Labels):
    """A target that counts, with inputs of any kind drawn as ours are."""

    def __init__(self, made: Made, seed: int, epsilon: float) -> None:
        super().__init__(made[0], made[1], np.random.default_rng(seed), epsilon)
        self._source, self._counted = source_of(made[1], seed), Counted(made[0], made[1], Memory())

    def buy(self, rows: int) -> None:
        inner = self._source.label(rows)
        self.inputs.append(inner)
        self.answers.append(self._counted.labels(self._counted.ask(inner, "label")))
        self.bought += rows


def _labelled(inner: Array, answers: Array, space: ProductSpace) -> Labelled:
    return Labelled(space, inner, answers, EPSILONS[0])


def cart(inner: Array, answers: Array, space: ProductSpace) -> Iterator[Tree]:
    """scikit-learn's trees, Gini, best first, of 2, 4, 8, ... leaves until they grow no more."""
    grown = Cart(_labelled(inner, answers, space), np.ones(len(inner), bool), max_leaf_nodes=len(inner))
    leaves = 1
    while leaves < grown.leaves:
        leaves = min(2 * leaves, grown.leaves)
        yield grown.tree(leaves)


def pruned(inner: Array, answers: Array, space: ProductSpace) -> Iterator[Tree]:
    """scikit-learn's tree grown to the end and cut back, in sizes that grow by half."""
    sizes = sorted({int(peers.FINER**k) for k in range(16)})
    found: dict[int, Tree] = {}
    for tree in sized.pruned(_labelled(inner, answers, space), sizes, 0.0).values():
        found.setdefault(tree.size, tree)
    yield from found.values()


def streed(depth: int, inner: Array, answers: Array, space: ProductSpace) -> Tree | None:
    """The tree of so many levels with the fewest errors, over tests at ten quantiles of every number."""
    columns, (classes, codes) = FeatureColumns.binary(space, inner), np.unique(answers, return_inverse=True)
    nested = streed_tree(columns.of(inner).astype(np.int32), codes, columns, max_depth=depth, time_limit=FIT)
    return None if nested is None else build(space, simplest(nested), classes)


def contree(depth: int, inner: Array, answers: Array, space: ProductSpace) -> Tree | None:
    """The same over every threshold."""
    return sized.contree_tree(_labelled(inner, answers, space), depth, FIT)


class Optimal:
    """A peer with one candidate a round, until it takes too long: with more labels it would take longer still."""

    def __init__(self, fit: Callable[[Array, Array, ProductSpace], Tree | None]) -> None:
        self._fit, self._late = fit, False

    def __call__(self, inner: Array, answers: Array, space: ProductSpace) -> Iterator[Tree]:
        tree = None if self._late or len(np.unique(answers)) == 1 else self._fit(inner, answers, space)
        self._late = self._late or tree is None
        if tree is not None:
            yield tree


def optimal(fit: Callable[..., Tree | None], depths: Sequence[int]) -> list[Candidates]:
    """One for each depth, none of which has taken too long so far."""
    return [Optimal(partial(fit, depth)) for depth in depths]


PEERS: dict[str, Callable[[], list[Candidates]]] = {
    "CART": lambda: [cart, pruned],
    **({"pystreed": partial(optimal, streed, (3, 4, 5))} if find_spec("pystreed") else {}),
    **({"pycontree": partial(optimal, contree, (2, 3, 4))} if find_spec("pycontree") else {}),
}


def cells(smoke: bool) -> list[TableCell]:
    chosen = EPSILONS[:1] if smoke else EPSILONS
    return [
        TableCell(family, *sizes, epsilon)
        for epsilon in chosen
        for family, several in SIZES.items()
        for sizes in several[: 1 if smoke else None]
    ]


def ours(cell: TableCell, settings: Settings, number: int) -> tuple[float, float, float]:
    """Labels, leaves (not a number where nothing is certified) and processor seconds of one run of ours."""
    target, space = cell.made(settings.seed, number)
    started = time.process_time()
    result = distill(target, space, cell.epsilon, DELTA, seed=settings.seed_of(number), max_seconds=settings.seconds)
    leaves = result.tree.size if result.certificate.holds else math.nan
    return int(result.queries.asked), leaves, time.process_time() - started


def peer(name: str, cell: TableCell, settings: Settings, number: int) -> tuple[float, float]:
    """The same of the luckiest of a peer's ways."""
    made, most, found = cell.made(settings.seed, number), 400 if settings.smoke else MOST[cell.epsilon], []
    for way, candidates in enumerate(PEERS[name]()):
        labels = RowLabels(made, 10 * settings.seed_of(number) + way, cell.epsilon)
        tree, asked = peers.bought(candidates, labels, most)
        found.append((tree is None, asked, math.nan if tree is None else tree.size))
        most = min(most, max(asked, peers.FIRST))  # who needs more is not the luckiest
    _, asked, leaves = min(found)
    return asked, leaves


def measure(chosen: Sequence[TableCell], settings: Settings) -> dict[tuple[TableCell, str], list[Pair]]:
    """Every cell against every peer; flagged ones once more, with fresh numbers, which replace the first."""
    count = 1 if settings.smoke else settings.solver_targets
    found: dict[tuple[TableCell, str], list[Pair]] = {}
    kept = Kept(settings.kept)
    with workers(settings) as each:
        for cell in chosen:
            for name in PEERS:
                pairs = _pairs(cell, name, settings, range(count), partial(kept.runs, each))
                if flagged(pairs):
                    again = range(count, count + AGAIN * count)
                    pairs = _pairs(cell, name, settings, again, partial(kept.runs, each))
                found[cell, name] = pairs
                progress(" ".join([cell.name, name, *figures(pairs)]))
    return found


def _pairs(
    cell: TableCell, name: str, settings: Settings, numbers: range, runs: Callable[..., list[Any]]
) -> list[Pair]:
    series = f"table {cell.name}, seed {settings.seed}"
    sides = [
        runs(f"{series}, ours {sources()}", partial(ours, cell, settings), numbers),
        runs(f"{series}, {name}", partial(peer, name, cell, settings), numbers),
    ]
    return [Pair((one[0], one[1]), (two[0], two[1]), one[2]) for one, two in zip(*sides, strict=True)]


def run(settings: Settings) -> Section:
    found = measure(cells(settings.smoke), settings)
    headings = ["target", "peer", "runs", "certified", "peer's", "labels", "leaves"]
    headings += ["labels/peer", "limit", "leaves/peer", "limit", "seconds"]
    table = [[cell.name, name, *figures(pairs)] for (cell, name), pairs in found.items()]
    families: dict[tuple[str, str], list[Pair]] = {}
    for (cell, name), pairs in found.items():
        families.setdefault((cell.family, name), []).extend(pairs)
    sums = [[family, name, *figures(pairs)] for (family, name), pairs in families.items()]
    remark = (
        f"Delta {DELTA:g}; fresh targets. Ratios are geometric means over targets of labels, and of leaves, ours over "
        "the peer's; *limit*: 95 % lower limit, one-sided. A peer is on each target the luckiest of several: CART best "
        "first or pruned, pystreed of depth 3, 4 or 5 over tests at ten quantiles, pycontree of depth 2, 3 or 4. Once "
        f"an optimal tree takes more than {FIT:g} s there are no more of its depth. Labels of a peer that end without "
        "a certificate count as if they had sufficed. Flagged cells are run again with four times as many fresh seeds, "
        "which replace the first. Seconds: processor time of ours."
    )
    tables = [Table(headings, table, 2), Table(["family", *headings[1:]], sums, 2)]
    bars = [Bar(bar.promise, bar.measured, None if settings.smoke else bar.met) for bar in _bars(found, families)]
    return Section("tables", "targets over numbers and categories", tables, bars, remark)


def _bars(found: dict[tuple[TableCell, str], list[Pair]], families: dict[tuple[str, str], list[Pair]]) -> Iterator[Bar]:
    for name in PEERS:
        for what, word in enumerate(("labels", "leaves")):
            means = {
                family: limits(logs_of(pairs, what))[0] for (family, other), pairs in families.items() if other == name
            }
            text = ", ".join(f"{family} {mean:.2f}" for family, mean in means.items())
            # Where a peer has no certified tree there is nothing to be behind of.
            met = all(mean <= LIMIT for mean in means.values() if not math.isnan(mean))
            yield Bar(f"{word} at most {LIMIT:g} of {name}'s in every family", text, met)
            behind = [
                cell.name
                for (cell, other), pairs in found.items()
                if other == name and limits(logs_of(pairs, what))[1] > FLAG
            ]
            yield Bar(f"no cell behind {name} in {word}", "; ".join(behind) or "none", not behind)
