"""Trees of depth two by looking two steps ahead: the best tests below each of the most promising first ones.

Of trees with two leaves all are looked at. Where there are few tests, as of bits, all of them are tried first, and no
tree of depth two has fewer errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fidelitree.search.local.coded import Coded, Grouped
from fidelitree.search.local.node import Node, leaf, nested, split
from fidelitree.search.local.splits import Splits, errors, gini

if TYPE_CHECKING:
    from fidelitree.asking.limits import Watch
    from fidelitree.search.local.coded import Rows
    from fidelitree.trees.nested import Nested

_TRIED = 60  # first tests
_MOST_COUNTS = 2e8  # labels counted by tests, about a second: where both are very many, fewer first tests are tried


def two_steps(coded: Coded, watch: Watch) -> list[Nested]:
    """For two, three and four leaves, the tree with the fewest errors."""
    splits = Splits(Grouped(coded, watch=watch))
    rows = splits.grouped.all_rows
    counts = splits.grouped.counts(rows)
    menu = splits.look(splits.grouped.histogram(rows), counts)
    scores = menu.scores(gini)
    first = _divided(splits, rows)
    best: dict[int, Node] = {first.leaves: first}
    tried = min(_TRIED, 1 + int(_MOST_COUNTS / (2 * splits.grouped.classes * max(1, len(splits.features)))))
    for number in np.argsort(scores, kind="stable")[:tried].tolist():
        if scores[number] == np.inf:
            break
        test, passed = splits.divide(menu.decode(number), rows, gini)
        parts = rows[~passed], rows[passed]
        no, yes = (_divided(splits, part) for part in parts)
        alone = [leaf(part, splits.grouped.counts(part)) for part in parts]
        for sides in ((no, yes), (alone[0], yes), (no, alone[1])):
            found = split(rows, counts, test, sides)
            if found.leaves not in best or found.errors < best[found.leaves].errors:
                best[found.leaves] = found
    return [nested(node) for node in best.values()]


def _divided(splits: Splits, rows: Rows) -> Node:
    """The rows divided by the test that leaves the fewest errors; a leaf where there is none."""
    counts = splits.grouped.counts(rows)
    menu = splits.look(splits.grouped.histogram(rows), counts)
    scores = menu.scores(errors)
    if scores.min(initial=np.inf) == np.inf:
        return leaf(rows, counts)
    test, passed = splits.divide(menu.decode(int(scores.argmin())), rows, errors)
    sides = rows[~passed], rows[passed]
    no, yes = (leaf(part, splits.grouped.counts(part)) for part in sides)
    return split(rows, counts, test, (no, yes))
