"""The scikit-learn classifier: scikit-learn's own checks, then what they do not know about."""

from __future__ import annotations

import itertools
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import fidelitree as ft
from fidelitree.certificates.certificate import ASSUMES_UNFORESEEN
from fidelitree.sklearn import DistilledTreeClassifier, NotCertifiedWarning

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TREE = DecisionTreeClassifier(max_depth=2, random_state=0)


@pytest.fixture
def fixed_chance() -> None:
    """Fixes what scikit-learn takes a seed from where random_state is None."""
    np.random.seed(0)  # noqa: NPY002


@pytest.mark.usefixtures("fixed_chance")
@pytest.mark.filterwarnings("ignore::fidelitree.sklearn.NotCertifiedWarning")  # data of chance have no small tree
@parametrize_with_checks(
    [
        DistilledTreeClassifier(),
        DistilledTreeClassifier(LogisticRegression(), epsilon=0.2, max_queries=300),
    ],
    expected_failed_checks=lambda _: {},
)
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": random.integers(18, 90, 600),
            "job": random.choice(["clerk", "nurse", "pilot"], 600),
            "owner": random.random(600) < 0.3,
        }
    )


@pytest.fixture(scope="module")
def insured(people: pd.DataFrame) -> NDArray[np.str_]:
    return np.where((people["job"] == "pilot") | (people["age"] > 60), "insure", "decline")


def encoded(inner: Any = None) -> Any:
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    return make_pipeline(encoder, inner or DecisionTreeClassifier(random_state=0))


def test_the_tree_speaks_of_the_columns_of_a_table(people: pd.DataFrame, insured: NDArray[np.str_]) -> None:
    model = DistilledTreeClassifier(encoded(), epsilon=0.01, random_state=0).fit(people, insured)
    assert "age <= 60" in str(model.tree_)
    assert "job" in str(model.tree_)
    assert model.feature_names_in_.tolist() == ["age", "job", "owner"]
    assert model.n_features_in_ == 3
    assert model.classes_.tolist() == ["decline", "insure"]
    assert model.certificate_ is model.result_.certificate
    assert model.certificate_.holds
    assert model.tree_.size == 3
    assert model.score(people, insured) == 1


@pytest.mark.parametrize("over", ["product", "rows"])
@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas])
def test_another_kind_of_table_gives_the_same(
    people: pd.DataFrame, insured: NDArray[np.str_], convert: Any, over: Any
) -> None:
    wrapped = DistilledTreeClassifier(encoded(), epsilon=0.1, over=over, random_state=0)
    one, two = clone(wrapped).fit(people, insured), clone(wrapped).fit(convert(people), insured)
    assert one.tree_.digest == two.tree_.digest
    assert (one.predict(people) == two.predict(convert(people))).all()
    assert type(two.result_.space.batch(np.zeros((2, 3)))) is type(convert(people))


def test_a_table_whose_columns_have_no_names_is_an_array() -> None:
    X, y = load_iris(return_X_y=True)
    model = DistilledTreeClassifier(TREE, random_state=0).fit(pd.DataFrame(X), y)
    assert not hasattr(model, "feature_names_in_")
    assert model.tree_.names == ("x0", "x1", "x2", "x3")
    assert (model.predict(pd.DataFrame(X)) == model.predict(X)).all()


def test_columns_in_another_order_are_refused(people: pd.DataFrame, insured: NDArray[np.str_]) -> None:
    model = DistilledTreeClassifier(encoded(), random_state=0).fit(people, insured)
    with pytest.raises(ValueError, match="Feature names must be in the same order as they were in fit"):
        model.predict(people[["job", "age", "owner"]])


LABELS: dict[str, Any] = {
    "bool": [False, True],
    "negative": [-1, 1],
    "text": ["no", "yes"],
    "objects": np.array(["no", "yes"], object),
    "floats": [0.0, 2.0],
    "bytes": np.array([3, 200], np.uint8),
}


SHAPES = ["array", "list", "float32", "one feature", "constant column"]


