"""The contract of probes: what a grower may know about the leaves of a bare tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fidelitree.spaces.features import IsOne, Test
from fidelitree.trees.bare import BareTree, Leaf

Floats = NDArray[np.float64]

NEAR_TIE = 1e-12
"""Relative difference below which two scores, or two masses, are the same: rounding must not decide."""


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

    def test(self, feature: int) -> Test:
        """The best test of a feature."""
        return self.tests[feature] if self.tests else IsOne(feature)

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

    def look(self, bare: BareTree, made: Sequence[Leaf]) -> Mapping[int, Evidence]:
        """Evidence by leaf number: about the leaves just made, and about every other leaf that it has new evidence on.

        ``made`` is the root alone at first, then the two leaves of the last split, no before yes.
        """
