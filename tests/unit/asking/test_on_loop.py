"""Targets that are awaited: noticed by themselves, spread over time, retried, and never lost."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking import on_loop
from fidelitree.asking.limits import Running
from fidelitree.asking.on_loop import OnLoop, wait_asked_for
from fidelitree.errors import TargetError
from fidelitree.targets import Remote
from fidelitree.targets.labels import LabelBook
from fidelitree.targets.models.remote import Terms

BITS = ft.ProductSpace.bernoulli(6)
LIMIT = 1.5  # seconds in which a busy machine, too, answers forty rows
SOON = 60  # seconds: nothing like the hours that a test's target would wait
ROWS = np.random.default_rng(0).integers(0, 2, (40, 6)).astype(np.uint8)


def plain(batch: Any) -> Any:
    return batch[:, 0] & batch[:, 1]


async def awaited(batch: Any) -> Any:
    await asyncio.sleep(0)
    return plain(batch)


def answers(target: Any, **running: Any) -> np.ndarray:
    calls = OnLoop(target, BITS, LabelBook(), Running(**running))
    try:
        parts = dict(part for part in calls.parts(ROWS, "label") if len(part[1]))
    finally:
        calls.close()
    return np.concatenate([parts[start] for start in sorted(parts)])


@pytest.mark.parametrize(
    "target", [awaited, Remote(plain), Remote(awaited, concurrency=3), Remote(plain, concurrency=1)]
)
def test_answers_come_in_draw_order(target: Any) -> None:
    assert answers(target).tolist() == plain(ROWS).tolist()


def test_no_call_is_begun_before_there_is_room_for_its_answer() -> None:
    """Whoever takes answers may be slow, such as a journal on a slow disk: a kill then loses three calls at most."""
    begun: list[int] = []

    async def noted(batch: Any) -> Any:
        begun.append(len(batch))
        return plain(batch)

    calls = OnLoop(Remote(noted, concurrency=3), BITS, LabelBook(), Running(batch_size=2))
    taken = 0
    try:
        for _, labels in calls.parts(ROWS, "label"):
            time.sleep(0.02)  # many times what a call takes
            assert len(begun) <= taken + 3
            taken += bool(len(labels))
    finally:
        calls.close()
    assert taken == len(begun) == 20


def test_the_same_tree_awaited_or_not() -> None:
    usual = ft.distill(plain, BITS, seed=3)
    later = ft.distill(awaited, BITS, seed=3)
    assert later.tree.digest == usual.tree.digest
    assert later.certificate == usual.certificate
    assert later.queries.rounds == usual.queries.rounds > 0
    assert ft.analyze(awaited, BITS).influences.tolist() == ft.analyze(plain, BITS).influences.tolist()


def test_scores_that_are_awaited_have_a_threshold() -> None:
    async def score(batch: Any) -> Any:
        return batch[:, 0] * 0.8

    assert ft.distill(score, BITS, threshold=0.5).tree.size == 2


def test_one_row_at_a_time() -> None:
    seen: list[Any] = []

    async def one(row: Any) -> int:
        seen.append(row)
        return int(row[0])

    assert answers(Remote(one, one_row=True)).tolist() == ROWS[:, 0].tolist()
    assert {row.shape for row in seen} == {(6,)}
    mixed = ft.ProductSpace([ft.Numeric("age", 0, 9), ft.Categorical("job", {"nurse": 0.5, "pilot": 0.5})])

    def by_name(row: dict[str, Any]) -> str:
        assert type(row["age"]) is float
        return row["job"]

    assert ft.distill(Remote(by_name, one_row=True), mixed, max_queries=200).tree.size == 2


def test_no_more_calls_at_a_time_than_allowed() -> None:
    inside, most = 0, 0

    async def slow(batch: Any) -> Any:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0.01)
        inside -= 1
        return plain(batch)

    answers(Remote(slow, concurrency=4), batch_size=2)
    assert most == 4


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The clock of the calls, which goes on by as much as they wait for, at once."""
    turned = SimpleNamespace(now=100.0)

    async def pass_by(seconds: float) -> None:
        turned.now += seconds + 1e-9

    monkeypatch.setattr(on_loop, "time", SimpleNamespace(monotonic=lambda: turned.now))
    monkeypatch.setattr(on_loop.asyncio, "sleep", pass_by)
    return turned


