"""The answers to all inputs of a finite region."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.counted import Counted
from fidelitree.spaces.draw import block_rows
from fidelitree.spaces.region import Region
from fidelitree.targets.table import TruthTable, enumerate_inputs


def tabulate(target: Counted, region: Region, purpose: str = "enumerate") -> NDArray[np.integer[Any]]:
    """Label codes of every input of a finite region, asked in blocks."""
    points = region.points
    assert points is not None, "only finite regions are tabulated"
    rows = block_rows(len(region.space))
    if isinstance(target.target, TruthTable) and not region.restrictions and not target.memory:
        return target.ask_known(target.target.labels, purpose)
    codes: NDArray[np.integer[Any]] = np.empty(points, np.uint8)
    for start in range(0, points, rows):
        stop = min(start + rows, points)
        answers = target.complete(enumerate_inputs(region, start, stop), purpose)
        if answers.max() > np.iinfo(codes.dtype).max:
            codes = codes.astype(np.uint32)
        codes[start:stop] = answers
    return codes
