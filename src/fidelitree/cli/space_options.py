"""Where inputs come from, on the command line: a table, a space file, equal bits, or what the target brings along."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import typer

from fidelitree.cli.ending import note
from fidelitree.cli.target_options import OpenedTarget, number_or_word
from fidelitree.errors import FormatError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.spaces.world import World

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_PARQUET = (".parquet", ".pq")
_KINDS = ("rows", "chow_liu", "mixture", "marginals")
_OF_TABLES = (*_KINDS, "groups", "drop", "categorical", "numeric")
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


@dataclass(frozen=True)
class SpaceOptions:
    """One of --data, --space and --bernoulli; the others belong to one of them."""

    PANEL: ClassVar = "Inputs"
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE",
            help="Inputs like those of a table (.csv .tsv .parquet): a Chow-Liu tree of one half; the other checks it.",
        ),
    ] = None
    rows: Annotated[bool, typer.Option("--rows", help="With --data: its rows as they are.")] = False
    blend: Annotated[
        str | None, typer.Option(metavar="P", help="With --rows: neighbours of rows; P is a number, or auto.")
    ] = None
    chow_liu: Annotated[
        bool, typer.Option("--chow-liu", help="With --data: a Chow-Liu tree of all rows; none is kept for a check.")
    ] = False
    mixture: Annotated[bool, typer.Option("--mixture", help="With --data: a mixture of products fitted to it.")] = False
    marginals: Annotated[
        bool, typer.Option("--marginals", help="With --data: each column by itself, independent of the others.")
    ] = False
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="With --data: keep rows with one entry in this column, such as a person, together; count them once.",
        ),
    ] = None
    drop: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="With --data: leave a column out. Repeatable.")
    ] = None
    categorical: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="With --data: read as categories. Repeatable.")
    ] = None
    numeric: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="With --data: read as numbers. Repeatable.")
    ] = None
    space: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A space file (.toml), or a stored space.json.")
    ] = None
    bernoulli: Annotated[float | None, typer.Option(metavar="P", help="Bits that are 1 with probability P.")] = None
    features: Annotated[int | None, typer.Option(metavar="N", help="With --bernoulli: how many bits.")] = None

    @property
    def given(self) -> bool:
        """Whether inputs were named at all."""
        return self != SpaceOptions()

    def open(self, opened: OpenedTarget) -> World:
        """The space, made to fit what the target knows about its features."""
        self._check()
        space = self._space(opened)
        if opened.names is None and opened.count not in (None, len(space.features)):
            raise ParameterError(f"the target takes {opened.count} features; the space has {len(space.features)}")
        return space

    def _space(self, opened: OpenedTarget) -> World:
        if self.data is not None:
            return self._table(self.data, opened)
        if self.space is not None:
            from fidelitree.certificates.store import load_space

            return load_space(self.space)
        if self.bernoulli is not None:
            return self._bits(self.bernoulli, opened)
        if opened.space is None:
            raise ParameterError(
                "say where inputs come from: --data TABLE, --space FILE, or --bernoulli P --features N"
            )
        return opened.space

    def _check(self) -> None:
        """Refuse options that contradict each other, or that say nothing."""
        ways = [name for name in ("data", "space", "bernoulli") if getattr(self, name) is not None]
        if len(ways) > 1:
            raise ParameterError(f"inputs come from one place: give --{ways[0]} or --{ways[1]}, not both")
        needs = {"bernoulli": ("features",), "data": _OF_TABLES, "rows": ("blend",)}
        ways += ["rows"] if self.rows else []
        for way, options in needs.items():
            for name in options:
                if getattr(self, name) and way not in ways:
                    option, needed = (word.replace("_", "-") for word in (name, way))
                    raise ParameterError(
                        f"--{option} says nothing without --{needed}; leave it out, or give --{needed}"
                    )
        kinds = [f"--{name.replace('_', '-')}" for name in _KINDS if getattr(self, name)]
        if len(kinds) > 1:
            raise ParameterError(f"a table stands for one kind of inputs: give {kinds[0]} or {kinds[1]}, not both")
        if self.groups and self.marginals:
            raise ParameterError(
                "--groups says nothing with --marginals, which splits no rows: leave one of them out; --drop leaves a "
                "column out"
            )

    def _table(self, path: Path, opened: OpenedTarget) -> World:
        from fidelitree.spaces.chow_liu import ChowLiu
        from fidelitree.spaces.given import of_halves
        from fidelitree.spaces.groups import taken_out
        from fidelitree.spaces.mixture import Mixture
        from fidelitree.spaces.product import ProductSpace
        from fidelitree.spaces.rows import Rows

        table, groups = read_table(path, self.drop or ()), None
        if self.groups is not None:
            check_columns("--groups", [self.groups], list(table.columns), path)
            table, groups = taken_out(table, self.groups)
        table = _used(table, opened, path)
        for option in ("categorical", "numeric"):
            check_columns(f"--{option}", getattr(self, option) or (), list(table.columns), path)
        columns = self.categorical or (), self.numeric or ()
        if self.blend is not None:
            return Rows(table, *columns, number_or_word(self.blend), groups=groups)
        if self.marginals:
            return ProductSpace.from_data(table, *columns)
        makers: tuple[Callable[..., World], ...] = Rows, ChowLiu.from_data, Mixture.from_data
        for kind, make in zip(_KINDS, makers, strict=False):  # the last kind is made above
            if getattr(self, kind):
                return make(table, *columns, groups=groups)
        return of_halves(ProductSpace.from_data(table, *columns), table, groups)  # as in Python for a table

    def _bits(self, p: float, opened: OpenedTarget) -> ProductSpace:
        from fidelitree.spaces.product import ProductSpace

        count = opened.count if self.features is None else self.features
        if count is None:
            raise ParameterError("--bernoulli P needs --features N: the target does not say how many features it has")
        names = opened.names if opened.names is not None and len(opened.names) == count else None
        return ProductSpace.bernoulli(count, p, names)


def fit_line(world: World) -> list[str]:
    """How well a fitted world describes rows that it has not seen."""
    return [] if world.fit is None else [f"{world.in_words}: {world.fit}"]


def _used(table: Any, opened: OpenedTarget, path: Path) -> Any:
    """The columns that the target uses, where it knows their names; the rest is left out, and said so."""
    import narwhals as nw

    frame = nw.from_native(table, eager_only=True)
    if opened.names is None:
        return table
    spelled = {column.replace(" ", "_"): column for column in frame.columns} | {c: c for c in frame.columns}
    for name in opened.names:
        if name not in spelled:
            known = ", ".join(frame.columns[:12]) + (", ..." if len(frame.columns) > 12 else "")
            raise ParameterError(f"{path.name} lacks the column {name!r}, which the target needs; it has {known}")
    wanted = {spelled[name] for name in opened.names}
    extra = [column for column in frame.columns if column not in wanted]
    if extra:
        note(f"left out of {path.name}, because the target does not use it: {', '.join(extra)}")
    return frame.drop(extra).to_native()