@pytest.mark.parametrize(("kind", "shape"), [*((kind, "array") for kind in LABELS), *(("text", x) for x in SHAPES[1:])])
def test_any_labels_and_any_numbers(kind: str, shape: str) -> None:
    random = np.random.default_rng(1)
    X: Any = random.random((40, 3))
    y = np.asarray(LABELS[kind])[(X[:, 0] > 0.5).astype(int)]
    if shape == "float32":
        X = X.astype(np.float32)
    elif shape == "one feature":
        X = X[:, :1]
    elif shape == "constant column":
        X[:, 1] = 7
    elif shape == "list":
        X = X.tolist()
    model = DistilledTreeClassifier(TREE, random_state=0).fit(X, y.tolist() if shape == "list" else y)
    expected = model.estimator_.predict(np.asarray(X))
    assert (model.predict(X) == expected).mean() >= 0.9
    assert model.predict(X).dtype == model.classes_.dtype == expected.dtype
    assert model.classes_.tolist() == sorted(np.unique(y).tolist())


def test_one_class_is_a_tree_of_one_leaf() -> None:
    X = np.random.default_rng(0).random((20, 2))
    model = DistilledTreeClassifier(random_state=0).fit(X, np.full(20, "only"))
    assert str(model.tree_) == "only"
    assert model.predict_proba(X).tolist() == [[1.0]] * 20


def test_an_estimator_that_is_not_fitted_is_cloned() -> None:
    X, y = load_iris(return_X_y=True)
    inner = DecisionTreeClassifier(max_depth=2, random_state=0)
    model = DistilledTreeClassifier(inner, random_state=0).fit(X, y)
    assert not hasattr(inner, "tree_")
    assert model.estimator_ is not inner
    assert (model.estimator_.predict(X) == clone(inner).fit(X, y).predict(X)).all()


def test_a_fitted_estimator_is_used_as_it_is() -> None:
    X, y = load_iris(return_X_y=True)
    inner = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y == 1)
    model = DistilledTreeClassifier(inner, epsilon=0.01, random_state=0).fit(X, y)
    assert model.estimator_ is inner
    assert model.classes_.tolist() == [False, True]
    assert (model.predict(X) == inner.predict(X)).mean() > 0.9


