"""Rows that belong together: all of a person, of a day, or copies of one row.

Rows of one group depend on each other. So a group is on one side of every split, and one row of it is tested: tests of
two rows of a person are not independent, even where the tree never saw that person.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import FormatError, ParameterError, check_list, show
from fidelitree.spaces.inputs import as_table, categories, is_missing
from fidelitree.spaces.packing import packed_codes, unpacked_codes
from fidelitree.spaces.tables import columns_of

if TYPE_CHECKING:
    from fidelitree.spaces.draw import Stream

Places = NDArray[np.intp]
_SHOWN = 8  # names of columns in a message


@dataclass(frozen=True, eq=False)
class Groups:
    """The group of each row: numbers from 0, in the order in which groups first appear.

    ``equal`` says that a group is all copies of one row, as fidelitree found them; otherwise the user named the groups.
    """

    codes: Places
    equal: bool = False
    listed: bool = False
    """Whether the user gave an entry for each row, and named no column."""

    @property
    def count(self) -> int:
        """How many groups there are."""
        return int(self.codes.max(initial=-1)) + 1

    def apart(self, stream: Stream, share: float) -> tuple[Places, Places]:
        """All rows of some groups to learn from, and one row of each other group to test with, in random order.

        Groups are ordered by random numbers of their own: where rows put them in order, large ones would be first.
        """
        first, groups, rows = self._ordered(stream)
        tested = groups[: int(self.count * share)]
        teaches = np.ones(self.count, np.bool_)
        teaches[tested] = False
        return rows[teaches[self.codes[rows]]], first[tested]

    def one_each(self, stream: Stream) -> Places:
        """One row of each group, in random order."""
        first, groups, _ = self._ordered(stream)
        return first[groups]

    def pieces(self, stream: Stream, count: int) -> list[Places]:
        """The rows of some groups, of some others, and so on; a group is in one piece."""
        order = np.argsort(stream.lane(0, 1).random_raw(self.count), kind="stable")
        piece = np.empty(self.count, np.intp)
        for number, part in enumerate(np.array_split(order, count)):
            piece[part] = number
        return [np.flatnonzero(piece[self.codes] == number) for number in range(count)]

    def of(self, places: Places) -> Groups:
        """The groups of some of the rows."""
        return Groups(numbered(self.codes[places]), self.equal)

    def _ordered(self, stream: Stream) -> tuple[Places, Places, Places]:
        """The first row of each group, then groups and rows, all in random order."""
        rows = np.argsort(stream.lane(0, 0).random_raw(len(self.codes)), kind="stable")
        groups = np.argsort(stream.lane(0, 1).random_raw(self.count), kind="stable")
        _, places = np.unique(self.codes[rows], return_index=True)
        return rows[places], groups, rows

    def to_dict(self) -> dict[str, Any]:
        """Plain data: codes, and no names of persons or days."""
        return {"packed": packed_codes(self.codes), "equal": self.equal}

    @classmethod
    def from_dict(cls, data: Any, rows: int) -> Groups:
        """The inverse of `to_dict` for so many rows; FormatError says what is wrong with anything else."""
        right = isinstance(data, dict) and set(data) == {"packed", "equal"} and isinstance(data["equal"], bool)
        if not right:
            raise FormatError(f"not stored rows of a table: groups must hold packed and equal; got {data!r:.80}")
        codes = unpacked_codes(data["packed"], rows)
        if not np.array_equal(codes, numbered(codes)):
            raise FormatError("not stored rows of a table: groups must be numbered as they first appear")
        return cls(codes, data["equal"])


def taken_out(table: Any, groups: Any) -> tuple[Any, Groups | None]:
    """A table without the column that names the groups of its rows, and these groups; None where none are given.

    >>> table, groups = taken_out({"age": [31, 35, 62], "person": ["a", "b", "a"]}, "person")
    >>> table, groups.codes.tolist()
    ({'age': [31, 35, 62]}, [0, 1, 0])
    """
    if groups is None or isinstance(groups, Groups):
        return table, groups
    columns = columns_of(table)
    rows = len(next(iter(columns.values())))
    if not isinstance(groups, str):
        return table, replace(groups_of(groups, rows), listed=True)
    if isinstance(table, np.ndarray):
        raise ParameterError(
            f"groups must be an array with an entry for each row where the table is a 2-D array, whose columns have no "
            f"names; got {show(groups)}"
        )
    if groups not in columns:
        known = ", ".join(list(columns)[:_SHOWN]) + (", ..." if len(columns) > _SHOWN else "")
        raise ParameterError(f"groups must name a column of the table ({known}); got {show(groups)}")
    found = groups_of(columns[groups], rows)
    if isinstance(table, Mapping):
        return {name: column for name, column in table.items() if name != groups}, found
    frame = as_table(table)
    assert frame is not None, "columns_of has read it"
    return frame.drop(groups).to_native(), found


def groups_of(values: Any, rows: int) -> Groups:
    """Groups of so many rows, from an entry for each row; a row without an entry is a group of its own."""
    if isinstance(values, Groups):
        return values
    listed = _listed(values)
    if len(listed) != rows:
        raise ParameterError(f"groups must have one entry for each of the {rows:,} rows; got {len(listed):,}")
    known: dict[Any, int] = {}
    try:
        codes = [known.setdefault(object() if _is_missing(value) else value, len(known)) for value in listed]
    except TypeError:
        raise ParameterError(
            f"groups must hold values that can be told apart, such as texts or numbers; got {show(values)}"
        ) from None
    if len(known) < 2:
        raise ParameterError(
            f"groups must name at least 2 groups, one to learn from and one to test with; all {rows:,} rows are in "
            f"{len(known)}"
        )
    return Groups(np.array(codes, np.intp))


def refuse_groups(groups: Any, space: Any) -> None:
    """Refuse groups where there is no table whose rows they could belong to."""
    if groups is not None:
        raise ParameterError(
            f"groups must be left out where the space is no table, for its inputs are drawn one by one; got "
            f"{show(groups)} beside {show(space)} - give the table itself, or ft.Rows(table, groups=...) as the space"
        )


def _listed(values: Any) -> list[Any]:
    """Entries as Python values, None where one is missing."""
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise ParameterError(f"groups must be a 1-D array; got shape {values.shape}")
        return values.tolist()  # type: ignore[no-any-return]
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return categories(series)
    return check_list("groups", values, "entries, one for each row, or the name of a column")


def _is_missing(value: Any) -> bool:
    hash(value)  # what has none, as an array, is refused before it is compared
    return is_missing(value) or bool(value != value)  # noqa: PLR0124 - NaT is not itself


def numbered(keys: NDArray[Any]) -> Places:
    """A number from 0 for each key, in the order in which keys first appear."""
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    place = np.empty(len(first), np.intp)
    place[np.argsort(first, kind="stable")] = np.arange(len(first))
    return place[inverse]
