"""What all targets made from models share: a name, the features, the classes, and one label for each input."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import TargetError
from fidelitree.targets.models.columns import ModelColumns, count_rows


class Model(ABC):
    """A callable from a batch to labels.

    A batch is what a space gives: an array, a dict of feature name to array, or a pandas, polars or arrow table.
    ``columns`` knows the features that the model was made for, and refuses a batch that lacks them.
    """

    name: str
    columns: ModelColumns
    classes: tuple[Any, ...] | None = None
    """The labels it can answer, where it knows them."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The features it was made for, in its order; None where it does not know their names."""
        return self.columns.names

    @abstractmethod
    def labels(self, batch: Any) -> NDArray[Any]:
        """The label of each input of a batch that is not empty."""

    def __call__(self, batch: Any) -> NDArray[Any]:
        rows = count_rows(batch)
        if not rows:  # most libraries refuse an empty batch
            return np.array(self.classes or (0,))[:0]
        labels = np.asarray(self.labels(batch))
        if labels.shape == (rows, 1):
            labels = labels[:, 0]
        if labels.shape != (rows,):
            raise TargetError(
                f"labels must be one per input: {self!r} received {rows} inputs and answered an array of shape "
                f"{labels.shape}"
            )
        return labels

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}{self.columns.phrase()}>"
