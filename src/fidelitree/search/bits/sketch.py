"""Small trees for labelled rows, by looking several splits ahead.

The cost of a tree is its errors plus a penalty for every split. At each node the search takes the first split of
the cheapest tree of depth up to 4 for the node's rows, then goes on below: impurity alone sees nothing in a
parity, and an exhaustive search to full depth is out of reach.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import Watch, go_on
from fidelitree.search.bits.first_split import LabelledRows, first_split
from fidelitree.spaces.features import IsOne
from fidelitree.trees import kernels
from fidelitree.trees.nested import Nested, leaf_codes

Path = tuple[int, ...]
Part = tuple[int, int, float]
"""The rows of a node: from where to where in the order, and what they weigh."""

__all__ = ["LabelledRows", "Search", "fit", "predict"]


class Search:
    """Fits trees to rows that only become more, and remembers what it made of each node.

    A node whose rows and whose tree from before are those of the last time would come out as it did then, so it is not
    searched again: most answers change nothing in most leaves.
    """

    def __init__(self) -> None:
        self._settings: object = None
        self._known: dict[Path, tuple[int, float, Nested]] = {}

    def fit(self, rows: LabelledRows, horizon: int, before: Nested | None = None, watch: Watch = go_on) -> Nested:
        """A tree for the rows; where it costs the same, the one ``before`` is kept. ``watch`` may end it by raising.

        The rows must begin with those of the last call.
        """
        settings = rows.features, rows.penalties.tobytes(), horizon
        if settings != self._settings or len(self._known) > len(rows.codes):  # then most are of trees that are gone
            self._settings, self._known = settings, {}
        if not len(rows.codes):
            return 0
        whole = 0, len(rows.codes), rows.mass
        return _Fitting(rows, watch, self._known).grow(whole, horizon, before, ())[0]


is_one = cache(IsOne)  # made at every node of every fit


class _Fitting:
    """One tree in the making."""

    def __init__(self, rows: LabelledRows, watch: Watch, known: dict[Path, tuple[int, float, Nested]]) -> None:
        self._rows, self._watch, self._known = rows, watch, known
        self._order = np.argsort(rows.codes, kind="stable").astype(np.int32)
        self._features = rows.features
        self._places = {feature: place for place, feature in enumerate(self._features)}

    def grow(self, part: Part, horizon: int, before: Nested | None, path: Path) -> tuple[Nested, bool]:
        """The tree of a node, and whether the same rows with this tree from before would give it again."""
        start, stop, mass = part
        known = self._known.get(path)
        if known is not None and known[2] is before and known[0] == stop - start and known[1] == mass:
            return known[2], True
        self._watch()
        asked = before[0].feature if isinstance(before, tuple) else -1
        old = self._places.get(asked, -1)
        made: Nested
        made, place, middle, no_mass, yes_mass = first_split(self._rows, self._order, (start, stop), horizon, old)
        stays = asked < 0
        if place >= 0:
            feature = self._features[place]
            below = before[1:] if isinstance(before, tuple) and asked == feature else (None, None)
            no, fixed = self.grow((start, middle, no_mass), min(horizon, 3), below[0], (*path, 2 * feature))
            yes, too = self.grow((middle, stop, yes_mass), min(horizon, 3), below[1], (*path, 2 * feature + 1))
            made, stays = (no, False) if no == yes else ((is_one(feature), no, yes), fixed and too)
        if stays:
            self._known[path] = stop - start, mass, made
        return made, stays


def fit(rows: LabelledRows, horizon: int, before: Nested | None = None, watch: Watch = go_on) -> Nested:
    """A tree for rows that nobody has seen before (`Search.fit`)."""
    return Search().fit(rows, horizon, before, watch)


def predict(tree: Nested, bits: NDArray[np.generic]) -> NDArray[np.intp]:
    """The code of every row."""
    if kernels.compiled and bits.itemsize == 1:
        found = np.empty(len(bits), np.intp)
        kernels.native.walk_nested(tree, bits, found)
        return found
    return leaf_codes(tree, lambda test, here: bits[here, test.feature] != 0, len(bits))