def test_limits_on_rows_and_calls_are_kept(clock: SimpleNamespace) -> None:
    sent: list[float] = []

    async def timed(batch: Any) -> Any:
        sent.append(clock.now)
        return plain(batch)

    # One call at a time, or each would turn the clock by what all wait for together.
    answers(Remote(timed, rows_per_second=50, concurrency=1), batch_size=2)  # 20 calls, one every 40 ms; 5 at the start
    assert 0.9 * 15 * 0.04 < sent[-1] - sent[0] < 1.1 * 15 * 0.04
    sent.clear()
    answers(Remote(timed, calls_per_minute=600, concurrency=1), batch_size=5)  # 8, one every 100 ms; 2 at the start
    assert 0.9 * 5 * 0.1 < sent[-1] - sent[0] < 1.3 * 5 * 0.1


def test_lost_time_is_made_up_for_and_no_second_is_crowded(clock: SimpleNamespace) -> None:
    sent = list[float]()

    async def send() -> None:
        pacer = on_loop.Pacer(Terms(rows_per_second=50))
        for call in range(200):
            clock.now += {60: 0.6, 150: 5.0}.get(call, 0.0)  # the learner thinks
            assert await pacer.turn(2, lambda: False)
            sent.append(clock.now)

    asyncio.run(send())
    assert sent[149] - sent[0] == pytest.approx(149 * 2 / 50 - 0.2, abs=0.01)  # nothing is lost
    assert sent[199] - sent[150] >= 49 * 2 / 50 - 1.01  # of a long silence, one second is made up for
    assert max(2 * sum(at - 1 < one <= at for one in sent) for at in sent) <= 52
    assert max(2 * sum(at - 1 < one <= at for one in sent[40:60]) for at in sent) <= 50


def test_a_call_takes_a_small_part_of_what_is_allowed_in_a_second() -> None:
    assert Terms(rows_per_second=50).rows_a_call(1500, None) == 2
    assert Terms(rows_per_second=50, calls_per_minute=60).rows_a_call(1500, None) == 50
    assert Terms(rows_per_second=0.1).rows_a_call(1500, None) == 1
    assert Terms(rows_per_second=50).rows_a_call(1500, 7) == 7
    assert Terms().rows_a_call(1500, None) == 94


class BusyError(Exception):
    def __init__(self, status: int, headers: dict[str, str]) -> None:
        self.response = SimpleNamespace(status_code=status, headers=headers)


def test_who_is_busy_is_asked_again_without_retries() -> None:
    calls = 0

    async def busy(batch: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls < 4:
            raise BusyError(429, {"retry-after": "0.01"})
        return plain(batch)

    assert answers(Remote(busy, concurrency=1)).tolist() == plain(ROWS).tolist()
    assert calls == 4


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (BusyError(503, {}), 0),
        (BusyError(429, {"retry-after": "7"}), 7),
        (BusyError(429, {"retry-after": "1e9"}), 600),
        (BusyError(429, {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}), 0),
        (BusyError(500, {"retry-after": "7"}), None),
        (ValueError("no"), None),
        (None, None),
    ],
)
def test_what_a_server_asks_for(error: Any, seconds: float | None) -> None:
    assert wait_asked_for(error) == seconds


