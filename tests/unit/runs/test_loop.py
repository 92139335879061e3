"""The loop keeps what makes certificates true: count, judge, done, learn, open; nothing counts before it is open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.counted import Counted
from fidelitree.asking.limits import LEARNING, Budget, BudgetSpent
from fidelitree.asking.memory import Memory
from fidelitree.errors import ParameterError
from fidelitree.runs.economics import AT_LEAST, FIRST, REFERENCE, REFIT, STEPS_ON_THE_WAY, PairedErrors
from fidelitree.runs.goal import Goal
from fidelitree.runs.input_source import source_of
from fidelitree.runs.loop import Candidate, Focus, Loop
from fidelitree.runs.portions import DOUBLING
from fidelitree.runs.session import Session
from fidelitree.search.archive import Archive, LabelLoss, NumberLoss
from fidelitree.search.inquiry import BitInquiry, Inquiry
from fidelitree.search.questions import Ask, Steps
from fidelitree.targets.labels import LabelBook
from fidelitree.theory.sequential import FRONTIER

if TYPE_CHECKING:
    from fidelitree.certificates.attempts import Attempt
    from fidelitree.runs.portions import Portions

SPACE = ft.ProductSpace([ft.Numeric(name, 0, 1) for name in "abc"])
BITS = ft.ProductSpace.bernoulli(8)
SIZES = (1, 2, 4, 8)
MANY = 100_000


def slope(batch: Any) -> Any:
    """Which no small tree follows closely: every size errs, and learns."""
    return np.asarray(batch["a"]) + np.asarray(batch["b"]) > 1


@dataclass
class Step:
    """What a goal saw of a run when it was asked."""

    what: str
    asked: int
    known: int
    fitted: int
    samples: list[int]
    judged: list[PairedErrors]


@dataclass
class Recording:
    """Opens one tree at each of some numbers of known answers, learns up to a number, ends at another, and looks on."""

    opens: Sequence[int] = (200,)
    learns: int = MANY
    ends: int = 1_600
    sizes: Sequence[int] = SIZES
    portion: int = MANY
    seen: list[Step] = field(default_factory=list)
    opened: list[tuple[Attempt, int, str]] = field(default_factory=list)
    """Attempts, with the answers that there were by then, and the digest of the tree."""
    closed: list[str] = field(default_factory=list)
    known: int = 0
    portions: Portions = DOUBLING
    refit: float = REFIT
    compares: bool = True

    @property
    def learning(self) -> bool:
        return self.known < self.learns and not (self.closed and self.opened)

    @property
    def largest(self) -> float:
        return max(self.sizes)

    def wanted(self, loop: Loop[str]) -> Sequence[int]:
        return self.sizes

    def search(self, loop: Loop[str]) -> Focus:
        return Focus(self.sizes, STEPS_ON_THE_WAY if loop.known >= AT_LEAST else 0)

    def testing(self, loop: Loop[str]) -> bool:
        return bool(loop.attempts.all)

    def may_choose(self, loop: Loop[str]) -> bool:
        return True

    def instead(self, loop: Loop[str]) -> None:
        """No other goal."""

    def needed(self, loop: Loop[str]) -> float:
        self._look("needed", loop)
        until_fit = max(1, REFIT * loop.archive.fitted - loop.known) if loop.archive.fitted else MANY
        return min(self.portion, until_fit if self.learning else MANY)

    def done(self, loop: Loop[str]) -> str | None:
        self._look("done", loop)
        return "done" if loop.counted.asked >= self.ends else None

    def open(self, loop: Loop[str]) -> None:
        self.known = loop.known
        self._look("open", loop)
        due = [place for place in self.opens if self.closed or loop.known >= place]
        if loop.known and len(due) > len(self.opened):
            loop.fit(self.sizes, 20)
            for size in self.sizes[len(self.opened) : len(due)]:
                attempt = loop.attempts.open(loop.archive.at(size))
                self.opened.append((attempt, loop.counted.asked, attempt.tree.digest))

    def close(self, why: str) -> None:
        self.closed.append(why)

    def _look(self, what: str, loop: Loop[str]) -> None:
        samples = [one.samples for one in loop.attempts.all]
        judged = [one.pair for one in loop.candidates.values()]
        self.seen.append(Step(what, loop.counted.asked, loop.known, loop.archive.fitted, samples, judged))


def loop_of(
    goal: Any, target: Callable[[Any], Any] = slope, space: Any = SPACE, budget: Budget | None = None, **told: Any
) -> Loop[str]:
    tolerance = told.get("tolerance")
    book = LabelBook(numbers=tolerance is not None)
    counted = Counted(target, space.product, Memory.usual(space.product), budget or Budget(), book)
    asked_for = Goal(0.0, 0.05, 0, tolerance=tolerance)
    session = Session.of(counted, source_of(space, 0), asked_for, told.get("observer", lambda _: None), FRONTIER)
    if "inquiry" not in told:
        return Loop.of(session, goal, 0)
    archive = Archive(session.source.product, counted.book, LabelLoss(0, counted.watch))
    return Loop(session, goal, archive, told["inquiry"])


def wrong_among(loop: Loop[str], tree: ft.Tree, rows: slice) -> int:
    labels = loop.counted.labels(loop.archive.codes[rows])
    return int((tree.predict_inner(loop.archive.inner[rows]) != labels).sum())


# --- the order


def test_count_judge_done_learn_open() -> None:
    goal = Recording()
    loop = loop_of(goal)
    assert loop.ending() == "done"
    first, *seen = goal.seen
    assert (first.what, first.asked) == ("done", 0), "a goal may be reached without a label"
    assert [one.what for one in seen] == ["open", "needed", "done"] * (len(seen) // 3)
    attempt, since, _ = goal.opened[0]
    for opened, needed, done in zip(*(seen[place::3] for place in range(3)), strict=True):
        portion = done.asked - needed.asked
        assert portion > 0
        assert opened.known == opened.asked, "what was asked has taught before trees are opened"
        assert (done.known, done.fitted) == (needed.known, needed.fitted), "it has taught nothing before the goal ends"
        if done.samples:
            assert done.samples == [done.asked - since] == [needed.samples[0] + portion], "but it is counted"
        for before, after in zip(needed.judged, done.judged, strict=True):
            judges = done.fitted > FIRST  # the first trees have replaced none
            assert after.answers - before.answers == portion * judges, "and it has judged"
    assert attempt.samples == loop.counted.asked - since


def test_an_attempt_counts_all_that_is_drawn_after_it_was_opened_and_nothing_else() -> None:
    goal = Recording(opens=(200, 400, 800), ends=3_200)
    loop = loop_of(goal)
    loop.ending()
    assert len(goal.opened) == 3
    assert len({since for _, since, _ in goal.opened}) == 3
    for attempt, since, _ in goal.opened:
        assert attempt.samples == loop.counted.asked - since
        # The last portion has not taught.
        counted = wrong_among(loop, attempt.tree, slice(since, None))
        last = loop.counted.asked - loop.known
        assert counted <= attempt.errors <= counted + last
    assert goal.opened[0][0].errors > 0, "or the test shows nothing"


def test_trees_are_judged_by_answers_that_neither_has_seen() -> None:
    looked: list[int] = []

    class Looking(Recording):
        def open(self, loop: Loop[str]) -> None:
            super().open(loop)
            since = slice(loop.archive.fitted, None)
            for one in loop.candidates.values():
                if one.older is not None and loop.known > loop.archive.fitted:
                    looked.append(one.pair.answers)
                    assert one.pair.answers == loop.known - loop.archive.fitted
                    assert one.pair.errors == wrong_among(loop, one.tree, since)
                    assert one.pair.older_errors == wrong_among(loop, one.older, since)

    loop_of(Looking(opens=(MANY,), ends=1_000)).ending()
    assert len(looked) >= 2 * len(SIZES)


def test_a_fit_to_more_answers_begins_a_new_pair_and_one_to_the_same_goes_on() -> None:
    goal = Recording(opens=(MANY,), ends=700)
    loop = loop_of(goal)
    loop.ending()
    before = dict(loop.candidates)
    assert before[8].pair.answers > 0
    loop.fit(SIZES, 20)
    assert loop.candidates[8].older == before[8].tree
    assert loop.candidates[8].before == before[8].pair
    assert loop.candidates[8].pair == PairedErrors()
    once = dict(loop.candidates)
    loop.fit(SIZES, 60)
    assert (loop.candidates[8].older, loop.candidates[8].before) == (once[8].older, once[8].before)
    assert loop.candidates[8].tree == loop.archive.at(8)


def test_the_error_to_expect_is_that_of_all_who_were_judged() -> None:
    tree = ft.Tree.constant(SPACE, 0)
    assert Candidate(tree).error == 1
    assert Candidate(tree, before=PairedErrors(100, 0, 20)).error == 0.2
    assert Candidate(tree, older=tree, pair=PairedErrors(300, 0, 20), before=PairedErrors(100, 0, 20)).error == 0.1
    assert Candidate(tree, older=tree, before=PairedErrors(100, 0, 20)).error == 0.2


# --- what teaches, what counts


class Asking(Inquiry):
    """Asks about inputs of its own choice, each time others."""

    def __init__(self) -> None:
        self.asked = 0

    def learn(self, inner: Any, codes: Any) -> Steps[None]:
        seen = yield Ask(np.full((7, 3), 0.9) - self.asked / 1e6, "walk")
        assert (seen.codes == seen.codes[0]).all()
        self.asked += 7


def test_inputs_of_ones_own_choice_are_counted_by_nobody() -> None:
    inquiry = Asking()
    goal = Recording(opens=(100,), ends=1_500)
    loop = loop_of(goal, inquiry=inquiry)
    drawn = streams(loop)
    loop.ending()
    assert loop.counted.queries.asked["walk"] == inquiry.asked > 20
    many = {name: sum(len(inner) for one, _, inner in drawn if one == name) for name in ("label", "test")}
    assert loop.counted.asked == sum(many.values()) + inquiry.asked
    attempt, since, _ = goal.opened[0]
    assert attempt.samples == many["test"]
    assert since > many["label"], "it had asked by then"
    assert loop.known == sum(many.values()) - len(drawn[-1][2]), "the archive holds what was drawn and nothing else"
    assert all(one.samples < sum(many.values()) for one in loop.attempts.standing.all)
    assert all(one.pair.answers in (0, sum(many.values()) - loop.archive.fitted) for one in loop.candidates.values())


def test_a_tree_under_test_stays_as_it_was() -> None:
    goal = Recording(opens=(100, 200, 400), ends=3_000)
    loop = loop_of(goal)
    loop.ending()
    for attempt, _, digest in goal.opened:
        assert attempt.tree.digest == digest
        same = ft.Tree.build(SPACE, list(attempt.tree.nodes), attempt.tree.labels)
        assert same.digest == digest, "nobody has changed it in place"
    levels = [loop.attempts.level(number) for number in (1, 2, 3)]
    assert [attempt.level for attempt, *_ in goal.opened] == levels
    assert loop.archive.at(SIZES[2]).digest != goal.opened[2][2], "the archive has gone on"


def test_once_learning_is_over_tests_teach_nothing() -> None:
    goal = Recording(opens=(200,), learns=200, ends=1_000)
    loop = loop_of(goal)
    loop.ending()
    assert loop.known == loop.archive.fitted == 200
    assert goal.opened[0][0].samples == loop.counted.asked - 200 >= 800


def test_what_is_asked_depends_on_answers_and_never_on_inputs_to_come() -> None:
    """Two targets that agree until a moment are asked the same until then, and one portion more."""
    heard: list[list[bytes]] = [[], []]
    for number, questions in enumerate(heard):

        def target(batch: Any, number: int = number, questions: list[bytes] = questions) -> Any:
            questions.append(b"".join(np.asarray(column).tobytes() for column in batch.values()))
            labels = slope(batch)
            return labels if len(questions) < 12 or not number else ~labels

        ft.distill(target, SPACE, 0.1, seed=5, max_queries=1_500, deterministic=False)
    same = [one == other for one, other in zip(*heard, strict=False)]
    assert all(same[:12])
    assert not all(same), "or the test shows nothing"


def test_inputs_that_trees_are_compared_on_are_never_asked() -> None:
    goal = Recording(opens=(200,), ends=1_600)
    loop = loop_of(goal)
    drawn = streams(loop)
    loop.ending()
    reference = {tuple(row) for row in loop._reference.tolist()}
    assert len(reference) == REFERENCE
    assert not reference & {tuple(row) for _, _, inner in drawn for row in inner.tolist()}
    other = loop_of(Recording())
    assert np.array_equal(other._reference, loop._reference), "they do not depend on what was asked"


# --- where inputs come from


def rows(many: int) -> ft.Rows:
    random = np.random.default_rng(3)
    return ft.Rows({"a": random.random(many), "b": random.random(many), "c": np.arange(many) / many})


def streams(loop: Loop[str]) -> list[tuple[str, int, Any]]:
    """What a loop draws from now on: from which stream, with how many attempts open."""
    drawn: list[tuple[str, int, Any]] = []

    def spied(name: str, draw: Callable[[int], Any]) -> Callable[[int], Any]:
        def drawing(many: int) -> Any:
            inner = draw(many)
            drawn.append((name, len(loop.attempts.all), inner))
            return inner

        return drawing

    for name in ("label", "test"):
        setattr(loop.source, name, spied(name, getattr(loop.source, name)))
    return drawn


@pytest.mark.parametrize("space", [SPACE, rows(4_000)], ids=["drawn", "rows"])
def test_rows_that_teach_first_are_others_than_those_that_test(space: Any) -> None:
    goal = Recording(opens=(200, 400), learns=300, ends=900)
    loop = loop_of(goal, space=space)
    drawn = streams(loop)
    loop.ending()
    assert {(name, attempts > 0) for name, attempts, _ in drawn} == {("label", False), ("test", True)}
    taught, tested = (
        {tuple(row) for name, _, inner in drawn if name == which for row in inner.tolist()}
        for which in ("label", "test")
    )
    assert len(taught) >= 200
    assert len(tested) >= 500
    assert not taught & tested


def test_portions_double_what_is_known_but_stop_where_standing_attempts_are_due() -> None:
    goal = Recording(opens=(MANY,), ends=1_000)
    loop_of(goal).ending()
    ends = [one.asked for one in goal.seen if one.what == "done"]
    assert ends == [0, 50, 64, 100, 128, 200, 256, 400, 512, 800, 1024]
    assert ends[1] == FIRST
    fits = sorted({one.fitted for one in goal.seen})
    assert fits == [0, 50, 100, 200, 400, 800]


def test_a_search_is_made_only_once_there_are_answers_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[tuple[int, int]] = []
    fit = Archive.fit

    def spied(self: Archive, focus: Sequence[int] = (), steps_: int = 0, known: Any = ()) -> None:
        steps.append((len(self), steps_))
        fit(self, focus, steps_, known)

    monkeypatch.setattr(Archive, "fit", spied)
    loop_of(Recording(opens=(MANY,), ends=1_000)).ending()
    assert [rows for rows, _ in steps] == [50, 100, 200, 400, 800]
    assert all((many > 0) == (rows >= AT_LEAST) for rows, many in steps)


def test_each_kind_of_run_has_its_inquiry_and_its_loss() -> None:
    goal = Recording()
    assert isinstance(loop_of(goal, space=BITS).inquiry, BitInquiry)
    assert type(loop_of(goal).inquiry) is Inquiry
    assert type(loop_of(goal, space=BITS, tolerance=0.1).inquiry) is Inquiry
    assert isinstance(loop_of(goal).archive._loss, LabelLoss)
    assert isinstance(loop_of(goal, tolerance=0.1).archive._loss, NumberLoss)


def test_over_bits_the_tree_of_the_inquiry_is_among_those_of_the_archive() -> None:
    goal = Recording(opens=(MANY,), ends=120)
    loop = loop_of(goal, lambda bits: (bits[:, 1] + bits[:, 6]) % 2, BITS)
    loop.ending()
    loop.fit(SIZES, 0)
    assert loop.mistakes(loop.archive.at(4)) == 0
    assert loop.archive.at(4) == loop.inquiry.tree


def test_numbers_are_wrong_that_are_too_far_away() -> None:
    goal = Recording(opens=(400,), ends=1_000)
    loop = loop_of(goal, lambda batch: np.floor(4 * batch["a"]) + batch["b"] / 10, tolerance=0.06)
    loop.ending()
    assert loop.mistakes(loop.archive.at(4)) < 0.01 * loop.known
    assert 0.5 < loop.mistakes(loop.archive.at(1)) / loop.known < 0.9
    largest, constant = loop.trees()
    assert largest.size >= 4
    assert loop.mistakes(constant) == loop.mistakes(loop.archive.at(1))


def test_what_stands_on_the_way_is_the_largest_tree_and_the_best_constant() -> None:
    loop = loop_of(Recording(opens=(MANY,), ends=1_000))
    assert loop.trees() == []
    loop.ending()
    largest, constant = loop.trees()
    assert largest == loop.candidates[8].tree
    assert constant.size == 1
    assert loop.mistakes(constant) <= loop.known / 2
    assert {one.tree.size > 1 for one in loop.attempts.standing.live} == {True, False}


# --- endings


@dataclass
class Clock:
    """Each answer takes a hundredth of a second."""

    now: float = 0.0
    broken: int = MANY
    """Ctrl-C comes after so many answers."""
    answered: int = 0

    def target(self, batch: Any) -> Any:
        if self.answered >= self.broken:
            raise KeyboardInterrupt
        labels = slope(batch)
        self.now += len(labels) / 100
        self.answered += len(labels)
        return labels

    def budget(self, seconds: float) -> Budget:
        return Budget(max_seconds=seconds, started=0.0, clock=lambda: self.now)


def test_time_that_ends_learning_leaves_some_for_tests_of_what_was_learnt() -> None:
    clock, goal = Clock(), Recording(opens=(MANY, MANY), ends=MANY, portion=100)
    loop = loop_of(goal, clock.target, budget=clock.budget(20))
    assert loop.ending() == "max_seconds = 20"
    assert goal.closed == ["max_seconds = 20"]
    assert [attempt.tree for attempt, *_ in goal.opened] == [loop.archive.at(size) for size in SIZES[:2]]
    assert 0 <= goal.opened[0][1] - LEARNING * 2_000 < 100
    for attempt, since, _ in goal.opened:
        assert attempt.samples == loop.counted.queries.asked["certify"] > 500
        assert attempt.error_bound < 1
        assert since == loop.counted.queries.asked["label"]
    assert clock.now <= 21


def test_no_more_labels_end_it_with_what_is_open() -> None:
    goal = Recording(opens=(MANY,), ends=MANY)
    loop = loop_of(goal, budget=Budget(max_queries=300))
    assert loop.ending() == "max_queries = 300"
    assert goal.closed == ["max_queries = 300"]
    assert goal.opened, "what was learnt is under test, though nothing is left"
    assert loop.counted.asked <= 300


def test_a_limit_after_learning_ends_at_once() -> None:
    goal = Recording(opens=(200,), learns=200, ends=MANY)
    loop = loop_of(goal, budget=Budget(max_queries=700))
    assert loop.ending() == "max_queries = 700"
    assert goal.closed == []
    assert loop.counted.asked == 700, "the last test is as large as may be"


@pytest.mark.parametrize("budget", [Budget(max_queries=0), Budget(max_seconds=0, started=-1.0, clock=lambda: 0.0)])
def test_a_budget_without_a_label_is_refused(budget: Budget) -> None:
    with pytest.raises(ParameterError, match="must allow some labels; the budget ended before the first"):
        loop_of(Recording(), budget=budget).ending()


@pytest.mark.parametrize("after", [40, 60, 150, 500, 1_000])
def test_an_interrupt_leaves_what_was_counted(after: int) -> None:
    clock, goal = Clock(broken=after), Recording(opens=(100, 200), ends=MANY)
    loop = loop_of(goal, clock.target)
    assert loop.ending() == "interrupted"
    assert goal.closed == []
    assert loop.known == loop.counted.asked == clock.answered >= after
    for attempt, since, _ in goal.opened:
        assert attempt.samples == loop.counted.asked - since
        assert attempt.errors == wrong_among(loop, attempt.tree, slice(since, None))


def test_an_interrupt_before_the_first_answer_is_the_callers() -> None:
    with pytest.raises(KeyboardInterrupt):
        loop_of(Recording(), Clock(broken=0).target).ending()


@pytest.mark.parametrize("stop", [KeyboardInterrupt, BudgetSpent("max_seconds = 1")])
def test_whatever_ends_the_very_first_search_leaves_a_run(stop: Any) -> None:
    class Stopped:
        def search(self, *_: Any) -> Any:
            raise stop

    loop = loop_of(Recording())
    loop.archive._loss = Stopped()
    assert loop.ending() == ("interrupted" if stop is KeyboardInterrupt else str(stop))
    assert loop.candidates == {}
    assert (loop.known, loop.archive.fitted) == (FIRST, 0)


def test_what_a_search_had_found_when_it_was_ended_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = loop_of(Recording(opens=(MANY,), ends=450))
    loop.ending()
    before = loop.candidates[8].tree

    def ended(*_: Any) -> None:
        raise BudgetSpent("max_seconds = 1")

    monkeypatch.setattr("fidelitree.search.local.iterated.Refiner.improve_at", ended)
    with pytest.raises(BudgetSpent):
        loop.fit(SIZES, 20)
    assert loop.candidates[8].tree == loop.archive.at(8)
    assert loop.mistakes(loop.candidates[8].tree) <= loop.mistakes(before)


def test_trees_under_test_are_told_of_after_each_portion() -> None:
    told: list[Any] = []
    goal = Recording(opens=(200, 400), ends=1_000)
    loop = loop_of(goal, observer=told.append)
    loop.ending()
    judged = loop.session.history
    assert [one for one in told if one in judged] == judged
    last = {one.size: one for one in judged}
    for attempt, *_ in goal.opened:
        assert last[attempt.tree.size].error_bound == attempt.error_bound
    asked = [one.asked for one in judged]
    assert asked == sorted(asked)
    assert asked[-1] == loop.counted.asked
