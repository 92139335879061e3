"""Real models and the tables their inputs come from: what the tables of leaves are measured on.

A subject is seen from inside: an input is a row of numbers, a bit 0 or 1, a number itself, a category its code (its
place in the sorted list of values). `Subject.table` gives rows as a user has them, for `ProductSpace.from_data`,
and `Subject.model` the target that answers such a table.

    >>> from benchmarks import subjects
    >>> bank = subjects.bank()
    >>> labels = bank.target(bank.draw(20_000, seed=0))
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.queries.forests import read as read_forest
from fidelitree.targets import Estimator, OnnxModel, load_model

DATA = Path(os.environ.get("FIDELITREE_DATA", "../shared/data"))
FORESTS = {
    "COMPAS": "COMPAS-ProPublica",
    "Seeds": "Seeds",
    "Breast-Cancer": "Breast-Cancer-Wisconsin",
    "HTRU2": "HTRU2",
}
Rows = NDArray[np.float64]
Target = Callable[[Rows], NDArray[Any]]


@dataclass(frozen=True)
class Subject:
    """A model over independent features, and over rows where there is a table.

    ``marginals`` holds, for each feature, the values that it takes, each as often as its table does; or the two ends of
    an interval where it is uniform (``uniform``).
    """

    name: str
    target: Target
    features: tuple[str, ...]
    marginals: tuple[Rows, ...]
    uniform: bool = False
    rows: Rows | None = None
    bits: bool = False
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    model: Callable[[Any], NDArray[Any]] | None = None

    def draw(self, count: int, seed: int) -> Rows:
        """Inputs with independent features."""
        random = np.random.default_rng(seed)
        if self.uniform:
            return np.column_stack([random.uniform(*ends, count) for ends in self.marginals])
        return np.column_stack([values[random.integers(len(values), size=count)] for values in self.marginals])

    def table(self, rows: Rows) -> Any:
        """Rows as a pandas table: categories by their names, whole numbers as such, bits as truth values."""
        import pandas as pd

        columns: dict[str, NDArray[Any]] = dict(zip(self.features, rows.T, strict=True))
        for name, values in zip(self.features, self.marginals, strict=True):
            if not self.uniform and (values == np.floor(values)).all():
                columns[name] = columns[name].astype(bool if self.bits else np.int64)
        for name, values in self.categories.items():
            columns[name] = np.array(values, object)[columns[name]]
        return pd.DataFrame(columns)


def over_rows(name: str, target: Target, rows: Rows, features: tuple[str, ...] = (), **more: Any) -> Subject:
    """A subject whose features have the marginals of a table."""
    features = features or tuple(f"x{i}" for i in range(rows.shape[1]))
    return Subject(
        name, target, features, tuple(rows.T.copy()), rows=rows, bits=bool(np.isin(rows, (0, 1)).all()), **more
    )


@cache
def forest(name: str, number: int = 1) -> Subject:
    """One of the five random forests trained on a table: COMPAS, Seeds, Breast-Cancer or HTRU2."""
    stem = DATA / "forests" / FORESTS[name]
    with Path(f"{stem}.full.csv").open(newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    model = read_forest(Path(f"{stem}.RF{number}.txt"))
    return over_rows(name, model, np.array(lines, np.float64)[:, :-1], tuple(header[:-1]))


@cache
def lightgbm_breast_cancer() -> Subject:
    """Fifty boosted trees over 30 measurements; the table is the test inputs that came with them."""
    model = load_model(DATA / "models" / "lg_breast_cancer.txt")
    return over_rows("LightGBM", model, np.loadtxt(DATA / "models" / "breast_cancer_test.tsv"))


@cache
def xgboost_agaricus() -> Subject:
    """Three boosted trees over 127 bits of mushrooms. They were trained on a sparse file: 0 is missing to them."""
    model = load_model(DATA / "models" / "xgagaricus.json", missing=0)
    return over_rows("agaricus", model, read_libsvm(DATA / "models" / "agaricus_test.libsvm", 127))


@cache
def xgboost_dermatology() -> Subject:
    """Thirty boosted trees, six classes, over 33 findings graded 0 to 3 and an age."""
    model = load_model(DATA / "models" / "xgdermatology.json", missing=0)
    return over_rows("dermatology", model, read_libsvm(DATA / "models" / "dermatology_test.libsvm", 33))


@cache
def onnx_iris() -> Subject:
    """A logistic model over the four measurements of iris.

    Its file declares three rows of two features, by which it is a constant on iris; its coefficients are those of four.
    """
    import onnx
    from sklearn.datasets import load_iris

    model = onnx.load(DATA / "models" / "logreg_iris.onnx")
    rows, features = model.graph.input[0].type.tensor_type.shape.dim
    rows.dim_param, features.dim_value = "rows", 4
    iris = load_iris()
    return over_rows("iris", OnnxModel(model.SerializeToString()), iris.data, tuple(iris.feature_names))


@cache
def onnx_network() -> Subject:
    """TestNetwork2 over the box [-.5, .5]^5: the index of the smallest output.

    The file takes one input at a time; here its layers are applied to whole batches (a test compares the two).
    """
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(DATA / "models" / "TestNetwork2.onnx").graph
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    layers = [(arrays[f"W{k}"].T, arrays[f"B{k}"]) for k in range(len(arrays) // 2)]

    def target(batch: Rows) -> NDArray[np.int64]:
        values = batch.astype(np.float32)
        for weights, biases in layers[:-1]:
            values = np.maximum(values @ weights + biases, 0)
        weights, biases = layers[-1]
        return (values @ weights + biases).argmin(axis=1)

    features = tuple(f"x{i}" for i in range(5))
    return Subject("TestNetwork2", target, features, (np.array([-0.5, 0.5]),) * 5, uniform=True)


@cache
def bank() -> Subject:
    """Histogram gradient boosting in a pipeline, trained here on the bank table: seven numbers and nine categories.

    Eight rows lack a balance and are left out, so that it is a whole number as the others are.
    """
    import pandas as pd
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    table = pd.read_csv(DATA / "tables" / "bank_marketing_11162.csv").dropna(ignore_index=True).astype({"balance": int})
    labels = table.pop("deposit")
    text = [name for name in table if not pd.api.types.is_numeric_dtype(table[name])]
    categories = {name: tuple(sorted(table[name].unique())) for name in text}
    by_list = OrdinalEncoder(categories=[list(values) for values in categories.values()])
    encode = make_column_transformer((by_list, text), remainder="passthrough")
    boosting = HistGradientBoostingClassifier(categorical_features=list(range(len(text))), random_state=0)
    pipeline = make_pipeline(encode, boosting).fit(table, labels)
    codes = table.assign(**{name: table[name].map(values.index) for name, values in categories.items()})
    # From inside, categories are codes already; the transformer puts them first.
    order = [table.columns.get_loc(name) for name in (*text, *table.columns.difference(text, sort=False))]
    return over_rows(
        "bank",
        lambda batch: pipeline[-1].predict(batch[:, order]),
        codes.to_numpy(np.float64),
        tuple(table.columns),
        categories=categories,
        model=Estimator(pipeline),
    )


def read_libsvm(path: Path, features: int) -> Rows:
    """Inputs without their labels, absent entries as 0."""
    lines = path.read_text(encoding="utf-8").splitlines()
    inputs = np.zeros((len(lines), features))
    for row, line in enumerate(lines):
        for entry in line.split()[1:]:
            feature, value = entry.split(":")
            inputs[row, int(feature)] = float(value)
    return inputs


def everything() -> list[Subject]:
    """All of them, in the order of the table."""
    models = [lightgbm_breast_cancer, xgboost_agaricus, xgboost_dermatology, onnx_iris, bank, onnx_network]
    return [forest(name) for name in FORESTS] + [make() for make in models]
