"""How long to learn: what is asked of a size before its tree is opened, and what ends learning for all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fidelitree.runs import economics
from fidelitree.runs.loop import Focus
from fidelitree.runs.portions import DOUBLING

if TYPE_CHECKING:
    from fidelitree.runs.economics import PairedErrors
    from fidelitree.runs.loop import Loop
    from fidelitree.runs.portions import Portions


@dataclass(frozen=True)
class Effort:
    """What a size must gain from as many answers again, how many teach at most, and how long the last search is."""

    gain: float
    """As a share of its error."""
    most: int
    """Answers."""
    steps: int
    """Proposals near each size, before its tree is opened."""


QUERIES = Effort(economics.GAIN, economics.MOST, economics.STEPS)
LEAVES = Effort(economics.GAIN, economics.FEW_LEAVES_MOST, economics.STEPS)
EFFORTS = {"queries": QUERIES, "leaves": LEAVES}


class EverySize:
    """What goals have in common whose trees of every size learn."""

    portions: Portions = DOUBLING
    refit = economics.REFIT
    compares = True
    sizes: list[int]
    """The numbers of leaves that trees are fitted for."""

    @property
    def largest(self) -> float:
        """The largest size."""
        return self.sizes[-1]

    def may_choose(self, loop: Loop[Any]) -> bool:
        """Return whether the share of a budget that is for learning is not spent yet."""
        limit = loop.counted.budget.max_queries
        return limit is None or loop.counted.asked < int(economics.LEARNING * limit)

    def wanted(self, loop: Loop[Any]) -> Sequence[int]:
        """Return all sizes."""
        return self.sizes

    def search(self, loop: Loop[Any]) -> Focus:
        """Return all sizes, once there are enough answers for a search to be worth its time."""
        return Focus(self.sizes, economics.STEPS_ON_THE_WAY if loop.known >= economics.AT_LEAST else 0)

    def testing(self, loop: Loop[Any]) -> bool:
        """Return whether an attempt is open."""
        return bool(loop.attempts.all)

    def instead(self, loop: Loop[Any]) -> None:
        """Return no other goal: this one can be reached."""


class Learning:
    """The labels that may teach, by an effort and by the budget of a run."""

    def __init__(self, effort: Effort, loop: Loop[Any]) -> None:
        self.effort, self._loop, self._budget = effort, loop, loop.counted.budget
        self.rows_end = loop.source.most < math.inf
        """Whether there are only so many rows to learn from; once trees are opened, other rows are drawn."""

    @property
    def left(self) -> int:
        """Answers that may still teach."""
        loop, limit = self._loop, self._budget.max_queries
        left = [self.effort.most - loop.known]
        if limit is not None:
            left.append(max(int(economics.LEARNING * limit), 1) - loop.counted.asked)
        if self.rows_end and not loop.attempts.all:
            left.append(int(loop.source.labels_left))
        return max(0, min(left))

    @property
    def until_fit(self) -> float:
        """Answers until the archive is fitted again, no fewer than one; the first portion is as large as it likes."""
        fitted = self._loop.archive.fitted
        return max(1.0, economics.REFIT * fitted - self._loop.known) if fitted else math.inf

    def pair(self, size: int) -> PairedErrors | None:
        """Return how fast a size learns; nothing while its leaves have few answers."""
        found = self._loop.candidates.get(size)
        if self._loop.known < max(economics.SOONEST, economics.A_LEAF * size):
            return None
        return None if found is None or found.before is None or not found.before.answers else found.before

    def enough(self, size: int) -> bool:
        """Return whether a size would gain little from as many labels again."""
        pair = self.pair(size)
        return pair is not None and pair.gain() <= self.effort.gain

    def over(self, sizes: Sequence[int]) -> str:
        """Return why these sizes have learnt enough, or can learn no more; nothing while they can."""
        if self._loop.known >= self.effort.most:
            return f"{self.effort.most:,} labels to learn from"
        if self.rows_end and not self._loop.source.labels_left:
            return f"the table's {self._loop.source.most:,.0f} rows for learning"
        if self._budget.max_queries is not None and not self.left:
            return f"max_queries = {self._budget.max_queries}"
        if all(map(self.enough, sizes)):
            return f"no size would gain {self.effort.gain:.0%} of its error from as many labels again"
        return ""
