"""Trees whose leaves may defer, by the search that knows nothing of it.

A leaf that answers costs its errors, one that defers costs a price for each of its rows: min(errors, price x rows). Put
a copy of every row beside it, with one more label and a weight of 1 - price. The heaviest label of a leaf with m rows
then leaves min(errors, price x m) + (1 - price) m of all weight in the minority. The last part is the same for every
tree. So tree and deferred leaves are chosen together by whatever looks for the fewest errors.

Compiled searches know rows of weight 1 only. So the share 1 - price of the rows is copied, taken evenly along the
leaves of CART's tree. In any region that is made of whole leaves it is right to one row for each leaf.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fidelitree.search.local.iterated import engine
from fidelitree.trees.nested import Nested, itself
from fidelitree.trees.predict import leaf_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fidelitree.asking.limits import Watch
    from fidelitree.search.local.coded import Coded

_LEAVES = 400  # of CART's tree, along which rows are spread


def spread(rows: Coded, watch: Watch) -> NDArray[np.intp]:
    """All rows in the order of the leaves of a large tree."""
    tree = _numbered(engine(rows, None, watch).cart(_LEAVES).nested())
    return np.argsort(leaf_values(tree, itself, rows.says_yes, len(rows.codes)), kind="stable")


def _numbered(nested: Nested) -> Nested:
    """The tree with leaves that hold their numbers."""
    count = iter(range(1 << 30))

    def number(part: Nested) -> Nested:
        return (part[0], number(part[1]), number(part[2])) if isinstance(part, tuple) else next(count)

    return number(nested)


def with_deferring(rows: Coded, order: NDArray[np.intp], price: float, code: int) -> Coded:
    """The rows, and a share 1 - price of them once more with this label code."""
    places = np.floor(np.arange(len(order) + 1) * (1 - price))
    copied = order[places[1:] > places[:-1]]
    return replace(
        rows,
        bins=np.concatenate([rows.bins, rows.bins[:, copied]], axis=1),
        codes=np.concatenate([rows.codes, np.full(len(copied), code, rows.codes.dtype)]),
        weights=np.concatenate([rows.weights, rows.weights[copied]]),
    )
