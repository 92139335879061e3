"""What a run holds in memory, told before it starts: one that cannot fit is refused while it has cost nothing.

Everything but the answers is bounded by blocks, whatever epsilon and the number of features are. A learner keeps the
answers that it has seen, so what it needs at least is known from the answers that a certificate takes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import accumulate
from operator import truediv
from pathlib import Path

from fidelitree.errors import ParameterError

BASE_BYTES = 100 << 20
"""Libraries, blocks of inputs, and answers that are kept for the report."""
REMEMBERED_BYTES = 256 << 20
"""Of answers that spare a repeated question."""
LABELLED_BYTES = 2 << 30
"""Of inputs from which a tree over any features is learnt."""
_GROUPS = Path("/proc/self/cgroup")
_MOUNTED = Path("/sys/fs/cgroup")
_ENTRY_BYTES = 150  # of an input in a dictionary, besides the input itself


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
