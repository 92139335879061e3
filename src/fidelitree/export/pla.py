"""A tree as a PLA file: one row for each leaf, which no two rows cover together."""

from __future__ import annotations

from fidelitree.export.wires import Wires
from fidelitree.trees.tree import Tree


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
