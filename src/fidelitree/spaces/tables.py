"""Features read off a table: each column's kind, its marginal, and how to write more rows like it.

Truth values become bits; numbers become numeric features with their observed values; strings, categories and objects
become categories with their observed frequencies. A missing value is a value of its own, of numbers as of categories:
None, NaN, the NA of pandas, the null of polars and arrow. Batches have it as the column had it.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import ParameterError, check_names, check_text, show, warn
from fidelitree.spaces.batches import Cast, Layout, LikeTable, Palette, Writer
from fidelitree.spaces.features import Boolean, Categorical, Feature, Numeric
from fidelitree.spaces.inputs import (
    Column,
    Floats,
    as_column,
    as_table,
    categories,
    is_missing,
    numbers,
    object_numbers,
)

_FEW, _NEARLY_ALL = 20, 0.95  # texts, and of the rows: more of them are an identifier
_TIMES = (dt.date, dt.time, dt.timedelta)
_NUMPY_TYPES = {
    **{f"Int{size}": f"int{size}" for size in (8, 16, 32, 64)},
    **{f"UInt{size}": f"uint{size}" for size in (8, 16, 32, 64)},
    **{f"Float{size}": f"float{size}" for size in (32, 64)},
}
_STORABLE = (*_NUMPY_TYPES, "Boolean", "String", "Categorical")
_WAY_OUT = "turn it into numbers or categories first, or leave it out"
_DATES = "turn it into numbers first, such as days since a date, and back inside the target; or leave it out"


def read_table(table: Any, categorical: Iterable[str], numeric: Iterable[str]) -> tuple[list[Feature], Layout]:
    """The features of a table's columns, and the layout of batches like it."""
    columns = columns_of(table)
    forced = _forced(columns, categorical, numeric)
    features: list[Feature] = []
    writers: dict[str, Writer] = {}
    for name, column in columns.items():
        if not len(column):
            raise ParameterError("table must have at least one row; got none")
        kind = forced.get(name) or _kind(column, name)
        if name not in forced and _is_empty(column):
            raise ParameterError(
                f"column {name!r} holds missing values only, and nothing can be learnt from it - leave it out, or name "
                f"it in categorical where the target needs it"
            )
        feature, writers[name] = _READERS[kind](column, name)
        features.append(feature)
        if name not in forced and len(feature.values or ()) > max(_FEW, _NEARLY_ALL * len(column)):
            warn(
                f"column {name!r} has {len(feature.values or ()):,} different texts in {len(column):,} rows, as an "
                f"identifier has, and a tree learns nothing from one - leave it out, or name it in categorical where "
                f"the target needs it"
            )
    return features, LikeTable(writers, _JOINERS[_backend(table)], _described(table, columns))


def columns_of(table: Any) -> dict[str, Column]:
    """The columns of a table by name; those of a 2-D array are called x0, x1, ..."""
    if isinstance(table, Mapping):
        columns: dict[str, Column] = {name: as_column(column, name) for name, column in table.items()}
    elif isinstance(table, np.ndarray) and table.ndim == 2:
        columns = {f"x{i}": column for i, column in enumerate(table.T)}
    else:
        frame = as_table(table)
        if frame is None:
            raise ParameterError(
                f"table must be a pandas, polars or arrow table, a mapping of name to 1-D array, or a 2-D array; got "
                f"{type(table).__name__}"
            )
        columns = {name: frame[name] for name in _check_names(frame.columns)}
    for name, column in zip(_check_names(columns), columns.values(), strict=True):
        if column.ndim != 1 if isinstance(column, np.ndarray) else False:
            raise ParameterError(f"column {name!r} must be a 1-D array; got shape {column.shape}")
    if len({len(column) for column in columns.values()}) > 1:
        raise ParameterError("columns of a table must have one length")
    if not columns:
        raise ParameterError("table must have at least one column; got none")
    return columns


