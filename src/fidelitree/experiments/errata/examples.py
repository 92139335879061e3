"""Counter-examples as sentences, with every number computed on the spot.

The paper's size theorems fail on x0 AND the parity of a block that rare selectors pick. There are r blocks of k fair
bits. Block b < r has s selectors of small bias; the first block with a selector at 1 is the one that counts, else the
last. A short tree reads the selectors; Algorithm 1 sees that every selector has less influence than any bit of a block,
and reads all k r of these first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fidelitree import theory
from fidelitree.experiments.errata.small import FREE, UNIT, Study

Describe = Callable[[Study, int], str]
Large = tuple[str, bool]
"""The sentence, and whether the numbers in it do contradict the statement."""


@dataclass(frozen=True)
class SelectorParity:
    """F(r, k, s, eta) with Pr[x0 = 1] = eta; selector biases rounded to four decimals make the blocks nearly tie."""

    r: int
    k: int
    s: int
    eta: float

    @property
    def depth(self) -> int:
        """Of the tree that reads x0, the selectors in order, then the block; the best depth is at most this."""
        return 1 + self.s * (self.r - 1) + self.k

    @property
    def n(self) -> int:
        """Number of bits."""
        return self.depth + self.k * (self.r - 1)

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
        """Probability of each block to be picked; half of it is the influence of its unread bits inside x0 = 1."""
        return np.append(-np.diff(self.reached), self.reached[-1])

    @cached_property
    def selector_caps(self) -> NDArray[np.float64]:
        """Largest influence of a selector inside x0 = 1 while no selector was read: no other one may pick earlier."""
        return np.asarray(2 * self.biases * (1 - self.biases) ** self.s * self.reached[:-1])

    @property
    def average_depth(self) -> float:
        """Of the same tree: the selectors are read one by one until one of them is 1."""
        blocks = (1 - (1 - self.biases) ** self.s) / self.biases  # expected selectors read in a block, once reached
        return 1 + self.eta * (float(blocks @ self.reached[:-1]) + self.k)

    @property
    def inner_influence(self) -> float:
        """Total influence inside x0 = 1; a selector matters when two unread parities differ, half the time."""
        return (self.k + self.s * float(self.selector_caps.sum())) / 2

    @property
    def blocks_first(self) -> bool:
        """Whether Algorithm 1 reads x0, then every block bit of a leaf before any selector there."""
        return bool(self.selector_caps.max() < self.weights.min() / 2) and self.eta < 0.5

    @property
    def error_after_blocks(self) -> float:
        """At least eta E[min(W_0, W_1)], the error when all block bits and no selectors were read.

        W_1 is the weight of the blocks of odd parity. By enumeration for few blocks, else by Cauchy and Schwarz.
        """
        if self.r > 16:
            return self.eta * (1 - math.sqrt(float(self.weights @ self.weights))) / 2
        odd = np.zeros(1)
        for weight in self.weights:
            odd = np.concatenate([odd, odd + weight])
        return self.eta * float(np.minimum(odd, 1 - odd).mean())

    def log_size(self, epsilon: float) -> float:
        """Algorithm 1's tree has at least this logarithm of leaves: all k r block bits in each, where x0 = 1."""
        if not (self.blocks_first and epsilon < self.error_after_blocks):
            raise ArithmeticError(f"{self} does not force Algorithm 1 to read all blocks at epsilon {epsilon}")
        return self.k * self.r * math.log(2)

    def log_first_phase(self, epsilon: float) -> float:
        """Splits until the cost is at most epsilon D: at least the exponential of this.

        While block bits only are read, the cost is at least (eta/2)(k - largest weight x average bits read), and a
        tree that reads t fair bits on average has at least 2^t leaves.
        """
        needed = (self.k - 2 * epsilon * self.depth / self.eta) / float(self.weights.max())
        return min(needed * math.log(2), self.log_size(epsilon))


def target(t: Study, row: int) -> str:
    """The function as an OR of its ones, and its biases."""
    ones = [x for x in range(2**t.n) if t.tables[row, x]]
    terms = [" AND ".join(("" if x >> i & 1 else "NOT ") + f"x{i}" for i in range(t.n)) for x in ones]
    biases = ", ".join(f"{p / UNIT:g}" for p in t.tenths)
    return f"f = {' OR '.join(terms)}, p = ({biases})"


def lemma_c_1(t: Study, row: int) -> str:
    """Largest influence against Var/Delta."""
    variance, average = 2 * t.gini[row], t.average_depth[row]
    return (
        f"{target(t, row)}: largest influence {t.influences[row].max():g} < "
        f"Var/Delta = {variance:g}/{average:g} = {variance / average:g}"
    )


def average_depth_of_leaves(t: Study, row: int) -> str:
    """A region whose best tree is deeper on average."""
    averages = [t.spreads[row, at] / m if (m := t.mass[at]) else 0 for at in range(len(t.mass))]
    at = max(range(len(averages)), key=averages.__getitem__)
    path = ", ".join(f"x{i} = {v}" for i, v in enumerate(t.regions[at]) if v != FREE)
    return f"{target(t, row)}: Delta_opt = {averages[0]:g}, but the leaf {path} has {averages[at]:g}"


