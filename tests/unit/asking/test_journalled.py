"""Runs with a journal: resumed from anywhere they end as if nothing had happened, and other runs are refused."""

from __future__ import annotations

import itertools
import time
from contextlib import nullcontext
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.call import Direct
from fidelitree.asking.journal import journal
from fidelitree.asking.journal.journal import Journal
from fidelitree.asking.journal.records import Record, input_bytes
from fidelitree.asking.journal.run import Run
from fidelitree.asking.journalled import ASKED_AGAIN, Journalled, Replayed, ask_again, name_of
from fidelitree.certificates import standalone
from fidelitree.runs.agree.verify import replay
from fidelitree.search.local.iterated import Refiner
from fidelitree.targets.labels import LabelBook
from journals import BITS, MIXED, Counting, alike, drawn, on_bits, on_mixed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PLAIN = {
    "bits": (on_bits, BITS, {}),
    "mixed": (on_mixed, MIXED, {}),
    "leaves": (on_bits, BITS, {"prefer": "leaves"}),
    "influence": (on_bits, BITS, {"strategy": "influence"}),
    "smallest": (on_bits, BITS, {"strategy": "smallest"}),
    "noisy": (on_bits, BITS, {"deterministic": False}),
    "exact": (on_bits, ft.ProductSpace.bernoulli(6), {"epsilon": 0}),
    "open": (on_mixed, MIXED, {"epsilon": None, "max_queries": 300}),
    "spent": (on_bits, BITS, {"epsilon": 0.01, "max_queries": 100}),
    "rows": (on_mixed, ft.Rows(MIXED.batch(drawn(MIXED, 2_000))), {}),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.db"


FIVE_BITS = Run("distill", "model", "ab" * 32, [{"name": f"x{i}", "kind": "boolean"} for i in range(5)], 7, True, {})
NUMBERS = (np.arange(32)[:, None] >> np.arange(5) & 1).astype(np.uint8)


class Parrot:
    """Calls that answer with the first feature, note what they are asked, and take five seconds."""

    def __init__(self) -> None:
        self.now, self.asked = 100.0, list[tuple[str, list[list[int]]]]()

    def parts(self, inner: Any, purpose: str) -> Iterator[tuple[int, Any]]:
        self.now += 5
        self.asked.append((purpose, inner.tolist()))
        yield 0, inner[:, 0].astype(np.int64)


def test_time_passes_while_the_target_is_asked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = Parrot()
    monkeypatch.setattr(journal, "time", SimpleNamespace(monotonic=lambda: calls.now))
    with Journal(path, FIVE_BITS) as opened:
        assert [start for start, _ in Journalled(calls, opened).parts(NUMBERS, "label")] == [0]
    with Journal(path) as opened:
        assert opened.seconds == 5
    with Journal(path, FIVE_BITS) as opened:  # nothing of the first run is replayed before it asks
        list(Journalled(calls, opened).parts(NUMBERS, "certify"))
    with Journal(path) as opened:
        assert opened.seconds == 10


@pytest.mark.parametrize(
    ("rows", "places"), [(1, [0]), (3, [0, 1, 2]), (16, list(range(16))), (31, list(range(0, 31, 2)))]
)
def test_sixteen_journalled_inputs_are_asked_again(rows: int, places: list[int], path: Path) -> None:
    with Journal(path, FIVE_BITS) as opened:
        list(Journalled(Parrot(), opened).parts(NUMBERS[:rows], "label"))
    again = Parrot()
    with Journal(path, FIVE_BITS) as opened:
        ask_again(opened, again)
    assert again.asked == [("resume", NUMBERS[places].tolist())]


def test_the_batches_of_a_purpose_are_counted(path: Path) -> None:
    with Journal(path, FIVE_BITS) as opened:
        journalled = Journalled(Parrot(), opened)
        for purpose in ("label", "certify", "label", "label"):
            list(journalled.parts(NUMBERS, purpose))
        found = [(record.purpose, record.batch) for record in opened.all()]
    assert found == [("label", 0), ("certify", 0), ("label", 1), ("label", 2)]


@pytest.mark.parametrize(
    ("stored", "wanted", "asked"),
    [
        ([(0, 3), (3, 8)], (0, 8), []),
        ([(2, 5)], (0, 8), [(0, 2), (5, 8)]),
        ([(0, 3), (0, 3)], (0, 3), []),
        ([(0, 3), (1, 5)], (0, 5), [(3, 5)]),
        ([(0, 8)], (0, 3), [(0, 3)]),
        ([(0, 3)], (8, 11), [(8, 11)]),
    ],
    ids=["all of it", "the middle", "twice", "overlapping", "beyond the end", "other inputs"],
)
def test_only_what_is_known_of_a_batch_is_not_asked(
    stored: list[tuple[int, int]], wanted: tuple[int, int], asked: list[tuple[int, int]], path: Path
) -> None:
    with Journal(path, FIVE_BITS) as opened:
        for first, stop in stored:
            rows = NUMBERS[first:stop]
            opened.keep(Record.made("label", 0, first, input_bytes(rows), rows[:, 0].astype(np.int64)))
    inner, calls = NUMBERS[slice(*wanted)], Parrot()
    labels = np.full(len(inner), -1)
    with Journal(path, FIVE_BITS) as opened:
        for start, part in Journalled(calls, opened).parts(inner, "label"):
            assert (labels[start : start + len(part)] == -1).all(), "each once"
            labels[start : start + len(part)] = part
    assert labels.tolist() == inner[:, 0].tolist()
    assert calls.asked == [("label", NUMBERS[first:stop].tolist()) for first, stop in asked]


@pytest.mark.parametrize("rows", [1, 4])
def test_what_was_answered_first_and_what_is_answered_now_are_said(rows: int, path: Path) -> None:
    with Journal(path, FIVE_BITS) as opened:
        list(Journalled(Parrot(), opened).parts(NUMBERS[:rows], "label"))
        other = Direct(lambda batch: 1 - batch[:, 0], ft.ProductSpace.bernoulli(5), LabelBook())
        with pytest.raises(ft.ParameterError, match="an input that was answered 0 is answered 1 now - give another"):
            ask_again(opened, other)


@pytest.mark.parametrize("rows", [31, 8])
def test_a_noisy_target_is_another_one_where_it_never_repeats_itself(rows: int, path: Path) -> None:
    """Of 16 answers the same target repeats one, but with a chance of 1/65 536; of 8 it may repeat none."""
    other = Direct(lambda batch: 1 - batch[:, 0], ft.ProductSpace.bernoulli(5), LabelBook())
    with Journal(path, FIVE_BITS) as opened:
        list(Journalled(Parrot(), opened).parts(NUMBERS[:rows], "label"))
        if rows < ASKED_AGAIN:
            ask_again(opened, other, deterministic=False)
            return
        with pytest.raises(ft.ParameterError, match=r"another one: all of 16 inputs are answered otherwise now - give"):
            ask_again(opened, other, deterministic=False)


@pytest.mark.parametrize(("labels", "other"), [(2, True), (3, True), (4, False)])
def test_among_many_labels_a_noisy_target_repeats_itself_less_often(labels: int, other: bool, path: Path) -> None:
    """Never in 16 times with a chance of at most (1 - 1/k)^16: 0.00002, 0.0015, and 0.01, which is no reason."""

    def calls(shift: int) -> Direct:
        return Direct(lambda batch: (np.arange(len(batch)) + shift) % labels, ft.ProductSpace.bernoulli(5), LabelBook())

    with Journal(path, FIVE_BITS) as opened:
        list(Journalled(calls(0), opened).parts(NUMBERS[:16], "label"))
        with pytest.raises(ft.ParameterError, match="all of 16 inputs") if other else nullcontext():
            ask_again(opened, calls(1), deterministic=False)


def test_a_target_that_throws_a_coin_is_the_same_one(path: Path) -> None:
    """False alarm: 2^-16 for each of 20."""
    random = np.random.default_rng(3)
    coin = Direct(lambda batch: random.integers(0, 2, len(batch)), ft.ProductSpace.bernoulli(5), LabelBook())
    with Journal(path, FIVE_BITS) as opened:
        list(Journalled(coin, opened).parts(NUMBERS, "label"))
        for _ in range(20):
            ask_again(opened, coin, deterministic=False)
        with pytest.raises(ft.ParameterError, match="one that is not deterministic"):
            ask_again(opened, coin)


def test_a_noisy_run_is_not_replayed_for_another_target(path: Path) -> None:
    ft.distill(first_bit, BITS, deterministic=False, journal=path)
    with pytest.raises(ft.ParameterError, match="all of 16 inputs are answered otherwise now"):
        ft.distill(named_alike(first_bit, lambda batch: 1 - batch[:, 0]), BITS, deterministic=False, journal=path)


def first_bit(batch: Any) -> Any:
    return batch[:, 0]


def named_alike(one: Any, other: Any) -> Any:
    other.__qualname__ = one.__qualname__
    return other


def test_where_nothing_was_answered_no_journal_is_promised(path: Path) -> None:
    with pytest.raises(ft.TargetError, match="the line is dead") as caught:
        ft.distill(Counting(on_bits, 0), BITS, 0.1, journal=path)
    assert "in the journal" not in str(caught.value)


@pytest.mark.parametrize("name", PLAIN)
def test_resumed_after_any_answer_it_ends_the_same(name: str, path: Path) -> None:
    target, space, more = PLAIN[name]
    arguments = {"epsilon": 0.1, "seed": 3, **more}
    undisturbed = ft.distill(target, space, **arguments)
    paid, cuts, whole = int(undisturbed.queries.paid), 0, None
    while whole is None:
        broken = Counting(target, ASKED_AGAIN + paid // 3)
        try:
            whole = ft.distill(broken, space, journal=path, batch_size=8, **arguments)
        except ft.TargetError as error:
            assert "make the same call again, and it goes on from there" in str(error)  # noqa: PT017
            cuts += 1
    assert alike(whole, undisturbed)
    assert cuts > 1
    again = Counting(target)
    assert alike(ft.distill(again, space, journal=path, **arguments), undisturbed)
    assert again.rows <= ASKED_AGAIN
    assert alike(replay(path, space), undisturbed)
    assert ft.journal.info(path).answers == paid


def test_a_seed_of_the_machine_is_taken_from_the_journal(path: Path) -> None:
    with pytest.raises(ft.TargetError):
        ft.distill(Counting(on_bits, 100), BITS, 0.05, seed=None, journal=path)
    result = ft.distill(Counting(on_bits), BITS, 0.05, seed=None, journal=path)
    assert result.certificate.seed == ft.journal.info(path).run.seed
    assert not result.certificate.seed_chosen
    assert alike(replay(path, BITS), result)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"seed": 1}, "seed was 0 and is 1 now"),
        ({"epsilon": 0.2}, "epsilon was 0.1 and is 0.2 now"),
        ({"space": ft.ProductSpace.bernoulli(12, 0.4)}, "space was "),
        ({"target": on_mixed}, "target was 'on_bits' and is 'on_mixed' now"),
        ({"deterministic": False}, "deterministic was True and is False now"),
    ],
)
def test_another_run_is_refused_and_the_journal_kept(change: dict[str, Any], sentence: str, path: Path) -> None:
    arguments: dict[str, Any] = {"target": on_bits, "space": BITS, "epsilon": 0.1, "seed": 0, "journal": path}
    ft.distill(**arguments)
    before = path.read_bytes()
    with pytest.raises(ft.ParameterError, match=sentence):
        ft.distill(**{**arguments, **change})
    assert path.read_bytes() == before


