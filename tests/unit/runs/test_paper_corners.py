"""Corners of Algorithm 2: constants, certain features, large epsilon, one feature, bad arguments, kinds of labels."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.repeats import Repeats
from small import Bits, cube, true_error

if TYPE_CHECKING:
    from collections.abc import Callable

schedules = pytest.mark.parametrize("schedule", ["printed", "corrected"])


def fair(n: int) -> ft.ProductSpace:
    return ft.ProductSpace.bernoulli(n)


@schedules
@pytest.mark.parametrize("label", [0, 1, True, "yes"])
def test_a_constant_is_one_leaf(schedule: str, label: Any) -> None:
    result = ft.practical_top_down(lambda batch: np.full(len(batch), label), fair(3), 0.2, 0.1, schedule=schedule)
    assert result.tree.size == 1
    assert result.tree.predict(cube(3)).tolist() == [label] * 8
    assert result.certificate.errors == 0
    assert result.certificate.holds


@schedules
@pytest.mark.parametrize("epsilon", [0.95, 0.999])
def test_a_large_epsilon_needs_no_split(schedule: str, epsilon: float) -> None:
    """Half of 180 test inputs are wrong, 71 % would be too many: false alarm below 1e-7."""
    result = ft.practical_top_down(ft.targets.parity(3), fair(3), epsilon, 0.1, schedule=schedule)
    assert result.tree.size == 1
    assert result.certificate.holds


@schedules
def test_half_may_be_wrong_and_is_still_measured(schedule: str) -> None:
    """Parity of two bits has error 1/2, 1/2, 1/4; it stops at 3/8, six standard deviations from both."""
    result = ft.practical_top_down(ft.targets.parity(2), fair(2), 0.5, 0.1, schedule=schedule)
    assert result.tree.size == 3
    assert result.certificate.holds


@schedules
def test_certain_features_are_never_split(schedule: str) -> None:
    space = ft.ProductSpace.bernoulli(4, [1.0, 0.5, 0.0, 0.5])
    result = ft.practical_top_down(ft.targets.parity(4), space, 0.2, 0.1, schedule=schedule)
    assert {record.feature for record in result.trace} == {1, 3}
    assert true_error(result.tree, ft.targets.parity(4), space) == 0


@schedules
def test_one_feature_is_enough(schedule: str) -> None:
    result = ft.practical_top_down(lambda batch: batch[:, 0], fair(1), 0.3, 0.1, schedule=schedule)
    assert str(result.tree) == "x0 = 0: 0\nx0 = 1: 1"
    assert result.certificate.errors == 0


@schedules
def test_noise_ends_when_nothing_is_left_to_split_and_is_not_certified(
    schedule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Repeats, "due", lambda *_: None)  # which would notice that it is none of its inputs' answers
    coin = np.random.default_rng(0)
    result = ft.practical_top_down(lambda batch: coin.integers(0, 2, len(batch)), fair(2), 0.2, 0.1, schedule=schedule)
    assert result.reason == "no split changes a label"
    assert result.tree.size == 4
    assert not result.certificate.holds
    assert 0.4 < result.certificate.error_bound < 0.6


BAD: list[tuple[dict[str, Any], str]] = [
    ({"epsilon": 0}, "epsilon must be above 0 where inputs are drawn; got 0 - build_top_down can be exact"),
    ({"epsilon": 5}, "epsilon must be at least 0 and below 1; got 5 - did you mean 0.05?"),
    ({"epsilon": 1}, "epsilon must be at least 0 and below 1; got 1"),
    ({"epsilon": None}, "epsilon must be a number; got None"),
    ({"delta": 0}, "delta must be above 0 and below 1; got 0"),
    ({"delta": 5}, "delta must be above 0 and below 1; got 5 - did you mean 0.05?"),
    ({"delta": float("nan")}, "delta must be a number; got NaN"),
    ({"schedule": "fixed"}, "schedule must be one of printed, corrected; got 'fixed'"),
    ({"schedule": None}, "schedule must be one of printed, corrected; got None"),
    ({"seed": -1}, "seed must be at least 0; got -1"),
    ({"seed": 1.5}, "seed must be a whole number; got 1.5"),
    ({"max_queries": -5}, "max_queries must be at least 0; got -5"),
    ({"max_leaves": 2.0}, "max_leaves must be a whole number; got 2.0"),
    ({"target": "model.pkl"}, "target must be callable: a batch of inputs in, labels out; got 'model.pkl'"),
]


@pytest.mark.parametrize(("change", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_arguments_are_refused_before_anything_is_asked(change: dict[str, Any], message: str) -> None:
    good = {"target": lambda batch: pytest.fail("asked"), "space": fair(3), "epsilon": 0.1, "delta": 0.1}
    with pytest.raises(ft.ParameterError) as caught:
        ft.practical_top_down(**{**good, **change})
    assert str(caught.value) == message


@pytest.mark.parametrize("door", [ft.build_top_down, partial(ft.practical_top_down, delta=0.1)])
def test_an_observer_must_be_callable(door: Callable[..., object]) -> None:
    with pytest.raises(ft.ParameterError, match=r"observer must be callable: .* got 3"):
        door(ft.targets.majority(3), fair(3), 0.1, observer=3)


BROKEN: list[tuple[Callable[[Bits], Any], str]] = [
    (lambda batch: 1 / 0, "the target raised ZeroDivisionError on a batch of"),
    (lambda batch: batch[:5, 0], "labels must be one per input: the target received"),
    (lambda batch: batch.mean(axis=1), "labels must be bool, int or str (or floats without a fraction); the target"),
    (lambda batch: np.full((len(batch), 2), 0.5), "labels must be one per input: the target received"),
    (
        lambda batch: [None] * len(batch),
        "labels must be bool, int or str, one kind a run; the target answered NoneType",
    ),
    (lambda batch: np.full(len(batch), np.nan), "labels must be bool, int or str (or floats without a fraction)"),
]


@pytest.mark.parametrize("algorithm", ["build", "printed", "corrected"])
@pytest.mark.parametrize(("target", "message"), BROKEN, ids=[message for _, message in BROKEN])
def test_a_broken_target_is_told_what_is_wrong(target: Any, message: str, algorithm: str) -> None:
    with pytest.raises(ft.TargetError) as caught:
        distil(algorithm, target, fair(3), 0.2)
    assert str(caught.value).startswith(message)


def distil(algorithm: str, target: Any, space: ft.ProductSpace, epsilon: float) -> ft.Distillation:
    if algorithm == "build":
        return ft.build_top_down(target, space, epsilon)
    return ft.practical_top_down(target, space, epsilon, 0.1, schedule=algorithm)


def three_ways(batch: Bits) -> Any:
    return 2 * batch[:, 0].astype(int) + batch[:, 0] * batch[:, 1] - 1  # -1, 1, 2


@pytest.mark.parametrize("algorithm", ["build", "printed", "corrected"])
@pytest.mark.parametrize(
    ("target", "labels"),
    [
        (lambda batch: three_ways(batch).astype(np.int8), [-1, 1, 2]),
        (lambda batch: three_ways(batch).astype(float), [-1, 1, 2]),
        (lambda batch: np.array(["", "high", "mid", "low"])[three_ways(batch)], ["high", "low", "mid"]),
        (lambda batch: [("no", "yes")[bit] for bit in batch[:, 0]], ["no", "yes"]),
        (lambda batch: batch[:, 0] == 1, [False, True]),
        (lambda batch: batch[:, 0].astype(np.float32), [0, 1]),
    ],
    ids=["int", "integral float", "str", "list of str", "bool", "float32"],
)
def test_labels_of_every_kind_come_back_as_they_were(algorithm: str, target: Any, labels: list[Any]) -> None:
    result = distil(algorithm, target, fair(3), 0.05)
    answers = result.tree.predict(cube(3))
    assert answers.tolist() == list(target(cube(3)))
    assert result.tree.labels.tolist() == labels
    assert type(answers.tolist()[0]) is type(labels[0])
    assert ft.Tree.from_dict(result.tree.to_dict()) == result.tree


def test_labels_that_change_their_kind_end_the_run() -> None:
    calls = iter([np.zeros(10**6, int), np.full(10**6, "zero")])
    answers = next(calls)

    def moody(batch: Bits) -> Any:
        nonlocal answers
        current, answers = answers, next(calls, answers)
        return current[: len(batch)]

    with pytest.raises(ft.TargetError, match="labels must be of one kind during a run; the target answered int before"):
        ft.practical_top_down(moody, fair(2), 0.3, 0.1)
