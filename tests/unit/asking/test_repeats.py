"""Some inputs are asked again early, in another batch: what is random is noticed, and what only rounds is not."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import fidelitree as ft
from fidelitree.asking.counted import Counted
from fidelitree.asking.limits import Budget
from fidelitree.asking.memory import Memory
from fidelitree.asking.repeats import CHECK, EACH, FIRST, MOST, Repeats, same
from fidelitree.errors import TargetError
from fidelitree.targets.labels import LabelBook

SPACE = ft.ProductSpace([ft.Numeric("age", 18, 90), ft.Numeric("income", 0, 1)])
BITS = ft.ProductSpace.bernoulli(10)
TREE = ft.Tree.constant(SPACE, "young")


def older(batch: Any) -> NDArray[Any]:
    return np.where(batch["age"] > 40, "old", "young")


class Dropout:
    """Flips each answer with a chance of its own, as a model with dropout near its boundary."""

    def __init__(self, chance: float, seed: int) -> None:
        self._rng, self._chance = np.random.default_rng(seed), chance

    def __call__(self, batch: Any) -> NDArray[Any]:
        if isinstance(batch, np.ndarray):  # bits
            return np.asarray(batch[:, 0] ^ (self._rng.random(len(batch)) < self._chance))
        flipped = self._rng.random(len(batch["age"])) < self._chance
        return np.where((batch["age"] > 40) ^ flipped, "old", "young")


class Calls:
    """A target that keeps the batches that it received."""

    def __init__(self, target: Any = older) -> None:
        self.batches: list[NDArray[Any]] = []
        self._target = target

    def __call__(self, batch: Any) -> Any:
        self.batches.append(np.column_stack([batch["age"], batch["income"]]))
        return self._target(batch)


def rows(number: int) -> NDArray[Any]:
    return np.asarray(SPACE.encode(SPACE.draw(number, seed=number)))


def checked(target: Any, **more: Any) -> Counted:
    found = Counted(target, SPACE, **more)
    found.repeats = Repeats()
    return found


# --- which inputs, and when


def test_one_in_twenty_is_asked_again_in_a_batch_of_its_own_and_in_another_order() -> None:
    target = Calls()
    counted = checked(target)
    first = rows(200)
    counted.ask(first, "label")
    assert np.array_equal(target.batches[1], first[EACH - 1 :: EACH][::-1])
    assert (counted.asked, dict(counted.queries.paid)) == (200, {"label": 200, CHECK: 10})


def test_checks_come_at_64_answers_and_whenever_twice_as_many_are_there_up_to_142() -> None:
    target = Calls()
    counted = checked(target)
    paid = {}
    for _ in range(200):
        counted.ask(rows(32), "label")
        paid[counted.asked] = counted.queries.paid[CHECK]
    assert [asked for asked in paid if paid[asked] > paid.get(asked - 32, 0)] == [64, 128, 256, 512, 1024, 2048, 2848]
    assert (paid[FIRST], paid[1024], paid[6400]) == (3, 51, MOST)
    assert all(again <= asked / EACH for asked, again in paid.items())


def test_a_short_run_is_not_asked_again() -> None:
    counted = checked(older)
    counted.ask(rows(FIRST - 1), "label")
    assert counted.paid == FIRST - 1


@pytest.mark.parametrize(("limit", "again"), [(200, 0), (204, 4), (1_000, 10)])
def test_checks_are_rows_paid_within_the_limit(limit: int, again: int) -> None:
    counted = checked(older, budget=Budget(max_queries=limit))
    counted.ask(rows(200), "label")
    assert (counted.asked, counted.paid, counted.queries.paid[CHECK]) == (200, 200 + again, again)


def test_where_all_inputs_may_be_asked_they_go_first() -> None:
    space = ft.ProductSpace.bernoulli(8)
    counted = Counted(lambda bits: bits[:, 0], space, Memory(), Budget(max_queries=260))
    counted.repeats = Repeats()
    for start in range(0, 256, 64):
        counted.complete(space.whole.inputs(start, start + 64), "enumerate")
    assert (counted.queries.asked["enumerate"], counted.queries.paid[CHECK]) == (256, 4)


def test_a_check_changes_no_tree_no_bound_and_no_label_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with_checks = ft.distill(older, SPACE, 0.05, seed=3)
    monkeypatch.setattr(Repeats, "due", lambda *_: None)
    without = ft.distill(older, SPACE, 0.05, seed=3)
    assert with_checks.queries.paid[CHECK] > 0 == without.queries.paid[CHECK]
    assert with_checks.tree.digest == without.tree.digest
    assert with_checks.certificate == without.certificate
    assert dict(with_checks.queries.asked) == dict(without.queries.asked)


# --- what is random


def doors(target: Any, seed: int) -> list[Any]:
    """Each door, with enough labels for a check."""
    return [
        lambda: ft.distill(target, SPACE, 0.05, seed=seed, max_queries=8_000),
        lambda: ft.frontier(target, SPACE, seed=seed, max_queries=8_000, max_leaves=4),
        lambda: ft.certify(TREE, target, SPACE, seed=seed, max_queries=8_000),
        lambda: ft.diff(older, target, SPACE, seed=seed, max_queries=8_000),
        lambda: ft.diff(target, older, SPACE, seed=seed, max_queries=8_000),
        lambda: ft.errors_by_class(ft.Tree.build(SPACE, [0], ["old", "young"]), target, SPACE, seed=seed),
        lambda: ft.learners.cart(target, SPACE, 0.05, seed=seed, max_queries=8_000),
        lambda: ft.analyze(target, SPACE, seed=seed, max_queries=8_000),
        lambda: ft.practical_top_down(target, BITS, 0.2, 0.2, seed=seed, max_queries=8_000),
        lambda: ft.build_top_down(target, BITS, 0.2),
    ]


@pytest.mark.parametrize("door", range(10))
def test_every_door_notices_a_coin(door: int) -> None:
    with pytest.raises(TargetError, match="answered an input differently the second time"):
        doors(Dropout(0.5, 1), seed=0)[door]()


@pytest.mark.parametrize("door", range(6))
def test_what_is_meant_to_be_random_is_never_asked_again(door: int) -> None:
    target = Dropout(0.2, 1)
    asks = [
        lambda: ft.distill(target, SPACE, 0.4, seed=0, max_queries=500, deterministic=False),
        lambda: ft.frontier(target, SPACE, seed=0, max_queries=500, max_leaves=2, deterministic=False),
        lambda: ft.certify(TREE, target, SPACE, seed=0, max_queries=500, deterministic=False),
        lambda: ft.diff(older, target, SPACE, seed=0, max_queries=500, deterministic=False),
        lambda: ft.practical_top_down(ft.Tree.build(BITS, [0], [0, 1]), BITS, 0.2, 0.2),
        lambda: ft.build_top_down(ft.Tree.build(BITS, [0], [0, 1]), BITS, 0.2),
    ]
    found = asks[door]()
    assert CHECK not in dict(getattr(found, "queries", found).paid if door not in {2, 3} else {})


def test_answers_that_flip_in_2_percent_are_noticed_in_95_of_100_runs() -> None:
    """Two answers differ with probability 2 x .022 x .978 = 4.3 %, so 142 repeats miss it in 0.2 % of runs.

    Were the chance 5 %, 13 misses or more would come with probability 3e-4; 6 or more of .2 % with 1e-8.
    """
    noticed, differs = 0, 2 * 0.022 * 0.978
    for seed in range(100):
        counted = checked(Dropout(0.022, seed))
        try:
            for _ in range(6):
                counted.ask(rows(500), "label")
        except TargetError:
            noticed += 1
    missed = (1 - differs) ** MOST
    assert missed < 0.003
    false_alarm = sum(math.comb(100, k) * missed**k * (1 - missed) ** (100 - k) for k in range(6, 101))
    assert false_alarm < 1e-6
    assert noticed >= 95


def test_dropout_left_on_ends_a_run_that_was_certified_before() -> None:
    with pytest.raises(TargetError, match=r"model\.eval\(\)"):
        ft.frontier(Dropout(0.022, 7), SPACE, seed=7, max_leaves=8, max_queries=20_000)


def test_an_answer_that_depends_on_the_batch_is_noticed() -> None:
    with pytest.raises(TargetError, match="in another batch"):
        ft.certify(TREE, lambda batch: np.where(batch["age"] > batch["age"].mean(), "old", "young"), SPACE, seed=0)


def parity(bits: Any) -> NDArray[Any]:
    return np.asarray(bits[:, :3].sum(axis=1) % 2)


@pytest.mark.parametrize("points", [16, 64, 128, 256, 1024])
def test_where_all_inputs_are_answered_up_to_142_are_asked_again(points: int) -> None:
    space = ft.ProductSpace.bernoulli(points.bit_length() - 1)
    shown: list[NDArray[Any]] = []

    def target(bits: Any) -> NDArray[Any]:
        shown.append(bits.copy())
        return parity(bits)

    asked = ft.build_top_down(target, space, 0.0)
    count = space.points or 0
    again = np.concatenate(shown[1:])
    assert asked.queries.paid[CHECK] == len(np.unique(again, axis=0)) == min(MOST, count)
    assert asked.queries.asked == count


def test_an_exact_certificate_of_64_inputs_notices_2_percent_of_flips_in_most_runs() -> None:
    """Two answers differ with probability 4.3 %, so 64 repeats miss it in 6 % of runs; 9 or more of 20 with 5e-7."""
    space = ft.ProductSpace.bernoulli(6)
    tree = ft.Tree.build(space, [0], [0, 1])
    noticed = 0
    for seed in range(20):
        try:
            assert ft.certify(tree, Dropout(0.022, seed), space, seed=seed).delta == 0
        except TargetError:
            noticed += 1
    assert noticed >= 12


@pytest.mark.parametrize(("limit", "again"), [(64, 0), (70, 6), (None, 64)])
def test_of_a_small_space_all_inputs_go_first_and_checks_take_what_a_limit_leaves(
    limit: int | None, again: int
) -> None:
    space = ft.ProductSpace.bernoulli(6)
    for asks in (ft.analyze, lambda *told, **more: ft.build_top_down(*told, 0.0, **more)):
        found = asks(parity, space, max_queries=limit)
        assert (found.queries.asked, found.queries.paid[CHECK]) == (64, again)


def test_checks_of_an_analysis_that_draws_are_within_its_limit() -> None:
    found = ft.analyze(older, SPACE, seed=0, max_queries=2_000)
    assert found.queries.paid[CHECK] == 94  # one in 20 of 1,899 labels
    assert 1_890 <= found.queries.asked <= found.queries.paid <= 2_000


def test_indices_of_numbers_allow_rounding_and_nothing_more() -> None:
    assert ft.analyze(Hazard(5e-7), SPACE, numbers=True, seed=0, max_queries=2_000).queries.paid[CHECK] > 0
    with pytest.raises(TargetError, match="analyze takes functions only"):
        ft.analyze(Hazard(1e-3), SPACE, numbers=True, seed=0, max_queries=2_000)


def test_a_target_that_writes_into_its_inputs_is_asked_again_about_what_it_was_asked() -> None:
    def spoils(bits: Any) -> NDArray[Any]:
        found = bits[:, 0].copy()
        bits[:] = 1 - bits
        return np.asarray(found)

    assert ft.practical_top_down(spoils, BITS, 0.2, 0.2, seed=0).queries.paid[CHECK] == MOST


# --- what the message says


def test_a_learner_names_a_way_out_that_there_is() -> None:
    with pytest.raises(
        TargetError, match=r"or use ft\.distill with deterministic=False: learners take functions only$"
    ):
        ft.learners.cart(Dropout(0.5, 1), SPACE, 0.05, seed=0)


def test_the_message_shows_the_input_and_both_answers_and_the_way_out() -> None:
    calls = []

    def second_time_old(batch: Any) -> NDArray[Any]:
        calls.append(len(batch["age"]))
        return np.full(len(batch["age"]), "old" if len(calls) > 1 else "young")

    counted, first = checked(second_time_old), np.tile([[33.0, 0.5]], (100, 1))
    with pytest.raises(TargetError) as caught:
        counted.ask(first, "label")
    assert str(caught.value) == (
        "the target answered an input differently the second time: first 'young', then, in another batch, 'old' (5 of "
        "5 inputs that were asked again had another answer). The input: age = 33, income = 0.5. Switch off what makes "
        "the model random (dropout: model.eval()), or pass deterministic=False, and every input is asked anew"
    )


def test_a_repeat_that_comes_by_itself_shows_both_answers_too() -> None:
    answers = iter(["a", "b"])
    counted = Counted(lambda batch: np.full(len(batch["age"]), next(answers)), SPACE, Memory(checked=1))
    counted.ask(rows(2), "label")
    with pytest.raises(TargetError, match=r"first 'a', then, in another batch, 'b'\. The input: age = "):
        counted.ask(rows(2), "label")


def test_of_many_features_the_first_are_shown() -> None:
    space = ft.ProductSpace.bernoulli(40)
    with pytest.raises(TargetError, match=r"x0 = [01], .*, x11 = [01], \.\.\. \(40 features\)\."):
        ft.certify(ft.Tree.constant(space, 0), Coin(), space, seed=0)


class Coin:
    """Answers by chance alone, whatever it is asked."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(5)

    def __call__(self, batch: Any) -> NDArray[Any]:
        return self._rng.integers(0, 2, len(batch))


