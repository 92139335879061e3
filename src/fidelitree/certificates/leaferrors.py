"""Where a tree errs: of the test inputs that reach a leaf, how many it gets wrong, and what that says about the others.

A leaf's interval holds for it alone, at all times at once (`confusion` says why). Leaves that few test inputs reach are
joined: a share of ten answers tells nothing. Which leaves these are depends on the tests, so together they get a count
and no interval.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fidelitree.display.numbers import span, whole
from fidelitree.display.wording import leaves
from fidelitree.theory.sequential import interval
from fidelitree.trees.answers import LeafLabels
from fidelitree.trees.tree import Tree

FEW = 20
"""Test inputs below which a leaf is joined with others."""
_TINY = 1e-12


@dataclass(frozen=True)
class LeafError:
    """Of ``reached`` test inputs the leaf gets ``wrong`` ones wrong; probabilities, where these are exact.

    ``nodes`` are several where leaves were joined, and ``share`` is None for them: the ends of how often the leaf is
    wrong.

    >>> print(LeafError((3,), 2, 40, (0.0042, 0.21)))
    2 of 40 wrong (0.42% to 21%)
    """

    nodes: tuple[int, ...]
    wrong: float
    reached: float
    share: tuple[float, float] | None

    @property
    def exact(self) -> bool:
        """Whether the share is known."""
        return self.share is not None and self.share[0] == self.share[1]

    @property
    def counts(self) -> str:
        """So many of so many."""
        return f"{whole(int(self.wrong))} of {whole(int(self.reached))}"

    def __str__(self) -> str:
        if self.share is None:
            each = "" if len(self.nodes) == 1 else " each"
            return f"{self.counts} wrong, in {leaves(len(self.nodes))} with fewer than {FEW} test inputs{each}"
        return f"{span(*self.share)} wrong" if self.exact else f"{self.counts} wrong ({span(*self.share)})"


def leaf_errors(labels: LeafLabels, tree: Tree, level: float) -> list[LeafError]:
    """Every leaf that inputs reach, the one with the most errors first; those that were joined come last."""
    nodes, exact = np.flatnonzero(tree.feature < 0).tolist(), labels.samples is None
    counts = labels.counts
    reached = counts.sum(axis=1)
    wrong = labels.wrong(tree) if exact else np.rint(labels.wrong(tree) * (labels.samples or 0)).astype(np.int64)
    found, few = [], []
    for place in np.argsort(-wrong, kind="stable").tolist():
        errors, inputs = wrong[place].item(), reached[place].item()
        if exact and inputs > _TINY:
            found.append(LeafError((nodes[place],), errors, inputs, (errors / inputs,) * 2))
        elif not exact and inputs >= FEW:
            found.append(LeafError((nodes[place],), errors, inputs, interval(errors, inputs, level)))
        elif not exact and inputs:
            few.append(place)
    if few:
        together = int(wrong[few].sum()), int(reached[few].sum())
        found.append(LeafError(tuple(nodes[place] for place in sorted(few)), *together, None))
    return found