def test_failures_are_retried_and_end_in_our_error() -> None:
    calls = 0

    async def shaky(batch: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls % 2:
            raise ConnectionError("the line is dead")
        return plain(batch)

    assert answers(Remote(shaky, concurrency=1), retries=1, batch_size=20).tolist() == plain(ROWS).tolist()
    with pytest.raises(ft.TargetError, match="the target raised ConnectionError on a batch of 40 inputs: the line is"):
        answers(Remote(shaky, concurrency=1))


def test_a_call_that_hangs_is_ended() -> None:
    async def hangs(batch: Any) -> Any:
        await asyncio.sleep(60)

    with pytest.raises(ft.TargetError, match=r"the target was silent for timeout = 0\.05 seconds"):
        ft.distill(hangs, BITS, timeout=0.05)
    with pytest.raises(ft.ParameterError, match="timeout must be None where threads of this process"):
        ft.distill(Remote(plain), BITS, timeout=1)
    with pytest.raises(ft.ParameterError, match="timeout must be None where the target runs in this process"):
        ft.distill(plain, BITS, timeout=1)


async def never(batch: Any) -> Any:
    await asyncio.sleep(1e6)


async def asks_for_patience(batch: Any) -> Any:
    raise BusyError(429, {"retry-after": "1e9"})


@pytest.mark.parametrize("target", [never, asks_for_patience])
def test_the_time_limit_ends_a_run_that_waits(target: Any) -> None:
    began = time.monotonic()
    with pytest.raises(ft.ParameterError, match="the budget ended before the first"):
        ft.distill(target, ft.ProductSpace.bernoulli(20), 0.1, max_seconds=0.5)
    rated = Remote(awaited, rows_per_second=1e-9)  # its first call is answered
    assert ft.distill(rated, ft.ProductSpace.bernoulli(20), 0.1, max_seconds=LIMIT).reason == f"max_seconds = {LIMIT}"
    assert time.monotonic() - began < SOON


def test_what_came_before_the_time_was_over_is_kept_and_replayed(tmp_path: Any) -> None:
    wide, answered, cancelled = ft.ProductSpace.bernoulli(20), 0, 0

    async def stuck(batch: Any) -> Any:
        nonlocal answered, cancelled
        if answered >= 40:
            try:
                await asyncio.sleep(1e6)
            except asyncio.CancelledError:
                cancelled += 1
                raise
        answered += len(batch)
        return plain(batch)

    result = ft.distill(
        Remote(stuck, concurrency=1), wide, 0.01, max_seconds=LIMIT, batch_size=4, journal=tmp_path / "run.db", seed=1
    )
    assert result.reason == f"max_seconds = {LIMIT}"
    assert journalled(tmp_path / "run.db") == int(result.queries.paid) == answered
    assert cancelled
    result.save(tmp_path / "out")
    assert all(check.passed is not False for check in ft.verify(tmp_path / "out").checks)


def test_what_a_target_cancels_is_its_failure() -> None:
    async def cancels(batch: Any) -> Any:
        raise asyncio.CancelledError

    async def ends_itself(batch: Any) -> Any:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(1)

    async def twice(batch: Any) -> Any:
        return awaited(batch)

    for target, said in (
        (cancels, "the target raised CancelledError on a batch of"),
        (ends_itself, "the target cancelled its own call"),
        (twice, "has to be awaited again: await it inside"),
    ):
        with pytest.raises(ft.TargetError, match=said):
            ft.distill(target, BITS)


def test_labels_of_another_kind_end_the_run_after_the_others_came() -> None:
    async def odd(batch: Any) -> Any:
        return plain(batch) if batch[0, 0] else plain(batch).astype(str)

    with pytest.raises(ft.TargetError, match="labels must be of one kind during a run"):
        answers(Remote(odd), batch_size=1)


class Interrupts(threading.Thread):
    """Sends Ctrl-C to the main thread once so many calls are inside."""

    def __init__(self, calls: int) -> None:
        super().__init__(daemon=True)
        self.inside, self.calls, self.finished = 0, calls, 0
        self.go, self.sent = threading.Event(), threading.Event()

    async def target(self, batch: Any) -> Any:
        self.inside += 1
        if self.inside == self.calls:
            self.go.set()
        while self.inside >= self.calls and not self.sent.is_set():
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.02)
        self.finished += len(batch)
        return plain(batch)

    def run(self) -> None:
        import signal

        if self.go.wait(10):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            time.sleep(0.05)
            self.sent.set()


