"""Which model, over which inputs, at which epsilon, with how many labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import fidelitree as ft
from benchmarks import subjects
from fidelitree.runs.input_source import Source, source_of
from fidelitree.spaces.features import Numeric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

DELTA = 0.05
SMALL, LARGE = 5_000, 20_000
LABELS = (SMALL, LARGE)
EPSILONS = (0.1, 0.05)
FINE = 0.01  # HTRU2: a constant suffices above
SUBJECTS: dict[str, Callable[[], subjects.Subject]] = {
    **{name: partial(subjects.forest, name) for name in subjects.FORESTS},
    "LightGBM": subjects.lightgbm_breast_cancer,
    "agaricus": subjects.xgboost_agaricus,
    "dermatology": subjects.xgboost_dermatology,
    "iris": subjects.onnx_iris,
    "bank": subjects.bank,
    "TestNetwork2": subjects.onnx_network,
}
TABLES = ("COMPAS", "Breast-Cancer", "HTRU2", "agaricus")


@dataclass(frozen=True)
class Case:
    """A row of the table; over rows, ``labels`` is None: growth gets all that the table has for it."""

    subject: str
    epsilon: float
    labels: int | None

    @property
    def over(self) -> str:
        return "rows" if self.labels is None else "box" if self.subject == "TestNetwork2" else "marginals"

    @property
    def place(self) -> str:
        return f"{self.subject}, {self.over}"

    def __str__(self) -> str:
        labels = "" if self.labels is None else f", {self.labels:,} labels"
        return f"{self.place}, epsilon {self.epsilon:g}{labels}"

    def space(self) -> ft.ProductSpace | ft.Rows:
        product, rows = _spaces(self.subject)
        return product if self.labels is not None or rows is None else rows

    def source(self, seed: int) -> Source:
        return source_of(self.space(), seed)

    def growing(self, source: Source) -> int:
        return int(source.most) if self.labels is None else self.labels

    def target(self, batch: Any) -> NDArray[Any]:
        subject = SUBJECTS[self.subject]()
        if subject.model is not None:
            return subject.model(batch)
        columns = batch.values() if isinstance(batch, dict) else (batch[name] for name in subject.features)
        return subject.target(np.column_stack([np.asarray(column, np.float64) for column in columns]))


@cache
def _spaces(name: str) -> tuple[ft.ProductSpace, ft.Rows | None]:
    subject = SUBJECTS[name]()
    if subject.uniform:
        boxes = zip(subject.features, subject.marginals, strict=True)
        return ft.ProductSpace([Numeric(name, *map(float, ends)) for name, ends in boxes]), None
    assert subject.rows is not None, "marginals come from rows"
    rows = ft.Rows(subject.table(subject.rows))
    return rows.product, rows


def cases(labels: Iterable[int] = LABELS, names: Iterable[str] = tuple(SUBJECTS)) -> Iterator[Case]:
    """Over marginals or a box first, subject by subject; then over rows."""
    labels, names = list(labels), list(names)
    for name in names:
        for epsilon in (FINE,) if name == "HTRU2" else EPSILONS:
            yield from (Case(name, epsilon, count) for count in labels)
    for name in TABLES:
        if name in names:
            yield from (Case(name, epsilon, None) for epsilon in (*EPSILONS, *([FINE] if name == "HTRU2" else [])))
