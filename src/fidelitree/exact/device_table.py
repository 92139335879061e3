"""Exact answers about a model on its device, from a truth table of 32 inputs to a word.

The table is written on the device and stays there. Sums are made in double precision, in blocks, so that they are
exact to a few units of the last place of a double times the depth of the sum: far below 1e-12.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import ParameterError
from fidelitree.exact.cells import combined
from fidelitree.targets.device.lanes import DeviceTree, fused_for, placed
from fidelitree.targets.device.philox import signed
from fidelitree.trees.tree import Tree, check_tree

if TYPE_CHECKING:
    from fidelitree.asking.on_device import OnDevice

Tensor = Any
Floats = NDArray[np.float64]
MOST_FEATURES = 34
_INSIDE = 5  # slots inside a word
_AT_ONCE = 18  # features whose values are asked together
FROM = 16
"""Features from which a table is worth its kernels."""
_LOW = 12  # slots of the lower table of weights
_TILE, _TILES = 1024, 8  # words that a kernel sums at once, and how often


@dataclass(frozen=True, eq=False)
class DeviceTable:
    """The binary digits of a function's codes, lowest first, each as words of 32 inputs; bit i of a position is x_i."""

    planes: Tensor
    biases: Floats
    shares: Floats
    """The probability of each code."""

    @classmethod
    def of(cls, asked: OnDevice) -> DeviceTable:
        """Ask a model about every input, from 2^5 to 2^34 of them."""
        n, model, free = _checked(asked, _INSIDE, MOST_FEATURES), asked.model, min(_AT_ONCE, len(asked.counted.space))
        low, high = _masses(asked.counted.space.biases, free, model.device)
        words, found = 1 << (free - _INSIDE), None
        planes: Tensor = None
        for part, inputs in enumerate(_listed(asked, free)):
            codes = asked.ask(inputs, "enumerate")
            if planes is None:
                digits = max(1, (model.width - 1).bit_length())
                planes, found = (
                    placed([], model.device).new_zeros((digits, 1 << (n - _INSIDE))),
                    low.new_zeros(model.width + 1),
                )
            wrong = (codes < 0) | (codes >= model.width)
            cells = codes.where(~wrong, model.width)
            found += float(high[part]) * cells.bincount(low, model.width + 1)
            for digit, plane in enumerate(planes):
                _pack(plane[part * words : (part + 1) * words], codes, digit)
        assert found is not None, "there is at least one input"
        *shares, bad = found.tolist()
        if bad:
            raise model.refused(1)
        return cls(planes, asked.counted.space.biases, np.array(shares))

    def influences(self) -> Floats:
        """The influence of every feature: 2p(1-p) times the chance that its two values get different labels."""
        p = self.biases
        return np.asarray(2 * p * (1 - p) * self.changes().cpu().numpy())

    def changes(self) -> Tensor:
        """For every feature the mass of the others at which its values get different labels, on the device."""
        fused = fused_for(self.planes.device)
        if fused is None or len(self.biases) < FROM:
            return self._in_torch()
        return self._launch(fused)

    def _launch(self, fused: Any) -> Tensor:
        (digits, words), outer = self.planes.shape, self.biases[_INSIDE:]
        octets, low, high, likely, share = self._weights
        tile = {"LB": len(low).bit_length() - 1, "B": min(_TILE, words // 2 // _TILES), "C": _TILES, "num_warps": 8}
        programs = words // 2 // (tile["B"] * _TILES)
        out = octets.new_empty((len(outer), programs)), octets.new_empty((_INSIDE, 2 * programs))
        masses, sizes = (self.planes, octets, low, high), (digits, words)
        fused.changes_outside[programs, len(outer)](*masses, likely, out[0], *sizes, **tile)
        fused.changes_inside[(2 * programs,)](*masses, out[1], *sizes, **tile)
        found = octets.new_empty(len(self.biases))
        found[:_INSIDE], found[_INSIDE:] = out[1].sum(1), out[0].sum(1) / share
        return found

    @cached_property
    def _weights(self) -> tuple[Tensor, ...]:
        """Masses of the bytes of a word, and of the lower and upper slots of words' places.

        A pair of words weighs what the likelier one does, but for the share of that one's own value: both come last.
        """
        outer, device = self.biases[_INSIDE:], self.planes.device
        pairs = [np.array([1 - p, p]) for p in self.biases]
        bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
        inside, middle = combined(pairs[:_INSIDE]).reshape(4, 8), _INSIDE + min(_LOW, len(pairs) - _INSIDE - 1)
        octets = np.concatenate([bits @ part for part in inside])
        low, high, share = combined(pairs[_INSIDE:middle]), combined(pairs[middle:]), np.maximum(outer, 1 - outer)
        masses = [placed(table, device, "float64") for table in (octets, low, high, share)]
        return *masses[:3], placed(outer >= 0.5, device), masses[3]

    def _in_torch(self) -> Tensor:
        """The same without kernels: one byte for each input."""
        count = len(self.biases)
        shifts = placed(np.arange(32), self.planes.device)
        codes = sum(((plane[:, None] >> shifts) & 1).flatten() << digit for digit, plane in enumerate(self.planes))
        masses = placed(combined([np.array([1 - p, p]) for p in self.biases]), self.planes.device, "float64")
        found = masses.new_empty(count)
        for i in range(count):
            halves, weights = codes.view(-1, 2, 1 << i), masses.view(-1, 2, 1 << i).sum(1)
            found[i] = (weights * (halves[:, 0] != halves[:, 1])).sum()
        return found


def device_error(tree: Tree, asked: OnDevice) -> float:
    """The probability that a tree and a model answer differently, from every input, at most 2^30, on its device."""
    space, device = asked.counted.space, asked.model.device
    check_tree(tree)
    tree.check_space(space)
    free = min(_AT_ONCE, _checked(asked, 1, 30))
    walked = DeviceTree.of(tree.nodes, tree.depth, device)
    own, (low, high) = placed(tree.labels, device, "int64"), _masses(space.biases, free, device)
    wrong, bad = low.new_zeros(()), low.new_zeros(())
    for part, inputs in enumerate(_listed(asked, free)):
        predicted = own[walked.held[walked.reached(inputs)]]
        codes = asked.ask(inputs, "enumerate")
        wrong += float(high[part]) * (low * (codes != predicted)).sum()
        bad += ((codes < 0) | (codes >= asked.model.width)).sum()
    if bad:
        raise asked.model.refused(int(bad))
    return float(wrong)


def _masses(biases: Floats, free: int, device: Any) -> tuple[Tensor, Floats]:
    """The masses of all values of the first features, on the device, and of the others."""
    pairs = [np.array([1 - p, p]) for p in biases]
    return placed(combined(pairs[:free]), device, "float64"), combined(pairs[free:])


def _checked(asked: OnDevice, least: int, most: int) -> int:
    """The number of features, for which all inputs are asked."""
    n = len(asked.counted.space)
    if not least <= n <= most:
        raise ParameterError(
            f"space must have {least} to {most} features for all inputs to be asked on a device; got {n}"
        )
    return n


def _listed(asked: OnDevice, free: int) -> Iterator[Tensor]:
    """All inputs in the order of their numbers, 2^``free`` at a time."""
    n, device, dtype = len(asked.counted.space), asked.model.device, asked.model.dtype
    fused, bits = fused_for(device), placed(np.arange(n), device, "int64")
    rows = placed(np.arange(1 << free if fused is None else 0), device, "int64")
    for start in range(0, 1 << n, 1 << free):
        out = bits.new_empty((1 << free, n), dtype=dtype)
        if fused is None:
            out.copy_(((start + rows[:, None]) >> bits) & 1)
        else:
            tile = min(64, 1 << free)
            fused.list_bits[((1 << free) // tile,)](out, start, n, R=tile, F=1 << (n - 1).bit_length())
        yield out


def _pack(out: Tensor, codes: Tensor, digit: int) -> None:
    fused = fused_for(out.device)
    if fused is not None and len(out) >= 64:
        fused.pack_bits[(len(out) // 64,)](out, codes.to(out.dtype), digit, B=64)
        return
    places = placed([signed32(1 << k) for k in range(32)], out.device)
    out.copy_((((codes.to(out.dtype).view(-1, 32) >> digit) & 1) * places).sum(1, dtype=out.dtype))


def signed32(word: int) -> int:
    """The number between -2^31 and 2^31 with the same 32 bits."""
    return signed(word << 32) >> 32