def test_another_target_of_the_same_name_is_noticed(path: Path) -> None:
    ft.distill(Counting(on_bits), BITS, 0.1, journal=path)
    with pytest.raises(ft.ParameterError) as caught:
        ft.distill(Counting(lambda batch: 1 - on_bits(batch)), BITS, 0.1, journal=path)
    assert f"and {str(path)!r} belongs to another one, or to one that is not deterministic: an input" in str(
        caught.value
    )


def test_a_larger_budget_goes_on(path: Path) -> None:
    with_limit = {"epsilon": 0.01, "seed": 4, "journal": path}
    first = Counting(on_bits)
    short = ft.distill(first, BITS, max_queries=200, **with_limit)
    assert not short.certificate.holds
    second = Counting(on_bits)
    longer = ft.distill(second, BITS, max_queries=2_000, **with_limit)
    assert longer.certificate.holds
    assert longer.tree == ft.distill(on_bits, BITS, 0.01, seed=4, max_queries=2_000).tree
    assert longer.certificate.attempt > short.certificate.attempts, "other limits take other parts of delta"
    assert second.rows < longer.queries.paid, "some of it was known"


def test_time_that_was_used_is_used(path: Path) -> None:
    def slow(batch: Any) -> Any:
        time.sleep(0.05)
        return on_bits(batch)

    space = ft.ProductSpace.bernoulli(30)
    arguments = {"epsilon": 0.001, "seed": 5, "journal": path}
    first = ft.distill(slow, space, max_seconds=1.2, **arguments)
    assert first.reason == "max_seconds = 1.2"
    assert alike(replay(path, space), first)
    known = ft.journal.info(path).answers
    again = ft.distill(slow, space, max_seconds=1.2, **arguments)
    assert again.reason == "max_seconds = 1.2"
    assert ft.journal.info(path).answers <= known + 32, "what was left of the time allows a batch at most"
    longer = ft.distill(slow, space, max_seconds=4, **arguments)
    assert longer.queries.asked > first.queries.asked


