"""Limits of a run, the signal that one was reached, and how its target is called."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from fidelitree.errors import ParameterError, check_count, check_number, check_path, show
from fidelitree.targets.models.remote import terms_of

LEARNING = 0.7
"""Of a limited time goes into learning; the rest is kept for tests until something is certified."""
CALL = 0.05
"""Of a limited time is what one call of the target should take at most."""

_CANNOT_END = (
    "timeout must be None where the target runs in this process, which cannot end a call that hangs: give an "
    "executor of processes too (a command has a timeout of its own, and a target that is async can be ended)"
)
_STEP, _BOLD = 4, 0.25  # times as many inputs are tried next, where even so that takes no more than this of the time
_ANY = 1 << 40
Workers = Executor | Callable[[], Executor] | Literal["joblib"]
Watch = Callable[[], None]
"""What a search calls now and then: it ends the search by raising."""


def go_on() -> None:
    """The watch over a search that nobody keeps."""


class BudgetSpent(Exception):  # noqa: N818 - a signal between our own layers, never an error that users see
    """Raised before a limit would be exceeded; the run ends with what it has."""


def _now() -> float:
    return time.monotonic()  # looked up at every call, so that a test can turn the clock


class Pace:
    """How many inputs one call may receive, so that it does not outlast a part of the time: one at first.

    What a call costs whatever it receives is told apart from what each input costs by calls of different sizes.
    """

    def __init__(self, max_seconds: float | None) -> None:
        self._seconds = max_seconds or 0.0
        self.rows = 1 if max_seconds else _ANY
        self._last, self._each = (0, 0.0), float("inf")

    def took(self, rows: int, seconds: float) -> None:
        """A call of so many inputs took so long."""
        if not self._seconds:
            return
        if rows > self._last[0]:  # the first is taken to cost nothing by itself, which is the worst for larger ones
            self._each = max(1e-12, (seconds - self._last[1]) / (rows - self._last[0]))
        known = int(min(_ANY, CALL * self._seconds / self._each))
        bold = _STEP * rows if not self._last[0] and _STEP * seconds <= _BOLD * self._seconds else 1
        self.rows = max(known if not self._last[0] else min(known, _STEP * rows), bold)
        self._last = rows, seconds


Whole = TypeVar("Whole")


def check_whole(kind: type[Whole], name: str, value: object, flat: Mapping[str, Any]) -> Whole:
    """Refuse what is none of its kind, and what is given twice."""
    if not isinstance(value, kind):
        raise ParameterError(f"{name} must be a fidelitree.{kind.__name__}; got {show(value)}")
    usual = kind()
    twice = [one for one, flat_value in flat.items() if flat_value != getattr(usual, one)]
    if twice:
        raise ParameterError(f"{', '.join(twice)} must be left out where {name} is given: name them there")
    return value


@dataclass(frozen=True)
class Budget:
    """How much a run may use; None is no limit.

    Args:
        max_queries: Ends the run after so many labels, with what is certified by then.
        max_leaves: The most leaves that a tree may have.
        max_seconds: Ends the run after so many seconds, with what is certified by then.
        max_cost: Ends the run before the target's prices add up to more.
        started: When the run began, by the clock; a door sets it anew.
        clock: The machine's, unless a journal remembers another time.

    Raises:
        ParameterError: An argument breaks its rule.

    Examples:
        >>> Budget(max_queries=1_000, max_seconds=60)
        Budget(max_queries=1000, max_leaves=None, max_seconds=60, max_cost=None)
    """

    max_queries: int | None = None
    max_leaves: int | None = None
    max_seconds: float | None = None
    max_cost: float | None = None
    """In the currency of the target's prices; about as many labels as it buys are ``max_queries``."""
    started: float = field(default_factory=_now, repr=False)
    clock: Callable[[], float] = field(default=_now, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, least in (("max_queries", 0), ("max_leaves", 1)):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, check_count(name, getattr(self, name), least))
        if self.max_cost is not None and not 0 <= check_number("max_cost", self.max_cost) < math.inf:
            raise ParameterError(f"max_cost must be at least 0, and finite; got {show(self.max_cost)}")
        if self.max_seconds is not None:
            seconds = check_number("max_seconds", self.max_seconds)
            if seconds < 0:
                raise ParameterError(f"max_seconds must be at least 0; got {self.max_seconds}")
            if type(self.max_seconds) not in (int, float):  # a Decimal, or a number of NumPy
                object.__setattr__(self, "max_seconds", seconds)

    @classmethod
    def given(cls, whole: Budget | None, **flat: Any) -> Budget:
        """A door's budget: a whole one, whose time begins now, or one of the flat arguments; not both."""
        return cls(**flat) if whole is None else replace(check_whole(cls, "budget", whole, flat), started=_now())

    @property
    def limited(self) -> bool:
        """Whether somebody has said what the run may spend."""
        return self.max_queries is not None or self.max_seconds is not None or self.max_cost is not None

    def check(self, asked: int) -> None:
        """Refuse to go on once ``asked`` labels are too many or the time is over."""
        if self.max_queries is not None and asked > self.max_queries:
            raise BudgetSpent(f"max_queries = {self.max_queries}" if self.max_cost is None else self._cost_over)
        if self.max_seconds is not None and self.gone > 1:
            raise BudgetSpent(self.time_over)

    def priced(self, target: Any, batch_size: int | None) -> Budget:
        """The same with ``max_queries`` that the money will do for; without a price, a limit on money is a mistake.

        A run that is replayed has no target any more, and its limits say how many queries that were.
        """
        terms = terms_of(target)
        if self.max_cost is None or vars(type(target)).get("replays"):
            return self
        if terms is None or not terms.costs:
            raise ParameterError(
                f"max_cost must be None where nothing has a price; got {self.max_cost!r} - give the target one: "
                f"ft.targets.Remote(target, cost_per_row=...)"
            )
        queries = terms.affordable(self.max_cost, batch_size)
        if self.max_queries is not None and self.max_queries <= queries:
            return replace(self, max_cost=None)
        return replace(self, max_queries=queries)

    def check_cost(self, cost: float) -> None:
        """Refuse to go on once so much is too much."""
        if self.max_cost is not None and cost > self.max_cost * (1 + 1e-12):
            raise BudgetSpent(self._cost_over)

    @property
    def _cost_over(self) -> str:
        return f"max_cost = {self.max_cost:g}"

    @property
    def time_over(self) -> str:
        """Why a run ended that had no time left."""
        return f"max_seconds = {self.max_seconds:g}"

    @property
    def gone(self) -> float:
        """The share of the time that is over: above 1 where all is; 0 without a limit."""
        if self.max_seconds is None:
            return 0.0
        taken = self.clock() - self.started
        return taken / self.max_seconds if self.max_seconds else 2.0 * (taken > 0)

    def allows(self, leaves: int) -> bool:
        """Whether a tree may have this many leaves."""
        return self.max_leaves is None or leaves <= self.max_leaves

    def limits(self) -> dict[str, float | None]:
        """All limits by name, as a journal and a stored result keep them."""
        found = {name: getattr(self, name) for name in ("max_queries", "max_leaves", "max_seconds")}
        return found if self.max_cost is None else {**found, "max_cost": self.max_cost}


