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
