"""Batches: inner values turned into what a target receives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import ParameterError, check_choice

if TYPE_CHECKING:
    from fidelitree.spaces.features import Feature
    from fidelitree.spaces.inputs import Floats

Kind = Literal["dict", "pandas", "polars", "arrow"]
_BACKENDS = {"pandas": "pandas", "polars": "polars", "arrow": "pyarrow"}
KINDS = ("dict", *_BACKENDS)


@dataclass(frozen=True)
class Bytes:
    """Bits as they are."""

    def batch(self, inner: NDArray[Any]) -> Any:
        """A batch in memory of its own, or ``inner`` itself."""
        return inner

    def describe(self) -> dict[str, Any]:
        """Plain data that names these batches; None where nothing but the user's own table can."""
        return {"batch": None}


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

    def describe(self) -> dict[str, Any]:
        return {"batch": self.kind}


@dataclass(frozen=True)
class Palette:
    """One row of the user's column for each inner value.

    ``inner`` holds the numbers that the rows stand for; None where the inner value is the row's place.
    """

    name: str
    inner: Floats | None
    rows: Any

    def column(self, wanted: Floats) -> Any:
        if self.inner is None:
            return self.rows[wanted.astype(np.intp)]
        places = np.minimum(np.searchsorted(self.inner, wanted), len(self.inner) - 1)  # a missing one is last
        if not np.array_equal(self.inner[places], wanted, equal_nan=True):
            raise ParameterError(f"feature {self.name!r} must have values of the table in a batch; got others")
        return self.rows[places]


@dataclass(frozen=True)
class Cast:
    """Numbers in a column that NumPy can fill directly, which is faster than looking each of them up."""

    name: str
    dtype: np.dtype[Any]
    make: Callable[[NDArray[Any]], Any]

    def column(self, wanted: Floats) -> Any:
        cast = wanted.astype(self.dtype)
        if self.dtype.kind != "f" and (cast != wanted).any():
            raise ParameterError(f"feature {self.name!r} must have whole numbers in a batch; got others")
        return self.make(cast)


@dataclass(frozen=True)
class LikeTable:
    """The same kind of table as the user's: same columns, order and types; ``join`` makes it of its columns.

    ``described`` names the kind of table and the types of its columns, where they have names.
    """

    writers: Mapping[str, Palette | Cast]
    join: Callable[[dict[str, Any]], Any]
    described: dict[str, Any] | None = None

    def batch(self, inner: NDArray[Any]) -> Any:
        return self.join({name: writer.column(inner[:, i]) for i, (name, writer) in enumerate(self.writers.items())})

    def describe(self) -> dict[str, Any] | None:
        return self.described


Writer: TypeAlias = Palette | Cast
"""Turns inner values of one feature into a column of the user's own type."""
Layout: TypeAlias = Bytes | Made | LikeTable
"""Turns inner values, rows by features, into a batch for the target."""


def layout(features: Sequence[Feature], kind: str | None) -> Layout:
    """What a target of these features receives when no table says otherwise."""
    if kind is None:
        return Bytes() if all(feature.kind == "boolean" for feature in features) else Made(features, "dict")
    check_choice("batch", kind, KINDS)
    for feature in features:
        kinds = {type(value) for value in feature.values or () if value is not None}
        if kind in ("polars", "arrow") and (len(kinds) > 1 or not kinds <= {str, int, float, bool}):
            raise ParameterError(
                f"batch={kind!r} needs columns of one type; feature {feature.name!r} has values of types "
                f"{', '.join(sorted(found.__name__ for found in kinds))} - use 'dict' or 'pandas'"
            )
    return Made(features, kind)  # type: ignore[arg-type]
