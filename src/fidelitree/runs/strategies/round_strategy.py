"""``prefer="rounds"`` over bits: few large batches, for targets that are slow to answer and can answer much at once.

A round is a batch that must be answered before the next one is known. Walks, which take a round for each query, are
left out while a search over all features can do without them. Every batch but the first comes as the space draws it:
it tests the trees there are while it teaches the next one, so no round is spent on learning alone. It is as long as
the test of the newest tree would be if that made no mistake, or longer while trees are wrong too often for any test to
succeed. Measured (`benchmarks.rounds`), a run takes a fifth to a fourteenth of the rounds,
for 1.1 to 1.5 times the labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fidelitree.runs.strategies.bit_strategy import BY_HEART, BitStrategy
from fidelitree.search.bits.learner import SEARCH_ALL
from fidelitree.search.bits.sketch import predict
from fidelitree.search.questions import Answered, Ask, Steps, Tests
from fidelitree.trees.nested import size

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fidelitree.runs.outcome import Outcome
    from fidelitree.runs.stopping import Stopping
    from fidelitree.search.bits.explore import Weights
    from fidelitree.trees.nested import Nested

FIRST = 64  # answers of the first round
DOUBTFUL = 1.5  # epsilons: a tree that errs more often on new inputs is not worth a test of its own
GROWTH = 0.6  # of what is known is asked next, where trees are wrong too often
LEFT = 0.12  # of the last mistakes, the new tree is likely to make
SLACK = 1.1  # times the answers that a test takes without a mistake: one mistake must not cost a round
HOPELESS, PATIENCE = 0.25, 512  # mistakes on new inputs, after so many answers: walks may see what a search does not


class RoundStrategy(BitStrategy):
    """The learner over bits, told of many answers at a time."""

    _last = 0.0  # the share of the last batch that the tree before it got wrong

    def steps(self, stopping: Stopping) -> Steps[Outcome | None]:
        """What the stopping rule makes of an attempt; None once it is cheaper to ask about all inputs, or stuck."""
        batch, weights = self._explorer.take(None, self._affordable(FIRST), self.learner.pool.unknown)
        yield from self._learn((yield Ask(batch, "label")), weights)
        while not (self._cheaper_to_ask_all(stopping) or self.stuck):
            needed = stopping.needed(self._attempts) if self._attempts.all else self._attempts.at_best
            if self._attempts.all:
                self._attempts.tell(self._session.observer, self._counted.asked, needed)
            seen = yield Tests(self._affordable(self._rows(needed)))
            done = stopping.done(self._attempts) if self._attempts.all else None
            if done is not None:
                return done
            yield from self._learn(seen, np.ones(len(seen.codes)))
        return None

    def _rows(self, needed: int) -> int:
        """Answers of the next round."""
        known = self.learner.pool.size
        if self._last > DOUBTFUL * self._attempts.epsilon:
            return max(int(GROWTH * known), FIRST)
        return int(max(SLACK * needed, self._needed(min(self._last, self._attempts.epsilon) * LEFT)))

    def _affordable(self, rows: int) -> int:
        left = self._counted.left
        return rows if left is None else max(1, min(rows, left))

    def _learn(self, seen: Answered, weights: Weights) -> Steps[None]:
        """Take answers in, and put the tree to the test that they lead to, unless it is hopeless."""
        pool, before = self.learner.pool, self.learner.sketch
        new = weights[pool.unknown(seen.inner)]
        wrong: NDArray[np.bool_]
        if self._searchable:
            wrong = np.ones(len(seen.codes), np.bool_) if before is None else predict(before, seen.inner) != seen.codes
            pool.add(seen.inner, seen.codes)
            if wrong.any():
                self.learner.refit()
        else:
            wrong = yield from self.learner.learn(seen.inner, seen.codes)
        walked = np.zeros(pool.size - len(self._weights) - len(new))
        self._weights = np.concatenate([self._weights, new, walked])
        candidate, self._last = self.learner.sketch, 0.0 if before is None else float(wrong.mean())
        assert candidate is not None, "a learner that was told something has a tree"
        if candidate != self._under_test and (self._promising(candidate, before) or self._late()):
            self._test(candidate)
        self._session.stand(self._to_stand)
        self._session.judge(size(candidate), self._last, self._tested)

    def _promising(self, candidate: Nested, before: Nested | None) -> bool:
        """Whether a tree is worth a test, by how the one before it did; of the first, its size has to tell."""
        if before is None:
            return size(candidate) * BY_HEART <= self.learner.pool.size
        return self._last <= DOUBTFUL * self._attempts.epsilon

    @property
    def _searchable(self) -> bool:
        """Whether a search over all features sees what matters."""
        hopeless = self._last > HOPELESS and self.learner.pool.size >= PATIENCE
        return len(self._counted.space) <= SEARCH_ALL and not hopeless
