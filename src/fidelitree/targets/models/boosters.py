"""Gradient-boosted trees by the libraries that grew them: native files and Boosters of LightGBM and of XGBoost."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import FormatError, ParameterError, need, reading
from fidelitree.targets.models.fromscores import SCORE, Rule, classes_of, labels_of, rule_for
from fidelitree.targets.models.model import Model, ModelColumns
from fidelitree.targets.models.sandbox import Refused, try_first

_REGRESSORS = ("regression", "regression_l1", "huber", "fair", "poisson", "quantile", "mape", "gamma", "tweedie")
_LIGHTGBM: dict[str, Rule] = {
    "binary": 0.5,
    "multiclass": "argmax",
    "multiclassova": "argmax",
    **dict.fromkeys(_REGRESSORS, SCORE),
}
# What Booster.predict answers, by objective: a probability, a margin, 0 or 1, one probability for each class.
# "class" is no rule of ours: the booster answers the class itself.
_XGBOOST: dict[str, Rule] = {
    "binary:logistic": 0.5,
    "binary:logitraw": 0.0,
    "binary:hinge": 0.5,
    "multi:softprob": "argmax",
    "multi:softmax": "class",
    **dict.fromkeys(
        (
            *(f"reg:{loss}" for loss in ("squarederror", "squaredlogerror", "absoluteerror", "pseudohubererror")),
            *("reg:quantileerror", "reg:gamma", "reg:tweedie", "reg:logistic", "count:poisson"),
        ),
        SCORE,
    ),
}


def _opened(library: Any, model: Any, read: Callable[[Any, Path], Any]) -> tuple[str, Any]:
    """The name of a Booster, and the Booster: one in memory, or one in a file."""
    name = "Booster"
    if isinstance(model, (str, Path)):
        name, model = Path(model).name, read(library, Path(model))
    if not isinstance(model, library.Booster):
        article = "an" if library.__name__ == "xgboost" else "a"
        raise ParameterError(f"model must be a path or {article} {library.__name__}.Booster; got {model!r:.80}")
    return name, model


class LightGBMModel(Model):
    """Labels of a Booster, by its objective.

    ``binary``: 1 where the probability is above .5, ``multiclass`` and ``multiclassova``: the class with the largest
    probability, the first of equals: as LGBMClassifier decides; of a regressor the number itself, for runs with a
    tolerance or a threshold. Any other objective needs ``labels``: "argmax", "argmin", "score" (the number), or a
    number above which the score means 1. It can be pickled.
    """

    def __init__(self, model: Any, *, labels: Rule | None = None) -> None:
        library = need("lightgbm", "lightgbm", "LightGBM models")
        self.name, self.booster = _opened(library, model, _read_lightgbm)
        header = _header(self.booster)
        self.rule = rule_for(header.get("objective", "none").split()[0], _LIGHTGBM, labels)
        names = tuple(self.booster.feature_name())
        invented = tuple(f"Column_{i}" for i in range(len(names)))  # what LightGBM calls the columns of an array
        self.columns = ModelColumns(None if names == invented else names, len(names))
        self.classes = classes_of(self.rule, int(header["num_class"]))

    def labels(self, batch: Any) -> NDArray[Any]:
        return labels_of(self.booster.predict(self._data(batch)), self.rule)

    def _data(self, batch: Any) -> Any:
        if not self.booster.pandas_categorical:
            return self.columns.numbers(batch)
        table = self.columns.pandas(batch)
        text = table.select_dtypes(exclude=["number", "bool", "category"]).columns
        return table.astype(dict.fromkeys(text, "category"))


def _read_lightgbm(library: Any, path: Path) -> Any:
    with reading(path):
        content = path.read_bytes()
    first = content.partition(b"\n")[0][:80].strip()
    # The library prints before it raises, so what is plainly something else never reaches it.
    if first != b"tree":
        raise FormatError(f"{path.name} is not a LightGBM model: its first line must be 'tree'; got {first!r}")
    try:
        _check_whole(content)
        try_first("lightgbm", library.basic._LIB._name, path)
        return library.Booster(model_file=path)
    except (library.basic.LightGBMError, Refused) as error:
        raise FormatError(f"{path.name} is not a LightGBM model that can be read: {error}") from error


def _check_whole(content: bytes) -> None:
    """Refuse a file that was cut off: what the library reads past its end is chance, and may crash here and not there.

    The header tells how long each tree is, so that it also tells where the trees end.
    """
    sizes = re.search(rb"^tree_sizes=([0-9 ]*)$", content, re.MULTILINE)
    begin = content.find(b"\nTree=0\n") + 1
    if sizes is not None and begin:
        end = begin + sum(map(int, sizes[1].split()))
        if not content.startswith(b"end of trees", end):
            raise Refused("its trees do not end where its header says: it was cut off, or changed")
    if b"\nparameters:\n" in content and b"\nend of parameters" not in content:
        raise Refused("its parameters have no end: it was cut off")


def _header(booster: Any) -> dict[str, str]:
    """The ``name=value`` lines before the first tree: they hold the objective, whose parameters may be aliases."""
    head = booster.model_to_string(num_iteration=1).partition("\n\n")[0]
    return dict(line.split("=", 1) for line in head.splitlines() if "=" in line)


class XGBoostModel(Model):
    """Labels of a Booster, by its objective.

    ``binary:logistic``: 1 where the probability is above .5 (as XGBClassifier decides), ``binary:logitraw``: above 0,
    ``binary:hinge``: as answered; ``multi:softmax`` and ``multi:softprob``: the class with the largest score, the first
    of equals; ``reg:...`` and ``count:poisson``: the number itself, for runs with a tolerance or a threshold. Any other
    objective needs ``labels``: "argmax", "argmin", "score" (the number), or a number above which the score means 1.

    ``missing`` is the value that stands for a missing one, NaN by default. A model trained on sparse files (libsvm)
    took absent entries as missing: give 0 for it, or its answers to arrays with zeros are not what it learnt.

    A model that stopped early answers with its best iteration, as XGBClassifier does. It can be pickled.
    """

    def __init__(self, model: Any, *, labels: Rule | None = None, missing: float = math.nan) -> None:
        library = need("xgboost", "xgboost", "XGBoost models")
        self.name, self.booster = _opened(library, model, _read_xgboost)
        self.missing = float(missing)
        learner = json.loads(self.booster.save_config())["learner"]
        self.rule = rule_for(learner["objective"]["name"], _XGBOOST, labels)
        names = self.booster.feature_names
        self.columns = ModelColumns(None if names is None else tuple(names), self.booster.num_features())
        self.classes = classes_of(self.rule, int(learner["learner_model_param"]["num_class"]))
        best = self.booster.attr("best_iteration")
        self._iterations = (0, 0 if best is None else int(best) + 1)

    def labels(self, batch: Any) -> NDArray[Any]:
        scores = self.booster.predict(self._data(batch), iteration_range=self._iterations)
        return scores.astype(np.int64) if self.rule == "class" else labels_of(scores, self.rule)

    def _data(self, batch: Any) -> Any:
        names, types = self.booster.feature_names, self.booster.feature_types
        matrix = need("xgboost", "xgboost", "XGBoost models").DMatrix
        if types is None or "c" not in types:
            numbers = self.columns.numbers(batch)
            return matrix(numbers, missing=self.missing, feature_names=names, feature_types=types)
        categories = {name: "category" for name, kind in zip(names, types, strict=True) if kind == "c"}
        table = self.columns.pandas(batch).astype(categories)
        return matrix(table, missing=self.missing, enable_categorical=True)


def _read_xgboost(library: Any, path: Path) -> Any:
    with reading(path):
        content = bytearray(path.read_bytes())
    # From memory the library looks at the content, not at the suffix; but no content at all ends the whole program.
    try:
        if not content.startswith(b"{"):
            raise Refused("both formats start with a brace")
        try_first("xgboost", library.core._LIB._name, path)
        return library.Booster(model_file=content)
    except (library.core.XGBoostError, Refused) as error:
        raise FormatError(
            f"{path.name} is not an XGBoost model in JSON or UBJSON; a model in the old binary format must be "
            f"loaded and saved again by an XGBoost before 3.1"
        ) from error
