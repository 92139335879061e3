"""A tree as an ONNX model, exact in 64 bits, which takes the user's own values: numbers, and categories as they are."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fidelitree.errors import ParameterError, need
from fidelitree.export.encoder import Column, MatrixColumns
from fidelitree.spaces.features import AtMost
from fidelitree.trees.tree import Tree, check_tree

_IR, _OPSET, _ML = 8, 15, 3  # old enough for runtimes of 2022


def to_onnx(tree: Tree) -> Any:
    """An ``onnx.ModelProto`` with one output, the label: int64, bool or text.

    Where no feature is categorical, its one input ``inputs`` holds rows by features as doubles. Otherwise each feature
    is an input of its own name, of shape rows by 1: a bit as int64, a number as double, a category as text, int64, or
    double where missing values (NaN) or fractions are among them. A missing text is the empty one, and a missing number
    NaN. A tree that defers is refused.
    """
    check_tree(tree)
    tree.check_answers("an ONNX model")
    onnx = need("onnx", "onnx", "ONNX models")
    graph = _Graph(onnx, set(tree.names))
    columns = MatrixColumns.of(tree)
    if "categorical" in tree.kinds:
        parts = [_column(graph, tree, column) for column in columns.columns]
        for feature in range(len(tree.names)):
            graph.input(_input_name(tree.names[feature]), _input_type(tree, feature), 1)
        table = graph.node("Concat", parts, axis=1)
    else:
        table = graph.input("inputs", "DOUBLE", len(tree.names))
    # A regressor of codes and a look-up: runtimes disagree on what a classifier of two labels makes of its scores.
    codes = graph.cast(_ensemble(graph, tree, columns, table), "INT64")
    kind, dtype = _LABELS.get(tree.labels.dtype.kind, ("INT64", np.int64))
    flat = graph.node("Reshape", [codes, graph.constant(np.array([-1]))])
    output = graph.node("Gather", [graph.constant(tree.labels.astype(dtype)), flat], graph.fresh("label"))
    return graph.model(output, kind, tree)


_LABELS: dict[str, tuple[str, Any]] = {"U": ("STRING", object), "b": ("BOOL", np.bool_), "f": ("DOUBLE", np.float64)}


@dataclass
class _Graph:
    """Nodes as they are added; names of inner results never are names of features."""

    onnx: Any
    taken: set[str]
    nodes: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def fresh(self, stem: str) -> str:
        name, turn = stem, 2
        while name in self.taken:
            name, turn = f"{stem}_{turn}", turn + 1
        self.taken.add(name)
        return name

    def input(self, name: str, kind: str, width: int) -> str:
        made = self.onnx.helper.make_tensor_value_info(name, getattr(self.onnx.TensorProto, kind), ["rows", width])
        self.inputs.append(made)
        return name

    def constant(self, array: Any) -> str:
        name = self.fresh("constant")
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def node(self, kind: str, inputs: list[str], output: str | None = None, **attributes: Any) -> str:
        output = output or self.fresh("inner")
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, [output], **attributes))
        return output

    def cast(self, name: str, kind: str, output: str | None = None) -> str:
        """The same values in another type."""
        return self.node("Cast", [name], output, to=getattr(self.onnx.TensorProto, kind))

    def model(self, output: str, kind: str, tree: Tree) -> Any:
        helper = self.onnx.helper
        ends = [helper.make_tensor_value_info(output, getattr(self.onnx.TensorProto, kind), ["rows"])]
        graph = helper.make_graph(self.nodes, "tree", self.inputs, ends, self.constants)
        versions = [helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", _ML)]
        model = helper.make_model(graph, producer_name="fidelitree", opset_imports=versions, ir_version=_IR)
        helper.set_model_props(model, {"features": json.dumps(tree.names), "digest": tree.digest})
        self.onnx.checker.check_model(model)
        return model


def _ensemble(graph: _Graph, tree: Tree, columns: MatrixColumns, table: str) -> str:
    """The number of the label that each row reaches; the true side of a node is where a column is at most its cut."""
    _, no, yes, code = tree.as_lists
    count = len(no)
    asked = {node: test for node, test in tree.tests.items() if isinstance(test, AtMost)}
    cuts = {node: float(test.cut) for node, test in asked.items()}
    leaves = [node for node in range(count) if no[node] < 0]
    tensor = graph.onnx.numpy_helper.from_array
    attributes: dict[str, Any] = {
        "nodes_treeids": [0] * count,
        "nodes_nodeids": list(range(count)),
        "nodes_featureids": np.maximum(columns.of_node, 0).tolist(),
        "nodes_modes": ["BRANCH_LEQ" if child >= 0 else "LEAF" for child in no],
        "nodes_values_as_tensor": tensor(np.array([cuts.get(node, 0.5) for node in range(count)]), "cuts"),
        "nodes_truenodeids": [max(0, (yes if node in cuts else no)[node]) for node in range(count)],
        "nodes_falsenodeids": [max(0, (no if node in cuts else yes)[node]) for node in range(count)],
        "n_targets": 1,
        "target_treeids": [0] * len(leaves),
        "target_nodeids": leaves,
        "target_ids": [0] * len(leaves),
        "target_weights_as_tensor": tensor(np.array([float(code[leaf]) for leaf in leaves]), "codes"),
    }
    if any(test.missing for test in asked.values()):
        tracks = [int(node in asked and bool(asked[node].missing)) for node in range(count)]
        attributes["nodes_missing_value_tracks_true"] = tracks
    return graph.node("TreeEnsembleRegressor", [table], domain="ai.onnx.ml", **attributes)


def _column(graph: _Graph, tree: Tree, column: Column) -> str:
    """A column of doubles made of a feature's input."""
    name, kind = tree.names[column.feature], _input_type(tree, column.feature)
    if column.codes is None:
        if kind == "STRING":  # nobody asks about it
            keys: dict[str, Any] = {"keys_strings": [""], "values_floats": [0.0], "default_float": 0.0}
            name = graph.node("LabelEncoder", [name], domain="ai.onnx.ml", **keys)
        return graph.cast(name, "DOUBLE")
    values = [(tree.values[column.feature] or ())[code] for code in sorted(column.codes)]
    if kind == "DOUBLE":
        return _numbers_in(graph, name, values)
    listed = (
        {"keys_strings": [value or "" for value in values]}
        if kind == "STRING"
        else {"keys_int64s": [int(value) for value in values]}
    )
    inside = graph.node(
        "LabelEncoder",
        [name],
        domain="ai.onnx.ml",
        **listed,
        values_floats=[1.0] * len(values),
        default_float=0.0,
    )
    return graph.cast(inside, "DOUBLE")


