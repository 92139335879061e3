"""The least error for each number of leaves: one curve, its merge and its trace-back.

Of s leaves a test gives j to its no side and s - j to its yes side, so the curve of a test is the min-plus convolution
of the curves of its sides: E(s) = min over j of E0(j) + E1(s - j), each weighed by the probability of its side. The
curve of a function is the least of those of all tests and of a leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fidelitree.trees import kernels

if TYPE_CHECKING:
    from fidelitree.spaces.features import Test
    from fidelitree.trees.nested import Nested

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
_ROUNDING = 1e-12


def min_plus(best: Floats, one: Floats, two: Floats, share: Places | None = None, slack: float = 0.0) -> None:
    """Lower ``best[..., s - 1]`` to the least ``one[..., j - 1] + two[..., s - j - 1]``, where that is lower.

    ``share`` receives j wherever a sum is lower by more than ``slack`` than all before it: the least j among equals.

    >>> best, share = np.array([0.5, 0.5, 0.5, 0.5]), np.zeros(4, int)
    >>> min_plus(best, np.array([0.25, 0.0]), np.array([0.25, 0.0]), share)
    >>> best.tolist(), share.tolist()
    ([0.5, 0.5, 0.25, 0.0], [0, 0, 1, 2])
    """
    lines = best.shape[:-1]
    if kernels.compiled and best.flags.c_contiguous and one.shape[:-1] == lines == two.shape[:-1]:
        left, right = (np.ascontiguousarray(part).reshape(-1, part.shape[-1]) for part in (one, two))
        told = None if share is None else share.reshape(-1, share.shape[-1])
        kernels.native.min_plus(best.reshape(-1, best.shape[-1]), left, right, told, slack)
        return
    if share is None and one.shape[-1] > two.shape[-1]:
        one, two = two, one
    for k in range(min(one.shape[-1], best.shape[-1] - 1)):
        part = best[..., k + 1 : k + 1 + two.shape[-1]]
        sums = one[..., k : k + 1] + two[..., : part.shape[-1]]
        if share is None:
            np.minimum(part, sums, out=part)
        else:
            lower = sums < part - slack
            np.copyto(part, sums, where=lower)
            np.copyto(share[..., k + 1 : k + 1 + two.shape[-1]], k + 1, where=lower)


def first_share(no: Floats, yes: Floats, leaves: int, error: float) -> int | None:
    """The fewest leaves of the no side with which ``leaves`` in all reach an error; None where none do."""
    shares = np.arange(1, leaves)
    sums = no[np.minimum(shares, len(no)) - 1] + yes[np.minimum(leaves - shares, len(yes)) - 1]
    good = np.flatnonzero(sums <= error)
    return int(good[0]) + 1 if len(good) else None


def _widened(errors: Floats, width: int) -> Floats:
    """So many entries, the last one again and again; `np.pad` takes ten times as long."""
    return errors[np.minimum(np.arange(width), len(errors) - 1)]


@dataclass(frozen=True, eq=False)
class Curve:
    """``errors[s - 1]`` is the least error with at most s leaves; ``build(s)`` gives a tree that has it."""

    errors: Floats
    build: Callable[[int], Nested]

    @classmethod
    def leaf(cls, code: int, error: float) -> Curve:
        """One leaf."""
        return cls(np.array([error], np.float64), lambda leaves: code)

    @classmethod
    def lowest(cls, curves: list[Curve]) -> Curve:
        """The least of some curves, the first among equals."""
        width = max(len(curve.errors) for curve in curves)
        errors = np.min([_widened(one.errors, width) for one in curves], axis=0)
        return cls(errors, lambda leaves: min(curves, key=lambda one: float(one.errors[:leaves][-1])).build(leaves))

    def first_within(self, error: float) -> int | None:
        """The fewest leaves with at most an error, if that is reached."""
        good = np.flatnonzero(self.errors <= error + _ROUNDING)
        return int(good[0]) + 1 if len(good) else None

    def or_split(self, split: CurveSplit, most: int | None = None, slack: float = 0.0) -> Curve:
        """The lower of this curve and that of a split, which must be lower by more than ``slack``; up to ``most``."""
        test, no, yes, shares = split
        left, right = shares[0] * no.errors, shares[1] * yes.errors
        width = max(len(self.errors), len(left) + len(right))
        width = width if most is None else min(most, width)
        errors = _widened(self.errors, width)
        share = np.zeros(width, np.intp)  # leaves of the no side; 0 where the split is not taken
        min_plus(errors, left, right, share, slack)

        def build(leaves: int) -> Nested:
            place = int(np.argmin(errors[:leaves]))  # more leaves than the best number of them are never needed
            if not share[place]:
                return self.build(place + 1)
            return test, no.build(int(share[place])), yes.build(place + 1 - int(share[place]))

        return Curve(np.minimum.accumulate(errors), build)

    @classmethod
    def of_prunings(
        cls, nodes: Sequence[tuple[Test, int, int] | int], leaves: Sequence[tuple[int, float]], most: int | None = None
    ) -> Curve:
        """All prunings of a tree, whose children stand after their parents.

        ``leaves`` are the code and the error of a leaf in the place of each node.
        """
        curves: dict[int, Curve] = {}
        for node in reversed(range(len(nodes))):
            inside, curves[node] = nodes[node], cls.leaf(*leaves[node])
            if isinstance(inside, tuple):
                test, no, yes = inside
                curves[node] = curves[node].or_split(CurveSplit(test, curves.pop(no), curves.pop(yes)), most)
        return curves[0]


class CurveSplit(NamedTuple):
    """A test with the curves of its sides, and how much each of them counts."""

    test: Test
    no: Curve
    yes: Curve
    shares: tuple[float, float] = (1.0, 1.0)