def lemma_4_4(t: Study, row: int) -> str:
    """The first step that falls short, with epsilon midway between what breaks the floor and the error."""
    score, _, error = (values[row] for values in t.growth)
    average = t.average_depth[row]
    j = next(j for j in range(1, len(score) + 1) if 2 * error[j - 1] > score[j - 1] * j * average * (1 + 1e-9))
    epsilon = (score[j - 1] * j * average / 2 + error[j - 1]) / 2
    return (
        f"{target(t, row)}, epsilon = {epsilon:g}, j = {j}: error {error[j - 1]:g} > epsilon and score "
        f"{score[j - 1]:g} < 2 epsilon/(j Delta) = {2 * epsilon / (j * average):g}"
    )


def lemma_4_7(t: Study, row: int) -> str:
    """An empty first phase, with a split still to make."""
    influence, depth, error = t.influence[row], t.depth[row], t.error[row]
    epsilon = (influence / depth + error) / 2
    return (
        f"{target(t, row)}, epsilon = {epsilon:g}: Inf = {influence:g} <= epsilon D = {epsilon * depth:g}, so J_1 = 0 "
        f"and the bound is 0, but the error is {error:g} > epsilon and a split is made"
    )


# --- too large to run: x0 AND a parity of a selected block -----------------------------------------------------------


def lemma_4_5() -> Large:
    """After x0 was read: two leaves, one of them constant."""
    t = SelectorParity(4, 5, 2, 0.001)
    score = t.eta * float(max(t.weights.max(), t.selector_caps.max())) / 2
    printed = theory.score_floor_lemma_4_5_printed(2, t.eta * t.inner_influence, t.depth, t.average_depth)
    text = f"the tree that reads x0 (j = 2): score {score:.9f} < {printed:.9f}, which is {printed / score:.4f} times it"
    return f"{_member(t)}, {text}", score < printed


def lemma_4_6() -> Large:
    """The cost falls only as fast as block bits are read."""
    t = SelectorParity(160, 160, 5, 0.001)
    epsilon = t.eta / 100
    steps = t.log_first_phase(epsilon)
    printed = theory.log_steps_lemma_4_6_printed(t.depth, t.average_depth, epsilon)
    return f"{_member(t)}, epsilon = {epsilon:g}: ln J_1 >= {steps:.2f} > {printed:.2f}", steps > printed


def theorem_1_1() -> Large:
    """The smallest member found, and the one found first."""
    members = [(SelectorParity(12, 44, 4, 0.00398), 0.387), (SelectorParity(21, 100, 5, 0.00131), 0.1)]
    sizes = [_size(t, share * t.eta, theory.log_size_theorem_1_1_printed) for t, share in members]
    return "; ".join(text for text, _ in sizes), all(broken for _, broken in sizes)


def abstract() -> Large:
    """The same family with k = 5r; 48 is the least r."""
    return _size(_growing(48), _growing(48).eta / 10, theory.log_size_abstract_printed)


def theorem_5_1() -> Large:
    """Algorithm 1 takes splits within 1/4 of the best, too; 78 is the least r."""
    return _size(_growing(78), _growing(78).eta / 10, theory.log_size_theorem_5_1_printed)


def _growing(r: int) -> SelectorParity:
    return SelectorParity(r, 5 * r, 5, 1 / (10 * r))


def _size(t: SelectorParity, epsilon: float, printed: Callable[[float, float, float], float]) -> Large:
    size, bound = t.log_size(epsilon), printed(t.depth, t.average_depth, epsilon)
    return f"{_member(t)}, epsilon = {epsilon:.4g}: ln size >= {size:.2f} > {bound:.2f}", size > bound


def _member(t: SelectorParity) -> str:
    shape = f"F(r={t.r}, k={t.k}, s={t.s}, eta={t.eta:.4g})"
    return f"{shape} with n = {t.n}, D = {t.depth}, Delta = {t.average_depth:.5g}"


# --- sentences of another kind ---------------------------------------------------------------------------------------


def lemma_5_2() -> Large:
    """One pair for each feature of a fair x0 XOR x1; x0 is split if its pair changed or x1's did not."""
    pairs = [(x, v) for x in range(4) for v in (0, 1)]

    def changed(i: int, x: int, v: int) -> bool:
        return (x >> i & 1) != v  # a parity changes exactly when the value does

    seen = [b for a in pairs for b in pairs if changed(0, *a) >= changed(1, *b)]
    mean = sum(changed(1, *b) and not b[0] & 1 for b in seen) / len(seen)
    text = (
        f"none for a fixed leaf. Not for a leaf chosen by the same pairs: f = x0 XOR x1, fair, one pair a feature: "
        f"where x0 was split, the estimate of (x0 = 0, x1) averages {mean:.4f}, the score is 0.25"
    )
    return text, False
