"""The door to a target: memory of its own on both sides, and failures in words."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
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
    wrong = GuardedTarget(lambda batch: [1], BITS).tried(some_inputs(BITS, 4))
    assert wrong == Failure(
        "labels must be one per input: the target received 4 inputs and answered an array of shape (1,)", again=False
    )


def test_it_travels_with_its_space() -> None:
    door = pickle.loads(pickle.dumps(GuardedTarget(np.ravel, ft.ProductSpace.bernoulli(1))))
    assert door(np.array([[1], [0]], np.uint8)).tolist() == [1, 0]


def test_an_interrupt_is_the_users() -> None:
    def interrupted(batch: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        GuardedTarget(interrupted, BITS).tried(some_inputs(BITS, 4))
