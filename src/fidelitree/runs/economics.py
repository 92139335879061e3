"""What labels, leaves and tests are worth: every tuned number of the loop, and the pure functions that use them.

Each number has a unit and a reason; `benchmarks.ablations` shows what it buys.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fidelitree.theory.sequential import error_bound

# Portions, in answers.
FIRST = 50  # the first portion; fits follow at twice as many answers each time, and so at 400
LEAST = 50  # the smallest portion once trees are under test
PART_OF_TEST = 1 / 8  # of the answers that a test has counted: the next portion of it
REFIT = 2.0  # times the answers of the last fit: when the archive is fitted again

# Search, in proposals near each size.
STEPS = 150  # of the fit before trees are opened
FEW_LEAVES_STEPS = 600  # the same where leaves are dear
STEPS_ON_THE_WAY = 30  # of all other fits
AT_LEAST = 400  # answers before a search is worth its time: until then, CART's prunings do

# Learning, of trees of every size.
GAIN = 0.06  # of an error: what as many answers again must bring a size, or else its tree is opened
SMALL_GAIN = 0.03  # the same where leaves are dear, or trees defer: purer leaves take more answers than fewer errors
A_LEAF = 100  # answers: with fewer for each of its leaves, a size has not begun to learn what it will
SOONEST = 2_000  # answers before any size is opened
OPTIMISM = 5.0  # errors a leaf: by so many a tree looks better on the answers that taught it
SURE = 1.0  # standard errors that a gain is taken to be larger than it was seen to be
MOST = 16_000  # answers to learn from
FEW_LEAVES_MOST = 64_000  # the same where leaves are dear
LEARNING = 0.6  # of a budget goes into learning, the rest into tests
TIGHT = 1.1  # times the error, and SLACK more: a bound so close ends its test
SLACK = 0.006  # an error

# Trees that may defer.
DOUBTS = ((0.0, 1.2, 3.0), (4.0, 6.0))  # standard errors between a held-out error and what is likely to pass, in turns
NIL = 0.1  # of inputs: a tree that answers less is not worth a test
LEAST_COVERAGE = 0.01  # of inputs: what another attempt must answer beyond those that are certified
OVERSHOOT = 1.5  # times ln(1/level)/divergence: what a test takes
LOWEST_AIM = 1 / 3  # epsilons: no lower error is aimed at
LARGER = 1.15  # times the leaves: where siblings defer they become one leaf
DEFERRING_MOST = 32_000  # answers to learn from where a budget is given
DEFERRING_STEPS = 150  # proposals near each size
DEFERRING_TESTS = 20_000  # answers that tests may take where no budget is given
DEFERRING_TOGETHER = 27  # attempts that are opened at once: three rounds, one for each doubt
DEFERRING_WORK = 2e6  # label counts of one look at all rows, up to which all proposals are made
LEAST_DEFERRING = 100  # answers: the smallest portion of tests
FEWEST = 10  # proposals near each size, however many the rows are


@dataclass(frozen=True)
class PairedErrors:
    """Two trees on the same answers, which neither had seen: one that is older, and the one that replaced it."""

    answers: int = 0
    older_errors: int = 0
    errors: int = 0
    apart: int = 0
    """Answers that one of them has wrong, and the other has not."""

    def and_(self, answers: int, older_errors: int, errors: int, apart: int) -> PairedErrors:
        """Return the counts of more answers, too."""
        counts = self.answers + answers, self.older_errors + older_errors, self.errors + errors, self.apart + apart
        return PairedErrors(*counts)

    @property
    def rate(self) -> float:
        """The share of errors of the newer tree."""
        return self.errors / max(1, self.answers)

    def after(self, doublings: float, sure: float = 0.0) -> float:
        """Return the error to be expected once there are twice as many answers, this many times.

        Each doubling is taken to bring half of what the one before it did, and the newer tree is one doubling behind.
        What it brought may be more than was seen, by this many standard errors.
        """
        if not self.answers:
            return 1.0
        saved = (self.older_errors - self.errors + sure * math.sqrt(self.apart)) / self.answers
        left: float = self.rate - max(0.0, saved) * (1 - 0.5 ** (1 + doublings))
        return max(0.0, left)

    def gain(self) -> float:
        """Return what as many answers again may bring, as a share of the error that is left.

        A bound does not tell errors apart that are closer than SLACK.
        """
        if not self.answers:
            return math.inf
        now = self.after(0.0)
        return (now - self.after(1.0, SURE)) / max(now, SLACK)


def is_close(bound: float, error: float) -> bool:
    """Whether a bound is so close to the error that was seen that more answers would change little."""
    return bound <= TIGHT * error + SLACK


def answers_until_close(error: float, level: float) -> int:
    """Return the answers after which a bound is close to this error, within an eighth."""
    rows = LEAST
    while not is_close(error_bound(round(error * rows), rows, level), error):
        rows += rows // 8
    return rows


def expected_bound(error: float, level: float, answers: int, counts: tuple[int, int] = (0, 0)) -> float:
    """Return the bound of a test after this many answers more, if its tree goes on to err this often.

    ``counts`` are the errors and the answers that it has counted.
    """
    errors, samples = counts
    return error_bound(errors + round(error * answers), samples + answers, level)
