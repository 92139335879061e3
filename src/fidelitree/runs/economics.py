"""What labels, leaves and tests are worth: every tuned number of the loop, and the pure functions that use them.

Each number has a unit and a reason.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from fidelitree.theory.sequential import divergence, error_bound

# Portions, in answers.
FIRST = 50  # the first portion, and the smallest once trees are under test; fits follow at 100, 200, 400, ...
PART_OF_TEST = 1 / 8  # of the answers that a test has counted: the next portion of it
PART_IN_HASTE = 1 / 4  # the same where time is short: a portion that time cuts off counts for nothing
REFIT = 2.0  # times the answers of the last fit: when the archive is fitted again
FIRST_FEW = 32  # the first portion where one tree that is good enough ends a run; also the least one of a table
LEAST_FEW = 8  # the smallest later one
PART = 1 / 32  # of the answers known: a later one
REFIT_SOON = 1.25  # times the answers of the last fit: when the archive is fitted again

# Portions where each is a round, in answers.
TEACHES = 2.0  # of the answers known: a portion that is to teach rather than to test

# Search, in proposals near each size.
STEPS = 300  # of the fit before trees are opened
STEPS_ON_THE_WAY = 30  # of all other fits
AT_LEAST = 400  # answers before a search is worth its time: until then, CART's prunings do

# Learning, of trees of every size.
GAIN = 0.03  # of an error: what as many answers again must bring a size, or else its tree is opened
A_LEAF = 100  # answers: with fewer for each of its leaves, a size has not begun to learn what it will
SOONEST = 2_000  # answers before any size is opened
MOST = 16_000  # answers to learn from
FEW_LEAVES_MOST = 64_000  # the same where leaves are dear
LEARNING = 0.6  # of a budget goes into learning, the rest into tests
TIGHT = 1.1  # times the error, and SLACK more: a bound so close ends its test
SLACK = 0.006  # an error
SHOWN = 0.5  # of the agreement that was seen, where it is little: a bound that shows less of it says nothing yet

# One tree that is good enough.
UNLIKELY = 0.05  # a chance below which nothing is hoped for
FEW_INPUTS = 64  # that are asked about rather than tested
PRIOR = 0.5  # errors, and right answers, that are believed before any was seen (Jeffreys)
PARTS = 5  # of a belief, equally likely: the middle of each stands for it
NEVER = 1e-12  # a probability that is none
LIKE = 8.0  # errors: a tree whose mistakes were mended errs as often as before, as surely as by so many
AIM = 0.8  # epsilons: the test of a tree that errs more often takes longer than anybody expects
CURSE = 1.0  # errors that the best of many trees is believed to have made beyond those seen
REFERENCE = 1_000  # inputs, never asked, on which two trees are compared
SEARCH_FROM = 100  # answers before they are searched where chosen inputs lead to a tree: easy ones are known by then
NEAR_STEPS = 60  # proposals near each size that the next test is likely to be of
BETWEEN = 1.4  # times the leaves: between neighbouring sizes that are looked at
FEWER = 0.75  # of the leaves of a tree that is about a whole table: only so few are worth an error
LARGEST = 256  # leaves of a tree that is looked for
HOPELESS_FROM = 8_000  # answers from which on the fall of errors is believed
FAR_AHEAD = 60_000  # answers up to which it is carried on
HOPE = 1.5  # times the steepest fall seen: a search may be about to find its way
ENOUGH_A_LEAF = 250  # answers: where leaves are few, a search that fails on so many for each of them has failed
NO_DOUBT = 4.0  # standard deviations of what was fitted above epsilon: the leaves that are allowed are too few
LOOK_BACK = 1.9, 7.0  # times fewer answers: how far to look back for a fall

# Trees that may defer.
DOUBTS = 4  # trees of a size: 0, 1, 2, 3 standard errors are between their held-out errors and what may pass
NIL = 0.1  # of inputs: a tree that answers less is not worth a test
LEAST_COVERAGE = 0.01  # of inputs: what another attempt must answer beyond those that are certified
LOWEST_AIM = 1 / 3  # epsilons: no lower error is aimed at


@dataclass(frozen=True)
class PairedErrors:
    """Two trees on the same answers, which neither had seen: one that is older, and the one that replaced it."""

    answers: int = 0
    older_errors: int = 0
    errors: int = 0

    def and_(self, answers: int, older_errors: int, errors: int) -> PairedErrors:
        """Return the counts of more answers, too."""
        return PairedErrors(self.answers + answers, self.older_errors + older_errors, self.errors + errors)

    @property
    def rate(self) -> float:
        """The share of errors of the newer tree."""
        return self.errors / max(1, self.answers)

    def gain(self) -> float:
        """Return what as many answers again are likely to bring, as a share of the error that is left by now.

        Each doubling is taken to bring half of what the one before it did, and the newer tree is one doubling behind. A
        bound does not tell errors apart that are closer than SLACK.
        """
        if not self.answers:
            return math.inf
        saved = max(0, self.older_errors - self.errors) / self.answers
        now, later = (max(0.0, self.rate - part * saved) for part in (1 / 2, 3 / 4))
        return (now - later) / max(now, SLACK)


@dataclass(frozen=True)
class Belief:
    """What is believed of the error of a tree, by answers that had not taught it.

    The counts are no whole numbers once they were carried over from the tree that it replaced.
    """

    errors: float = 0.0
    answers: float = 0.0
    exact: float = 0.0
    """The chance that it makes no error at all."""
    fitted: tuple[int, int] = 0, 0
    """Its errors on the answers that taught it, and those answers: on others it errs no less."""

    def and_(self, errors: float, answers: float) -> Belief:
        """Return the belief after more answers."""
        exact = 0.0
        if self.exact and not errors:
            exact = self.exact / (self.exact + (1 - self.exact) * self._none(answers))
        return Belief(self.errors + errors, self.answers + answers, exact, self.fitted)

    def refitted(self, deviation: float, fitted: tuple[int, int]) -> Belief:
        """Return what it says of a successor, whose error differs from this one's by about ``deviation``."""
        if not deviation:
            return replace(self, fitted=fitted)
        rate = self.rate
        variance = rate * (1 - rate) / (sum(self._shape) + 1) + deviation**2
        wrong = min(self._shape[0], max(1.0, rate * (rate * (1 - rate) / variance - 1)))
        return replace(self._about(rate, wrong), fitted=fitted)

    def mended(self, leaves: int) -> Belief:
        """Return what it says of the tree with so many ``leaves`` that chosen inputs have made of this one.

        Its error is that of some leaves which are wrong. It is exact if the last of them was mended and no other one
        broken: each is as likely as one more leaf is to be the one that matters.
        """
        wrong, right = self._shape
        rate = wrong / (wrong + right)
        return replace(self._about(rate, LIKE), exact=(1 + rate * leaves) ** -2)

    @staticmethod
    def _about(rate: float, wrong: float) -> Belief:
        """The belief in this error, as sure as if the tree had been wrong so often."""
        return Belief(wrong - PRIOR, wrong / rate - 2 * PRIOR)

    @property
    def rate(self) -> float:
        """The error to be expected."""
        wrong, right = self._shape
        return (1 - self.exact) * wrong / (wrong + right)

    @property
    def _shape(self) -> tuple[float, float]:
        return self.errors + PRIOR, self.answers - self.errors + PRIOR

    def _none(self, answers: float) -> float:
        """The chance that a tree which makes errors makes none in the next answers."""
        wrong, right = self._shape
        return math.exp(float(special.betaln(wrong, right + answers) - special.betaln(wrong, right)))

    def chance(self, epsilon: float) -> float:
        """Return the probability that the error is below epsilon."""
        below = float(special.betainc(*self._shape, epsilon))
        return self.exact + (1 - self.exact) * min(below, self._fitted_below(epsilon))

    def _fitted_below(self, epsilon: float) -> float:
        """The chance that the error is below epsilon if it is what it was on the answers that taught the tree."""
        errors, answers = self.fitted
        return float(special.betainc(errors + PRIOR, answers - errors + PRIOR, epsilon)) if answers else 1.0

    def errors_below(self, epsilon: float) -> list[float]:
        """Return errors that are equally likely, given that the error is below epsilon."""
        least = min(epsilon, self.fitted[0] / max(1, self.fitted[1]))
        below, middles = self.chance(epsilon), [(place + 0.5) / PARTS for place in range(PARTS)]
        parts = [max(0.0, part * below - self.exact) / (1 - self.exact + NEVER) for part in middles]
        found: list[float] = np.maximum(least, special.betaincinv(*self._shape, parts)).tolist()
        return found

    def shows(self, epsilon: float, answers: int) -> float:
        """Return the chance that a tree whose error is above epsilon is wrong about one of the next answers."""
        wrong, right = self._shape
        above = float(special.betaincc(wrong, right, epsilon))
        if above <= NEVER:
            return 1.0
        return max(0.0, 1 - self._none(answers) * float(special.betaincc(wrong, right + answers, epsilon)) / above)


