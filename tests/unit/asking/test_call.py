"""Calls in this process: cut into portions, made again when they fail."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking import call as calls
from fidelitree.asking.call import Direct, pieces
from fidelitree.targets.labels import LabelBook
from journals import BITS, alike, on_bits


def test_pieces_are_bounded_in_rows_and_bytes() -> None:
    assert [(start, len(rows)) for start, rows in pieces(np.zeros((10, 2), np.uint8), 4)] == [(0, 4), (4, 4), (8, 2)]
    assert [len(rows) for _, rows in pieces(np.zeros((100_000, 1), np.uint8), None)] == [65_536, 34_464]
    assert {len(rows) for _, rows in pieces(np.zeros((8_192, 1024)), 10**9)} == {4096}


class Fitted:
    """A model like those of many libraries: with a method to predict, and a long description."""

    def predict(self, batch: Any) -> Any:
        return on_bits(batch)

    def __repr__(self) -> str:
        return "Fitted(\n" + "\n".join(f"    option_{k}=None," for k in range(99)) + "\n)"


def test_a_model_is_asked_by_its_method_at_every_door() -> None:
    assert ft.distill(Fitted(), BITS, seed=0).tree == ft.distill(Fitted().predict, BITS, seed=0).tree
    model: Any = Fitted()
    assert ft.build_top_down(model, BITS, 0.1).tree == ft.build_top_down(Fitted().predict, BITS, 0.1).tree


class Flaky:
    """Fails so many times, then answers."""

    def __init__(self, failures: int, error: BaseException | None = None) -> None:
        self.failures, self.calls = failures, 0
        self.error = error or ConnectionError("busy")

    def __call__(self, batch: Any) -> Any:
        self.calls += 1
        if self.calls <= self.failures:
            raise self.error
        return on_bits(batch)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []
    monkeypatch.setattr(calls.time, "sleep", found.append)
    return found


def test_a_call_that_fails_is_made_again_after_growing_waits(waits: list[float]) -> None:
    target = Flaky(4)
    result = ft.distill(target, BITS, 0.1, retries=4)
    assert waits == [0.1, 0.2, 0.4, 0.8]
    assert alike(result, ft.distill(on_bits, BITS, 0.1))


def test_after_the_last_retry_the_error_is_the_targets(waits: list[float]) -> None:
    target = Flaky(3)
    with pytest.raises(ft.TargetError, match=r"^the target raised ConnectionError on a batch of 32 inputs: busy$"):
        ft.distill(target, BITS, 0.1, retries=2)
    assert target.calls == 3
    assert len(waits) == 2


def test_calls_that_fail_come_on_top_of_what_is_paid(waits: list[float]) -> None:
    received: list[int] = []

    def every_second(batch: Any) -> Any:
        received.append(len(batch))
        if len(received) % 2:
            raise ConnectionError("busy")
        return on_bits(batch)

    result = ft.distill(every_second, BITS, 0.1, retries=1)
    assert result.queries == ft.distill(on_bits, BITS, 0.1).queries
    assert 2 * result.queries.paid == sum(received)


def test_a_target_that_ends_the_process_has_failed(waits: list[float]) -> None:
    """The code of `sys.exit(0)` would be that of a run that went well."""
    with pytest.raises(ft.TargetError) as caught:
        ft.distill(lambda batch: sys.exit(0), BITS)
    assert str(caught.value) == (
        "the target wanted to end the process, by sys.exit(0), on a batch of 32 inputs; it must answer with labels"
    )
    assert isinstance(caught.value.__cause__, SystemExit)
    assert alike(ft.distill(Flaky(2, SystemExit(0)), BITS, 0.1, retries=2), ft.distill(on_bits, BITS, 0.1))
    assert len(waits) == 2


def test_an_interrupt_is_the_users(waits: list[float]) -> None:
    with pytest.raises(KeyboardInterrupt):
        ft.distill(Flaky(1, KeyboardInterrupt()), BITS, 0.1, retries=1)
    assert waits == []


def test_waits_are_bounded(waits: list[float]) -> None:
    calls.wait_before(50)
    assert waits == [30.0]


def test_answers_that_are_not_labels_are_not_retried(waits: list[float]) -> None:
    with pytest.raises(ft.TargetError, match="labels must be one per input"):
        ft.distill(lambda batch: on_bits(batch)[1:], BITS, 0.1, retries=5)
    assert waits == []


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_the_size_of_a_call_changes_nothing(size: int) -> None:
    received: list[int] = []
    result = ft.distill(lambda batch: received.append(len(batch)) or on_bits(batch), BITS, 0.1, batch_size=size)
    assert max(received) <= size
    assert alike(result, ft.distill(on_bits, BITS, 0.1))


def test_parts_say_where_they_begin() -> None:
    direct = Direct(on_bits, BITS, LabelBook(), 4)
    inner = np.random.default_rng(0).integers(0, 2, (10, 12), np.uint8)
    found = dict(direct.parts(inner, "label"))
    assert {start: len(labels) for start, labels in found.items()} == {0: 4, 4: 4, 8: 2}
    assert np.array_equal(np.concatenate(list(found.values())), on_bits(inner))


def test_an_adapter_that_says_what_went_wrong_is_quoted_as_it_is() -> None:
    def target(batch: Any) -> Any:
        raise ft.TargetError("the command ended")

    with pytest.raises(ft.TargetError, match=r"^the command ended$"):
        ft.distill(target, BITS)
