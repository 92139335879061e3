"""Where to look before anything is counted.

Until the first attempt is opened a learner may choose what it asks. Rare parts of the space are learnt from rare
inputs, so they are drawn more often than they occur: log odds are halved, and then small leaves of the tree there is
get more inputs than their mass. What an answer says about the error is weighed accordingly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.spaces.draw import BitDraws

if TYPE_CHECKING:
    from fidelitree.spaces.draw import Stream
    from fidelitree.trees.nested import Nested

Biases = NDArray[np.float64]
Bits = NDArray[np.uint8]
Weights = NDArray[np.float64]
Path = tuple[tuple[int, int], ...]

TEMPER = 0.5
EVEN = 0.7  # 1: as they come; 0: as many for every leaf
_TRIES = 8


class Explorer:
    """Draws inputs that are not known yet."""

    def __init__(self, biases: Biases, stream: Stream) -> None:
        tempered = temper(biases)
        self._draws = BitDraws(tempered, stream)
        self._biases, self._tempered = biases.tolist(), tempered.tolist()
        self._random = np.random.Generator(np.random.Philox(key=stream.child("leaf").key))

    def take(self, sketch: Nested | None, rows: int, unknown: Callable[[Bits], list[int]]) -> tuple[Bits, Weights]:
        """Inputs and what each weighs; fewer than asked for, where new ones are hard to find."""
        bits, weights = self._draw(sketch, rows)
        found = unknown(bits)
        for _ in range(_TRIES):
            if len(found) == rows:
                break
            more, their = self._draw(sketch, rows - len(found))
            bits, weights = np.concatenate([bits[found], more]), np.concatenate([weights[found], their])
            found = unknown(bits)
        return bits[found], weights[found]

    def _draw(self, sketch: Nested | None, rows: int) -> tuple[Bits, Weights]:
        bits = self._draws.take(rows).copy()
        paths = list(leaves(sketch))
        masses = np.array([mass(path, self._biases) for path in paths])
        shares = np.array([mass(path, self._tempered) for path in paths]) ** EVEN
        shares /= shares.sum()
        below = shares.cumsum()  # from here on it is `Generator.choice`, without its checks
        chosen = (below / below[-1]).searchsorted(self._random.random(rows), "right")
        asked = [(row, *step) for row, place in enumerate(chosen.tolist()) for step in paths[place]]
        if asked:
            places, features, values = zip(*asked, strict=True)
            bits[places, features] = values
        return bits, (masses / np.maximum(shares, 1e-300))[chosen]


def temper(biases: Biases) -> Biases:
    """Biases with log odds halved; a bit that never varies stays as it is."""
    with np.errstate(divide="ignore"):
        odds = (biases / (1 - biases)) ** (1 - TEMPER)
    return np.where(biases < 1, odds / (1 + np.minimum(odds, 1e300)), 1.0)


def leaves(sketch: Nested | None) -> Iterator[Path]:
    """The path to every leaf: features with the values they have there."""
    waiting: list[tuple[Nested | None, Path]] = [(sketch, ())]
    while waiting:
        node, path = waiting.pop()
        if isinstance(node, tuple):
            waiting += [(side, (*path, (node[0].feature, value))) for value, side in enumerate(node[1:])]
        else:
            yield path


def mass(path: Path, biases: Sequence[float]) -> float:
    """Probability of a path."""
    return math.prod((biases[feature] if value else 1 - biases[feature] for feature, value in path), start=1.0)