def test_a_fitted_estimator_that_answers_other_classes_is_refused() -> None:
    class Oracle(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        def __sklearn_is_fitted__(self) -> bool:
            return True

        def fit(self, X: Any, y: Any) -> Any:
            raise AssertionError("it is fitted")

        def predict(self, X: Any) -> Any:
            return np.full(len(X), "maybe")

    with pytest.raises(
        ft.ParameterError,
        match=r"^estimator must answer classes that it lists or that y has \('no', 'yes'\); it answered 'maybe'$",
    ):
        DistilledTreeClassifier(Oracle()).fit([[0.0], [1.0]], ["no", "yes"])


def slow_shares(model: DistilledTreeClassifier, X: Any, y: Any, weights: Any) -> list[list[float]]:
    """Row by row: the training rows that take the same path through the tree."""
    leaves = [leaf_of(model.tree_, row) for row in X]
    shares = []
    for mine in leaves:
        totals = dict.fromkeys(model.classes_, 0.0)
        for leaf, label, weight in zip(leaves, y, weights, strict=True):
            totals[label] += weight * (leaf == mine)
        own = model.tree_.labels[model.tree_.code[mine]]
        totals[own] = max(totals.values())
        shares.append([total / sum(totals.values()) for total in totals.values()])
    return shares


def leaf_of(tree: ft.Tree, row: NDArray[np.float64]) -> int:
    node = 0
    while tree.feature[node] >= 0:
        test = tree.test(node)
        node = int((tree.yes if test.answers(row[[test.feature]])[0] else tree.no)[node])
    return node


@pytest.mark.parametrize("weighted", [False, True])
def test_probabilities_are_the_shares_of_training_rows(weighted: bool) -> None:
    random = np.random.default_rng(3)
    X = random.integers(0, 6, (200, 3)).astype(float)
    y = np.where((X[:, 0] > 2) ^ (random.random(200) < 0.3), "b", np.where(X[:, 1] > 4, "c", "a"))
    weights = random.integers(1, 9, 200) if weighted else np.ones(200)
    model = DistilledTreeClassifier(TREE, random_state=0).fit(X, y, **({"sample_weight": weights} if weighted else {}))
    found = model.predict_proba(X)
    np.testing.assert_allclose(found, slow_shares(model, X, y, weights), atol=1e-8)
    assert (model.classes_[found.argmax(axis=1)] == model.predict(X)).all()
    assert found.max() < 1


def test_the_label_of_a_leaf_is_its_likeliest_class_whatever_y_says() -> None:
    X = np.repeat([[0.0], [1.0]], 50, axis=0)
    inner = DecisionTreeClassifier().fit(X, X[:, 0] > 0)
    model = DistilledTreeClassifier(inner, random_state=0).fit(X, X[:, 0] == 0)  # always the opposite
    np.testing.assert_allclose(model.predict_proba([[0.0], [1.0]]), 0.5, atol=1e-8)
    assert model.predict_proba([[0.0], [1.0]]).argmax(axis=1).tolist() == [0, 1]


def test_sample_weights_reach_the_estimator() -> None:
    X, y = load_iris(return_X_y=True)
    model = DistilledTreeClassifier(TREE, random_state=0).fit(X, y, sample_weight=(y < 2).astype(float))
    assert set(model.predict(X)) == {0, 1}


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_metadata_is_routed_to_the_estimator() -> None:
    X, y = load_iris(return_X_y=True)
    weights = (y < 2).astype(float)
    asking = DecisionTreeClassifier(random_state=0).set_fit_request(sample_weight=True)
    assert set(DistilledTreeClassifier(asking).fit(X, y, sample_weight=weights).predict(X)) == {0, 1}
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        DistilledTreeClassifier(DecisionTreeClassifier()).fit(X, y, sample_weight=weights)


def test_the_same_random_state_gives_the_same_tree() -> None:
    X, y = make_classification(300, 6, random_state=0)

    def digest(random_state: Any) -> str:
        return DistilledTreeClassifier(TREE, random_state=random_state).fit(X, y).certificate_.tree_digest

    assert digest(3) == digest(3)
    assert digest(np.random.RandomState(3)) == digest(np.random.RandomState(3))
    assert DistilledTreeClassifier(TREE, random_state=3).fit(X, y).certificate_.seed == 3
    random = np.random.RandomState(3)
    seeds = {DistilledTreeClassifier(TREE, random_state=random).fit(X, y).certificate_.seed for _ in range(3)}
    assert len(seeds) == 3


@pytest.mark.filterwarnings("ignore::fidelitree.sklearn.NotCertifiedWarning")
@pytest.mark.parametrize("over", ["product", "rows"])
@pytest.mark.parametrize("epsilon", [0.2, None])
def test_without_a_random_state_the_seed_is_fresh(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, over: Any, epsilon: float | None
) -> None:
    """Whatever seeds NumPy's own generator: many programs begin with `np.random.seed(0)`."""
    fresh = itertools.count(7)
    monkeypatch.setattr("fidelitree.spaces.draw.fresh_seed", lambda: next(fresh))
    X, y = make_classification(300, 6, random_state=0)
    seeds = set()
    for _ in range(2):
        np.random.seed(0)  # noqa: NPY002
        made = DistilledTreeClassifier(TREE, epsilon=epsilon, over=over, max_queries=100, max_leaves=3).fit(X, y)
        seeds.add(made.certificate_.seed)
        certificates = [made.certificate_, *(point.certificate for point in made.frontier_ or ())]
        assert not any(one.seed_chosen or ASSUMES_UNFORESEEN in one.assumes for one in certificates)
        made.result_.save(tmp_path)
        assert ft.verify(tmp_path).consistent
    assert len(seeds) == 2
    given = DistilledTreeClassifier(
        TREE, epsilon=epsilon, over=over, max_queries=100, max_leaves=3, random_state=3
    ).fit(X, y)
    assert ASSUMES_UNFORESEEN in given.certificate_.assumes


def test_it_can_be_cloned_and_pickled(people: pd.DataFrame, insured: NDArray[np.str_]) -> None:
    for table in (people, pl.from_pandas(people), people[["age", "owner"]].to_numpy(float)):
        inner = DecisionTreeClassifier(max_depth=3) if isinstance(table, np.ndarray) else encoded()
        model = DistilledTreeClassifier(inner, epsilon=0.1, random_state=0).fit(table, insured)
        assert clone(model).get_params()["epsilon"] == 0.1
        again = pickle.loads(pickle.dumps(model))
        assert (again.predict_proba(table) == model.predict_proba(table)).all()
        assert again.certificate_ == model.certificate_
        assert again.result_.queries == model.result_.queries
        assert again.result_.space == model.result_.space


def test_it_is_searched_and_validated_like_any_classifier() -> None:
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), DistilledTreeClassifier(TREE, random_state=0)),
        {
            "distilledtreeclassifier__epsilon": [0.2, 0.02],
            "distilledtreeclassifier__estimator__max_depth": [1, 2],
        },
        cv=3,
    )
    search.fit(X, y)
    assert search.best_params_["distilledtreeclassifier__estimator__max_depth"] == 2
    assert search.score(X, y) > 0.9
    assert cross_val_score(DistilledTreeClassifier(TREE, random_state=0), X, y, scoring="roc_auc_ovr").mean() > 0.9


