"""Answers that may be looked at leaf by leaf: where a tree is right, and where its remaining error sits.

Not every answer of a run will do. Inputs that the learner chose are not spread as the space spreads them, and a tree
agrees too well with answers that it was fitted to. What is kept here are the answers that the certificate could count:
to inputs drawn from the whole space after the attempt for the tested tree had been opened. Of a number of them that was
fixed beforehand, the share in a leaf with a label is an unbiased estimate. A run ends as soon as its answers suffice,
though, so they are a little kinder to the tree than later ones would be: the shares say *where* it errs, the
certificate says *how much*. Given the tested tree,
masses alone say which tree of each size could take its place, not which answers were wrong; how many were decides the
size. `confusion` says how its intervals pay for that.

Leaves may also answer "ask the target": such a tree has `DEFER` as its last label. In files it is null, as text "ask
the target". An error is where a tree answers itself (`answered`) and otherwise than the target (`apart`).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import ParameterError, show
from fidelitree.spaces.inputs import as_table

if TYPE_CHECKING:
    from fidelitree.trees.tree import Labels, Tree

MOST_BYTES = 64 << 20


@dataclass(frozen=True, eq=False)
class Answers:
    """Test inputs as they were drawn (inner values, rows by features) with the target's labels.

    ``dropped`` answers that came later were counted but not kept, because the inputs would take more than 64 MB.

    >>> from fidelitree.targets import majority
    >>> from fidelitree.spaces.product import ProductSpace
    >>> space = ProductSpace.bernoulli(1)
    >>> tree = Tree.build(space, [(0, 1, 2), 0, 1], ["no", "yes"])
    >>> answers = Answers(np.array([[0], [1], [1]], np.uint8), np.array(["no", "yes", "no"]))
    >>> answers.counts(tree).tolist()
    [[1, 0], [1, 1]]
    """

    inputs: NDArray[Any]
    labels: NDArray[Any]
    dropped: int = 0

    def __len__(self) -> int:
        return len(self.labels)

    def classes(self, tree: Tree) -> list[Any]:
        """The labels that columns of `counts` stand for: the tree's, and any that only the answers have."""
        return sorted({*answers_of(tree.labels.tolist()), *self.labels.tolist()})

    def counts(self, tree: Tree) -> NDArray[np.int64]:
        """How many inputs reach each leaf with each label: leaves in the order of their nodes, labels increasing."""
        return tally(tree, self.inputs, self.labels, self.classes(tree)).astype(np.int64)

    def leaf_labels(self, tree: Tree, tolerance: float | None = None) -> LeafLabels | None:
        """The same as shares of all answers; None where there are none.

        Of numbers, those within the tolerance count for the leaf's own number, and all others are too far away.
        """
        if not len(self):
            return None
        if tolerance is None:
            return LeafLabels(tuple(self.classes(tree)), self.counts(tree) / len(self), len(self))
        own, far = tree.labels.tolist(), len(tree.labels)
        codes = tree.code[tree.reached_inner(self.inputs)]
        codes[np.abs(tree.labels[codes] - self.labels) > tolerance] = far
        counts = tally(tree, self.inputs, codes, range(far + 1))
        return LeafLabels((*own, f"more than {tolerance:.6g} away"), counts / len(self), len(self))


@dataclass(frozen=True, eq=False)
class LeafLabels:
    """How often an input reaches each leaf with each label of the target: leaves in the order of their nodes.

    ``samples`` is the number of answers that the shares are estimated from, None where they are exact.
    """

    classes: tuple[Any, ...]
    shares: NDArray[np.float64]
    samples: int | None = None

    @property
    def counts(self) -> NDArray[Any]:
        """Answers in each leaf with each label; the shares themselves where they are exact."""
        return self.shares if self.samples is None else np.rint(self.shares * self.samples).astype(np.int64)

    def wrong(self, tree: Tree) -> NDArray[np.float64]:
        """Each leaf's part of the error: the share of inputs that reach it with another label than its own.

        A leaf that defers is not wrong.
        """
        own = tree.labels[tree.code[tree.feature < 0]].tolist()
        places = [0 if label is DEFER else self.classes.index(label) for label in own]
        right = self.shares[np.arange(len(places)), places]
        right = np.where([label is DEFER for label in own], self.shares.sum(axis=1), right)
        return np.asarray(np.maximum(self.shares.sum(axis=1) - right, 0.0))