def test_of_two_models_both_answers_of_each_time_are_shown() -> None:
    with pytest.raises(
        TargetError, match=r"first '\w+' \(old\) and '\w+' \(new\), then, in another batch, '\w+' \(old"
    ):
        ft.diff(older, Dropout(0.5, 1), SPACE, seed=0)


def test_scores_next_to_a_threshold_may_round_to_either_side() -> None:
    rng = np.random.default_rng(1)
    near = lambda batch: 0.5 + 1e-16 * rng.integers(-2, 3, len(batch["age"])) * (batch["age"] > 0)  # noqa: E731
    with pytest.raises(TargetError, match="A score next to the threshold may also be rounded to either side of it"):
        ft.certify(ft.Tree.constant(SPACE, 0), near, SPACE, threshold=0.5, seed=0)


# --- numbers


class Hazard:
    """A number for each input that differs by rounding from batch to batch, as a sum in another order does."""

    def __init__(self, share: float) -> None:
        self.calls, self._share = 0, share

    def __call__(self, batch: Any) -> NDArray[Any]:
        self.calls += 1
        return np.exp(batch["income"]) * (1 + self._share * (self.calls % 2))


@pytest.mark.parametrize("share", [9e-16, 1e-10])
def test_numbers_that_differ_by_rounding_are_one_answer(share: float) -> None:
    found = ft.distill(Hazard(share), SPACE, 0.1, tolerance=0.3, seed=0)
    assert found.certificate.holds
    assert found.queries.paid[CHECK] > 0
    ft.certify(found.tree, Hazard(share), SPACE, tolerance=0.3, seed=0)


