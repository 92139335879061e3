"""A run in a process of its own, to be killed: python slowrun.py JOURNAL LOG [SECONDS A CALL] [EPSILON] [PROCESSES].

The target notes in LOG how many inputs each call received, before it answers. The result goes to standard output.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import fidelitree as ft

SPACE = ft.ProductSpace.bernoulli(16)


class Slow:
    """A tree of 16 leaves that takes its time."""

    def __init__(self, log: str, seconds: float) -> None:
        self.log, self.seconds = log, seconds
        self.tree = ft.targets.balanced(SPACE, 4, 1)

    def __call__(self, batch: Any) -> Any:
        with open(self.log, "a", encoding="ascii") as log:  # noqa: PTH123 - one write, which is atomic
            log.write(f"{len(batch)} {os.getpid()}\n")
        time.sleep(self.seconds)
        return self.tree.predict(batch)


def result(journal: str | None, log: str, seconds: float = 0.0, epsilon: float = 0.05, jobs: int = 0) -> str:
    """Everything that must not depend on kills and workers, as text; the smaller epsilon is, the more calls."""
    executor = partial(ProcessPoolExecutor, jobs) if jobs else None
    target = Slow(log, seconds)
    found = ft.distill(target, SPACE, epsilon, seed=1, journal=journal, executor=executor, batch_size=8)
    return f"{found.tree.digest}\n{found.certificate}\n{found.queries}\n{found.queries.paid}\n{found.reason}\n"


if __name__ == "__main__":
    rest = [float(word) for word in sys.argv[3:]]
    sys.stdout.write(result(sys.argv[1], sys.argv[2], *rest[:2], *map(int, rest[2:3])))