def test_a_frozen_estimator_stays_fitted_in_a_search() -> None:
    X, y = load_iris(return_X_y=True)
    fitted = HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(X, y)
    wrapped = DistilledTreeClassifier(FrozenEstimator(fitted), random_state=0)
    search = GridSearchCV(wrapped, {"epsilon": [0.3, 0.05]}, cv=2).fit(X, y)
    assert search.best_estimator_.estimator_.estimator is fitted


class Memorizer(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Knows which rows it was fitted on, and answers something else to them."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Memorizer:
        self.known_, self.weights_ = X.copy(), sample_weight
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[np.isin(X[:, 0], self.known_[:, 0]).astype(int)]


def test_over_rows_the_estimator_never_sees_a_test_row() -> None:
    """A memorizer would be certified as a constant by rows that it was fitted on, and is another one elsewhere."""
    X = np.random.default_rng(0).permutation(1000)[:, None].astype(float)
    weights = X[:, 0].copy()
    with pytest.warns(NotCertifiedWarning, match="NOT certified"):
        model = DistilledTreeClassifier(Memorizer(), over="rows", random_state=0).fit(
            X, X[:, 0] > 500, sample_weight=weights
        )
    growing, testing = ft.Rows(X).places(0)
    assert sorted(model.estimator_.known_[:, 0]) == sorted(X[growing, 0])
    assert (model.estimator_.weights_ == model.estimator_.known_[:, 0]).all()
    assert (model.estimator_.predict(X[testing]) == False).all()  # noqa: E712
    assert len(set(growing) | set(testing)) == 1000


def test_over_rows_with_a_fitted_estimator_says_what_it_takes_for_granted() -> None:
    X, y = make_classification(2000, 4, random_state=0)
    fitted = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[:200], y[:200])
    model = DistilledTreeClassifier(fitted, over="rows", random_state=0).fit(X[200:], y[200:])
    independent = "rows like those of this table; the rows are independent of each other"
    assert f"{independent}; the target was not fitted to them" in str(model.certificate_)
    assert model.certificate_.holds
    own = DistilledTreeClassifier(TREE, over="rows", random_state=0).fit(X, y)
    assert independent in str(own.certificate_)
    assert "not fitted to them" not in str(own.certificate_)


