"""One battery for all that propose trees for labelled rows: same seed, same trees; leaves and errors as stated."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pytest

import fidelitree as ft
from driving import driven
from fidelitree.search.bits.learner import BitLearner
from fidelitree.search.bits.sketch import LabelledRows, fit
from fidelitree.search.labelled import Labelled
from fidelitree.search.local.coded import Grouped
from fidelitree.search.local.iterated import Refiner
from fidelitree.search.local.node import Grower, Node, nested
from fidelitree.search.local.node import cart as grown_by_cart
from fidelitree.search.local.splits import IMPURITIES, Splits, gini
from mixed import MIXED, some_inputs

MOST = 7
"""Leaves, where a proposer takes a limit."""
Watch = Callable[[], None]


@dataclass(frozen=True)
class Proposal:
    """A tree with what its proposer says: leaves, and the weight of the rows that it gets wrong."""

    tree: ft.Tree
    leaves: int | None = None
    errors: float | None = None


class Proposer(Protocol):
    """Labelled rows in, trees out; what the watch raises ends it."""

    def __call__(self, data: Labelled, seed: int, watch: Watch) -> Iterable[Proposal]: ...


def ahead(horizon: int) -> Proposer:
    """Over bits, so many splits ahead."""

    def propose(data: Labelled, seed: int, watch: Watch) -> Iterable[Proposal]:
        penalties = np.full(len(data.space), 0.5, np.float32)
        rows = LabelledRows(data.inner.astype(np.float32), data.codes, data.weights.astype(np.float32), penalties)
        yield Proposal(data.nested(fit(rows, horizon, watch=watch)))

    return propose


def learner(data: Labelled, seed: int, watch: Watch) -> Iterable[Proposal]:
    """Over bits, batch after batch; what it asks is answered from the rows where they know, else by the first label."""
    known = {row.tobytes(): code for row, code in zip(data.inner, data.codes, strict=True)}

    def ask(bits: Any) -> Any:
        return np.array([known.get(row.tobytes(), 0) for row in bits], np.intp)

    learning = BitLearner(len(data.space), np.random.default_rng(seed), watch)
    for part in np.array_split(np.arange(len(data.codes)), 4):
        driven(learning.learn(data.inner[part], data.codes[part]), ask)
        assert learning.sketch is not None
        yield Proposal(data.nested(learning.sketch))


def splits_of(data: Labelled, watch: Watch) -> Splits:
    return Splits(Grouped(data.coded(data.growing), watch=watch))


def told(data: Labelled, node: Node) -> Proposal:
    return Proposal(data.binned(nested(node)), node.leaves, node.errors)


def greedy(data: Labelled, seed: int, watch: Watch) -> Iterable[Proposal]:
    splits = splits_of(data, watch)
    rows = splits.grouped.all_rows
    for impurity in IMPURITIES:
        yield told(data, Grower(splits, 0.5, impurity).grow(rows, splits.grouped.counts(rows)))


def cart(data: Labelled, seed: int, watch: Watch) -> Iterable[Proposal]:
    for most in range(1, MOST + 1):
        found = told(data, grown_by_cart(splits_of(data, watch), most, gini))
        assert found.tree.size <= most
        yield found


def searched(data: Labelled, seed: int, watch: Watch) -> Iterable[Proposal]:
    rows = data.coded(data.growing)
    refiner = Refiner(rows, seed, watch)
    refiner.improve(0.05, 40)
    for point in refiner.points():
        assert rows.errors(point.tree) == pytest.approx(point.errors)
        yield Proposal(data.binned(point.tree), point.leaves, point.errors)


BITS: dict[str, Proposer] = {**{f"ahead {k}": ahead(k) for k in (1, 2, 3, 4)}, "learner": learner}
ANY: dict[str, Proposer] = {"greedy": greedy, "best first": cart, "search": searched}
SPACES = {"bits": ft.ProductSpace.bernoulli(9, 0.4), "mixed": MIXED}
CASES = [
    pytest.param(proposer, SPACES[kind], id=f"{kind}: {name}")
    for kind, proposers in (("bits", BITS | ANY), ("mixed", ANY))
    for name, proposer in proposers.items()
]
proposers = pytest.mark.parametrize(("proposer", "space"), CASES)


def some_rows(space: ft.ProductSpace, seed: int, labels: int = 3) -> Labelled:
    """Different rows, whose labels are those of a rule but for a few, and whose weights are whole numbers."""
    inner = np.unique(some_inputs(space, 220, seed), axis=0)
    random = np.random.default_rng(seed)
    inner = random.permutation(inner)
    middle = np.median(inner, axis=0)
    codes = ((inner[:, 0] > 0) + (inner[:, 2] > middle[2]) * (inner[:, 3] > middle[3])).astype(np.intp) % labels
    odd = random.random(len(codes)) < 0.08
    codes[odd] = random.integers(labels, size=int(odd.sum()))
    return Labelled(space, list(range(labels)), inner, codes, random.integers(1, 4, len(codes)).astype(np.float64))


def go_on() -> None:
    """A watch that lets everything pass."""


def one_by_one(tree: ft.Tree, row: np.ndarray) -> int:
    node = 0
    while tree.feature[node] >= 0:
        test = tree.test(node)
        node = int((tree.yes if test.answers(row[[test.feature]])[0] else tree.no)[node])
    return int(tree.label(node))


@proposers
def test_same_seed_same_trees(proposer: Proposer, space: ft.ProductSpace) -> None:
    data = some_rows(space, 1)
    first, second = ([found.tree.digest for found in proposer(data, 5, go_on)] for _ in range(2))
    assert first == second != []


@proposers
@pytest.mark.parametrize("seed", range(3))
def test_leaves_and_errors_are_as_stated(proposer: Proposer, space: ft.ProductSpace, seed: int) -> None:
    data = some_rows(space, seed)
    usual = data.weights.sum() - np.bincount(data.codes, data.weights).max()
    proposals = list(proposer(data, seed, go_on))
    for found in proposals[:12]:
        wrong = [one_by_one(found.tree, row) != code for row, code in zip(data.inner, data.codes, strict=True)]
        errors = float(data.weights[wrong].sum())
        assert found.leaves in (None, found.tree.size)
        assert found.errors is None or found.errors == pytest.approx(errors)
    last = proposals[-1].tree.predict_inner(data.inner)
    assert data.weights[last != data.codes].sum() <= usual, "no worse than one label"


@proposers
@pytest.mark.parametrize("code", [0, 2])
def test_one_label_is_one_leaf(proposer: Proposer, space: ft.ProductSpace, code: int) -> None:
    data = some_rows(space, 0)
    for found in proposer(dataclasses.replace(data, codes=np.full_like(data.codes, code)), 0, go_on):
        assert (found.tree.size, found.tree.label(0)) == (1, code)


@proposers
def test_what_the_watch_raises_ends_it_at_once(proposer: Proposer, space: ft.ProductSpace) -> None:
    looks, last = 0, 10**9

    def watch() -> None:
        nonlocal looks
        looks += 1
        if looks > last:
            raise TimeoutError

    data = some_rows(space, 2)
    list(proposer(data, 0, watch))
    assert looks > 0
    looks, last = 0, looks // 2
    with pytest.raises(TimeoutError):
        list(proposer(data, 0, watch))
    assert looks == last + 1
