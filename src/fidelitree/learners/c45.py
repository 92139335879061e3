"""C4.5: entropy gained over entropy of the split itself, then pruning by a pessimistic guess of each leaf's error.

J. R. Quinlan, *C4.5: Programs for Machine Learning*, 1993. Labelled inputs alone.

Among tests that gain at least as much as the average test does, the one with the best ratio of gain to its own entropy
is taken; each side must keep two rows. Afterwards a subtree is replaced by a leaf where the upper confidence limits of
its leaves' errors (at 25 %, binomial) promise no less. Replacing a node by one of its own branches is not done.

Running time: as ID3. Where its guarantee ends: there is none; the confidence limits are a rule of thumb on the very
rows that grew the tree, and no promise. Ours is the certificate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from fidelitree.learners.lesson import Lesson, from_labels, learner
from fidelitree.search.local.coded import Floats, Grouped
from fidelitree.search.local.coded import Rows as Places
from fidelitree.search.local.node import Leaf, Node, leaf, nested, split
from fidelitree.search.local.splits import Menu, Splits, entropy

if TYPE_CHECKING:
    from fidelitree.runs.result import Distillation
    from fidelitree.search.labelled import Labelled
    from fidelitree.trees.tree import Tree

CONFIDENCE = 0.25
_LEAST_ROWS = 2
_DEEPEST = 200
_TINY = 1e-12


@learner("Quinlan 1993, without subtree raising", "labels")
def c45(lesson: Lesson) -> Distillation:
    """C4.5's tree for a growing set of labels, certified.

    >>> from fidelitree import ProductSpace
    >>> from fidelitree.targets import tribes
    >>> c45(tribes(2, 2), ProductSpace.bernoulli(4), epsilon=0.2).certificate.holds
    True
    """
    return from_labels(lesson, fit)


def fit(data: Labelled) -> Tree:
    """The pruned tree for the rows that teach; where every input is known, each counts as one row."""
    rows = data.coded(data.growing)
    splits = Splits(Grouped(rows))
    per_row = rows.total / len(rows.codes)
    everything = splits.grouped.all_rows
    return data.binned(nested(_pruned(_grown(splits, everything, per_row), per_row)))


def _grown(splits: Splits, rows: Places, per_row: float, depth: int = 0) -> Node:
    counts = splits.grouped.counts(rows)
    alone = leaf(rows, counts)
    if alone.errors <= 0 or depth == _DEEPEST:
        return alone
    menu = splits.look(splits.grouped.histogram(rows), counts)
    number = _best(menu, counts, per_row)
    if number is None:
        return alone
    test, passed = splits.divide(menu.decode(number), rows, entropy)
    sides = (_grown(splits, rows[~passed], per_row, depth + 1), _grown(splits, rows[passed], per_row, depth + 1))
    return split(rows, counts, test, sides)


def _best(menu: Menu, counts: Floats, per_row: float) -> int | None:
    """The test with the best ratio among those whose gain is at least average; None where no test divides enough."""
    left = menu.scores(entropy)
    yes = menu.passing()
    no = counts.sum() - yes
    allowed = np.isfinite(left) & (np.minimum(yes, no) >= _LEAST_ROWS * per_row - _TINY)
    if not allowed.any():
        return None
    gains = np.where(allowed, entropy(counts[:, None])[0] - left, -np.inf)
    enough = allowed & (gains >= gains[allowed].mean() - _TINY * counts.sum())
    ratios = np.where(enough, gains / np.maximum(entropy(np.stack([no, yes])), _TINY), -np.inf)
    return int(ratios.argmax())


def _pruned(node: Node, per_row: float) -> Node:
    if isinstance(node, Leaf):
        return node
    sides = _pruned(node.no, per_row), _pruned(node.yes, per_row)
    alone = leaf(node.rows, node.counts)
    kept = split(node.rows, node.counts, node.test, sides)
    return alone if _guess(alone, per_row) <= _guess(kept, per_row) + 0.1 else kept


def _guess(node: Node, per_row: float) -> float:
    """Errors that are feared below a node, in rows."""
    if isinstance(node, Leaf):
        total, wrong = float(node.counts.sum()) / per_row, node.errors / per_row
        if total - wrong <= 0:
            return total
        return total * float(special.betaincinv(wrong + 1, total - wrong, 1 - CONFIDENCE))
    return _guess(node.no, per_row) + _guess(node.yes, per_row)
