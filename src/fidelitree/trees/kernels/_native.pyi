import numpy as np
from numpy.typing import NDArray

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
    by_columns: bool,
    depth: int,
) -> None: ...
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
def changes(
    planes: NDArray[np.uint64], octets: NDArray[np.float64], places: NDArray[np.float64], out: NDArray[np.float64]
) -> None: ...