class Single(Hazard):
    """Numbers up to 30 in 32 bits, whose last digits depend on the batch, and which jump."""

    def __init__(self, jump: float = 0.0) -> None:
        super().__init__(5e-7)
        self._jump = jump

    def __call__(self, batch: Any) -> NDArray[Any]:
        moved = self._jump * (self.calls % 2)
        return np.asarray((super().__call__(batch) * 11 + moved).astype(np.float32))


def test_a_model_of_32_bits_is_one_answer_under_a_small_tolerance_and_jumps_are_two() -> None:
    ten = ft.Tree.constant(SPACE, 10.0)
    assert ft.certify(ten, Single(), SPACE, tolerance=0.01, seed=0, max_queries=3_000).samples > 200
    with pytest.raises(TargetError, match="answered an input differently the second time"):
        ft.certify(ten, Single(0.02), SPACE, tolerance=0.01, seed=0, max_queries=3_000)


def test_numbers_that_differ_by_more_are_two_answers() -> None:
    with pytest.raises(TargetError, match="answered an input differently the second time"):
        ft.distill(Hazard(0.01), SPACE, 0.1, tolerance=0.3, seed=0)


def test_of_a_repeat_within_rounding_the_first_answer_stays() -> None:
    answers = iter([1.0, 1.0 + 1e-12])
    counted = Counted(
        lambda batch: np.full(len(batch["age"]), next(answers)), SPACE, Memory(checked=5), book=LabelBook(numbers=True)
    )
    counted.equality = type(counted.equality)(SPACE, tolerance=0.5)
    counted.ask(rows(5), "label")
    assert counted.labels(counted.ask(rows(5), "label")).tolist() == [1.0] * 5