def test_length(error: float, level: float, epsilon: float) -> float:
    """Return the answers that a test takes, on average, for a tree with this error."""
    return -math.log(level) / divergence(error, epsilon) if error < epsilon else math.inf


@dataclass(frozen=True)
class Price:
    """What labels are worth beside leaves, and what may be spent for fewer leaves."""

    worth: float
    """A power: half the leaves are worth 2^(1/worth) times the labels."""
    patience: float
    """Times the labels of the first certificate: what may be asked in the end."""
    a_round: float = 0.0
    """What another portion adds to the cost of an ending, beside its labels."""
    long_search: bool = False
    """Whether a substitute with fewer leaves is looked for as long as it takes, which costs no label."""

    def log_cost(self, labels: float, leaves: int) -> float:
        """Return what an ending is to be judged by."""
        return self.worth * math.log(max(1.0, labels)) + math.log(leaves)

    def wasted(self, more: float, labels: float) -> float:
        """Return what this many labels in vain add to the cost of an ending."""
        return self.worth * math.log1p(more / max(1.0, labels))


QUERIES = Price(worth=1.3, patience=2.0)
ROUNDS = replace(QUERIES, patience=1.0, a_round=1.0)  # a round is worth twice the labels; the first certificate ends
FEW_LEAVES = Price(worth=0.08, patience=10.0, long_search=True)
SMALLEST = Price(worth=0.03, patience=20.0, long_search=True)


