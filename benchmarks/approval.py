"""How often `assert_agrees` passes, fails and is undecided: python -m benchmarks.approval.

Six models of real tables are approved twice, by `distill` and by `frontier`. Then each folder is tested against five
models: the one that was approved; one whose error is three points larger; and models whose errors are 0, 1 and 3 points
above the approved bound. Such a model answers otherwise on a share of the inputs on which it agreed, chosen by a hash
of the input; the share follows from the error of the approved model, counted on 200,000 inputs of their own. All
calls use fresh entropy, as they do in a test suite; --runs 100 of each is what docs/agree.md reports.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import fidelitree as ft
from benchmarks.report import Table
from benchmarks.subjects import DATA
from fidelitree.runs.agree import approval
from fidelitree.testing import assert_agrees

COUNTED = 200_000  # inputs by which the error of an approved model is known to a tenth of a point
LABELS = 5_000  # that an approval may take
MODELS = {  # how far their errors are above the approved model's own (True), or above the approved bound
    "as approved": (True, 0.0),
    "its error + 3": (True, 0.03),
    "bound + 0": (False, 0.0),
    "bound + 1": (False, 0.01),
    "bound + 3": (False, 0.03),
}
EXPLAINED = 2  # calls of each case that also say where the two differ, which takes most of the time
Predict = Callable[[Any], NDArray[Any]]


@dataclass(frozen=True)
class Approved:
    """A model with the folder of its approval."""

    name: str
    model: Predict
    folder: Path
    space: Any


def cases(place: Path, seed: int) -> Iterator[Approved]:
    """Every model, approved by both doors."""
    for name, (fitted, rows) in models().items():
        space = ft.ChowLiu.from_data(rows)

        def model(batch: Any, predict: Predict = fitted.predict) -> NDArray[Any]:
            return np.asarray(predict(np.asarray(batch, np.float64)))

        for door, make in (("distill", _distilled), ("frontier", _frontier)):
            folder = place / f"{name}-{door}"
            make(model, space, seed).save(folder)
            yield Approved(f"{name}, {door}", model, folder, space)


def _distilled(model: Predict, space: Any, seed: int) -> Any:
    return ft.distill(model, space, seed=seed, max_queries=LABELS)


def _frontier(model: Predict, space: Any, seed: int) -> Any:
    return ft.frontier(model, space, seed=seed, max_queries=LABELS)


def models() -> dict[str, tuple[Any, NDArray[np.float64]]]:
    """Six fitted classifiers, and the rows that their inputs are like."""
    cancer, wine, iris = (load(return_X_y=True) for load in (_cancer, _wine, _iris))
    german, chess = (np.loadtxt(DATA / "tables" / f"pystreed_bin_{name}.csv") for name in ("german-credit", "kr-vs-kp"))
    bank = _bank()
    scaled = StandardScaler()
    return {
        "cancer forest": (RandomForestClassifier(50, random_state=0).fit(*cancer), cancer[0]),
        "wine SVM": (make_pipeline(scaled, SVC(random_state=0)).fit(*wine), wine[0]),
        "iris logistic": (LogisticRegression(max_iter=1000).fit(*iris), iris[0]),
        "german boosting": (GradientBoostingClassifier(random_state=0).fit(german[:, 1:], german[:, 0]), german[:, 1:]),
        "chess network": (
            MLPClassifier((32,), max_iter=60, random_state=0).fit(chess[:, 1:], chess[:, 0]),
            chess[:, 1:],
        ),
        "bank boosting": (HistGradientBoostingClassifier(random_state=0).fit(*bank), bank[0]),
    }


_cancer, _wine, _iris = datasets.load_breast_cancer, datasets.load_wine, datasets.load_iris


def _bank() -> tuple[NDArray[np.float64], NDArray[Any]]:
    """The numbers of the bank table."""
    import pandas as pd

    table = pd.read_csv(DATA / "tables" / "bank_marketing_11162.csv").dropna(ignore_index=True)
    return table.select_dtypes("number").to_numpy(np.float64), table["deposit"].to_numpy(str)


@dataclass(frozen=True)
class Changed:
    """A model that answers otherwise than the approved tree on a further share of the inputs."""

    model: Predict
    tree: ft.Tree
    share: float

    def __call__(self, batch: Any) -> NDArray[Any]:
        labels, own = self.model(batch), self.tree.predict(batch)
        rows = np.ascontiguousarray(np.asarray(batch, np.float64))
        digests = (hashlib.blake2b(row.tobytes(), digest_size=8).digest() for row in rows)
        chance = np.array([int.from_bytes(digest, "big") / 2**64 for digest in digests])
        classes = np.unique(self.tree.labels)
        other = np.where(own == classes[0], classes[-1], classes[0])
        return np.where((labels == own) & (chance < self.share), other, labels)


def changed(one: Approved, error: float, wanted: float) -> Predict:
    """The model with an error that is wanted, where that of the approved one is known."""
    if wanted == error:
        return one.model
    return Changed(one.model, _stored(one.folder).tree, (wanted - error) / (1 - error))


def error_of(one: Approved) -> float:
    """How often the approved model and the approved tree differ."""
    rows = one.space.draw(COUNTED, seed=99)
    return float(np.mean(one.model(rows) != _stored(one.folder).tree.predict(rows)))


def _stored(folder: Path) -> Any:
    from fidelitree.certificates.store import load

    return load(folder)


def tried(model: Predict, folder: Path, runs: int) -> tuple[dict[str, int], list[int]]:
    """Verdicts, and the labels that each call took."""
    verdicts, labels = {"pass": 0, "fail": 0, "undecided": 0}, []
    for run in range(runs):
        asked = 0

        def counting(batch: Any) -> NDArray[Any]:
            nonlocal asked
            asked += len(batch)
            return model(batch)

        with mock.patch.object(
            approval, "diff", approval.diff if run < EXPLAINED else lambda *a, **b: "not looked for"
        ):
            try:
                assert_agrees(counting, folder)
                verdicts["pass"] += 1
            except AssertionError as failed:
                verdicts["undecided" if str(failed).startswith("undecided") else "fail"] += 1
        labels.append(asked)
    return verdicts, labels


def main() -> None:
    """Measure, and print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as place:
        for one in cases(Path(place), given.seed):
            bound, error = _stored(one.folder).certificate.error_bound, error_of(one)
            for said, (own, points) in MODELS.items():
                wanted = (error if own else bound) + points
                verdicts, labels = tried(changed(one, error, wanted), one.folder, given.runs)
                counts = [str(verdicts[name]) for name in ("pass", "fail", "undecided")]
                median = f"{int(np.median(labels[EXPLAINED:] or labels)):,}"
                rows.append([one.name, f"{bound:.2%}", said, f"{wanted:.2%}", *counts, median, f"{max(labels):,}"])
                print(rows[-1], flush=True)
    heads = ["approved", "bound", "model", "its error", "passes", "fails", "undecided", "labels, median", "most"]
    print(Table(heads, rows, names=1).markdown())


if __name__ == "__main__":
    main()