@pytest.mark.parametrize(
    ("first", "second", "tolerance", "equal"),
    [
        (1.0, 1.0 + 5e-10, 1e-12, True),
        (1.0, 1.0 + 5e-9, 1e-12, False),
        (30.0, 30.0 * (1 + 5e-7), 0.01, True),
        (30.0, 30.0 + 0.02, 0.01, False),
        (1e6, 1e6 + 0.5, 0.5, False),
        (1e6, 1e6 + 0.04, 0.5, True),
        (0.0, 9e-4, 1.0, True),
        (0.0, 2e-3, 1.0, False),
        (1.0, 1.0 + 5e-10, None, False),
        ("a", "a", None, True),
        (True, False, None, False),
    ],
)
def test_when_two_answers_are_one(first: Any, second: Any, tolerance: float | None, equal: bool) -> None:
    assert same(first, second, tolerance) is equal


# --- journals


def test_a_journal_holds_the_checks_and_a_replay_asks_nobody(tmp_path: Path) -> None:
    target = Calls()
    made = ft.distill(target, SPACE, 0.1, seed=0, journal=tmp_path / "run.db")
    assert made.queries.paid[CHECK] > 0
    files = made.save(tmp_path / "result")
    found = ft.verify(files[0].parent)
    assert (found.verdict, [check.passed for check in found.checks]) == ("confirmed", [True] * len(found.checks))


