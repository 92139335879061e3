"""One numbering of attempts for all runs of a journal: all their certificates together are paid for by one delta."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.journal.journal import Journal
from fidelitree.asking.journal.ledger import FIRST_KEY, LABEL, TEST, Ledger, LedgerEntry, next_key
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
    """Rows are passed over; all other inputs of a tree that no run has tested here come from a key of their own."""
    target, space = CASES[kind]
    known, drawn = dict[tuple[str, int], Opened](), (0, 0)
    for most in RUNGS:
        found = ft.distill(target, space, 0.1, seed=1, max_queries=most, journal=tmp_path / "run.db")
        with Journal(tmp_path / "run.db") as journal:
            listed = {(one.ledger, one.number): one for one in journal.attempts}
            new = [one for place, one in listed.items() if place not in known]
            keys = {one.key for one in known.values()}
            for one in new:
                again = any(one.same_place(two) for two in known.values())
                if kind == "rows":
                    assert again or (one.labels_since >= drawn[0] and one.tests_since >= drawn[1])
                else:
                    assert again == (one.key in keys)
                    assert one.key == next_key(one.before, one)
                    assert (one.labels_since, one.tests_since) == (one.labels, one.tests)
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


def test_a_run_with_limits_of_its_own_takes_numbers_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    made = [ft.distill(on_bits, BITS, 0.1, max_queries=most, journal=path) for most in (None, 5_000, None)]
    assert made[0].certificate == made[2].certificate, "the same limits have their old ones"
    assert made[0].certificate.attempt < made[1].certificate.attempt
    assert made[1].tree == made[0].tree
    assert made[1].certificate.holds


def test_the_same_limits_give_the_same_result_after_others(tmp_path: Path) -> None:
    made = [
        ft.distill(on_many_bits, ft.ProductSpace.bernoulli(14), 0.1, max_queries=most, journal=tmp_path / "run.db")
        for most in (*RUNGS, *RUNGS)
    ]
    assert [one.certificate for one in made[:5]] == [one.certificate for one in made[5:]]


class Inputs:
    """Places in the two streams, as a test sets them, and the keys that were asked for."""

    def __init__(self, keyed: bool, drawn: tuple[int, int] = (0, 0)) -> None:
        self.keyed = keyed
        self.drawn = drawn
        self.keys: list[str] = []

    def rekey(self, key: str) -> None:
        self.keys.append(key)


A, B, C, Z = (ft.Tree.constant(BITS, label) for label in range(4))


def test_numbers_go_on_and_seen_rows_are_passed_over(tmp_path: Path) -> None:
    rows = Inputs(keyed=False)
    with Journal(tmp_path / "run.db", RUN) as journal:
        ledger = Ledger(rows, journal)
        assert ledger.open(ENDS, A) == LedgerEntry(ENDS, 1, {TEST: 0})
        rows.drawn = 50, 30
        assert ledger.open(ENDS, B) == LedgerEntry(ENDS, 2, {TEST: 0})
        assert ledger.open(STANDING, B) == LedgerEntry(STANDING, 1, {TEST: 0, LABEL: 0}), "a ledger has its own numbers"
        journal.drawn = 50, 30
        rows.drawn = 0, 0
        numbered = [(entry.number, entry.waits[TEST]) for entry in (ledger.open(ENDS, tree) for tree in (A, C, B))]
        assert numbered == [(1, 0), (3, 30), (4, 30)]
        rows.drawn = 20, 10
        numbered = [(entry.number, entry.waits[TEST]) for entry in (ledger.open(ENDS, tree) for tree in (A, C))]
        assert numbered == [(5, 20), (6, 20)]
        assert ledger.open(STANDING, B) == LedgerEntry(STANDING, 2, {TEST: 20, LABEL: 30})
        assert not rows.keys
    with pytest.raises(ft.FormatError, match="passes over inputs that no earlier run has drawn"):
        Journal(tmp_path / "run.db")
    with closing(sqlite3.connect(tmp_path / "run.db")) as file, file:
        all_limits = json.dumps([RUN.limits, {"max_queries": 1}])
        file.execute("UPDATE run SET value = ? WHERE name = 'rungs'", (all_limits,))
    with Journal(tmp_path / "run.db") as read:
        assert read.attempts[3] == Opened(ENDS, 4, B.digest, 0, 0, 50, 30)
        assert Ledger(Inputs(keyed=False), read).open(ENDS, B) == LedgerEntry(ENDS, 4, {TEST: 30})
        with pytest.raises(ft.TargetError, match="does not list an attempt that the run opens"):
            Ledger(Inputs(keyed=False, drawn=(0, 7)), read).open(ENDS, Z)


def test_each_opening_makes_a_key_of_all_that_was_opened(tmp_path: Path) -> None:
    drawn = Inputs(keyed=True)
    with Journal(tmp_path / "run.db", RUN) as journal:
        ledger = Ledger(drawn, journal)
        ledger.open(ENDS, A)
        drawn.drawn = 5, 7
        ledger.open(STANDING, B)
        first, second = journal.attempts
    text = f"0/{ENDS}/0/0/{A.digest}"
    assert (first.before, first.key) == (FIRST_KEY, hashlib.sha256(text.encode()).hexdigest())
    text = f"{first.key}/{STANDING}/5/7/{B.digest}"
    assert (second.before, second.key) == (first.key, hashlib.sha256(text.encode()).hexdigest())
    assert drawn.keys == [first.key, second.key]


def test_keys_do_not_depend_on_a_journal(tmp_path: Path) -> None:
    with_journal, without = Inputs(keyed=True), Inputs(keyed=True)
    with Journal(tmp_path / "run.db", RUN) as journal:
        ledgers = Ledger(with_journal, journal), Ledger(without)
        numbers = [[ledger.open(ENDS, tree).number for tree in (A, B)] for ledger in ledgers]
    assert numbers == [[1, 2], [1, 2]]
    assert with_journal.keys == without.keys


def test_attempts_count_what_comes_after_the_inputs_that_they_pass_over(tmp_path: Path) -> None:
    space = ft.ProductSpace.bernoulli(1)
    with Journal(tmp_path / "run.db", RUN) as journal:
        journal.drawn = 0, 5
        attempts = Attempts(0.1, 0.05, Ledger(Inputs(keyed=False), journal))
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
        standing = Attempts(0.1, 0.05, Ledger(Inputs(keyed=False), journal)).standing
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


def test_an_older_journal_is_read_and_not_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    made = ft.distill(on_many_bits, BITS, 0.1, max_queries=90, journal=path)
    older(path)
    before = path.read_bytes()
    assert ft.journal.info(path).answers == made.queries.paid
    with pytest.raises(ft.JournalError, match="older fidelitree, which drew other test inputs: give another journal"):
        ft.distill(on_many_bits, BITS, 0.1, max_queries=90, journal=path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("INSERT INTO attempts VALUES ('run', 2, 'a', 0, 0, 0, 0, 0, '', '')", "attempts are missing"),
        (
            "INSERT INTO attempts VALUES ('run', 9, 'a', 0, 3, 0, 2, 0, '', '')",
            "attempt 9 counts inputs from before it was opened",
        ),
        (
            "INSERT INTO attempts VALUES ('run', 9, x'00', 0, 0, 0, 0, 0, '', '')",
            "an attempt holds values of other types",
        ),
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