class AfterCtrlC:
    """Calls that have to wait for their turn, and a Ctrl-C while the first is inside."""

    def __init__(self) -> None:
        self.begun, self.after = 0, 0
        self.sent = False

    async def target(self, batch: Any) -> Any:
        import signal

        self.begun += 1
        self.after += self.sent
        if self.begun == 2:
            self.sent = True
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        return plain(batch)


def test_no_call_is_begun_after_ctrl_c() -> None:
    seen = AfterCtrlC()
    began = time.monotonic()
    calls = OnLoop(Remote(seen.target, rows_per_second=1), BITS, LabelBook(), Running(batch_size=1))
    with pytest.raises(KeyboardInterrupt):
        list(calls.parts(ROWS, "label"))
    calls.close()
    assert (seen.begun, seen.after) == (2, 0)
    assert time.monotonic() - began < 20  # nor is any waited for: forty would take 39 seconds


def journalled(path: Any) -> int:
    with sqlite3.connect(path) as found:
        return int(found.execute("SELECT sum(count) FROM answers").fetchone()[0] or 0)


@pytest.fixture
def interrupts() -> Iterator[Interrupts]:
    made = Interrupts(20)
    made.start()
    yield made
    made.join()


def test_ctrl_c_loses_no_answer_that_is_paid_for(tmp_path: Any, interrupts: Interrupts) -> None:
    wide = ft.ProductSpace.bernoulli(40)
    target = Remote(interrupts.target, concurrency=4)
    result = ft.distill(target, wide, journal=tmp_path / "run.db", batch_size=2)
    assert result.reason.endswith("interrupted")
    assert journalled(tmp_path / "run.db") == interrupts.finished == int(result.queries.paid)
    before = interrupts.finished
    again = ft.distill(Remote(interrupts.target), wide, journal=tmp_path / "run.db", batch_size=2)
    assert again.certificate.holds
    assert interrupts.finished - before <= int(again.queries.paid) - before + 16  # 16 see that it is the same target


def test_a_loop_that_runs_already_does_not_disturb() -> None:
    async def notebook() -> int:
        return ft.distill(awaited, BITS).tree.size

    with ThreadPoolExecutor(1) as elsewhere:  # a browser of other tests may have a loop in this thread
        assert elsewhere.submit(lambda: asyncio.run(notebook())).result() == 3


def test_terms_are_given_once() -> None:
    from functools import partial

    from fidelitree.targets.models.fromscores import Above

    priced = Remote(plain, cost_per_row=1)
    for nested in (priced, partial(priced), Above(priced, 0.5)):
        with pytest.raises(ft.ParameterError, match=r"function must be one without terms of its own; got .* once"):
            Remote(nested, cost_per_row=2)
    assert answers(Remote(Above(plain, 0.5))).tolist() == plain(ROWS).tolist()


def test_extreme_terms() -> None:
    for terms in ({"cost_per_row": 1e-320}, {"cost_per_call": 5e-324}, {"concurrency": 10**5, "cost_per_row": 1}):
        began = time.monotonic()
        assert ft.distill(Remote(awaited, **terms), BITS, max_cost=1e6).tree.size == 3
        assert time.monotonic() - began < SOON


def test_odd_terms_are_refused() -> None:
    for terms, said in (
        ({"concurrency": 0}, "concurrency must be at least 1; got 0"),
        ({"rows_per_second": 0}, "rows_per_second must be above 0, and finite; got 0"),
        ({"cost_per_row": -1}, "cost_per_row must be at least 0, and finite; got -1"),
        ({"speed": 1}, "terms of a target are concurrency, "),
    ):
        with pytest.raises(ft.ParameterError, match=said):
            Remote(plain, **terms)
    with pytest.raises(ft.ParameterError, match="function must be callable"):
        Remote(3)  # type: ignore[arg-type]
    with pytest.raises(ft.ParameterError, match="executor must be None where the target is async"):
        ft.distill(awaited, BITS, executor=ThreadPoolExecutor)


