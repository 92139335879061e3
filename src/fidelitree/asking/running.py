"""How a run reaches its target: in which portions, on which workers, how patiently, and where answers are kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from fidelitree.errors import ParameterError, check_count, check_number, check_path, show

Workers = Executor | Callable[[], Executor]


@dataclass(frozen=True)
class Running:
    """None of this changes a tree, a bound or the number of queries.

    ``batch_size`` is the most inputs that one call of the target receives. ``executor`` runs calls elsewhere: any
    `concurrent.futures.Executor`, or a function without arguments that makes one, which is called again when a pool
    breaks. ``timeout`` is the longest silence of the workers in seconds, ``retries`` how often a call that failed is
    made again, and ``journal`` the file that keeps every answer.
    """

    batch_size: int | None = None
    executor: Workers | None = None
    timeout: float | None = None
    retries: int = 0
    journal: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        if self.batch_size is not None:
            object.__setattr__(self, "batch_size", check_count("batch_size", self.batch_size))
        object.__setattr__(self, "retries", check_count("retries", self.retries, least=0))
        if not (self.executor is None or isinstance(self.executor, Executor) or callable(self.executor)):
            raise ParameterError(
                f"executor must be a concurrent.futures.Executor, or a function making one; got {show(self.executor)}"
            )
        if self.journal is not None:
            object.__setattr__(self, "journal", check_path("journal", self.journal))
        if self.timeout is not None:
            object.__setattr__(self, "timeout", self._check_timeout(self.timeout))

    def told(self) -> dict[str, Any]:
        """What can be written down of it."""
        journal = None if self.journal is None else str(self.journal)
        return {"batch_size": self.batch_size, "timeout": self.timeout, "retries": self.retries, "journal": journal}

    def _check_timeout(self, timeout: float) -> float:
        seconds = check_number("timeout", timeout)
        if seconds <= 0:
            raise ParameterError(f"timeout must be above 0 seconds; got {show(timeout)}")
        if self.executor is None or isinstance(self.executor, ThreadPoolExecutor):
            raise ParameterError(
                "timeout must be None where the target runs in this process, which cannot end a call that hangs: give "
                "an executor of processes too (a command has a timeout of its own)"
            )
        return seconds
