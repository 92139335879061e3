"""Trees for scikit-learn and ONNX: their shape, what tools make of them, what they refuse."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

import fidelitree as ft
from exported import grown
from fidelitree.errors import MissingExtraError, ParameterError
from fidelitree.export import Encoder, to_onnx, to_sklearn
from fidelitree.spaces.features import AtMost, IsIn
from fidelitree.trees.tree import Tree
from mixed import MIXED, some_inputs

LINE = ft.ProductSpace([ft.Numeric("x", 0, 1)])


def cut_at(*cuts: float) -> Tree:
    """A tree that asks for the cuts, largest first."""
    nodes: list[object] = []
    for k, cut in enumerate(sorted(cuts, reverse=True)):
        nodes += [(AtMost(0, cut), 2 * k + 1, 2 * k + 2), k % 2]
    return Tree.build(LINE, [*nodes, 1], [0, 1])


def test_the_sklearn_tree_has_the_trees_shape_and_weights() -> None:
    tree = grown(MIXED, 50, ["a", "b", "c"])
    made = to_sklearn(tree, MIXED)
    assert (made.get_n_leaves(), made.get_depth(), made.classes_.tolist()) == (50, tree.depth, ["a", "b", "c"])
    assert made.tree_.weighted_n_node_samples[0] == 1
    assert made.tree_.n_node_samples[0] == 1_000_000
    inner = some_inputs(MIXED, 20_000)
    shares = [(tree.predict_inner(inner) == label).mean() for label in tree.labels]
    assert made.tree_.value[0, 0] == pytest.approx(shares, abs=0.02)
    assert made.predict_proba(Encoder(tree).transform_inner(inner[:5])).max(axis=1).tolist() == [1] * 5
    assert to_sklearn(tree).tree_.n_node_samples[0] == 50


def test_what_is_made_for_sklearn_trees_works_on_it() -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from sklearn.tree import export_text, plot_tree

    tree = grown(MIXED, 12, [0, 1])
    made, encoder = to_sklearn(tree, MIXED), Encoder(tree)
    again = pickle.loads(pickle.dumps(made))
    rows = encoder.transform_inner(some_inputs(MIXED, 100))
    assert again.predict(rows).tolist() == made.predict(rows).tolist()
    assert export_text(made, feature_names=list(encoder.names)).count("class:") == 12
    axes = FigureCanvasAgg(Figure()).figure.subplots()
    assert len(plot_tree(made, feature_names=list(encoder.names), ax=axes)) >= 23
    assert made.feature_importances_.sum() == pytest.approx(1)


def test_a_set_that_is_asked_for_twice_is_one_column() -> None:
    space = ft.ProductSpace([ft.Boolean("b"), ft.Categorical("c", ["p", "q", "r"]), ft.Categorical("d", ["s", "t"])])
    some = IsIn(1, frozenset({0, 2}))
    tree = Tree.build(space, [(0, 1, 2), (some, 3, 4), (some, 5, 6), 0, 1, 1, 0], [0, 1])
    assert Encoder(tree).names == ("b", "c in {p, r}", "d")


def test_numbers_stay_on_their_side_of_every_cut() -> None:
    tree = cut_at(0.1, 0.2, 1 / 3)
    encoder = Encoder(tree)
    numbers = np.array([x for cut in (0.1, 0.2, 1 / 3) for x in (np.nextafter(cut, 0), cut, np.nextafter(cut, 1))])
    singles = encoder.transform({"x": numbers})[:, 0]
    assert np.abs(singles - numbers).max() < 1e-7
    assert to_sklearn(tree).predict(singles[:, None]).tolist() == tree.predict({"x": numbers}).tolist()
    assert np.isfinite(encoder.transform({"x": np.array([np.inf, -np.inf, 1e300])})).all()


def test_cuts_that_32_bits_cannot_tell_apart_are_refused() -> None:
    with pytest.raises(
        ParameterError, match=r"cuts of feature 'x' must differ in 32 bits for scikit-learn; got 0\.1 and"
    ):
        to_sklearn(cut_at(0.1, 0.1 + 1e-10))
    for cut in (1e39, -1e39):
        with pytest.raises(ParameterError, match="cuts of feature 'x' must be 32-bit floats for scikit-learn; got"):
            to_sklearn(cut_at(cut))
    to_onnx(cut_at(0.1, 0.1 + 1e-10))


def test_onnx_says_what_it_takes() -> None:
    model = to_onnx(grown(MIXED, 10, [0, 1]))
    kinds = {tensor.name: tensor.type.tensor_type.elem_type for tensor in model.graph.input}
    assert kinds == {"owner": 7, "job": 8, "age": 11, "rooms": 11, "income": 11}
    assert [tensor.name for tensor in model.graph.output] == ["label"]
    assert {prop.key: prop.value for prop in model.metadata_props}[
        "features"
    ] == '["owner", "job", "age", "rooms", "income"]'


@pytest.mark.parametrize("values", [["a", 1], ["", None], [(1, 2), "a"], [2**53 + 1, None]])
def test_values_that_onnx_has_no_type_for(values: list[object]) -> None:
    tree = Tree.constant(ft.ProductSpace([ft.Categorical("c", values)]), 0)
    with pytest.raises(ParameterError, match="values of feature 'c' must be all text or all numbers in ONNX"):
        to_onnx(tree)


def test_names_that_onnx_cannot_have() -> None:
    space = ft.ProductSpace([ft.Boolean(""), ft.Categorical("c", ["p", "q"])])
    with pytest.raises(ParameterError, match="names of features must not be empty or hold NUL in ONNX; got ''"):
        to_onnx(Tree.constant(space, 0))


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, export in (("sklearn", to_sklearn), ("onnx", to_onnx)):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(MissingExtraError, match=rf"need {module}, .*pip install 'fidelitree\[{module}\]'"):
            export(cut_at(0.5))
