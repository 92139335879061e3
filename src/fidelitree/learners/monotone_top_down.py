"""Top-down growth for monotone functions, from labelled inputs alone.

G. Blanc, J. Lange, L.-Y. Tan, *Top-down induction of decision trees: rigorous guarantees and inherent limitations*,
ITCS 2020. Of a monotone function a bit's influence is its correlation with the label: Inf_i = 2 p (1 - p) times the
difference between the chances of the label with x_i = 1 and with x_i = 0. So the rule of top-down growth, the leaf and
bit with the largest probability times influence, needs no query of its own choice.

Running time: (labels) x (bits) for each split. Where its guarantee ends: for monotone functions of fair bits with a
tree of s leaves, s^O(sqrt(log s)/epsilon) leaves suffice (the authors'); of other functions a correlation is a lower
bound of the influence, and may be 0 where everything depends on the bit (parity).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import check_count
from fidelitree.learners.lesson import Lesson, check_bits, from_labels, learner
from fidelitree.spaces.features import IsOne
from fidelitree.trees.tree import Node, Tree

if TYPE_CHECKING:
    from fidelitree.runs.result import Distillation
    from fidelitree.search.labelled import Labelled

MOST_LEAVES = 2_000
_ROUNDING = 1e-12


@learner
def monotone_top_down(lesson: Lesson, *, size: int | None = None) -> Distillation:
    """Top-down growth by correlations, for a growing set of labels, certified.

    ``size`` is the number of leaves to grow; as many as epsilon takes where it is not given.

    >>> from fidelitree import ProductSpace
    >>> from fidelitree.targets import majority
    >>> monotone_top_down(majority(5), ProductSpace.bernoulli(5), epsilon=0).tree.size
    20
    """
    size = None if size is None else check_count("size", size)
    check_bits(lesson.space)
    return from_labels(lesson, lambda data: fit(data, lesson.epsilon, size))


@dataclass(frozen=True)
class _OpenLeaf:
    node: int
    rows: NDArray[np.intp]
    judged: NDArray[np.intp]


def fit(data: Labelled, epsilon: float, size: int | None) -> Tree:
    """Splits by the largest score until the judging rows are content, or the tree has its size."""
    growth = _Growth(data)
    while growth.heap and len(growth.nodes) // 2 + 1 < (size or MOST_LEAVES):
        if size is None and growth.error <= data.aim(epsilon):
            break
        growth.split()
    return Tree.build(data.space, growth.nodes, data.labels)


class _Growth:
    """The tree so far, its leaves by score, and the share of the judging weight that it gets wrong."""

    def __init__(self, data: Labelled) -> None:
        self._data = data
        self._bits = np.asarray(data.inner, np.bool_)
        self.nodes: list[Node] = []
        self.heap: list[tuple[float, int, int, _OpenLeaf]] = []
        self._total = float(data.weights[data.judging].sum())
        self.error = 0.0
        self._add(np.flatnonzero(data.growing), np.flatnonzero(data.judging), 0)

    def split(self) -> None:
        """The leaf and the bit with the largest score."""
        _, _, feature, leaf = heapq.heappop(self.heap)
        self.error -= self._wrong(leaf)
        code = self.nodes[leaf.node]
        assert isinstance(code, int), "a leaf"
        first = len(self.nodes)
        for value in (False, True):
            rows, judged = (part[self._bits[part, feature] == value] for part in (leaf.rows, leaf.judged))
            self._add(rows, judged, code)
        self.nodes[leaf.node] = (IsOne(feature), first, first + 1)

    def _add(self, rows: NDArray[np.intp], judged: NDArray[np.intp], parent: int) -> None:
        data = self._data
        masses = np.bincount(data.codes[rows], data.weights[rows], len(data.labels)).astype(np.float64)
        leaf = _OpenLeaf(len(self.nodes), rows, judged)
        self.nodes.append(int(masses.argmax()) if len(rows) else parent)
        self.error += self._wrong(leaf)
        if (masses > 0).sum() > 1:
            scores = self._scores(rows, masses)
            if scores.max() > _ROUNDING * self._total:
                heapq.heappush(self.heap, (-float(scores.max()), leaf.node, int(scores.argmax()), leaf))

    def _wrong(self, leaf: _OpenLeaf) -> float:
        wrong = self._data.codes[leaf.judged] != self.nodes[leaf.node]
        return float(self._data.weights[leaf.judged][wrong].sum()) / self._total

    def _scores(self, rows: NDArray[np.intp], masses: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probability of the leaf times the influence that each bit has if the function is monotone.

        Of more than two labels, each against the others counts.
        """
        data, bits, weights = self._data, self._bits[rows], self._data.weights[rows]
        total = masses.sum()
        ones = weights @ bits
        shares = np.zeros(bits.shape[1])
        for code in np.flatnonzero(masses):
            with_label = (weights * (data.codes[rows] == code)) @ bits
            # p (1 - p) (difference of chances) = covariance of bit and label
            shares += np.abs(with_label / total - ones / total * masses[code] / total)
        shares[(ones <= 0) | (ones >= total)] = 0
        return np.asarray(total * shares)
