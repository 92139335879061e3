"""What a learner has been told: inputs with their label codes, each input once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fidelitree.spaces.inputs import row_keys

Bits = NDArray[np.uint8]
Codes = NDArray[np.intp]


class Pool:
    """Labelled inputs in the order they came."""

    def __init__(self, features: int) -> None:
        self._bits = np.empty((64, features), np.uint8)
        self._codes = np.empty(64, np.intp)
        self._weights = np.ones(64, np.float32)
        self._known: dict[bytes, int] = {}
        self.size = 0
        self._looked: tuple[Bits | None, int, dict[bytes, int]] = None, 0, {}

    @property
    def bits(self) -> Bits:
        """All inputs."""
        return self._bits[: self.size]

    @property
    def codes(self) -> Codes:
        """Their label codes."""
        return self._codes[: self.size]

    @property
    def weights(self) -> NDArray[np.float32]:
        """What an error on each of them costs."""
        return self._weights[: self.size]

    def add(self, bits: Bits, codes: Codes) -> None:
        """Remember answers; an input that is known already is not stored again."""
        new = self._new(bits)
        self._known.update(zip(new, range(self.size, self.size + len(new)), strict=True))
        rows = slice(None) if len(new) == len(codes) else list(new.values())
        end = self.size + len(new)
        if end > len(self._codes):
            self._grow(end)
        self._bits[self.size : end] = bits[rows]
        self._codes[self.size : end] = codes[rows]
        self.size = end

    def codes_of(self, bits: Bits) -> Codes:
        """The label codes of inputs that are known."""
        return self._codes[[self._known[key] for key in row_keys(bits)]]

    def stress(self, bits: Bits) -> None:
        """Make errors on these inputs cost more, where they are known: they were got wrong again.

        Without it a tree may get known inputs wrong for ever, because a split costs more than an error.
        """
        for key in row_keys(bits):
            place = self._known.get(key)
            if place is not None:
                self._weights[place] += 1

    def unknown(self, bits: Bits) -> list[int]:
        """The rows that have not been answered yet, each input once."""
        return list(self._new(bits).values())

    def _new(self, bits: Bits) -> dict[bytes, int]:
        """Row of the first appearance of every input that is not known; who asks about inputs adds them next."""
        looked_at, size, rows = self._looked
        if bits is looked_at and size == self.size:
            return rows
        rows = {}
        for row, key in enumerate(row_keys(bits)):
            if key not in self._known:
                rows.setdefault(key, row)
        self._looked = bits, self.size, rows
        return rows

    def _grow(self, end: int) -> None:
        room = max(end, 2 * len(self._codes))
        self._bits = np.concatenate([self.bits, np.empty((room - self.size, self._bits.shape[1]), np.uint8)])
        self._weights = np.concatenate([self.weights, np.ones(room - self.size, np.float32)])
        self._codes = np.concatenate([self.codes, np.empty(room - self.size, np.intp)])