def some_rows(table: Any, most: int) -> Any:
    """At most so many rows of a table that `columns_of` can read, from all over it."""

    def places(rows: int) -> NDArray[np.intp]:
        return np.linspace(0, rows - 1, min(rows, most)).astype(np.intp)

    if isinstance(table, Mapping):
        columns = columns_of(table)
        return {name: column[places(len(column))] for name, column in columns.items()}
    if isinstance(table, np.ndarray):
        return table[places(len(table))]
    frame = as_table(table)
    assert frame is not None, "anything else was refused before"
    return frame[places(len(frame)), :].to_native()


def _check_names(names: Iterable[Any]) -> list[str]:
    """Names of columns; pandas also has numbers, tuples and None for them."""
    found = list(names)
    for name in found:
        if not isinstance(name, str):
            raise ParameterError(
                f"columns of a table must have strings as names; got {show(name)} - rename them, such as by str"
            )
        check_text("name of a column", name)
    return found


def _backend(table: Any) -> str:
    """The kind of a table in a word."""
    if isinstance(table, Mapping):
        return "dict"
    return "array" if isinstance(table, np.ndarray) else str(nw.get_native_namespace(table).__name__)


def _described(table: Any, columns: Mapping[str, Column]) -> dict[str, Any] | None:
    """What `like_table` makes batches of; None where a column's type has no simple name."""
    types = {name: _type_name(column) for name, column in columns.items()}
    return None if None in types.values() else {"table": _backend(table), "types": types}


def _type_name(column: Column) -> str | None:
    if isinstance(column, np.ndarray):
        return "str" if column.dtype.kind == "U" else column.dtype.name
    name = str(column.dtype)
    return name if name in _STORABLE else None


def column_types(table: Any) -> dict[str, str]:
    """For each column the name of its type, as far as batches tell types apart."""
    return {name: _type_name(column) or str(column.dtype) for name, column in columns_of(table).items()}


def like_table(features: Sequence[Feature], described: Mapping[str, Any]) -> LikeTable:
    """Batches like a table that is not there any more, from the kind of table and the types of its columns."""
    backend, types = described["table"], described["types"]
    if backend not in _JOINERS or set(types) != {feature.name for feature in features}:
        raise ParameterError(
            f"table must be one of {', '.join(_JOINERS)}, with a type for each feature; got {backend!r}"
        )
    writers = {feature.name: _writer_like(feature, backend, types[feature.name]) for feature in features}
    return LikeTable(writers, _JOINERS[backend], dict(described))


def _writer_like(feature: Feature, backend: str, kind: str) -> Writer:
    values = list(feature.values or ()) if feature.kind == "categorical" else feature.listed(None)[0].tolist()
    try:
        column = _column_like(feature.name, values, backend, kind)
    except Exception as error:  # each library has errors of its own for values that are not of a type
        raise ParameterError(
            f"values of feature {feature.name!r} are not of type {kind!r:.40}: {error!s:.200}"
        ) from error
    if feature.kind == "numeric":
        return _number_writer(column, feature.name, numbers(column, feature.name, gaps=True))
    return Palette(feature.name, None, _native(column))


def _column_like(name: str, values: list[Any], backend: str, kind: str) -> Column:
    if backend in ("array", "dict"):
        return np.array(values, kind)
    if kind not in _STORABLE:
        raise TypeError(f"types are {', '.join(_STORABLE)}")
    if kind in _NUMPY_TYPES and any(map(is_missing, values)):
        return _with_gap(name, [None if is_missing(value) else value for value in values], backend, kind)
    plain = {"Boolean": "bool", **_NUMPY_TYPES}.get(kind)
    exact = values if plain is None else np.array(values, plain).tolist()
    return nw.new_series(name, exact, getattr(nw, kind), backend=backend)  # type: ignore[arg-type]


def _with_gap(name: str, values: list[Any], backend: str, kind: str) -> Column:
    """Numbers of which one is missing; pandas has types of its own for whole ones."""
    plain = np.dtype(_NUMPY_TYPES[kind])
    exact = [None if value is None else plain.type(value).item() for value in values]
    if backend == "pandas":
        pandas = nw.Implementation.PANDAS.to_native_namespace()
        dtype = plain if plain.kind == "f" else kind
        series: Column = nw.from_native(pandas.Series(exact, dtype=dtype, name=name), series_only=True)
        return series
    return nw.new_series(name, exact, getattr(nw, kind), backend=backend)  # type: ignore[arg-type]


