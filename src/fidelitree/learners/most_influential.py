"""Search among the most influential features at every node.

G. Blanc, J. Lange, M. Qiao, L.-Y. Tan, *Properly learning decision trees in almost polynomial time*, Journal of the ACM
69 (2022). A tree of s leaves can be pruned so that every feature it tests has some influence where it is tested, so the
best tree of bounded depth is looked for among the ``candidates`` most influential features of every restriction.
Queries of the learner's own choice: an input, and the same input with one bit flipped.

Running time: (2 x candidates)^depth restrictions; the authors' choice of both gives s^O(log log s) for fair bits. Where
its guarantee ends: with few candidates (three unless told) and the depth that a time or ``most`` restrictions allow, a
good tree may be missed; beyond a depth of a few, few inputs are left to estimate influences from. The certificate does
not rely on either.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import BudgetSpent
from fidelitree.errors import check_count
from fidelitree.exact.engine import exact_subfunction
from fidelitree.learners.lesson import CERTIFIED, SMALL, Lesson, check_bits, learner
from fidelitree.search.questions import Ask, Steps
from fidelitree.spaces.features import IsOne, Test
from fidelitree.spaces.region import Region
from fidelitree.trees.curve import Curve, CurveSplit, Floats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fidelitree.runs.result import Distillation
    from fidelitree.trees.nested import Nested

CANDIDATES = 3
STARS = 512  # inputs whose every flip is asked
_MOST_STARS = 8_192
_MOST = 10_000  # restrictions of a search
_DEEPEST = 14


class Part(Protocol):
    """A function inside a restriction; the exact engines are such parts."""

    def label_probabilities(self) -> Floats:
        """Of every label."""

    def influences(self) -> Floats:
        """Of every feature."""

    def split(self, test: Test) -> Sequence[Any]:
        """The two parts of a test, no before yes."""


@learner
def blanc_lange_qiao_tan(lesson: Lesson, *, candidates: int = CANDIDATES, depth: int = _DEEPEST) -> Distillation:
    """The best tree that tests influential features only, deeper until it is good enough; certified.

    ``candidates`` are looked at in each node; ``depth`` is that to which trees are looked for.

    >>> from fidelitree import ProductSpace
    >>> from fidelitree.targets import hidden_weighted_bit
    >>> blanc_lange_qiao_tan(hidden_weighted_bit(6), ProductSpace.bernoulli(6), epsilon=0).tree.size
    35
    """
    candidates = check_count("candidates", candidates)
    depth = check_count("depth", depth)
    check_bits(lesson.space)

    def teach() -> str | Steps[str]:
        if lesson.cheap_to_ask_all(SMALL):
            return _exactly(lesson, candidates, min(depth, len(lesson.product)))
        return _on_stars(lesson, candidates, min(depth, len(lesson.product)))

    return lesson.run(teach)


def _exactly(lesson: Lesson, candidates: int, deepest: int) -> str:
    everything = lesson.all_answers()
    root = exact_subfunction(lesson.counted, Region.whole(lesson.product), len(everything.codes))
    assert root is not None, "all inputs were asked"
    search = _CurveSearch(lesson, candidates)
    ended, best = "", everything.nested(int(np.argmax(root.label_probabilities())))
    try:
        for depth in _depths(deepest) if lesson.epsilon else [deepest]:
            curve = search.curve(root, {}, depth)
            best = everything.nested(_best(curve, lesson.epsilon))
            if curve.first_within(lesson.epsilon) or search.exhausted:
                break
    except BudgetSpent as stop:
        ended = str(stop)
    return lesson.settle(best, everything) if not ended else ended + ": " + lesson.settle(best, everything)


def _depths(deepest: int) -> list[int]:
    """Depths to try, each some deeper than the one before."""
    return [depth for depth in (1, 2, 3, 4, 6, 8, 11) if depth < deepest] + [deepest]


def _on_stars(lesson: Lesson, candidates: int, deepest: int) -> Steps[str]:
    rows = STARS
    while True:
        stars, data = yield from _FlipLabels.ask(lesson, rows)
        search = _CurveSearch(lesson, candidates)
        for depth in _depths(deepest):
            best = _best(search.curve(stars, {}, depth), data.aim(lesson.epsilon))
            tree = lesson.propose(data.nested(best), data)
            if data.error(tree) <= data.aim(lesson.epsilon) or search.exhausted:
                break
        last = rows >= _MOST_STARS or (lesson.counted.left or rows * rows) < 2 * rows * len(lesson.product)
        if (last or data.error(tree) <= lesson.epsilon) and (yield from lesson.test(tree, last)):
            return CERTIFIED
        if last:
            return f"{rows:,} inputs with all their flips were not enough"
        rows *= 2


class _CurveSearch:
    """Curves of least error against leaves, by restriction and depth; each restriction's part is made once."""

    def __init__(self, lesson: Lesson, candidates: int) -> None:
        self._lesson, self._candidates = lesson, candidates
        self._known: dict[tuple[frozenset[tuple[int, int]], int], Curve] = {}
        self._parts: dict[frozenset[tuple[int, int]], tuple[Floats, list[int], list[Any]]] = {}

    @property
    def exhausted(self) -> bool:
        """Whether no more restrictions are to be looked at."""
        return len(self._parts) >= _MOST

    def curve(self, part: Part, path: dict[int, int], depth: int) -> Curve:
        """Errors as shares of the restriction."""
        key = frozenset(path.items()), depth
        if key not in self._known:
            shares, features, sides = self._look(part, path)
            curve = Curve.leaf(int(shares.argmax()), 1 - float(shares.max()))
            if depth and curve.errors[0] > 0 and not self.exhausted:
                for i, halves in zip(features, sides, strict=True):
                    no, yes = (self.curve(halves[value], {**path, i: value}, depth - 1) for value in (0, 1))
                    bias = float(self._lesson.product.biases[i])
                    curve = curve.or_split(CurveSplit(IsOne(i), no, yes, (1 - bias, bias)), slack=1e-15)
            lower = np.flatnonzero(np.diff(curve.errors) < 0)
            self._known[key] = replace(curve, errors=curve.errors[: lower[-1] + 2 if len(lower) else 1])
        return self._known[key]

    def _look(self, part: Part, path: dict[int, int]) -> tuple[Floats, list[int], list[Any]]:
        key = frozenset(path.items())
        if key not in self._parts:
            self._lesson.watch()
            influences = part.influences()
            influences[list(path)] = 0
            order = np.argsort(-influences, kind="stable")[: self._candidates]
            features = [int(i) for i in order if influences[i] > 0]
            self._parts[key] = part.label_probabilities(), features, [part.split(IsOne(i)) for i in features]
        return self._parts[key]


