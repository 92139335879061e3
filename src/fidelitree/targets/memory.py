"""A bounded memory of answers, so that a repeated input of a deterministic target costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.checks import check_count
from fidelitree.targets.labels import Codes

Ask = Callable[[NDArray[Any]], Codes]


class Memory:
    """Remembers the codes of the last ``capacity`` different inputs."""

    def __init__(self, capacity: int = 1_000_000) -> None:
        self.capacity = check_count("capacity", capacity)
        self._codes: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._codes)

    def answer(self, batch: NDArray[Any], ask: Ask) -> Codes:
        """Codes of all rows; ``ask`` receives each input that is not remembered, once."""
        packed = np.packbits(batch, axis=1) if batch.dtype == np.uint8 else batch + 0.0  # -0.0 is 0.0
        keys = [row.tobytes() for row in packed]
        first = {key: row for row, key in reversed(list(enumerate(keys))) if key not in self._codes}
        new = sorted(first.values())
        known = dict(zip((keys[row] for row in new), ask(batch[new]).tolist(), strict=True)) if new else {}
        codes = [known[key] if key in known else self._codes[key] for key in keys]
        self._remember(known)
        return np.array(codes, np.intp)

    def _remember(self, known: dict[bytes, int]) -> None:
        self._codes.update(known)
        while len(self._codes) > self.capacity:
            del self._codes[next(iter(self._codes))]