def _stacked(columns: dict[str, Any]) -> Any:
    return np.stack(list(columns.values())).T


def _side_by_side(columns: dict[str, Any]) -> Any:
    # Building a table from a mapping would lose types such as arrow's dictionaries.
    return nw.concat([column.to_frame() for column in columns.values()], how="horizontal").to_native()


def _pandas_frame(columns: dict[str, Any]) -> Any:
    pandas = nw.Implementation.PANDAS.to_native_namespace()
    # Objects are wrapped, or pandas would guess a type for them.
    kept = {name: pandas.Series(c, dtype=object) if c.dtype == object else c for name, c in columns.items()}
    return pandas.DataFrame(kept)


def _native(column: Column) -> Any:
    """A column that a batch can be joined of: pandas' own arrays, which have no index to be matched."""
    if isinstance(column, np.ndarray) or not column.implementation.is_pandas():
        return column
    native = column.to_native()
    return native.to_numpy() if native.dtype == object else native.array


def _forced(columns: Mapping[str, Column], categorical: Iterable[str], numeric: Iterable[str]) -> dict[str, str]:
    forced: dict[str, str] = {}
    for parameter, names in (("categorical", categorical), ("numeric", numeric)):
        for name in [names] if isinstance(names, str) else check_names(parameter, names, "names of columns"):
            if name not in columns:
                known = ", ".join(list(columns)[:8]) + (", ..." if len(columns) > 8 else "")
                raise ParameterError(f"{parameter} must hold names of columns ({known}); got {name!r}")
            if forced.setdefault(name, parameter) != parameter:
                raise ParameterError(f"column {name!r} cannot be both categorical and numeric")
    return forced


def _is_empty(column: Column) -> bool:
    """Whether a column holds nothing but missing values."""
    if isinstance(column, np.ndarray):
        if column.dtype.kind == "f":
            return bool(np.isnan(column).all())
        return column.dtype.kind == "O" and all(map(is_missing, column.tolist()))
    floats = column.dtype.is_float() and bool(column.is_nan().all())
    return floats or column.null_count() == len(column)


def _kind(column: Column, name: str) -> str:
    kind = _kind_of_array(column) if isinstance(column, np.ndarray) else _kind_of_series(column)
    if kind is None and _is_time(column):
        raise ParameterError(f"column {name!r} holds dates or times, which cannot be features; {_DATES}")
    if kind is None:
        raise ParameterError(f"column {name!r} is {column.dtype}, which cannot be a feature; {_WAY_OUT}")
    return kind


def _is_time(column: Column) -> bool:
    if isinstance(column, np.ndarray):
        return column.dtype.kind in "mM"
    return bool(column.dtype.is_temporal())


def _kind_of_series(column: nw.Series[Any]) -> str | None:
    dtype = column.dtype
    if dtype == nw.Boolean:
        return "categorical" if column.null_count() else "boolean"
    if dtype.is_numeric():
        return "numeric"
    return "categorical" if dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object) else None


def _kind_of_array(column: np.ndarray[Any, Any]) -> str | None:
    if column.dtype.kind == "O":
        values = column.tolist()
        kinds = {type(value) for value in values if not is_missing(value)}
        if kinds == {bool}:
            return "categorical" if any(map(is_missing, values)) else "boolean"
        return "numeric" if kinds and kinds <= {int, float} else "categorical"
    return {"b": "boolean", "i": "numeric", "u": "numeric", "f": "numeric", "U": "categorical"}.get(column.dtype.kind)


def _read_bits(column: Column, name: str) -> tuple[Feature, Writer]:
    ones = numbers(column, name)
    one = column[np.array([0])]
    other = ~one if isinstance(one, nw.Series) else np.logical_not(one).astype(one.dtype)
    pair = (other, one) if ones[0] else (one, other)
    rows = nw.concat([s.to_frame() for s in pair])[name] if isinstance(one, nw.Series) else np.concatenate(pair)
    return Boolean(name, float(ones.mean())), Palette(name, None, _native(rows))


