"""Tables from files, by the library that is installed for them."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from fidelitree.errors import FormatError, MissingExtraError, ParameterError

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_PARQUET = (".parquet", ".pq")
Backend = Literal["pandas", "polars", "pyarrow"]


def read_table(path: Path, drop: Sequence[str] = ()) -> Any:
    """A pandas, polars or arrow table, without the columns to drop."""
    import narwhals as nw

    suffix = path.suffix.lower()
    if suffix not in (*_SEPARATORS, *_PARQUET):
        raise ParameterError(
            f"--data must be a table ending in {', '.join((*_SEPARATORS, *_PARQUET))}; got {str(path)!r}"
        )
    if not path.is_file():
        raise ParameterError(f"--data names a file that does not exist: {str(path)!r}")
    backend, header = _backend(suffix in _PARQUET), []
    try:
        if suffix in _PARQUET:
            table = nw.read_parquet(str(path), backend=backend)
        else:
            header = _header(path, _SEPARATORS[suffix])
            table = nw.read_csv(str(path), backend=backend, separator=_SEPARATORS[suffix])
    except Exception as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise FormatError(f"{path.name} cannot be read as a table by {backend}: {first}") from error
    _check_names(header, path)
    check_columns("--drop", drop, table.columns, path)
    return table.drop(list(drop)).to_native()


def _header(path: Path, separator: str) -> list[str]:
    """The names as the file has them: libraries give new ones to columns that share a name."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        return next((names for names in csv.reader(file, delimiter=separator) if names), [])


def _check_names(names: Sequence[str], path: Path) -> None:
    for name, count in Counter(names).items():
        if name and count > 1:
            raise FormatError(
                f"{path.name} must have one column of each name; {count} are called {name!r} - rename them, or keep one"
            )


def check_columns(option: str, wanted: Sequence[str], found: Sequence[str], path: Path) -> None:
    """Refuse a column that the table does not have."""
    for name in wanted:
        if name not in found:
            known = ", ".join(found[:12]) + (", ..." if len(found) > 12 else "")
            raise ParameterError(f"{option} must name a column of {path.name} ({known}); got {name!r}")


def _backend(parquet: bool) -> Backend:
    """The first library that is there; pandas reads Parquet with the help of pyarrow only."""
    if find_spec("pandas") and (find_spec("pyarrow") or not parquet):
        return "pandas"
    if find_spec("polars"):
        return "polars"
    if find_spec("pyarrow"):
        return "pyarrow"
    needs = "pandas and pyarrow, or polars" if parquet else "pandas, polars or pyarrow"
    raise MissingExtraError(
        f"--data needs {needs}, which are not installed; install pandas with: pip install 'fidelitree[pandas]'"
    )
