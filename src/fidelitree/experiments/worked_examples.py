"""The appendix's two worked examples over many sizes: what the paper prints beside what holds."""

from __future__ import annotations

from collections.abc import Sequence

from fidelitree import theory
from fidelitree.theory.bounds import WorkedExample

EPSILONS = (0.3, 0.1, 0.03, 0.01)
DEPTHS = tuple(range(1, 21))
FEATURES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256)


def rows(
    epsilons: Sequence[float] = EPSILONS, depths: Sequence[int] = DEPTHS, features: Sequence[int] = FEATURES
) -> list[WorkedExample]:
    """Complete trees of 2^depth leaves and paths over so many features, at every epsilon; bounds as logarithms."""
    balanced = [theory.balanced_example(2**depth, epsilon) for epsilon in epsilons for depth in depths]
    return balanced + [theory.path_example(n, epsilon) for epsilon in epsilons for n in features]
