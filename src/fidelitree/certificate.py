"""Certificates: what is promised about a tree, to whom, and on which evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass

ASSUMES_DETERMINISTIC = "the target is deterministic"
ASSUMES_DISTRIBUTION = "inputs follow the stated product distribution"


@dataclass(frozen=True)
class Certificate:
    """With probability at least 1 - delta, the tree's error is at most ``error_bound``.

    ``method`` is ``exact`` (every input was counted, delta is 0) or ``fixed`` (a set of test inputs whose size
    was fixed beforehand and which neither growth nor labels saw). ``split_quality`` says whether every split is
    also promised to be within a factor 1/4 of the best one, with probability 1 - delta.
    """

    epsilon: float
    delta: float
    error_bound: float
    samples: int
    errors: int | None
    method: str
    tree_digest: str
    space_digest: str
    seed: int | None = None
    split_quality: bool = False
    assumes: tuple[str, ...] = (ASSUMES_DETERMINISTIC, ASSUMES_DISTRIBUTION)

    @property
    def holds(self) -> bool:
        """Whether the error asked for was certified."""
        return self.error_bound <= self.epsilon

    def __str__(self) -> str:
        asked = f"an error of {self.epsilon:.4g} was asked for"
        verdict = f"({asked})" if self.holds else f"({asked} and is NOT certified)"
        if self.method == "exact":
            claim = f"This tree disagrees with the target on exactly {_up(self.error_bound)} of all inputs"
        else:
            claim = (
                f"With confidence {1 - self.delta:.4g}, this tree disagrees with the target on at most "
                f"{_up(self.error_bound)} of inputs"
            )
        basis = "" if self.method == "exact" else f", by {self.errors:,} errors among {self.samples:,} test inputs"
        return f"{claim} {verdict}{basis}, provided that {' and '.join(self.assumes)}."


def _up(share: float) -> str:
    """Four digits, never rounded in the tree's favour."""
    if share <= 0:
        return "0"
    step = 10.0 ** (math.floor(math.log10(share)) - 3)
    return f"{min(1.0, math.ceil(share / step - 1e-9) * step):.4g}"
