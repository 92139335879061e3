"""The door to a target: memory of its own on both sides, and failures in words."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fidelitree as ft
from fidelitree.asking.guarded import CallFailedError, Failure, GuardedTarget
from mixed import MIXED, some_inputs

BITS = ft.ProductSpace.bernoulli(3)


class Keeping:
    """Keeps the batches that it receives."""

    def __init__(self) -> None:
        self.batches: list[Any] = []

    def __call__(self, batch: Any) -> Any:
        self.batches.append(batch)
        return batch[:, 0]


@pytest.mark.parametrize("part", [slice(None), slice(2, 7)])
def test_a_batch_of_bits_is_a_copy_with_columns_side_by_side(part: slice) -> None:
    inner, target = some_inputs(BITS, 10), Keeping()
    inner.flags.writeable = False
    labels = GuardedTarget(target, BITS)(inner[part])
    batch = target.batches[0]
    assert np.array_equal(batch, inner[part])
    assert not np.shares_memory(batch, inner)
    assert not np.shares_memory(batch, labels)
    assert (batch.flags.f_contiguous, batch.flags.writeable) == (True, True)


def test_what_nobody_reads_again_is_given_away_but_never_memory_that_cannot_be_written_to() -> None:
    inner, target = some_inputs(BITS, 10), Keeping()
    GuardedTarget(target, BITS)(inner, spare=True)
    assert target.batches[0] is inner
    inner.flags.writeable = False
    GuardedTarget(target, BITS)(inner, spare=True)
    assert target.batches[1].flags.writeable


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars", "arrow"])
def test_other_batches_share_no_memory_with_the_run(kind: str) -> None:
    space = ft.ProductSpace(MIXED.features, batch=kind)
    inner = some_inputs(space, 10)
    batches: list[Any] = []
    GuardedTarget(lambda batch: batches.append(batch) or [0] * 10, space)(inner)
    assert not any(np.shares_memory(np.asarray(batches[0][name]), inner) for name in space.names)


def test_only_what_failed_may_be_tried_again() -> None:
    def broken(batch: Any) -> Any:
        raise KeyError("age")

    with pytest.raises(CallFailedError, match=r"^the target raised KeyError on a batch of 4 inputs: 'age'$") as caught:
        GuardedTarget(broken, BITS)(some_inputs(BITS, 4))
    assert isinstance(caught.value.__cause__, KeyError)
    assert GuardedTarget(broken, BITS).tried(some_inputs(BITS, 4)) == Failure(str(caught.value), again=True)
    wrong = GuardedTarget(lambda batch: [1, 0], BITS).tried(some_inputs(BITS, 4))
    assert wrong == Failure(
        "labels must be one per input: the target received 4 inputs and answered an array of shape (2,)", again=False
    )


@pytest.mark.parametrize(
    "of_one",
    [
        lambda parcel: "freight" if parcel["weight"] > 30 else "post",
        lambda parcel: {30: "freight"}.get(parcel["weight"], "post"),
        lambda parcel: "freight" if math.sqrt(parcel["weight"]) > 5 else "post",
        lambda parcel: "freight" if parcel["kind"].startswith("bulk") else "post",
        lambda parcel: "post",
        lambda parcel: 3,
    ],
)
@pytest.mark.parametrize("table", [False, True])
def test_a_function_of_one_record_is_told_how_to_be_asked(of_one: Any, table: bool) -> None:
    rows = pd.DataFrame({"weight": [10.0, 20.0, 40.0, 50.0], "kind": ["a", "b", "bulk", "bulk"]})
    space = ft.ProductSpace.from_data(rows)
    if not table:
        space = ft.ProductSpace([ft.Numeric("weight", 0, 60), ft.Categorical("kind", ["a", "b", "bulk"])])
    way_out = r" - if it takes one record, and not a batch, give ft\.targets\.Remote\(function, one_row=True\)$"
    with pytest.raises(ft.TargetError, match=way_out):
        GuardedTarget(of_one, space)(some_inputs(space, 4))


def test_it_travels_with_its_space() -> None:
    door = pickle.loads(pickle.dumps(GuardedTarget(np.ravel, ft.ProductSpace.bernoulli(1))))
    assert door(np.array([[1], [0]], np.uint8)).tolist() == [1, 0]


def test_an_interrupt_is_the_users() -> None:
    def interrupted(batch: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        GuardedTarget(interrupted, BITS).tried(some_inputs(BITS, 4))


@pytest.mark.parametrize("batch", ["dict", "pandas", "polars"])
def test_a_zero_has_no_sign_as_in_the_memory(batch: Any) -> None:
    space, signs = ft.ProductSpace([ft.Numeric("age", -1, 1), ft.Numeric("height", -1, 1)], batch=batch), []

    def target(table: Any) -> Any:
        signs.extend(np.signbit(np.asarray(table["age"])).tolist())
        return np.zeros(len(table["age"]), int)

    inner = np.array([[-0.0, -0.0], [0.0, 0.5], [-0.5, -0.0]])
    GuardedTarget(target, space)(inner)
    assert signs == [False, False, True]
    assert np.signbit(inner[:, 0]).tolist() == [True, False, True], "the caller's rows are as they were"


def test_a_sampler_that_draws_both_zeros_has_one_answer_for_them() -> None:
    """The memory takes them for one input; a target that tells them apart would contradict itself."""

    def draws(rows: int, rng: np.random.Generator) -> pd.DataFrame:
        signs = rng.choice([-1.0, 1.0], rows)
        return pd.DataFrame({"change": np.where(rng.random(rows) < 0.9, signs * 0.0, signs), "age": signs * 0.0})

    space = ft.Sampler(draws, like=draws(10, np.random.default_rng(0)))
    found = ft.distill(lambda table: np.signbit(table["change"].to_numpy()).astype(int), space, 0.2, seed=0)
    assert found.certificate.holds
