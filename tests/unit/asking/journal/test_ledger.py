"""One numbering of attempts for all runs of a journal: all their certificates together are paid for by one delta."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.journal.journal import Journal
from fidelitree.asking.journal.ledger import LABEL, TEST, Ledger, LedgerEntry
from fidelitree.asking.journal.records import Opened
from fidelitree.certificates.attempts import Attempts
from fidelitree.theory.sequential import RUN as ENDS
from fidelitree.theory.sequential import STANDING
from journals import BITS, MIXED, RUN, on_bits, on_mixed

if TYPE_CHECKING:
    from pathlib import Path

RUNGS = (45, 70, 90, 140, 400)


def on_many_bits(batch: Any) -> Any:
    """Learnt slowly enough for every limit to find another tree."""
    return (batch[:, :5].sum(axis=1) > 2) ^ (batch[:, 7] & batch[:, 9] & batch[:, 11])


def of_rows(seed: int) -> ft.Rows:
    rng = np.random.default_rng(seed)
    columns = {"age": rng.uniform(18, 90, 1_500), "children": rng.integers(0, 4, 1_500)}
    return ft.Rows({**columns, "job": rng.choice(["clerk", "nurse", "pilot"], 1_500), "owner": rng.random(1_500) < 0.3})


CASES = {
    "bits": (on_many_bits, ft.ProductSpace.bernoulli(14)),
    "table": (on_mixed, MIXED),
    "rows": (on_mixed, of_rows(1)),
}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Attempts]:
    """The attempts of every run, in order."""
    made: list[Attempts] = []
    begin = Attempts.__init__

    def noting(self: Attempts, *args: Any, **more: Any) -> None:
        begin(self, *args, **more)
        made.append(self)

    monkeypatch.setattr(Attempts, "__init__", noting)
    return made


@pytest.mark.parametrize("kind", CASES)
def test_no_number_is_given_to_two_trees(tmp_path: Path, opened: list[Attempts], kind: str, soak: bool) -> None:
    """Some runs over bits test other trees when they go on, else this would be empty."""
    target, space = CASES[kind]
    for seed in range(6 if soak else 2):
        before = len(opened)
        for most in RUNGS:
            ft.distill(target, space, 0.1, seed=seed, max_queries=most, journal=tmp_path / f"{seed}.db")
        runs = opened[before:]
        every = [one for run in runs for one in (*run.all, *run.standing.all) if one.samples]
        tested = {(one.ledger, one.number, one.tree.digest) for one in every}
        assert len(tested) == len({(ledger, number) for ledger, number, _ in tested})
    others = max(one.number for run in opened for one in run.all) > max(len(run.all) for run in opened)
    assert others or kind != "bits"


@pytest.mark.parametrize("kind", CASES)
def test_what_an_earlier_run_has_drawn_is_not_counted_for_a_new_tree(tmp_path: Path, kind: str) -> None:
    target, space = CASES[kind]
    known, drawn = dict[tuple[str, int], Opened](), (0, 0)
    for most in RUNGS:
        found = ft.distill(target, space, 0.1, seed=1, max_queries=most, journal=tmp_path / "run.db")
        with Journal(tmp_path / "run.db") as journal:
            listed = {(one.ledger, one.number): one for one in journal.attempts}
            new = [one for place, one in listed.items() if place not in known]
            assert all(one.labels_since >= drawn[0] and one.tests_since >= drawn[1] for one in new)
            assert all(listed[place] == one for place, one in known.items())
            known = listed
            assert all(now >= before for now, before in zip(journal.drawn, drawn, strict=True))
            drawn = journal.drawn
            made = found.certificate
            if made.method != "exact" and made.samples:
                one = known[made.ledger, made.attempt]
                labels = drawn[0] - one.labels_since if made.ledger == STANDING else 0
                assert made.samples <= labels + drawn[1] - one.tests_since
                assert one.tree == (made.tested_digest or made.tree_digest)


def test_a_run_that_a_larger_limit_does_not_change_keeps_its_numbers(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    made = [ft.distill(on_bits, BITS, 0.1, max_queries=most, journal=path) for most in (None, 5_000, None)]
    assert made[0].certificate == made[1].certificate == made[2].certificate
    assert made[0].certificate.attempt <= 2


def test_the_same_limits_give_the_same_result_after_others(tmp_path: Path) -> None:
    made = [
        ft.distill(on_many_bits, ft.ProductSpace.bernoulli(14), 0.1, max_queries=most, journal=tmp_path / "run.db")
        for most in (*RUNGS, *RUNGS)
    ]
    assert [one.certificate for one in made[:5]] == [one.certificate for one in made[5:]]


def test_numbers_go_on_and_seen_inputs_are_passed_over(tmp_path: Path) -> None:
    with Journal(tmp_path / "run.db", RUN) as journal:
        place = [0, 0]
        ledger = Ledger(journal, lambda: (place[0], place[1]))
        assert ledger.open(ENDS, "a") == LedgerEntry(ENDS, 1, {TEST: 0})
        place[:] = 50, 30
        assert ledger.open(ENDS, "b") == LedgerEntry(ENDS, 2, {TEST: 0})
        assert ledger.open(STANDING, "b") == LedgerEntry(STANDING, 1, {TEST: 0, LABEL: 0}), (
            "a ledger has its own numbers"
        )
        journal.drawn = 50, 30
        place[:] = 0, 0
        numbered = [(entry.number, entry.waits[TEST]) for entry in (ledger.open(ENDS, tree) for tree in "acb")]
        assert numbered == [(1, 0), (3, 30), (4, 30)]
        place[:] = 20, 10
        numbered = [(entry.number, entry.waits[TEST]) for entry in (ledger.open(ENDS, tree) for tree in "ac")]
        assert numbered == [(5, 20), (6, 20)]
        assert ledger.open(STANDING, "b") == LedgerEntry(STANDING, 2, {TEST: 20, LABEL: 30})
    with pytest.raises(ft.FormatError, match="passes over inputs that no earlier run has drawn"):
        Journal(tmp_path / "run.db")
    with closing(sqlite3.connect(tmp_path / "run.db")) as file, file:
        all_limits = json.dumps([RUN.limits, {"max_queries": 1}])
        file.execute("UPDATE run SET value = ? WHERE name = 'rungs'", (all_limits,))
    with Journal(tmp_path / "run.db") as read:
        assert read.attempts[3] == Opened(ENDS, 4, "b", 0, 0, 50, 30)
        assert Ledger(read, lambda: (0, 0)).open(ENDS, "b") == LedgerEntry(ENDS, 4, {TEST: 30})
        with pytest.raises(ft.TargetError, match="does not list an attempt that the run opens"):
            Ledger(read, lambda: (0, 7)).open(ENDS, "z")


def test_attempts_count_what_comes_after_the_inputs_that_they_pass_over(tmp_path: Path) -> None:
    space = ft.ProductSpace.bernoulli(1)
    with Journal(tmp_path / "run.db", RUN) as journal:
        journal.drawn = 0, 5
        attempts = Attempts(0.1, 0.05, Ledger(journal, lambda: (0, 0)))
        attempts.open(ft.Tree.constant(space, 0))
        attempts.count(np.zeros((3, 1), np.uint8), np.array([1, 1, 1]))
        assert attempts.all[0].counts == (0, 0)
        wrong = attempts.count(np.zeros((4, 1), np.uint8), np.array([1, 1, 0, 1]))
        assert attempts.all[0].counts == (1, 2)
        assert wrong.tolist() == [True, True, False, True], "of what teaches, nothing is lost"


def test_a_standing_attempt_waits_until_both_streams_have_come_so_far(tmp_path: Path) -> None:
    space, batch = ft.ProductSpace.bernoulli(1), np.zeros((4, 1), np.uint8)
    with Journal(tmp_path / "run.db", RUN) as journal:
        journal.drawn = 6, 3
        standing = Attempts(0.1, 0.05, Ledger(journal, lambda: (0, 0))).standing
        standing.open(64, [ft.Tree.constant(space, 0)])
        (attempt,) = standing.all
        for stream, counted in ((LABEL, 0), (LABEL, 0), (LABEL, 0), (TEST, 1), (LABEL, 5), (TEST, 9)):
            standing.count(batch, np.array([1, 0, 0, 1]), stream)
            assert attempt.samples == counted


def older(path: Path) -> None:
    """The journal as fidelitree 0.1.0 would have left it."""
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("DROP TABLE attempts")
        file.execute("DELETE FROM run WHERE name IN ('rungs', 'drawn')")
        file.execute("PRAGMA user_version=1")


def test_an_older_journal_is_read_and_goes_on_with_its_own_limits(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    made = ft.distill(on_many_bits, BITS, 0.1, max_queries=90, journal=path)
    made.save(tmp_path)
    older(path)
    before = path.read_bytes()
    assert ft.journal.info(path).answers == made.queries.paid
    with pytest.raises(ft.JournalError, match="did not write down its attempts: it cannot go on with other limits"):
        ft.distill(on_many_bits, BITS, 0.1, max_queries=200, journal=path)
    assert path.read_bytes() == before
    assert ft.distill(on_many_bits, BITS, 0.1, max_queries=90, journal=path).certificate == made.certificate
    with Journal(path) as journal:
        assert journal.attempts, "it is up to date now"
    ft.distill(on_many_bits, BITS, 0.1, max_queries=200, journal=path)


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("INSERT INTO attempts VALUES ('run', 2, 'a', 0, 0, 0, 0)", "attempts are missing"),
        (
            "INSERT INTO attempts VALUES ('run', 9, 'a', 0, 3, 0, 2)",
            "attempt 9 counts inputs from before it was opened",
        ),
        ("INSERT INTO attempts VALUES ('run', 9, x'00', 0, 0, 0, 0)", "an attempt holds values of other types"),
        ("INSERT OR REPLACE INTO run VALUES ('drawn', '\"3\"')", "its 'drawn' must be list"),
        ("INSERT OR REPLACE INTO run VALUES ('drawn', '[1, -1]')", "how many inputs were drawn is not told"),
        ("INSERT OR REPLACE INTO run VALUES ('rungs', '{')", "its 'rungs' must be list"),
    ],
)
def test_damage_is_noticed(tmp_path: Path, statement: str, sentence: str) -> None:
    Journal(tmp_path / "run.db", RUN).close()
    with closing(sqlite3.connect(tmp_path / "run.db")) as file, file:
        file.execute(statement)
    with pytest.raises(ft.FormatError, match=sentence):
        Journal(tmp_path / "run.db")


def test_limits_of_all_runs_are_kept(tmp_path: Path) -> None:
    for most in (45, 70, 45):
        ft.distill(on_many_bits, BITS, 0.1, max_queries=most, journal=tmp_path / "run.db")
    with Journal(tmp_path / "run.db") as journal:
        assert [rung["max_queries"] for rung in journal.all_limits] == [45, 70]
        assert json.loads(json.dumps(journal.all_limits)) == journal.all_limits
