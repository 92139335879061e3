"""Random forests of the born-again-trees study, as text files under FIDELITREE_DATA/forests."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FOLDER = Path(os.environ.get("FIDELITREE_DATA", "../shared/data")) / "forests"
CHILDREN, FEATURE, THRESHOLD, LABEL = slice(2, 4), 4, 5, 7


@dataclass(frozen=True)
class Forest:
    """A majority vote of trees; ties go to the smallest class."""

    n: int
    classes: int
    trees: tuple[tuple[list[str], ...], ...]

    def __call__(self, batch: NDArray[Any]) -> NDArray[np.int64]:
        votes = np.zeros((len(batch), self.classes), np.int64)
        for tree in self.trees:
            self._vote(tree, 0, batch, np.arange(len(batch)), votes)
        return votes.argmax(axis=1)

    def _vote(
        self,
        tree: tuple[list[str], ...],
        node: int,
        batch: NDArray[Any],
        rows: NDArray[np.intp],
        votes: NDArray[np.int64],
    ) -> None:
        fields = tree[node]
        if fields[1] == "LN":
            votes[rows, int(fields[LABEL])] += 1
            return
        left, right = map(int, fields[CHILDREN])
        low = batch[rows, int(fields[FEATURE])] <= float(fields[THRESHOLD])
        self._vote(tree, left, batch, rows[low], votes)
        self._vote(tree, right, batch, rows[~low], votes)


def read(path: Path) -> Forest:
    """A forest from its file."""
    head, *parts = path.read_text(encoding="utf-8").split("[TREE ")
    given = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    trees = []
    for part in parts:
        nodes = [line.split() for line in part.splitlines()[2:] if line.strip()]
        if [int(fields[0]) for fields in nodes] != list(range(len(nodes))):
            raise ValueError(f"nodes of a tree in {path.name} must be numbered from 0 on")
        trees.append(tuple(nodes))
    if len(trees) != int(given["NB_TREES"]):
        raise ValueError(f"{path.name} must hold {given['NB_TREES']} trees; found {len(trees)}")
    return Forest(int(given["NB_FEATURES"]), int(given["NB_CLASSES"]), tuple(trees))


def compas() -> dict[str, Forest]:
    """The five COMPAS forests; none where the data is absent."""
    paths = {f"RF{k}": FOLDER / f"COMPAS-ProPublica.RF{k}.txt" for k in range(1, 6)}
    return {name: read(path) for name, path in paths.items() if path.is_file()}
