"""Exact answers from a truth table, 16 inputs to a word.

A subfunction holds its own restricted table, so what a split costs shrinks with the leaf. Slot s of a table is
the feature that bit s of a position stands for. The four lowest slots live inside a word; the mass of a word's
bits comes from a look-up table. Tables of fewer than four features repeat themselves along idle slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.exact.cells import combined
from fidelitree.exact.subfunction import Floats, Subfunction
from fidelitree.trees import kernels

if TYPE_CHECKING:
    from fidelitree.spaces.features import Test
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.spaces.region import Region

Word = NDArray[np.uint16]

_INSIDE = 4  # slots inside a word
_WIDE = 6  # the same of a word of 64 inputs
_LANED = 9  # slots from which on a change of one leaves words for four lanes
_IDLE = -1
_LARGE = 1 << 13  # words from which a look-up table of whole words pays
_LOWER = (0x5555, 0x3333, 0x0F0F, 0x00FF)  # positions of a word where slot s is 0


class TableSubfunction(Subfunction):
    """A truth table inside a region.

    ``planes`` holds the binary digits of the label codes, one bit-packed table for each digit, lowest first.
    """

    def __init__(self, space: ProductSpace, planes: Word, slots: Sequence[int], labels: list[Any]) -> None:
        self._space = space
        self._planes = planes
        self._slots = tuple(slots)
        self.labels = labels
        biases = space.biases
        self._biases = [0.5 if slot == _IDLE else float(biases[slot]) for slot in self._slots]

    @classmethod
    def of(cls, codes: NDArray[Any], region: Region, labels: list[Any]) -> TableSubfunction:
        """A table of a region; ``codes`` are positions in ``labels``, in truth-table order of the free features."""
        free = region.free()
        idle = max(0, _INSIDE - len(free))
        codes = np.tile(codes, 1 << idle)
        digits = max(1, (len(labels) - 1).bit_length())
        planes = np.stack([np.packbits(codes >> d & 1, bitorder="little").view(np.uint16) for d in range(digits)])
        return cls(region.space, planes, [*free, *[_IDLE] * idle], labels)

    def label_probabilities(self) -> Floats:
        """The mass of each label's set of inputs."""
        return np.array([self._weigh(self._where(code), None) for code in range(len(self.labels))])

    def influences(self) -> Floats:
        """One pass over half a table for each feature."""
        out = np.zeros(len(self._space))
        wide = len(self._slots) >= _LANED
        changes = self._changes() if wide else [self._change(slot) for slot in range(len(self._slots))]
        for feature, bias, change in zip(self._slots, self._biases, changes, strict=True):
            if feature != _IDLE:
                out[feature] = 2 * bias * (1 - bias) * change
        return out

    def _changes(self) -> Floats:
        """`_change` of all slots of a table that is not tiny, 64 inputs to a word."""
        planes = np.ascontiguousarray(self._planes).view(np.uint64)
        changes = np.empty(len(self._slots))
        if kernels.compiled:
            high = np.empty(max(1, planes.shape[1] >> (_WIDE + 1)))
            kernels.native.changes(planes, np.array(self._biases), high, changes)
            return changes
        for slot in range(len(changes)):
            inside, taken = self._biases[:_WIDE], max(slot, _WIDE)
            if slot < _WIDE:
                inside[slot] = self._biases[taken]  # its place is lent to the next word
            sums = _word_sums(_apart(planes, slot), _octet_sums(_kronecker(inside).reshape(8, 8)))
            changes[slot] = _in_blocks(sums, self._biases[_WIDE:taken] + self._biases[taken + 1 :])
        return changes

    def split(self, test: Test) -> tuple[TableSubfunction, TableSubfunction]:
        """Two tables of half the size."""
        slot = self._slots.index(test.feature)
        left = [feature for feature in self._slots if feature != test.feature]
        left += [_IDLE] * (_INSIDE - len(left))
        no, yes = (TableSubfunction(self._space, self._half(slot, bit), left, self.labels) for bit in (0, 1))
        return no, yes

    def _where(self, code: int) -> Word:
        found = np.full(self._planes.shape[1], 0xFFFF, np.uint16)
        for digit, plane in enumerate(self._planes):
            found &= plane if code >> digit & 1 else ~plane
        return found

    def _half(self, slot: int, bit: int) -> Word:
        digits = len(self._planes)
        if slot >= _INSIDE:
            halves = self._planes.reshape(digits, -1, 2, 1 << (slot - _INSIDE))
            return np.ascontiguousarray(halves[:, :, bit]).reshape(digits, -1)
        octets = _squeeze(slot, bit)[self._planes]
        if octets.shape[1] == 1:  # a word of eight inputs repeats itself
            octets = np.repeat(octets, 2, axis=1)
        return octets.view(np.uint16)

    def _change(self, slot: int) -> float:
        """Probability, over all other features, that the slot's two values get different labels."""
        place = slot - _INSIDE
        if place >= 0:
            return self._weigh(_union([_across(plane, place) for plane in self._planes]), place)
        step = 1 << slot
        changed = _union([(plane ^ (plane >> step)) & _LOWER[slot] for plane in self._planes])
        # Set both positions of a pair: their masses add up to the mass of the other features.
        np.bitwise_or(changed, changed << step, out=changed)
        return self._weigh(changed, None)

    def _weigh(self, words: Word, without: int | None) -> float:
        """Mass of the set bits; ``without`` names the one slot outside a word that the words no longer have."""
        low, high = self._weights
        places = len(low).bit_length() - 1
        if without is not None and without < places:
            low = low.reshape(-1, 2, 1 << without).sum(axis=1).ravel()
        elif without is not None:
            high = high.reshape(-1, 2, 1 << (without - places)).sum(axis=1).ravel()
        masses = self._masses(words).reshape(len(high), len(low))
        return float((high * (masses * low).sum(axis=1)).sum())  # in NumPy's order, on every machine: no BLAS

    def _masses(self, words: Word) -> Floats:
        """Mass of each word's set bits under the four slots inside a word."""
        low, high = self._octet_masses
        if words.size >= _LARGE:
            # take() is twice as fast on indices of its own type.
            return self._word_masses.take(words.astype(np.intp), mode="clip")
        return low[words & 0xFF] + high[words >> 8]  # type: ignore[no-any-return]

    @cached_property
    def _octet_masses(self) -> tuple[Floats, Floats]:
        weights = _kronecker(self._biases[:_INSIDE])
        return (_octets() * weights[:8]).sum(axis=1), (_octets() * weights[8:]).sum(axis=1)

    @cached_property
    def _word_masses(self) -> Floats:
        low, high = self._octet_masses
        return (high[:, None] + low[None, :]).ravel()

    @cached_property
    def _weights(self) -> tuple[Floats, Floats]:
        """Masses of the positions of the lower and of the upper half of the slots outside a word."""
        outside = self._biases[_INSIDE:]
        half = len(outside) // 2
        return _kronecker(outside[:half]), _kronecker(outside[half:])


