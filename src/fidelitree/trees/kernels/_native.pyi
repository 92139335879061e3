from collections.abc import Callable
from typing import NewType

import numpy as np
from numpy.typing import NDArray

_Table = NewType("_Table", object)
_Shape = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.uint64]]

def walk(
    cut: NDArray[np.float64],
    feature: NDArray[np.int32],
    child: NDArray[np.int32],
    value: NDArray[np.int64],
    start: NDArray[np.int32],
    width: NDArray[np.int32],
    member: NDArray[np.uint8],
    data: NDArray[np.float64],
    out: NDArray[np.int64],
    first: int,
    by_columns: bool,
    depth: int,
    checked: bool,
) -> bool: ...
def bin_columns(
    inner: NDArray[np.float64],
    features: NDArray[np.int32],
    bins: NDArray[np.uint16],
    values: NDArray[np.float64],
    counts: NDArray[np.int32],
) -> None: ...
def table(
    bins: NDArray[np.uint16],
    codes: NDArray[np.int32],
    sizes: NDArray[np.int32],
    ordered: NDArray[np.bool_],
    chosen: NDArray[np.int32],
    xlogx: NDArray[np.float64],
    classes: int,
    most: int,
) -> _Table: ...
def table_cart(table: _Table, most: int, watch: Callable[[], None]) -> tuple[bytes, ...]: ...
def table_fit(table: _Table, tree: _Shape, price: float, watch: Callable[[], None]) -> tuple[bytes, ...]: ...
def table_descend(
    table: _Table, tree: _Shape, price: float, state: int, steps: int, polished: bool, watch: Callable[[], None]
) -> tuple[tuple[bytes, ...], int, int]: ...
def table_prune(
    table: _Table, tree: _Shape, errors: NDArray[np.float64], watch: Callable[[], None]
) -> tuple[bytes, bytes]: ...
def split_bits(
    bits: NDArray[np.uint8],
    codes: NDArray[np.int64],
    weights: NDArray[np.float32],
    penalties: NDArray[np.float32],
    order: NDArray[np.int32],
    start: int,
    stop: int,
    horizon: int,
    old: int,
) -> tuple[int, int, int, float, float]: ...
def walk_bits(
    feature: NDArray[np.int32],
    child: NDArray[np.int32],
    code: NDArray[np.int32],
    rows: NDArray[np.uint8],
    out: NDArray[np.int64],
) -> None: ...
def walk_nested(tree: object, rows: NDArray[np.generic], out: NDArray[np.int64]) -> None: ...
def changes(
    planes: NDArray[np.uint64], octets: NDArray[np.float64], places: NDArray[np.float64], out: NDArray[np.float64]
) -> None: ...
def min_plus(
    best: NDArray[np.float64],
    one: NDArray[np.float64],
    two: NDArray[np.float64],
    share: NDArray[np.int64] | None,
    slack: float,
) -> None: ...
def count_pairs(planes: NDArray[np.uint64], counts: NDArray[np.int32], first: int, last: int) -> None: ...
