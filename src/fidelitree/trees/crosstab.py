"""Two answers to the same inputs, counted batch by batch: the target's and a predictor's."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
        self._batches.append((len(target), found))

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
