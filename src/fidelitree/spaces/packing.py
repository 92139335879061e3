"""Rows of inner values as plain data, and back from what a stranger may have written."""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import FormatError, check_count

if TYPE_CHECKING:
    from fidelitree.spaces.product import ProductSpace

MOST_BYTES = 200_000_000
"""Of stored rows, unpacked; a stranger's file says how many there are."""
MOST_CODES = 1 << 22
"""Rows whose groups are read from a file: numbers of groups take forty times the memory of a table of one bit."""
_STEP = 1 << 14  # packed bytes that are unpacked at once, to a thousand times as many at most


def packed(inner: NDArray[Any]) -> dict[str, Any]:
    """How many rows there are, and all of them."""
    values = np.ascontiguousarray(inner, inner.dtype.newbyteorder("<"))
    return {"count": len(inner), "packed": base64.b64encode(zlib.compress(values.tobytes())).decode()}


def unpacked(entry: Any, space: ProductSpace) -> NDArray[Any]:
    """Inner values of stored rows."""
    try:
        count = check_count("count", entry["count"])
        size = count * len(space) * space.dtype.itemsize
        if size > MOST_BYTES:
            raise ValueError(
                f"they may take at most {MOST_BYTES // 1_000_000} MB; got {count!r:.40} rows of {len(space)} features "
                f"- make Rows of the table itself"
            )
        raw = _inflated(base64.b64decode(entry["packed"], validate=True), size)
        inner = np.frombuffer(raw, space.dtype.newbyteorder("<")).reshape(count, len(space)).astype(space.dtype)
        missing = np.isnan(inner).any(axis=0)
        wrong = [space.names[i] for i in np.flatnonzero(missing).tolist() if i not in space.gaps]
        if wrong:
            raise ValueError(f"numbers of feature {wrong[0]!r} may not be missing")
        return inner
    except (KeyError, TypeError, ValueError, zlib.error) as error:
        raise FormatError(f"not stored rows of a table: {error}") from None


def packed_codes(codes: NDArray[np.intp]) -> str:
    """Whole numbers from 0, four bytes each."""
    return base64.b64encode(zlib.compress(codes.astype("<u4").tobytes())).decode()


def unpacked_codes(packed: Any, count: int) -> NDArray[np.intp]:
    """So many of them, from what a stranger may have written."""
    try:
        if count > MOST_CODES:
            raise ValueError(
                f"they must be those of at most {MOST_CODES:,} rows; got {count:,} rows - make Rows of the table itself"
            )
        raw = _inflated(base64.b64decode(packed, validate=True), 4 * count)
        if len(raw) != 4 * count:
            raise ValueError(f"they must be those of {count:,} rows")
        return np.frombuffer(raw, "<u4").astype(np.intp)
    except (TypeError, ValueError, zlib.error) as error:
        raise FormatError(f"not stored rows of a table: groups: {error}") from None


def _inflated(packed: bytes, size: int) -> bytearray:
    """What was packed, or a little more of it than ``size``: a few bytes may hold gigabytes."""
    raw, inflater = bytearray(), zlib.decompressobj()
    for start in range(0, len(packed), _STEP):
        raw += inflater.decompress(packed[start : start + _STEP], size + 1 - len(raw))
        if len(raw) > size:
            break
    return raw
