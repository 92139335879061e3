"""Leaves of trees that hold numbers, against a pruned CART regressor: python -m benchmarks.regression.

Targets are regressors: gradient boosting and a network, fitted to the diabetes table and to three surfaces of Friedman
(1991). We distil each within a tolerance, and prefer few leaves. CART learns from as many answers as we learnt from, is
grown fully and pruned by cost complexity, or grown best first to every size; of all these trees the smallest counts
that as many test inputs certify at the same level. So both are held to one protocol. With --keep FILE each case is
written down at once, and none is measured twice, so that it can be done in pieces.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import fidelitree as ft
from benchmarks.report import Bar, Table
from fidelitree.theory.sequential import error_bound

EPSILON = 0.1
TOLERANCES = (0.5, 0.75, 1.0)  # standard deviations of the target's answers
MOST, LUCK = 100, 15  # leaves of ours, and trees that are tried beyond the one that is found
BAR = 0.95
FRIEDMAN: dict[str, tuple[Callable[..., Any], list[tuple[float, float]]]] = {
    "friedman1": (datasets.make_friedman1, [(0, 1)] * 10),
    **{
        name: (make, [(0, 100), (40 * math.pi, 560 * math.pi), (0, 1), (1, 11)])
        for name, make in (("friedman2", datasets.make_friedman2), ("friedman3", datasets.make_friedman3))
    },
}
MODELS: dict[str, Callable[[], Any]] = {
    "boosting": lambda: HistGradientBoostingRegressor(random_state=0),
    "network": lambda: TransformedTargetRegressor(
        make_pipeline(StandardScaler(), MLPRegressor(hidden_layer_sizes=(50, 50), max_iter=400, random_state=0)),
        transformer=StandardScaler(),
    ),
}


@dataclass(frozen=True)
class Case:
    """A regressor, where its inputs come from, and how near a tree has to come."""

    name: str
    target: Callable[[Any], Any]
    space: Any
    tolerance: float


@dataclass(frozen=True)
class Found:
    """Answers that both learnt from, and leaves of both; None where no tree is certified."""

    name: str
    learnt: int
    ours: int | None
    theirs: int | None
    seconds: float

    @property
    def ratio(self) -> float | None:
        return None if self.ours is None or self.theirs is None else self.ours / self.theirs


def cases(names: list[str] | None, tolerances: Sequence[float]) -> list[Case]:
    """Those whose names contain one of these; all without any."""
    found = []
    for table, (rows, answers, space) in _tables().items():
        for kind, model in MODELS.items():
            if names and not any(name in f"{table}, {kind}" for name in names):
                continue
            fitted = model().fit(rows, answers)
            target = _asked(fitted)
            spread = float(np.std(target(space.draw(20_000, seed=7))))
            found += [Case(f"{table}, {kind}, {share:g}", target, space, share * spread) for share in tolerances]
    return found


def _asked(model: Any) -> Callable[[Any], Any]:
    return lambda batch: model.predict(np.stack([batch[name] for name in batch], axis=1))


def _tables() -> dict[str, tuple[Any, Any, Any]]:
    found = {}
    rows, answers = datasets.load_diabetes(return_X_y=True, as_frame=True)
    world = ft.ChowLiu.from_data({name: rows[name].to_numpy()[1::2] for name in rows})
    found["diabetes"] = rows.to_numpy()[::2], answers.to_numpy()[::2], world
    for name, (make, ends) in FRIEDMAN.items():
        inputs, outputs = make(2_000, random_state=0)
        features = [ft.Numeric(f"x{i}", *pair) for i, pair in enumerate(ends)]
        found[name] = inputs, outputs, ft.ProductSpace(features)
    return found


def _ours(case: Case) -> tuple[ft.Distillation, bool]:
    """What `distill` finds that prefers few leaves, and whether it is certified."""
    found = ft.distill(case.target, case.space, EPSILON, tolerance=case.tolerance, prefer="leaves", max_leaves=MOST)
    return found, found.certificate.holds


def cart(case: Case, labels: int, certificate: ft.Certificate) -> int | None:
    """Leaves of the smallest tree of CART that is certified likewise; None where none is good enough."""
    inputs = _matrix(case.space.draw(labels, seed=11))
    judges = _matrix(case.space.draw(certificate.samples, seed=12))
    answers, truth = (case.target(_named(some, case.space)) for some in (inputs, judges))
    enough: list[int] = []

    def good(leaves: int, predicted: NDArray[np.float64]) -> bool:
        wrong = int(np.count_nonzero(np.abs(predicted - truth) > case.tolerance))
        if error_bound(wrong, len(truth), certificate.level or 0.0) > EPSILON:
            return False
        enough.append(leaves)
        return True

    def best_first(most: int) -> bool:
        tree = DecisionTreeRegressor(random_state=0, max_leaf_nodes=most).fit(inputs, answers)
        return good(int(tree.get_n_leaves()), tree.predict(judges))

    pruned = Pruned(DecisionTreeRegressor(random_state=0).fit(inputs, answers))
    _last(lambda k: good(pruned.leaves[k], pruned.predict(judges, k)), len(pruned.leaves))
    sizes = range(2, min(labels // 2, 400))
    _last(lambda k: best_first(sizes[-1 - k]), len(sizes))
    return min(enough, default=None)


class Pruned:
    """All prunings of a tree by cost complexity, ever smaller (Breiman and others 1984): the weakest link goes first.

    scikit-learn prunes from scratch for every alpha, in time quadratic in leaves.
    """

    def __init__(self, tree: DecisionTreeRegressor) -> None:
        arrays = tree.tree_
        self._left, self._right = arrays.children_left.tolist(), arrays.children_right.tolist()
        self._arrays, self.leaves = arrays, [int(arrays.n_leaves)]
        self._order = np.full(arrays.node_count, np.iinfo(np.int64).max)  # at which step a node becomes a leaf
        self._cut((arrays.impurity * arrays.weighted_n_node_samples).tolist())

    def _cut(self, risk: list[float]) -> None:
        inner = [node for node in range(len(risk)) if self._left[node] >= 0]
        above, sizes, sums = [-1] * len(risk), [1] * len(risk), list(risk)
        for node in reversed(inner):  # children come after their parents
            one, two = self._left[node], self._right[node]
            above[one] = above[two] = node
            sizes[node], sums[node] = sizes[one] + sizes[two], sums[one] + sums[two]
        waiting = [((risk[node] - sums[node]) / (sizes[node] - 1), node) for node in inner]
        links = dict(zip(inner, (link for link, _ in waiting), strict=True))
        heapq.heapify(waiting)
        while waiting:
            link, node = heapq.heappop(waiting)
            if links.get(node) != link:
                continue  # it was weighed again since, or is gone
            self.leaves.append(self.leaves[-1] - sizes[node] + 1)
            self._order[node] = len(self.leaves) - 1
            self._forget(node, links)
            less, more = sizes[node] - 1, risk[node] - sums[node]
            while node >= 0:
                sizes[node], sums[node] = sizes[node] - less, sums[node] + more
                if node in links:
                    links[node] = (risk[node] - sums[node]) / (sizes[node] - 1)
                    heapq.heappush(waiting, (links[node], node))
                node = above[node]

    def _forget(self, node: int, links: dict[int, float]) -> None:
        below = [node]
        while below:
            one = below.pop()
            if links.pop(one, None) is not None:
                below += [self._left[one], self._right[one]]

    def predict(self, inputs: NDArray[Any], step: int) -> NDArray[np.float64]:
        """The numbers of the tree after so many cuts."""
        arrays, rows = self._arrays, np.arange(len(inputs))
        values, node = inputs.astype(np.float32), np.zeros(len(inputs), np.intp)
        while (down := (arrays.children_left[node] >= 0) & (self._order[node] > step)).any():
            yes = values[rows, arrays.feature[node]] <= arrays.threshold[node]
            node = np.where(down, np.where(yes, arrays.children_left[node], arrays.children_right[node]), node)
        return np.asarray(arrays.value[node, 0, 0])


def _last(good: Callable[[int], bool], count: int) -> None:
    """Look for the last of so many trees, ever smaller, that is good enough; some beyond it may be by luck."""
    low, high = -1, count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if good(middle) else (low, middle)
    for further in range(high + 1, min(count, high + LUCK)):
        good(further)


def _matrix(batch: Any) -> Any:
    return np.stack([np.asarray(batch[name], np.float64) for name in batch], axis=1)


def _named(matrix: Any, space: Any) -> Any:
    return dict(zip(space.names, matrix.T, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.regression", description=__doc__)
    parser.add_argument("--cases", nargs="*", help="parts of names, such as friedman1 or network (default: all)")
    parser.add_argument("--tolerances", type=float, nargs="*", default=TOLERANCES, help="(default %(default)s)")
    parser.add_argument("--keep", type=Path, help="a file of measurements, read first and added to")
    chosen = parser.parse_args()
    known = chosen.keep is not None and chosen.keep.exists()
    found = [Found(**json.loads(line)) for line in chosen.keep.read_text().splitlines()] if known else []
    for case in cases(chosen.cases, chosen.tolerances):
        if case.name not in {one.name for one in found}:
            found.append(measured(case))
            print("  ".join(_row(found[-1])), flush=True)
            if chosen.keep is not None:
                with chosen.keep.open("a") as file:
                    file.write(json.dumps(asdict(found[-1])) + "\n")
    headings = ["case, tolerance in s.d.", "learnt from", "ours", "CART", "ratio", "time"]
    print(Table(headings, [_row(one) for one in found]).text())
    logs = [math.log(one.ratio) for one in found if one.ratio is not None]
    if logs:
        mean = math.exp(sum(logs) / len(logs))
        print(Bar(f"at most {BAR} of CART's leaves in the geometric mean", f"{mean:.3f} in {len(logs)}", mean <= BAR))


def measured(case: Case) -> Found:
    begun = time.perf_counter()
    result, certified = _ours(case)
    taken, learnt = time.perf_counter() - begun, result.queries.asked["label"]
    theirs = cart(case, learnt, result.certificate)
    return Found(case.name, learnt, result.leaves if certified else None, theirs, taken)


def _row(one: Found) -> list[str]:
    said = ["-" if what is None else f"{what:.3g}" for what in (one.ours, one.theirs, one.ratio)]
    return [one.name, f"{one.learnt:,}", *said, f"{one.seconds:.0f} s"]


if __name__ == "__main__":
    main()
