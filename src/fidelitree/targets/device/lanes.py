"""What happens on a device between a stream and a model: bits are drawn, trees are walked, answers are counted.

Every function here has two ways to one result: a kernel (`fused`), where the device is CUDA's and Triton is there, and
torch's own operations. Both draw what `spaces.draw` draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import need
from fidelitree.targets.device.philox import LOW_BITS, Tensor, key_of, lane_words, signed, uniforms, word_at

if TYPE_CHECKING:
    from fidelitree.spaces.draw import Stream
    from fidelitree.spaces.features import Test
    from fidelitree.spaces.region import Region

_MOST_BINS = 1 << 12
_UNIFORM_BITS = LOW_BITS + 8


def fused_for(device: Any) -> Any:
    """The kernels for a device; None where there are none."""
    if device.type != "cuda" or find_spec("triton") is None:
        return None
    return import_module("fidelitree.targets.device.fused")


def placed(values: Any, device: Any, kind: str = "int32") -> Tensor:
    """Numbers on the device."""
    torch = need("torch", "torch", "models on a device")
    return torch.as_tensor(np.array(values, order="C"), device=device, dtype=getattr(torch, kind))


def bit_limits(shares: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """How a bit that is 1 so often follows from its first byte: 1 below the first number, a tie at the second.

    Of those that tie, the other bits must be below the third number.
    """
    first, rest = np.divmod(np.ceil(shares * 2.0**_UNIFORM_BITS).astype(np.int64), 1 << LOW_BITS)
    return first, np.where(rest > 0, first, -1), rest


@dataclass(frozen=True, eq=False)
class BitLanes:
    """Where the bits of a region come from: feature i is 1 where its byte is below ``limits[i]``.

    At a byte equal to ``tied[i]``, which is -1 where none ties, 45 more bits decide: they must be below ``rest[i]``.
    """

    key: Tensor
    words: tuple[int, int]
    lane: int
    limits: Tensor
    tied: Tensor
    rest: Tensor
    ties: bool

    @classmethod
    def of(cls, region: Region, stream: Stream, device: Any, again: bool = False) -> BitLanes:
        """Those of inputs inside the region, or of features that are drawn ``again``."""
        shares = region.space.biases.copy()
        for i, value in region.restrictions.items():
            shares[i] = value
        first, tied, rest = bit_limits(shares)
        key = placed([signed(word) for word in key_of(stream)], device, "int64")
        lane = len(region.space) if again else 0
        kinds = placed(first, device), placed(tied, device), placed(rest, device, "int64")
        return cls(key, key_of(stream), lane, *kinds, bool((rest > 0).any()))

    def only(self, i: int) -> BitLanes:
        """One feature of them."""
        part = slice(i, i + 1)
        return replace(self, lane=self.lane + i, limits=self.limits[part], tied=self.tied[part], rest=self.rest[part])

    def draw(self, blocks: range, rows: int, dtype: Any) -> Tensor:
        """Inputs of some blocks, as many rows of each, one after the other; 0 and 1 in the type that is asked for."""
        out = self.limits.new_empty((len(blocks) * rows, len(self.limits)), dtype=dtype)
        fused = fused_for(out.device)
        if fused is None:
            out.copy_(self._bits(blocks, rows).reshape(out.shape))
        else:
            self._launch(fused, out, blocks, rows)
        return out

    def _bits(self, blocks: range, rows: int) -> Tensor:
        """The same in torch, blocks by rows by features."""
        n, device = len(self.limits), self.limits.device
        lane, block = self.lane + numbered(n, device), blocks.start + numbered(len(blocks), device)
        words = lane_words(self.words, -(-rows // 8), lane, block)
        octets = ((words[:, :, None, :] >> (8 * numbered(8, device)[None, None, :, None])) & 255).flatten(1, 2)[
            :, :rows
        ]
        found = octets < self.limits
        if self.ties:
            tie = octets == self.tied
            own, row, i = tie.nonzero(as_tuple=True)
            rank = tie.cumsum(1)[own, row, i] - 1
            more = word_at(self.words, -(-rows // 8) + rank, lane[i], block[own])
            found[own, row, i] = ((more >> (64 - LOW_BITS)) & ((1 << LOW_BITS) - 1)) < self.rest[i]
        return found

    def _launch(self, fused: Any, out: Tensor, blocks: range, rows: int) -> None:
        n, counters = len(self.limits), -(-rows // 32)
        columns = min(128, _power(n))
        numbers = min(1024 // columns, _power(counters))
        grid = -(-n // columns), -(-counters // numbers), len(blocks)
        shape = (len(blocks), counters, n) if self.ties else (1, 1, 1)
        ties, counts = self.limits.new_empty(shape), self.limits.new_empty(shape)
        ends = n, rows, blocks.start, self.lane, counters
        size = {"J": numbers, "F": columns, "num_warps": 4}
        fused.draw_bits[grid](out, self.key, self.limits, self.tied, ties, counts, *ends, TIES=self.ties, **size)
        if self.ties:
            before = counts.cumsum(1, dtype=counts.dtype) - counts
            fused.settle_ties[grid](out, self.key, self.rest, ties, before, *ends, **size)


@dataclass(frozen=True, eq=False)
class BalancedLanes:
    """Where bits come from whose rows have their number of ones first: `analysis.stars.draw_balanced` says how."""

    stream: Stream
    free: Sequence[int]
    biases: NDArray[np.float64]
    chances: NDArray[np.float64]
    start: Tensor
    """One row: the values of features that are not free."""

    def draw(self, blocks: range, rows: int, dtype: Any) -> Tensor:
        """Inputs of some blocks as bytes, which ``dtype`` must be."""
        assert dtype == self.start.dtype, "bits are drawn as bytes here"
        n, device = len(self.start), self.start.device
        out = self.start.expand(len(blocks) * rows, n).contiguous()
        most, fused, tables = int(np.flatnonzero(self.chances[0])[-1]), fused_for(device), self._tables
        if fused is None:
            self._in_torch(out.view(len(blocks), rows, n), blocks, rows, (*tables[2:], most))
            return out
        numbers = min(64, _power(-(-rows // 4)))
        grid = -(-rows // (4 * numbers)), len(blocks)
        sizes = n, rows, blocks.start, len(self.free), self.chances.shape[1], most
        fused.draw_balanced[grid](out, *tables, *sizes, J=numbers, num_warps=2)
        return out

    @cached_property
    def _tables(self) -> tuple[Tensor, ...]:
        """What kernels read: a copy to the device takes as long as thousands of draws."""
        key, floats = (
            [signed(word) for word in key_of(self.stream)],
            (self.biases, self.chances, np.cumsum(self.chances[0])),
        )
        device = self.start.device
        numbers = placed(key, device, "int64"), placed(self.free, device)
        return *numbers, *(placed(table, device, "float64") for table in floats)

    def _in_torch(self, out: Tensor, blocks: range, rows: int, tables: tuple[Any, ...]) -> None:
        (biases, chances, ends, most), device, n = tables, out.device, out.shape[2]
        block = blocks.start + numbered(len(blocks), device)
        lanes = placed([2 * n, *self.free], device, "int64")
        drawn = uniforms(lane_words(key_of(self.stream), rows, lanes, block))
        slices = (numbered(rows, device) + drawn[:, :, 0]) / rows
        left = (ends <= slices[:, :, None]).sum(2).clamp(max=most)
        for place, i in enumerate(self.free):
            one = biases[place] * chances[place + 1][(left - 1).clamp(min=0)].where(left > 0, 0.0)
            value = (drawn[:, :, place + 1] * chances[place][left] < one).to(left.dtype)
            out[:, :, i] = value.to(out.dtype)
            left = left - value


def hybrids(inputs: Tensor, changed: Tensor | None, features: Tensor, part: slice, dtype: Any) -> Tensor:
    """Some inputs, then the same once for each feature with its changed value: flipped bits where none is given.

    The result has ``(1 + len(features)) * rows`` rows. ``features`` begins with -1, for the inputs as they are.
    """
    rows, n = part.stop - part.start, inputs.shape[1]
    out = inputs.new_empty((len(features) * rows, n), dtype=dtype)
    if (fused := fused_for(inputs.device)) is not None:
        columns, tile = min(1024, _power(n)), max(1, 1024 // _power(n))
        new, grid = inputs if changed is None else changed, (-(-rows // tile), len(features))
        ends = n, rows, len(features), part.start
        fused.hybrids[grid](out, inputs, new, features, *ends, FLIP=changed is None, R=tile, F=columns, num_warps=4)
        return out
    base = inputs[part]
    batches, places = out.view(len(features), rows, n), features[1:].long()
    batches.copy_(base.to(dtype))
    new = 1 - base if changed is None else changed[part]
    batches[1 + numbered(len(places), inputs.device), :, places] = new.T[places].to(dtype)
    return out


@dataclass(frozen=True, eq=False)
class DeviceTree:
    """A tree of bits on a device; ``held`` is what each node holds, and leaves lead to themselves."""

    feature: Tensor
    no: Tensor
    yes: Tensor
    held: Tensor
    height: int
    """What nodes hold is below it."""
    depth: int

    @classmethod
    def of(cls, nodes: Sequence[tuple[Test, int, int] | int], depth: int, device: Any) -> DeviceTree:
        """From nodes, root first: the test of a bit with its no and its yes side, or what a leaf holds."""
        each = [
            (node[0].feature, *node[1:]) if isinstance(node, tuple) else (0, place, place)
            for place, node in enumerate(nodes)
        ]
        held = [0 if isinstance(node, tuple) else node for node in nodes]
        feature, no, yes = zip(*each, strict=True)
        asks, holds = [placed(column, device) for column in (feature, no, yes)], placed(held, device)
        return cls(asks[0], asks[1], asks[2], holds, max(held) + 1, depth)

    def reached(self, inputs: Tensor) -> Tensor:
        """The node at which each input ends."""
        rows, n = inputs.shape
        out = self.feature.new_zeros(rows)
        if (fused := fused_for(inputs.device)) is not None:
            if self.depth:
                grid = (-(-rows // 256),)
                fused.walk[grid](out, inputs, self.feature, self.no, self.yes, n, rows, self.depth, R=256)
            return out
        for _ in range(self.depth):
            value = inputs.gather(1, self.feature[out].long()[:, None])[:, 0]
            out = self.yes[out].where(value != 0, self.no[out])
        return out

    def tally(self, nodes: Tensor, codes: Tensor, width: int) -> Tensor:
        """Rows with each pair of what their node holds and their code, flat; then those whose code is none."""
        cells = self.height * width + 1
        fused = fused_for(nodes.device)
        if fused is not None and cells < _MOST_BINS:
            bins = _power(cells + 1)
            out = nodes.new_zeros(bins, dtype=nodes.new_empty(0).long().dtype)
            fused.tally[(-(-len(nodes) // 1024),)](
                out, nodes, self.held, codes, len(nodes), width, self.height, BINS=bins, R=1024
            )
            return out[:cells]
        wrong = (codes < 0) | (codes >= width)
        cell = (self.held[nodes].long() * width + codes.long()).where(~wrong, cells - 1)
        return cell.bincount(minlength=cells)


def numbered(size: int, device: Any) -> Tensor:
    """Whole numbers from 0 on."""
    return need("torch", "torch", "models on a device").arange(size, device=device)


def _power(number: int) -> int:
    """The least power of two that is not below a number."""
    return 1 << max(0, number - 1).bit_length()
