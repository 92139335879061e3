"""ID3: split where the entropy of the labels falls most, until the labels of a leaf agree.

J. R. Quinlan, *Induction of decision trees*, Machine Learning 1 (1986). Labelled inputs alone.

Running time: (labels) x (features) x (depth). Where its guarantee ends: there is none on error or size. It learns
juntas when every bit's bias is drawn at random (Brutzkus, Daniely, Malach 2020), because then every feature that
matters correlates with the label; on a parity of fair bits nothing does, and it splits at random. Quinlan's trees have
a branch for each value; ours ask for one set of values against the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fidelitree.learners.lesson import Lesson, from_labels, learner
from fidelitree.search.local.moves import greedy

if TYPE_CHECKING:
    from fidelitree.runs.result import Distillation
    from fidelitree.search.labelled import Labelled
    from fidelitree.trees.tree import Tree


@learner("Quinlan 1986", "labels")
def id3(lesson: Lesson) -> Distillation:
    """ID3's tree for a growing set of labels, certified.

    >>> from fidelitree import ProductSpace
    >>> from fidelitree.targets import multiplexer
    >>> id3(multiplexer(2), ProductSpace.bernoulli(6), epsilon=0).tree.size
    18
    """
    return from_labels(lesson, fit)


def fit(data: Labelled) -> Tree:
    """The tree for the rows that teach."""
    return data.binned(greedy(data.coded(data.growing)))
