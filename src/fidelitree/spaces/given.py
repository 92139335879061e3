"""What a user gives as the place where inputs come from: a world as it is, or a table.

Of a table one half is the world, as a Chow-Liu tree. The other half is kept: real rows that nobody learns from, on
which the tree's error stands beside the certificate and tells whether the world is like the table. Where rows belong to
groups, each group is in one half, and one row of each group is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.display.wording import counted
from fidelitree.errors import ParameterError
from fidelitree.spaces.bins import refuse_width
from fidelitree.spaces.chow_liu import ChowLiu
from fidelitree.spaces.copies import doubt_groups, grouped_if_copied
from fidelitree.spaces.draw import Stream
from fidelitree.spaces.features import Boolean, Categorical, Numeric
from fidelitree.spaces.groups import refuse_groups, taken_out
from fidelitree.spaces.inputs import as_table
from fidelitree.spaces.product import ProductSpace, check_space
from fidelitree.spaces.rows import TEST_SHARE, Rows

if TYPE_CHECKING:
    from fidelitree.spaces.features import Feature
    from fidelitree.spaces.groups import Groups
    from fidelitree.spaces.world import World

ASSUMES_HALF = "inputs follow the Chow-Liu tree fitted to one half of this table"
_FEWEST = 2  # rows, so that each half has one
_FEW = 30  # rows of a half: with fewer a fitted world says little about other inputs


def world_of(space: Any, groups: Any = None) -> World:
    """The world that is meant: itself, or the Chow-Liu tree of a table's half with the other half kept.

    ``groups`` says which rows of a table belong together, as a column of it or an entry for each row.

    >>> world = world_of({"age": [31, 35, 62, 40], "owner": [True, False, True, True]})
    >>> world, world.kept
    (<ChowLiu: 2 features; too few rows to judge the fit>, <Rows: 2 rows of 2 features>)
    """
    if space is None:
        refuse_groups(groups, space)
    if isinstance(getattr(space, "product", None), ProductSpace):  # a table has a method of that name
        refuse_groups(groups, space)
        return space  # type: ignore[no-any-return]
    array = isinstance(space, np.ndarray) and space.ndim == 2
    if not array and not isinstance(space, Mapping) and as_table(space) is None:
        check_space(space)
    table, named = taken_out(space, groups)
    refuse_width(table)
    return of_halves(ProductSpace.from_data(table), table, named)


def of_halves(whole: ProductSpace, table: Any, groups: Groups | None = None) -> ChowLiu:
    """The Chow-Liu tree of one half of a table, whose features are known; the other half is kept."""
    inner = whole.encode(table)
    if len(inner) < _FEWEST:
        raise ParameterError(f"table must have at least {_FEWEST} rows, one to fit and one to keep; got {len(inner)}")
    if groups is None:
        groups = grouped_if_copied(whole, inner)
    else:
        doubt_groups(whole, inner, groups)
    stream = Stream("halves")
    if groups is None:
        fit, keep = np.array_split(np.argsort(stream.lane(0, 0).random_raw(len(inner)), kind="stable"), 2)
    else:
        fit, keep = groups.apart(stream, TEST_SHARE)
    product = whole.with_features([_marginal(feature, inner[fit, i]) for i, feature in enumerate(whole)])
    world = ChowLiu.fitted_to(product, inner[fit], None if groups is None else groups.of(fit))
    kept = Rows.of(product, inner[keep], groups=None if groups is None else groups.of(keep))  # in random order
    world.keep(kept, (assumes_half(len(fit)),))
    return world


def assumes_half(fitted: int) -> str:
    """What is assumed about inputs; where few rows are behind it, that is said.

    >>> print(assumes_half(3))
    inputs follow the Chow-Liu tree fitted to one half of this table, which is only 3 rows: too few to stand for others
    """
    few = f", which is only {counted(fitted, 'row')}: too few to stand for others" if fitted < _FEW else ""
    return f"{ASSUMES_HALF}{few}"


def _marginal(feature: Feature, column: NDArray[Any]) -> Feature:
    """A feature with the marginal of some rows; categories that they lack stay, with probability 0."""
    if feature.kind == "boolean":
        return Boolean(feature.name, float(column.mean()))
    if feature.kind == "categorical":
        values = feature.values or ()
        counts = np.bincount(column.astype(np.intp), minlength=len(values)).tolist()
        return Categorical.from_counts(feature.name, dict(zip(values, counts, strict=True)))
    known = column[~np.isnan(column)]
    if len(known) and isinstance(feature, Numeric) and feature.integer:  # an integer has no NaN
        return Numeric.from_values(feature.name, known.astype(np.int64)).with_missing(1 - len(known) / len(column))
    return Numeric.from_values(feature.name, column)