def _best(curve: Curve, aim: float) -> Nested:
    """The fewest leaves with an error of at most the aim, or the least error."""
    return curve.build(curve.first_within(max(aim, float(curve.errors[-1]))) or 1)


@dataclass(frozen=True)
class _FlipLabels:
    """Inputs with their labels, and whether flipping each bit changes it."""

    biases: Floats
    bits: NDArray[np.bool_]
    codes: NDArray[np.intp]
    changed: NDArray[np.bool_]
    labels: int

    @classmethod
    def ask(cls, lesson: Lesson, rows: int) -> Steps[tuple[_FlipLabels, Any]]:
        """As many inputs as told, held-out ones besides; all flips of the others."""
        data, _ = yield from lesson.labels(rows)
        bits = np.asarray(data.inner[data.growing], np.uint8)
        n = bits.shape[1]
        flips = np.repeat(bits[:, None], n, axis=1)
        flips[:, np.arange(n), np.arange(n)] ^= 1
        answers = yield Ask(flips.reshape(-1, n), "flip")
        data, _ = yield from lesson.labels(rows)  # a label that only flips have shown has its place now
        labels = lesson.counted.labels(answers.codes).reshape(bits.shape)
        changed = labels != np.array(data.labels)[data.codes[data.growing]][:, None]
        return cls(
            lesson.product.biases, bits.astype(np.bool_), data.codes[data.growing], changed, len(data.labels)
        ), data

    def label_probabilities(self) -> Floats:
        counts = np.bincount(self.codes, minlength=self.labels)
        return np.asarray(counts / max(1, len(self.codes)))

    def influences(self) -> Floats:
        if not len(self.codes):
            return np.zeros(len(self.biases))
        return np.asarray(2 * self.biases * (1 - self.biases) * self.changed.mean(axis=0))

    def split(self, test: Test) -> tuple[_FlipLabels, _FlipLabels]:
        yes = self.bits[:, test.feature]
        no, one = (
            _FlipLabels(self.biases, self.bits[side], self.codes[side], self.changed[side], self.labels)
            for side in (~yes, yes)
        )
        return no, one