def test_an_interrupt_while_the_target_is_asked_is_replayed(path: Path) -> None:
    def interrupted(batch: Any) -> Any:
        if interrupted.calls == 8:
            raise KeyboardInterrupt
        interrupted.calls += 1
        return on_bits(batch)

    interrupted.calls = 0
    result = ft.distill(interrupted, BITS, 0.01, seed=4, journal=path)
    assert result.reason == "interrupted"
    assert alike(replay(path, BITS), result)
    assert ft.journal.info(path).ended == "interrupted"


@pytest.mark.parametrize("door", [ft.distill, ft.frontier], ids=["distill", "frontier"])
@pytest.mark.parametrize("search", [2, 5, 8])
def test_an_interrupt_inside_a_search_is_replayed(
    path: Path, monkeypatch: pytest.MonkeyPatch, door: Any, search: int
) -> None:
    """Which is where most of them come: the journal listed no attempt for what the search would have found."""
    searches, know = itertools.count(1), Refiner.know

    def interrupted(refiner: Refiner, tree: Any) -> None:
        if next(searches) == 3 * search:
            raise KeyboardInterrupt
        know(refiner, tree)

    space = ft.ProductSpace([ft.Numeric(name, 0, 1) for name in "abc"])
    told: dict[str, Any] = {"epsilon": 0.02} if door is ft.distill else {}
    with monkeypatch.context() as patch:
        patch.setattr(Refiner, "know", interrupted)
        result = door(lambda batch: batch["a"] + batch["b"] > 1, space, seed=4, journal=path, max_queries=900, **told)
    assert result.reason == "interrupted"
    assert alike(replay(path, space), result.knee if isinstance(result, ft.Frontier) else result)


