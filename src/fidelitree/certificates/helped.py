"""Attempts that a surrogate helps: fewer tests for the same bound (`theory.control` has the argument).

The surrogate is fitted to answers that taught, so it is fixed before the attempt is opened. How often it disagrees with
the attempt's tree is drawn after that, from a stream of its own and without a label, or summed up where all inputs can
be listed. A certificate names the surrogate and tells what was counted; a folder keeps it, so that `verify` can draw
the same inputs again and work out the same bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.journal.ledger import TEST, LedgerEntry
from fidelitree.asking.limits import Watch, go_on
from fidelitree.certificates.attempts import Attempt
from fidelitree.errors import check_stored, is_json, json_kinds
from fidelitree.spaces.draw import Stream, block_rows
from fidelitree.theory.control import Disagreement, Signed, helped_bound, log_helped

if TYPE_CHECKING:
    from fidelitree.spaces.world import World
    from fidelitree.trees.ensemble import Ensemble
    from fidelitree.trees.tree import Tree

_BLOCK = 1 << 13  # free inputs that are drawn at a time, fewer where features are very many
_BLOCKS, _WORK = 16, 14_400  # such blocks, and blocks x trees of the surrogate, at most
_LISTED = 1 << 16  # inputs of a space that are listed instead


@dataclass(frozen=True)
class Help:
    """What a surrogate added to the counts of a certificate.

    ``differs`` is the share of ``draws`` on which it and the tree disagree, of all inputs where ``draws`` is None.
    ``first`` is the number of the first attempt that these inputs were drawn for. Of the counted answers, the tree
    disagreed with ``more`` but not with the surrogate, and with the surrogate but not with ``fewer``.
    """

    digest: str
    differs: float
    draws: int | None
    first: int
    more: int
    fewer: int

    def bound(self, errors: int, samples: int, level: float) -> float:
        """The bound that follows."""
        disagreement = Disagreement(self.differs, self.draws)
        return helped_bound(Signed(errors, samples, self.more, self.fewer), disagreement, level)

    @classmethod
    def from_dict(cls, data: Any, errors: int, samples: int) -> Help:
        """The inverse of ``asdict``; FormatError where numbers are not what they can be."""
        every = json_kinds(cls)
        known = isinstance(data, dict) and set(data) == set(every)
        check_stored("certificate", known, f"help must hold {', '.join(every)}; got {data!r:.80}")
        for name, kinds in every.items():
            check_stored("certificate", is_json(data[name], kinds), f"{name} of help is {data[name]!r:.80}")
        found = cls(**data)
        counts = 0 <= found.more <= errors and 0 <= found.fewer <= samples - errors
        drawn = 0 <= found.differs <= 1 and found.first >= 1 and (found.draws is None or found.draws >= 1)
        check_stored("certificate", counts and drawn, "the counts of help do not fit its errors and samples")
        return found


class Adviser:
    """A surrogate that is asked about each batch once, however many attempts count it."""

    def __init__(self, surrogate: Ensemble) -> None:
        self.surrogate = surrogate
        self._batch: NDArray[Any] | None = None
        self._said: NDArray[Any] = np.empty(0)

    def of(self, batch: NDArray[Any]) -> NDArray[Any]:
        """Its labels."""
        if batch is not self._batch:
            self._batch, self._said = batch, self.surrogate.predict_inner(batch)
        return self._said


class HelpedAttempt(Attempt):
    """An attempt for a tree beside a surrogate; until their disagreement is known, one like any other."""

    def __init__(self, tree: Tree, delta: float, entry: LedgerEntry, adviser: Adviser) -> None:
        super().__init__(tree, delta, entry)
        self._adviser, self.surrogate = adviser, adviser.surrogate
        self.disagreement: Disagreement | None = None
        self.first = entry.number
        self._more = self._fewer = 0
        self._then = 0, 0

    def know(self, disagreement: Disagreement, first: int) -> None:
        """How often tree and surrogate disagree, drawn for the attempts from the ``first`` on; bounds change by it."""
        self.disagreement, self.first, self._looked = disagreement, first, (0, 0)

    def see(self, batch: NDArray[Any], labels: NDArray[Any], stream: str = TEST) -> NDArray[np.bool_]:
        """Count answers, and on which of them tree and surrogate do not err together."""
        counted = self.samples
        wrong = super().see(batch, labels, stream)
        new = self.samples - counted
        if new:
            apart = self.tree.predict_inner(batch) != self._adviser.of(batch)
            self._more += int(np.count_nonzero((wrong & ~apart)[-new:]))
            self._fewer += int(np.count_nonzero((apart & ~wrong)[-new:]))
        return wrong

    @property
    def rate(self) -> float:
        """The error as it looks now: what tree and surrogate disagree on, and what the answers add to that."""
        if self.disagreement is None or not self.samples:
            return super().rate
        return max(0.0, self.disagreement.differs + (self._more - self._fewer) / self.samples)

    @property
    def help(self) -> Help | None:
        """What the bound owes to the surrogate."""
        if self.disagreement is None:
            return None
        more, fewer = self._then if self.error_bound < 1 else (self._more, self._fewer)
        return Help(self.surrogate.digest, self.disagreement.differs, self.disagreement.draws, self.first, more, fewer)

    def certifies(self, epsilon: float) -> bool:
        """Whether an error of at most epsilon is certified, now or at some time when this was asked before."""
        if self.disagreement is None:
            return super().certifies(epsilon)
        if self.certified > epsilon and self._accepts(epsilon):
            self._record(min(epsilon, self._bound()))
        return self.certified <= epsilon

    def _bound(self) -> float:
        if self.disagreement is None:
            return super()._bound()
        return helped_bound(self._signed, self.disagreement, self.level)

    def _accepts(self, epsilon: float) -> bool:
        if self.disagreement is None:
            return super()._accepts(epsilon)
        own = self.disagreement.levels(self.level)[1]
        return log_helped(self._signed, self.disagreement.at_most(self.level), epsilon) >= -math.log(own)

    def _record(self, bound: float) -> None:
        if bound < self.certified:
            self._then = self._more, self._fewer
        super()._record(bound)

    @property
    def _signed(self) -> Signed:
        return Signed(self.errors, self.samples, self._more, self._fewer)


def compare(attempts: Sequence[HelpedAttempt], world: World, seed: int, watch: Watch = go_on) -> None:
    """Let attempts that were opened together, for one surrogate, know how often their trees disagree with it."""
    first = min(attempt.number for attempt in attempts)
    found = disagreements([one.tree for one in attempts], attempts[0].surrogate, world, (seed, first), watch)
    for attempt, disagreement in zip(attempts, found, strict=True):
        attempt.know(disagreement, first)


def disagreements(
    trees: Sequence[Tree], surrogate: Ensemble, world: World, key: tuple[int, int], watch: Watch = go_on
) -> list[Disagreement]:
    """How often each tree disagrees with the surrogate; ``key`` are the seed and the number of the first attempt."""
    space = world.independent
    if space is not None and space.points is not None and space.points <= _LISTED:
        inner = space.whole.inputs(0, space.points)
        chances, said = space.chances(inner), surrogate.predict_inner(inner)
        shares = (float(chances[tree.predict_inner(inner) != said].sum()) for tree in trees)
        return [Disagreement(min(1.0, share)) for share in shares]
    seed, first = key
    stream, counts = Stream.named(seed, "disagree").child(surrogate.digest, first), np.zeros(len(trees), np.intp)
    blocks, rows = max(2, min(_BLOCKS, _WORK // len(surrogate.values))), min(_BLOCK, block_rows(len(world.product)))
    for block in range(blocks):
        watch()
        inner = world.inputs(stream, block, rows)
        said = surrogate.predict_inner(inner)
        counts += [int(np.count_nonzero(tree.predict_inner(inner) != said)) for tree in trees]
    return [Disagreement(int(count) / (blocks * rows), blocks * rows) for count in counts]
