"""A target that carries the rows it was fitted to is noticed where these rows are to test, and nowhere else."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import fidelitree as ft
from fidelitree.sklearn import DistilledTreeClassifier
from fidelitree.targets.fitted import overlap

if TYPE_CHECKING:
    from collections.abc import Callable

RNG = np.random.default_rng(11)
JOBS = np.array(["clerk", "nurse", "pilot"])
PEOPLE = pd.DataFrame(
    {
        "age": RNG.uniform(18, 90, 400),
        "rooms": RNG.integers(1, 6, 400).astype(float),
        "weight": RNG.normal(70, 9, 400),
    }
)
LABELS = (PEOPLE["age"] + 5 * PEOPLE["rooms"] > 60).to_numpy()
FITTED, UNSEEN = PEOPLE[:200], PEOPLE[200:].reset_index(drop=True)
WITH_JOBS = PEOPLE.assign(job=JOBS[RNG.integers(0, 3, 400)])

NEIGHBOURS = KNeighborsClassifier(1)
MODELS: dict[str, Callable[[], Any]] = {
    "neighbours": lambda: NEIGHBOURS,
    "radius": lambda: RadiusNeighborsClassifier(50.0),
    "Gaussian process": GaussianProcessClassifier,
    "support vectors": lambda: SVC(C=100.0, gamma=1.0),
    "scaled": lambda: make_pipeline(StandardScaler(), NEIGHBOURS),
    "rotated": lambda: make_pipeline(StandardScaler(), PCA(2), "passthrough", KNeighborsClassifier()),
    "a search": lambda: GridSearchCV(make_pipeline(StandardScaler(), NEIGHBOURS), {}, cv=2),
    "a vote": lambda: VotingClassifier([("one", NEIGHBOURS), ("two", RandomForestClassifier(3))]),
    "calibrated": lambda: CalibratedClassifierCV(NEIGHBOURS, cv=2),
}


def audited(model: Any, table: Any) -> ft.Certificate:
    return ft.certify(model.predict, model.predict, ft.Rows(table), 0.1, seed=0)


@pytest.mark.parametrize("name", MODELS)
def test_training_rows_are_noticed(name: str) -> None:
    model = MODELS[name]().fit(FITTED, LABELS[:200])
    with pytest.warns(ft.FittedRowsWarning, match=r"^the target was fitted to rows of this table: .* give Rows the"):
        audited(model, FITTED)
    with pytest.warns(ft.FittedRowsWarning, match="among its training rows"):
        audited(model, PEOPLE)  # half of them are


@pytest.mark.parametrize("name", MODELS)
def test_rows_that_were_held_out_raise_no_alarm(name: str) -> None:
    """Warnings are errors here."""
    model = MODELS[name]().fit(FITTED, LABELS[:200])
    assert "the target was not fitted to them" in str(audited(model, UNSEEN))


def test_the_warning_says_how_many_and_points_at_the_call() -> None:
    model = KNeighborsClassifier(1).fit(FITTED, LABELS[:200])
    with pytest.warns(ft.FittedRowsWarning) as caught:
        ft.certify(model, model.predict, ft.Rows(FITTED), 0.1, seed=0)
    assert str(caught[0].message) == (
        "the target was fitted to rows of this table: 200 of 200 test rows that were looked up are among its training "
        "rows. A certificate over them says nothing about new rows - fit the target to one part of the table, and give "
        "Rows the other"
    )
    assert caught[0].filename == __file__
    with pytest.warns(ft.FittedRowsWarning, match="100 of 100") as caught:
        ft.distill(model.predict, ft.Rows(FITTED), 0.2)
    assert caught[0].filename == __file__
    with pytest.warns(ft.FittedRowsWarning, match="100 of 100") as caught:
        ft.learners.cart(model.predict, ft.Rows(FITTED), 0.2)
    assert caught[0].filename == __file__


def test_sparse_columns_are_looked_up_too() -> None:
    columns = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["job"]), remainder="passthrough")
    columns.sparse_threshold = 1.0
    model = make_pipeline(columns, KNeighborsClassifier(1)).fit(WITH_JOBS[:200], LABELS[:200])
    with pytest.warns(ft.FittedRowsWarning):
        audited(model, WITH_JOBS[:200])
    audited(model, WITH_JOBS[200:].reset_index(drop=True))


def test_our_own_wrapper_and_the_classifier_know_it_too() -> None:
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(1)).fit(FITTED, LABELS[:200])
    with pytest.warns(ft.FittedRowsWarning):
        ft.distill(ft.targets.from_model(model), ft.Rows(FITTED), 0.2)
    ft.distill(ft.targets.from_model(model), ft.Rows(UNSEEN), 0.2)
    with pytest.warns(ft.FittedRowsWarning) as caught:
        DistilledTreeClassifier(FrozenEstimator(model), 0.4, over="rows", random_state=0).fit(FITTED, LABELS[:200])
    assert caught[0].filename == __file__
    DistilledTreeClassifier(model, 0.4, over="rows", random_state=0).fit(UNSEEN, LABELS[200:])


def test_rows_that_only_grow_the_tree_may_have_been_fitted_to() -> None:
    rows = ft.Rows(PEOPLE)
    growing, _ = rows.places(0)
    model = KNeighborsClassifier(1).fit(PEOPLE.iloc[growing], LABELS[growing])
    ft.distill(model.predict, rows, 0.2, seed=0)


@pytest.mark.parametrize("values", [2, 3, 5, 9])
@pytest.mark.parametrize("shape", [(200, 200), (60, 340), (340, 60), (1000, 500)])
def test_equal_rows_of_a_split_are_no_alarm(values: int, shape: tuple[int, int]) -> None:
    """Rows of few values repeat, in both parts. 50 tables each; an alarm has probability 1e-9."""
    rng = np.random.default_rng([values, *shape])
    for _ in range(50):
        keys = rng.integers(0, values**4, sum(shape)).astype(np.uint64)
        training, tested = keys[: shape[0]], keys[shape[0] :]
        assert not overlap(training, tested)
        assert not overlap(np.unique(training), tested, whole=False), "support vectors may leave repetitions out"


def test_few_rows_accuse_nobody() -> None:
    keys = np.arange(40, dtype=np.uint64)
    assert overlap(keys, keys)
    assert not overlap(keys[:15], keys[:15])
    assert not overlap(keys[:0], keys)


class Odd:
    """A target whose attributes cannot be asked for, or hold nonsense."""

    _fit_X = "no rows"  # noqa: N815
    X_train_ = np.arange(3)

    def __getattr__(self, name: str) -> Any:
        raise SystemExit(name)

    def __call__(self, batch: Any) -> Any:
        return batch["age"] > 40


def test_targets_that_carry_something_else_are_left_alone() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ft.certify(lambda batch: batch["age"] > 40, Odd(), ft.Rows(PEOPLE), 0.1, seed=0)
        narrow = KNeighborsClassifier().fit(FITTED[["age"]], LABELS[:200])
        ft.certify(
            lambda batch: narrow.predict(batch[["age"]]),
            make_pipeline("passthrough", narrow).predict,
            ft.Rows(FITTED[["age"]].assign(age=FITTED["age"] + 0.001)),
            0.3,
        )
    bagged = BaggingClassifier(KNeighborsClassifier(), 3, max_features=2, random_state=0).fit(FITTED, LABELS[:200])
    audited(bagged, FITTED)  # it keeps columns of its own choice: nothing is known
