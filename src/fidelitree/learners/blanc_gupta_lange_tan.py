"""Top-down growth by noise stability: split where the noisy influence is largest.

G. Blanc, N. Gupta, J. Lange, L.-Y. Tan, *Universal guarantees for decision tree induction via a higher-order splitting
criterion*, NeurIPS 2020. The noisy influence of bit i is how well its effect on the label survives noise on all other
bits: E[D(x) D(y)], where D is the change of the label from x_i = 0 to x_i = 1 and y is x with other bits drawn anew
each with probability ``noise``. It weighs the Fourier weight at a set S by (1 - noise)^(|S| - 1): without noise it is
the influence, with noise 1 only single bits count, as for Gini. Queries of the learner's own choice: inputs, noisy
copies of them, and both with one bit flipped.

Running time: a split takes ``pairs`` x (2n + 2) queries for each of its two leaves. Where its guarantee ends: for any
target and fair bits the authors grow s^O~((log s)^2/epsilon^2) leaves for an error of O(opt_s) + epsilon, where opt_s
is the least error of s leaves, with a noise that depends on s and epsilon. Here the noise is a number (``noise``), and
the scores are estimated from few pairs; they are exact where all inputs are asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import Budget
from fidelitree.errors import ParameterError, check_count, check_number
from fidelitree.exact.subfunction import Subfunction
from fidelitree.learners.judging import MOST_LEAVES, grown_from
from fidelitree.learners.lesson import Lesson, learner
from fidelitree.search.exact_growth import grow_exactly
from fidelitree.search.grow import Evidence
from fidelitree.spaces.draw import Stream, draw
from fidelitree.spaces.product import ProductSpace

if TYPE_CHECKING:
    from fidelitree.runs.result import Distillation
    from fidelitree.spaces.features import Test
    from fidelitree.spaces.region import Region
    from fidelitree.trees.growing import GrowingLeaf, GrowingTree

Floats = NDArray[np.float64]
NOISE = 0.1
PAIRS = 64


@learner("Blanc, Gupta, Lange, Tan 2020", "queries", bits_only=True)
def blanc_gupta_lange_tan(lesson: Lesson, *, noise: float = NOISE, pairs: int = PAIRS) -> Distillation:
    """Top-down growth by noisy influence, certified.

    ``noise`` is the probability that another bit is drawn anew; ``pairs`` are drawn inside each leaf.

    >>> from fidelitree import ProductSpace
    >>> from fidelitree.targets import multiplexer
    >>> blanc_gupta_lange_tan(multiplexer(2), ProductSpace.bernoulli(6), epsilon=0).tree.size
    12
    """
    pairs, level = check_count("pairs", pairs), check_number("noise", noise)
    if not 0 <= level <= 1:
        raise ParameterError(f"noise must be at least 0 and at most 1; got {noise!r}")
    most, drawn = lesson.counted.budget.max_leaves or MOST_LEAVES, _NoisyPairs(lesson, level, pairs)
    asked = partial(grown_from, lesson, drawn, None, min(MOST_LEAVES, most))
    return lesson.learn(lambda: _exactly(lesson, level), asked)


def _exactly(lesson: Lesson, noise: float) -> str:
    root, limit = _NoisyTable.of(lesson, noise), Budget(max_leaves=lesson.counted.budget.max_leaves)
    grown = grow_exactly(lesson.counted, root, lesson.epsilon, limit, lambda event: lesson.watch())
    lesson.watch()  # it is ended with a tree that is cut short
    return lesson.settle_at(grown.tree, grown.error)


@dataclass(frozen=True)
class _NoisyTable(Subfunction):
    """All answers inside a region, and exact noisy influences; a feature that is fixed keeps an axis of length 1."""

    table: NDArray[np.intp]
    biases: Floats
    noise: float
    labels: list[Any]

    @classmethod
    def of(cls, lesson: Lesson, noise: float) -> _NoisyTable:
        table = lesson.table().reshape((2,) * len(lesson.product), order="F")  # axis i is x_i
        return cls(table, lesson.product.biases, noise, lesson.counted.book.sorted())

    def _planes(self) -> tuple[list[Floats], list[int]]:
        """Where each label is, over the features that are free."""
        free = [i for i, size in enumerate(self.table.shape) if size > 1]
        inside = self.table.reshape((2,) * len(free))
        return [(inside == code).astype(np.float64) for code in range(len(self.labels))], free

    def label_probabilities(self) -> Floats:
        planes, free = self._planes()
        return np.array([_mean(plane, self.biases[free]) for plane in planes])

    def influences(self) -> Floats:
        planes, free = self._planes()
        scores, biases = np.zeros(self.table.ndim), self.biases[free]
        if (self.label_probabilities() > 0).sum() > 1:
            # Two labels have the same changes but for their sign; of more, each against the others counts half.
            told, share = (planes[1:], 1.0) if len(planes) == 2 else (planes, 0.5)
            for axis, i in enumerate(free):
                p, others = biases[axis], np.delete(biases, axis)
                changes = (np.asarray(plane.take(1, axis) - plane.take(0, axis)) for plane in told)
                stable = sum(_mean(change * _noisy(change, others, self.noise), others) for change in changes)
                scores[i] = 2 * p * (1 - p) * share * stable
        return scores

    def split(self, test: Test) -> tuple[_NoisyTable, _NoisyTable]:
        no, yes = (replace(self, table=self.table.take([value], test.feature)) for value in (0, 1))
        return no, yes


def _noisy(values: Floats, biases: Floats, noise: float) -> Floats:
    """The mean after every bit was drawn anew with probability ``noise``."""
    for axis, p in enumerate(biases):
        mean = (1 - p) * values.take([0], axis) + p * values.take([1], axis)
        values = (1 - noise) * values + noise * mean
    return values


def _mean(values: Floats, biases: Floats) -> float:
    for p in biases:
        values = (1 - p) * values[0] + p * values[1]
    return float(values)


class _NoisyPairs:
    """Scores from inputs drawn inside each new leaf, their noisy copies, and both with each bit flipped."""

    def __init__(self, lesson: Lesson, noise: float, pairs: int) -> None:
        self._lesson, self._pairs = lesson, pairs
        self._stream = Stream.named(lesson.goal.seed, "grow").child("noise")
        self._anew = ProductSpace.bernoulli(len(lesson.product), noise).whole

    def look(self, bare: GrowingTree, made: Sequence[GrowingLeaf]) -> Mapping[int, Evidence]:
        """Scores of the leaves just made."""
        return {leaf.number: Evidence(leaf.region.mass * self._scores(leaf)) for leaf in made}

    def _scores(self, leaf: GrowingLeaf) -> Floats:
        own, region, rows = self._stream.child(leaf.number), leaf.region, self._pairs
        inputs, again = (draw(region, own.child(name), 0, rows) for name in ("inputs", "again"))
        anew = draw(self._anew, own.child("anew"), 0, rows)
        one, two = (self._changes(side, region) for side in (inputs, np.where(anew, again, inputs)))
        alike = np.where(one[0] == two[0], 1, -1) * (one[1] == two[1]) * one[2] * two[2]
        # Where both change between the same two labels they count 1, or -1 the other way round; else nothing.
        p = self._lesson.product.biases
        return np.asarray(np.maximum(2 * p * (1 - p) * alike.mean(axis=1), 0))

    def _changes(self, inputs: NDArray[np.uint8], region: Region) -> tuple[NDArray[np.intp], ...]:
        """For each bit and input: the label with the bit at 0, the pair of labels as one number, and if they differ."""
        features, rows = inputs.shape
        flipped = np.repeat(inputs[None], features + 1, axis=0)
        for i in region.free():
            flipped[i, i] ^= 1
        batch = flipped.transpose(0, 2, 1).reshape(-1, features)
        codes = np.asarray(self._lesson.counted.ask(batch, "grow"), np.intp).reshape(features + 1, rows)
        here, there = np.broadcast_to(codes[features], (features, rows)), codes[:features]
        low = np.where(inputs == 0, here, there)
        high = np.where(inputs == 0, there, here)
        pair = np.minimum(low, high) * (1 << 20) + np.maximum(low, high)
        return low, pair, (low != high).astype(np.intp)
