"""XGBoost models: native files (.json, .ubj, .model) and Boosters."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import FormatError, ParameterError, need, reading
from fidelitree.targets.models.fromscores import SCORE, Rule, classes_of, labels_of, rule_for
from fidelitree.targets.models.model import Model, ModelColumns
from fidelitree.targets.models.sandbox import Refused, try_first

# What Booster.predict answers, by objective: a probability, a margin, 0 or 1, one probability for each class.
# "class" is no rule of ours: the booster answers the class itself.
_RULES: dict[str, Rule] = {
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
        library = _library()
        self.name = "Booster"
        if isinstance(model, (str, Path)):
            self.name = Path(model).name
            model = _read(library, Path(model))
        if not isinstance(model, library.Booster):
            raise ParameterError(f"model must be a path or an xgboost.Booster; got {model!r:.80}")
        self.booster = model
        self.missing = float(missing)
        learner = json.loads(model.save_config())["learner"]
        self.rule = rule_for(learner["objective"]["name"], _RULES, labels)
        names = model.feature_names
        self.columns = ModelColumns(None if names is None else tuple(names), model.num_features())
        self.classes = classes_of(self.rule, int(learner["learner_model_param"]["num_class"]))
        best = model.attr("best_iteration")
        self._iterations = (0, 0 if best is None else int(best) + 1)

    def labels(self, batch: Any) -> NDArray[Any]:
        scores = self.booster.predict(self._data(batch), iteration_range=self._iterations)
        return scores.astype(np.int64) if self.rule == "class" else labels_of(scores, self.rule)

    def _data(self, batch: Any) -> Any:
        names, types = self.booster.feature_names, self.booster.feature_types
        if types is None or "c" not in types:
            numbers = self.columns.numbers(batch)
            return _library().DMatrix(numbers, missing=self.missing, feature_names=names, feature_types=types)
        categories = {name: "category" for name, kind in zip(names, types, strict=True) if kind == "c"}
        table = self.columns.pandas(batch).astype(categories)
        return _library().DMatrix(table, missing=self.missing, enable_categorical=True)


def _library() -> Any:
    return need("xgboost", "xgboost", "XGBoost models")


def _read(library: Any, path: Path) -> Any:
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
