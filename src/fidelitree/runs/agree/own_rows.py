"""A table of the user's own, as text, against a tree: how often the tree gives the answers in it.

A cell that is not what its column holds is refused by row and column. Read as something else, it would be counted.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.certificates.confusion import CONFIDENCE
from fidelitree.display.wording import percent, span, whole
from fidelitree.errors import FormatError, ParameterError, show
from fidelitree.theory.sequential import lower_bound, upper_bound
from fidelitree.trees.answers import DEFER, answers_of, apart

if TYPE_CHECKING:
    from fidelitree.trees.tree import Tree

Rows = Sequence[dict[str, str]]
Reader = Callable[[str], Any]
_TRUTH = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}


def agreement(tree: Tree, table: str, column: str, tolerance: float | None = None) -> tuple[str, str]:
    """The share of rows on which they agree, and its interval, provided that the rows are independent draws.

    Rows that the tree defers are left out. With a ``tolerance`` answers agree that are no further apart.
    """
    rows = _rows(table)
    asked = {tree.names[i] for i in tree.as_lists[0] if i >= 0}
    gone = [name for name in (*(name for name in tree.names if name in asked), column) if name not in rows[0]]
    if gone:
        raise ParameterError(f"the table must have the columns {', '.join(gone)}; it has {', '.join(rows[0])}")
    said = tree.predict({name: column_of(tree, i, rows) for i, name in enumerate(tree.names)})
    target = _column(rows, column, *_labels(tree, tolerance))
    both = [pair for pair in zip(said.tolist(), target, strict=True) if pair[0] is not DEFER]
    if not both:
        return f"The tree defers all {whole(len(rows))} rows.", "There is nothing to agree on."
    of, (ours, theirs) = len(both), map(np.array, zip(*both, strict=True))
    right = of - int(apart(ours, theirs, tolerance).sum())
    near = "" if tolerance is None else f" within {tolerance:.6g}"
    exactly = f"They agree{near} on {whole(right)} of {whole(of)} rows, {percent(right / of)}."
    level = (1 - CONFIDENCE) / 2
    ends = span(lower_bound(right, of, level), upper_bound(right, of, level))
    sure = f"With {percent(CONFIDENCE)} confidence, on {ends} of rows like these, if they are independent draws."
    rest = f" The tree defers {whole(len(rows) - of)} more, which are left out." if of < len(rows) else ""
    return exactly, sure + rest


def _rows(table: str) -> Rows:
    """Rows by the names of their columns, each with a cell in every one."""
    try:
        reader = csv.DictReader(io.StringIO(table, newline=""))
        rows, names = list(reader), list(reader.fieldnames or ())
    except csv.Error as error:
        raise FormatError(f"the table must be CSV; it cannot be read: {error}") from None
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise FormatError(f"the table must have each column once; it has {show(twice[0])} more than once")
    for number, row in enumerate(rows, 1):
        if short := [name for name, cell in row.items() if cell is None]:
            raise FormatError(f"row {number} must have a cell in every column; it has none in {show(short[0])}")
        if None in row:
            raise FormatError(f"row {number} must have {len(names)} cells, as the heads have; it has more")
    if not rows:
        raise ParameterError("the table must have at least one row under its heads")
    return rows


def _column(rows: Rows, name: str, read: Reader, wanted: str) -> list[Any]:
    """The cells of a column as values; the first that is none is refused."""
    found = []
    for number, row in enumerate(rows, 1):
        try:
            found.append(read(row[name]))
        except (KeyError, ValueError, OverflowError):
            raise FormatError(f"column {show(name)} must hold {wanted}; row {number} has {show(row[name])}") from None
    return found


def column_of(tree: Tree, i: int, rows: Rows) -> Sequence[Any] | NDArray[Any]:
    """A feature as the tree takes it; one that it does not ask about may be absent."""
    name, known = tree.names[i], tree.values[i] if tree.values else None
    if name not in rows[0]:
        return [0 if tree.kinds[i] == "boolean" else None if known is not None else math.nan] * len(rows)
    if known is not None:
        read = _column(rows, name, lambda cell: _category(cell, known), "categories, in no row a blank")
        return np.array(read, object)  # else one unknown text would make texts of all numbers
    if tree.kinds[i] == "boolean":
        return _column(rows, name, lambda cell: int(_truth(cell)), "0 and 1 only")
    gaps = i in tree.gaps
    return _column(rows, name, lambda cell: _number(cell, gaps), "numbers" if gaps else "numbers, in no row a blank")


def _category(cell: str, known: Sequence[Any]) -> Any:
    """A value of the feature, or a new one as text, which the tree takes as one that it does not know."""
    named = {"" if value is None else str(value): value for value in known}
    if cell in named:
        return named[cell]
    if cell == "":
        raise ValueError(cell)
    numbers = {value: value for value in known if isinstance(value, (int, float))}
    try:
        return numbers.get(float(cell), cell)
    except ValueError:
        return cell


def _truth(cell: str) -> bool:
    return _TRUTH[cell.strip().lower()]


def _number(cell: str, gaps: bool) -> float:
    number = math.nan if cell.strip() == "" else float(cell)
    if math.isnan(number) and not gaps:
        raise ValueError(cell)
    return number


def _labels(tree: Tree, tolerance: float | None) -> tuple[Reader, str]:
    """How to read an answer of the target, of the kind that the tree's labels have; and how to call it."""
    known = answers_of(tree.labels.tolist())
    kind: type = type(known[0]) if known else str
    if tolerance is not None or kind is float:
        return _finite, "numbers, as the tree answers"
    if kind is bool:
        return _truth, "true and false only, as the tree answers"
    if kind is int:
        return _whole, "whole numbers, as the tree answers"
    return (lambda cell: _text(cell, known)), "labels, in no row a blank"


def _finite(cell: str) -> float:
    number = float(cell)
    if not math.isfinite(number):
        raise ValueError(cell)
    return number


def _whole(cell: str) -> int:
    try:
        return int(cell)
    except ValueError:
        number = float(cell)
    if number != int(number):
        raise ValueError(cell)
    return int(number)


def _text(cell: str, known: Sequence[str]) -> str:
    if cell == "" and cell not in known:
        raise ValueError(cell)
    return cell
