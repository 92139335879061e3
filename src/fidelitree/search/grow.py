"""Growth by scores: always split the leaf and the feature with the largest one; and the contract of its probes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from fidelitree.search.best_first import NEAR_TIE, best_first
from fidelitree.spaces.features import IsOne, Test

if TYPE_CHECKING:
    from fidelitree.asking.limits import Budget
    from fidelitree.trees.growing import GrowingLeaf, GrowingTree

Floats = NDArray[np.float64]

GOOD_ENOUGH = "good enough"
NOTHING_LEFT = "no split changes a label"


@dataclass(frozen=True)
class Evidence:
    """What a probe knows about one leaf.

    ``scores[i]`` is the probability of reaching the leaf times the influence of feature i there, exact or
    estimated; it is 0 for a feature that cannot split the leaf. ``label_masses`` are the probabilities of
    reaching the leaf with each label, where the probe knows them. Where not all features are bits, a score is what the
    best of the feature's tests, ``tests[i]``, takes off the cost, and ``cost`` is the leaf's share of it.
    """

    scores: Floats
    label_masses: Floats | None = None
    tests: Sequence[Test] = ()
    leaf_cost: float | None = None

    @property
    def split(self) -> tuple[float, Test | None]:
        """The largest score and its test, None where nothing has a score; near ties go to the lowest feature."""
        top = float(self.scores.max())
        feature = int(np.argmax(self.scores >= top * (1 - NEAR_TIE)))
        test = self.tests[feature] if self.tests else IsOne(feature)
        return top, test if top > 0 else None

    @property
    def cost(self) -> float:
        """Probability of reaching the leaf times the total influence there."""
        return float(self.scores.sum()) if self.leaf_cost is None else self.leaf_cost

    @property
    def best(self) -> int:
        """The label with the largest mass; near ties go to the first."""
        assert self.label_masses is not None, "this probe does not know labels"
        return int(np.argmax(self.label_masses >= self.label_masses.max() * (1 - NEAR_TIE)))

    @property
    def error(self) -> float:
        """What the leaf's best label still gets wrong."""
        assert self.label_masses is not None, "this probe does not know labels"
        return float(np.delete(self.label_masses, self.best).sum())


class Probe(Protocol):
    """Region in, evidence out."""

    def look(self, bare: GrowingTree, made: Sequence[GrowingLeaf]) -> Mapping[int, Evidence]:
        """Evidence by leaf number: about the leaves just made, and about every other leaf that it has new evidence on.

        ``made`` is the root alone at first, then the two leaves of the last split, no before yes.
        """


class Judge(Protocol):
    """Decides when a bare tree is good enough."""

    def hear(self, bare: GrowingTree, made: Sequence[GrowingLeaf]) -> None:
        """These leaves were made: the root at first, then the two leaves of every split."""

    def enough(self, bare: GrowingTree, evidence: Mapping[int, Evidence]) -> bool:
        """Whether growing may stop; ``evidence`` is what the probe has learnt since the last call."""


def unnoticed(leaf: GrowingLeaf, test: Test, score: float) -> None:
    """Who does not care about splits hears of them so."""


def grow(
    bare: GrowingTree,
    probe: Probe,
    judge: Judge,
    budget: Budget,
    on_split: Callable[[GrowingLeaf, Test, float], None] = unnoticed,
) -> str:
    """Grow until the judge has enough, no split has a score, or the tree may not be larger; say which.

    ``on_split`` hears of every split before it is made.
    """
    new: Mapping[int, Evidence] = {}

    def look(made: Sequence[GrowingLeaf]) -> Iterator[tuple[int, float, Test | None]]:
        nonlocal new
        judge.hear(bare, made)
        new = probe.look(bare, made)
        return ((number, *what.split) for number, what in new.items())

    splits: Iterator[tuple[int, float, Test]] = best_first(list(bare.leaves.values()), look, bare.split, NEAR_TIE)
    for number, score, test in splits:
        if judge.enough(bare, new):
            return GOOD_ENOUGH
        if not budget.allows(bare.size + 1):
            return f"max_leaves = {budget.max_leaves}"
        on_split(bare.leaves[number], test, score)
    return GOOD_ENOUGH if judge.enough(bare, new) else NOTHING_LEFT
