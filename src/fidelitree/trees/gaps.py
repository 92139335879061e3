"""One form for tests of numbers that may be missing, whatever a search has written.

Where missing numbers can come, a threshold says on which side they are; where none can, it says nothing. A threshold
that only parts missing numbers from the others, all of which are on one side of it, asks that: ``x is missing``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from fidelitree.spaces.features import AtMost

if TYPE_CHECKING:
    from fidelitree.spaces.product import ProductSpace

Left = tuple[float, float, bool]
"""An interval of numbers, open on the left, and whether missing ones may come too."""


def gaps_of(tests: Iterable[Any]) -> set[int]:
    """The features of which a test says where missing numbers go."""
    return {test.feature for test in tests if isinstance(test, AtMost) and test.missing is not None}


def sides(test: AtMost, left: Left) -> tuple[Left, Left]:
    """What is left on the no side, and on the yes side."""
    low, high, missing = left
    yes = missing and bool(test.missing)
    return (max(low, test.cut), high, missing and not yes), (low, min(high, test.cut), yes)


def splits(test: AtMost, left: Left) -> bool:
    """Whether both answers are possible, and the test is in the one form."""
    low, high, missing = left
    inside = low < test.cut < high or (missing and test.cut == math.inf and low < high)
    return inside and (test.missing is not None) == missing


def settled(space: ProductSpace, nodes: Sequence[Any]) -> Sequence[Any]:
    """Nodes as `Tree.build` takes them, with such tests; the same ones where no number can be missing."""
    tests = [entry[0] for entry in nodes if isinstance(entry, tuple)]
    asked = {test.feature for test in tests if isinstance(test, AtMost)}
    gaps = gaps_of(tests) | space.gaps
    if not asked & gaps:
        return nodes
    found = list(nodes)
    waiting: list[tuple[int, dict[int, Left]]] = [(0, dict.fromkeys(gaps, (-math.inf, math.inf, True)))]
    while waiting:
        node, left = waiting.pop()
        if not isinstance(nodes[node], tuple):
            continue
        test, no, yes = nodes[node]
        if not isinstance(test, AtMost) or test.feature not in gaps:
            waiting += [(no, left), (yes, left)]
            continue
        low, high, missing = left[test.feature]
        below = test.cut >= high
        if missing and low < high and (below or test.cut <= low) and bool(test.missing) != below:
            # All numbers are on one side, and missing ones alone on the other: the no side from now on.
            if not below:
                no, yes = yes, no
            test = AtMost(test.feature, math.inf, False)
        else:
            test = AtMost(test.feature, test.cut, bool(test.missing) if missing else None)
        found[node] = test, no, yes
        for child, side in zip((no, yes), sides(test, (low, high, missing)), strict=True):
            waiting.append((child, {**left, test.feature: side}))
    return found
