"""A bounded memory of answers, so that a repeated input of a deterministic target costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.needs import inputs_within
from fidelitree.errors import TargetError, check_count
from fidelitree.spaces.inputs import row_keys
from fidelitree.spaces.product import ProductSpace, check_space
from fidelitree.targets.labels import Codes

Ask = Callable[[NDArray[Any]], Codes]

_MOST = 1_000_000  # inputs that are remembered
CHECKED = 16  # repeats that a run pays for all the same, to see that the target does answer alike


@dataclass(frozen=True, eq=False)
class Recalled:
    """A batch as a memory sees it: the keys of all its inputs, and the inputs that have to be asked with theirs."""

    keys: list[bytes]
    asked: list[bytes]
    rows: NDArray[Any]
    repeats: list[bytes]
    """Those of them that are remembered, and are asked once more."""


class Memory:
    """Remembers the codes of the last ``capacity`` different inputs.

    A certificate relies on it exactly where an input comes again, so the first ``checked`` repeats may be asked once
    more: a target that contradicts itself there is not deterministic.
    """

    def __init__(self, capacity: int = _MOST, checked: int = 0) -> None:
        self.capacity = check_count("capacity", capacity)
        self._codes: dict[bytes, int] = {}
        self.checked = 0
        """Repeats that were asked again so far."""
        self._to_check = check_count("checked", checked, least=0)

    @classmethod
    def within(cls, room: int, space: ProductSpace, checked: int = 0) -> Memory:
        """A memory that takes no more than ``room`` bytes for inputs of this space, nor holds more than a million."""
        check_space(space)
        bits, features = space.all_bits, len(space)
        return cls(min(_MOST, inputs_within(room, -(-features // 8) if bits else 8 * features)), checked)

    def __len__(self) -> int:
        return len(self._codes)

    def answer(self, batch: NDArray[Any], ask: Ask, checks: int | None = None) -> Codes:
        """Codes of all rows; ``ask`` receives each input that is not remembered, once.

        Some of those that are remembered may be asked too, ``checks`` of them at most; TargetError tells of an answer
        that differs.
        """
        recalled = self.recall(batch, checks)
        return self.learn(recalled, ask(recalled.rows) if len(recalled.rows) else np.zeros(0, np.intp))

    def recall(self, batch: NDArray[Any], checks: int | None = None) -> Recalled:
        """What has to be asked of a batch."""
        keys = row_keys(batch)
        first = dict(zip(reversed(keys), reversed(range(len(keys))), strict=True))
        if len(first) == len(keys) and self._codes.keys().isdisjoint(first):  # nothing comes again, most often
            return Recalled(keys, keys, batch, [])
        most = self._to_check if checks is None else min(checks, self._to_check)
        repeats = [row for key, row in first.items() if key in self._codes][:most]
        self._to_check -= len(repeats)
        self.checked += len(repeats)
        wanted = sorted({row for key, row in first.items() if key not in self._codes} | set(repeats))
        return Recalled(keys, [keys[row] for row in wanted], batch[wanted], [keys[row] for row in repeats])

    def learn(self, recalled: Recalled, answers: Codes) -> Codes:
        """Codes of the whole batch, given those of what had to be asked."""
        known = dict(zip(recalled.asked, answers.tolist(), strict=True))
        for key in recalled.repeats:
            if known[key] != self._codes[key]:
                raise TargetError(
                    "the target answered an input differently the second time, so its answers cannot be remembered: "
                    "pass deterministic=False, and every input is asked anew"
                )
        if recalled.asked is recalled.keys:
            self._remember(known)
            return np.asarray(answers, np.intp)
        found = [known[key] if key in known else self._codes[key] for key in recalled.keys]
        self._remember(known)
        return np.array(found, np.intp)

    def missing(self, batch: NDArray[Any]) -> int:
        """How many inputs of a batch are not remembered."""
        return len(set(row_keys(batch)) - self._codes.keys())

    def _remember(self, known: dict[bytes, int]) -> None:
        self._codes.update(known)
        while len(self._codes) > self.capacity:
            del self._codes[next(iter(self._codes))]
