"""When a tree over bits has done well enough to be put to the test."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fidelitree.certificates.attempts import Attempts
from fidelitree.search.bits.pool import Codes
from fidelitree.spaces.draw import Stream, draw_feature
from fidelitree.spaces.product import ProductSpace
from fidelitree.spaces.region import Region
from fidelitree.trees.bits import Words, everyone, pack, unpack
from fidelitree.trees.nested import Nested, itself
from fidelitree.trees.predict import route

GATE = 12  # answers without a mistake before an attempt is opened
GATE_SLACK = 0.1
WATCHED = 400  # inputs, never asked, on which two trees are compared
MATERIAL = 1 / 3  # of epsilon: a change of the tree on more of them starts the gate again


class Watched:
    """Inputs that are never asked about, on which two trees are compared; a feature is drawn when a tree tests it."""

    def __init__(self, space: ProductSpace, stream: Stream) -> None:
        self._whole, self._stream = Region.whole(space), stream
        self._columns: dict[int, Words] = {}
        self._last: tuple[Nested, Codes] | None = None

    def __getitem__(self, i: int) -> Words:
        if i not in self._columns:
            self._columns[i] = pack(draw_feature(self._whole, self._stream, 0, WATCHED, i))
        return self._columns[i]

    def codes(self, sketch: Nested) -> Codes:
        """What a tree says about them; most often it is the tree of the last time."""
        if self._last is None or self._last[0] != sketch:
            self._last = sketch, self._predicted(sketch)
        return self._last[1]

    def _predicted(self, sketch: Nested) -> Codes:
        codes = np.empty(WATCHED, np.intp)
        for code, reached in route(sketch, itself, self, everyone(WATCHED)):
            codes[unpack(reached, WATCHED).view(np.bool_)] = code
        return codes


class Gate:
    """Says when a tree has done well enough, on answers that the certificate will not count, to attempt one."""

    def __init__(self, attempts: Attempts, watched: Watched) -> None:
        self._attempts, self._watched = attempts, watched
        self._before: Codes | None = None
        self._seen: list[tuple[float, bool]] = []

    def see(self, sketch: Nested, wrong: NDArray[np.bool_], weights: NDArray[np.float64]) -> bool:
        """Answers came in, this is the tree now: is it time?

        An answer weighs what its leaf weighs in the space against the inputs that were drawn. A tree that changed
        materially starts again.
        """
        after, epsilon = self._watched.codes(sketch), self._attempts.epsilon
        if after is not self._before and (self._before is None or (after != self._before).mean() > MATERIAL * epsilon):
            self._seen = []
        else:
            self._seen += zip(weights.tolist(), wrong.tolist(), strict=True)
        self._before = after
        total = bad = 0.0
        for weight, mistake in reversed(self._seen):
            total += weight
            bad += weight * mistake
            if total >= GATE and bad <= epsilon / 2 * (total - GATE) + GATE_SLACK:
                return True
        return False
