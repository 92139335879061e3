"""Rows of a table where a space is asked for: inputs with the joint distribution of the user's own data.

The rows are taken to be drawn independently from some population; a certificate over them is about more rows of that
kind. Growth may use one part of the rows as it likes, also for re-drawing a feature among the rows that reach a leaf;
the other part is untouched until it tests a tree, each row once. Rows may belong to groups (`groups`): then a group is
in one part, and one row of each group tests.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import FormatError, ParameterError
from fidelitree.spaces.blends import Blend, check_blend, neighbours
from fidelitree.spaces.copies import doubt_groups, grouped_if_copied
from fidelitree.spaces.draw import Stream
from fidelitree.spaces.groups import Groups, taken_out
from fidelitree.spaces.packing import packed, unpacked
from fidelitree.spaces.product import ProductSpace
from fidelitree.spaces.world import Joint, over_features
from fidelitree.theory.sequential import Bet

if TYPE_CHECKING:
    from fidelitree.spaces.world import World

TEST_SHARE = 0.5
"""The part of the rows that growth does not see. A certificate takes a number of rows, not a share of them; half leaves
growth enough where the table is large and the certificate enough where it is small."""
ASSUMES_ROWS = "inputs are rows like those of this table"
ASSUMES_INDEPENDENT = "the rows are independent of each other"
ASSUMES_GROUPS = "the groups of rows are independent of each other, and each counts once, by one of its rows"
ASSUMES_EQUAL = "different rows are independent of each other, and each counts once, however often it is repeated"
INDEPENDENCE = {"rows": ASSUMES_INDEPENDENT, "groups": ASSUMES_GROUPS, "equal": ASSUMES_EQUAL}
"""What is taken to be independent, by what counts once: a row, a group that the user named, or all copies of a row."""
ASSUMES_NOT_FITTED = "the target was not fitted to them"
ASSUMES_NEW = "neither the target nor the predictor was changed knowing them"
ASSUMES_UNSEEN = "the predictor was not made from them"


def taken_for_granted(world: World) -> tuple[str, ...]:
    """What a statement over rows of a table assumes about them; nothing over other worlds.

    >>> taken_for_granted(Rows({"age": [31, 35, 62]}))
    ('the rows are independent of each other', 'the target was not fitted to them')
    """
    return (INDEPENDENCE[world.counted], ASSUMES_NOT_FITTED) if isinstance(world, Rows) else ()


@dataclass(frozen=True)
class Parts:
    """Inner values of the rows, each in one part, in random order."""

    growing: NDArray[Any]
    testing: NDArray[Any]


class Rows(Joint):
    """A table as the place where inputs come from.

    Features are read off its columns as `ProductSpace.from_data` does it; ``product`` is the space of its marginals,
    which trees, regions and batches are made with. A certificate speaks of more rows like these. It assumes that the
    target was not fitted to them, for a model may know its training rows by heart: split the table first, fit the model
    to one part and give `Rows` the other. `FittedRowsWarning` tells where a model carries these rows.

    Rows are taken to be independent of each other. Where several belong to one person or day, name their ``groups``: a
    group never both teaches and tests, and one row of it tests, so that a certificate is about a row of a group drawn
    at random. A row whose entry is missing is a group of its own. A column that names groups is no feature, and the
    target does not receive it; if it needs that column, give the column's values and not its name. Without groups, a
    `CopiedRowsWarning` says if too many rows equal others, and equal rows are kept together.

    With a blend, neighbours of one part of the rows grow a tree, those of the other test it, and the certificate speaks
    of neighbours of these rows.

    Args:
        table: A pandas, polars or arrow table, a mapping of name to 1-D array, or a 2-D array.
        categorical: Columns to be read as categories, whatever they hold.
        numeric: Columns to be read as numbers, whatever they hold.
        blend: Above 0, the chance that a value is drawn anew; "auto": a fifth, or 3 by the columns if that is less.
        groups: The column of a table that says which rows belong together, or an entry for each row.

    Raises:
        ParameterError: An argument breaks its rule.

    Examples:
        >>> rows = Rows({"age": [31, 35, 62, 40], "job": ["nurse", "clerk", "nurse", "pilot"]})
        >>> parts = rows.parts(seed=0)
        >>> rows.names, len(parts.growing), len(parts.testing)
        (('age', 'job'), 2, 2)
    """

    blend: float = 0.0

    def __init__(
        self,
        table: Any,
        categorical: Iterable[str] = (),
        numeric: Iterable[str] = (),
        blend: float | Literal["auto"] = 0.0,
        *,
        groups: Any = None,
    ) -> None:
        table, named = taken_out(table, groups)
        self.product = ProductSpace.from_data(table, categorical, numeric)
        self.inner: NDArray[Any] = self.product.encode(table).copy()  # the table may change
        self.inner.flags.writeable = False
        self.blend = check_blend(blend, len(self.product))
        self.groups = grouped_if_copied(self.product, self.inner) if named is None else named
        if named is not None:
            doubt_groups(self.product, self.inner, named)
        self._check_parts()

    @classmethod
    def from_dict(cls, data: Any) -> Rows:
        """The inverse of `to_dict`; FormatError says what is wrong with anything else."""
        return cls.from_packed(ProductSpace.from_dict(data), data.get("rows"))

    @classmethod
    def from_packed(cls, product: ProductSpace, entry: Any) -> Rows:
        """The inverse of `packed`."""
        inner = unpacked(entry, product)
        groups = entry.get("groups")
        groups = None if groups is None else Groups.from_dict(groups, len(inner))
        try:
            return cls.of(product, inner, check_blend(entry.get("blend", 0.0), len(product)), groups)
        except ParameterError as error:
            raise FormatError(f"not stored rows of a table: {error}") from None

    @classmethod
    def of(cls, product: ProductSpace, inner: NDArray[Any], blend: float = 0.0, groups: Groups | None = None) -> Rows:
        """Rows of inner values."""
        rows = cls.__new__(cls)
        rows.product, rows.inner, rows.blend, rows.groups = product, inner, blend, groups
        rows.inner.flags.writeable = False
        rows._check_parts()
        return rows

    def _check_parts(self) -> None:
        if self.blend and self.tests < 2:
            rows = "rows" if self.groups is None else "groups of rows"
            raise ParameterError(f"blend needs at least 2 {rows}, one to learn from and one to test; got {self.tests}")

    def to_dict(self) -> dict[str, Any]:
        """The features with their marginals, and all rows, packed."""
        return {**self.product.to_dict(), "rows": self.packed()}

    def packed(self) -> dict[str, Any]:
        """Inner values alone, as plain data."""
        found = packed(self.inner)
        found |= {} if self.groups is None else {"groups": self.groups.to_dict()}
        return {**found, "blend": self.blend} if self.blend else found

    @property
    def table(self) -> Rows | None:
        """The rows themselves, each of which serves once; None where neighbours of them are drawn."""
        return None if self.blend else self

    @property
    def redraws(self) -> Blend | None:
        """Neighbours of all rows; None where rows are taken as they are."""
        return self._near(self.inner) if self.blend else None

    @property
    def assumes(self) -> tuple[str, ...]:
        """What a certificate takes for granted; that of a run names the rows of its tested part."""
        if self.blend:
            return neighbours(self.count, self.blend), ASSUMES_NOT_FITTED
        return ASSUMES_ROWS, INDEPENDENCE[self.counted], ASSUMES_NOT_FITTED

    @property
    def counted(self) -> str:
        """What counts once: "rows", "groups" that the user named, or "equal" rows."""
        if self.groups is None:
            return "rows"
        return "equal" if self.groups.equal else "groups"

    @property
    def in_words(self) -> str:
        """The rows as a noun."""
        near = "neighbours of " if self.blend else ""
        return over_features(f"{near}rows of a table with", self.product)

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.inner)

    @property
    def tests(self) -> int:
        """How many of them can test a predictor that was not made from them: all, or one of each group."""
        return self.count if self.groups is None else self.groups.count

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the features and all rows, in their order, and of their groups if they have any."""
        more = f"{self.blend.hex()}/" if self.blend else ""
        if self.groups is not None:
            more += "equal/" if self.groups.equal else "groups/"
        text = hashlib.sha256(f"rows/{self.product.digest}/{more}".encode())
        text.update(np.ascontiguousarray(self.inner, dtype=self.dtype.newbyteorder("<")).tobytes())
        if self.groups is not None:
            text.update(self.groups.codes.astype("<u4").tobytes())
        return text.hexdigest()

    def inputs(self, stream: Stream, block: int, rows: int) -> NDArray[Any]:
        """Rows of the table, any of them as often as it is drawn: for a look at them, not for a test.

        Where they are blended, neighbours of all rows.
        """
        if self.blend:
            return self._near(self.inner).inputs(stream, block, rows)
        return self.inner[(stream.uniforms(block, 0, rows) * self.count).astype(np.intp)]

    def apart(self, seed: int) -> tuple[World, World]:
        """Neighbours of one part of the rows to learn from, and of the other to test with."""
        if not self.blend:
            return self, self
        parts = self.parts(seed)
        return self._near(parts.growing), self._near(parts.testing)

    def _near(self, inner: NDArray[Any]) -> Blend:
        near = Blend(self.product, inner, self.blend, self.digest)
        near.assumes += (ASSUMES_NOT_FITTED,)
        return near

    def parts(self, seed: int) -> Parts:
        """A part for growth and a part for tests, chosen and ordered by the seed."""
        growing, testing = self.places(seed)
        return Parts(self.inner[growing], self.inner[testing])

    def places(self, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Which rows of the table grow a tree, and which test it: nothing may be made from those beforehand."""
        stream = Stream.named(seed, "rows")
        if self.groups is not None:
            return self.groups.apart(stream, TEST_SHARE)
        order = self._order(stream)
        testing = int(self.count * TEST_SHARE)
        return order[testing:], order[:testing]

    def shuffled(self, stream: Stream) -> NDArray[Any]:
        """All rows, or one of each group, in random order."""
        return self.inner[self._order(stream) if self.groups is None else self.groups.one_each(stream)]

    def _order(self, stream: Stream) -> NDArray[np.intp]:
        return np.argsort(stream.lane(0, 0).random_raw(self.count), kind="stable")

    def __repr__(self) -> str:
        near = f", blend {self.blend:.4g}" if self.blend else ""
        apart = "" if self.groups is None else f" in {self.groups.count} groups"
        return f"<Rows: {self.count} rows{apart} of {len(self.names)} features{near}>"


def assumed_before(space: World) -> tuple[str, ...]:
    """What certificates of 0.2.0 took for granted: it did not say that rows are independent."""
    return tuple(one for one in space.assumes if one != ASSUMES_INDEPENDENT)


def check_test_rows(available: int, epsilon: float, delta: float, level: float | None = None) -> None:
    """Refuse a test that no predictor could pass: even without a mistake it takes a number of rows.

    ``level`` is what the test may spend of delta; all of it unless told.
    """
    if epsilon == 0:
        raise ParameterError("epsilon must be above 0 where inputs are rows of a table; got 0")
    needed = Bet(delta if level is None else level).needed_for(epsilon)
    if available < needed:
        raise ParameterError(
            f"the table leaves {available:,} test rows, and certifying an error of {epsilon:.4g} with confidence "
            f"{1 - delta:.4g} takes at least {needed:,}, even without a mistake - give more rows, or raise epsilon or "
            f"delta"
        )
