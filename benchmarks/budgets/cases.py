"""Twelve real models, and the runs over them: limits, strategies, epsilons, independent features or rows of a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import fidelitree as ft
from benchmarks import subjects
from benchmarks.leaves.cases import SUBJECTS
from fidelitree.spaces.features import Numeric

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = (2.0, 5.0, 10.0)
EPSILONS = (0.02, 0.05, 0.1)
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"prefer": "leaves"},
    {"strategy": "smallest"},
    {"strategy": "influence"},
)


def fitted(name: str, rows: NDArray[Any], labels: NDArray[Any], model: Any) -> subjects.Subject:
    """A scikit-learn model fitted to a third of a table; inputs are the other rows."""
    order = np.random.default_rng(0).permutation(len(rows))
    some, others = order[: len(rows) // 3], order[len(rows) // 3 :]
    model.fit(rows[some], labels[some])
    return subjects.over_rows(name, model.predict, rows[others].astype(np.float64))


def table(name: str) -> Callable[[], subjects.Subject]:
    """A forest fitted to one of the binary tables, whose label comes first."""

    def make() -> subjects.Subject:
        from sklearn.ensemble import RandomForestClassifier

        found = np.loadtxt(subjects.DATA / "tables" / f"pystreed_bin_{name}.csv", dtype=int)
        return fitted(name, found[:, 1:], found[:, 0], RandomForestClassifier(30, random_state=0, n_jobs=1))

    return make


def bundled(name: str) -> Callable[[], subjects.Subject]:
    """A model fitted to one of scikit-learn's own tables."""

    def make() -> subjects.Subject:
        from sklearn import datasets
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.neural_network import MLPClassifier

        data = getattr(datasets, f"load_{name}")()
        forest = RandomForestClassifier(30, min_samples_leaf=5, random_state=0, n_jobs=1)
        network = MLPClassifier((32,), max_iter=400, random_state=0)
        return fitted(name, data.data, data.target, network if name == "digits" else forest)

    return make


LEFT_OUT = ("iris", "Seeds")  # small tables, which are asked about in no time
MODELS: dict[str, Callable[[], subjects.Subject]] = {
    **{name: make for name, make in SUBJECTS.items() if name not in LEFT_OUT},
    "german": table("german-credit"),
    "mushroom": table("mushroom"),
    "wine": bundled("wine"),
    "digits": bundled("digits"),
}
LISTED = ("COMPAS", "HTRU2", "bank", "mushroom", "agaricus")
"""Those with rows enough for a part of them to judge by."""


@cache
def subject(name: str) -> subjects.Subject:
    """A model, made once."""
    return MODELS[name]()


@dataclass(frozen=True)
class Case:
    """One run."""

    number: int
    model: str
    over_rows: bool
    seconds: float
    epsilon: float
    options: dict[str, Any]

    def __str__(self) -> str:
        over = "rows" if self.over_rows else "product"
        words = " ".join(str(value) for value in self.options.values()) or "auto"
        return f"{self.number:3d} {self.model:13s} {over:7s} {words:9s} eps {self.epsilon:<4g} {self.seconds:4g} s"

    def target(self, batch: Any) -> NDArray[Any]:
        """What the model answers to a batch of ours."""
        found = subject(self.model)
        if found.model is not None:
            return np.asarray(found.model(batch))
        if isinstance(batch, np.ndarray):
            return np.asarray(found.target(batch.astype(np.float64)))
        columns = (batch[name] for name in found.features)
        return np.asarray(found.target(np.column_stack([np.asarray(column, np.float64) for column in columns])))

    def space(self) -> tuple[ft.ProductSpace | ft.Rows, Any]:
        """What the run is about, and fresh inputs to judge it by."""
        found, seed = subject(self.model), self.number
        if found.uniform:
            boxes = zip(found.features, found.marginals, strict=True)
            product = ft.ProductSpace([Numeric(name, *map(float, ends)) for name, ends in boxes])
            return product, dict(zip(found.features, found.draw(JUDGED, seed + 10**6).T, strict=True))
        assert found.rows is not None, "marginals come from rows"
        if not self.over_rows:
            return ft.Rows(found.table(found.rows)).product, found.table(found.draw(JUDGED, seed + 10**6))
        order = np.random.default_rng(seed).permutation(len(found.rows))
        half = len(order) // 2
        return ft.Rows(found.table(found.rows[order[:half]])), found.table(found.rows[order[half:]])


JUDGED = 40_000


def cases(runs: int) -> list[Case]:
    """The first so many runs: models change first, then limits, then strategies."""
    made, names = [], list(MODELS)
    for number in range(runs):
        name, turn = names[number % len(names)], number // len(names)
        options = OPTIONS[turn // len(SECONDS) % len(OPTIONS)]
        over_rows = name in LISTED and turn % 2 == 1
        if options.get("strategy") == "influence" and (over_rows or name == "bank"):
            options = {}  # it needs a product, and sets of few values
        made.append(Case(number, name, over_rows, SECONDS[turn % len(SECONDS)], EPSILONS[(number + turn) % 3], options))
    return made
