"""Small trees for labelled rows, by looking several splits ahead.

The cost of a tree is its errors plus a penalty for every split. At each node the search takes the first split of
the cheapest tree of depth up to 4 for the node's rows, then goes on below: impurity alone sees nothing in a
parity, and an exhaustive search to full depth is out of reach.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import Watch, go_on
from fidelitree.search.bits.first_split import FirstSplit, LabelledRows, first_split
from fidelitree.spaces.features import IsOne
from fidelitree.trees.nested import Nested, itself
from fidelitree.trees.predict import leaf_values

Path = tuple[int, ...]
_MOST_KNOWN = 1 << 16  # nodes that are remembered

__all__ = ["LabelledRows", "Search", "fit", "predict"]


class _Part(NamedTuple):
    """The rows of a node: a slice of the order, and what they weigh."""

    start: int
    stop: int
    mass: float


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
        if settings != self._settings or len(self._known) > _MOST_KNOWN:
            self._settings, self._known = settings, {}
        if not len(rows.codes):
            return 0
        whole = _Part(0, len(rows.codes), rows.mass)
        return _Fitting(rows, watch, self._known).grow(whole, horizon, before, ())[0]


class _Fitting:
    """One tree in the making."""

    def __init__(self, rows: LabelledRows, watch: Watch, known: dict[Path, tuple[int, float, Nested]]) -> None:
        self._rows, self._watch, self._known = rows, watch, known
        self._order = np.argsort(rows.codes, kind="stable").astype(np.int32)
        self._places = {feature: place for place, feature in enumerate(rows.features)}

    def grow(self, part: _Part, horizon: int, before: Nested | None, path: Path) -> tuple[Nested, bool]:
        """The tree of a node, and whether the same rows with this tree from before would give it again."""
        count, known = part.stop - part.start, self._known.get(path)
        if known is not None and known[2] is before and known[:2] == (count, part.mass):
            return known[2], True
        self._watch()
        old = self._places.get(before[0].feature, -1) if isinstance(before, tuple) else -1
        split = first_split(self._rows, self._order, part[:2], horizon, old)
        made: Nested = split.label
        stays = not isinstance(before, tuple)
        if split.place >= 0:
            made, stays = self._sides(part, split, min(horizon, 3), before, path)
        if stays:
            self._known[path] = count, part.mass, made
        return made, stays

    def _sides(
        self, part: _Part, split: FirstSplit, horizon: int, before: Nested | None, path: Path
    ) -> tuple[Nested, bool]:
        feature = self._rows.features[split.place]
        below = before[1:] if isinstance(before, tuple) and before[0].feature == feature else (None, None)
        parts = _Part(part.start, split.middle, split.masses[0]), _Part(split.middle, part.stop, split.masses[1])
        (no, fixed), (yes, too) = (
            self.grow(parts[side], horizon, below[side], (*path, 2 * feature + side)) for side in (0, 1)
        )
        return (no, False) if no == yes else ((IsOne(feature), no, yes), fixed and too)


def fit(rows: LabelledRows, horizon: int, before: Nested | None = None, watch: Watch = go_on) -> Nested:
    """A tree for rows that nobody has seen before (`Search.fit`)."""
    return Search().fit(rows, horizon, before, watch)


def predict(tree: Nested, bits: NDArray[np.generic]) -> NDArray[np.intp]:
    """The code of every row."""
    return leaf_values(tree, itself, lambda test, here: bits[here, test.feature] != 0, len(bits))
