"""Random inputs from named, counter-based streams.

A stream is a seed and a purpose; block ``b`` of it is the same whatever was drawn before, on any number of
workers, and each feature of a block has its own lane. So a block can be drawn again instead of being stored,
and streams with different purposes (grow, label, certify) never share a random bit.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import check_count
from fidelitree.spaces.features.boolean import Boolean
from fidelitree.spaces.features.feature import pick, uniforms

if TYPE_CHECKING:
    from fidelitree.spaces.region import Region

Inputs = NDArray[Any]
"""Drawn inner values, one row for each feature: a feature's values lie side by side in memory.

Bytes where all features are bits, floats otherwise."""


_thread = threading.local()
_NOTHING = np.zeros(4, np.uint64)


@dataclass(frozen=True)
class Stream:
    """Randomness for one purpose.

    >>> Stream.named(0, "grow").child("leaf", 3)
    Stream(name='0/grow/leaf/3')
    """

    name: str
    key: NDArray[np.uint64] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        digest = hashlib.sha256(self.name.encode()).digest()
        object.__setattr__(self, "key", np.frombuffer(digest[:16], "<u8").astype(np.uint64))

    @classmethod
    def named(cls, seed: int, purpose: str) -> Stream:
        """The stream of a seed for a purpose; 0 is a seed like any other."""
        return cls(f"{check_count('seed', seed, least=0)}/{purpose}")

    def child(self, *parts: str | int) -> Stream:
        """A stream of its own for a part of the purpose."""
        return Stream("/".join([self.name, *map(str, parts)]))

    def lane(self, block: int, lane: int) -> np.random.BitGenerator:
        """The random bits of one lane of one block.

        All lanes of a thread share one generator, because making one takes longer than drawing a thousand bits
        from it: use a lane before asking for the next.
        """
        if not hasattr(_thread, "generator"):
            _thread.generator = np.random.Philox(0)
        generator: np.random.Philox = _thread.generator
        generator.state = {
            "bit_generator": "Philox",
            "state": {"counter": np.array([0, 0, lane, block], np.uint64), "key": self.key},
            "buffer": _NOTHING,
            "buffer_pos": len(_NOTHING),
            "has_uint32": 0,
            "uinteger": 0,
        }
        return generator

    def uniforms(self, block: int, lane: int, rows: int) -> NDArray[np.float64]:
        """Random numbers of one lane, at least 0 and below 1."""
        return uniforms(self.lane(block, lane), rows)

    def picks(self, block: int, lane: int, rows: int, shares: NDArray[np.float64]) -> NDArray[np.intp]:
        """So many positions, each as often as its share asks."""
        return pick(self.uniforms(block, lane, rows), shares)


def fresh_seed() -> int:
    """A seed from the machine's entropy, small enough for any JSON reader."""
    return secrets.randbits(53)


def seed_of(given: object) -> int:
    """A seed that was given, or one of the machine's own."""
    return fresh_seed() if given is None else check_count("seed", given, least=0)


def fresh_entropy() -> str:
    """128 bits of the machine's entropy, as a certificate records them."""
    return secrets.token_hex(16)


def block_rows(features: int, budget: int = 1 << 22) -> int:
    """Rows of a block: at most 65 536, fewer where they would take more than ``budget`` bytes.

    It depends on the number of features alone, so that what is drawn does not depend on the machine.
    """
    return max(64, min(1 << 16, budget // features) // 64 * 64)


def draw(region: Region, stream: Stream, block: int, rows: int) -> Inputs:
    """Inputs inside the region, one row of the result for each feature."""
    columns = np.empty((len(region.space), rows), region.space.dtype)
    for i in range(len(region.space)):
        columns[i] = draw_feature(region, stream, block, rows, i)
    return columns


def draw_feature(region: Region, stream: Stream, block: int, rows: int, i: int) -> Inputs:
    """One feature of `draw`, alone."""
    return region.space.features[i].draw(stream.lane(block, i), rows, region.restrictions.get(i))


def redraw(region: Region, stream: Stream, block: int, rows: int, i: int) -> Inputs:
    """A second, independent value of feature ``i`` for every row of the block."""
    lane = len(region.space) + i
    return region.space.features[i].draw(stream.lane(block, lane), rows, region.restrictions.get(i))


def paired(inputs: Inputs, redraws: Inputs | Mapping[int, Inputs], features: Sequence[int]) -> Inputs:
    """The inputs as they are, then once for each of some features with that feature's values replaced.

    ``redraws[i]`` are the new values of feature i. Of the result, ``[:, 0]`` are the inputs and ``[:, 1 + k]`` the
    same with feature ``features[k]`` re-drawn.
    """
    batches = np.empty((len(inputs), len(features) + 1, inputs.shape[1]), inputs.dtype)
    batches[:] = inputs[:, None, :]
    for k, i in enumerate(features):
        batches[i, 1 + k] = redraws[i]
    return batches


BIT_ROWS = 128
"""Inputs of a block of bits: a small one costs as much as a large one."""


class BitDraws:
    """Bits with the given biases, one input after the other, drawn in blocks.

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
            drawn = bit.draw(self._stream.lane(self._blocks, lane), count * BIT_ROWS, None)
            parts.append(drawn.reshape(count, BIT_ROWS))
        self._blocks += 1
        return np.concatenate(parts)
