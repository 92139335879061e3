"""The streams of `spaces.draw` in torch's integers: Philox 4x64-10, bit for bit what NumPy draws.

A lane of a block is a row of 64-bit words: word w is one of the four of the counter (1 + w // 4, 0, lane, block). A bit
of an input reads one byte of them, a uniform one word. `fused` has the same as kernels; this is their twin, which
runs everywhere. torch has no unsigned words of 64 bits to count with, so a word is its signed twin, and its upper
half is taken by a shift and a mask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fidelitree.spaces.draw import Stream

MULTIPLIERS = 0xD2E7470EE14C6C93, 0xCA5A826395121157
BUMPS = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B
ROUNDS = 10
WORDS = 4  # of one counter
LOW_BITS = 45  # of a uniform of 53 bits, after its first byte
_HALF = (1 << 32) - 1
Tensor = Any


def signed(word: int) -> int:
    """The number between -2^63 and 2^63 with the same 64 bits."""
    return (word + (1 << 63)) % (1 << 64) - (1 << 63)


def key_of(stream: Stream) -> tuple[int, int]:
    """Both words of a stream's key."""
    one, two = stream.key.tolist()
    return one, two


def _upper(words: Tensor) -> Tensor:
    """The upper halves, as if the words had no sign."""
    return (words >> 32) & _HALF


def _product(words: Tensor, by: int) -> tuple[Tensor, Tensor]:
    """The upper and the lower word of each product with a constant."""
    (high, low), (top, bottom) = (_upper(words), words & _HALF), divmod(by, 1 << 32)
    across, other = low * top, high * bottom
    carried = _upper(low * bottom) + (across & _HALF) + (other & _HALF)
    return high * top + _upper(across) + _upper(other) + (carried >> 32), words * signed(by)


def counters(
    key: tuple[int, int], number: Tensor, lane: Tensor, block: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The four words of counters; what is given is spread over each other's shape."""
    one, two = key
    words = number, number * 0, lane, block
    for _ in range(ROUNDS):
        (high, low), (up, down) = _product(words[0], MULTIPLIERS[0]), _product(words[2], MULTIPLIERS[1])
        words = up ^ words[1] ^ signed(one), down, high ^ words[3] ^ signed(two), low
        one, two = (one + BUMPS[0]) % (1 << 64), (two + BUMPS[1]) % (1 << 64)
    return words


def word_at(key: tuple[int, int], place: Tensor, lane: Tensor, block: Tensor) -> Tensor:
    """Single words by their places in their lanes."""
    four, which = counters(key, 1 + place // WORDS, lane, block), place % WORDS
    found = four[0]
    for k in range(1, WORDS):
        found = found.where(which != k, four[k])
    return found


def lane_words(key: tuple[int, int], rows: int, lane: Tensor, block: Tensor) -> Tensor:
    """The first words of lanes, blocks by words by lanes; ``lane`` and ``block`` are lists of numbers."""
    number = 1 + (lane.new_ones(-(-rows // WORDS)).cumsum(0) - 1)
    four = counters(key, number[None, :, None], lane[None, None, :], block[:, None, None])
    shape = len(block), len(number), len(lane)
    together = four[0].new_empty(*shape[:2], WORDS, shape[2])
    for k, words in enumerate(four):
        together[:, :, k] = words
    return together.reshape(shape[0], -1, shape[2])[:, :rows]


def uniforms(words: Tensor) -> Tensor:
    """Numbers from 0 to 1 with 53 bits."""
    return ((words >> 11) & ((1 << 53) - 1)).double() * 2.0**-53
