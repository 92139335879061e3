"""Algorithm 1: what it returns, where it stops, and what it refuses. Its laws are in tests/law."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.spaces.features import IsOne
from fidelitree.targets import TruthTable
from small import Bits, cube, true_error

if TYPE_CHECKING:
    from collections.abc import Callable


def fair(n: int) -> ft.ProductSpace:
    return ft.ProductSpace.bernoulli(n)


def test_a_dictator_is_one_split() -> None:
    result = ft.build_top_down(lambda batch: batch[:, 2], fair(4), 0)
    assert str(result.tree) == "x2 = 0: 0\nx2 = 1: 1"
    (record,) = result.trace
    assert (record.test, record.score, record.cost, record.error) == (IsOne(2), 0.5, 0.0, 0.0)
    assert result.reason == "good enough"


def test_the_certificate_is_exact() -> None:
    space = ft.ProductSpace.bernoulli(6, [0.1, 0.5, 0.3, 0.9, 0.5, 0.6])
    target = ft.targets.majority(6)
    result = ft.build_top_down(target, space, 0.1)
    certificate = result.certificate
    assert certificate.error_bound == pytest.approx(true_error(result.tree, target, space), rel=1e-12)
    assert (certificate.method, certificate.delta, certificate.errors) == ("exact", 0.0, None)
    assert certificate.holds
    assert certificate.split_quality
    assert certificate.tree_digest == result.tree.digest
    assert certificate.space_digest == space.digest
    assert result.space is space
    assert dict(result.queries.paid) == {"enumerate": 64, "check": 64}


def test_it_stops_at_the_first_tree_that_is_good_enough() -> None:
    target, space = ft.targets.tribes(2, 3), ft.ProductSpace.bernoulli(6, 0.4)
    errors = [record.error for record in ft.build_top_down(target, space, 0).trace]
    for size, error in enumerate(errors[:8], start=2):
        result = ft.build_top_down(target, space, error)
        assert result.certificate.error_bound <= error
        assert result.tree.size <= size
    below = ft.build_top_down(target, space, np.nextafter(errors[3], 0))
    assert below.tree.size > ft.build_top_down(target, space, errors[3]).tree.size


@pytest.mark.parametrize("epsilon", [0, 0.3, 0.99])
@pytest.mark.parametrize("label", [0, 1, True, "yes", -7])
def test_a_constant_is_one_leaf(label: Any, epsilon: float) -> None:
    result = ft.build_top_down(lambda batch: np.full(len(batch), label), fair(3), epsilon)
    assert result.tree.size == 1
    assert result.tree.predict(cube(3)).tolist() == [label] * 8
    assert result.certificate.error_bound == 0
    assert result.certificate.holds
    assert result.trace == ()


@pytest.mark.parametrize("epsilon", [0.5, 0.75, 0.999])
def test_half_or_more_tolerated_is_one_leaf_for_two_labels(epsilon: float) -> None:
    result = ft.build_top_down(ft.targets.parity(4), fair(4), epsilon)
    assert result.tree.size == 1
    assert result.certificate.error_bound == 0.5
    assert result.certificate.holds


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_a_certain_feature_is_never_split(p: float) -> None:
    space = ft.ProductSpace.bernoulli(3, [p, 0.5, 0.5])
    result = ft.build_top_down(ft.targets.parity(3), space, 0)
    assert {record.feature for record in result.trace} == {1, 2}
    assert result.tree.size == 4
    assert result.certificate.error_bound == true_error(result.tree, ft.targets.parity(3), space) == 0


def test_where_everything_is_certain_one_leaf_is_exact() -> None:
    space = ft.ProductSpace.bernoulli(3, [1, 0, 1])
    result = ft.build_top_down(TruthTable(list("abcdefgh")), space, 0)
    assert (str(result.tree), result.certificate.error_bound) == ("f", 0.0)


@pytest.mark.parametrize(("table", "size"), [([0, 0], 1), ([0, 1], 2), ([1, 0], 2)])
def test_one_feature_is_enough(table: list[int], size: int) -> None:
    result = ft.build_top_down(TruthTable(table), ft.ProductSpace.bernoulli(1, 0.2), 0)
    assert result.tree.size == size
    assert result.tree.predict([[0], [1]]).tolist() == table


def test_one_feature_with_room_for_error_is_the_likelier_label() -> None:
    result = ft.build_top_down(TruthTable([0, 1]), ft.ProductSpace.bernoulli(1, 0.8), 0.2)
    assert (str(result.tree), result.certificate.holds) == ("1", True)


def test_a_tie_in_a_leaf_goes_to_the_first_label() -> None:
    assert str(ft.build_top_down(ft.targets.parity(2), fair(2), 0.5).tree) == "0"
    flipped = ft.build_top_down(lambda batch: np.where(batch[:, 0] == 1, "a", "b"), fair(1), 0.5)
    assert str(flipped.tree) == "a"


def test_equal_scores_go_to_the_lowest_feature_and_the_leaf_made_first() -> None:
    result = ft.build_top_down(ft.targets.parity(3), fair(3), 0)
    assert [(str(record.leaf), record.feature) for record in result.trace] == [
        ("---", 0),
        ("0--", 1),
        ("1--", 1),
        ("00-", 2),
        ("01-", 2),
        ("10-", 2),
        ("11-", 2),
    ]


def test_rounding_does_not_break_ties() -> None:
    """Symmetric features have equal scores, however their sums were rounded."""
    space = ft.ProductSpace.bernoulli(9, 0.1)
    result = ft.build_top_down(ft.targets.threshold(9, 3), space, 0)
    assert result.tree.size == ft.build_top_down(ft.targets.threshold(9, 3), fair(9), 0).tree.size
    for record in result.trace:
        assert record.feature == record.leaf.depth, "the lowest feature that is free"


def test_a_tree_of_two_thousand_features_is_recovered() -> None:
    space = ft.ProductSpace.bernoulli(2000, 0.3)
    target = ft.targets.balanced(space, 4, seed=5)
    result = ft.build_top_down(target, space, 0)
    assert ft.tree_error(result.tree, target, space) == 0
    assert result.certificate.error_bound == 0
    assert result.queries.paid == 0


def test_nobody_is_asked_without_permission() -> None:
    def target(batch: Bits) -> Any:
        pytest.fail("asked")

    with pytest.raises(ft.ParameterError) as caught:
        ft.build_top_down(target, fair(21), 0.1)
    assert str(caught.value) == (
        "build_top_down must ask about all 2^21 inputs, more than it does unasked; allow them with max_queries "
        "(up to 2^26), or use practical_top_down, which draws inputs"
    )
    with pytest.raises(ft.ParameterError, match=r"all 2\^3 inputs, more than max_queries = 7 allows"):
        ft.build_top_down(target, fair(3), 0.1, max_queries=7)


def test_permission_is_enough() -> None:
    assert ft.build_top_down(lambda batch: batch[:, 20], fair(21), 0, max_queries=1 << 21).tree.size == 2
    assert ft.build_top_down(ft.targets.majority(3), fair(3), 0, max_queries=8).queries.paid == 8


BAD: list[tuple[Callable[[], object], str]] = [
    (
        lambda: ft.build_top_down(None, fair(2), 0.1),
        "target must be callable: a batch of inputs in, labels out; got None",
    ),
    (lambda: ft.build_top_down(min, fair(2), 5), "epsilon must be at least 0 and below 1; got 5 - did you mean 0.05?"),
    (lambda: ft.build_top_down(min, fair(2), -1), "epsilon must be at least 0 and below 1; got -1"),
    (lambda: ft.build_top_down(min, fair(2), float("nan")), "epsilon must be a number; got NaN"),
    (lambda: ft.build_top_down(min, fair(2), 0.1, max_leaves=0), "max_leaves must be at least 1; got 0"),
    (lambda: ft.build_top_down(min, fair(2), 0.1, max_seconds=-1), "max_seconds must be at least 0; got -1"),
    (
        lambda: ft.build_top_down(TruthTable([0, 1, 1, 0]), fair(3), 0.1),
        "space must have the truth table's 2 features; got 3",
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_arguments_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        call()
    assert str(caught.value) == message


def test_a_textbook_function_of_other_width_is_the_targets_error() -> None:
    with pytest.raises(ft.TargetError) as caught:
        ft.build_top_down(ft.targets.majority(5), fair(3), 0.1)
    assert str(caught.value) == (
        "the target raised ParameterError on a batch of 8 inputs: inputs must be a 2-D array with one column for each "
        "of the 5 features; got shape (8, 3)"
    )
