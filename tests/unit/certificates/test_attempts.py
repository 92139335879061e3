"""Attempts: each counts what comes after it was opened, at its own level."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.events import Event, TreeJudged, UnderTest
from fidelitree.certificates.attempts import Attempt, Attempts, _in_one_step
from fidelitree.theory.sequential import LEDGERS, LOWER_ENDS, error_bound, level_in
from fidelitree.trees.tree import Tree
from small import Bits, cube

SPACE = ft.ProductSpace.bernoulli(3)
ONE = Tree.build(SPACE, [(0, 1, 2), 0, 1], ["no", "yes"])
TWO = Tree.build(SPACE, [(1, 1, 2), 0, 1], ["no", "yes"])


def answers(rows: Bits) -> np.ndarray:
    return ONE.predict(rows)


def test_an_attempt_is_numbered_and_has_its_level() -> None:
    attempts = Attempts(0.1, 0.05)
    attempts.open(ONE)
    attempts.open(TWO)
    assert [(attempt.number, attempt.tree) for attempt in attempts.all] == [(1, ONE), (2, TWO)]
    assert [attempt.level for attempt in attempts.all] == [level_in("run", number, 0.05) for number in (1, 2)]


def test_many_attempts_together_spend_less_than_delta() -> None:
    attempts = Attempts(0.1, 0.2)
    for label in range(300):
        attempts.open(Tree.constant(SPACE, label))
    assert len(attempts.all) == 300
    assert 0.189 < sum(attempt.level for attempt in attempts.all) < 0.19


def test_the_same_tree_is_not_attempted_twice() -> None:
    attempts = Attempts(0.1, 0.05)
    attempts.open(ONE)
    attempts.count(cube(3), answers(cube(3)))
    attempts.open(Tree.from_dict(ONE.to_dict()))
    assert [(attempt.number, attempt.samples) for attempt in attempts.all] == [(1, 8)]


def test_only_answers_since_the_opening_are_counted() -> None:
    attempts = Attempts(0.1, 0.05)
    attempts.count(cube(3), answers(cube(3)))
    attempts.open(ONE)
    attempts.count(cube(3)[:4], answers(cube(3)[:4]))
    attempts.open(TWO)
    wrong = attempts.count(cube(3)[4:7], answers(cube(3)[4:7]))
    assert wrong.tolist() == (TWO.predict(cube(3)[4:7]) != answers(cube(3)[4:7])).tolist(), "of the last one"
    assert [(attempt.errors, attempt.samples) for attempt in attempts.all] == [(0, 7), (2, 3)]


def test_a_label_that_no_tree_knows_is_an_error() -> None:
    attempts = Attempts(0.1, 0.05)
    attempts.open(ONE)
    attempts.count(cube(3), np.full(8, "a label longer than any before"))
    assert (attempts.all[0].errors, attempts.all[0].samples) == (8, 8)


def test_the_error_bound_is_that_of_the_best_attempt() -> None:
    attempts = Attempts(0.1, 0.05)
    assert attempts.error_bound == 1
    attempts.open(TWO)
    attempts.open(ONE)
    attempts.count(np.tile(cube(3), (5, 1)), np.tile(answers(cube(3)), 5))
    assert attempts.error_bound == attempts.all[1].error_bound == error_bound(0, 40, level_in("run", 2, 0.05))
    assert attempts.all[0].error_bound > 0.5


def test_answers_are_kept_for_those_who_look_at_them_again() -> None:
    attempts = Attempts(0.1, 0.05)
    attempts.open(ONE)
    attempts.count(cube(3), answers(cube(3)))
    kept = attempts.kept.last(3)
    assert kept is not None
    assert kept.inputs.tolist() == cube(3)[-3:].tolist()
    assert kept.labels.tolist() == answers(cube(3)[-3:]).tolist()


def test_the_first_attempt_takes_forty_answers_at_best() -> None:
    assert Attempts(0.1, 0.05).at_best == 40


def test_an_observer_hears_of_the_attempt_with_the_most_evidence() -> None:
    attempts, events = Attempts(0.1, 0.05), list[Event]()
    attempts.open(TWO)
    attempts.open(ONE)
    attempts.open(Tree.constant(SPACE, "no"))
    attempts.count(cube(3), answers(cube(3)))
    attempts.tell(events.append, 30, 20)
    assert events == [UnderTest(30, 2, 0, 8, level_in("run", 2, 0.05), 20)]


def test_a_judged_tree_has_its_own_figures() -> None:
    """Not the bound of one tree beside the error of another."""
    attempts = Attempts(0.3, 0.05)
    assert attempts.judged(5, 3, 0.25, None) == TreeJudged(5, 3, 0.25, 1.0)
    one = attempts.open(ONE)
    assert attempts.judged(5, 2, 0.25, one) == TreeJudged(5, 2, 0.25, 1.0), "nothing is counted yet"
    for _ in range(20):
        attempts.count(cube(3), answers(cube(3)))
    two = attempts.open(TWO)
    attempts.count(cube(3), answers(cube(3)))
    assert attempts.open(ONE) is one
    assert (attempts.of(TWO), attempts.of(Tree.constant(SPACE, 0))) == (two, None)
    assert attempts.judged(9, 2, 0.9, one) == TreeJudged(9, 2, 0.0, error_bound(0, 168, one.level))
    assert attempts.judged(9, 2, 0.9, two) == TreeJudged(9, 2, 0.5, two.error_bound)
    assert two.error_bound > 0.5 > one.error_bound
    assert attempts.judged(9, 7, 0.9, None).error_bound == 1, "another tree's bound is no bound of this one"


# --- standing attempts


def test_standing_attempts_share_three_hundredths_of_delta() -> None:
    attempts = Attempts(0.1, 0.2)
    for label in range(300):
        attempts.standing.open(0, [Tree.constant(SPACE, label)])
    levels = [attempt.level for attempt in attempts.standing.all]
    assert levels[:2] == [level_in("standing", 1, 0.2), level_in("standing", 2, 0.2)]
    assert 0.0059 < sum(levels) < 0.006
    kept = LOWER_ENDS["run"] + LOWER_ENDS["standing"]
    assert LEDGERS["run"] + LEDGERS["standing"] + kept == pytest.approx(1)
    assert not attempts.all


def test_milestones_double() -> None:
    standing = Attempts(0.1, 0.05).standing
    assert next(labels for labels in range(1, 600) if standing.due(labels)) == 64
    standing.open(64, [ONE])
    assert (standing.due(127), standing.due(128)) == (False, True)
    standing.open(700, [TWO])
    assert standing.next == 1024


def test_what_is_counted_for_an_attempt_of_the_run_is_counted_for_those_that_stand() -> None:
    attempts = Attempts(0.1, 0.05)
    attempts.standing.count(cube(3), answers(cube(3)))
    attempts.standing.open(64, [ONE, TWO])
    attempts.standing.count(cube(3)[:4], answers(cube(3)[:4]))
    attempts.open(ONE)
    attempts.count(cube(3)[4:], answers(cube(3)[4:]))
    assert [(one.errors, one.samples) for one in attempts.standing.all] == [(0, 8), (4, 8)], "not what was before"
    assert [(one.errors, one.samples) for one in attempts.all] == [(0, 4)], "nor what taught"
    for attempt, rows in ((attempts.all[0], 4), (attempts.standing.all[0], 8)):
        kept = attempts.answers(attempt)
        assert kept is not None
        assert kept.inputs.tolist() == cube(3)[-rows:].tolist()


def test_only_the_last_trees_and_constants_go_on_counting() -> None:
    standing = Attempts(0.1, 0.05).standing
    trees = [Tree.build(SPACE, [(i % 3, 1, 2), 0, 1], ["no", str(i)]) for i in range(5)]
    for number, tree in enumerate(trees):
        standing.open(0, [tree, Tree.constant(SPACE, str(number))])
        standing.count(cube(3), np.full(8, "no"))
    assert [attempt.tree for attempt in standing.live] == [*trees[-3:], *(Tree.constant(SPACE, c) for c in "34")]
    assert [attempt.samples for attempt in standing.live] == [24, 16, 8, 16, 8]
    assert len(standing.all) == 10
    assert standing.usual() == "no"


def test_the_usual_label_is_the_most_frequent_and_first_among_equals() -> None:
    standing = Attempts(0.1, 0.05).standing
    assert standing.usual() is None
    standing.count(cube(3)[:4], np.array(["b", "a", "b", "a"]))
    assert standing.usual() == "a"
    standing.count(cube(3)[:1], np.array(["b"]))
    assert standing.usual() == "b"


class InterruptedAt:
    """Raises KeyboardInterrupt once, before the n-th of some calls."""

    def __init__(self, number: int) -> None:
        self.left = number

    def before(self, usual: Any) -> Any:
        def called(*arguments: Any, **more: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
            return usual(*arguments, **more)

        return called


def _all_counts(attempts: Attempts) -> list[Any]:
    kept = [labels for one in (attempts.kept, attempts.standing.kept) for _, labels in one._parts]
    return [
        *(one.counts for one in attempts.live),
        *(labels.tolist() for labels in kept),
        attempts.standing.usual(),
    ]


def _opened_twice() -> Attempts:
    """Two attempts, two standing ones, the answers that are kept of both, and votes."""
    attempts = Attempts(0.1, 0.05)
    attempts.open(ONE)
    attempts.open(TWO)
    attempts.standing.open(64, [ONE, Tree.constant(SPACE, "no")])
    attempts.count(cube(3)[:3], answers(cube(3)[:3]))
    return attempts


def _state(attempts: Attempts) -> list[Any]:
    """Everything that tells of batches."""
    kept = [attempts.kept, attempts.standing.kept]
    return [
        _all_counts(attempts),
        [one.waits for one in attempts.live],
        [(len(one._parts), one._left, one._dropped) for one in kept],
        sorted(attempts.standing._votes.items()),
    ]


def _interrupted_at(number: int, run: Callable[[], Any], files: tuple[str, ...]) -> bool:
    """Raise KeyboardInterrupt once, before the n-th instruction of these files; whether it came."""
    left = number

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.endswith(files):
            return None
        frame.f_trace_opcodes = True
        left -= 1
        if left == 0:
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace

    usual = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(usual)
    return False


def test_an_interrupt_anywhere_leaves_all_or_nothing_of_a_batch_counted() -> None:
    """Before every instruction; votes were counted twice, room was taken twice, and standing attempts missed it."""
    once, twice = _opened_twice(), _opened_twice()
    twice.count(cube(3)[3:], answers(cube(3)[3:]))
    allowed, found, number = [_state(once), _state(twice)], [0, 0], 0
    while True:
        number, attempts = number + 1, _opened_twice()
        run = partial(attempts.count, cube(3)[3:], answers(cube(3)[3:]))
        if not _interrupted_at(number, run, ("attempts.py", "answers.py", "collections/__init__.py")):
            break
        assert _state(attempts) in allowed, number
        found[allowed.index(_state(attempts))] += 1
    assert min(found) > 20, found


def test_a_second_interrupt_while_the_first_is_made_good_changes_nothing() -> None:
    counted, calls = list[int](), iter(range(10))

    def step() -> None:
        counted[:] = [1]
        if next(calls) < 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _in_one_step([step, step])
    assert (counted, next(calls)) == ([1], 5), "three that were interrupted, and both once more"


@pytest.mark.parametrize("number", range(1, 5))
def test_an_interrupt_while_tallies_are_worked_out_counts_nothing(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = Attempts(0.1, 0.05)
    attempts.open(ONE)
    attempts.open(TWO)
    attempts.standing.open(64, [ONE, TWO])
    before = _all_counts(attempts)
    monkeypatch.setattr(Attempt, "tally", InterruptedAt(number).before(Attempt.tally))
    with pytest.raises(KeyboardInterrupt):
        attempts.count(cube(3), answers(cube(3)))
    assert _all_counts(attempts) == before