def _read_numbers(column: Column, name: str) -> tuple[Feature, Writer]:
    found = numbers(column, name, gaps=True)
    dtype, known = column.dtype, found[~np.isnan(found)]
    if isinstance(column, np.ndarray) and column.dtype.kind == "O":
        _check_types(categories(column), name)
        whole = object_numbers(column)[1]
    else:
        whole = dtype.kind in "biu" if isinstance(dtype, np.dtype) else dtype.is_integer()
    values = known.astype(np.int64) if whole else known
    feature = Numeric.from_values(name, values if len(known) else found)
    if len(known) < len(found):
        feature = feature.with_missing((len(found) - len(known)) / len(found))
    return feature, _number_writer(column, name, found)


def _number_writer(column: Column, name: str, found: Floats) -> Writer:
    return _cast(column, name, bool(np.isnan(found).any())) or _numbers_palette(column, name, found)


def _numbers_palette(column: Column, name: str, found: Floats) -> Palette:
    different, first = np.unique(found, return_index=True)
    return Palette(name, different, _native(column[first]))


def _cast(column: Column, name: str, gaps: bool) -> Cast | None:
    """A quick way to write numbers, where it gives exactly the column's type, and its own missing value."""
    if isinstance(column, np.ndarray):
        return Cast(name, column.dtype, _as_is) if column.dtype.kind in "iuf" else None
    native, dtype = column.to_native(), _NUMPY_TYPES.get(str(column.dtype))
    if dtype is None:
        return None
    if column.implementation.is_pandas():
        return Cast(name, np.dtype(dtype), _as_is) if native.dtype == dtype else None
    if gaps:  # null, which NumPy does not have
        return None
    return Cast(name, np.dtype(dtype), partial(_series, name, column.dtype, column.implementation))


def _as_is(values: NDArray[Any]) -> NDArray[Any]:
    return values


def _series(name: str, dtype: Any, backend: nw.Implementation, values: NDArray[Any]) -> nw.Series[Any]:
    return nw.new_series(name, values, dtype, backend=backend)  # type: ignore[arg-type]


def _read_categories(column: Column, name: str) -> tuple[Feature, Writer]:
    found = categories(column)
    try:
        counts = Counter(found)
    except TypeError:
        raise ParameterError(f"column {name!r} holds values that cannot be categories; {_WAY_OUT}") from None
    for value in counts:
        if isinstance(value, _TIMES):
            raise ParameterError(f"column {name!r} holds dates or times, which cannot be features; {_DATES}")
    first = _check_types(found, name)
    order = _in_order(list(counts), column)
    rows = column[np.array([first[value] for value in order])]
    return Categorical.from_counts(name, {value: counts[value] for value in order}), Palette(name, None, _native(rows))


def _check_types(found: list[Any], name: str) -> dict[Any, int]:
    """The first row of each value. Refuse 1, 1.0 and True in one column: they are equal, and a target may differ."""
    first: dict[Any, int] = {}
    for row, value in enumerate(found):
        first.setdefault(value, row)
    for value in found if len({type(value) for value in found}) > 1 else ():
        other = found[first[value]]
        if type(value) is not type(other):
            raise ParameterError(
                f"column {name!r} must hold equal values of one type; got {show(other)} ({type(other).__name__}) and "
                f"{show(value)} ({type(value).__name__}) - turn them into one type first, or into text"
            )
    return first


def _in_order(values: list[Any], column: Column) -> list[Any]:
    """The order of the column's type where it has one, else increasing, else as met; a missing value is last."""
    present = [value for value in values if value is not None]
    if not isinstance(column, np.ndarray) and isinstance(column.dtype, nw.Enum):
        known = set(present)
        present = [value for value in column.dtype.categories if value in known]
    else:
        try:
            present = sorted(present)
        except TypeError:
            present = list(present)
    return present + [None] * (len(values) - len(present))


# How columns become a table of the same kind; functions with names, so that spaces can be pickled.
_JOINERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "dict": dict,
    "array": _stacked,
    "pandas": _pandas_frame,
    "polars": _side_by_side,
    "pyarrow": _side_by_side,
}
_READERS = {"boolean": _read_bits, "numeric": _read_numbers, "categorical": _read_categories}
