"""Counting: what was asked, what was paid, by purpose; and what a bad target is told."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.call import Direct
from fidelitree.asking.counted import REPEAT, Counted, Queries, Tally
from fidelitree.asking.limits import Budget, BudgetSpent
from fidelitree.asking.memory import Memory
from fidelitree.targets.labels import ONE_RECORD, LabelBook
from mixed import MIXED, some_inputs
from small import cube

SPACE = ft.ProductSpace.bernoulli(3)


def parity(batch: Any) -> Any:
    return batch.sum(axis=1) % 2


def test_without_memory_every_row_is_paid() -> None:
    counted = Counted(parity, SPACE)
    counted.ask(cube(3)[[0, 1, 1, 1]], "grow")
    counted.ask(cube(3)[[1, 2]], "certify")
    assert (counted.asked, counted.paid) == (6, 6)
    assert dict(counted.queries.asked) == {"grow": 4, "certify": 2}
    assert dict(counted.queries.paid) == {"grow": 4, "certify": 2}


def test_with_memory_repeats_are_asked_and_not_paid() -> None:
    counted = Counted(parity, SPACE, memory=Memory())
    first = counted.ask(cube(3)[[0, 1, 1, 1]], "grow")
    second = counted.ask(cube(3)[[1, 2, 0]], "certify")
    assert (counted.asked, counted.paid) == (7, 3)
    assert dict(counted.queries.paid) == {"grow": 2, "certify": 1}
    assert [counted.book.seen[code] for code in (*first, *second)] == [0, 1, 1, 1, 1, 1, 0]


def test_codes_are_the_same_with_and_without_memory() -> None:
    rows = np.random.default_rng(0).integers(0, 2, (500, 3), np.uint8)
    plain, remembering = Counted(parity, SPACE), Counted(parity, SPACE, memory=Memory(3))
    for part in np.array_split(rows, 7):
        one, two = plain.ask(part, "grow"), remembering.ask(part, "grow")
        assert [plain.book.seen[c] for c in one] == [remembering.book.seen[c] for c in two]
    assert remembering.paid < remembering.asked == plain.asked == plain.paid == 500
    assert len(remembering.memory) <= 3


def test_completing_asks_only_about_what_is_not_remembered() -> None:
    counted = Counted(parity, SPACE, memory=Memory())
    counted.ask(cube(3)[:5], "grow")
    codes = counted.complete(cube(3), "enumerate")
    assert counted.labels(codes).tolist() == parity(cube(3)).tolist()
    assert dict(counted.queries.asked) == dict(counted.queries.paid) == {"grow": 5, "enumerate": 3}
    plain = Counted(parity, SPACE)
    plain.ask(cube(3)[:5], "grow")
    assert plain.labels(plain.complete(cube(3), "enumerate")).tolist() == parity(cube(3)).tolist()
    assert dict(plain.queries.asked) == {"grow": 5, "enumerate": 8}


def test_completing_keeps_to_the_budget() -> None:
    counted = Counted(parity, SPACE, memory=Memory(), budget=Budget(max_queries=6))
    counted.ask(cube(3)[:5], "grow")
    assert counted.left == 1
    with pytest.raises(BudgetSpent):
        counted.complete(cube(3), "enumerate")
    assert counted.complete(cube(3)[:6], "enumerate").tolist() == [0, 1, 1, 0, 1, 0]
    assert counted.left == 0
    assert Counted(parity, SPACE).left is None


@pytest.mark.parametrize(("limit", "checks"), [(None, 4), (9, 1), (8, 0)])
def test_what_completing_checks_is_paid_within_the_budget(limit: int | None, checks: int) -> None:
    counted = Counted(parity, SPACE, memory=Memory(checked=4), budget=Budget(max_queries=limit))
    counted.ask(cube(3)[:5], "grow")
    counted.complete(cube(3), "enumerate")
    assert (counted.asked, counted.paid) == (8, 8 + checks)


def test_completing_a_part_of_a_limited_budget_checks_nothing() -> None:
    """What is left now may be needed for the other part."""
    counted = Counted(parity, SPACE, memory=Memory(checked=4), budget=Budget(max_queries=9))
    counted.ask(cube(3)[:5], "grow")
    counted.complete(cube(3)[:6], "enumerate")
    assert (counted.asked, counted.paid) == (6, 6)


def test_an_empty_batch_costs_nothing_and_reaches_nobody() -> None:
    counted = Counted(lambda batch: pytest.fail("asked"), SPACE)
    assert counted.ask(cube(3)[:0], "grow").tolist() == []
    assert counted.asked == counted.paid == 0


def test_the_budget_is_checked_before_the_target_is_asked() -> None:
    received = []
    counted = Counted(lambda batch: received.append(len(batch)) or parity(batch), SPACE, budget=Budget(max_queries=10))
    counted.ask(cube(3), "grow")
    with pytest.raises(BudgetSpent):
        counted.ask(cube(3)[:3], "grow")
    counted.ask(cube(3)[:2], "grow")
    assert received == [8, 2]
    assert counted.asked == 10


@pytest.mark.parametrize("target", [None, 3, "model", np.zeros(8)])
def test_a_target_must_be_callable(target: object) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        Counted(target, SPACE)
    assert str(caught.value).startswith("target must be callable: a batch of inputs in, labels out; got ")


def test_a_target_that_raises_is_named_with_its_cause() -> None:
    def broken(batch: Any) -> Any:
        raise RuntimeError("no such model")

    counted = Counted(broken, SPACE)
    with pytest.raises(ft.TargetError) as caught:
        counted.ask(cube(3), "grow")
    assert str(caught.value) == "the target raised RuntimeError on a batch of 8 inputs: no such model"
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert counted.asked == counted.paid == 0


def test_an_interrupt_is_not_the_targets_error() -> None:
    def interrupted(batch: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Counted(interrupted, SPACE).ask(cube(3), "grow")


@pytest.mark.parametrize(
    ("answers", "shape"),
    [
        (np.zeros(7), "(7,)"),
        (np.zeros(9), "(9,)"),
        (np.zeros((8, 1)), "(8, 1)"),
        (np.full((8, 2), 0.5), "(8, 2)"),
        (1, "()"),
        (None, "()"),
        ({"label": 1}, "()"),
    ],
)
def test_labels_must_be_one_per_input(answers: object, shape: str) -> None:
    with pytest.raises(ft.TargetError) as caught:
        Counted(lambda batch: answers, SPACE).ask(cube(3), "grow")
    assert str(caught.value) == (
        f"labels must be one per input: the target received 8 inputs and answered an array of shape {shape}"
        + {"()": f" - {ONE_RECORD}", "(8, 2)": " - where these are scores of each class, give predict"}.get(shape, "")
    )


def test_lists_and_series_of_labels_are_accepted() -> None:
    class Series:
        def __array__(self, dtype: object = None, copy: object = None) -> Any:
            return np.array(["a", "b"] * 4)

    for answers in (["a", "b"] * 4, ("a", "b") * 4, Series()):
        counted = Counted(lambda batch, answers=answers: answers, SPACE)
        assert [counted.book.seen[c] for c in counted.ask(cube(3), "grow")] == ["a", "b"] * 4


def test_a_tally_is_its_total_and_its_parts() -> None:
    tally = Tally.of({"grow": 30, "certify": 12})
    assert tally == 42
    assert (tally["grow"], tally["label"], list(tally.keys())) == (30, 0, ["grow", "certify"])
    with pytest.raises(TypeError):
        tally.by_purpose["grow"] = 0


def test_a_tally_lists_its_purposes() -> None:
    assert set(Tally.of({"grow": 3, "certify": 4})) == {"grow", "certify"}


def test_a_pickled_tally_keeps_its_parts() -> None:
    again = pickle.loads(pickle.dumps(Tally.of({"grow": 30, "certify": 12})))
    assert (again + 0, dict(again)) == (42, {"grow": 30, "certify": 12})


def test_a_tally_does_not_change_when_more_is_asked() -> None:
    counted = Counted(parity, SPACE)
    counted.ask(cube(3), "grow")
    before = counted.queries
    counted.ask(cube(3), "grow")
    assert before.asked == before.asked["grow"] == 8


def test_queries_print_as_one_line() -> None:
    queries = Queries(Tally.of({"grow": 1234567, "certify": 1}), Tally.of({"grow": 5}))
    assert str(queries) == "1,234,568 labels asked (grow 1,234,567, certify 1), 5 rows paid"
    assert str(Queries(Tally.of({}), Tally.of({}))) == "0 labels asked (none), 0 rows paid"
    checked = Queries(Tally.of({"label": 64}), Tally.of({"label": 64, "check": 16}))
    assert str(checked) == "64 labels asked (label 64), 80 rows paid, 16 of them to check that answers repeat"
    assert "<tr><td>check</td><td>0</td><td>16</td></tr>" in checked._repr_html_()


def test_the_target_receives_batches_of_its_space() -> None:
    """Inside, inputs are inner values; only what is paid for is turned into a batch."""
    seen: list[Any] = []

    def older(batch: Any) -> Any:
        seen.append(batch)
        return np.where(batch["job"] == "pilot", "never", np.where(batch["age"] > 50, "yes", "no"))

    for memory, paid in ((None, 120), (Memory(), 100)):
        counted = Counted(older, MIXED, memory=memory)
        inner = some_inputs(MIXED, 100)
        codes = np.concatenate([counted.ask(inner, "grow"), counted.ask(inner[:20], "grow")])
        expected = np.where(inner[:, 1] == 2, "never", np.where(inner[:, 2] > 50, "yes", "no"))
        assert counted.labels(codes).tolist() == [*expected, *expected[:20]]
        assert (counted.asked, counted.paid) == (120, paid)
        assert set(seen[-1]) == set(MIXED.names)


def test_the_time_may_be_over_after_any_call_of_a_batch() -> None:
    clock, rows = [0.0], []

    def slow(batch: Any) -> Any:
        clock[0] += 1
        rows.append(len(batch))
        return batch[:, 0]

    space, book = ft.ProductSpace.bernoulli(4), LabelBook()
    budget = Budget(max_seconds=2.5, started=0.0, clock=lambda: clock[0])
    counted = Counted(slow, space, None, budget, book, calls=Direct(slow, space, book, batch_size=3))
    with pytest.raises(BudgetSpent, match=r"max_seconds = 2\.5"):
        counted.ask(cube(4), "label")
    assert (rows, counted.paid, counted.asked) == ([3, 3, 3], 9, 0)
    clock[0] = 0.0
    assert len(counted.ask(cube(4)[:6], "label")) == 6, "what was answered in time is used"


@pytest.mark.parametrize("p", [0.5, 0.2])
def test_where_inputs_count_once_draws_cost_what_is_new_of_them(p: float) -> None:
    """Of many sets of draws, the labels that they cost are on average what was forecast, and a little for the time."""
    space = ft.ProductSpace.bernoulli(8, p)
    random = np.random.default_rng(3)

    def draw(rows: int) -> Any:
        return (random.random((rows, 8)) < p).astype(np.uint8)

    spent, told = [], []
    for _ in range(40):
        counted = Counted(parity, space, Memory())
        counted.once = True
        counted.ask(draw(150), "label")
        before = counted.asked
        told.append(counted.labels_for(100) - 100 * REPEAT)
        counted.ask(draw(100), "certify")
        spent.append(counted.asked - before)
    assert np.mean(told) == pytest.approx(np.mean(spent), rel=0.08 if p == 0.5 else 0.25)


def test_what_is_unknown_has_the_probability_of_the_inputs_that_have_not_come() -> None:
    space = ft.ProductSpace.bernoulli(5, 0.3)
    counted = Counted(parity, space, Memory(checked=4))
    counted.once = True
    known = cube(5)[:20]
    counted.ask(known, "label")
    counted.ask(known[:8], "certify")  # four of them are checked, none is new
    assert counted.unknown == pytest.approx(1 - space.chances(known).sum())
    counted.ask(cube(5), "label")
    assert counted.unknown == pytest.approx(0, abs=1e-12)
    assert counted.labels_for(64) == pytest.approx(64 * REPEAT)


def test_where_repeats_count_draws_cost_what_they_are() -> None:
    counted = Counted(parity, ft.ProductSpace.bernoulli(5), Memory())
    counted.ask(cube(5), "label")
    assert counted.labels_for(10) == 10
    assert counted.labels_for(float("inf")) == float("inf")
