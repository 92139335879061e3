"""Better trees of the same shape: every test is chosen again, one after the other, with all others as they are.

Where the two sides of a node are fixed trees, each row is right in one, in both, or in neither. So the test that loses
fewest rows is found by adding up one number a group, and of categories the best set is exact. Values of leaves follow.
Errors never rise (Carreira-Perpinan and Tavallali 2018, "Alternating optimization of decision trees").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fidelitree.search.numbers.growth import RULES, Numbers, Rows, errors, prunings, wrong

if TYPE_CHECKING:
    from fidelitree.asking.limits import Watch
    from fidelitree.spaces.features import Test
    from fidelitree.trees.nested import Nested


def alternated(numbers: Numbers, nested: Nested, watch: Watch) -> tuple[Nested, int]:
    """A tree with at most as many leaves and errors, and its errors."""
    best, least, everything = nested, errors(numbers, nested), np.arange(len(numbers))
    while True:
        found = _reached(numbers, _again(numbers, best, everything, watch), everything)
        now = errors(numbers, found)
        if now >= least:
            return best, least
        best, least = found, now


def _again(numbers: Numbers, nested: Nested, rows: Rows, watch: Watch) -> Nested:
    """What is below a node with all tests chosen again, lowest first; a side that no row reaches is dropped."""
    if not isinstance(nested, tuple):
        return numbers.leaf(rows)[0]
    watch()
    yes = numbers.yes(nested[0], rows)
    if yes.all() or not yes.any():
        return _again(numbers, nested[2] if yes.any() else nested[1], rows, watch)
    sides = _again(numbers, nested[1], rows[~yes], watch), _again(numbers, nested[2], rows[yes], watch)
    test = _best_test(numbers, sides, rows, nested[0])
    yes = numbers.yes(test, rows)
    if yes.all() or not yes.any():
        return sides[int(yes.any())]
    return test, *sides


def _reached(numbers: Numbers, nested: Nested, rows: Rows) -> Nested:
    """A tree without sides that no row reaches: a test that was changed above may have left some."""
    if not isinstance(nested, tuple):
        return nested
    test, no, yes = nested
    inside = numbers.yes(test, rows)
    if inside.all() or not inside.any():
        return _reached(numbers, yes if inside.any() else no, rows)
    return test, _reached(numbers, no, rows[~inside]), _reached(numbers, yes, rows[inside])


def _best_test(numbers: Numbers, sides: tuple[Nested, Nested], rows: Rows, old: Test) -> Test:
    """The test that gets the fewest rows wrong, the old one among equals."""
    no, yes = (wrong(numbers, side, rows) for side in sides)
    price = yes.astype(np.float64) - no  # of yes in the place of no
    cares = np.flatnonzero(price)
    best, least = old, float(price[numbers.yes(old, rows)].sum())
    for feature, size in enumerate(numbers.sizes):
        own = np.bincount(numbers.groups[feature][rows[cares]], price[cares], size)
        if numbers.ordered[feature]:
            sums = np.cumsum(own)
            chosen = np.arange(int(np.argmin(sums)) + 1)
            cost = float(sums[len(chosen) - 1])
        else:
            chosen = np.flatnonzero(own < 0)
            cost = float(own[chosen].sum())
        if cost < least and 0 < len(chosen) < size:
            best, least = numbers.test(feature, chosen), cost
    return best


def every_size(
    numbers: Numbers, sizes: Sequence[int], watch: Watch, enough: Callable[[Nested], bool] | None = None
) -> dict[int, tuple[Nested, int]]:
    """For each size the best tree found, and its errors: never more than those of a smaller one.

    Once a tree is good enough, larger ones are prunings as they are: most of the time goes into these.
    """
    curves = [prunings(numbers, rule, max(sizes), watch) for rule in RULES]
    found: dict[int, tuple[Nested, int]] = {}
    best: tuple[Nested, int] | None = None
    done = False
    for size in sizes:
        built = [curve.build(min(size, len(curve.errors))) for curve in curves]
        tried = [(one, errors(numbers, one)) if done else alternated(numbers, one, watch) for one in built]
        options = [*tried, *([best] if best is not None else [])]
        best = min(options, key=lambda one: one[1])
        found[size] = best
        done = done or (enough is not None and enough(best[0]))
    return found