@pytest.mark.parametrize("written", [True, False], ids=["after it is written", "before"])
@pytest.mark.parametrize("call", [7, 12])
def test_an_interrupt_while_answers_are_written_loses_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, written: bool, call: int
) -> None:
    """What is in the journal was paid for, says the run; a verifier that counts both refused the folder."""
    folder, keep, calls = tmp_path / "kept", Journal.keep, [0]
    folder.mkdir()

    def interrupted(journal: Journal, record: Record) -> None:
        calls[0] += 1
        if calls[0] != call:
            keep(journal, record)
            return
        if written:
            keep(journal, record)
        raise KeyboardInterrupt

    monkeypatch.setattr(Journal, "keep", interrupted)
    result = ft.distill(on_mixed, MIXED, 0.01, seed=4, journal=folder / "journal.db")
    result.save(folder)
    assert result.reason == "interrupted"
    assert ft.journal.info(folder / "journal.db").answers == result.queries.paid
    assert [line for line in standalone.Folder(folder).lines if line[0] == "NO"] == []
    assert ft.verify(folder).consistent
    assert ft.verify(folder, answers=True).consistent


def test_a_replay_needs_a_journal_all_answers_and_a_target_that_only_answers(path: Path) -> None:
    with pytest.raises(ft.ParameterError, match="journal must name the file that a run is replayed from; got None"):
        ft.distill(Replayed(), BITS)
    with pytest.raises(ft.TargetError):
        ft.distill(Counting(on_bits, 100), BITS, 0.01, journal=path)
    with pytest.raises(ft.TargetError, match="the journal does not have their answers, and the target is not there"):
        replay(path, BITS)
    table = ft.targets.TruthTable([0, 1, 1, 0])
    ft.distill(table, ft.ProductSpace.bernoulli(2), 0.1, journal=path.with_name("table.db"))
    with pytest.raises(
        ft.ParameterError, match="a run whose target is a tree, a table or a circuit cannot be replayed"
    ):
        replay(path.with_name("table.db"), ft.ProductSpace.bernoulli(2))


def test_a_replay_changes_nothing_and_works_on_a_copy(path: Path, tmp_path: Path) -> None:
    result = ft.distill(on_bits, BITS, 0.1, journal=path)
    copy = tmp_path / "copy.db"
    copy.write_bytes(path.read_bytes())
    copy.chmod(0o400)
    assert alike(replay(copy, BITS), result)
    assert copy.read_bytes() == path.read_bytes()


