"""The archive of a run: labelled rows go in, and for each number of leaves the tree with the least loss comes out.

Trees are values: a tree that was handed out is never changed. Each fit looks at all rows, and begins with the trees of
the one before it. What is lost on a row is one for a wrong label, or for a number that is too far away (`Loss`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fidelitree.search.bits.learner import SEARCH_ALL
from fidelitree.search.labelled import ENOUGH, Binning
from fidelitree.search.local.grown import CART
from fidelitree.search.local.iterated import Refiner
from fidelitree.search.numbers.alternating import every_size
from fidelitree.search.numbers.growth import RULES, Numbers, errors, prunings

if TYPE_CHECKING:
    from fidelitree.asking.limits import Watch
    from fidelitree.search.local.coded import Coded
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.targets.labels import LabelBook
    from fidelitree.trees.curve import Curve
    from fidelitree.trees.nested import Nested
    from fidelitree.trees.tree import Tree

Codes = NDArray[np.intp]
MOST_WORK = 4e9  # label counts, about a minute: where rows and features are many, a search makes fewer proposals


class TrainingRows(NamedTuple):
    """Labelled rows, and what their label codes stand for."""

    inner: NDArray[Any]
    codes: Codes
    book: LabelBook


class TreeSearch(Protocol):
    """A search over labelled rows; where it is ended by its watch, what was found is known."""

    def know(self, trees: Iterable[Tree]) -> None:
        """Take trees that were found elsewhere into account."""

    def improve(self, sizes: Sequence[int], steps: int) -> None:
        """Make this many proposals near each size, one size after the other."""

    def at(self, leaves: int) -> Tree:
        """Return the tree with the least loss that has at most this many leaves."""


class Loss(Protocol):
    """What is lost on a row, and how to search for trees that lose little."""

    def search(self, product: ProductSpace, rows: TrainingRows) -> TreeSearch:
        """Begin a search over these rows."""


class Archive:
    """All rows, in the order in which they were added, and the trees of the last fit by their number of leaves."""

    def __init__(self, product: ProductSpace, book: LabelBook, loss: Loss) -> None:
        self._product, self._book, self._loss = product, book, loss
        self.inner: NDArray[Any] = np.empty((0, len(product)), product.dtype)
        self.codes: Codes = np.empty(0, np.intp)
        self.fitted = 0
        """Rows of the last fit."""
        self._search: TreeSearch | None = None
        self._trees: dict[int, Tree] = {}

    def __len__(self) -> int:
        return len(self.codes)

    def add(self, inner: NDArray[Any], codes: Codes) -> None:
        """Add rows with their label codes."""
        self.inner = np.concatenate([self.inner, inner])
        self.codes = np.concatenate([self.codes, codes])

    def fit(self, focus: Sequence[int] = (), steps: int = 0, known: Iterable[Tree] = ()) -> None:
        """Fit trees to all rows, by this many proposals near each size in ``focus``, one after the other.

        The ``known`` trees, and those of the last fit near these sizes, are taken into account.
        """
        before = [] if self._search is None else [self.at(size) for size in dict.fromkeys(focus)]
        search = self._search = self._loss.search(self._product, TrainingRows(self.inner, self.codes, self._book))
        self._trees = {}
        self.fitted = len(self)
        search.know([*known, *before])
        search.improve(focus, steps)

    def at(self, leaves: int) -> Tree:
        """Return the best tree of the last fit that has at most this many leaves."""
        assert self._search is not None, "trees are asked for after a fit"
        if leaves not in self._trees:
            self._trees[leaves] = self._search.at(leaves)
        return self._trees[leaves]


class LabelLoss:
    """One for every wrong label: CART's prunings, and an iterated local search near some sizes."""

    def __init__(self, seed: int, watch: Watch) -> None:
        self._seed, self._watch = seed, watch

    def search(self, product: ProductSpace, rows: TrainingRows) -> TreeSearch:
        """Begin a search over these rows."""
        return LabelSearch(product, rows, self._seed, self._watch)


