"""``prefer="rounds"`` over bits: few large batches, for targets that are slow to answer and can answer much at once.

A round is a batch that must be answered before the next one is known. Walks by halves, which take a round for each
query, are left out while a search over all features can do without them; else the inputs on the way are asked together.
Every batch but the first comes as the space draws it: it tests the trees there are while it teaches the next one, so no
round is spent on learning alone. How long it is follows from how often the last trees were wrong. One that is likely to
pass gets as many answers as its test is likely to take. While trees are wrong too often, batches grow up to threefold,
by what the trend of the errors says is missing; a long batch is taken in by halves, so that it shows more of the trend.
Measured (`benchmarks.rounds`), a run takes an eighth to a fiftieth of the rounds, for 1.0 to 1.5 times the labels.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.runs.strategies.bit_strategy import BY_HEART, BitStrategy
from fidelitree.search.bits.learner import SEARCH_ALL
from fidelitree.search.bits.sketch import predict
from fidelitree.search.questions import Answered, Ask, Steps, Tests
from fidelitree.trees.nested import size

if TYPE_CHECKING:
    from fidelitree.runs.outcome import Outcome
    from fidelitree.runs.stopping import Stopping
    from fidelitree.search.bits.explore import Weights
    from fidelitree.trees.nested import Nested

FIRST = 64  # answers of the first round
DOUBTFUL = 1.5  # epsilons: a tree that errs more often on new inputs is not worth a test of its own
GROWTH, LARGEST = 0.6, 2.0  # of what is known is asked next where trees are wrong too often: at least, at most
HALVED = 128  # answers that judge two trees: the one before them, and what the first half makes of it
TREND, FAR, SLOWEST = 3, 2, 0.2  # trees that show a trend, over so many times the answers; its least exponent
ENOUGH = 0.5  # epsilons: an error that a test shows soon
LEFT = 0.12  # of the last mistakes, the new tree is likely to make at least
SLACK = 1.1  # times the answers that a test takes without a mistake: one mistake must not cost a round
AMPLE, LEAST = 2, 0.25  # times the answers a test is likely to take, where that is little of what is known
HOPELESS, PATIENCE = 0.4, 512  # mistakes on new inputs, after so many answers: walks may see what a search does not


class RoundStrategy(BitStrategy):
    """The learner over bits, told of many answers at a time."""

    walk_parts = 12  # in the mean, twice the queries of walks by halves, in a third of the rounds
    _judged: tuple[tuple[int, float], ...] = ()
    """The answers that each of the last trees was made from, and the share of the next ones that it got wrong."""

    def steps(self, stopping: Stopping) -> Steps[Outcome | None]:
        """What the stopping rule makes of an attempt; None once it is cheaper to ask about all inputs, or stuck."""
        batch, weights = self._explorer.take(None, self._counted.affordable(FIRST), self.learner.pool.unknown)
        yield from self._learn((yield Ask(batch, "label")), weights)
        while not (self._cheaper_to_ask_all(stopping) or self.stuck):
            needed = stopping.needed(self._attempts) if self._attempts.all else self._attempts.at_best
            if self._attempts.all:
                self._attempts.tell(self._session.observer, self._counted.asked, needed)
            seen = yield Tests(self._counted.affordable(self._rows(needed)))
            done = stopping.done(self._attempts) if self._attempts.all else None
            if done is not None:
                return done
            yield from self._learn(seen, np.ones(len(seen.codes)))
        return None

    def _rows(self, needed: int) -> int:
        """Answers of the next round."""
        known, epsilon = self.learner.pool.size, self._attempts.epsilon
        if self._hopeless:
            return max(FIRST, int(SLACK * needed))
        expected, more = self._forecast(ENOUGH * epsilon)
        if self._last > DOUBTFUL * epsilon:
            return max(int(min(max(more, GROWTH), LARGEST) * known), FIRST)
        test = self._needed(expected)
        return int(max(SLACK * needed, min(test, GROWTH * known), min(AMPLE * test, LEAST * known)))

    @property
    def _last(self) -> float:
        """The share of the last answers that the tree before them got wrong."""
        return self._judged[-1][1] if self._judged else 0.0

    def _forecast(self, wanted: float) -> tuple[float, float]:
        """The error of the tree there is, and how many times the answers more would make it the wanted one.

        Errors are taken to fall as a power of the answers, as they did of late.
        """
        known, least = self.learner.pool.size, LEFT * self._last
        if len(self._judged) < TREND or not least:
            return least, GROWTH
        many, last = self._judged[-1]
        few, before = next((one for one in reversed(self._judged) if FAR * one[0] <= many), self._judged[0])
        slope = max(SLOWEST, math.log(before / last) / math.log(many / few)) if few < many and before else SLOWEST
        expected = max(least, last * (many / known) ** slope)
        return expected, (max(expected, wanted) / wanted) ** (1 / slope) - 1

    def _learn(self, seen: Answered, weights: Weights) -> Steps[None]:
        """Take answers in, and put the tree to the test that they lead to, unless it is hopeless."""
        first = self.learner.sketch is None
        for some in np.array_split(np.arange(len(seen.codes)), 1 + (len(seen.codes) >= HALVED)):
            yield from self._take(seen.inner[some], seen.codes[some], weights[some])
        candidate = self.learner.sketch
        assert candidate is not None, "a learner that was told something has a tree"
        if candidate != self._under_test and (self._promising(candidate, first) or self._late()):
            self._test(candidate)
        self._session.stand(self._to_stand)
        self._session.judge(size(candidate), self._last, self._tested)

    def _take(self, bits: NDArray[Any], codes: NDArray[np.intp], weights: Weights) -> Steps[None]:
        pool, before, known = self.learner.pool, self.learner.sketch, self.learner.pool.size
        new = weights[pool.unknown(bits)]
        wrong: NDArray[np.bool_]
        if self._searchable:
            wrong = np.ones(len(codes), np.bool_) if before is None else predict(before, bits) != codes
            pool.stress(bits[wrong])
            pool.add(bits, codes)
            if wrong.any():
                self.learner.refit()
        else:
            wrong = yield from self.learner.learn(bits, codes)
        walked = np.zeros(pool.size - len(self._weights) - len(new))
        self._weights = np.concatenate([self._weights, new, walked])
        if before is not None:
            self._judged = (*self._judged, (known, float(wrong.mean())))

    def _promising(self, candidate: Nested, first: bool) -> bool:
        """Whether a tree is worth a test, by how the one before it did; of the first, its size has to tell."""
        if first:
            return size(candidate) * BY_HEART <= self.learner.pool.size
        return self._last <= DOUBTFUL * self._attempts.epsilon

    @property
    def stuck(self) -> bool:
        """As ever, but not while the tree does well: no test may have been asked for so far."""
        return self._last > DOUBTFUL * self._attempts.epsilon and super().stuck

    @property
    def _hopeless(self) -> bool:
        """Whether a search over all features sees little of what matters."""
        return self._last > HOPELESS and self.learner.pool.size >= PATIENCE

    @property
    def _searchable(self) -> bool:
        return len(self._counted.space) <= SEARCH_ALL and not self._hopeless
