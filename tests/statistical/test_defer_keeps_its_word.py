"""How often the certificate of a tree that defers is false: at its error where it answers, and at its coverage.

The tree is fixed, and answers half of the inputs. Its error there is just above epsilon, so every certificate that
holds is false. Each of 400 runs looks at the bounds after every batch; at most delta of them may state a false one.
"""

from dataclasses import replace

import numpy as np
from scipy import special

import fidelitree as ft
from chances import too_many
from fidelitree.asking.journal.ledger import LedgerEntry
from fidelitree.certificates.attempts import Attempts
from fidelitree.certificates.deferral import DeferringAttempt, certified_coverage
from fidelitree.theory.sequential import FRONTIER
from fidelitree.trees.answers import DEFER

BITS = ft.ProductSpace.bernoulli(2)
TREE = ft.Tree.build(BITS, [(0, 1, 2), 1, 0], [0, DEFER])
OTHER = ft.Tree.build(BITS, [(1, 1, 2), 1, 0], [0, DEFER])
RUNS, BATCHES, ROWS, EPSILON = 400, 4, 120, 0.1
LEVEL = 0.2  # of one attempt, so that false ones are seen
ALARM = 1e-6  # the chance that correct code fails for a fresh seed


class _At(DeferringAttempt):
    """At a level that a few hundred runs can judge."""

    def __init__(self, tree, delta, entry):
        super().__init__(tree, delta, entry)
        self.level = LEVEL


class _Counting(_At):
    """A fault: what it defers counts as answered rightly."""

    def tally(self, batch, labels, stream="test"):
        found = super().tally(batch, labels, stream)
        errors, samples = found.counts
        return replace(found, counts=(errors, samples + int((batch[:, 0] == 0).sum())))


class _Chosen(_At):
    """A fault: the inputs that decided to open it count, too."""

    def __init__(self, tree, delta, entry):
        super().__init__(tree, delta, entry)
        self.count(0, 60)
        self.draw(120)


def drawn(random, rows=ROWS):
    """Inputs, and answers that the tree has wrong a little more often than epsilon where it answers."""
    batch = random.integers(0, 2, (rows, 2)).astype(np.uint8)
    return batch, (random.random(rows) < 1.02 * EPSILON).astype(np.int64)


def false_ones(kind, seed):
    """Runs that certify epsilon, and runs whose coverage is above the truth."""
    errors = coverage = 0
    for run in range(RUNS):
        random = np.random.default_rng([seed, run])
        found = kind(TREE, 0.05, LedgerEntry(FRONTIER, 1, {}))
        low = high = False
        for _ in range(BATCHES):
            found.add(found.tally(*drawn(random)))
            high |= certified_coverage(TREE, found, FRONTIER, None) > 0.5
            low |= found.certifies(EPSILON)
        errors += low
        coverage += high
    return errors, coverage


def test_errors_and_coverage_are_false_within_their_levels():
    errors, coverage = false_ones(_At, 1)
    assert errors > 0  # it can fail
    assert not too_many(errors, RUNS, LEVEL, ALARM)
    assert not too_many(coverage, RUNS, LEVEL * 0.048 / 0.92, ALARM)


def test_the_same_count_sees_planted_faults():
    errors, coverage = false_ones(_Counting, 2)
    assert too_many(errors, RUNS, LEVEL, ALARM)
    assert too_many(coverage, RUNS, LEVEL * 0.048 / 0.92, ALARM)
    assert too_many(false_ones(_Chosen, 3)[0], RUNS, LEVEL, ALARM)


def test_two_trees_on_one_stream_count_draws_of_their_own_regions():
    """An input is asked where one of them answers; each one's share of errors stays that of its region."""
    random, wrong, samples = np.random.default_rng(4), np.zeros(2), np.zeros(2)
    for _ in range(60):
        attempts = Attempts(EPSILON, 0.05, part=FRONTIER)
        found = [attempts.open(tree, made=DeferringAttempt) for tree in (TREE, OTHER)]
        for _ in range(BATCHES):
            batch, _ = drawn(random)
            share = np.where(batch[:, 0] == 1, 0.1, 0.4)  # the second tree errs at .25 in its region
            labels = (random.random(len(batch)) < share).astype(np.int64)
            some = attempts.to_ask(batch)
            attempts.count(batch, np.where(some, labels, 1), some)
        wrong += [one.errors for one in found]
        samples += [one.samples for one in found]
    for errors, total, truth in zip(wrong.tolist(), samples.astype(int).tolist(), (0.1, 0.25), strict=True):
        assert min(special.bdtr(errors, total, truth), special.bdtrc(errors - 1, total, truth)) > ALARM / 2
