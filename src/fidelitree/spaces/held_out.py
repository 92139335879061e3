"""How well a fitted world describes rows that it has not seen, beside independent features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fidelitree.spaces.draw import Stream

if TYPE_CHECKING:
    from fidelitree.spaces.bins import Codes
    from fidelitree.spaces.groups import Groups

_HELD = 4  # one row in so many is held out
MANY = 2_000
"""Rows from which on one held-out part tells enough."""
NOT_JUDGED = "too few rows to judge the fit"


@dataclass(frozen=True)
class Fit:
    """Log-likelihood per held-out row (of bins, in nats) of a world like this one, and of independent features."""

    world: float
    product: float
    rows: int

    def __str__(self) -> str:
        return f"held-out log-likelihood per row {self.world:.2f}, of independent features {self.product:.2f}"


def quarters(codes: Codes, groups: Groups | None = None) -> list[Codes]:
    """Each row in one of four parts, with all rows of its group; some are empty where there are fewer rows."""
    stream = Stream("held out")
    if groups is not None:
        return [codes[:, part] for part in groups.pieces(stream, _HELD)]
    order = np.argsort(stream.lane(0, 0).random_raw(codes.shape[1]), kind="stable")
    return [codes[:, part] for part in np.array_split(order, _HELD)]


def folds(codes: Codes, groups: Groups | None = None) -> list[tuple[Codes, Codes]]:
    """Rows to fit to, and rows to judge by: each quarter once; of many rows one is enough."""
    parts = quarters(codes, groups)
    if not all(part.shape[1] for part in parts):
        return []
    judged = parts if codes.shape[1] < MANY else parts[:1]
    return [
        (np.concatenate([part for place, part in enumerate(parts) if place != k], axis=1), held)
        for k, held in enumerate(judged)
    ]