@dataclass(frozen=True)
class Running:
    """How a target is called. None of this changes a tree, a bound or the number of queries.

    A function that makes an executor is called again when its pool breaks.

    Args:
        batch_size: The most inputs that one call of the target receives.
        executor: Runs calls elsewhere: a `concurrent.futures.Executor`, a function that makes one, or "joblib".
        timeout: The longest silence of the executor's workers, in seconds.
        retries: How often a call that failed is made again.
        journal: The file that keeps every answer: the same call goes on from there, and `verify` checks by it.

    Raises:
        ParameterError: An argument breaks its rule.

    Examples:
        >>> Running(batch_size=64, retries=3).told()
        {'batch_size': 64, 'timeout': None, 'retries': 3, 'journal': None}
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
        named = self.executor is None or (isinstance(self.executor, str) and self.executor == "joblib")
        if not (named or isinstance(self.executor, Executor) or callable(self.executor)):
            raise ParameterError(
                f"executor must be a concurrent.futures.Executor, or a function making one, or 'joblib'; got "
                f"{show(self.executor)}"
            )
        if self.journal is not None:
            object.__setattr__(self, "journal", check_path("journal", self.journal))
        if self.timeout is not None:
            object.__setattr__(self, "timeout", self._check_timeout(self.timeout))

    @classmethod
    def given(cls, whole: Running | None, **flat: Any) -> Running:
        """The same for how a target is called."""
        return cls(**flat) if whole is None else check_whole(cls, "running", whole, flat)

    def told(self) -> dict[str, Any]:
        """What can be written down of it."""
        journal = None if self.journal is None else str(self.journal)
        return {"batch_size": self.batch_size, "timeout": self.timeout, "retries": self.retries, "journal": journal}

    def _check_timeout(self, timeout: float) -> float:
        seconds = check_number("timeout", timeout)
        if seconds <= 0:
            raise ParameterError(f"timeout must be above 0 seconds; got {show(timeout)}")
        if isinstance(self.executor, (ThreadPoolExecutor, str)):
            raise ParameterError(_CANNOT_END)
        return seconds

    def check_timeout(self) -> None:
        """Refuse a timeout for a target that nobody else runs."""
        if self.timeout is not None and self.executor is None:
            raise ParameterError(_CANNOT_END)


def given(
    target: Any, budget: tuple[Budget | None, Mapping[str, Any]], running: tuple[Running | None, Mapping[str, Any]]
) -> tuple[Budget, Running]:
    """What a door was given, as a whole or in flat arguments, with the prices of a target."""
    how = Running.given(running[0], **running[1])
    return Budget.given(budget[0], **budget[1]).priced(target, how.batch_size), how
