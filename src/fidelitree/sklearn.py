"""A scikit-learn classifier that is a small tree, distilled from any other classifier, with a certificate.

Only this module imports scikit-learn when it is loaded; nothing else of fidelitree imports this module.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from fidelitree.certificates.certificate import ASSUMES_UNFORESEEN
from fidelitree.errors import ParameterError, check_delta, check_epsilon, need
from fidelitree.runs.distill import Preference, StrategyName, distill
from fidelitree.spaces.draw import seed_of
from fidelitree.spaces.inputs import as_table
from fidelitree.spaces.product import ProductSpace
from fidelitree.spaces.rows import ASSUMES_NOT_FITTED, Rows
from fidelitree.targets.fitted import warn_if_fitted

need("sklearn", "sklearn", "scikit-learn classifiers")

from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import _safe_indexing, check_random_state, column_or_1d, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_method_params,
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

if TYPE_CHECKING:
    from fidelitree.runs.result import Distillation
    from fidelitree.spaces.world import World
    from fidelitree.trees.tree import Tree

Over = Literal["product", "rows"]
OVER = ("product", "rows")
AHEAD = 1 + 1e-9
"""By what the share of a leaf's label at least exceeds all others, so that the likeliest class is what is predicted."""


class NotCertifiedWarning(ConvergenceWarning):  # type: ignore[misc]
    """The error asked for was not certified; ``certificate_`` says what was."""


class DistilledTreeClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Fits a classifier, then distils it into a small tree that agrees with it on at least 1 - epsilon of inputs.

    ``estimator`` is any classifier; None is scikit-learn's histogram gradient boosting. A fitted one is used as it is,
    an unfitted one is cloned and fitted. Inputs are drawn ``over`` the ``"product"`` of the features' marginals in X,
    or are the ``"rows"`` of X: one half of them is then for fitting and growing, the other half for the certificate. A
    fitted estimator must not have seen them.

    ``prefer``, ``max_queries``, ``max_leaves`` and ``max_seconds`` are those of `distill`.

    After ``fit``: ``tree_``, ``certificate_``, ``result_`` (all that `distill` returns), ``frontier_`` (trees of other
    sizes, None where the run made none), ``estimator_``, ``classes_``, ``n_features_in_``, and ``feature_names_in_``
    where X is a table.

    >>> from sklearn.datasets import load_iris
    >>> model = DistilledTreeClassifier(random_state=0).fit(*load_iris(return_X_y=True))
    >>> model.certificate_.holds, model.predict([[5.0, 3.4, 1.5, 0.2]]).tolist()
    (True, [0])
    """

    def __init__(
        self,
        estimator: Any = None,
        epsilon: float | None = 0.05,
        delta: float = 0.05,
        strategy: StrategyName = "auto",
        over: Over = "product",
        max_queries: int | None = None,
        random_state: Any = None,
        prefer: Preference = "queries",
        max_leaves: int | None = None,
        max_seconds: float | None = None,
    ) -> None:
        self.estimator = estimator
        self.epsilon = epsilon
        self.delta = delta
        self.strategy = strategy
        self.over = over
        self.max_queries = max_queries
        self.random_state = random_state
        self.prefer = prefer
        self.max_leaves = max_leaves
        self.max_seconds = max_seconds

    def fit(self, X: Any, y: Any, **fit_params: Any) -> DistilledTreeClassifier:
        """Fit the estimator where it is not fitted, with ``fit_params`` such as ``sample_weight``; then distil it.

        A pandas, polars or arrow table is handed on as it is, and the tree speaks of its columns; anything else becomes
        a 2-D array. ``groups`` has an entry for each row of X, such as a person: with ``over="rows"``, rows of a group
        never both fit the estimator and test the tree, and one row of a group tests. An estimator whose ``fit`` takes
        ``groups`` receives it.
        """
        self._check_parameters()
        X, y = self._check_training(X, y)
        seed = _seed(self.random_state)
        fitted = self.estimator is not None and _is_fitted(self.estimator)
        rows, fit_params = self._rows(X, fit_params)
        places = None if rows is None else rows.places(seed)[0]
        self.estimator_ = self.estimator if fitted else self._fit_estimator(X, y, places, seed, fit_params)
        if fitted and rows is not None:
            warn_if_fitted(self.estimator_, rows, seed)
        # What an estimator refuses is refused in its own words: the space is read off afterwards.
        space = ProductSpace.from_data(X) if rows is None else rows
        dropped = [] if fitted else [ASSUMES_NOT_FITTED]
        dropped += [ASSUMES_UNFORESEEN] if self.random_state is None else []
        self.result_ = _without(self._distil(space, seed), dropped)
        self.tree_, self.certificate_ = self.result_.tree, self.result_.certificate
        self.frontier_ = self.result_.frontier
        self.classes_ = getattr(self.estimator_, "classes_", np.unique(y)) if fitted else np.unique(y)
        self._own_class = _own_class(self.tree_, self.classes_)
        self._shares = self._class_shares(X, y, fit_params.get("sample_weight"))
        if not self.certificate_.holds:
            warnings.warn(f"{self.certificate_} The run ended by {self.result_.reason}.", NotCertifiedWarning, 2)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The label that the tree gives each row."""
        leaves = self._reached(X)
        return np.asarray(self.classes_[self._own_class[leaves]])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The share of each class among the training rows in the leaf that a row reaches, weighted as they were.

        The leaf's own label always has the largest share: where another class is more frequent there, the label is
        raised to it. In a leaf that no training row reaches it has all.
        """
        leaves = self._reached(X)
        return np.asarray(self._shares[leaves])

    def get_metadata_routing(self) -> Any:
        """Where scikit-learn sends what ``fit`` is given besides X and y: to the estimator's ``fit``."""
        inner = HistGradientBoostingClassifier() if self.estimator is None else self.estimator
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=type(self).__name__).add(estimator=inner, method_mapping=to_fit)

    def _check_parameters(self) -> None:
        if self.over not in OVER:
            raise ParameterError(f"over must be one of {', '.join(OVER)}; got {self.over!r}")
        if self.epsilon is not None:  # before the estimator is fitted, which may take long
            check_epsilon(self.epsilon)
        check_delta(self.delta)

    def _check_training(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        X, y = validate_data(
            self, X, y, dtype=None, skip_check_array=_is_named_table(X), ensure_all_finite=self._finite()
        )
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        check_classification_targets(y)
        return X, y

    def _reached(self, X: Any) -> NDArray[np.intp]:
        """The leaf of every row."""
        check_is_fitted(self)
        by_name = hasattr(self, "feature_names_in_") and _is_named_table(X)
        return self.tree_.reached(
            validate_data(self, X, reset=False, dtype=None, skip_check_array=by_name, ensure_all_finite=self._finite())
        )

    def _finite(self) -> bool | str:
        """What scikit-learn is to refuse in arrays: missing numbers, too, where the estimator does."""
        return "allow-nan" if get_tags(self).input_tags.allow_nan else True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = HistGradientBoostingClassifier() if self.estimator is None else self.estimator
        tags.input_tags.allow_nan = get_tags(inner).input_tags.allow_nan
        return tags

    def _fit_estimator(
        self, X: Any, y: Any, places: NDArray[np.intp] | None, seed: int, fit_params: Mapping[str, Any]
    ) -> Any:
        """A fitted copy of the estimator; over rows, it sees none of those that will test the tree."""
        if fit_params and get_config()["enable_metadata_routing"]:
            fit_params = process_routing(self, "fit", **fit_params).estimator.fit
        if places is not None:
            fit_params = _check_method_params(X, fit_params, places)
            X, y = _safe_indexing(X, places), y[places]
        inner = HistGradientBoostingClassifier(random_state=seed % 2**32) if self.estimator is None else self.estimator
        return clone(inner).fit(X, y, **fit_params)

    def _rows(self, X: Any, fit_params: dict[str, Any]) -> tuple[Rows | None, dict[str, Any]]:
        """The rows of X in their groups, where inputs are rows, and what the estimator's ``fit`` is given."""
        if self.over != "rows":
            return None, fit_params
        groups = fit_params.get("groups")
        if isinstance(groups, str):
            raise ParameterError(f"groups must be an array with an entry for each row of X; got {groups!r}")
        inner = HistGradientBoostingClassifier() if self.estimator is None else self.estimator
        if not has_fit_parameter(inner, "groups"):
            fit_params = {name: value for name, value in fit_params.items() if name != "groups"}
        return Rows(X, groups=groups), fit_params

    def _distil(self, space: World, seed: int) -> Distillation:
        return distill(
            lambda batch: column_or_1d(self.estimator_.predict(batch)),  # a batch is of the kind of X
            space,
            self.epsilon,
            self.delta,
            seed=seed,
            strategy=self.strategy,
            prefer=self.prefer,
            max_queries=self.max_queries,
            max_leaves=self.max_leaves,
            max_seconds=self.max_seconds,
        )

    def _class_shares(self, X: Any, y: NDArray[Any], weights: Any) -> NDArray[np.float64]:
        """For each leaf of the tree, by its node, the probability of every class."""
        known = np.isin(y, self.classes_)  # a fitted estimator may know fewer classes than y has
        counts = np.zeros((len(self._own_class), len(self.classes_)))
        places = self.tree_.reached(X)[known], np.searchsorted(self.classes_, y[known])
        np.add.at(counts, places, 1.0 if weights is None else np.asarray(weights, np.float64)[known])
        own = np.arange(len(counts)), self._own_class
        mine, counts[own] = counts[own], 0
        counts[own] = np.maximum(mine, AHEAD * counts.max(axis=1))
        counts[own] += counts.sum(axis=1) == 0
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _is_named_table(X: Any) -> bool:
    """Whether X is a table whose columns have names that a tree can speak of."""
    table = None if isinstance(X, np.ndarray) else as_table(X)
    return table is not None and all(isinstance(name, str) for name in table.columns)


def _is_fitted(estimator: Any) -> bool:
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def _seed(random_state: Any) -> int:
    """A number as it is, the next one of a generator, or a fresh one, whatever seeds NumPy's own generator."""
    if random_state is None:
        return seed_of(None)
    random = check_random_state(random_state)
    return int(random_state) if isinstance(random_state, Integral) else int(random.randint(np.iinfo(np.int32).max))


def _without(result: Distillation, dropped: Collection[str]) -> Distillation:
    """The result of a run that need not assume all that it was told, all points of its frontier included."""
    told, fresh = result.certificate, ASSUMES_UNFORESEEN in dropped
    assumes = tuple(assumed for assumed in told.assumes if assumed not in dropped)
    chosen = told.seed_chosen and (told.method == "exact" or not fresh)  # an exact error has no seed
    certificate = replace(told, assumes=assumes, seed_chosen=chosen)
    curve = result.curve_with(lambda all_: replace(all_, points=tuple(_without(one, dropped) for one in all_.points)))
    run = {**result.run, "seed_chosen": False} if fresh else result.run
    return replace(result, certificate=certificate, curve=curve, run=run)


def _own_class(tree: Tree, classes: NDArray[Any]) -> NDArray[np.intp]:
    """For each node of the tree the place of its label among the classes; at inner nodes it means nothing."""
    place = {label: position for position, label in enumerate(classes.tolist())}
    for label in tree.labels.tolist():
        if label not in place:
            raise ParameterError(
                f"estimator must answer classes that it lists or that y has ({', '.join(map(repr, place))}); it "
                f"answered {label!r}"
            )
    return np.array([place[label] for label in tree.labels.tolist()])[tree.code]
