"""A tree as a BLIF file: every test is a multiplexer, so the circuit has the shape of the tree."""

from __future__ import annotations

from fidelitree.export.wires import Wires, check_name
from fidelitree.trees.tree import Tree


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
