"""Having inputs answered, part by part: the contract, and the plain way, in this process."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.guarded import CallFailedError, GuardedTarget, Inner, keep_freed_memory
from fidelitree.asking.limits import Pace
from fidelitree.errors import ParameterError, show

if TYPE_CHECKING:
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.targets.labels import LabelBook, Target

Part = tuple[int, NDArray[Any]]
"""The place of the first input in its batch, and the labels from there on."""
NOTHING_YET: Part = 0, np.empty(0)
"""A part of no labels: whoever waits may look at the clock."""

MOST_ROWS = 1 << 16
MOST_BYTES = 1 << 25
"""Rows and bytes of inputs that one call receives at most, so that memory does not grow with a batch."""
_SHOWN = 80  # characters of a target that is none
FIRST_WAIT, LONGEST_WAIT = 0.1, 30.0  # seconds between a failure and the next try, which double


class Calls(Protocol):
    """A way to the target."""

    def parts(self, inner: Inner, purpose: str) -> Iterator[Part]:
        """Labels of all inputs, each part as soon as it is there, in any order; one of no labels while none is there.

        It may be a generator that, once an interrupt is thrown into it, gives what is on its way still.
        """


def on_their_way(parts: Iterator[Part], stop: KeyboardInterrupt) -> Iterator[Part]:
    """What a way to the target has still to give when a run is interrupted: answers that are paid for."""
    if not isinstance(parts, Generator):
        return
    try:
        part = parts.throw(stop)
        while True:
            yield part
            part = next(parts)
    except (KeyboardInterrupt, StopIteration):
        return


def pieces(inner: Inner, batch_size: int | None) -> Iterator[tuple[int, Inner]]:
    """Inputs cut into calls; where they are cut changes nothing but the number of calls."""
    rows = at_most(inner, batch_size)
    for start in range(0, len(inner), rows):
        yield start, inner[start : start + rows]


def at_most(inner: Inner, batch_size: int | None) -> int:
    """Inputs that one call may receive."""
    bytes_each = max(1, inner.shape[1] * inner.itemsize)
    return max(1, min(batch_size or MOST_ROWS, MOST_ROWS, int(MOST_BYTES // bytes_each)))


def wait_before(attempt: int) -> None:
    """Back off: a target that is overloaded needs time, and more of it every time."""
    time.sleep(min(LONGEST_WAIT, FIRST_WAIT * 2**attempt))


def _in_short(value: object) -> str:
    """An object on one line, of which a fitted model may fill pages."""
    text = " ".join(show(value, 4 * _SHOWN).split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


class Direct:
    """Calls the target here and now; a call that raises is made again up to ``retries`` times.

    Where time is limited, calls are as long as its pace allows, so that the clock can be looked at in between.
    """

    def __init__(
        self,
        target: Target,
        space: ProductSpace,
        book: LabelBook,
        batch_size: int | None = None,
        retries: int = 0,
        max_seconds: float | None = None,
    ) -> None:
        if not callable(target):
            raise ParameterError(
                f"target must be callable: a batch of inputs in, labels out; got {_in_short(target)}"
                f"{' - pass model.predict' if callable(getattr(target, 'predict', None)) else ''}"
            )
        keep_freed_memory()
        self._target, self._book = GuardedTarget(target, space, book.numbers), book
        self._batch_size, self._retries, self._pace = batch_size, retries, Pace(max_seconds)
        self.plain = not (batch_size or retries)
        """Whether nothing was said about calls."""

    def parts(self, inner: Inner, purpose: str) -> Iterator[Part]:
        start, most = 0, at_most(inner, self._batch_size)
        while start < len(inner):
            rows = inner[start : start + min(most, self._pace.rows)]
            began = time.perf_counter()
            for attempt in range(self._retries + 1):
                try:
                    labels = self._book.one_kind(self._target(rows))
                    break
                except CallFailedError:
                    if attempt == self._retries:
                        raise
                    wait_before(attempt)
            self._pace.took(len(rows), time.perf_counter() - began)
            yield start, labels
            start += len(rows)

    def close(self) -> None:
        """Nothing was opened."""

    def spend(self, inner: Inner, purpose: str) -> Iterator[Part]:
        """The same for inputs that nobody reads again, which spares the copies where one call takes them all.

        Labels must be read before the next call of the target.
        """
        if self._retries or len(inner) > min(at_most(inner, self._batch_size), self._pace.rows):
            yield from self.parts(inner, purpose)
        else:
            yield 0, self._book.one_kind(self._target(inner, spare=True))