@pytest.mark.parametrize("limits", [{}, {"max_queries": 300}])
def test_money_is_no_limit_where_nothing_has_a_price(limits: dict[str, int]) -> None:
    with pytest.raises(ft.ParameterError, match="max_cost must be None where nothing has a price; got 5"):
        ft.distill(plain, BITS, max_cost=5, **limits)


def test_what_was_not_answered_costs_nothing(tmp_path: Any) -> None:
    failed = answered = 0

    async def shaky(batch: Any) -> Any:
        nonlocal failed, answered
        if (failed + answered) % 5 == 4:
            failed += 1
            raise ConnectionError("the line is dead")
        answered += 1
        return plain(batch)

    priced = Remote(shaky, concurrency=1, cost_per_row=2, cost_per_call=3)
    result = ft.distill(priced, ft.ProductSpace.bernoulli(20), 0.1, retries=3, batch_size=4)
    assert failed > 0
    assert result.queries.cost == 2 * result.queries.paid + 3 * answered


def test_a_batch_that_the_clock_cuts_off_costs_what_was_answered(tmp_path: Any) -> None:
    answered = calls = 0

    async def stuck(batch: Any) -> Any:
        nonlocal answered, calls
        if answered >= 40:
            await asyncio.sleep(1e6)
        answered, calls = answered + len(batch), calls + 1
        return plain(batch)

    priced = Remote(stuck, concurrency=1, cost_per_row=2, cost_per_call=3)
    wide, journal = ft.ProductSpace.bernoulli(20), tmp_path / "run.db"
    result = ft.distill(priced, wide, 0.01, max_seconds=LIMIT, batch_size=4, journal=journal, seed=1, prefer="rounds")
    assert result.reason == f"max_seconds = {LIMIT}"
    assert result.queries.cost == result.certificate.cost == 2 * answered + 3 * calls
    result.save(tmp_path / "out")
    assert all(check.passed is not False for check in ft.verify(tmp_path / "out").checks)


def test_what_ctrl_c_kept_from_being_sent_costs_nothing() -> None:
    interrupts = Interrupts(40)  # calls: the second batch, of which most are not sent
    interrupts.start()
    target = Remote(interrupts.target, concurrency=4, cost_per_row=2)
    result = ft.distill(target, ft.ProductSpace.bernoulli(40), batch_size=2, prefer="rounds")
    assert result.reason.endswith("interrupted")
    assert result.queries.cost == 2 * interrupts.finished == 2 * result.queries.paid
    interrupts.join()


def test_a_target_that_stops_its_loop_ends_the_run() -> None:
    async def stops(batch: Any) -> Any:
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0.01)
        return plain(batch)

    with pytest.raises(TargetError, match="the target stopped its event loop"):
        answers(stops)


def test_a_call_that_cannot_be_cancelled_is_given_up() -> None:
    woken = 0

    async def stubborn(batch: Any) -> Any:
        nonlocal woken
        while woken < 2:  # the timeout, and the end of the loop
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                woken += 1
        return plain(batch)

    with pytest.raises(TargetError, match=r"the target was silent for timeout = 0\.05 seconds"):
        answers(Remote(stubborn, concurrency=1), batch_size=len(ROWS), timeout=0.05)
    assert woken


def test_odd_ways_out_of_an_async_target_are_its_failures() -> None:
    async def leaves(batch: Any) -> Any:
        raise GeneratorExit

    with pytest.raises(TargetError, match="the target raised GeneratorExit"):
        answers(leaves)

    async def yields(batch: Any) -> Any:
        yield plain(batch)

    def hands_on(batch: Any) -> Any:
        return awaited(batch)

    for odd in (yields, hands_on):
        with pytest.raises(TargetError, match="write the target as an async def that returns them"):
            ft.distill(odd, ft.ProductSpace.bernoulli(4), epsilon=0.1)
