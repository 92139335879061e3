"""A target that misbehaves in every way a run can meet, around a rule that is right: the faulty VFS of SQLite.

The rule looks at the batch first, so a hostile target stands for the same function as its well-behaved twin.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pathlib import Path

Labels = NDArray[Any]
Misdeed = Callable[["HostileTarget", Any, Labels], Any]


class Panic(BaseException):
    """What some compiled libraries raise: no `Exception`."""


class UnspeakableError(Exception):
    """An error whose text cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class HostileTarget:
    """Answers by ``rule``, and misbehaves as ``mode`` says, on call ``first`` and those after it.

    With ``once`` it does so a single time: whoever makes that file first.
    """

    def __init__(self, rule: Callable[[Any], Any], mode: str, first: int = 1, once: Path | None = None) -> None:
        self.rule, self.mode, self.first, self.once = rule, mode, first, once
        self.calls = 0
        self.buffers: dict[tuple[int, str], Labels] = {}  # each thread has its own, or no answer would be safe

    def __call__(self, batch: Any) -> Any:
        self.calls += 1
        labels = np.array(self.rule(batch))
        if self.calls < self.first or not self._has_turn():
            return labels
        return MODES[self.mode](self, batch, labels)

    def _has_turn(self) -> bool:
        if self.once is None:
            return True
        try:
            self.once.touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def buffer(self, labels: Labels) -> Labels:
        """A buffer of this thread that is used again and again; what it held is gone."""
        key = threading.get_ident(), labels.dtype.str
        found = self.buffers.get(key)
        if found is None or len(found) < len(labels):
            found = self.buffers[key] = np.empty(1 << max(4, len(labels).bit_length()), labels.dtype)
        found[:] = labels[0]
        return found


def columns(batch: Any) -> list[Labels]:
    """The columns of a batch that can be written to in place, whatever it is."""
    if isinstance(batch, np.ndarray):
        return list(batch.T)
    if isinstance(batch, dict):
        return list(batch.values())
    if hasattr(batch, "iloc"):
        return [batch[name].array for name in batch.columns]
    return [np.asarray(batch[name]) for name in getattr(batch, "column_names", batch.columns)]


def scribble(target: HostileTarget, batch: Any, labels: Labels) -> Any:
    """Write one input over all others, and take the table apart."""
    for column in columns(batch):
        with suppress(ValueError, TypeError):  # memory that cannot be written to
            column[:] = column[0]
    if isinstance(batch, dict):
        batch.clear()
    elif hasattr(batch, "drop_in_place"):
        batch.drop_in_place(batch.columns[0])
    elif hasattr(batch, "iloc"):
        for name in list(batch.columns):
            del batch[name]
    return labels


def swap(target: HostileTarget, batch: Any, labels: Labels) -> Any:
    """Exchange the first two columns that can be exchanged, in place."""
    found = columns(batch)
    for one, two in itertools.pairwise(found):
        with suppress(ValueError, TypeError):
            kept = one.copy()
            one[:] = two
            two[:] = kept
            break
    return labels


def view_of_batch(target: HostileTarget, batch: Any, labels: Labels) -> Any:
    """Use the batch itself for the answers, where a column can hold them."""
    for column in reversed(columns(batch)):
        with suppress(ValueError, TypeError):
            column[:] = labels
            held = np.asarray(column)  # truth values are another kind of label than the numbers 0 and 1
            if held.tolist() == labels.tolist() and (held.dtype == bool) == (labels.dtype == bool):
                return column
    return labels


def same_buffer(target: HostileTarget, batch: Any, labels: Labels) -> Any:
    """Answer with a view of a buffer that the next call writes over."""
    buffer = target.buffer(labels)
    buffer[: len(labels)] = labels
    return buffer[: len(labels)]


def strided(target: HostileTarget, batch: Any, labels: Labels) -> Any:
    """Answer with every second place of a buffer, from its end."""
    buffer = target.buffer(np.repeat(labels, 2))[: 2 * len(labels)][::-2]
    buffer[:] = labels
    return buffer


def in_turns(kinds: list[Callable[[Labels], Any]]) -> Misdeed:
    def answer(target: HostileTarget, batch: Any, labels: Labels) -> Any:
        return kinds[target.calls % len(kinds)](labels)

    return answer


def hang(target: HostileTarget, batch: Any, labels: Labels) -> Any:
    time.sleep(3600)


def die(target: HostileTarget, batch: Any, labels: Labels) -> Any:
    os._exit(0)


def quit_process(target: HostileTarget, batch: Any, labels: Labels) -> Any:
    sys.exit(0)


def raising(error: type[BaseException]) -> Misdeed:
    def answer(target: HostileTarget, batch: Any, labels: Labels) -> Any:
        raise error

    return answer


HARMLESS: dict[str, Misdeed] = {
    "scribbles": scribble,
    "swaps columns": swap,
    "returns a view of its batch": view_of_batch,
    "re-uses its buffer": same_buffer,
    "returns views of one buffer": strided,
    "answers with odd types": in_turns([np.ndarray.tolist, lambda found: found.astype(object), tuple, np.ma.array]),
}
"""What must change nothing."""
FAULTY: dict[str, Misdeed] = {
    "raises": raising(ConnectionError),
    "raises without words": raising(UnspeakableError),
    "raises what is no exception": raising(Panic),
    "wants to end the process": quit_process,
}
"""What another try may mend."""
WRONG: dict[str, Misdeed] = {
    "answers too few": lambda target, batch, labels: labels[1:],
    "answers too many": lambda target, batch, labels: np.append(labels, labels),
    "floods with numbers": lambda target, batch, labels: np.broadcast_to(np.int64(1), 10**12),
    "floods with a range": lambda target, batch, labels: range(10**12),
    "floods with text": lambda target, batch, labels: ["x" * 10**7] + [str(label) for label in labels[1:]],
    "answers a scalar": lambda target, batch, labels: 1,
    "answers nothing": lambda target, batch, labels: None,
    "answers its batch": lambda target, batch, labels: batch,
    "answers complex numbers": lambda target, batch, labels: np.ones(len(labels), complex),
    "answers probabilities": lambda target, batch, labels: np.full(len(labels), 0.5),
    "answers bytes": lambda target, batch, labels: [b"a"] * len(labels),
    "answers NULs": lambda target, batch, labels: ["a\0"] * len(labels),
    "answers two kinds": lambda target, batch, labels: [1, "a"] * len(labels),
    "answers dates": lambda target, batch, labels: np.full(len(labels), "2020-01-01", "datetime64[D]"),
    "answers records": lambda target, batch, labels: np.zeros(len(labels), [("a", int)]),
}
"""What is no answer, and stays none."""
DEADLY: dict[str, Misdeed] = {"hangs": hang, "dies": die}
"""What takes a process of its own."""
MODES = {**HARMLESS, **FAULTY, **WRONG, **DEADLY}
