"""Which exact engine fits a target, and the exact error of a tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.counted import Counted, tabulate
from fidelitree.asking.on_device import OnDevice
from fidelitree.errors import MissingExtraError, NoDiagramError, ParameterError
from fidelitree.exact.build import build_diagram
from fidelitree.exact.device_table import device_error
from fidelitree.exact.grid import MOST as GRID_MOST
from fidelitree.exact.grid import GridSubfunction
from fidelitree.exact.paths import PathSubfunction, disagreement
from fidelitree.exact.truthtable import TableSubfunction
from fidelitree.spaces.features import IsOne
from fidelitree.spaces.product import check_space, product_of
from fidelitree.targets.circuits.circuit import Circuit, difference
from fidelitree.targets.table import MAX_FEATURES, TruthTable
from fidelitree.trees.answers import LeafLabels
from fidelitree.trees.tree import Tree, check_tree

if TYPE_CHECKING:
    from fidelitree.asking.limits import Watch
    from fidelitree.exact.subfunction import Subfunction
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.spaces.region import Region
    from fidelitree.spaces.world import World
    from fidelitree.targets.labels import Target

ENUMERATE_UNASKED = 1 << 20
"""Inputs that a call whose purpose is to be exact asks about without being told how many it may ask."""
MOST_LISTED = 1 << MAX_FEATURES
"""Inputs of bits that a table may hold."""
DIAGRAM_FROM = 1 << 16
"""Inputs from which a circuit becomes a diagram; the table of fewer is as quick, and needs no extra."""
_PAIR_COST = 500  # a pair of paths takes as long as about this many inputs of a table


def free_of_charge(counted: Counted) -> bool:
    """Whether the target lists its own answers, so that enumerating it costs nobody anything."""
    return isinstance(counted.target, (Circuit, TruthTable, Tree))


def exact_subfunction(counted: Counted, region: Region, may_ask: int, watch: Watch | None = None) -> Subfunction | None:
    """The target inside a region with all its answers known, or None where that takes more than ``may_ask`` queries.

    A tree with few leaves for its features is read path by path, a circuit of more than 16 features becomes a decision
    diagram; any other target is enumerated. NoDiagramError says why a circuit that is too large to be enumerated has
    no diagram. ``watch``, or the target's own, may end the building of a diagram.
    """
    target, points, bits = counted.target, region.points, region.space.all_bits
    most = MOST_LISTED if bits else GRID_MOST
    if isinstance(target, TruthTable) and target.n != len(region.space):
        raise ParameterError(f"space must have the truth table's {target.n} features; got {len(region.space)}")
    if isinstance(target, Tree):
        target.check_space(region.space)
        if points is None or points > most or not bits or _PAIR_COST * target.size**2 < points:
            return PathSubfunction(target, region)
    if isinstance(target, Circuit):
        target.check_space(region.space)
        if (found := _from_diagram(target, region, watch or counted.watch)) is not None:
            return found
    if points is None or points > most or (points > may_ask and not free_of_charge(counted)):
        return None
    codes = tabulate(counted, region)
    ranks = counted.book.ranks()
    if ranks != sorted(ranks):
        codes = np.array(ranks, codes.dtype)[codes]
    return tabulated(codes, region, counted.book.sorted())


def why_not_all(space: ProductSpace, max_queries: int | None) -> str:
    """Why not every input of a space is asked about, for who must."""
    if not space.all_bits:
        return (
            f"build_top_down must ask about all inputs, and the space has {space.extent}; where not all features are "
            f"bits it asks about {ENUMERATE_UNASKED:,} at most, or up to {GRID_MOST:,} with max_queries. distill draws "
            f"inputs"
        )
    allowed = "it does unasked" if max_queries is None else f"max_queries = {max_queries} allows"
    return (
        f"build_top_down must ask about all 2^{len(space)} inputs, more than "
        f"{allowed if len(space) <= MAX_FEATURES else 'a table may hold'}; allow them with max_queries "
        f"(up to 2^26), or use practical_top_down, which draws inputs"
    )


def tabulated(codes: NDArray[Any], region: Region, labels: list[Any]) -> Subfunction:
    """All answers in a region; ``codes`` are their places among the labels, inputs in truth-table order."""
    bits = region.space.all_bits
    return TableSubfunction.of(codes, region, labels) if bits else GridSubfunction(region, codes, labels)


def _from_diagram(circuit: Circuit, region: Region, watch: Watch) -> Subfunction | None:
    """A circuit inside a region; None where a table is as good, or the only way."""
    points = 1 << len(region.free())
    if points <= DIAGRAM_FROM:
        return None
    try:
        found = build_diagram(circuit, region.space, watch=watch)
    except (MissingExtraError, NoDiagramError) as error:
        if points > MOST_LISTED:
            raise NoDiagramError(str(error)) from None
        return None
    for feature in region.restrictions:
        found = found.split(IsOne(feature))[region.restrictions[feature] == 1]
    return found


def tree_error(tree: Tree, target: Target, space: World) -> float:
    """Probability that a tree and a target answer differently, exact up to rounding.

    Two trees are compared path by path, at any number of features; a circuit of many inputs becomes a decision diagram.
    Any other target is asked about every input, up to 2^20 of them (2^26 for a truth table or a circuit, 2^30 for a
    model on a device).

    Args:
        tree: The tree.
        target: A tree, a circuit, or a callable from a batch of inputs to labels.
        space: Where inputs come from: a product space, or one whose masses are known.

    Returns:
        The share of inputs on which they differ.

    Raises:
        ParameterError: An argument breaks its rule, or there are too many inputs to ask.
        TargetError: The target failed, or answered something that is no label.

    Examples:
        >>> from fidelitree.targets import balanced, majority
        >>> space = ProductSpace.bernoulli(2000, 0.3)
        >>> tree_error(balanced(space, 3, seed=1), balanced(space, 3, seed=1), space)
        0.0
        >>> tree_error(Tree.constant(ProductSpace.bernoulli(3), 1), majority(3), ProductSpace.bernoulli(3))
        0.5
    """
    check_tree(tree)
    product = product_of(space)
    tree.check_space(product)
    if isinstance(target, Tree) and space.masses is not None:
        return disagreement(tree, target, space.masses)
    check_space(space)
    there = OnDevice.of(Counted(target, product))
    if there is not None and tree.labels.dtype.kind in "biu":
        return device_error(tree, there)
    return error_inside(tree, all_answers_of(target, product), product)


def tree_labels(tree: Tree, target: Target, space: ProductSpace) -> LeafLabels:
    """How often inputs reach each leaf with each label of the target, exact where `tree_error` is."""
    return labels_inside(tree, all_answers_of(target, space), space)


def all_answers_of(target: Target, space: ProductSpace, watch: Watch | None = None) -> Subfunction:
    """What a target does everywhere; ``watch`` may end it while a diagram is built."""
    root = exact_subfunction(Counted(target, space), space.whole, ENUMERATE_UNASKED, watch)
    if root is None:
        raise ParameterError(
            f"target must be a tree, or have at most 2^20 inputs for its error to be exact; got {space.extent}. "
            "certify draws inputs instead"
        )
    return root


def known_error(predictor: Any, target: Target, space: ProductSpace) -> float | None:
    """Probability that two trees or circuits answer differently, without a query to anybody.

    None where one of them is neither, or where a circuit is too large for it.
    """
    try:
        if isinstance(predictor, Tree) and isinstance(target, (Circuit, Tree)):
            return tree_error(predictor, target, space)
        if isinstance(predictor, Circuit) and isinstance(target, Circuit):
            return tree_error(Tree.constant(space, 0), difference(predictor, target), space)
        if isinstance(predictor, Circuit) and isinstance(target, Tree):
            return tree_error(target, predictor, space)
    except NoDiagramError:
        pass
    return None


def error_inside(tree: Tree, root: Subfunction, space: ProductSpace) -> float:
    """The same for a target whose answers are all known."""
    wrong = 0.0
    for node, mass, function in _leaves(tree, root, space):
        label = tree.labels[tree.code[node]]
        shares = zip(root.labels, function.label_probabilities().tolist(), strict=True)
        wrong += mass * sum(share for found, share in shares if found != label)
    return wrong


def labels_inside(tree: Tree, root: Subfunction, space: ProductSpace) -> LeafLabels:
    """How often inputs reach each leaf with each label of a target whose answers are all known."""
    places = (np.cumsum(tree.feature < 0) - 1).tolist()
    shares = np.zeros((tree.size, len(root.labels)))
    for node, mass, function in _leaves(tree, root, space):
        shares[places[node]] = mass * function.label_probabilities()
    return LeafLabels(tuple(root.labels), shares)


def _leaves(tree: Tree, root: Subfunction, space: ProductSpace) -> Iterator[tuple[int, float, Subfunction]]:
    """Every leaf that can be reached: node, mass, and the target inside it."""
    waiting = [(0, root, 1.0, space.whole)]
    while waiting:
        node, function, mass, region = waiting.pop()
        if mass == 0:
            continue
        if tree.feature[node] < 0:
            yield node, mass, function
            continue
        test = tree.test(node)
        feature, left = space.features[test.feature], region.restrictions.get(test.feature)
        for child, part, side in zip(
            (tree.no[node], tree.yes[node]), function.split(test), region.split(test), strict=True
        ):
            share = feature.mass(side.restrictions[test.feature]) / feature.mass(left)
            waiting.append((int(child), part, mass * share, side))
