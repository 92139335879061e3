"""Scikit-learn estimators and pipelines, fitted or saved, and anything else with a ``predict``.

A pickle is a program: loading one runs whatever its author wrote, with the rights of the reader, before anybody
could look at it. A skops file is data: it lists the types it would build, and unknown ones are refused.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fidelitree.errors import RAISED, FormatError, ParameterError, need, show
from fidelitree.targets.models.model import Model, ModelColumns


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

    def labels(self, batch: Any) -> Any:
        return self.model.predict(self.received(batch))

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


def check_classes(target: Any) -> None:
    """Refuse a fitted regressor, also by its ``predict``, where answers are to be classes."""
    model = target.model if isinstance(target, Estimator) else getattr(target, "__self__", None)
    known = sys.modules.get("sklearn.base")  # else it is no estimator of that library
    if known is not None and hasattr(model, "get_params") and known.is_regressor(model):
        raise ParameterError(
            f"target must answer classes, and {type(model).__name__} is a regressor, which answers numbers. See "
            f"docs/numbers.md: give threshold= (a score above it means 1) or tolerance= (how far off still agrees)"
        )


def _classes(model: Any) -> tuple[Any, ...] | None:
    found = getattr(model, "classes_", None)
    # A model of several outputs has a list of arrays; it answers no single label, and says so when it is asked.
    return tuple(found.tolist()) if isinstance(found, np.ndarray) and found.ndim == 1 else None


def read_skops(path: Path, trusted: Sequence[str] = ()) -> Any:
    """The object in a skops file; types that skops does not know must be listed in ``trusted``."""
    io = need("skops.io", "skops", "skops files")
    if isinstance(trusted, str):
        raise ParameterError(f"trusted must be a list of names of types; got the text {trusted!r}")
    try:
        unknown = [name for name in io.get_untrusted_types(file=path) if name not in trusted]
        if not unknown:
            return io.load(path, trusted=list(trusted))
    except RAISED as error:
        raise FormatError(f"{path.name} is not a skops file that can be read: {error}") from error
    listed = ", ".join(repr(name) for name in unknown)
    raise ParameterError(
        f"{path.name} would build types that skops does not know as harmless: {listed}. "
        f"If you know them and trust the file's author, say so: trusted=[{listed}]"
    )


def read_pickle(path: Path, trust_pickle: bool = False) -> Any:
    """The object in a pickle or joblib file, when the caller trusts its author."""
    if trust_pickle is not True:
        raise ParameterError(
            f"{path.name} is a pickle, and loading a pickle runs whatever program its author put into it. "
            f"If you made the file, or trust who did, say trust_pickle=True; otherwise ask for a skops file"
        )
    joblib = need("joblib", "sklearn", "joblib files") if path.suffix.lower() == ".joblib" else None
    try:
        with path.open("rb") as file:
            return joblib.load(file) if joblib else pickle.load(file)
    except RAISED as error:
        raise FormatError(f"{path.name} cannot be unpickled here: {type(error).__name__}: {error}") from error
