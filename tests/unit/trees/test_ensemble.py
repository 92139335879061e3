"""A model as plain numbers: it answers as its trees say, is stored exactly, and a stranger's file is checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.errors import FormatError
from fidelitree.spaces.draw import Stream
from fidelitree.trees.ensemble import Ensemble

SPACE = ft.ProductSpace(
    [ft.Numeric("x", 0, 1), ft.Boolean("b", 0.5), ft.Categorical("c", ["p", "q", "r"]), ft.Numeric("y", -1, 1)]
)


def made(labels: tuple[Any, ...], trees: int, depth: int = 3, seed: int = 0) -> Ensemble:
    rng = np.random.default_rng(seed)
    inner = (1 << depth) - 1
    groups = (np.array([0.2, 0.5, 0.7]), np.array([0, 1]), np.array([2, 0, 1]), np.array([0.0]))
    return Ensemble(
        labels,
        (True, False, False, True),
        groups,
        rng.integers(0, 4, (trees, inner)),
        rng.integers(0, 4, (trees, inner)).astype(np.uint8),
        rng.integers(-100, 100, (trees, inner + 1)),
    )


def naive(model: Ensemble, row: np.ndarray) -> Any:
    """One row, one tree after the other."""
    kept = zip(model.groups, model.ordered, row, strict=True)
    group = [int((known < value).sum()) if up else int(known[int(value)]) for known, up, value in kept]
    turns = len(model.labels) if len(model.labels) > 2 else 1
    sums = [0] * turns
    for place in range(len(model.values)):
        node = 0
        while node < model.features.shape[1]:
            node = 2 * node + 1 + (group[model.features[place, node]] > model.cuts[place, node])
        sums[place % turns] += int(model.values[place, node - model.features.shape[1]])
    return model.labels[sums.index(max(sums)) if turns > 1 else int(sums[0] > 0)]


@pytest.mark.parametrize("labels", [(False, True), ("a", "b", "c"), (3, 5)])
@pytest.mark.parametrize("depth", [1, 3, 5])
def test_it_answers_as_its_trees_say(labels: tuple[Any, ...], depth: int) -> None:
    inner, seen = SPACE.inputs(Stream.named(0, "any"), 0, 60), set()
    for seed in range(8):
        model = made(labels, 6, depth, seed)
        found = model.predict_inner(inner).tolist()
        assert found == [naive(model, row) for row in inner]
        assert model.predict_inner(inner[:0]).tolist() == []
        seen |= {*found}
    assert seen == {*labels}


def test_it_is_stored_exactly() -> None:
    model = made(("a", "b", "c"), 6)
    again = Ensemble.from_json(model.to_json())
    assert (again.to_json(), again.digest, again.labels) == (model.to_json(), model.digest, model.labels)
    assert made(("a", "b", "c"), 6, seed=1).digest != model.digest
    assert again.groups[0].tolist() == [0.2, 0.5, 0.7]


def test_it_knows_its_features() -> None:
    model = made((0, 1), 3)
    assert model.fits(SPACE)
    assert not model.fits(ft.ProductSpace(SPACE.features[:3]))
    assert not model.fits(ft.ProductSpace([*SPACE.features[:2], ft.Categorical("c", ["p", "q"]), SPACE.features[3]]))
    assert not model.fits(ft.ProductSpace([SPACE.features[0], ft.Numeric("b", 0, 1), *SPACE.features[2:]]))


def without(name: str) -> Callable[[dict[str, Any]], None]:
    return lambda data: data.pop(name)


def with_entry(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda data: data.__setitem__(name, value)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (without("cuts"), "it must be an object"),
        (with_entry("version", 2), "version 1"),
        (with_entry("format", "fidelitree.tree"), "it must be an object"),
        (with_entry("groups", [["0x1p0"]]), "not a stored surrogate"),
        (with_entry("features", [[0, 1, 9]] * 6), "one leaf more"),
        (with_entry("features", [[0, 1, 2, 3, 0, 1, 9]] * 6), "a feature that is not there"),
        (with_entry("cuts", [[300] * 7] * 6), "not a stored surrogate"),
        (with_entry("values", []), "one leaf more"),
        (with_entry("labels", ["a"]), "two or more"),
        (with_entry("labels", ["a", 1, 2]), "two or more"),
        (with_entry("labels", ["a", "b", "c", "d"]), "as many trees each"),
    ],
)
def test_a_strangers_file_is_checked(change: Callable[[dict[str, Any]], None], told: str) -> None:
    data = json.loads(made(("a", "b", "c"), 6).to_json())
    change(data)
    with pytest.raises(FormatError, match=told):
        Ensemble.from_json(json.dumps(data))


def test_trees_that_are_not_complete_and_many_groups_are_refused() -> None:
    data = json.loads(made((0, 1), 2).to_json())
    data |= {"features": [[0] * 5] * 2, "cuts": [[0] * 5] * 2, "values": [[1] * 6] * 2}
    with pytest.raises(FormatError, match="complete"):
        Ensemble.from_json(json.dumps(data))
    data = json.loads(made((0, 1), 2).to_json())
    data["groups"][2] = [0, 1, 256]
    with pytest.raises(FormatError, match="256 groups"):
        Ensemble.from_json(json.dumps(data))
    with pytest.raises(FormatError, match="not a stored surrogate"):
        Ensemble.from_json("[")
