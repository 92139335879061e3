"""What a tree looks like to a circuit: named bits in, named bits out."""

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
