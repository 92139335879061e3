"""Exact answers about a model on its device are those of the other engines; the CPU is the device here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.counted import Counted
from fidelitree.asking.on_device import OnDevice
from fidelitree.errors import ParameterError, TargetError
from fidelitree.exact import device_table
from fidelitree.exact.device_table import DeviceTable
from fidelitree.trees.tree import Tree

torch = pytest.importorskip("torch")


def there(function: Any) -> Any:
    target = ft.targets.torch(function)
    target.counts_there = True
    return target


def score(x: Any) -> Any:
    weights = torch.arange(x.shape[1]) % 5 - 1.5
    return torch.stack([x @ weights, x[:, 0] * x[:, 1], x[:, -1] * 0.5], 1)


@pytest.mark.parametrize("features", [5, 7])
def test_influences_and_shares_are_exact(features: int) -> None:
    space = ft.ProductSpace.bernoulli(features, np.linspace(0.2, 0.9, features))
    target = there(score)
    table = DeviceTable.of(OnDevice(Counted(target, space), target))
    wanted = ft.analyze(target.__call__, space, method="exact")
    assert table.influences() == pytest.approx(wanted.influences, abs=1e-14)
    assert table.shares[table.shares > 0] == pytest.approx(wanted.label_probabilities, abs=1e-14)


def test_analyze_takes_it_where_all_inputs_may_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fidelitree.runs.analysis.analyze.FROM", 6)
    space = ft.ProductSpace.bernoulli(7, 0.3)
    target = there(lambda x: x[:, 1] + x[:, 2] > x[:, 6])
    found, wanted = (ft.analyze(one, space, method="exact") for one in (target, target.__call__))
    assert found.exact
    assert found.labels == wanted.labels == [False, True]
    assert found.influences == pytest.approx(wanted.influences, abs=1e-14)
    assert found.label_probabilities == pytest.approx(wanted.label_probabilities, abs=1e-14)
    assert found.queries.asked == 128


def test_the_error_of_a_tree_is_exact() -> None:
    space = ft.ProductSpace.bernoulli(6, np.linspace(0.2, 0.9, 6))
    tree = Tree.build(space, [(0, 1, 2), 0, (3, 3, 4), 1, 2], [0, 1, 2])
    target = there(score)
    assert ft.tree_error(tree, target, space) == pytest.approx(ft.tree_error(tree, target.__call__, space), abs=1e-14)


def test_many_parts_are_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_table, "_AT_ONCE", 5)
    test_influences_and_shares_are_exact(7)
    test_the_error_of_a_tree_is_exact()


def test_what_is_no_label_is_refused() -> None:
    space = ft.ProductSpace.bernoulli(6)
    target = there(lambda x: torch.where(x[:, :2] > 0, torch.nan, 1.0))
    asked = OnDevice(Counted(target, space), target)
    with pytest.raises(TargetError, match="NaN"):
        DeviceTable.of(asked)
    with pytest.raises(TargetError, match="NaN for 48 inputs"):
        ft.tree_error(Tree.constant(space, 0), target, space)


def test_too_many_features_are_refused() -> None:
    target, large = there(score), ft.ProductSpace.bernoulli(31)
    with pytest.raises(ParameterError, match=r"space must have 1 to 30 features .* got 31"):
        ft.tree_error(Tree.constant(large, 0), target, large)
    small = ft.ProductSpace.bernoulli(4)
    with pytest.raises(ParameterError, match=r"space must have 5 to 34 features .* got 4"):
        DeviceTable.of(OnDevice(Counted(target, small), target))
