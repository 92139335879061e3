"""What users hand over as inputs, checked and brought to one form: 0/1 bytes, rows by features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import ParameterError


def as_bits(inputs: Any, names: tuple[str, ...]) -> NDArray[np.uint8]:
    """A 2-D array of bits with one column per feature; not copied when it is bytes already."""
    array = np.asarray(inputs)
    if array.ndim != 2 or array.shape[1] != len(names):
        raise ParameterError(
            f"inputs must be a 2-D array with one column for each of the {len(names)} features; got shape {array.shape}"
        )
    if array.dtype == np.bool_:
        return array.view(np.uint8)
    if array.dtype == np.uint8 and (array.size == 0 or array.max() <= 1):
        return array
    wrong = np.argwhere(~((array == 0) | (array == 1)))
    if len(wrong):
        row, column = wrong[0]
        raise ParameterError(
            f"inputs must hold 0 and 1 only; got {array.item(row, column)!r} for feature {names[column]!r} in row {row}"
        )
    return array.astype(np.uint8)
