"""Truth tables: targets that list their answer to every input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fidelitree.errors import RAISED, ParameterError, show
from fidelitree.spaces.inputs import as_bits
from fidelitree.targets.labels import as_answered

MAX_FEATURES = 26


class TruthTable:
    """A Boolean-input function as the list of its labels.

    The label of input x stands at position ``sum of x[i] * 2**i``.

    >>> xor = TruthTable([0, 1, 1, 0])
    >>> xor(np.array([[1, 0], [1, 1]])).tolist()
    [1, 0]
    """

    def __init__(self, labels: ArrayLike | Sequence[Any]) -> None:
        try:
            self.labels: NDArray[Any] = as_answered(labels)
        except RAISED as error:
            raise ParameterError(f"labels of a truth table must be a list of labels; got {show(labels)}") from error
        size = self.labels.size
        if self.labels.ndim != 1 or size < 2 or size & (size - 1):
            raise ParameterError(
                f"labels of a truth table must be a list of 2, 4, 8, ... labels; got shape {self.labels.shape}"
            )
        self.n = size.bit_length() - 1
        if self.n > MAX_FEATURES:
            raise ParameterError(f"a truth table may have at most {MAX_FEATURES} features; got {self.n}")
        self._names = tuple(f"x{i}" for i in range(self.n))

    def __call__(self, batch: Any) -> NDArray[Any]:
        bits = as_bits(batch, self._names)
        position = np.zeros(len(bits), np.intp)
        for i in range(self.n):
            position |= bits[:, i].astype(np.intp) << i
        return self.labels[position]

    def __repr__(self) -> str:
        return f"<TruthTable of {self.n} features>"
