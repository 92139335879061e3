"""Targets that wait for an answer from elsewhere: how fast they may be asked, and what that costs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from fidelitree.errors import ParameterError, check_count, check_number, check_switch, show
from fidelitree.targets.models.model import ModelColumns

_TOGETHER = 8  # inputs that a call is taken to receive, where nothing says how many
_PARTS = 20  # calls a second that a limit on inputs is spread over

_ANY = 1 << 53  # labels that nobody can buy


@dataclass(frozen=True, kw_only=True)
class Terms:
    """On which terms a target may be asked.

    ``concurrency`` is how many calls wait for their answers at a time. In the long run no more than ``rows_per_second``
    inputs and ``calls_per_minute`` calls are sent. Up to a second in which nothing could be sent is made up for, but no
    second has more than 1.05 times ``rows_per_second``, at the time they are sent. ``one_row`` says that a call takes
    one input. ``cost_per_row`` and ``cost_per_call`` are in whatever currency ``max_cost`` is.
    """

    concurrency: int = 16
    rows_per_second: float | None = None
    calls_per_minute: float | None = None
    cost_per_row: float = 0.0
    cost_per_call: float = 0.0
    one_row: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "concurrency", check_count("concurrency", self.concurrency))
        check_switch("one_row", self.one_row)
        for name in ("rows_per_second", "calls_per_minute", "cost_per_row", "cost_per_call"):
            value, rate = getattr(self, name), not name.startswith("cost")
            if value is None and rate:
                continue
            number = check_number(name, value)
            if not 0 <= number < float("inf") or (rate and not number):
                raise ParameterError(f"{name} must be {'above' if rate else 'at least'} 0, and finite; got {value!r}")
            object.__setattr__(self, name, number)

    @property
    def costs(self) -> bool:
        """Whether anything has a price."""
        return self.cost_per_row > 0 or self.cost_per_call > 0

    def rows_a_call(self, rows: int, batch_size: int | None) -> int:
        """Inputs that each call of a batch receives: where calls cost nothing, as many calls as may wait at a time.

        Where inputs are limited there are more calls, so that none uses up a second.
        """
        if self.one_row:
            return 1
        return batch_size or (rows if self.cost_per_call else min(self._in_time, -(-rows // self.concurrency)))

    @property
    def _in_time(self) -> int:
        """Inputs of a call where their number is limited: small parts of a second, but for a limit on calls."""
        if self.rows_per_second is None:
            return _ANY
        calls = min(_PARTS, self.calls_per_minute / 60 if self.calls_per_minute else _PARTS)
        return max(1, int(self.rows_per_second / calls))

    def price(self, rows: int, calls: int) -> float:
        """What so many inputs in so many calls cost."""
        return self.cost_per_row * rows + self.cost_per_call * calls

    def affordable(self, cost: float, batch_size: int | None) -> int:
        """About how many labels a sum of money buys."""
        together = 1 if self.one_row else batch_size or _TOGETHER
        each = self.cost_per_row + self.cost_per_call / together
        return int(min(_ANY, cost / each)) if each else _ANY  # the least of floats may be halved to 0


class OnTerms:
    """A target with ``terms``. Attributes of any other are not asked for: a hostile one may do anything then."""

    terms: Any
    inside: Any = None
    """What it passes its batches to, if it is about another target."""


class Remote(OnTerms):
    """A function with the terms on which it may be asked: ``Remote(ask, rows_per_second=50, cost_per_row=0.002)``.

    The function may be an ``async def`` or a plain one, which then runs in threads. With ``one_row`` it receives one
    input and answers one label: a row of an array where all features are bits, else a dict of feature to value. For
    the other terms see `Terms`.

    >>> Remote(len, one_row=True, cost_per_row=0.002)
    <Remote len>
    """

    def __init__(self, function: Callable[[Any], Any], **terms: Any) -> None:
        if not callable(function):
            raise ParameterError(f"function must be callable: a batch of inputs in, labels out; got {show(function)}")
        if _has_terms(function):
            raise ParameterError(
                f"function must be one without terms of its own; got {show(function)} - give all terms once, where "
                f"that is made"
            )
        self.function, self.terms, self.columns = function, make_terms(terms), ModelColumns()
        self.inside = function
        found = getattr(function, "name", None) or getattr(function, "__qualname__", None)
        self.name = found if isinstance(found, str) else type(function).__qualname__
        self.feature_names: tuple[str, ...] | None = getattr(function, "feature_names", None)

    def close(self) -> None:
        """Close the function, where it is something that can be closed."""
        closing = getattr(self.function, "close", None)
        if callable(closing):
            closing()

    def __call__(self, batch: Any) -> Any:
        """What the function answers: labels, or what has to be awaited for them."""
        if not self.terms.one_row:
            return self.function(batch)
        answer = self.function(_row(batch))
        return _listed(answer) if inspect.isawaitable(answer) else [answer]

    def __repr__(self) -> str:
        return f"<Remote {self.name}>"


def make_terms(given: Mapping[str, Any]) -> Terms:
    """Terms from keyword arguments."""
    known = [entry.name for entry in fields(Terms)]
    if unknown := [name for name in given if name not in known]:
        raise ParameterError(f"terms of a target are {', '.join(known)}; got {', '.join(unknown)}")
    return Terms(**given)


def _has_terms(function: Any) -> bool:
    """Whether a function has a rate or a price of its own, which nobody would know of."""
    while isinstance(function, partial) or (isinstance(function, OnTerms) and function.inside is not None):
        if isinstance(function, Remote):
            return True
        function = function.func if isinstance(function, partial) else function.inside
    return isinstance(function, OnTerms)


async def _listed(answer: Any) -> list[Any]:
    return [await answer]


def _row(batch: Any) -> Any:
    """The only input of a batch."""
    if isinstance(batch, np.ndarray):
        return batch[0]
    return {name: column[:1].tolist()[0] for name, column in ModelColumns().arrays(batch).items()}


def terms_of(target: Any) -> Terms | None:
    """The terms on which a target is asked that waits for its answers; None of any other."""
    terms = target.terms if isinstance(target, OnTerms) else None
    if isinstance(terms, Terms):
        return terms
    return Terms() if is_awaited(target) else None


def is_awaited(target: Any) -> bool:
    """Whether what a target answers has to be awaited; one around a function is as that is."""
    while isinstance(target, partial):
        target = target.func
    plain = isinstance(target, FunctionType | MethodType)
    if inspect.iscoroutinefunction(target if plain else inspect.getattr_static(type(target), "__call__", None)):
        return True
    return isinstance(target, OnTerms) and target.inside is not None and is_awaited(target.inside)
