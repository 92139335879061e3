"""The family on which greedy trees are large: a parity of a block that rare selectors pick.

There are r blocks of k fair bits. Block b < r has s selectors of small bias; the first block with a selector at 1
counts, else the last one. Its *gated* form is x0 AND that parity, with Pr[x0 = 1] = eta. A short tree reads the
selectors first. Algorithm 1 sees that every selector has less influence than any bit of a block, and reads all k r
block bits of every leaf before it reads one selector (docs/tight.md has the proof).

>>> SelectorParity(10, 50, 5).log_greedy_size(0.1) / SelectorParity(10, 50, 5).log_size_bound(0.1)  # doctest: +ELLIPSIS
0.0192...
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fidelitree.theory.bounds import log_size_corrected_by_influence

_ENUMERATED = 16  # blocks up to which the error is a sum over all their parities


@dataclass(frozen=True)
class SelectorParity:
    """F(r, k, s, eta); without eta there is no gate. Biases rounded to four decimals make the blocks nearly tie."""

    r: int
    k: int
    s: int
    eta: float | None = None

    @property
    def depth(self) -> int:
        """Of the tree that reads the gate, the selectors in order, then the block; the best depth is at most this."""
        return (self.eta is not None) + self.s * (self.r - 1) + self.k

    @property
    def n(self) -> int:
        """Number of bits."""
        return self.depth + self.k * (self.r - 1)

    @property
    def open_share(self) -> float:
        """Probability that the gate is open; 1 without one."""
        return 1.0 if self.eta is None else self.eta

    @cached_property
    def biases(self) -> NDArray[np.float64]:
        """Of a selector, for each block but the last."""
        left = self.r - np.arange(1, self.r) + 1
        return np.round(1 - (1 - 1 / left) ** (1 / self.s), 4)

    @cached_property
    def reached(self) -> NDArray[np.float64]:
        """For each block: the probability that no earlier one is picked."""
        return np.concatenate([[1.0], np.cumprod((1 - self.biases) ** self.s)])

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Probability of each block to be picked; half of it is the influence of its unread bits behind the gate."""
        return np.append(-np.diff(self.reached), self.reached[-1])

    @cached_property
    def selector_caps(self) -> NDArray[np.float64]:
        """Largest influence of a selector behind the gate while no selector was read: no other may pick earlier."""
        return np.asarray(2 * self.biases * (1 - self.biases) ** self.s * self.reached[:-1])

    @property
    def average_depth(self) -> float:
        """Of the same tree: the selectors are read one by one until one of them is 1."""
        blocks = (1 - (1 - self.biases) ** self.s) / self.biases  # expected selectors read in a block, once reached
        return (self.eta is not None) + self.open_share * (float(blocks @ self.reached[:-1]) + self.k)

    @property
    def inner_influence(self) -> float:
        """Total influence behind the gate; a selector matters when two unread parities differ, half the time."""
        return (self.k + self.s * float(self.selector_caps.sum())) / 2

    @property
    def influence(self) -> float:
        """Total influence; the gate matters where the parity is 1, half the time."""
        gate = 0.0 if self.eta is None else self.eta * (1 - self.eta)
        return gate + self.open_share * self.inner_influence

    @property
    def blocks_first(self) -> bool:
        """Whether Algorithm 1 reads the gate, then every block bit of all leaves behind it before any selector."""
        calm = bool(self.selector_caps.max() < self.weights.min() / 2)
        return calm and (self.eta is None or self.eta < 0.5)

    @property
    def error_after_blocks(self) -> float:
        """At least the error when all block bits and no selectors were read: eta E[min(W_0, W_1)].

        W_1 is the weight of the blocks of odd parity. By enumeration for few blocks, else by Cauchy and Schwarz.
        """
        if self.r > _ENUMERATED:
            return self.open_share * (1 - math.sqrt(float(self.weights @ self.weights))) / 2
        odd = np.zeros(1)
        for weight in self.weights:
            odd = np.concatenate([odd, odd + weight])
        return self.open_share * float(np.minimum(odd, 1 - odd).mean())

    def log_greedy_size(self, epsilon: float) -> float:
        """Algorithm 1's tree has at least this logarithm of leaves: all k r block bits in each, behind the gate."""
        if not (self.blocks_first and epsilon < self.error_after_blocks):
            raise ArithmeticError(f"{self} does not force Algorithm 1 to read all blocks at epsilon {epsilon}")
        return self.k * self.r * math.log(2)

    def log_size_bound(self, epsilon: float) -> float:
        """What the corrected theorem allows Algorithm 1 (form 1, Delta* at its most, D)."""
        return log_size_corrected_by_influence(self.influence, self.depth, self.depth, epsilon)

    def log_first_phase(self, epsilon: float) -> float:
        """Splits until the cost is at most epsilon D: at least the exponential of this.

        While block bits only are read, the cost is at least (eta/2)(k - largest weight x average bits read), and a
        tree that reads t fair bits on average has at least 2^t leaves.
        """
        needed = (self.k - 2 * epsilon * self.depth / self.open_share) / float(self.weights.max())
        return min(needed * math.log(2), self.log_greedy_size(epsilon))

    @property
    def log_size(self) -> float:
        """Of the short tree's leaves: a block below each selector at 1, and the last block."""
        return math.log(self.s * (self.r - 1) + 1) + self.k * math.log(2)