def _apart(planes: NDArray[np.uint64], slot: int) -> NDArray[np.uint64]:
    """Where labels differ between the two values of a slot: half as many words.

    A slot inside a word leaves half of the word's bits idle, and the next word's have their place there.
    """
    halves = planes.reshape(len(planes), -1, 2, 1 << max(0, slot - _WIDE))
    if slot >= _WIDE:
        return np.asarray(np.bitwise_or.reduce(halves[:, :, 0] ^ halves[:, :, 1]).ravel())
    step = np.uint64(1 << slot)
    lower = np.uint64(sum(1 << place for place in range(64) if not place >> slot & 1))
    apart = (np.bitwise_or.reduce(halves ^ halves >> step) & lower).reshape(-1, 2)
    return np.asarray(apart[:, 0] | apart[:, 1] << step)


def _word_sums(words: NDArray[np.uint64], masses: Floats) -> Floats:
    """The mass of each word's set bits; ``masses`` has that of all values of each byte."""
    if len(words) < _LARGE:  # the same sums, without a table of all pairs of bytes
        octets = words.view(np.uint8).reshape(-1, 8)
        one, two, three, four = (
            masses[k + 1].take(octets[:, k + 1]) + masses[k].take(octets[:, k]) for k in range(0, 8, 2)
        )
    else:
        pairs = [(high[:, None] + low).ravel() for low, high in zip(masses[::2], masses[1::2], strict=True)]
        parts = words.view(np.uint16).reshape(-1, 4)
        # take() is twice as fast on indices of its own type.
        one, two, three, four = (pair.take(parts[:, k].astype(np.intp), mode="clip") for k, pair in enumerate(pairs))
    total: Floats = (one + two) + (three + four)
    return total


def _in_blocks(sums: Floats, biases: list[float]) -> float:
    """Sums of words, weighed by the slots outside, in the twin's order: blocks of words, each of them in four lanes."""
    low, high = _kronecker(biases[:_WIDE]), _kronecker(biases[_WIDE:])
    lanes = np.add.reduce(sums.reshape(len(high), -1, 4) * low.reshape(-1, 4), axis=1)
    blocks = (lanes[:, 0] + lanes[:, 1]) + (lanes[:, 2] + lanes[:, 3])
    return float(np.add.accumulate(blocks * high)[-1])


def _union(sets: list[Word]) -> Word:
    return sets[0] if len(sets) == 1 else np.bitwise_or.reduce(sets)


def _across(plane: Word, place: int) -> Word:
    """Words whose bits differ between the two values of a slot outside a word.

    Neighbouring words are compared inside wider ones: strided 16-bit operations are several times slower.
    """
    if place == 0:
        wide = plane.view(np.uint32)
        return (wide ^ (wide >> 16)).astype(np.uint16)
    if place == 1:
        wider = plane.view(np.uint64)
        return (wider ^ (wider >> 32)).astype(np.uint32).view(np.uint16)
    halves = plane.view(np.uint64).reshape(-1, 2, 1 << (place - 2))
    return (halves[:, 0] ^ halves[:, 1]).view(np.uint16).ravel()


def _kronecker(biases: Sequence[float]) -> Floats:
    """Masses of all positions of some slots, the first slot changing fastest."""
    return combined(np.array([1 - bias, bias]) for bias in biases)


def _octet_sums(weights: Floats) -> Floats:
    """For each line of eight weights the sum over the bits of every byte: of pairs of bits, of these, of these."""
    sums = np.stack([np.zeros_like(weights), weights], axis=-1)  # lines, places, values
    while sums.shape[1] > 1:
        sums = (sums[:, 1::2, :, None] + sums[:, ::2, None, :]).reshape(len(sums), sums.shape[1] // 2, -1)
    return sums[:, 0]


@cache
def _octets() -> Floats:
    """The bits of every byte, lowest first."""
    return np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(np.float64)


@cache
def _squeeze(slot: int, bit: int) -> NDArray[np.uint8]:
    """For every word, the eight bits at which the slot has this value."""
    words = np.arange(1 << 16, dtype=np.uint16)
    bits = np.unpackbits(words.view(np.uint8).reshape(-1, 2), axis=1, bitorder="little")
    kept = bits.reshape(-1, 8 >> slot, 2, 1 << slot)[:, :, bit]
    return np.packbits(kept.reshape(-1, 8), axis=1, bitorder="little").ravel()
