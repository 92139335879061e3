"""What the command line chose; everything else is fixed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

EPSILON, DELTA = 0.1, 0.05


@dataclass(frozen=True)
class Settings:
    """Sizes of a run. ``seconds`` ends a single run of ours that takes longer: it then counts as not certified."""

    seed: int = 0
    targets: int = 30
    slow_targets: int = 10
    solver_targets: int = 8
    runs: int = 500
    seconds: float = 60.0
    processes: int = os.cpu_count() or 1
    smoke: bool = False
    write: bool = False
    kept: Path | None = None

    def seed_of(self, number: int) -> int:
        """The seed of one run of ours."""
        return 1_000_003 * self.seed + number
