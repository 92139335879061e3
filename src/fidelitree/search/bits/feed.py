"""Bits one input after the other, as a learner and its attempts want them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.spaces.features import Boolean

if TYPE_CHECKING:
    from fidelitree.spaces.draw import Stream

ROWS = 128  # a small block costs as much as a large one


class Feed:
    """Inputs with the given biases, drawn in blocks.

    Nobody will ask for one feature of a block alone, so neighbours with the same bias are drawn together: with
    thousands of features, going from lane to lane would take longer than drawing.
    """

    def __init__(self, biases: NDArray[np.float64], stream: Stream) -> None:
        self._stream, self._blocks, self.taken = stream, 0, 0
        self._waiting = np.empty((0, len(biases)), np.uint8)
        starts = np.flatnonzero(np.diff(biases, prepend=-1.0))
        counts = np.diff(starts, append=len(biases)).tolist()
        self._groups = [(Boolean("", p), count) for p, count in zip(biases[starts].tolist(), counts, strict=True)]

    def take(self, rows: int) -> NDArray[np.uint8]:
        """The next inputs, rows by features."""
        self.taken += rows
        while len(self._waiting) < rows:
            self._waiting = np.concatenate([self._waiting, self._block().T])
        taken, self._waiting = self._waiting[:rows], self._waiting[rows:]
        return taken

    def _block(self) -> NDArray[np.uint8]:
        parts = []
        for lane, (bit, count) in enumerate(self._groups):
            drawn = bit.draw(self._stream.lane(self._blocks, lane), count * ROWS, None)
            parts.append(drawn.reshape(count, ROWS))
        self._blocks += 1
        return np.concatenate(parts)
