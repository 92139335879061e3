"""Every exact engine, inside every region and after every split, against the reference and against the others."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

import fidelitree as ft
import reference
from fidelitree import exact
from fidelitree.exact.diagram import Diagram, DiagramSubfunction
from fidelitree.exact.grid import GridSubfunction
from fidelitree.exact.paths import PathSubfunction
from fidelitree.exact.subfunction import Subfunction
from fidelitree.exact.truthtable import TableSubfunction
from fidelitree.spaces.features import IsOne
from fidelitree.spaces.region import Region
from fidelitree.trees.tree import Tree
from small import LABEL_SETS, assignments, cube, random_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Floats = NDArray[np.float64]


def from_table(tree: Tree, region: Region) -> Subfunction:
    labels = tree.labels.tolist()
    answers = tree.predict(region.inputs(0, 1 << len(region.free())))
    return TableSubfunction.of(np.searchsorted(tree.labels, answers), region, labels)


def from_diagram(tree: Tree, region: Region) -> Subfunction:
    """The truth table of the whole space folded from its lowest feature up, then restricted."""
    n = len(region.space)
    diagram = Diagram(region.space, range(n)[::-1], len(tree.labels))
    row = np.searchsorted(tree.labels, tree.predict(region.space.whole.inputs(0, 1 << n))).tolist()
    for i in range(n):
        row = [diagram.node(n - 1 - i, no, yes) for no, yes in zip(row[::2], row[1::2], strict=True)]
    function = DiagramSubfunction(diagram, row[0], tree.labels.tolist())
    for i, value in region.restrictions.items():
        function = function.split(IsOne(i))[value]
    return function


def from_grid(tree: Tree, region: Region) -> Subfunction:
    answers = tree.predict(region.inputs(0, 1 << len(region.free())))
    return GridSubfunction(region, np.searchsorted(tree.labels, answers), tree.labels.tolist())


ENGINES: dict[type, Callable[[Tree, Region], Subfunction]] = {
    TableSubfunction: from_table,
    GridSubfunction: from_grid,
    PathSubfunction: PathSubfunction,
    DiagramSubfunction: from_diagram,
}
every_engine = pytest.mark.parametrize("engine", ENGINES.values(), ids=[kind.__name__ for kind in ENGINES])


def members() -> Iterator[type]:
    for found in pkgutil.iter_modules(exact.__path__, f"{exact.__name__}."):
        for _, kind in inspect.getmembers(importlib.import_module(found.name), inspect.isclass):
            made_here = kind.__module__ == found.name and kind is not Subfunction
            if made_here and all(hasattr(kind, name) for name in ("label_probabilities", "influences", "split")):
                yield kind


def test_the_battery_knows_every_engine() -> None:
    assert set(members()) == set(ENGINES)


def slow_probabilities(table: list[Any], biases: list[float], region: reference.Region, labels: list[Any]) -> Floats:
    found = reference.inputs(biases, region)
    return np.array([sum(w for x, w in found if table[x] == label) for label in labels])


def slow_influences(table: list[Any], biases: list[float], region: reference.Region) -> Floats:
    return np.array([reference.influence(table, biases, i, region) for i in range(len(biases))])


def same(engine: Subfunction, table: list[Any], biases: list[float], region: reference.Region) -> None:
    probabilities = slow_probabilities(table, biases, region, engine.labels)
    np.testing.assert_allclose(engine.label_probabilities(), probabilities, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(engine.influences(), slow_influences(table, biases, region), rtol=1e-12, atol=1e-15)
    assert ((engine.label_probabilities() == 0) == (probabilities == 0)).all(), "0 means: it does not occur"


def case(n: int, seed: int, labels: list[Any]) -> tuple[ft.ProductSpace, Tree, list[Any]]:
    rng = np.random.default_rng(seed)
    biases = np.where(rng.random(n) < 0.2, rng.integers(0, 2, n), rng.random(n))
    space = ft.ProductSpace.bernoulli(n, biases)
    tree = random_tree(space, rng, labels, 0.85)
    return space, tree, tree.predict(cube(n)).tolist()


@every_engine
@pytest.mark.parametrize("labels", LABEL_SETS, ids=str)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_region_of_small_targets(engine: Callable[..., Subfunction], labels: list[Any], n: int) -> None:
    for seed in range(3):
        space, tree, table = case(n, seed, labels)
        for region in assignments(n):
            fixed = {i: value for i, value in enumerate(region) if value is not None}
            same(engine(tree, Region(space, fixed)), table, space.biases.tolist(), region)


@every_engine
@pytest.mark.parametrize("n", [5, 6, 7, 8])
def test_splits_on_every_feature_of_larger_targets(engine: Callable[..., Subfunction], n: int) -> None:
    """Seven features and more use slots outside a word; splitting inside and outside a word takes different ways."""
    space, tree, table = case(n, n, [0, 1, 2])
    root, whole = engine(tree, space.whole), (None,) * n
    same(root, table, space.biases.tolist(), whole)
    for i in range(n):
        for value, half in enumerate(root.split(IsOne(i))):
            same(half, table, space.biases.tolist(), reference.restrict(whole, i, value))


@every_engine
def test_a_path_of_splits_down_to_a_single_input(engine: Callable[..., Subfunction]) -> None:
    n = 7
    space, tree, table = case(n, 70, ["a", "b", "c"])
    rng = np.random.default_rng(0)
    for _ in range(6):
        here, region = engine(tree, space.whole), (None,) * n
        for i in rng.permutation(n).tolist():
            value = int(rng.integers(2))
            here, region = here.split(IsOne(i))[value], reference.restrict(region, i, value)
            same(here, table, space.biases.tolist(), region)
        assert here.influences().tolist() == [0.0] * n
        assert here.label_probabilities().max() == 1


@pytest.mark.parametrize("labels", [[0, 1], list(range(5))], ids=len)
@pytest.mark.parametrize("n", [12, 16, 18])
def test_engines_agree_where_the_reference_is_too_slow(n: int, labels: list[Any]) -> None:
    """Tables of 2^17 inputs and more look up whole words."""
    rng = np.random.default_rng(n)
    space = ft.ProductSpace.bernoulli(n, rng.random(n))
    tree = random_tree(space, rng, labels, 1.0 if n < 12 else 0.75)
    one, *others = (engine(tree, space.whole) for engine in ENGINES.values())
    for other in others:
        np.testing.assert_allclose(one.influences(), other.influences(), rtol=1e-11, atol=1e-15)
        np.testing.assert_allclose(one.label_probabilities(), other.label_probabilities(), rtol=1e-11, atol=1e-15)


@every_engine
def test_an_irrelevant_or_certain_feature_has_no_influence(engine: Callable[..., Subfunction]) -> None:
    space = ft.ProductSpace.bernoulli(6, [0.5, 0.0, 1.0, 0.5, 0.3, 0.5])
    tree = Tree.build(space, [(1, 1, 2), 0, (2, 3, 4), 1, (0, 5, 6), 0, 1], [0, 1])
    assert engine(tree, space.whole).influences().tolist() == [0.0] * 6
    inside = engine(tree, Region.of(space, {"x1": 1, "x2": 1})).influences()
    assert inside.tolist() == [0.5, 0, 0, 0, 0, 0]
