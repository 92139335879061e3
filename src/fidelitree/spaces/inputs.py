"""What users hand over as inputs, checked and brought to one form: inner values, rows by features."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import RAISED, ParameterError, check_array, show, warn

Floats = NDArray[np.float64]
Column = nw.Series[Any] | NDArray[Any]
MOST = 2.0**53
"""Whole numbers below this size are exact as floats."""
UNKNOWN = -1
"""The code of a category that a feature does not have."""


def as_bits(inputs: Any, names: tuple[str, ...]) -> NDArray[np.uint8]:
    """A 2-D array of bits with one column per feature; not copied when it is bytes already."""
    array = check_array("inputs", inputs, what="a table, a mapping of name to column, or a 2-D array")
    if array.ndim != 2 or array.shape[1] != len(names):
        raise ParameterError(
            f"inputs must be a 2-D array with one column for each of the {len(names)} features; got shape {array.shape}"
        )
    if array.dtype == np.bool_:
        return array.view(np.uint8)
    if array.dtype == np.uint8 and (array.size == 0 or array.max() <= 1):
        return array
    wrong = np.argwhere(~((array == 0) | (array == 1)))
    if len(wrong):
        row, column = wrong[0]
        raise ParameterError(
            f"inputs must hold 0 and 1 only; got {array.item(row, column)!r} for feature {names[column]!r} in row {row}"
        )
    return array.astype(np.uint8)


def as_inner(
    inputs: Any,
    names: tuple[str, ...],
    kinds: Sequence[str],
    values: Sequence[tuple[Any, ...] | None],
    gaps: Container[int] = (),
) -> NDArray[Any]:
    """Inner values of anything that holds inputs: a table, a mapping of name to 1-D array, a 2-D array.

    Tables and mappings are read by name and may hold more columns; arrays by position. A category that is not among
    ``values[i]`` gets the code -1; a missing number is NaN where feature i may have ``gaps``, else it is refused.
    """
    bits_only = list(kinds).count("boolean") == len(kinds)  # counted in C: there may be thousands
    columns = _named_columns(inputs, names)
    if columns is None:
        if bits_only:
            return as_bits(inputs, names)
        array = inputs if isinstance(inputs, np.ndarray) else check_array("inputs", inputs, object, "rows of values")
        if array.ndim != 2 or array.shape[1] != len(names):
            raise ParameterError(
                f"inputs must be a table, a mapping of name to column, or a 2-D array with one column for each of the "
                f"{len(names)} features; got shape {array.shape}"
            )
        columns = list(array.T)
    inner = np.empty((len(names), len(columns[0])))
    for i, (row, column, name, kind, known) in enumerate(zip(inner, columns, names, kinds, values, strict=True)):
        row[:] = numbers(column, name, i in gaps) if known is None else category_codes(column, name, known)
        if kind == "boolean" and not ((row == 0) | (row == 1)).all():
            wrong = row[(row != 0) & (row != 1)][0]
            raise ParameterError(f"inputs must hold 0 and 1 only for feature {name!r}; got {wrong:g}")
    return inner.T.astype(np.uint8) if bits_only else inner.T


def told_of_new(inner: NDArray[Any], names: Sequence[str], kinds: Sequence[str], used: Iterable[int]) -> NDArray[Any]:
    """Inner values, with a warning of categories that were not there when a tree was made that asks for them."""
    for i in used:
        if kinds[i] == "categorical" and (new := int(np.count_nonzero(inner[:, i] == -1))):
            warn(
                f"feature {names[i]!r} has a category in {new:,} of {len(inner):,} rows that the tree has never seen: "
                f"it goes where no set of the tree names it, and no certificate speaks of such rows"
            )
    return inner


def float_block(inputs: Any, names: tuple[str, ...], kinds: Sequence[str]) -> Floats | None:
    """Inputs that are one array of floats already, as they are: no copy, and missing numbers are not looked for."""
    if isinstance(inputs, Mapping) or (isinstance(inputs, np.ndarray) and inputs.dtype != np.float64):
        return None
    if list(kinds).count("numeric") < len(kinds):
        return None
    array = inputs
    if not isinstance(inputs, np.ndarray):
        table = as_table(inputs)
        if table is None or table.columns != list(names) or any(kind != nw.Float64 for kind in table.schema.dtypes()):
            return None
        array = table.to_numpy()
    whole = array.flags.c_contiguous or array.flags.f_contiguous
    fits = array.dtype == np.float64 and array.ndim == 2 and array.shape[1] == len(names) and array.flags.aligned
    return array if fits and whole and array.size else None


def _named_columns(inputs: Any, names: tuple[str, ...]) -> list[Column] | None:
    """The columns with these names; None where inputs have no names."""
    found: Mapping[str, Any]
    if isinstance(inputs, np.ndarray):
        return None  # at once: there may be thousands of names
    wanted = frozenset(names)
    if isinstance(inputs, Mapping):
        found = {name: as_column(column, name) for name, column in inputs.items() if name in wanted}
    else:
        table = as_table(inputs)
        if table is None:
            return None
        found = {name: table[name] for name in table.columns if name in wanted}
    missing = [name for name in names if name not in found]
    if missing:
        raise ParameterError(f"inputs must have a column for every feature; {missing[0]!r} is missing")
    columns = [found[name] for name in names]
    if len({len(column) for column in columns}) > 1:
        raise ParameterError("inputs must have columns of one length")
    return columns


def as_column(values: Any, name: object) -> NDArray[Any]:
    """A column as an array; text that ends with NUL stays a list of objects, for NumPy would drop the NUL."""
    found = check_array(f"column {show(name)}", values, what="a 1-D array")
    if found is not values and found.dtype.kind == "U" and found.ndim == 1 and isinstance(values, Iterable):
        each = np.array(list(values), object)
        if any(isinstance(value, str) and value.endswith("\0") for value in each.flat):
            return each
    return found


def as_table(inputs: Any) -> nw.DataFrame[Any] | None:
    """A pandas, polars or arrow table behind one interface; None for anything else."""
    try:
        table = nw.from_native(inputs, eager_only=True, pass_through=True)
    except RAISED as error:  # pandas allows names that no other table does: tuples, None, one name twice
        told = " ".join(str(error).split())
        raise ParameterError(
            f"columns of a table must have different texts as names; {told:.200} - rename columns, or leave some out"
        ) from None
    return table if isinstance(table, nw.DataFrame) else None


def is_missing(value: Any) -> bool:
    """Whether a single value is None, NaN or the NA of pandas."""
    nan = isinstance(value, (float, np.floating)) and bool(np.isnan(value))
    return value is None or nan or type(value).__name__ == "NAType"


def object_numbers(column: NDArray[Any]) -> tuple[Floats, bool]:
    """Objects as floats, what is missing as NaN; and whether all that are there are whole numbers."""
    known = [None if is_missing(value) else value for value in column.tolist()]
    whole = all(isinstance(value, int) for value in known if value is not None)
    return np.array([np.nan if value is None else value for value in known], np.float64), whole


def numbers(column: Column, name: str, gaps: bool = False) -> Floats:
    """A column of numbers or truth values as floats; integers must be exact, and none may be missing without gaps."""
    try:
        if isinstance(column, np.ndarray):
            found, whole = column, column.dtype.kind in "iu"
        else:
            if not (column.dtype.is_numeric() or column.dtype in (nw.Boolean, nw.Object)):
                raise TypeError
            whole = column.dtype.is_integer()
            objects = column.dtype == nw.Object
            found = np.array(column.to_list(), object) if objects else column.cast(nw.Float64).to_numpy()  # null is NaN
        found = object_numbers(found)[0] if found.dtype.kind == "O" else found.astype(np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"feature {name!r} must hold numbers; got a column of {column.dtype}") from None
    missing = np.isnan(found)
    if missing.any() and not gaps:
        raise ParameterError(
            f"feature {name!r} must hold numbers; {int(missing.sum())} of {len(found)} are missing - fill them in, or "
            f"leave the rows out"
        )
    found[missing] = np.nan  # of one kind, so that equal inputs are equal bytes
    if whole and np.abs(found).max(initial=0, where=~missing) >= MOST:
        raise ParameterError(
            f"integers of feature {name!r} must be below 2^53 in size; got {np.nanmax(np.abs(found)):.0f}"
        )
    return np.asarray(found)


def categories(column: Column) -> list[Any]:
    """The values of a column, None where one is missing."""
    if isinstance(column, np.ndarray):
        values = column.tolist()
    else:
        values = column.to_list()
        for row in np.flatnonzero(column.is_null().to_numpy()):
            values[row] = None
    return [None if is_missing(value) else value for value in values]


def category_codes(column: Column, name: str, values: Sequence[Any]) -> Floats:
    """The position of each value of a column among the feature's values."""
    code = {value: position for position, value in enumerate(values)}
    try:
        return np.array([code.get(value, UNKNOWN) for value in categories(column)], np.float64)
    except TypeError:
        raise ParameterError(f"feature {name!r} must hold categories; got a column of {column.dtype}") from None


def one_form(rows: Floats) -> Floats:
    """Inner values of which equal ones are equal bytes: -0.0 is 0.0, and every missing number the same NaN."""
    with np.errstate(invalid="ignore"):  # some bits of a NaN are a signal
        found = rows + 0.0
    found[np.isnan(found)] = np.nan
    return np.asarray(found)


def row_keys(rows: NDArray[Any]) -> list[bytes]:
    """One key for every row of inner values, equal where the inputs are."""
    if len(rows) == 1 and rows.dtype == np.uint8:  # walks ask for one input at a time
        return [np.packbits(rows).tobytes()]
    packed = np.packbits(rows, axis=1) if rows.dtype == np.uint8 else one_form(rows)
    lines = np.ascontiguousarray(packed).view(f"V{packed.shape[1] * packed.itemsize}")
    keys: list[bytes] = lines.ravel().tolist()
    return keys
