"""Limits are checked when they are set, and signalled before they are exceeded."""

from __future__ import annotations

import time

import pytest

from fidelitree.asking.limits import CALL, Budget, BudgetSpent, Pace
from fidelitree.errors import FidelitreeError, ParameterError


def test_no_limit_never_ends_a_run() -> None:
    budget = Budget()
    budget.check(10**12)
    assert budget.allows(10**12)


def test_queries_may_reach_the_limit_and_not_pass_it() -> None:
    budget = Budget(max_queries=100)
    budget.check(100)
    with pytest.raises(BudgetSpent, match="max_queries = 100"):
        budget.check(101)


def test_leaves_may_reach_the_limit_and_not_pass_it() -> None:
    budget = Budget(max_leaves=3)
    assert budget.allows(3)
    assert not budget.allows(4)


def test_time_is_over_when_the_seconds_have_passed() -> None:
    late = Budget(max_seconds=2.5, started=time.monotonic() - 3)
    with pytest.raises(BudgetSpent, match=r"max_seconds = 2\.5"):
        late.check(0)
    Budget(max_seconds=3600).check(0)


def test_no_time_at_all_and_a_part_of_a_second_are_limits() -> None:
    assert Budget(max_seconds=0).max_seconds == 0
    assert Budget(max_seconds=0.5, max_queries=0).max_seconds == 0.5


def test_the_signal_is_not_one_of_the_errors_that_users_see() -> None:
    assert not issubclass(BudgetSpent, FidelitreeError)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"max_queries": -1}, "max_queries must be at least 0; got -1"),
        ({"max_queries": 1e6}, "max_queries must be a whole number; got 1000000.0"),
        ({"max_leaves": 0}, "max_leaves must be at least 1; got 0"),
        ({"max_seconds": -0.5}, "max_seconds must be at least 0; got -0.5"),
        ({"max_seconds": float("nan")}, "max_seconds must be a number; got NaN"),
        ({"max_seconds": "long"}, "max_seconds must be a number; got 'long'"),
    ],
)
def test_bad_limits_are_refused(limits: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Budget(**limits)
    assert str(caught.value) == message


def test_share_of_the_time_that_is_gone() -> None:
    assert Budget().gone == 0
    assert Budget(max_seconds=8, started=10, clock=lambda: 14).gone == 0.5
    assert Budget(max_seconds=8, started=10, clock=lambda: 20).gone > 1
    assert Budget(max_seconds=0, started=10, clock=lambda: 10).gone == 0
    assert Budget(max_seconds=0, started=10, clock=lambda: 11).gone > 1


# --- the pace of calls


def calls(pace: Pace, inputs: int, once: float, each: float) -> list[tuple[int, float]]:
    """Rows and seconds of the calls that answer so many inputs."""
    made = []
    while inputs > 0:
        rows = min(inputs, pace.rows)
        made.append((rows, once + each * rows))
        pace.took(*made[-1])
        inputs -= rows
    return made


def test_without_a_limit_a_call_receives_what_there_is() -> None:
    assert calls(Pace(None), 10**6, 0, 1) == [(10**6, 10.0**6)]


@pytest.mark.parametrize("each", [1e-6, 1e-3, 0.02, 0.4])
def test_a_call_takes_no_more_than_its_part_of_the_time(each: float) -> None:
    made = calls(Pace(10), 2_000, 0, each)
    assert made[0][0] == 1
    assert all(seconds <= max(each, CALL * 10 * 1.001) for _, seconds in made[3:])
    assert all(seconds <= 0.25 * 10 + each for _, seconds in made)
    assert len(made) <= 4 + 2_000 / max(1, int(CALL * 10 / each))


def test_what_a_call_costs_by_itself_is_no_reason_for_small_calls() -> None:
    made = calls(Pace(20), 2_000, 1, 1e-4)
    assert len(made) <= 8
    assert sum(seconds for _, seconds in made) < 10
