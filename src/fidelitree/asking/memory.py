"""A bounded memory of answers, so that a repeated input costs nothing; and what a whole run holds in memory.

A run that cannot fit is refused before it has cost anything. Everything but the answers is bounded by blocks, whatever
epsilon and the number of features are. A learner keeps the answers that it has seen, so what it needs at least is known
from the answers that a certificate takes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from itertools import accumulate
from operator import truediv
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import ParameterError, TargetError, check_count
from fidelitree.spaces.inputs import row_keys
from fidelitree.spaces.product import ProductSpace, check_space

if TYPE_CHECKING:
    from fidelitree.targets.labels import Codes

BASE_BYTES = 100 << 20
"""Libraries, blocks of inputs, and answers that are kept for the report."""
REMEMBERED_BYTES = 256 << 20
"""Of answers that spare a repeated question."""
LABELLED_BYTES = 2 << 30
"""Of inputs from which a tree over any features is learnt."""
_GROUPS = Path("/proc/self/cgroup")
_MOUNTED = Path("/sys/fs/cgroup")
_ENTRY_BYTES = 150  # of an input in a dictionary, besides the input itself
_MOST = 1_000_000  # inputs that are remembered
CHECKED = 16  # repeats that a run pays for all the same, to see that the target answers as before


def bytes_per_answer(features: int) -> int:
    """What a learner over bits holds for each answer: the inputs, twice while they move to a larger place, and keys."""
    return 4 * features + 3 * _ENTRY_BYTES


def inputs_within(room: int, bytes_each: int) -> int:
    """How many inputs of this width fit, their entries in a dictionary included."""
    return max(1, room // (bytes_each + _ENTRY_BYTES))


def check_fits(features: int, epsilon: float, answers: int, machine: int | None = None) -> None:
    """ParameterError where so many answers over bits take more than half the memory that the machine has."""
    needed = BASE_BYTES + answers * bytes_per_answer(features)
    allowed = (_machine_bytes() if machine is None else machine) // 2
    if needed > allowed:
        raise ParameterError(
            f"epsilon must be larger, or the features fewer, for a run to fit into memory: a certificate of "
            f"{epsilon:g} takes at least {answers:,} answers, which with {features:,} features fill "
            f"{needed / 2**30:,.1f} GB while a tree is learnt from them, and {allowed / 2**30:,.1f} GB, half of this "
            f"machine's, may be used - {1.1 * epsilon * needed / allowed:.2g} would fit"
        )


@cache
def _machine_bytes() -> int:
    """The memory of this machine, or of the container that this process is confined to; 8 GB where it does not say."""
    try:
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        machine = 8 << 30
    return min([machine, *_limits()])


def _limits() -> Iterator[int]:
    """What control groups allow: a number of bytes, or no limit, which is written in words or as an absurd number."""
    for path in _limit_files():
        with suppress(OSError, ValueError):
            if (found := int(path.read_text(encoding="ascii"))) > 0:
                yield found


def _limit_files() -> Iterator[Path]:
    """Where the groups of this process, and those that they belong to, keep their limits; version 2 has no names."""
    with suppress(OSError, ValueError):
        for line in _GROUPS.read_text(encoding="utf-8").splitlines():
            _, names, own = line.split(":", 2)
            if names in ("", "memory"):
                group, file = _MOUNTED / names, "memory.limit_in_bytes" if names else "memory.max"
                yield from (folder / file for folder in accumulate(Path(own).parts[1:], truediv, initial=group))


Compare = Callable[[NDArray[Any], int, int], None]
"""Looks at an input and the codes of two answers to it."""


def _refuse(row: NDArray[Any], first: int, second: int) -> None:
    raise TargetError(
        "the target answered an input differently the second time, so its answers cannot be remembered: "
        "pass deterministic=False, and every input is asked anew"
    )


class Recalled(NamedTuple):
    """A batch as a memory sees it: the keys of all its inputs, and the inputs that have to be asked with theirs."""

    keys: list[bytes]
    asked: list[bytes]
    rows: NDArray[Any]
    repeats: list[bytes]
    """Those of them that are remembered, and are asked once more."""

    @property
    def fresh(self) -> NDArray[Any]:
        """The inputs that are not remembered."""
        return self.rows[[key not in self.repeats for key in self.asked]] if self.repeats else self.rows


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

    @classmethod
    def usual(cls, space: ProductSpace) -> Memory:
        """The memory of a run, some of whose answers are asked for once more."""
        return cls.within(REMEMBERED_BYTES, space, CHECKED)

    def __len__(self) -> int:
        return len(self._codes)

    def recall(self, batch: NDArray[Any], checks: int | None = None) -> Recalled:
        """What has to be asked of a batch, each input once; of what is remembered, at most ``checks`` once more."""
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

    def take_back(self, recalled: Recalled) -> None:
        """A batch was not asked after all: its repeats are still to be checked."""
        self._to_check += len(recalled.repeats)
        self.checked -= len(recalled.repeats)

    def learn(self, recalled: Recalled, answers: Codes, compare: Compare = _refuse) -> Codes:
        """Codes of the whole batch, given those of what had to be asked; TargetError where a repeat differs.

        ``compare`` raises it unless two codes stand for one answer, of which the first is kept.
        """
        known = dict(zip(recalled.asked, answers.tolist(), strict=True))
        for key in recalled.repeats:
            if known[key] != self._codes[key]:
                compare(recalled.rows[recalled.asked.index(key)], self._codes[key], known[key])
                known[key] = self._codes[key]
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
