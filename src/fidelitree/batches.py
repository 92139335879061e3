"""Batches: inner values turned into what a target receives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import ParameterError
from fidelitree.features import Feature
from fidelitree.inputs import Column, Floats

Kind = Literal["dict", "pandas", "polars", "arrow"]
_BACKENDS = {"pandas": "pandas", "polars": "polars", "arrow": "pyarrow"}
KINDS = ("dict", *_BACKENDS)


class Layout(Protocol):
    """Turns inner values, rows by features, into a batch for the target."""

    def batch(self, inner: NDArray[Any]) -> Any: ...


@dataclass(frozen=True)
class Bytes:
    """Bits as they are."""

    def batch(self, inner: NDArray[Any]) -> Any:
        return inner


@dataclass(frozen=True)
class Made:
    """A mapping of name to 1-D array, or a table made of it."""

    features: Sequence[Feature]
    kind: Kind

    def batch(self, inner: NDArray[Any]) -> Any:
        columns = {feature.name: feature.column(inner[:, i]) for i, feature in enumerate(self.features)}
        if self.kind == "dict":
            return columns
        # Objects go as lists: each table then finds its own type for them, with missing values as it writes them.
        plain = {name: column.tolist() if column.dtype == object else column for name, column in columns.items()}
        return nw.from_dict(plain, backend=_BACKENDS[self.kind]).to_native()  # type: ignore[arg-type]


@dataclass(frozen=True)
class Palette:
    """One row of a user's column for each inner value, so that a batch has the column's own type.

    ``inner`` holds the numbers that the rows stand for; None where the row is the code itself.
    """

    name: str
    inner: Floats | None
    rows: Column

    def column(self, wanted: Floats) -> Column:
        """The user's values for inner values."""
        if self.inner is None:
            return self.rows[wanted.astype(np.intp)]
        places = np.minimum(np.searchsorted(self.inner, wanted), len(self.inner) - 1)
        foreign = np.flatnonzero(self.inner[places] != wanted)
        if len(foreign):
            raise ParameterError(f"feature {self.name!r} has no value {wanted[foreign[0]]:g}: it is not in the table")
        return self.rows[places]


@dataclass(frozen=True)
class LikeTable:
    """The same kind of table as the user's: same columns, order and types."""

    palettes: Sequence[Palette]
    kind: Literal["table", "dict", "array"]

    def batch(self, inner: NDArray[Any]) -> Any:
        columns = {palette.name: palette.column(inner[:, i]) for i, palette in enumerate(self.palettes)}
        if self.kind == "dict":
            return columns
        if self.kind == "array":
            return np.stack(list(columns.values())).T
        # Joined side by side: building a table from a mapping loses types such as pandas' categories.
        series = [column for column in columns.values() if isinstance(column, nw.Series)]
        frames = [nw.maybe_reset_index(column).to_frame() for column in series]
        return nw.concat(frames, how="horizontal").to_native()


def layout(features: Sequence[Feature], kind: str | None) -> Layout:
    """What a target of these features receives when no table says otherwise."""
    if kind is None:
        return Bytes() if all(feature.kind == "boolean" for feature in features) else Made(features, "dict")
    if kind not in KINDS:
        raise ParameterError(f"batch must be one of {', '.join(KINDS)}; got {kind!r}")
    for feature in features:
        kinds = {type(value) for value in feature.values or () if value is not None}
        if kind in ("polars", "arrow") and (len(kinds) > 1 or not kinds <= {str, int, float, bool}):
            raise ParameterError(
                f"batch={kind!r} needs columns of one type; feature {feature.name!r} has values of types "
                f"{', '.join(sorted(found.__name__ for found in kinds))} - use 'dict' or 'pandas'"
            )
    return Made(features, kind)  # type: ignore[arg-type]
