"""Search among the most influential features at every node.

G. Blanc, J. Lange, M. Qiao, L.-Y. Tan, *Properly learning decision trees in almost polynomial time*, Journal of the ACM
69 (2022). A tree of s leaves can be pruned so that every feature it tests has some influence where it is tested, so the
best tree of bounded depth is looked for among the ``candidates`` most influential features of every restriction: one
of them at first, then two, and so on. So more candidates never make a worse tree. Queries of the learner's own choice:
an input, and the same input with one bit flipped.

Running time: (2 x candidates)^depth restrictions. With ``size`` = s the authors' choice: features of influence at least
epsilon/log2 s (of a flip) alone, to depth log2(s/epsilon); then s^O(log log s) for fair bits. Where its guarantee ends:
with few candidates (three unless told), or where a search is cut at ten thousand restrictions, which the reason says,
a good tree may be missed; beyond a depth of a few, few inputs are left to estimate influences from. The certificate
does not rely on either.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import BudgetSpent
from fidelitree.errors import check_count
from fidelitree.exact.subfunction import Subfunction
from fidelitree.learners.lesson import CERTIFIED, Lesson, learner
from fidelitree.search.questions import Ask, Steps
from fidelitree.spaces.features import IsOne, Test
from fidelitree.trees.curve import Curve, CurveSplit, Floats

if TYPE_CHECKING:
    from fidelitree.runs.result import Distillation
    from fidelitree.trees.nested import Nested
    from fidelitree.trees.tree import Tree

CANDIDATES = 3
STARS = 512  # inputs whose every flip is asked
_MOST_STARS = 8_192
_MOST = 10_000  # restrictions of a search
_DEEPEST = 14
_Key = frozenset[tuple[int, int]]


@dataclass(frozen=True)
class _Choice:
    """Which features a search may test, and how deep."""

    candidates: int
    least: float
    depth: int


@learner("Blanc, Lange, Qiao, Tan 2022", "queries", bits_only=True)
def blanc_lange_qiao_tan(
    lesson: Lesson, *, candidates: int = CANDIDATES, depth: int = _DEEPEST, size: int | None = None
) -> Distillation:
    """The best tree that tests influential features only, deeper until it is good enough; certified.

    ``candidates`` are looked at in each node at most; ``depth`` is that to which trees are looked for. ``size`` is that
    of a tree that the target has; the authors' least influence and depth follow from it.

    >>> from fidelitree import ProductSpace
    >>> from fidelitree.targets import hidden_weighted_bit
    >>> blanc_lange_qiao_tan(hidden_weighted_bit(6), ProductSpace.bernoulli(6), epsilon=0).tree.size
    35
    """
    choice = _Choice(check_count("candidates", candidates), 0.0, check_count("depth", depth))
    if size is not None and check_count("size", size, least=2) and lesson.epsilon:
        enough = math.ceil(math.log2(size / lesson.epsilon))
        choice = _Choice(candidates, lesson.epsilon / (2 * math.log2(size)), min(depth, enough))
    choice = replace(choice, depth=min(choice.depth, len(lesson.product)))
    return lesson.learn(lambda: _exactly(lesson, choice), lambda: _on_stars(lesson, choice))


def _exactly(lesson: Lesson, choice: _Choice) -> str:
    everything = lesson.all_answers()
    root = lesson.function()
    ended, best = "", everything.nested(int(np.argmax(root.label_probabilities())))
    depths = _depths(choice.depth) if lesson.epsilon else [choice.depth]
    try:
        for curve in _wider(lesson, root, choice, depths, lesson.epsilon):
            found = everything.nested(_best(curve, lesson.epsilon))
            best = min(best, found, key=lambda tree: _shortfall(everything, tree, lesson.epsilon))
    except BudgetSpent as stop:
        ended = str(stop)
    return lesson.settle(best, everything) if not ended else ended + ": " + lesson.settle(best, everything)


def _shortfall(data: Any, tree: Tree, aim: float) -> tuple[float, int]:
    """What ranks trees: how far the error is above the aim, then leaves."""
    return max(data.error(tree) - aim, 0.0), tree.size


def _depths(deepest: int) -> list[int]:
    """Depths to try, each some deeper than the one before."""
    return [depth for depth in (1, 2, 3, 4, 6, 8, 11) if depth < deepest] + [deepest]


def _wider(lesson: Lesson, root: Subfunction, choice: _Choice, depths: list[int], aim: float) -> Iterator[Curve]:
    """Curves of the shallowest trees that are good enough, for 1, 2, ... candidates; notes where one was cut."""
    lesson.caveat, parts = "", _Parts(lesson, choice.least)
    for width in range(1, choice.candidates + 1):
        search = _CurveSearch(lesson, parts, width)
        for depth in depths:
            curve = search.curve(root, {}, depth)
            if curve.first_within(aim) or search.exhausted:
                break
        if search.exhausted:
            lesson.caveat = f"with {width} candidates the search was cut at {_MOST:,} restrictions"
        yield curve
        if search.exhausted or not search.passed_over:
            return


def _on_stars(lesson: Lesson, choice: _Choice) -> Steps[str]:
    rows = STARS
    while True:
        stars, data = yield from _FlipLabels.ask(lesson, rows)
        aim = data.aim(lesson.epsilon)
        found = [data.nested(_best(curve, aim)) for curve in _wider(lesson, stars, choice, _depths(choice.depth), aim)]
        tree = lesson.propose(min(found, key=lambda tree: _shortfall(data, tree, aim)), data)
        last = rows >= _MOST_STARS or (lesson.counted.left or rows * rows) < 2 * rows * len(lesson.product)
        if (last or data.error(tree) <= lesson.epsilon) and (yield from lesson.test(tree, last)):
            return CERTIFIED
        if last:
            return f"{rows:,} inputs with all their flips were not enough"
        rows *= 2


class _Parts:
    """What is known about each restriction, worked out once: label shares, influential features, sides of splits."""

    def __init__(self, lesson: Lesson, least: float) -> None:
        self._lesson, self._least = lesson, least
        self._known: dict[_Key, tuple[Floats, list[int], dict[int, Sequence[Any]]]] = {}

    def look(self, part: Subfunction, key: _Key) -> tuple[Floats, list[int]]:
        """Shares of the labels, and the features with influence, the largest first."""
        if key not in self._known:
            self._lesson.watch()
            influences = part.influences()
            influences[[i for i, _ in key]] = 0
            order = np.argsort(-influences, kind="stable")
            features = [int(i) for i in order if influences[i] > 0 and influences[i] >= self._least]
            self._known[key] = part.label_probabilities(), features, {}
        return self._known[key][:2]

    def sides(self, part: Subfunction, key: _Key, feature: int) -> Sequence[Any]:
        """The two parts of a split."""
        known = self._known[key][2]
        if feature not in known:
            known[feature] = part.split(IsOne(feature))
        return known[feature]


class _CurveSearch:
    """Curves of least error against leaves, by restriction and depth, for so many candidates in each node."""

    def __init__(self, lesson: Lesson, parts: _Parts, candidates: int) -> None:
        self._lesson, self._parts, self._candidates = lesson, parts, candidates
        self._known: dict[tuple[_Key, int], Curve] = {}
        self._seen: set[_Key] = set()
        self.passed_over = False  # whether some features had influence and were not looked at

    @property
    def exhausted(self) -> bool:
        """Whether no more restrictions are to be looked at."""
        return len(self._seen) >= _MOST

    def curve(self, part: Subfunction, path: dict[int, int], depth: int) -> Curve:
        """Errors as shares of the restriction."""
        key = frozenset(path.items())
        if (key, depth) not in self._known:
            self._seen.add(key)
            shares, features = self._parts.look(part, key)
            curve = Curve.leaf(int(shares.argmax()), 1 - float(shares.max()))
            if depth and curve.errors[0] > 0 and not self.exhausted:
                self.passed_over |= len(features) > self._candidates
                for i in features[: self._candidates]:
                    halves = self._parts.sides(part, key, i)
                    no, yes = (self.curve(halves[value], {**path, i: value}, depth - 1) for value in (0, 1))
                    bias = float(self._lesson.product.biases[i])
                    curve = curve.or_split(CurveSplit(IsOne(i), no, yes, (1 - bias, bias)), slack=1e-15)
            lower = np.flatnonzero(np.diff(curve.errors) < 0)
            self._known[key, depth] = replace(curve, errors=curve.errors[: lower[-1] + 2 if len(lower) else 1])
        return self._known[key, depth]


def _best(curve: Curve, aim: float) -> Nested:
    """The fewest leaves with an error of at most the aim, or the least error."""
    return curve.build(curve.first_within(max(aim, float(curve.errors[-1]))) or 1)


@dataclass(frozen=True)
class _FlipLabels(Subfunction):
    """Inputs with their labels, and whether flipping each bit changes it: what they tell of a target."""

    biases: Floats
    bits: NDArray[np.bool_]
    codes: NDArray[np.intp]
    changed: NDArray[np.bool_]
    labels: list[Any]

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
        biases, codes = lesson.product.biases, data.codes[data.growing]
        return cls(biases, bits.astype(np.bool_), codes, changed, list(data.labels)), data

    def label_probabilities(self) -> Floats:
        counts = np.bincount(self.codes, minlength=len(self.labels))
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