class Grouped(Memorizer):  # type: ignore[misc]
    """Its ``fit`` takes groups, as that of a search with grouped folds does."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Grouped:
        self.groups_ = groups
        return super().fit(X, y, sample_weight)  # type: ignore[no-any-return]


@pytest.mark.parametrize("estimator", [Memorizer(), Grouped()])
def test_rows_of_a_group_do_not_both_fit_and_test(estimator: Any) -> None:
    X = np.random.default_rng(0).permutation(1000)[:, None].astype(float)
    person = (X[:, 0] // 4).astype(int)
    with pytest.warns(NotCertifiedWarning, match="NOT certified"):
        model = DistilledTreeClassifier(estimator, over="rows", random_state=0).fit(X, X[:, 0] > 500, groups=person)
    fitted = set(model.estimator_.known_[:, 0] // 4)
    _, testing = ft.Rows(X, groups=person).places(0)
    assert len(fitted) == len(testing) == 125
    assert not fitted & set(person[testing])
    assert model.result_.space.digest == ft.Rows(X, groups=person).digest
    assert "each counts once, by one of its rows" in str(model.certificate_)
    if isinstance(estimator, Grouped):
        assert set(model.estimator_.groups_) == fitted
    with pytest.raises(
        ft.ParameterError, match="groups must be an array with an entry for each row of X; got 'person'"
    ):
        DistilledTreeClassifier(estimator, over="rows").fit(X, X[:, 0] > 500, groups="person")


def test_too_few_rows_are_refused() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ft.ParameterError, match=r"the table leaves 75 test rows, and certifying an error of 0\.01"):
        DistilledTreeClassifier(TREE, epsilon=0.01, over="rows", random_state=0).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"over": "moon"}, r"^over must be one of product, rows; got 'moon'$"),
        ({"epsilon": 5}, r"^epsilon must be at least 0 and below 1; got 5"),
        ({"delta": 0}, r"^delta must be"),
        ({"strategy": "hope"}, r"^strategy must be one of auto, influence, smallest; got 'hope'$"),
        ({"max_queries": -1}, r"^max_queries must be"),
    ],
)
def test_wrong_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ft.ParameterError, match=message):
        DistilledTreeClassifier(TREE, **parameters).fit(*load_iris(return_X_y=True))


def test_a_missing_number_is_a_value(people: pd.DataFrame, insured: NDArray[np.str_]) -> None:
    holes = people.assign(age=people["age"].where(people["age"] > 40))
    inner = encoded(HistGradientBoostingClassifier(max_iter=5))
    model = DistilledTreeClassifier(inner, epsilon=0.1, random_state=0).fit(holes, insured)
    agree = model.predict(holes) == model.estimator_.predict(holes)
    assert "missing" in str(model.tree_)
    assert agree[holes["age"].isna()].mean() > 0.8
    numbers = np.where(np.arange(400)[:, None] % [3, 5], 1.0, np.nan) * np.arange(400)[:, None]
    answers = np.isnan(numbers[:, 0])
    assert (DistilledTreeClassifier(random_state=0).fit(numbers, answers).predict(numbers) == answers).all()


def test_a_missing_number_that_the_estimator_refuses_is_refused(people: pd.DataFrame) -> None:
    numbers = np.where(np.arange(40)[:, None] % [3, 5], 1.0, np.nan)
    with pytest.raises(ValueError, match="contains NaN"):
        DistilledTreeClassifier(LogisticRegression()).fit(numbers, np.arange(40) % 2)


def test_a_budget_that_is_too_small_is_said_by_a_warning() -> None:
    X, y = make_classification(300, 8, random_state=0)
    with pytest.warns(NotCertifiedWarning, match=r"(?s)NOT certified.* The run ended by max_queries = 40\.$"):
        model = DistilledTreeClassifier(max_queries=40, random_state=0).fit(X, y)
    assert not model.certificate_.holds
    assert model.result_.queries.asked <= 40


def test_without_scikit_learn_the_way_out_is_named() -> None:
    code = "import sys; sys.modules['sklearn'] = None; import fidelitree.sklearn"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == (
        "fidelitree.errors.MissingExtraError: scikit-learn classifiers need sklearn, which is not installed; "
        "install it with: pip install 'fidelitree[sklearn]'"
    )


def test_budgets_reach_the_run_and_other_sizes_come_back() -> None:
    model = DistilledTreeClassifier(random_state=0, epsilon=0.2, prefer="leaves", max_leaves=4, max_seconds=60)
    model.fit(*load_iris(return_X_y=True))
    assert model.tree_.size <= 4
    assert model.result_.run["prefer"] == "leaves"
    assert (model.result_.run["max_leaves"], model.result_.run["max_seconds"]) == (4, 60)
    assert model.frontier_ is model.result_.frontier
