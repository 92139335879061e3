"""Which engine answers for which target, and when none may."""

from __future__ import annotations

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.counted import Counted
from fidelitree.exact.engine import exact_subfunction, free_of_charge
from fidelitree.exact.grid import GridSubfunction
from fidelitree.exact.paths import PathSubfunction
from fidelitree.exact.truthtable import TableSubfunction
from fidelitree.spaces.features import AtMost
from fidelitree.spaces.region import Region
from fidelitree.trees.tree import Tree
from small import Bits


def first_bit(batch: Bits) -> np.ndarray:
    return batch[:, 0]


def engine(target: object, space: ft.ProductSpace, may_ask: int, given: dict[str, int] | None = None) -> object:
    return exact_subfunction(Counted(target, space), Region.of(space, given), may_ask)


def test_a_callable_is_enumerated_when_it_may_be() -> None:
    space = ft.ProductSpace.bernoulli(10)
    assert isinstance(engine(first_bit, space, 1024), TableSubfunction)
    assert engine(first_bit, space, 1023) is None
    assert isinstance(engine(first_bit, space, 512, {"x4": 1}), TableSubfunction)


def test_a_callable_is_never_enumerated_beyond_26_features() -> None:
    assert engine(first_bit, ft.ProductSpace.bernoulli(27), 1 << 40) is None


def test_what_lists_its_own_answers_costs_nothing() -> None:
    space = ft.ProductSpace.bernoulli(4)
    table, tree = ft.targets.TruthTable([0, 1] * 8), ft.targets.balanced(space, 4)
    for target in (table, tree):
        assert free_of_charge(Counted(target, space))
        assert isinstance(engine(target, space, 0), TableSubfunction)
    assert not free_of_charge(Counted(first_bit, space))


def test_a_tree_with_few_leaves_for_its_features_is_read_path_by_path() -> None:
    space = ft.ProductSpace.bernoulli(200)
    assert isinstance(engine(ft.targets.balanced(space, 4), space, 0), PathSubfunction)
    small = ft.ProductSpace.bernoulli(12)
    assert isinstance(engine(Tree.constant(small, 0), small, 0), PathSubfunction)
    assert isinstance(engine(ft.targets.balanced(small, 4), small, 0), TableSubfunction)


def test_a_truth_table_of_other_features_is_refused() -> None:
    with pytest.raises(ft.ParameterError) as caught:
        engine(ft.targets.TruthTable([0, 1, 1, 0]), ft.ProductSpace.bernoulli(3), 0)
    assert str(caught.value) == "space must have the truth table's 2 features; got 3"


def test_a_tree_of_other_features_is_refused() -> None:
    tree = Tree.constant(ft.ProductSpace.bernoulli(2), 0)
    with pytest.raises(ft.ParameterError, match="space must have the tree's 2 features"):
        engine(tree, ft.ProductSpace.bernoulli(3), 0)


def test_labels_are_in_increasing_order_however_they_appear() -> None:
    space = ft.ProductSpace.bernoulli(2, [0.3, 0.5])
    function = engine(lambda batch: np.where(batch[:, 0] == 1, "a", "b"), space, 4)
    assert function.labels == ["a", "b"]
    np.testing.assert_allclose(function.label_probabilities(), [0.3, 0.7])


def test_labels_that_first_appear_in_a_later_block_are_put_in_order_too() -> None:
    space = ft.ProductSpace.bernoulli(17, [*[0.5] * 15, 0.1, 0.3])
    function = engine(lambda batch: 2 - batch[:, 15] * batch[:, 16] - batch[:, 16], space, 1 << 17)
    assert function.labels == [0, 1, 2]
    np.testing.assert_allclose(function.label_probabilities(), [0.03, 0.27, 0.7])
    np.testing.assert_allclose(function.influences()[15:], [0.3 * 0.18, 0.42])


def test_hundreds_of_labels_are_recoded() -> None:
    space = ft.ProductSpace.bernoulli(9)
    function = engine(lambda batch: 1000 - batch @ (1 << np.arange(9)), space, 512)
    assert function.labels == list(range(489, 1001))
    np.testing.assert_allclose(function.label_probabilities(), np.full(512, 1 / 512))
    np.testing.assert_allclose(function.influences(), np.full(9, 0.5))


def over_40(batch: dict[str, np.ndarray]) -> np.ndarray:
    return batch["age"] > 40


LISTED = ft.ProductSpace([ft.Numeric.from_values("age", [30, 40, 50]), ft.Boolean("owner")])
ENDLESS = ft.ProductSpace([ft.Numeric("age", 18, 90), ft.Boolean("owner")])


def test_a_finite_mixed_space_is_enumerated_when_it_may_be() -> None:
    assert isinstance(engine(over_40, LISTED, 6), GridSubfunction)
    assert engine(over_40, LISTED, 5) is None
    assert isinstance(engine(over_40, LISTED, 2, {"age": 30}), GridSubfunction)
    assert engine(over_40, ENDLESS, 1 << 40) is None


def test_a_mixed_tree_is_read_path_by_path() -> None:
    for space in (LISTED, ENDLESS):
        tree = Tree.build(space, [(AtMost(0, 40.0), 1, 2), 0, 1], [0, 1])
        assert isinstance(engine(tree, space, 0), PathSubfunction)


def test_algorithm_1_grows_from_a_tree_over_intervals() -> None:
    """Where inputs cannot be listed, the cuts that the tree asks about are enough."""
    tree = Tree.build(ENDLESS, [(1, 1, 2), (AtMost(0, 36.0), 3, 4), (AtMost(0, 36.0), 5, 6), 0, 1, 0, 1], [0, 1])
    result = ft.build_top_down(tree, ENDLESS, 0)
    assert str(result.tree) == "age <= 36: 1\nage > 36: 0"
    assert result.certificate.error_bound == 0
    assert result.queries.asked == 0


def test_exact_influences_of_a_tree_over_an_interval() -> None:
    tree = Tree.build(ENDLESS, [(AtMost(0, 36.0), 1, 2), 0, (1, 3, 4), 0, 1], [0, 1])
    analysis = ft.analyze(tree, ENDLESS)
    assert analysis.exact
    assert analysis.influences.tolist() == pytest.approx([2 * 0.25 * 0.75 / 2, 0.25 / 2])
    inside = ft.analyze(tree, ENDLESS, {"age": (18, 54), "owner": 1})
    assert inside.influences.tolist() == pytest.approx([0.5, 0])