class LabelSearch:
    """The search for labels."""

    def __init__(self, product: ProductSpace, rows: TrainingRows, seed: int, watch: Watch) -> None:
        self._binning, self._book = Binning.of(product, rows.inner), rows.book
        self._rows, self._watch = self._binning.coded(rows.codes), watch
        self._refiner = Refiner(self._rows, seed, watch)
        self._noisy = len(product) > SEARCH_ALL

    def know(self, trees: Iterable[Tree]) -> None:
        """Take trees that were found elsewhere into account; of their labels none that did not come."""
        ranks = self._book.ranks()
        places = {label: ranks.index(rank) for rank, label in enumerate(self._book.sorted())}
        for tree in trees:
            if all(label in places for label in tree.labels.tolist()):
                self._refiner.know(self._binning.nested(tree, places))

    def improve(self, sizes: Sequence[int], steps: int) -> None:
        """Make this many proposals near each size, or what there is time for."""
        wanted = [size for size in sizes if size > 1]
        if not wanted or not steps:
            return
        if self._noisy:
            self._refiner.leave_out_noise()
        steps = affordable(self._rows, len(wanted), steps)
        for size in wanted:
            self._refiner.improve_at(size, steps)

    def at(self, leaves: int) -> Tree:
        """Return the tree with the fewest errors that has at most this many leaves."""
        return self._binning.tree(self._refiner.with_leaves(leaves).tree, self._book.ranks(), self._book.sorted())


def affordable(rows: Coded, sizes: int, steps: int) -> int:
    """Return the proposals near each of so many sizes that there is time for."""
    return min(steps, max(1, int(MOST_WORK / (rows.bins.size * rows.classes * sizes))))


class NumberLoss:
    """One for every number that is further away than a tolerance."""

    def __init__(self, tolerance: float, watch: Watch) -> None:
        self._tolerance, self._watch = tolerance, watch

    def search(self, product: ProductSpace, rows: TrainingRows) -> TreeSearch:
        """Begin a search over these rows."""
        return NumberSearch(product, rows, self._tolerance, self._watch)


class NumberSearch:
    """The search for numbers: prunings of two growth rules, each of whose tests are then chosen again."""

    def __init__(self, product: ProductSpace, rows: TrainingRows, tolerance: float, watch: Watch) -> None:
        answers = np.asarray(np.array(rows.book.seen)[rows.codes], np.float64)
        self._numbers = Numbers.of(Binning.of(product, rows.inner), slice(None), answers, tolerance)
        self._watch = watch
        self._found: dict[int, Nested] = {1: self._numbers.leaf(np.arange(len(answers)))[0]}
        self._most = max(1, min(CART, len(answers) // ENOUGH))
        self._prunings: list[Curve] = []
        """Of each growth rule: they have the trees of sizes that nobody looked near."""
        self._known: list[Tree] = []
        """Trees that stand in for those of a search that was cut off."""

    def know(self, trees: Iterable[Tree]) -> None:
        """Keep them until this search has found its own: it begins anew."""
        self._known = list(trees)

    def improve(self, sizes: Sequence[int], steps: int) -> None:
        """Look for a tree of each size; without any step, take prunings as they are."""
        if sizes:
            self._prunings = [prunings(self._numbers, rule, self._most, self._watch) for rule in RULES]
            found = every_size(self._numbers, sorted(set(sizes)), self._watch, None if steps else lambda _: True)
            self._found |= {size: tree for size, (tree, _) in found.items()}
            self._known = []

    def at(self, leaves: int) -> Tree:
        """Return the tree with the fewest errors that has at most this many leaves."""
        known = [tree for tree in self._known if tree.size <= leaves]
        if known:
            return max(known, key=lambda tree: tree.size)
        best = self._found[max(size for size in self._found if size <= leaves)]
        if leaves not in self._found:
            pruned = (curve.build(min(leaves, len(curve.errors))) for curve in self._prunings)
            best = min([best, *pruned], key=lambda one: errors(self._numbers, one))
        return self._numbers.tree(best)
