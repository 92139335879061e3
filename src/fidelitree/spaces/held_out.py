"""How well a fitted world describes rows that it has not seen, beside independent features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.spaces.draw import Stream

if TYPE_CHECKING:
    from fidelitree.spaces.bins import Codes

_HELD = 4  # one row in so many is held out
NOT_JUDGED = "too few rows to judge the fit"


@dataclass(frozen=True)
class Fit:
    """Log-likelihood per held-out row (of bins, in nats) of a world like this one, and of independent features."""

    world: float
    product: float
    rows: int

    def __str__(self) -> str:
        return f"held-out log-likelihood per row {self.world:.2f}, of independent features {self.product:.2f}"


def parted(codes: Codes) -> tuple[Codes, Codes]:
    """Rows to fit to, and rows to judge by; a column of the table in each row of the codes."""
    order = _order(codes)
    held, kept = np.split(order, [len(order) // _HELD])
    return codes[:, kept], codes[:, held]


def quarters(codes: Codes) -> list[Codes]:
    """Each row in one of four parts; some are empty where there are fewer rows."""
    return [codes[:, part] for part in np.array_split(_order(codes), _HELD)]


def _order(codes: Codes) -> NDArray[np.intp]:
    return np.argsort(Stream("held out").lane(0, 0).random_raw(codes.shape[1]), kind="stable")
