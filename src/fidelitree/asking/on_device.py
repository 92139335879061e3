"""Asking a model on the device that it runs on: inputs are made there, and their labels stay there.

It is the way to the target for runs that only count. Labels are codes on the device, and nothing reads an input after
the model has seen it. What a run must write down, remember, spread or retry goes the usual way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.call import MOST_BYTES, Direct
from fidelitree.asking.guarded import failed
from fidelitree.errors import FidelitreeError, need
from fidelitree.targets.models.torch import TorchModel

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted

Tensor = Any


@dataclass(frozen=True)
class OnDevice:
    """A counted target that takes tensors."""

    counted: Counted
    model: TorchModel

    @classmethod
    def of(cls, counted: Counted, any_features: bool = False) -> OnDevice | None:
        """None where the target is no such model, the space has more than bits, or the usual way must be gone."""
        model, plain = counted.target, isinstance(counted.calls, Direct) and counted.calls.plain
        if not isinstance(model, TorchModel) or not model.counts_there or counted.book.numbers:
            return None
        possible = any_features or counted.space.all_bits
        return cls(counted, model) if plain and counted.memory is None and possible else None

    @property
    def rows(self) -> int:
        """Inputs of one call."""
        return self.model.rows(len(self.counted.space))

    def short_of(self, rows: int) -> bool:
        """Whether the budget may end before so many labels."""
        return self.counted.left is not None and self.counted.left < rows

    def ask(self, inputs: Tensor, purpose: str) -> Tensor:
        """Label codes of inputs; the model may do with them what it likes."""
        if self.counted.budget.max_seconds is not None:  # the clock is to see what was done, not what is waiting
            self.model.wait()
        self.counted.ask_elsewhere(len(inputs), purpose)
        repeats = self.counted.repeats
        places = list(repeats.places(len(inputs))) if repeats is not None else []
        kept = inputs[places].clone() if places else []
        codes = self._codes(inputs)
        if repeats is not None:
            repeats.keep(list(zip(kept, codes[places].clone() if places else [], strict=True)))
            self._check(repeats.due_now(self.counted.room))
        return codes

    def _codes(self, inputs: Tensor) -> Tensor:
        try:
            return self.model.codes(inputs)
        except (KeyboardInterrupt, FidelitreeError):
            raise
        except BaseException as error:
            raise failed(error, len(inputs)) from error

    def _check(self, again: list[tuple[Tensor, Tensor]]) -> None:
        """TargetError if inputs that are asked again have other codes now."""
        if not again:
            return
        rows, codes = map(list, zip(*again, strict=True))
        self.counted.check_elsewhere(len(rows))
        library = need("torch", "torch", "models on a device")
        first, second = library.stack(codes).tolist(), self._codes(library.stack(rows).clone()).tolist()
        odd = [place for place, code in enumerate(first) if code != second[place]]
        if odd:
            place, whole = odd[0], self.counted.space.all_bits
            row = np.array(rows[place].tolist(), np.uint8) if whole else f"{rows[place].tolist()} on the device"
            answers = self._told(first[place]), self._told(second[place])
            share = f" ({len(odd):,} of {len(rows):,} inputs that were asked again had another answer)"
            raise self.counted.equality.contradiction(row, answers, share)

    def _told(self, code: int) -> Any:
        """The label of a code in a message; what is none is refused where it is counted."""
        return self.model.label(code) if 0 <= code < self.model.width else "no label"

    def by_label(self, tally: Tensor) -> tuple[NDArray[np.int64], list[Any]]:
        """Counts that came back, rows by labels that occurred, and these labels; the last number counts no labels."""
        *found, bad = tally.tolist()
        if bad:
            raise self.model.refused(bad)
        counts = np.array(found, np.int64).reshape(-1, self.model.width)
        seen = np.flatnonzero(counts.any(axis=0)).tolist()
        labels = [self.model.label(code) for code in seen]
        if labels:
            self.counted.book.encode(np.array(labels))
        return counts[:, seen], labels

    def by_code(self, tally: Tensor) -> NDArray[np.int64]:
        """The same, rows by the codes of all labels of the run."""
        (counts, labels), book = self.by_label(tally), self.counted.book
        found = np.zeros((len(counts), len(book.seen)), np.int64)
        if labels:
            found[:, book.encode(np.array(labels)).astype(np.intp)] = counts
        return found


def windows(block: int, rows: int, size: int, most: int) -> Iterator[tuple[range, int]]:
    """Rows from a block on: blocks that are asked together, and how many rows of each; the last may be shorter."""
    full, rest = divmod(rows, size)
    step = max(1, most // size)
    for start in range(0, full, step):
        yield range(block + start, block + min(full, start + step)), size
    if rest:
        yield range(block + full, block + full + 1), rest


def rows_at_once(features: int) -> int:
    """Inputs that are drawn together: a number of one takes eight bytes, and is worked out from a dozen others."""
    return max(1, MOST_BYTES // (8 * features))
