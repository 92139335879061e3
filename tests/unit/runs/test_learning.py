"""How long to learn: the answers that are left to teach, and what ends learning."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from fidelitree.asking.limits import Budget
from fidelitree.runs import economics
from fidelitree.runs.economics import PairedErrors
from fidelitree.runs.learning import EFFORTS, Effort, Learning
from fidelitree.runs.loop import Candidate
from fidelitree.spaces.product import ProductSpace
from fidelitree.trees.tree import Tree

EFFORT = Effort(0.1, 10_000, 50)
CONSTANT = Tree.constant(ProductSpace.bernoulli(2), 0)
LEARNT, LEARNING = PairedErrors(4_000, 400, 400), PairedErrors(4_000, 800, 400)


def learning(
    known: int, budget: Budget | None = None, rows: float = math.inf, before: PairedErrors | None = None, **told: Any
) -> Learning:
    """Of a loop that knows so many answers, and has been told nothing else."""
    loop = SimpleNamespace(
        known=known,
        counted=SimpleNamespace(budget=budget or Budget(), asked=told.get("asked", known)),
        source=SimpleNamespace(most=rows, labels_left=rows - known),
        attempts=SimpleNamespace(all=told.get("attempts", [])),
        archive=SimpleNamespace(fitted=told.get("fitted", known)),
        candidates={2: Candidate(CONSTANT, before=before), 5: Candidate(CONSTANT, before=before)},
    )
    return Learning(EFFORT, loop)


def test_few_leaves_may_take_more_answers() -> None:
    queries, leaves = EFFORTS["queries"], EFFORTS["leaves"]
    assert leaves.most > queries.most


@pytest.mark.parametrize(("known", "left"), [(0, 10_000), (9_999, 1), (10_000, 0), (12_000, 0)])
def test_no_more_than_the_effort_allows(known: int, left: int) -> None:
    assert learning(known).left == left


def test_of_a_budget_a_part_is_kept_for_tests_and_questions_of_ones_own_are_paid_from_the_rest() -> None:
    budget = Budget(max_queries=1_000)
    share = round(economics.LEARNING * 1_000)
    assert learning(0, budget).left == share
    assert learning(100, budget, asked=150).left == share - 150
    assert learning(900, budget).left == 0
    assert learning(0, Budget(max_queries=1)).left == 1, "one label is better than none"
    assert learning(0, Budget(max_queries=10**9)).left == EFFORT.most


def test_rows_end_until_trees_are_open_for_then_others_are_drawn() -> None:
    assert learning(300, rows=500).left == 200
    assert learning(300, rows=500).rows_end
    assert not learning(300).rows_end
    assert learning(300, rows=500, attempts=[object()]).left == 9_700


@pytest.mark.parametrize(("fitted", "known", "until"), [(100, 100, 100), (100, 199, 1), (100, 200, 1), (100, 250, 1)])
def test_fits_come_at_twice_as_many_answers(fitted: int, known: int, until: int) -> None:
    assert learning(known, fitted=fitted).until_fit == until


def test_nobody_waits_for_the_first_fit() -> None:
    assert learning(0, fitted=0).until_fit == math.inf, "or else the first portion is a single label"


def test_a_size_has_not_begun_while_its_leaves_have_few_answers() -> None:
    enough = max(economics.SOONEST, economics.A_LEAF * 5)
    assert learning(enough, before=LEARNT).pair(5) is LEARNT
    assert learning(enough - 1, before=LEARNT).pair(5) is None
    assert learning(enough).pair(5) is None, "a tree that replaced none"
    assert learning(enough, before=PairedErrors()).pair(5) is None
    assert learning(enough, before=LEARNT).pair(64) is None, "a size that was never fitted"


def test_large_sizes_begin_late() -> None:
    late = learning(economics.SOONEST, before=LEARNT)
    late._loop.candidates[economics.SOONEST] = late._loop.candidates[5]  # so many leaves
    assert late.pair(economics.SOONEST) is None


def test_learning_goes_on_while_any_size_gains() -> None:
    assert not learning(5_000, before=LEARNING).over([2, 5])
    mixed = learning(5_000, before=LEARNT)
    mixed._loop.candidates[5].before = LEARNING
    assert not mixed.over([2, 5])
    assert mixed.over([2]) == "no size would gain 10% of its error from as many labels again"


def test_each_end_has_its_reason() -> None:
    assert learning(10_000, before=LEARNING).over([2]) == "10,000 labels to learn from"
    assert learning(700, Budget(max_queries=1_000)).over([2]) == "max_queries = 1000"
    assert learning(500, rows=500).over([2]) == "the table's 500 rows for learning"
    assert not learning(0, Budget(max_seconds=5)).over([2]), "time ends it elsewhere"
