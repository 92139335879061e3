"""What a run returns: a pruning of the tested tree, or the paper's tree with its promise."""

from __future__ import annotations

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.attempts import Attempts
from fidelitree.finishes import Smallest
from fidelitree.greedy import KAPPA, Greedy, _closeness
from fidelitree.targets.counting import Counted

SPACE = ft.ProductSpace.bernoulli(12, 0.3)
TREE = ft.targets.balanced(SPACE, 3, seed=4)


def attempts_for(tree: ft.Tree, epsilon: float = 0.1) -> Attempts:
    attempts = Attempts(epsilon, 0.05)
    attempts.open(tree)
    return attempts


def count_clean(attempts: Attempts, samples: int) -> None:
    batch = np.zeros((samples, 12), np.uint8)
    for attempt in attempts.all:
        attempt.count(0, len(batch))


def test_closeness_is_the_quarter_rule() -> None:
    """At the largest error allowed, the worst case of score and best score is exactly kappa."""
    score = 0.03
    error = _closeness(score)
    assert (score - 2 * error) / (score + 2 * error) == pytest.approx(KAPPA)


def test_nothing_is_returned_before_the_tree_is_certified() -> None:
    attempts, finish = attempts_for(TREE), Smallest(Counted(TREE, SPACE))
    assert finish.needed(attempts) == 40
    count_clean(attempts, 39)
    assert finish.done(attempts) is None
    assert finish.needed(attempts) == 1


def test_a_pruning_is_vouched_for_by_the_tested_tree() -> None:
    attempts, finish = attempts_for(TREE), Smallest(Counted(TREE, SPACE))
    count_clean(attempts, 400)
    outcome = finish.done(attempts)
    assert outcome is not None
    assert outcome.tree.size < TREE.size
    assert outcome.differs == pytest.approx(ft.tree_error(outcome.tree, TREE, SPACE), abs=1e-15)
    assert outcome.error_bound == attempts.all[0].error_bound + outcome.differs <= 0.1


def test_leaves_beyond_the_limit_are_never_returned_even_if_the_promise_breaks() -> None:
    attempts, finish = attempts_for(TREE), Smallest(Counted(TREE, SPACE), max_leaves=2)
    count_clean(attempts, 60)
    outcome = finish.done(attempts)
    assert outcome is not None
    assert outcome.tree.size <= 2
    assert outcome.error_bound == pytest.approx(min(1.0, attempts.all[0].error_bound + outcome.differs))


def test_the_papers_tree_waits_until_its_scores_are_certain() -> None:
    attempts, finish = attempts_for(TREE), Greedy(Counted(TREE, SPACE))
    needed = finish.needed(attempts)
    assert needed > 40
    count_clean(attempts, needed - 1)
    assert finish.done(attempts) is None
    count_clean(attempts, 1)
    outcome = finish.done(attempts)
    assert outcome is not None
    bound = attempts.all[0].error_bound
    assert all(bound <= _closeness(split.score) for split in outcome.splits)
    assert len(outcome.splits) == outcome.tree.size - 1
    assert outcome.error_bound <= 0.1


def test_the_papers_tree_is_algorithm_1_on_the_tested_tree() -> None:
    attempts, finish = attempts_for(TREE), Greedy(Counted(TREE, SPACE))
    count_clean(attempts, 5000)
    outcome = finish.done(attempts)
    assert outcome is not None
    exact = ft.build_top_down(TREE, SPACE, 0, max_leaves=outcome.tree.size)
    assert outcome.tree == exact.tree