class Kept:
    """Collects answers while a run counts them."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._parts: list[tuple[NDArray[Any], NDArray[Any]]] = []
        self._left, self._dropped = most_bytes, 0

    def keep(self, inputs: NDArray[Any], labels: NDArray[Any]) -> None:
        """The next answers; they are dropped once there is no room for them."""
        self.keeping(inputs, labels)()

    def keeping(self, inputs: NDArray[Any], labels: NDArray[Any]) -> Callable[[], None]:
        """What is left to do to keep the next answers; to do so twice changes nothing."""
        place, left, dropped = len(self._parts), self._left - inputs.nbytes, self._dropped
        new = [] if left < 0 else [(inputs.copy(), labels)]  # a view would keep the whole block that it was cut from
        dropped += 0 if new else len(labels)

        def keep() -> None:
            self._parts[place:] = new
            self._left, self._dropped = left, dropped

        return keep

    def label_counts(self) -> dict[Any, int]:
        """How often each label was the answer."""
        counts: Counter[Any] = Counter()
        for _, labels in self._parts:
            counts.update(labels.tolist())
        return dict(counts)

    def last(self, rows: int, tree: Tree | None = None) -> Answers | None:
        """The last so many answers that were offered, as far as they are kept; None where nothing is.

        Those to inputs that a ``tree`` defers are none of its own.
        """
        if not self._parts:
            return None
        if len(self._parts) > 1:  # put together once, however often they are asked for
            self._parts = [tuple(map(np.concatenate, zip(*self._parts, strict=True)))]  # type: ignore[list-item]
        ((inputs, labels),) = self._parts
        if tree is not None and tree.defers:
            own = answered(tree, inputs)
            inputs, labels = inputs[own], labels[own]
            start, dropped = max(0, len(labels) - rows), max(0, rows - len(labels))
            return Answers(inputs[start:], labels[start:], dropped) if rows and len(labels) else None
        start = max(0, len(labels) + self._dropped - rows)
        return Answers(inputs[start:], labels[start:], min(self._dropped, rows))


def tally(
    tree: Tree,
    inputs: NDArray[Any],
    labels: NDArray[Any],
    classes: Sequence[Any],
    weights: NDArray[np.float64] | None = None,
) -> NDArray[Any]:
    """The number of inputs, or the sum of their weights, in each leaf with each label."""
    places = np.cumsum(tree.feature < 0) - 1
    columns = np.searchsorted(np.array(classes), labels)
    cells = places[tree.reached_inner(inputs)] * len(classes) + columns
    return np.bincount(cells, weights, tree.size * len(classes)).reshape(tree.size, len(classes))


def upwards(tree: Tree, of_leaves: NDArray[Any]) -> NDArray[Any]:
    """From a number, or a row of them, for each leaf, in the order of their nodes, to the sum below every node."""
    sums = np.zeros((len(tree.feature), *of_leaves.shape[1:]), of_leaves.dtype)
    sums[tree.feature < 0] = of_leaves
    for node in np.flatnonzero(tree.feature >= 0)[::-1].tolist():  # children stand after their parents
        sums[node] = sums[tree.no[node]] + sums[tree.yes[node]]
    return sums


class Crosstab:
    """Both answers counted batch by batch; the table of the first so many inputs can be had afterwards."""

    def __init__(self) -> None:
        self._batches: list[tuple[int, Counter[tuple[Any, Any]]]] = []

    def count(self, target: NDArray[Any], tree: NDArray[Any], weights: NDArray[np.float64] | None = None) -> None:
        """Count the labels of a batch, or what its inputs weigh."""
        (rows, row), (columns, column) = _coded(target), _coded(tree)
        sums = np.bincount(row * len(columns) + column, weights, len(rows) * len(columns)).tolist()
        pairs = itertools.product(rows, columns)
        found = Counter({pair: count for pair, count in zip(pairs, sums, strict=True) if count})
        self.add(len(target), found)

    def add(self, rows: int, found: Counter[tuple[Any, Any]]) -> None:
        """A batch of so many rows whose labels were counted elsewhere."""
        self._batches.append((rows, found))

    def table(self, inputs: float = math.inf) -> dict[tuple[Any, Any], Any]:
        """The batches that the first so many inputs came in."""
        found: Counter[tuple[Any, Any]] = Counter()
        for rows, batch in self._batches:
            inputs -= rows
            if inputs < 0:
                break
            found.update(batch)
        return dict(found)


def _coded(labels: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """Different labels, and the place of each among them; of a predictor they may be anything."""
    if labels.dtype.kind != "O":
        values, places = np.unique(labels, return_inverse=True)
        return list(map(_plain, values.tolist())), places
    plain = list(map(_plain, labels.tolist()))
    place = {label: number for number, label in enumerate(dict.fromkeys(plain))}
    return list(place), np.array([place[label] for label in plain], np.intp)


def _plain(label: Any) -> Any:
    """A label as JSON can hold it."""
    if isinstance(label, (bool, int, str)):
        return label
    return label if isinstance(label, float) and math.isfinite(label) else str(label)


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
