"""Answers leaf by leaf: what is kept, what is counted, and that every kind of run says where its error sits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.spaces.features import AtMost, IsIn
from fidelitree.trees.answers import Answers, Kept, LeafLabels
from mixed import MIXED, mixed_tree, some_inputs
from reference import count_leaf_labels
from small import cube

BITS = ft.ProductSpace.bernoulli(8, 0.4)


def noisy_majority(batch: Any) -> Any:
    return (batch.sum(axis=1) >= 4) ^ (batch[:, 0] & batch[:, 1] & batch[:, 2]).astype(bool)


def mixed_target(batch: Any) -> Any:
    return np.where((batch["age"] > 40) & (batch["job"] != "pilot") | (batch["income"] > 60), "yes", "no")


def test_counts_are_those_of_the_slow_way() -> None:
    rng = np.random.default_rng(0)
    tree = mixed_tree(MIXED, rng, ["a", "b", "c"])
    inputs = some_inputs(MIXED, 500)
    answers = Answers(inputs, rng.choice(["a", "b", "c"], 500))
    assert answers.counts(tree).tolist() == count_leaf_labels(tree, answers.inputs, answers.labels, ["a", "b", "c"])
    assert answers.counts(tree).dtype == np.int64
    assert answers.counts(tree).sum() == len(answers) == 500


def test_a_label_that_the_tree_has_not_gets_a_column_of_its_own() -> None:
    tree = ft.Tree.constant(BITS, 1)
    answers = Answers(cube(8)[:3], np.array([0, 1, 5]))
    assert answers.classes(tree) == [0, 1, 5]
    assert answers.counts(tree).tolist() == [[1, 1, 1]]


def test_no_answers_say_nothing() -> None:
    assert Answers(cube(8)[:0], np.array([], np.int64)).leaf_labels(ft.Tree.constant(BITS, 0)) is None


def test_wrong_is_the_share_of_other_labels() -> None:
    tree = ft.Tree.build(BITS, [(0, 1, 2), 0, 1], ["no", "yes"])
    labels = LeafLabels(("maybe", "no", "yes"), np.array([[0.125, 0.25, 0.125], [0.0, 0.125, 0.375]]), 8)
    assert labels.wrong(tree).tolist() == [0.25, 0.125]


def test_the_last_rows_are_kept_until_there_is_no_room() -> None:
    kept = Kept(most_bytes=5 * 8)
    assert kept.last(3) is None
    kept.keep(cube(8)[:2], np.array([0, 1]))
    kept.keep(cube(8)[2:5], np.array([2, 3, 4]))
    every = kept.last(9)
    assert every is not None
    assert (every.labels.tolist(), every.dropped) == ([0, 1, 2, 3, 4], 0)
    kept.keep(cube(8)[5:7], np.array([5, 6]))
    some = kept.last(4)
    assert some is not None
    assert (some.labels.tolist(), some.inputs.tolist(), some.dropped) == ([3, 4], cube(8)[3:5].tolist(), 2)
    late = kept.last(1)
    assert late is not None
    assert (len(late), late.dropped) == (0, 1)


def test_what_is_kept_does_not_change_with_its_block() -> None:
    kept, block = Kept(), cube(8)[:2].copy()
    kept.keep(block, np.array([0, 1]))
    block[:] = 7
    found = kept.last(2)
    assert found is not None
    assert found.inputs.tolist() == cube(8)[:2].tolist()


@pytest.mark.parametrize(
    ("target", "space", "options"),
    [
        (noisy_majority, ft.ProductSpace.bernoulli(30, 0.4), {"max_queries": 800}),
        (noisy_majority, ft.ProductSpace.bernoulli(30, 0.4), {"strategy": "influence", "max_queries": 800}),
        (mixed_target, MIXED, {}),
        (mixed_target, MIXED, {"prefer": "leaves", "max_queries": 9_000}),
        (mixed_target, MIXED, {"epsilon": None, "max_queries": 700}),
        (mixed_target, ft.Rows(MIXED.batch(some_inputs(MIXED, 2_000))), {}),
    ],
)
def test_the_answers_of_a_run_are_those_that_its_certificate_counted(target: Any, space: Any, options: Any) -> None:
    result = ft.distill(target, space, **{"epsilon": 0.1, **options})
    certificate, answers = result.certificate, result.answers
    assert answers is not None
    # A bound that was lowest earlier stays as it was then; the answers since are kept all the same.
    assert len(answers) >= certificate.samples > 0
    product = space.product if isinstance(space, ft.Rows) else space
    assert target(product.batch(answers.inputs)).tolist() == answers.labels.tolist()
    wrong = result.tree.predict_inner(answers.inputs) != answers.labels
    if not certificate.differs:
        assert wrong[: certificate.samples].sum() == certificate.errors
    assert result.leaf_labels is not None
    assert result.leaf_labels.samples == len(answers)
    assert result.leaf_labels.shares.sum() == pytest.approx(1)
    assert result.leaf_labels.wrong(result.tree).sum() == pytest.approx(wrong.mean())


@pytest.mark.parametrize("strategy", ["auto", "influence"])
def test_an_exact_run_knows_its_leaves_exactly(strategy: Any) -> None:
    result = ft.distill(noisy_majority, BITS, 0.01, strategy=strategy, max_queries=256)
    assert result.certificate.method == "exact"
    assert result.answers is None
    _check_exact(result, BITS)


def test_an_exact_run_over_any_features_does_too() -> None:
    space = ft.ProductSpace([ft.Categorical("job", {"clerk": 0.5, "nurse": 0.3, "pilot": 0.2}), ft.Boolean("x", 0.1)])
    result = ft.distill(lambda b: np.where((b["job"] == "nurse") ^ (b["x"] == 1), "yes", "no"), space, 0.2)
    assert result.certificate.method == "exact"
    _check_exact(result, space)
    assert result.certificate.error_bound > 0


def test_algorithm_1_knows_its_leaves_exactly() -> None:
    _check_exact(ft.build_top_down(noisy_majority, BITS, 0.1), BITS)
    reference = mixed_tree(MIXED, np.random.default_rng(3), [0, 1])
    _check_exact(ft.build_top_down(reference, MIXED, 0.1), MIXED)


def _check_exact(result: ft.Distillation, space: ft.ProductSpace) -> None:
    labels = result.leaf_labels
    assert labels is not None
    assert labels.samples is None
    masses = [region.mass for node, region in result.tree.regions(space) if result.tree.feature[node] < 0]
    assert labels.shares.sum(axis=1) == pytest.approx(masses)
    assert labels.wrong(result.tree).sum() == pytest.approx(result.certificate.error_bound, abs=1e-12)


def test_algorithm_2_says_what_its_test_inputs_saw() -> None:
    space = ft.ProductSpace.bernoulli(3)
    table = ft.targets.TruthTable(np.array(["c", "b", "b", "a", "a", "b", "a", "a"]))
    result = ft.practical_top_down(table, space, 0.3, 0.2)
    labels = result.leaf_labels
    assert labels is not None
    assert labels.classes == ("a", "b", "c")
    assert labels.samples == result.certificate.samples
    assert result.certificate.errors is not None
    assert labels.wrong(result.tree).sum() * labels.samples == pytest.approx(result.certificate.errors)


def test_equal_runs_are_equal_whatever_they_keep() -> None:
    one, two = (ft.distill(noisy_majority, ft.ProductSpace.bernoulli(30, 0.4), 0.2, max_queries=800) for _ in range(2))
    assert one == two
    assert "answers" not in repr(one)


def test_algorithm_2_without_test_inputs_says_nothing() -> None:
    result = ft.practical_top_down(noisy_majority, BITS, 0.3, 0.2, max_queries=16)
    assert result.certificate.samples == 0
    assert result.leaf_labels is None


def test_inner_values_reach_the_leaves_that_inputs_reach() -> None:
    tree = ft.Tree.build(MIXED, [(IsIn(1, frozenset({2})), 1, 2), (AtMost(2, 40.0), 3, 4), 0, 1, 0], ["a", "b"])
    inputs = some_inputs(MIXED, 300)
    assert tree.reached_inner(inputs).tolist() == tree.reached(MIXED.batch(inputs)).tolist()