def expected_cost(cost: float, chance: float, failure: float) -> float:
    """Return the cost of an ending before which attempts fail, each of which adds to it."""
    return cost + (1 - chance) / max(chance, NEVER) * failure


def pays(chance: float, gain: float, shows: float, loss: float) -> bool:
    """Whether to begin now: a good tree gains, a bad one loses if the next portion would have shown it up."""
    return chance * gain > (1 - chance) * shows * loss


def next_level_costs(number: int, level: float, rows: float) -> float:
    """Return the answers that one attempt more adds to a test of this many: levels fall as 1/number^2."""
    return rows * 2 * math.log((number + 1) / number) / -math.log(level)


def fall(errors: Sequence[tuple[int, float]]) -> float:
    """Return the power of the answers by which errors, by the answers that taught, have fallen of late."""
    if not errors:
        return 0.0
    now, error = errors[-1]
    then, before = next((one for one in reversed(errors) if 2 * one[0] <= now), errors[0])
    if then >= now or not 0 < error < before:
        return 0.0
    return math.log(before / error) / math.log(now / then)


def hopeless(errors: Sequence[tuple[int, float]], epsilon: float) -> bool:
    """Whether errors, by the answers that taught, fall too slowly to come below epsilon; as a power of the answers."""
    if not errors or errors[-1][0] < HOPELESS_FROM:
        return False
    now, error = errors[-1]
    falls = [
        math.log(before / error) / math.log(now / then)
        for then, before in errors
        if LOOK_BACK[0] <= now / then <= LOOK_BACK[1] and 0 < error < before
    ]
    promised: float = error * min(1.0, now / FAR_AHEAD) ** (HOPE * max(falls, default=0.0))
    return promised > epsilon


def too_few(mistakes: int, answers: int, epsilon: float) -> bool:
    """Whether a tree that was fitted to these answers makes so many mistakes that no tree of its size will do."""
    deviation = math.sqrt(epsilon * (1 - epsilon) / answers)
    return mistakes > (epsilon + NO_DOUBT * deviation) * answers


def is_close(bound: float, error: float) -> bool:
    """Whether a bound is so close to the error that was seen that more answers would change little."""
    return bound <= max(error + SLACK, min(TIGHT * error + SLACK, 1 - SHOWN * (1 - error)))


def shows_nothing(bound: float, answers: int) -> bool:
    """Whether a bound is still 1, after so few answers that agreement may be too rare to have been seen yet."""
    return bound >= 1 and answers * math.log1p(-SLACK) > math.log(UNLIKELY)


def answers_until_close(error: float, level: float) -> int:
    """Return the answers after which a bound is close to this error, within an eighth."""
    rows = FIRST
    while not is_close(error_bound(round(error * rows), rows, level), error):
        rows += rows // 8
    return rows
