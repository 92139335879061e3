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

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import check_count
from fidelitree.learners.lesson import Lesson, from_labels, learner
from fidelitree.search.best_first import best_first
from fidelitree.spaces.features import IsOne
from fidelitree.trees.tree import Node, Tree

if TYPE_CHECKING:
    from fidelitree.runs.result import Distillation
    from fidelitree.search.labelled import Labelled

MOST_LEAVES = 2_000
_ROUNDING = 1e-12


@learner("Blanc, Lange, Tan 2020", "labels", bits_only=True)
def monotone_top_down(lesson: Lesson, *, size: int | None = None) -> Distillation:
    """Top-down growth by correlations, for a growing set of labels, certified.

    ``size`` is the number of leaves to grow; as many as epsilon takes where it is not given.

    >>> from fidelitree import ProductSpace
    >>> from fidelitree.targets import majority
    >>> monotone_top_down(majority(5), ProductSpace.bernoulli(5), epsilon=0).tree.size
    20
    """
    size = None if size is None else check_count("size", size)
    return from_labels(lesson, lambda data: fit(data, lesson.epsilon, size))


_Part = tuple[NDArray[np.intp], NDArray[np.intp], int]
"""Rows that teach a leaf, rows that judge it, and its label where it has none of the former."""


def fit(data: Labelled, epsilon: float, size: int | None) -> Tree:
    """Splits by the largest score until the judging rows are content, or the tree has its size."""
    growth = _Growth(data)
    whole = np.flatnonzero(data.growing), np.flatnonzero(data.judging), 0
    for leaves, _ in enumerate(best_first([whole], growth.look, growth.split), start=1):
        if leaves >= (size or MOST_LEAVES) or (size is None and growth.error <= data.aim(epsilon)):
            break
    return Tree.build(data.space, growth.nodes, data.labels)


class _Growth:
    """The tree so far, and the share of the judging weight that it gets wrong."""

    def __init__(self, data: Labelled) -> None:
        self._data, self._bits = data, np.asarray(data.inner, np.bool_)
        self.nodes, self._leaves = list[Node](), list[_Part]()
        self._total = float(data.weights[data.judging].sum())
        self.error = 0.0

    def look(self, made: Sequence[_Part]) -> Iterator[tuple[int, float, int]]:
        """The best bit of each new leaf, if its labels differ and one correlates."""
        data = self._data
        for rows, judged, parent in made:
            masses = np.bincount(data.codes[rows], data.weights[rows], len(data.labels)).astype(np.float64)
            code = int(masses.argmax()) if len(rows) else parent
            self._leaves.append((rows, judged, code))
            self.nodes.append(code)
            self.error += self._wrong(judged, code)
            if (masses > 0).sum() > 1:
                scores = self._scores(rows, masses)
                if scores.max() > _ROUNDING * self._total:
                    yield len(self.nodes) - 1, float(scores.max()), int(scores.argmax())

    def split(self, number: int, feature: int) -> list[_Part]:
        """The two parts of a leaf."""
        rows, judged, code = self._leaves[number]
        self.error -= self._wrong(judged, code)
        self.nodes[number] = IsOne(feature), len(self.nodes), len(self.nodes) + 1
        sides = [[part[self._bits[part, feature] == value] for part in (rows, judged)] for value in (False, True)]
        return [(one, two, code) for one, two in sides]

    def _wrong(self, judged: NDArray[np.intp], code: int) -> float:
        wrong = self._data.codes[judged] != code
        return float(self._data.weights[judged][wrong].sum()) / self._total

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
