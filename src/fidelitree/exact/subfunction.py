"""The contract of exact engines: a target restricted to a region, about which everything is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from fidelitree.spaces.features import Test

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BestTests:
    """For every feature, how much its best test lowers the cost, and that test.

    A bit has one test, and its drop is its influence; where all features are bits ``tests`` is empty.
    """

    drops: Floats
    tests: Sequence[Test] = ()


class Subfunction(Protocol):
    """A target inside a region of its space; probabilities are conditional on the region."""

    labels: list[Any]
    """All labels of the target, in increasing order."""

    def label_probabilities(self) -> Floats:
        """Probability of each label; exactly 0 for a label that does not occur."""

    def influences(self) -> Floats:
        """For every feature, the probability that re-drawing it changes the label."""

    def splits(self) -> BestTests:
        """The best test of every feature; a bit has one."""
        return BestTests(self.influences())

    def split(self, test: Test) -> tuple[Subfunction, Subfunction]:
        """The subfunctions where the test says no and yes."""
