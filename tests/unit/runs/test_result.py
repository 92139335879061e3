"""The trace keeps one record for each split and tells the observer in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.counted import Counted
from fidelitree.asking.events import Event, SplitMade, TreeJudged, nobody
from fidelitree.search.trace import Trace
from fidelitree.spaces.features import IsOne
from fidelitree.trees.growing import GrowingTree
from mixed import MIXED
from small import cube

if TYPE_CHECKING:
    from collections.abc import Callable

SPACE = ft.ProductSpace.bernoulli(2, names=["owner", "urban"])


def test_a_split_is_recorded_when_the_tree_after_it_was_judged() -> None:
    seen: list[Event] = []
    counted = Counted(lambda batch: batch[:, 0], SPACE)
    trace, bare = Trace(counted, seen.append), GrowingTree(SPACE)
    trace.judged(1, 0.5, 0.4, 0.45)
    assert seen == [TreeJudged(0, 1, 0.4, 0.45)]
    trace.split(bare.leaves[0], IsOne(1), 0.25)
    assert trace.records == []
    counted.ask(cube(2), "grow")
    trace.judged(2, 0.2, 0.1, 0.15)
    assert seen[1:] == [SplitMade(4, 2, "--", "urban = 1", 0.25), TreeJudged(4, 2, 0.1, 0.15)]
    (record,) = trace.records
    assert (str(record.leaf), record.test, record.feature) == ("--", IsOne(1), 1)
    assert (record.score, record.size, record.cost, record.error, record.asked) == (0.25, 2, 0.2, 0.1, 4)


def test_judging_again_records_nothing() -> None:
    trace = Trace(Counted(lambda batch: batch[:, 0], SPACE), nobody)
    trace.judged(1, 0.5, 0.4, 0.45)
    trace.judged(1, 0.5, 0.4, 0.45)
    assert trace.records == []


def test_closing_records_a_split_that_was_judged_without_its_cost() -> None:
    seen: list[Event] = []
    trace, bare = Trace(Counted(lambda batch: batch[:, 0], SPACE), seen.append), GrowingTree(SPACE)
    trace.split(bare.leaves[0], IsOne(1), 0.25)
    trace.close(1, 0.4, 0.45)
    assert (trace.records, seen) == ([], []), "the tree was not larger than what is recorded"
    trace.close(2, 0.1, 0.15)
    trace.close(2, 0.1, 0.15)
    (record,) = trace.records
    assert np.isnan(record.cost)
    assert (record.size, record.error) == (2, 0.1)
    assert seen == [SplitMade(0, 2, "--", "urban = 1", 0.25), TreeJudged(0, 2, 0.1, 0.15)]


def test_a_result_prints_its_tree_its_promise_and_its_cost() -> None:
    result = ft.build_top_down(ft.targets.TruthTable(np.array(["no", "yes", "no", "yes"])), SPACE, 0)
    assert str(result).splitlines() == [
        "owner = 0: no",
        "owner = 1: yes",
        "",
        *str(result.certificate).splitlines(),
        "2 leaves, depth 1; 4 labels asked (enumerate 4), 4 rows paid",
    ]


def hard(batch: Any) -> Any:
    """A rule with a slanted border: no small tree is exact."""
    return np.where(batch["age"] + batch["income"] > 90, "yes", "no")


@pytest.mark.parametrize("run", ["the best", "a large tree", "a learner"])
def test_a_record_joins_an_error_with_the_bound_of_the_same_tree(run: str) -> None:
    """The share of errors that an attempt has counted is never above its own bound; another tree's may be."""
    space = ft.ProductSpace.bernoulli(13)
    runs: dict[str, Callable[[], ft.Distillation]] = {
        "the best": lambda: ft.distill(ft.targets.majority(13), space, None, max_queries=400),
        "a large tree": lambda: ft.distill(ft.targets.balanced(space, 6, seed=1), space, 0.05, max_queries=600),
        "a learner": lambda: ft.learners.cart(hard, MIXED, 0.1),
    }
    judged = [record for record in runs[run]().trace if isinstance(record, TreeJudged)]
    assert any(record.error_bound < 1 for record in judged)
    assert all(record.error <= record.error_bound for record in judged)


def test_a_tree_that_was_only_fitted_has_no_bound() -> None:
    """Records are made before an attempt is opened: bounds of those that stand are not theirs."""
    result = ft.distill(hard, MIXED, 0.03, seed=1)
    learnt = result.queries.asked["label"]
    judged = [record for record in result.trace if isinstance(record, TreeJudged) and record.asked <= learnt]
    assert len(judged) > 3
    assert all(record.error_bound == 1 for record in judged)
