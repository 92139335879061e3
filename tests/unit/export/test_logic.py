"""Trees as PLA and BLIF: read back, they are exactly the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from circuitfiles import circuits
from fidelitree.errors import ParameterError
from fidelitree.trees.tree import Tree
from small import LABEL_SETS, cube, random_tree

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FORMATS = {"pla": ft.export.to_pla, "blif": ft.export.to_blif}
every_format = pytest.mark.parametrize("suffix", FORMATS)


def written(tree: Tree, suffix: str, folder: Path, **options: str) -> Path:
    path = folder / f"tree.{suffix}"
    path.write_text(FORMATS[suffix](tree, **options), encoding="utf-8")
    return path


@every_format
@pytest.mark.parametrize("labels", LABEL_SETS, ids=str)
def test_read_back_it_is_the_tree(suffix: str, labels: list[Any], tmp_path: Path) -> None:
    names = [f"a.{i}[0]" for i in range(5)]
    space = ft.ProductSpace.bernoulli(5, names=names)
    for seed in range(5):
        tree = random_tree(space, np.random.default_rng(seed), labels)
        found = circuits(written(tree, suffix, tmp_path))
        assert all(circuit.names == space.names for circuit in found)
        answers = tree.predict(cube(5))
        if labels in ([0, 1], [False, True]):
            assert [circuit.output for circuit in found] == ["y"]
            assert np.array_equal(found[0](cube(5)), answers)
        else:
            assert [circuit.output for circuit in found] == [f"y{k}" for k in range(len(labels))]
            for circuit, label in zip(found, labels, strict=True):
                assert np.array_equal(circuit(cube(5)), answers == label)


@every_format
def test_a_tree_over_hundreds_of_features_is_checked_exactly(suffix: str, tmp_path: Path) -> None:
    space = ft.ProductSpace.bernoulli(300, np.linspace(0.1, 0.9, 300))
    tree = ft.targets.balanced(space, 6, seed=1)
    circuit = ft.targets.read_circuit(written(tree, suffix, tmp_path))
    assert ft.tree_error(tree, circuit, space) == 0
    assert ft.tree_error(ft.targets.balanced(space, 6, seed=2), circuit, space) > 0


@every_format
@pytest.mark.parametrize("label", [0, 1, False, True])
def test_one_leaf(suffix: str, label: int, tmp_path: Path) -> None:
    tree = Tree.constant(ft.ProductSpace.bernoulli(2), label)
    assert circuits(written(tree, suffix, tmp_path))[0](cube(2)).tolist() == [int(label)] * 4


def test_labels_are_told_in_a_remark() -> None:
    tree = Tree.build(ft.ProductSpace.bernoulli(1), [(0, 1, 2), 0, 1], ["no", "yes"])
    for export in FORMATS.values():
        assert export(tree).startswith("# y0 = 1: 'no'\n# y1 = 1: 'yes'\n.")


def test_signals_never_take_the_name_of_a_feature(tmp_path: Path) -> None:
    space = ft.ProductSpace.bernoulli(3, names=["y_1", "y__2", "y_"])
    tree = random_tree(space, np.random.default_rng(4), [0, 1], 1.0)
    path = written(tree, "blif", tmp_path)
    assert np.array_equal(ft.targets.read_circuit(path)(cube(3)), tree.predict(cube(3)))


@pytest.mark.parametrize("export", FORMATS.values())
def test_what_cannot_be_written_is_refused(export: Callable[..., str]) -> None:
    blank = Tree.constant(ft.ProductSpace.bernoulli(1, names=["an input"]), 1)
    plain = Tree.constant(ft.ProductSpace.bernoulli(1, names=["y"]), 1)
    with pytest.raises(ParameterError, match=r"names of features must have no blanks, .*; got 'an input'"):
        export(blank)
    with pytest.raises(ParameterError, match=r"output must have no blanks, .*; got 'a b'"):
        export(plain, output="a b")
    with pytest.raises(ParameterError, match=r"output must not be the name of a feature; got 'y'"):
        export(plain)
    numbers = Tree(("age",), ("numeric",), plain.labels, plain.feature, plain.no, plain.yes, plain.code)
    with pytest.raises(ParameterError, match=r"tree must test bits only to become a circuit; feature 'age' is numeric"):
        export(numbers)
