"""The fewest leaves for every error: a dynamic program over all restrictions of a truth table.

Mehta and Raghavan (2002) solve the problem for the uniform distribution in this way; masses make it any product
distribution. A restriction of r features is a number with r digits to base 3 (0, 1, or 2 for free), and what is known
about it is the least error of a tree with s leaves, for every s. It takes 3^r r s^2 steps.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fidelitree.space import ProductSpace
from fidelitree.tree import Tree

Floats = NDArray[np.float64]


class Frontier:
    """Least errors of trees with 1, 2, ... ``most`` leaves for a function of a few features.

    ``codes`` is the truth table over ``features``, as positions in ``labels``; other features do not matter.
    """

    def __init__(
        self,
        space: ProductSpace,
        features: Sequence[int],
        codes: NDArray[np.intp],
        labels: NDArray[np.generic],
        most: int,
    ) -> None:
        self._space, self._features, self._labels = space, list(features), labels
        count = 3 ** len(self._features)
        self._places = 3 ** np.arange(len(self._features))
        self._digits = np.arange(count)[:, None] // self._places % 3
        self._masses = self._label_masses(codes)
        self._errors = np.empty((count, most))
        self._errors[:] = (self._masses.sum(axis=1) - self._masses.max(axis=1))[:, None]
        self._solve(most)

    @property
    def errors(self) -> Floats:
        """Entry s - 1 is the least error with s leaves."""
        return np.asarray(self._errors[-1])

    def tree(self, leaves: int) -> Tree:
        """A tree with at most so many leaves and the least error."""
        nodes: list[tuple[int, int, int] | int] = []
        self._build(nodes, len(self._errors) - 1, leaves)
        return Tree.build(self._space, nodes, self._labels)

    def _label_masses(self, codes: NDArray[np.intp]) -> Floats:
        """Mass of every label under every restriction."""
        masses = np.zeros((len(self._digits), len(self._labels)))
        fixed = np.flatnonzero((self._digits < 2).all(axis=1))
        biases = self._space.biases[self._features]
        weights = np.where(self._digits[fixed] == 1, biases, 1 - biases).prod(axis=1)
        place = (self._digits[fixed] << np.arange(len(self._features))).sum(axis=1)
        masses[fixed, codes[place]] = weights
        for i, step in enumerate(self._places):
            # A digit is summed over only once all digits before it are.
            free = np.flatnonzero((self._digits[:, i] == 2) & (self._digits[:, i + 1 :] < 2).all(axis=1))
            masses[free] = masses[free - 2 * step] + masses[free - step]
        return masses

    def _solve(self, most: int) -> None:
        depth = (self._digits == 2).sum(axis=1)
        for level in range(1, len(self._features) + 1):
            for i, step in enumerate(self._places):
                cubes = np.flatnonzero((depth == level) & (self._digits[:, i] == 2))
                no, yes, best = self._errors[cubes - 2 * step], self._errors[cubes - step], self._errors[cubes]
                for share in range(1, most):
                    part = best[:, share:]
                    np.minimum(part, no[:, share - 1 : share] + yes[:, : most - share], out=part)
                self._errors[cubes] = best

    def _build(self, nodes: list[tuple[int, int, int] | int], cube: int, leaves: int) -> int:
        place = len(nodes)
        nodes.append(int(self._masses[cube].argmax()))
        wanted = self._errors[cube, leaves - 1]
        if wanted < self._errors[cube, 0]:
            i, share = self._split(cube, leaves, wanted)
            step = int(self._places[i])
            no = self._build(nodes, cube - 2 * step, share)
            nodes[place] = (self._features[i], no, self._build(nodes, cube - step, leaves - share))
        return place

    def _split(self, cube: int, leaves: int, wanted: float) -> tuple[int, int]:
        """The first split that reaches the least error."""
        for i in np.flatnonzero(self._digits[cube] == 2):
            no, yes = self._errors[cube - 2 * self._places[i]], self._errors[cube - self._places[i]]
            for share in range(1, leaves):
                if no[share - 1] + yes[leaves - share - 1] <= wanted:
                    return int(i), share
        raise AssertionError("the least error was reached by some split")
