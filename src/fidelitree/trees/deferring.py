"""Leaves that answer "ask the target": the label that stands for it, and what becomes of it where somebody needs one.

Here is also what counts as an error: where a tree answers itself, and its answer is `apart` from the target's.

A tree that defers has `DEFER` as its last label. In files it is null, as text "ask the target".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fidelitree.errors import ParameterError, show
from fidelitree.spaces.inputs import as_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from fidelitree.trees.tree import Labels, Tree


class Defer:
    """The label of a leaf that does not answer. There is one; it comes after every other label."""

    def __lt__(self, other: object) -> bool:
        return False

    def __gt__(self, other: object) -> bool:
        return other is not self

    def __reduce__(self) -> str:
        return "DEFER"

    def __repr__(self) -> str:
        return "DEFER"

    def __str__(self) -> str:
        return "ask the target"


DEFER = Defer()


def answers_of(labels: Iterable[Any]) -> list[Any]:
    """All labels but `DEFER`."""
    return [label for label in labels if label is not DEFER]


def answered(tree: Tree, rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Which of these inner values the tree answers itself."""
    if not tree.defers:
        return np.ones(len(rows), np.bool_)
    return np.asarray(tree.predict_inner(rows) != DEFER, np.bool_)


def apart(one: NDArray[Any], two: NDArray[Any], tolerance: float | None) -> NDArray[np.bool_]:
    """Where answers differ: numbers by more than the tolerance, labels at all."""
    return np.asarray(one != two) if tolerance is None else np.asarray(np.abs(one - two) > tolerance)


def filled(found: Labels, inputs: Any, fallback: Callable[[Any], Any]) -> Labels:
    """Labels of a tree, those that it defers as ``fallback`` has them, which is called with these inputs alone.

    Where the two are of one kind, so is the result; else every label stays what it is, among objects.
    """
    asked = np.flatnonzero(found == DEFER)
    labels = found.tolist()
    if len(asked):
        ask = getattr(fallback, "predict", fallback)
        if not callable(ask):
            raise ParameterError(f"fallback must be a model, or a callable from inputs to labels; got {show(fallback)}")
        given = np.asarray(ask(_rows(inputs, asked)))
        if given.shape != (len(asked),):
            raise ParameterError(
                f"fallback must give one label for each of {len(asked)} inputs; it gave an array of shape {given.shape}"
            )
        for place, label in zip(asked.tolist(), given.tolist(), strict=True):
            labels[place] = label
    return np.array(labels, None if len({type(label) for label in labels}) == 1 else object)


def _rows(inputs: Any, places: NDArray[np.intp]) -> Any:
    """Some rows of a table, a mapping of name to column, or a 2-D array, in the same form."""
    if isinstance(inputs, Mapping):
        return {name: np.asarray(column)[places] for name, column in inputs.items()}
    table = None if isinstance(inputs, np.ndarray) else as_table(inputs)
    return np.asarray(inputs)[places] if table is None else table[places.tolist()].to_native()


def named(tree: Tree, label: Any) -> Tree:
    """The same tree with a label of its own kind where it defers: one that knows of no deferring."""
    known = answers_of(tree.labels.tolist())
    if type(label) is not type(known[0]) or label in known:
        kind = type(known[0]).__name__
        raise ParameterError(f"label must be a new {kind} beside the tree's {known!r:.80}; got {show(label)}")
    labels = sorted([*known, label])
    places = np.array([labels.index(label if one is DEFER else one) for one in tree.labels.tolist()], np.int32)
    code = np.where(tree.feature < 0, places.take(np.maximum(tree.code, 0)), -1).astype(np.int32)
    return replace(tree, labels=np.array(labels), code=code)
