"""Trees whose leaves may defer, by the search that knows nothing of it.

A leaf that answers costs its errors, one that defers costs a price for each of its rows: min(errors, price x rows). Put
a copy of every row beside it, with one more label and a weight of 1 - price. The heaviest label of a leaf with m rows
then leaves min(errors, price x m) + (1 - price) m of all weight in the minority. The last part is the same for every
tree. So tree and deferred leaves are chosen together by whatever looks for the fewest errors.

Compiled searches know rows of weight 1 only. So the share 1 - price of the rows is copied, taken evenly along the
leaves of CART's tree. In any region that is made of whole leaves it is right to one row for each leaf.

The price decides how many errors the leaves that answer make together: too many where it is high, and where it is
below epsilon fewer than are asked for. Some prices are tried, evenly spread between epsilon and what no leaf defers at.
Each search begins with the trees of the last one. On the way down each tree is grown on as far as rows go and pruned
again, which finds leaves that no single proposal does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.search.local.grown import CART
from fidelitree.search.local.iterated import Refiner
from fidelitree.search.local.moves import engine
from fidelitree.trees.nested import Nested, leaf_codes

if TYPE_CHECKING:
    from fidelitree.asking.limits import Watch
    from fidelitree.search.local.coded import Coded

PRICES = 3
"""Prices of a deferred input that are tried."""


def searches(
    rows: Coded, code: int, epsilon: float, sizes: Sequence[int], seed: int, watch: Watch
) -> Iterator[Refiner]:
    """A search for each price, which knows the trees of the last one, to be improved by who gets it.

    ``code`` is the label of a leaf that defers, larger than all others. Trees of these ``sizes`` are handed on.
    """
    order, known = spread(rows, watch), list[Nested]()
    least = max(epsilon, 1 / len(rows.codes))
    most = max(least, 1 - 1 / code)  # a leaf gets no more wrong
    for turn, price in enumerate(np.geomspace(least, most, PRICES + 2)[1:-1].tolist()):
        search = Refiner(with_deferring(rows, order, price, code), seed + turn, watch)
        for tree in known:
            search.know(tree)
        yield search
        known = [search.with_leaves(size).tree for size in sizes]


def improve(search: Refiner, sizes: Sequence[int], steps: int) -> None:
    """So many proposals near each size, going up; and coming down to trees that are grown on before."""
    sizes = [size for size in sizes if size > 1]
    for size in sizes:
        search.improve_at(size, steps)
    for size in reversed(sizes):
        search.know(search.with_leaves(size).tree)
        search.improve_at(size, steps)


def spread(rows: Coded, watch: Watch) -> NDArray[np.intp]:
    """All rows in the order of the leaves of a large tree."""
    tree = _numbered(engine(rows, None, watch).cart(CART).nested())
    return np.argsort(leaf_codes(tree, rows.says_yes, len(rows.codes)), kind="stable")


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