def test_a_resumed_run_pays_for_no_check_twice(tmp_path: Path) -> None:
    kept, whole = tmp_path / "run.db", Calls()
    ft.distill(whole, SPACE, 0.02, seed=0, journal=tmp_path / "whole.db")

    def stops(batch: Any) -> Any:
        if sum(map(len, first.batches)) > 130:
            raise KeyboardInterrupt
        return older(batch)

    first, second = Calls(stops), Calls()
    ft.distill(first, SPACE, 0.02, seed=0, journal=kept)
    made = ft.distill(second, SPACE, 0.02, seed=0, journal=kept)
    assert made.queries.paid[CHECK] > 0
    again = len(second.batches[0])  # a resumed run looks whether the target is the same
    assert 8 <= again <= 16, "of 16 rows of the journal some may be one"
    paid = sum(map(len, first.batches[:-1])) + sum(map(len, second.batches)) - again
    assert paid == sum(map(len, whole.batches)) == made.queries.paid


def test_an_answer_that_only_rounds_is_no_other_target_when_a_run_goes_on(tmp_path: Path) -> None:
    target = Hazard(9e-16)
    for limit in (200, 400, 600):
        ft.distill(target, SPACE, 0.01, tolerance=0.05, seed=0, max_queries=limit, journal=tmp_path / "run.db")
