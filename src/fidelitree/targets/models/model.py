"""What all targets made from models share: a name, the features, the classes, and one label for each input.

A batch comes as the space gives it; a model wants its own columns, in its own order, as numbers or as a table.
Where both know names, columns are found by name and those that the model does not use are left out. Where either
does not, they are taken in order, and their number must agree.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import ParameterError, check_names, need
from fidelitree.spaces.inputs import as_table, is_missing
from fidelitree.targets.labels import as_answered, not_one_each

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class ModelColumns:
    """Names and number of a model's features, each None where the model does not know it.

    >>> ModelColumns(("a", "b"), 2).matrix({"b": np.array([3, 4]), "a": np.array([1, 2])}).tolist()
    [[1, 3], [2, 4]]
    """

    names: tuple[str, ...] | None = None
    count: int | None = None

    @classmethod
    def named(cls, names: Sequence[str] | None) -> ModelColumns:
        """Columns of an array that somebody has named."""
        if names is None:
            return cls()
        known = tuple(check_names("names", names, "the columns of an array"))
        return cls(known, len(known))

    def phrase(self) -> str:
        """The number of features, for a model's repr."""
        return "" if self.count is None else f" of {self.count} feature{'s' * (self.count != 1)}"

    def arrays(self, batch: Any) -> Arrays:
        """One array for each of the model's features, by name; an array's columns are x0, x1, ... by default."""
        if isinstance(batch, Mapping):
            return {name: np.asarray(batch[key]) for name, key in self._keys(list(batch)).items()}
        if (frame := as_table(batch)) is not None:
            return {name: frame[key].to_numpy() for name, key in self._keys(frame.columns).items()}
        array = self._checked(batch)
        names = self.names or [f"x{i}" for i in range(array.shape[1])]
        return dict(zip(names, array.T, strict=True))

    def plain(self, batch: Any) -> dict[str, list[Any]]:
        """The same as JSON can hold it: None where a number is missing."""
        return {name: [_or_null(value) for value in column.tolist()] for name, column in self.arrays(batch).items()}

    def matrix(self, batch: Any) -> NDArray[Any]:
        """A 2-D array, rows by the model's features: of numbers, or of objects where some feature holds text."""
        if isinstance(batch, Mapping) or as_table(batch) is not None:
            columns = list(self.arrays(batch).values())
            if all(column.dtype.kind in "biuf" for column in columns):
                return np.column_stack(columns)
            mixed = np.empty((len(columns[0]), len(columns)), object)
            for place, column in enumerate(columns):
                mixed[:, place] = column
            return mixed
        return self._checked(batch)

    def numbers(self, batch: Any) -> NDArray[np.float64]:
        """The matrix as floats; for models that know nothing but numbers."""
        matrix = self.matrix(batch)
        if matrix.dtype.kind in "biuf":
            return matrix.astype(np.float64, copy=False)
        arrays = self.arrays(batch)
        return np.column_stack([converted(name, column, np.float64) for name, column in arrays.items()])

    def table(self, batch: Any) -> Any:
        """A pandas or polars table as it came, with the model's columns; anything else becomes a pandas table."""
        frame = None if isinstance(batch, Mapping) else as_table(batch)
        if frame is None or frame.implementation.is_pyarrow():
            return need("pandas", "pandas", "models that were fitted on a table").DataFrame(self.arrays(batch))
        keys = self._keys(frame.columns)
        if list(keys) == frame.columns:
            return batch
        return frame.select(list(keys.values())).rename({key: name for name, key in keys.items()}).to_native()

    def pandas(self, batch: Any) -> Any:
        """A pandas table with the model's columns."""
        table = self.table(batch)
        frame = nw.from_native(table)
        return table if frame.implementation.is_pandas() else frame.to_pandas()

    def _keys(self, found: Sequence[str]) -> dict[str, str]:
        """For each of the model's features, in its order, the key of its column in the batch."""
        if self.names is None:
            self._check_count(len(found))
            return {str(key): key for key in found}
        # LightGBM writes an underscore for every blank in a name.
        spelled = {"_".join(str(key).split(" ")): key for key in found} | {str(key): key for key in found}
        if missing := [name for name in self.names if name not in spelled]:
            raise ParameterError(
                f"the batch must have the model's {len(self.names)} features; missing: {_listed(missing)}. It has "
                f"{_listed(found)}. Name the features of the space like those of the model"
            )
        return {name: spelled[name] for name in self.names}

    def _checked(self, batch: Any) -> NDArray[Any]:
        array = np.asarray(batch)
        if array.ndim != 2:
            raise ParameterError(f"a batch must be a 2-D array, rows by features; got shape {array.shape}")
        self._check_count(array.shape[1])
        return array

    def _check_count(self, found: int) -> None:
        if self.count is not None and found != self.count:
            raise ParameterError(f"the model takes {self.count} features; the batch has {found}")


def count_rows(batch: Any) -> int:
    """Number of inputs in a batch."""
    return len(next(iter(batch.values()), ())) if isinstance(batch, Mapping) else len(batch)


def _or_null(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def converted(name: str, column: NDArray[Any], kind: Any) -> NDArray[Any]:
    """A feature's values in the type that a model takes."""
    try:
        if column.dtype.kind == "O" and np.dtype(kind).kind == "f":  # pandas' NA is no number
            return np.array([np.nan if is_missing(value) else value for value in column.tolist()]).astype(kind)
        return column.astype(kind)
    except (TypeError, ValueError):
        raise ParameterError(
            f"the model takes numbers for feature {name!r}; the batch holds {column.tolist()[0]!r} there. "
            f"Encode it as the model's training data was encoded"
        ) from None


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(repr(name) for name in names[:5]) + more


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
    def labels(self, batch: Any) -> Any:
        """The label of each input of a batch that is not empty, as any target may answer."""

    def __call__(self, batch: Any) -> NDArray[Any]:
        rows = count_rows(batch)
        if not rows:  # most libraries refuse an empty batch
            return np.array(self.classes or (0,))[:0]
        labels = as_answered(self.labels(batch))
        if labels.shape == (rows, 1):
            labels = labels[:, 0]
        if labels.shape != (rows,):
            raise not_one_each(repr(self), rows, labels.shape)
        return labels

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}{self.columns.phrase()}>"