def _numbers_in(graph: _Graph, name: str, values: list[Any]) -> str:
    """Whether a double is one of some numbers, or NaN where a missing value is among them."""
    known = np.array([[float(value) for value in values if value is not None]])
    parts = []
    if known.size:
        equal = graph.node("Equal", [name, graph.constant(known)])
        hits = graph.cast(equal, "DOUBLE")
        parts.append(graph.node("MatMul", [hits, graph.constant(np.ones((known.size, 1)))]))
    if known.size < len(values):
        missing = graph.node("IsNaN", [name])
        parts.append(graph.cast(missing, "DOUBLE"))
    return parts[0] if len(parts) == 1 else graph.node("Add", parts)


def _input_type(tree: Tree, feature: int) -> str:
    values = tree.values[feature]
    if values is None:
        return "DOUBLE" if tree.kinds[feature] == "numeric" else "INT64"
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {str} and not (None in values and "" in values):
        return "STRING"
    if kinds <= {int, bool} and None not in values and all(-(2**63) <= value < 2**63 for value in values):
        return "INT64"
    if kinds <= {int, bool, float} and all(value is None or float(value) == value for value in values):
        return "DOUBLE"
    raise ParameterError(
        f"values of feature {tree.names[feature]!r} must be all text or all numbers in ONNX, where '' is the missing "
        f"text; got {', '.join(map(repr, values[:8]))}"
    )


def _input_name(name: str) -> str:
    if not name or "\0" in name:
        raise ParameterError(f"names of features must not be empty or hold NUL in ONNX; got {name!r}")
    return name
