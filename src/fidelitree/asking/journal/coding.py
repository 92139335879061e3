"""Inputs and labels as bytes, and back: plain numbers and text, nothing that could run."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import FormatError, is_text

KINDS = ("bool", "int", "str")


def input_bytes(inner: NDArray[Any]) -> bytes:
    """Inner values, row after row: eight bits a byte, or floats of eight bytes."""
    if inner.dtype == np.uint8:
        return np.packbits(inner, axis=1).tobytes()
    return np.ascontiguousarray(inner + 0.0, "<f8").tobytes()  # -0.0 is 0.0


def inputs_from(stored: bytes, rows: int, features: int, bits: bool) -> NDArray[Any]:
    """The inverse of `input_bytes`."""
    width = -(-features // 8) if bits else 8 * features
    if len(stored) != rows * width:
        raise FormatError(f"{rows} inputs of {features} features take {rows * width} bytes; got {len(stored)}")
    if bits:
        return np.unpackbits(np.frombuffer(stored, np.uint8).reshape(rows, width), axis=1, count=features)
    return np.frombuffer(stored, "<f8").reshape(rows, features).astype(np.float64)


def digest(stored: bytes) -> bytes:
    """What tells the inputs of a batch from all others."""
    return hashlib.sha256(stored).digest()


def label_bytes(labels: NDArray[Any]) -> tuple[str, bytes]:
    """Kind and bytes of labels of one kind: truth values, whole numbers of 64 bits, or text."""
    if labels.dtype.kind == "b":
        return "bool", labels.astype(np.uint8).tobytes()
    if labels.dtype.kind in "iu":
        return "int", labels.astype("<i8").tobytes()
    return "str", json.dumps(labels.tolist(), separators=(",", ":")).encode()


def labels_from(kind: str, stored: bytes, rows: int) -> NDArray[Any]:
    """The inverse of `label_bytes`; FormatError for anything that is not so many labels of the kind."""
    if kind == "bool" and len(stored) == rows and max(stored, default=0) <= 1:
        return np.frombuffer(stored, np.uint8).astype(np.bool_)
    if kind == "int" and len(stored) == 8 * rows:
        return np.frombuffer(stored, "<i8").astype(np.int64)
    if kind == "str":
        try:
            listed = json.loads(stored)
        except (ValueError, RecursionError):
            listed = None
        if isinstance(listed, list) and len(listed) == rows and all(map(is_text, listed)):
            return np.array(listed, np.str_)
    raise FormatError(f"{rows} labels of kind {kind!r:.20} cannot be read from {len(stored)} bytes")
