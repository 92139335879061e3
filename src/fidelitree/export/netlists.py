"""A tree as a circuit, named bits in and named bits out: BLIF, where every test is a multiplexer, and PLA.

BLIF has the shape of the tree; PLA has one row for each leaf, which no two rows cover together.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fidelitree.errors import ParameterError, is_text, show
from fidelitree.trees.tree import Tree, check_tree


@dataclass(frozen=True)
class Wires:
    """Names of a tree's inputs and outputs in a circuit.

    A tree that answers 0 and 1 (or False and True) has one output. Any other labels have one output each, which is 1
    where the tree answers that label. ``codes[k]`` is the label, as the tree numbers it, for which output k is 1.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    codes: tuple[int, ...]
    remarks: tuple[str, ...]

    @classmethod
    def of(cls, tree: Tree, output: str) -> Wires:
        """The wires of a tree of bits; ``output`` is the name of the output, or the start of the outputs' names."""
        check_tree(tree)
        for name, kind in zip(tree.names, tree.kinds, strict=True):
            if kind != "boolean":
                raise ParameterError(f"tree must test bits only to become a circuit; feature {name!r} is {kind}")
            check_name("names of features", name)
        check_name("output", output)
        labels = tree.labels.tolist()
        if set(labels) <= {0, 1}:
            wires = cls(tree.names, (output,), (labels.index(1) if 1 in labels else -1,), ())
        else:
            outputs = tuple(f"{output}{k}" for k in range(len(labels)))
            remarks = tuple(f"# {name} = 1: {label!r}" for name, label in zip(outputs, labels, strict=True))
            wires = cls(tree.names, outputs, tuple(range(len(labels))), remarks)
        for name in wires.outputs:
            if name in tree.names:
                raise ParameterError(f"output must not be the name of a feature; got {name!r}")
        return wires


def check_name(what: str, name: str) -> None:
    """Refuse a name that a circuit file cannot hold."""
    if not is_text(name) or not re.fullmatch(r"[^\s#\\=]+", name):
        raise ParameterError(f"{what} must have no blanks, '#', '=' or backslashes in a circuit; got {show(name)}")


def to_blif(tree: Tree, output: str = "y", model: str = "tree") -> str:
    """The tree as a model of multiplexers; `ft.targets.read_circuit` reads it back.

    >>> from fidelitree.spaces.product import ProductSpace
    >>> space = ProductSpace.bernoulli(1, names=["a"])
    >>> print(to_blif(Tree.build(space, [(0, 1, 2), 1, 0], [0, 1])), end="")
    .model tree
    .inputs a
    .outputs y
    .names a y_1 y_2 y
    01- 1
    1-1 1
    .names y_1
    1
    .names y_2
    .end
    """
    wires = Wires.of(tree, output)
    check_name("model", model)
    lines = [*wires.remarks, f".model {model}", f".inputs {' '.join(wires.inputs)}"]
    lines.append(f".outputs {' '.join(wires.outputs)}")
    for name, code in zip(wires.outputs, wires.codes, strict=True):
        lines += _multiplexers(tree, name, code, set(wires.inputs))
    return "\n".join([*lines, ".end"]) + "\n"


def _multiplexers(tree: Tree, output: str, code: int, taken: set[str]) -> list[str]:
    """A signal for each node of the tree; the root is the output."""
    stem = f"{output}_"
    while any(name.startswith(stem) for name in taken):
        stem += "_"
    signal = [output, *(f"{stem}{node}" for node in range(1, len(tree.feature)))]
    return [line for node in range(len(signal)) for line in _cover(tree, node, signal, code)]


def _cover(tree: Tree, node: int, signal: list[str], code: int) -> list[str]:
    feature = int(tree.feature[node])
    if feature < 0:
        return [f".names {signal[node]}"] + ["1"] * bool(tree.code[node] == code)
    below = f"{signal[tree.no[node]]} {signal[tree.yes[node]]}"
    return [f".names {tree.names[feature]} {below} {signal[node]}", "01- 1", "1-1 1"]


def to_pla(tree: Tree, output: str = "y") -> str:
    """The tree as an espresso cover; `ft.targets.read_circuit` reads it back.

    >>> from fidelitree.spaces.product import ProductSpace
    >>> space = ProductSpace.bernoulli(2, names=["a", "b"])
    >>> print(to_pla(Tree.build(space, [(0, 1, 2), 0, (1, 3, 4), 0, 1], [0, 1])), end="")
    .i 2
    .o 1
    .ilb a b
    .ob y
    .p 1
    11 1
    .e
    """
    wires = Wires.of(tree, output)
    rows = []
    for node, signs in _leaves(tree):
        marks = "".join("1" if tree.code[node] == code else "0" for code in wires.codes)
        if "1" in marks:
            rows.append(f"{signs} {marks}")
    head = [f".i {len(wires.inputs)}", f".o {len(wires.outputs)}"]
    names = [f".ilb {' '.join(wires.inputs)}", f".ob {' '.join(wires.outputs)}", f".p {len(rows)}"]
    return "\n".join([*wires.remarks, *head, *names, *rows, ".e"]) + "\n"


def _leaves(tree: Tree) -> list[tuple[int, str]]:
    """Every leaf, with 0, 1 or - for each feature."""
    found, waiting = [], [(0, "-" * len(tree.names))]
    while waiting:
        node, signs = waiting.pop()
        feature = int(tree.feature[node])
        if feature < 0:
            found.append((node, signs))
            continue
        before, after = signs[:feature], signs[feature + 1 :]
        waiting += [(int(tree.yes[node]), f"{before}1{after}"), (int(tree.no[node]), f"{before}0{after}")]
    return found
