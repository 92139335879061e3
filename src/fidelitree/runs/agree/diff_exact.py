"""Two targets all of whose answers are known: what changed, exactly, and a tree of where.

Two trees are laid over each other, box by box. Two circuits become decision diagrams, one for each pair of answers. Of
a space with few inputs all are asked. The tree grows by the influences of "has it changed?" (Algorithm 1 of the paper),
at the leaf with the largest error. A leaf says changed or unchanged, or goes by the old answer, whichever is right most
often.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.counted import Queries, Tally
from fidelitree.certificates.store import load
from fidelitree.errors import MissingExtraError, NoDiagramError
from fidelitree.exact.build import build_diagram
from fidelitree.exact.engine import DIAGRAM_FROM, ENUMERATE_UNASKED, tabulated
from fidelitree.exact.paths import disagreement
from fidelitree.runs.agree.diff_growing import CLOSE, free_name, from_what_to_what
from fidelitree.runs.agree.difference import SAME, Difference, Flagging
from fidelitree.runs.size_grid import sizes_up_to
from fidelitree.search.best_first import best_first
from fidelitree.search.optimal.substitutes import Prunings
from fidelitree.spaces.features import Categorical, IsIn, IsOne
from fidelitree.spaces.product import ProductSpace
from fidelitree.targets.circuits.circuit import Circuit, joined
from fidelitree.targets.circuits.network import Gates
from fidelitree.targets.table import TruthTable
from fidelitree.trees.growing import GrowingTree
from fidelitree.trees.nested import Nested, build, mapped, of, simplest
from fidelitree.trees.tree import Tree

if TYPE_CHECKING:
    from fidelitree.asking.limits import Budget
    from fidelitree.exact.subfunction import Floats, Subfunction
    from fidelitree.runs.agree.pair import Pair
    from fidelitree.spaces.features import Test
    from fidelitree.spaces.region import Region
    from fidelitree.spaces.world import Weighed, World
    from fidelitree.trees.growing import GrowingLeaf

FEW = 1 << 10
"""Inputs of a space that are all asked: about as many as the smallest comparison by draws takes."""
_NOTHING = Queries(Tally.of({}), Tally.of({}))  # asked
_BITS = ((0, 0), (0, 1), (1, 0), (1, 1))


@dataclass(frozen=True)
class KnownChanges:
    """Two targets inside a region: whether they differ, and how often each pair of answers comes.

    ``parts`` holds functions and, of each, the places of the labels that stand for ``pairs``, in turn.
    """

    changed: Subfunction
    parts: Sequence[tuple[Subfunction, Sequence[int]]]
    pairs: Sequence[tuple[int, int]]
    labels: Sequence[Any]

    def shares(self) -> Floats:
        """The probability of each pair."""
        return np.concatenate([function.label_probabilities()[list(places)] for function, places in self.parts])

    def split(self, test: Test) -> tuple[KnownChanges, KnownChanges]:
        """Where the test says no and yes."""
        sides = self.changed.split(test)
        halves = [(function.split(test), places) for function, places in self.parts]
        no, yes = (
            KnownChanges(sides[k], [(half[k], places) for half, places in halves], self.pairs, self.labels)
            for k in (0, 1)
        )
        return no, yes


def listed(*targets: Any) -> bool:
    """Whether all of them list their own answers, which cost nobody anything."""
    return all(isinstance(one, (Circuit, TruthTable, Tree)) for one in targets)


def few_inputs(space: World, free: bool, budget: Budget) -> bool:
    """Whether all inputs of a space are asked; not where a clock may end it halfway."""
    points = None if space.independent is None else space.independent.points
    most = ENUMERATE_UNASKED if free else min(FEW, budget.max_queries or FEW)
    return points is not None and points <= most and (free or budget.max_seconds is None)


def of_circuits(old: Circuit, new: Circuit, space: ProductSpace) -> KnownChanges | None:
    """Two circuits as diagrams; None where there are none, or where a table is as good."""
    if 1 << len(space) <= DIAGRAM_FROM:
        return None
    try:
        changed = build_diagram(joined(old, new, Gates.differ), space)
        both = [build_diagram(joined(old, new, partial(_are, one=a, two=b)), space) for a, b in _BITS]
    except (MissingExtraError, NoDiagramError):
        return None
    return KnownChanges(changed, [(function, [1]) for function in both], _BITS, [0, 1])


def _are(gates: Gates, old: int, new: int, one: int, two: int) -> int:
    """Whether one circuit answers ``one``, and the other ``two``."""
    return gates.both(old ^ 1 - one, new ^ 1 - two)


Codes = NDArray[np.intp]


def of_all_inputs(pair: Pair, space: ProductSpace) -> tuple[KnownChanges, NDArray[Any], Codes, Codes]:
    """Every input asked; also the inputs, and both answers to them."""
    assert space.points is not None, "only finite spaces are listed"
    whole = space.whole
    inner = whole.inputs(0, space.points)
    old, new = pair.ask(inner, "enumerate")
    pairs, codes = np.unique(np.column_stack([old, new]), axis=0, return_inverse=True)
    told = tabulated(codes.ravel(), whole, list(range(len(pairs))))
    changed = tabulated((old != new).astype(np.intp), whole, [0, 1])
    some = [(int(a), int(b)) for a, b in pairs]
    return KnownChanges(changed, [(told, range(len(pairs)))], some, pair.book.seen), inner, old, new


@dataclass(frozen=True)
class _Leaf:
    """A leaf in the making: the old answers that it flags; how often rightly, wrongly, and what it misses."""

    changes: KnownChanges
    flags: frozenset[int]
    whole: bool
    """Whether it flags all or nothing, whatever the old answer."""
    right: float
    false: float
    missed: float
    words: str

    @property
    def size(self) -> int:
        return 1 if self.whole else 2

    @property
    def wrong(self) -> float:
        return self.false + self.missed


class ChangeGrower:
    """Grows one tree; the smaller ones on its way are a curve."""

    def __init__(self, changes: KnownChanges, space: ProductSpace, max_leaves: int) -> None:
        self._labels, self._most = list(changes.labels), max_leaves
        self._space = ProductSpace([Categorical(free_name(space.names), self._labels), *space.features])
        self._old, self._new = np.array(changes.pairs).T
        self._bare = GrowingTree(space)
        self._leaves = {0: self._leaf(changes, 1.0)}
        self._made: list[_Leaf] = []  # of the split that comes next
        self.share = float(changes.shares()[self._old != self._new].sum())
        """How much changed."""

    def curve(self) -> list[Flagging]:
        """Trees of growing sizes, each with its exact precision and recall; the last is as close as was asked."""
        found, whole = dict[int, Flagging](), list(self._bare.leaves.values())
        sizes = sizes_up_to(self._most)[1:]
        splits: Iterator[tuple[int, float, Test]] = best_first(whole, self._look, self._split)
        for number, _, test in splits:
            passed = [size for size in sizes if size <= self._size]
            if self._bare.size > 1 and passed and passed[-1] not in found:
                found[passed[-1]] = self._flagging()
            wrong = sum(leaf.wrong for leaf in self._leaves.values())
            if wrong <= CLOSE * self.share or not self._room(number, test):
                break
        last = self._flagging()
        return [*(one for one in found.values() if one.leaves < last.leaves), last]

    @property
    def _size(self) -> int:
        return sum(leaf.size for leaf in self._leaves.values())

    def _look(self, made: Sequence[GrowingLeaf]) -> Iterator[tuple[int, float, Test | None]]:
        """How often a leaf is wrong, and the test that helps most."""
        for one in made:
            leaf = self._leaves[one.number]
            best = leaf.changes.changed.splits()
            feature = int(np.argmax(best.drops))
            test = best.tests[feature] if best.tests else IsOne(feature)
            yield one.number, leaf.wrong, test if leaf.wrong > 0 and best.drops[feature] > 0 else None

    def _room(self, number: int, test: Test) -> bool:
        """Whether the two leaves that a test makes of one are not too many."""
        leaf = self._leaves[number]
        sides = zip(leaf.changes.split(test), self._bare.leaves[number].region.split(test), strict=True)
        self._made = [self._leaf(part, region.mass) for part, region in sides]
        return self._size - leaf.size + sum(one.size for one in self._made) <= self._most

    def _split(self, number: int, test: Test) -> tuple[GrowingLeaf, GrowingLeaf]:
        made = self._bare.split(number, test)
        del self._leaves[number]
        self._leaves |= {one.number: leaf for one, leaf in zip(made, self._made, strict=True)}
        return made

    def _leaf(self, changes: KnownChanges, mass: float) -> _Leaf:
        """What is right most often; the old answer is asked only where that helps."""
        shares, codes = mass * changes.shares(), range(len(self._labels))
        apart = self._old != self._new
        changed, same = (np.bincount(self._old[some], shares[some], len(codes)) for some in (apart, ~apart))
        nothing, everything = frozenset[int](), frozenset(codes)
        each = frozenset(np.flatnonzero(changed > same).tolist())

        def wrongs(flags: frozenset[int]) -> tuple[float, float]:
            return float(sum(same[k] for k in flags)), float(sum(changed[k] for k in everything - flags))

        flags = min((nothing, everything, each), key=lambda one: sum(wrongs(one)))
        some = apart & np.isin(self._old, list(flags)) & (shares > 0)
        words = from_what_to_what(self._old[some], self._new[some], shares[some], self._labels) if flags else SAME
        return _Leaf(changes, flags, flags in (nothing, everything), float(shares[some].sum()), *wrongs(flags), words)

    def _flagging(self) -> Flagging:
        """The tree as it is now."""
        kept = list(self._leaves.values())
        texts = sorted({SAME, *(leaf.words for leaf in kept)})
        bare = self._bare.complete(dict(zip(self._leaves, range(len(kept)), strict=True)), range(len(kept)))

        def asked(node: int) -> Nested:
            leaf = kept[bare.code[node]]
            said = texts.index(leaf.words)
            return said if leaf.whole else (IsIn(-1, leaf.flags), texts.index(SAME), said)

        right, false, missed = (sum(getattr(leaf, name) for leaf in kept) for name in ("right", "false", "missed"))
        precision, recall = (right / (right + other) if right + other else 1.0 for other in (false, missed))
        return Flagging(build(self._space, _later(simplest(of(bare, asked))), texts), precision, recall)


def stored_tree(target: Any) -> tuple[Any, World | None]:
    """The tree and the space of a folder; anything else as it is."""
    if isinstance(target, (str, os.PathLike)):
        kept = load(target)
        return kept.tree, kept.space
    return target, None


def known_difference(
    trees: tuple[Tree, Tree, float | None], space: World, goal: tuple[float, tuple[float, float], int]
) -> Difference:
    """All about two trees, and numbers within a tolerance; where too many leaves say where, those that say most."""
    (old, new, tolerance), (epsilon, asked, most) = trees, goal
    product, masses = space.product, space.masses
    assert masses is not None, "masses are known"
    old.check_space(product)
    new.check_space(product)
    whole = _overlay(old, new, product, tolerance)
    share = disagreement(_told(whole, product), build(product, 0, [False]), masses)
    tree = whole if whole.size <= most else Prunings(whole, masses).with_leaves(most)
    precision, recall = _judged(tree, whole, masses)
    shown = _with_old_answer(tree, old, product)
    found = Flagging(shown, precision, recall)
    how = "both are trees"
    return Difference(
        (share, share), epsilon, 0.0, shown, precision, recall, asked, (found,), (), _NOTHING, space, how, exact=True
    )


def _overlay(old: Tree, new: Tree, space: ProductSpace, tolerance: float | None) -> Tree:
    """The tree that asks what both ask, as far as it matters, and says what changes."""
    texts = [SAME]

    def leaf(before: Any, after: Any) -> int:
        near = before == after if tolerance is None else abs(before - after) <= tolerance
        text = SAME if near else f"{before} -> {after}"
        if text not in texts:
            texts.append(text)
        return texts.index(text)

    def walk(trees: list[Tree], node: int, before: Any, region: Region) -> Nested:
        tree = trees[0]
        if tree.feature[node] < 0:
            found = tree.label(node)
            return walk(trees[1:], 0, found, region) if len(trees) > 1 else leaf(before, found)
        test = tree.test(node)
        no, yes = region.parts(test)
        if no is None or yes is None:
            child = tree.yes[node] if no is None else tree.no[node]
            return walk(trees, int(child), before, region)
        sides = walk(trees, int(tree.no[node]), before, no), walk(trees, int(tree.yes[node]), before, yes)
        return sides[0] if sides[0] == sides[1] else (test, *sides)

    nested = simplest(walk([old, new], 0, None, space.whole))
    labels = sorted(texts)
    return build(space, nested, labels, [labels.index(text) for text in texts])


def _judged(tree: Tree, whole: Tree, masses: Weighed) -> tuple[float, float]:
    """Precision and recall of a smaller tree against the one that says all."""
    if tree is whole:
        return 1.0, 1.0
    flagged, changed = (_told(one, masses.product) for one in (tree, whole))
    nothing = build(masses.product, 0, [False])
    in_flagged, in_changed = (disagreement(one, nothing, masses) for one in (flagged, changed))
    apart = disagreement(flagged, changed, masses)
    both = (in_flagged + in_changed - apart) / 2
    return (both / in_flagged if in_flagged else 1.0), (both / in_changed if in_changed else 1.0)


def _told(tree: Tree, space: ProductSpace) -> Tree:
    """Whether a tree flags an input."""
    return build(space, simplest(of(tree, lambda leaf: int(tree.label(leaf) != SAME))), [False, True])


def _with_old_answer(tree: Tree, old: Tree, product: ProductSpace) -> Tree:
    """The same tree over features that begin with the old answer, as every difference has them."""
    space = ProductSpace([Categorical(free_name(product.names), old.labels.tolist()), *product.features])
    return build(space, _later(of(tree)), tree.labels.tolist())


def _later(nested: Nested) -> Nested:
    """Tests of the same features, which have one more before them: the old answer, which was feature -1."""

    def later(test: Any, no: Nested, yes: Nested) -> Nested:
        return replace(test, feature=test.feature + 1), no, yes

    return mapped(nested, later)
