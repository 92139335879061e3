"""Who ends growth from drawn inputs: leaves are labelled, and the error looked at, by inputs that steer no split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fidelitree.asking.limits import Budget
from fidelitree.learners.lesson import CERTIFIED, FIRST, Lesson
from fidelitree.search.grow import grow
from fidelitree.trees.growing import GrowingTree
from fidelitree.trees.tree import Tree

if TYPE_CHECKING:
    from fidelitree.search.grow import Evidence, Probe
    from fidelitree.search.labelled import Labelled
    from fidelitree.search.questions import Steps
    from fidelitree.trees.growing import GrowingLeaf

MOST_LEAVES = 1_024
"""Of a tree, where no other limit is given."""
_LABELS = 2_048  # that label leaves and look at the error


def grown_from(lesson: Lesson, probe: Probe, size: int | None, most: int) -> Steps[str]:
    """Grow by what a probe finds in drawn inputs, to a size or until held-out labels are content; then a test."""
    data, _ = yield from lesson.labels(max(FIRST, min(_LABELS, int(40 / lesson.epsilon))))
    judge = HeldOutJudge(lesson, data, size)
    grow(GrowingTree(lesson.product), probe, judge, Budget(max_leaves=most))
    return CERTIFIED if (yield from lesson.test(judge.tree)) else f"{judge.tree.size} leaves were not enough"


class HeldOutJudge:
    """Labels leaves and looks at the error, on inputs of its own; nothing of it steers a split."""

    def __init__(self, lesson: Lesson, data: Labelled, size: int | None) -> None:
        self._lesson, self._data, self._size = lesson, data, size
        self._codes: dict[int, int] = {}
        self.tree = Tree.build(data.space, [0], data.labels)

    def hear(self, bare: GrowingTree, made: Sequence[GrowingLeaf]) -> None:
        """The tree with labels, as far as it has grown."""
        unlabelled = bare.complete({number: place for place, number in enumerate(bare.leaves)}, range(bare.size))
        reached = unlabelled.predict_inner(self._data.inner)
        rows = self._data.growing
        votes = np.zeros((bare.size, len(self._data.labels)))
        np.add.at(votes, (reached[rows], self._data.codes[rows]), 1)
        codes = {}
        for place, (number, leaf) in enumerate(bare.leaves.items()):
            above = self._codes.get(leaf.parent if leaf.parent is not None else 0, 0)
            before = self._codes.get(number, above)
            codes[number] = int(votes[place].argmax()) if votes[place].any() else before
        self._codes = {**self._codes, **codes}
        self.tree = self._lesson.propose(bare.complete(codes, self._data.labels), self._data)

    def enough(self, bare: GrowingTree, evidence: Mapping[int, Evidence]) -> bool:
        """Whether the tree does well on inputs that it was not labelled by."""
        self._lesson.counted.budget.check(self._lesson.counted.asked)
        return self._size is None and self._data.error(self.tree) <= self._data.aim(self._lesson.epsilon)
