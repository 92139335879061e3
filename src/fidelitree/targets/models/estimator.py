"""Fitted scikit-learn estimators and pipelines, and anything else with a ``predict``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import ParameterError, show
from fidelitree.targets.labels import as_answered
from fidelitree.targets.models.columns import ModelColumns
from fidelitree.targets.models.model import Model


class Estimator(Model):
    """Asks a fitted model's ``predict``: labels, not probabilities.

    A model that was fitted on a table (it has ``feature_names_in_``) receives a table with those columns; one that
    was fitted on an array (it has ``n_features_in_`` only) a 2-D array; one that says nothing the batch as it is.
    It can be pickled when the model can.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> model = Estimator(DecisionTreeClassifier().fit([[0, 0], [0, 1]], ["no", "yes"]))
    >>> model, model(np.array([[1, 1]])).tolist(), model.classes
    (<Estimator DecisionTreeClassifier of 2 features>, ['yes'], ('no', 'yes'))
    """

    def __init__(self, model: Any) -> None:
        if isinstance(model, type) or not callable(getattr(model, "predict", None)):
            raise ParameterError(f"model must be a fitted model with a method predict; got {show(model)}")
        _check_fitted(model)
        self.model = model
        self.name = type(model).__name__
        names = getattr(model, "feature_names_in_", None)
        count = getattr(model, "n_features_in_", None)
        self.columns = ModelColumns(
            None if names is None else tuple(str(name) for name in names), None if count is None else int(count)
        )
        self.classes = _classes(model)

    def labels(self, batch: Any) -> NDArray[Any]:
        return as_answered(self.model.predict(self.received(batch)))

    def received(self, batch: Any) -> Any:
        """A batch as the model receives it."""
        if self.columns.names is not None:
            return self.columns.table(batch)
        return batch if self.columns.count is None else self.columns.matrix(batch)


def _check_fitted(model: Any) -> None:
    if not (hasattr(model, "fit") and hasattr(model, "get_params")):
        return
    try:
        from sklearn.exceptions import NotFittedError
        from sklearn.utils.validation import check_is_fitted
    except ModuleNotFoundError:  # it only looks like scikit-learn
        return
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise ParameterError(f"model must be fitted; {type(model).__name__} is not: call its fit first") from None


def _classes(model: Any) -> tuple[Any, ...] | None:
    found = getattr(model, "classes_", None)
    # A model of several outputs has a list of arrays; it answers no single label, and says so when it is asked.
    return tuple(found.tolist()) if isinstance(found, np.ndarray) and found.ndim == 1 else None