def test_no_secret_is_written(path: Path) -> None:
    command = ft.targets.load_model(
        "cmd:python -c 'import sys; [print(1, flush=True) for _ in sys.stdin]' --key s3cret"
    )
    with command:
        ft.distill(command, BITS, 0.2, journal=path)
    assert name_of(command) == "cmd:python"
    assert b"s3cret" not in path.read_bytes()
    assert ft.journal.info(path).run.target == "cmd:python"


def test_a_part_of_a_batch_is_enough(path: Path) -> None:
    undisturbed = ft.distill(on_bits, BITS, 0.1, seed=3)
    with pytest.raises(ft.TargetError):
        ft.distill(Counting(on_bits, 20), BITS, 0.1, seed=3, journal=path, batch_size=5)
    with Journal(path) as journal:
        assert [(record.start, record.count) for record in journal.all()] == [(0, 5), (5, 5), (10, 5), (15, 5)]
    whole = Counting(on_bits)
    assert alike(ft.distill(whole, BITS, 0.1, seed=3, journal=path), undisturbed)
    assert whole.rows == undisturbed.queries.paid - 20 + ASKED_AGAIN


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (lambda labels: labels[1:], "labels must be one per input"),
        (lambda labels: np.repeat(labels, 2), "labels must be one per input"),
        (lambda labels: np.where(labels, np.nan, 0.0), "the target answered nan"),
        (lambda labels: labels.astype(str), "the target answered int before and now str"),
        (lambda labels: np.array([None] * len(labels)), "labels must be bool, int or str"),
        (lambda labels: 1 / 0, "the target raised ZeroDivisionError"),
    ],
)
def test_a_target_that_goes_wrong_leaves_the_journal_intact(fault: Any, sentence: str, path: Path) -> None:
    class Target(Counting):
        def __call__(self, batch: Any) -> Any:
            labels = super().__call__(batch)
            return fault(labels) if self.rows > self.good else labels

    undisturbed = ft.distill(on_bits, BITS, 0.1, seed=3)
    broken, whole = Target(on_bits), Target(on_bits)
    broken.good, whole.good = 60, np.inf
    with pytest.raises(ft.TargetError, match=sentence) as caught:
        ft.distill(broken, BITS, 0.1, seed=3, journal=path)
    assert "make the same call again" in str(caught.value)
    kept = ft.journal.info(path).answers
    assert 0 < kept < broken.rows
    assert alike(ft.distill(whole, BITS, 0.1, seed=3, journal=path), undisturbed)
    assert whole.rows <= undisturbed.queries.paid - kept + ASKED_AGAIN


def test_a_noisy_target_is_found_out_with_its_journal_intact(path: Path) -> None:
    random = np.random.default_rng(0)

    def noisy(batch: Any) -> Any:
        return on_bits(batch) ^ (random.random(len(batch)) < 0.3)

    with pytest.raises(ft.TargetError, match="deterministic=False"):
        ft.distill(noisy, ft.ProductSpace.bernoulli(6, 0.9), 0.1, journal=path)
    assert ft.journal.info(path).answers > 0


def test_what_is_asked_again_comes_from_all_records(tmp_path: Path) -> None:
    class Listening:
        def parts(self, inner: Any, purpose: str) -> Any:
            asked.append(inner.tolist())
            yield 0, inner[:, 0]

    asked: list[Any] = []
    run = Run("distill", "model", "ab" * 32, [{"name": f"x{k}", "kind": "boolean"} for k in range(8)], 7, True, {})
    rows = (np.arange(60)[:, None] >> np.arange(8)[::-1]).astype(np.uint8) & 1
    with Journal(tmp_path / "run.db", run) as opened:
        for batch in range(3):
            part = rows[20 * batch : 20 * batch + 20]
            opened.keep(Record.made("label", batch, 0, input_bytes(part), part[:, 0]))
    with Journal(tmp_path / "run.db", run) as opened:
        ask_again(opened, Listening())
    numbers = [int("".join(map(str, row)), 2) for row in asked[0]]
    assert [sum(number // 20 == batch for number in numbers) for batch in range(3)] == [6, 6, 4]


def test_words_that_are_no_command_name_nothing() -> None:
    assert name_of(SimpleNamespace(words="secret")) == "SimpleNamespace"  # type: ignore[arg-type]
