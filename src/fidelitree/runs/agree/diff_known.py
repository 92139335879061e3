"""Two trees compared exactly: where they part, box by box, as one tree."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fidelitree.asking.counted import Queries, Tally
from fidelitree.certificates.store import load
from fidelitree.exact.paths import disagreement
from fidelitree.runs.agree.diff_growing import free_name
from fidelitree.runs.agree.difference import SAME, Difference, Flagging
from fidelitree.search.optimal.substitutes import Prunings
from fidelitree.spaces.features import Categorical
from fidelitree.spaces.product import ProductSpace
from fidelitree.trees.nested import Nested, build, mapped, of, simplest

if TYPE_CHECKING:
    from fidelitree.spaces.region import Region
    from fidelitree.spaces.world import Weighed, World
    from fidelitree.trees.tree import Tree

_NOTHING = Queries(Tally.of({}), Tally.of({}))


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
    nested, labels = _overlay(old, new, product.whole, tolerance)
    whole = build(product, nested, labels)
    share = disagreement(_told(whole, product), build(product, 0, [False]), masses)
    tree = whole if whole.size <= most else Prunings(whole, masses).with_leaves(most)
    precision, recall = _judged(tree, whole, masses)
    shown = _with_old_answer(tree, old, product)
    found = Flagging(shown, precision, recall)
    how = "both are trees"
    return Difference(
        (share, share), epsilon, 0.0, shown, precision, recall, asked, (found,), (), _NOTHING, space, how, exact=True
    )


def _overlay(old: Tree, new: Tree, whole: Region, tolerance: float | None) -> tuple[Nested, list[str]]:
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

    nested = simplest(walk([old, new], 0, None, whole))
    labels = sorted(texts)
    places = [labels.index(text) for text in texts]
    return _renamed(nested, places), labels


def _renamed(nested: Nested, places: list[int]) -> Nested:
    if not isinstance(nested, tuple):
        return places[nested]
    return nested[0], _renamed(nested[1], places), _renamed(nested[2], places)


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

    def walk(node: int) -> Nested:
        if tree.feature[node] < 0:
            return int(tree.label(node) != SAME)
        return tree.test(node), walk(int(tree.no[node])), walk(int(tree.yes[node]))

    return build(space, simplest(walk(0)), [False, True])


def _with_old_answer(tree: Tree, old: Tree, product: ProductSpace) -> Tree:
    """The same tree over features that begin with the old answer, as every difference has them."""
    space = ProductSpace([Categorical(free_name(product.names), old.labels.tolist()), *product.features])

    return build(space, mapped(of(tree), lambda test, no, yes: (later(test), no, yes)), tree.labels.tolist())


def later(test: Any) -> Any:
    """A test of the same feature, which has one more before it."""
    return replace(test, feature=test.feature + 1)
