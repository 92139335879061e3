"""Numbers, categories and mixtures in torch: what NumPy draws, bit for bit, and the same certificates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.counted import Counted
from fidelitree.runs.agree.device_tests import DeviceTests
from fidelitree.spaces.draw import Stream, draw, redraw
from fidelitree.spaces.features import AtMost, IsIn
from fidelitree.spaces.region import Region
from fidelitree.trees.tree import Tree

torch = pytest.importorskip("torch")

from fidelitree.targets.device.lanes import DeviceTree  # noqa: E402 - torch comes first
from fidelitree.targets.device.values import ValueLanes, ValueTree  # noqa: E402

CPU = torch.device("cpu")
STREAM = Stream.named(8, "certify")
RNG = np.random.default_rng(3)
FEATURES: list[Any] = [
    ft.Boolean("bit", 0.3),
    ft.Numeric("even", -1.5, 7),
    ft.Boolean("rare", 2.0**-9 + 2.0**-30),
    ft.Numeric("gaps", 0, 1, missing=0.2),
    ft.Categorical("code", {3: 0.2, 1: 0.5, 8: 0.3}),
    ft.Numeric.from_values("seen", RNG.normal(size=50)),
    ft.Numeric.from_values("weighed", [1, 2, 3, 5], [0.1, 0.2, 0.3, 0.4]),
    ft.Numeric.from_values("whole and gone", [4, 4, 9, None]),
    ft.Numeric.from_quantiles("quantiles", [0, 1, 1, 4, 10]),
    ft.Numeric.from_quantiles("quantiles and gaps", [0, 2, 3]).with_missing(0.5),
    ft.Categorical("never", {0: 0.5, 1: 0.5, 2: 0.0}),
    ft.Boolean("sure", 1.0),
]
PRODUCT = ft.ProductSpace(FEATURES)
ONE = ft.ProductSpace([ft.Numeric("a", 0, 1), ft.Boolean("b", 0.3), ft.Categorical("c", {0: 0.9, 5: 0.1})])
TWO = ft.ProductSpace([ft.Numeric("a", 0.5, 3, 0.1), ft.Boolean("b", 0.9), ft.Categorical("c", {0: 0.2, 5: 0.8})])
MIXTURE = ft.Mixture([(0.2, ONE), (0.7999, TWO), (0.0001, ONE)])
BITS = ft.Mixture([(0.5, ft.ProductSpace.bernoulli(6, 0.2)), (0.5, ft.ProductSpace.bernoulli(6, 0.7))])
WORLDS = {"product": PRODUCT, "mixture": MIXTURE, "mixture of bits": BITS}


@pytest.mark.parametrize("name", list(WORLDS))
@pytest.mark.parametrize("rows", [1, 7, 640, 5003])
def test_values_are_those_of_the_world(name: str, rows: int) -> None:
    world = WORLDS[name]
    found = ValueLanes.of(world, STREAM, CPU).draw(range(3, 6), rows).numpy()
    wanted = np.concatenate([world.inputs(STREAM, block, rows) for block in (3, 4, 5)]).astype(np.float64)
    assert found.view(np.uint64).tolist() == np.ascontiguousarray(wanted).view(np.uint64).tolist()


def test_values_inside_a_region_and_those_drawn_again() -> None:
    given = {"bit": 1, "even": (0, 2.5), "gaps": (0.1, 0.3), "code": {3, 8}, "seen": (-1, 1), "quantiles": (0.5, 5)}
    for told in (given, {"gaps": None, "weighed": 3}):
        region = Region.of(PRODUCT, told)
        first, again = (ValueLanes.inside(region, STREAM, CPU, second) for second in (False, True))
        wanted = draw(region, STREAM, 2, 999).T
        assert np.array_equal(first.draw(range(2, 3), 999).numpy(), wanted, equal_nan=True)
        other = np.stack([redraw(region, STREAM, 2, 999, i) for i in range(len(PRODUCT))], axis=1)
        assert np.array_equal(again.draw(range(2, 3), 999).numpy(), other, equal_nan=True)


def some_tree(space: ft.ProductSpace) -> Tree:
    nodes: list[Any] = [
        (AtMost(1, 2.0), 1, 2),
        (IsIn(4, frozenset({0, 2})), 3, 4),
        (AtMost(3, 0.5, missing=True), 5, 6),
        (0, 7, 8),
        0,
        1,
        (AtMost(7, np.inf, missing=False), 9, 10),
        1,
        0,
        0,
        1,
    ]
    return Tree.build(space, nodes, [0, 1])


def test_a_tree_of_any_tests_is_walked_as_it_predicts() -> None:
    tree, inner = some_tree(PRODUCT), PRODUCT.inputs(STREAM, 0, 4000)
    nodes = DeviceTree.of(tree.nodes, tree.depth, CPU)
    reached = ValueTree.of(tree, nodes).reached(torch.from_numpy(np.ascontiguousarray(inner))).numpy()
    assert (tree.labels[tree.code[reached]] == tree.predict_inner(inner)).all()
    assert len(np.unique(reached)) == tree.size


def both(model: Any, **how: Any) -> tuple[Any, Any]:
    """The same target, counted on its device and asked the usual way."""
    there = ft.targets.torch(model, **how)
    there.counts_there = True
    return there, there.__call__


def scores(batch: Any) -> Any:
    """What it answers depends on every column, and on what categories stand for."""
    known = batch.nan_to_num(0.25)
    return (known * torch.arange(1, batch.shape[1] + 1)).round().sum(1).long() % 3 == 0


@pytest.mark.parametrize("name", list(WORLDS))
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_certificates_are_those_of_the_usual_way(name: str, dtype: Any) -> None:
    world = WORLDS[name]
    there, here = both(scores, dtype=dtype)
    tree = some_tree(PRODUCT) if name == "product" else Tree.build(world.product, [(1, 1, 2), 0, 1], [False, True])
    assert DeviceTests.of(Counted(there, world.product), tree, world, STREAM) is not None
    for told in ({"within": 0.02}, {"epsilon": 0.9}, {"epsilon": 0.3}):
        assert ft.certify(tree, there, world, seed=5, **told) == ft.certify(tree, here, world, seed=5, **told)


@pytest.mark.parametrize("given", [{}, {"code": {1, 8}, "gaps": (0, 0.5)}])
def test_influences_are_those_of_the_usual_way(given: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    there, here = both(scores, dtype=torch.float64)
    told: dict[str, Any] = {"max_queries": 40_000, "method": "sampled", "given": given, "seed": 3}
    wanted = ft.analyze(here, PRODUCT, **told)
    monkeypatch.setattr(type(there), "labels", lambda self, batch: pytest.fail("the usual way"))
    found = ft.analyze(there, PRODUCT, **told)
    assert (found.influences == wanted.influences).all()
    assert found.queries == wanted.queries
    assert wanted.influences.max() > 0.1


def test_a_model_that_changes_its_inputs_changes_nothing() -> None:
    def scribbles(batch: Any) -> Any:
        answer = batch[:, 1] > 2
        batch.fill_(0)
        return answer

    there, _ = both(scribbles, dtype=torch.float64)
    tree = Tree.build(PRODUCT, [(AtMost(1, 2.0), 1, 2), 1, 0], [False, True])
    assert ft.certify(tree, there, PRODUCT, within=0.01, seed=1).errors == 0


def test_what_is_no_number_goes_the_usual_way() -> None:
    there, _ = both(scores)
    words = ft.ProductSpace([ft.Numeric("a", 0, 1), ft.Categorical("b", ["x", "y"])])
    tree = Tree.constant(words, True)
    assert DeviceTests.of(Counted(there, words), tree, words, STREAM) is None
    with pytest.raises(ft.FidelitreeError, match="takes numbers for feature 'b'"):
        ft.certify(tree, there, words, 0.1)
    rows = ft.ProductSpace.from_data({"a": np.linspace(0, 1, 40, dtype=np.float32), "b": np.arange(40) % 3})
    assert DeviceTests.of(Counted(there, rows), Tree.constant(rows, True), rows, STREAM) is not None
    network = torch.nn.Sequential(torch.nn.Linear(5, 2))
    there, _ = both(network)
    assert DeviceTests.of(Counted(there, ONE), Tree.constant(ONE, 1), ONE, STREAM) is None
    with pytest.raises(ft.FidelitreeError, match="the model takes 5 features"):
        ft.certify(Tree.constant(ONE, 1), there, ONE, 0.1)
