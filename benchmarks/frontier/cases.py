"""Which model, over which inputs: those of the table of leaves, and four that are fitted here to bundled tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import fidelitree as ft
from benchmarks import subjects
from benchmarks.leaves.cases import SUBJECTS as OF_LEAVES
from fidelitree.spaces.features import Numeric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@cache
def bundled(table: str, kind: str, classes: int | None = None) -> subjects.Subject:
    """A model fitted to a table that comes with scikit-learn, to its first classes only where a number is given."""
    from sklearn import datasets

    inputs, labels = getattr(datasets, f"load_{table}")(return_X_y=True)
    some = labels < (classes or np.inf)
    inputs = inputs[some].astype(np.float64)
    model = estimator(kind).fit(inputs, labels[some])
    return subjects.over_rows(f"{table}, {kind}", model.predict, inputs)


def estimator(kind: str) -> Any:
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    if kind == "tree":
        return DecisionTreeClassifier(max_leaf_nodes=24, random_state=0)
    if kind == "forest":
        return RandomForestClassifier(100, random_state=0, n_jobs=1)
    if kind == "boosting":
        return GradientBoostingClassifier(n_estimators=30, max_depth=3, random_state=0)
    if kind == "logistic":
        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=2_000))
    assert kind == "network"
    return make_pipeline(StandardScaler(), MLPClassifier((32, 32), max_iter=500, random_state=0))


MODELS: dict[str, Callable[[], subjects.Subject]] = {
    **OF_LEAVES,
    "wine forest": lambda: bundled("wine", "forest"),
    "cancer forest": lambda: bundled("breast_cancer", "forest"),
    "cancer logistic": lambda: bundled("breast_cancer", "logistic"),
    "digits network": lambda: bundled("digits", "network"),
}
ENDED_EMPTY: dict[str, Callable[[], subjects.Subject]] = {
    "digits, seven classes, boosting": lambda: bundled("digits", "boosting", 7),
    "digits, eight classes, boosting": lambda: bundled("digits", "boosting", 8),
    "cancer forest": MODELS["cancer forest"],
    "digits network": MODELS["digits network"],
}
"""What 0.1.0 had nothing to say about."""
TABLES = ("COMPAS", "HTRU2", "agaricus", "bank")
"""Those whose tables have rows enough to learn from and to test with."""
QUICK = ("COMPAS", "bank", "TestNetwork2", "cancer logistic")


@dataclass(frozen=True)
class Case:
    """A model over inputs with independent features, or over the rows of its table."""

    model: str
    over: str

    def __str__(self) -> str:
        return f"{self.model}, {self.over}"

    @property
    def subject(self) -> subjects.Subject:
        return {**ENDED_EMPTY, **MODELS}[self.model]()

    def space(self) -> ft.ProductSpace | ft.Rows:
        subject = self.subject
        if subject.uniform:
            boxes = zip(subject.features, subject.marginals, strict=True)
            return ft.ProductSpace([Numeric(name, *map(float, ends)) for name, ends in boxes])
        assert subject.rows is not None, "marginals come from rows"
        rows = _rows(self.model)
        return rows if self.over == "rows" else rows.product

    def target(self, batch: Any) -> NDArray[Any]:
        subject = self.subject
        if subject.model is not None:
            return subject.model(batch)
        columns = batch.values() if isinstance(batch, dict) else (batch[name] for name in subject.features)
        return subject.target(np.column_stack([np.asarray(column, np.float64) for column in columns]))


@cache
def _rows(model: str) -> ft.Rows:
    subject = {**ENDED_EMPTY, **MODELS}[model]()
    assert subject.rows is not None
    return ft.Rows(subject.table(subject.rows))


def cases(models: list[str]) -> Iterator[Case]:
    """Over marginals or a box first, then over rows."""
    yield from (Case(model, "box" if MODELS[model]().uniform else "marginals") for model in models)
    yield from (Case(model, "rows") for model in models if model in TABLES)
