"""LightGBM models: native text files (.txt) and Boosters."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from fidelitree.errors import FormatError, ParameterError, need, reading
from fidelitree.targets.models.fromscores import SCORE, Rule, classes_of, labels_of, rule_for
from fidelitree.targets.models.model import Model, ModelColumns
from fidelitree.targets.models.sandbox import Refused, try_first

_REGRESSORS = ("regression", "regression_l1", "huber", "fair", "poisson", "quantile", "mape", "gamma", "tweedie")
_RULES: dict[str, Rule] = {
    "binary": 0.5,
    "multiclass": "argmax",
    "multiclassova": "argmax",
    **dict.fromkeys(_REGRESSORS, SCORE),
}


class LightGBMModel(Model):
    """Labels of a Booster, by its objective.

    ``binary``: 1 where the probability is above .5, ``multiclass`` and ``multiclassova``: the class with the largest
    probability, the first of equals: as LGBMClassifier decides; of a regressor the number itself, for runs with a
    tolerance or a threshold. Any other objective needs ``labels``: "argmax", "argmin", "score" (the number), or a
    number above which the score means 1. It can be pickled.
    """

    def __init__(self, model: Any, *, labels: Rule | None = None) -> None:
        library = need("lightgbm", "lightgbm", "LightGBM models")
        self.name = "Booster"
        if isinstance(model, (str, Path)):
            self.name = Path(model).name
            model = _read(library, Path(model))
        if not isinstance(model, library.Booster):
            raise ParameterError(f"model must be a path or a lightgbm.Booster; got {model!r:.80}")
        self.booster = model
        header = _header(model)
        self.rule = rule_for(header.get("objective", "none").split()[0], _RULES, labels)
        names = tuple(model.feature_name())
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


def _read(library: Any, path: Path) -> Any:
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
