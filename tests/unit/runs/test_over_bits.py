"""What an automatic run asks about, when it opens an attempt, and what it counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from chances import plausible
from fidelitree.certificates.attempts import Attempts
from fidelitree.runs.strategies.bit_strategy import (
    READY,
    READY_SHORT,
    REFERENCE,
    SHORT,
    SHORTEST,
    Readiness,
    ReferenceInputs,
    changed,
)
from fidelitree.search.bits import learner
from fidelitree.spaces.draw import Stream
from fidelitree.trees.tree import Tree
from small import Bits, bits_asked

SPACE = ft.ProductSpace.bernoulli(4)
TREE = (0, (1, 0, 1), (3, 1, 0))
ALARM = 1e-7


def gate(epsilon: float = 0.1) -> Readiness:
    return Readiness(Attempts(epsilon, 0.05), ReferenceInputs(SPACE, Stream.named(0, "watch")))


def see(watching: Readiness, wrong: list[bool], tree: Any = TREE, weight: float = 1.0, answers: int = 0) -> bool:
    return watching.see(bits_asked(tree), np.array(wrong, bool), np.full(len(wrong), weight), answers)


# --- the gate


def test_the_gate_opens_after_twelve_right_answers_and_not_before() -> None:
    assert READY == 12
    for right in range(20):
        watching = gate()
        assert not see(watching, [False] * 50), "these were there before the tree was"
        assert see(watching, [False] * right) == (right >= 12)


def test_the_first_tree_needs_four_right_answers_if_it_is_shorter_than_the_answers() -> None:
    """Four leaves over four bits: 5 shapes, 4^3 features and 2^4 labels are 12.3 bits, and 8 more make 21 answers."""
    bits = ReferenceInputs(SPACE, Stream.named(0, "watch")).description(bits_asked(TREE))
    assert bits == pytest.approx(np.log2(5 * 4**3 * 2**4))
    assert (SHORT, READY_SHORT) == (8, 4)
    for answers, needed in ((20, 12), (21, 4), (1000, 4)):
        for right in range(14):
            watching = gate()
            see(watching, [False] * 20, answers=answers)
            assert see(watching, [False] * right, answers=answers) == (right >= needed)


def test_the_first_tree_is_ready_at_once_if_it_is_much_shorter_than_the_answers() -> None:
    """Sixteen bits more than its own 12.3; what the learner had wrong before it had a tree says nothing."""
    assert SHORTEST == 16
    for answers in (28, 29):
        assert see(gate(), [True] * 32, answers=answers) == (answers == 29)
    later = gate()
    see(later, [], 0)
    assert not see(later, [], answers=1000), "only the first"


def test_a_small_epsilon_takes_more_care() -> None:
    """An eighth of the usual one takes twice of everything: tests are long, and a failed one makes the next longer."""
    for right in (23, 24):
        careful = gate(0.1 / 8)
        see(careful, [])
        assert see(careful, [False] * right) == (right == 24)
    for answers in (44, 45):
        assert see(gate(0.1 / 8), [True] * 32, answers=answers) == (answers == 45)
    large = gate(0.4)
    see(large, [])
    assert not see(large, [False] * 11), "a large one takes no less"


def test_a_later_tree_needs_twelve_and_so_does_one_that_was_wrong() -> None:
    later = gate()
    see(later, [], 0, answers=1000)
    see(later, [], answers=1000)
    assert not see(later, [False] * 11, answers=1000)
    assert see(later, [False], answers=1000)
    wrong = gate(0.3)
    see(wrong, [], answers=1000)
    assert not see(wrong, [True, *[False] * 5], answers=1000)


def test_a_mistake_closes_the_gate_for_twelve_more() -> None:
    watching = gate()
    see(watching, [])
    see(watching, [False] * 11)
    assert not see(watching, [True])
    for _ in range(11):
        assert not see(watching, [False])
    assert see(watching, [False])


def test_a_long_run_of_right_answers_outweighs_one_mistake() -> None:
    """At epsilon = 0.5 one answer in four may be wrong beyond the first twelve."""
    watching = gate(0.5)
    see(watching, [])
    assert see(watching, [False] * 16 + [True] + [False] * 11)
    strict = gate(0.1)
    see(strict, [])
    assert not see(strict, [False] * 16 + [True] + [False] * 11)


def test_answers_from_rare_parts_weigh_less() -> None:
    watching = gate()
    see(watching, [])
    assert not see(watching, [False] * 23, weight=0.5)
    assert see(watching, [False], weight=0.5)
    light = gate()
    see(light, [])
    assert see(light, [True], weight=0.01) is False
    assert see(light, [False] * 12), "a mistake of almost no mass is no reason to wait"


def test_a_tree_that_changed_materially_starts_again() -> None:
    watching = gate(0.3)
    see(watching, [])
    assert see(watching, [False] * 12)
    assert not see(watching, [False] * 12, (0, (1, 0, 1), 1)), "an eighth of all inputs is more than a third of 0.3"
    assert see(watching, [False] * 12, (0, (1, 0, 1), 1))


def test_a_tree_that_changed_little_does_not() -> None:
    watching = gate(0.6)
    see(watching, [])
    see(watching, [False] * 11)
    assert see(watching, [False], (0, (1, 0, 1), (3, 1, (2, 0, 1)))), "an eighth is less than a third of 0.6"


def test_watched_inputs_follow_the_space_and_the_tree() -> None:
    space = ft.ProductSpace.bernoulli(4, [0, 1, 0.5, 0.1])
    reference = ReferenceInputs(space, Stream.named(3, "watch"))

    def said(tree: Any) -> dict[int, int]:
        return {code: inputs for code, inputs in reference.said(bits_asked(tree)).items() if inputs}

    everything = (1 << REFERENCE) - 1
    assert said(7) == {7: everything}
    assert said((0, 4, 5)) == {4: everything}
    assert said((1, 4, 5)) == {5: everything}
    halves, tenths = said((2, 0, 1)), said((3, 0, 1))
    assert plausible(halves[1].bit_count(), REFERENCE, 0.5, ALARM)
    assert plausible(tenths[1].bit_count(), REFERENCE, 0.1, ALARM)
    both = said((2, (3, 0, 1), (3, 2, 3)))
    assert both == {2 * one + two: halves[one] & tenths[two] for one in (0, 1) for two in (0, 1)}


def test_trees_differ_where_they_say_different_things() -> None:
    quarter = (1 << REFERENCE // 4) - 1
    rest = (1 << REFERENCE) - 1 - quarter
    assert changed({0: quarter, 1: rest}, {0: quarter, 1: rest}) == 0
    assert changed({0: quarter, 1: rest}, {0: rest | quarter}) == 0.75
    assert changed({0: quarter, 1: rest}, {0: rest, 1: quarter}) == changed({5: quarter | rest}, {}) == 1


# --- the protocol: what is counted, and when


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """Openings, countings and lessons of a run, in order."""
    events: list[tuple[str, Any]] = []
    count, opened, learn = Attempts.count, Attempts.open, learner.BitLearner.learn

    def counting(self: Attempts, batch: Bits, labels: np.ndarray) -> Any:
        events.append(("count", batch.tobytes()))
        return count(self, batch, labels)

    def opening(self: Attempts, tree: Tree) -> None:
        events.append(("open", tree))
        opened(self, tree)

    def learning(self: learner.BitLearner, bits: Bits, codes: np.ndarray, wrong: np.ndarray | None) -> np.ndarray:
        events.append(("learn", bits.tobytes()))
        return learn(self, bits, codes, wrong)

    monkeypatch.setattr(Attempts, "count", counting)
    monkeypatch.setattr(Attempts, "open", opening)
    monkeypatch.setattr(learner.BitLearner, "learn", learning)
    return events


@pytest.mark.parametrize("p", [0.5, 0.1])
def test_an_answer_is_counted_before_it_teaches_and_never_after(log: list[tuple[str, Any]], p: float) -> None:
    space = ft.ProductSpace.bernoulli(12, p)
    attempts = 0
    for seed in range(4):
        log.clear()
        result = ft.distill(ft.targets.balanced(space, 4, seed), space, 0.1, 0.05, seed=seed)
        kinds = [kind for kind, _ in log]
        first = kinds.index("open")
        assert "count" not in kinds[:first]
        assert set(kinds[:first]) == {"learn"}
        lessons = {position for position, kind in enumerate(kinds) if kind == "learn" and position > first}
        counts = {position for position, kind in enumerate(kinds) if kind == "count"}
        assert lessons <= {position + 1 for position in counts}
        assert counts - {position - 1 for position in lessons} <= {len(log) - 1}, "only the last teaches nobody"
        assert all(log[position][1] == log[position - 1][1] for position in lessons)
        certified = result.certificate
        counted = [batch[at : at + 12] for kind, batch in log if kind == "count" for at in range(0, len(batch), 12)]
        assert certified.samples <= len(counted)
        assert result.queries.asked["certify"] <= len(set(counted)), "an input counts as a label once"
        attempts += certified.attempts
    assert attempts > 4, "some runs open several attempts"


def test_the_first_attempt_counts_only_what_comes_after_the_gate(log: list[tuple[str, Any]]) -> None:
    """A constant makes no mistake: 40 answers certify it, whatever was asked before."""
    for seed in range(5):
        log.clear()
        result = ft.distill(lambda batch: np.zeros(len(batch), int), ft.ProductSpace.bernoulli(12), 0.1, seed=seed)
        assert result.certificate.samples == 40
        assert result.certificate.attempts == 1
        assert result.queries.asked["label"] >= READY


def test_what_is_counted_follows_the_space(log: list[tuple[str, Any]]) -> None:
    """Exploring draws ones at p = 0.1 with probability 1/4; nothing of it may be counted. False alarm below 1e-5."""
    n, ones, explored = 12, np.zeros(12, int), np.zeros(12, int)
    space, rows, others = ft.ProductSpace.bernoulli(n, 0.1), 0, 0
    for seed in range(40):
        log.clear()
        ft.distill(lambda batch: np.zeros(len(batch), int), space, 0.1, seed=seed)
        first = [kind for kind, _ in log].index("open")
        for position, (kind, data) in enumerate(log):
            if kind == "open":
                continue
            batch = np.frombuffer(data, np.uint8).reshape(-1, n)
            if kind == "count":
                ones, rows = ones + batch.sum(axis=0), rows + len(batch)
            elif position < first:
                explored, others = explored + batch.sum(axis=0), others + len(batch)
    assert rows == 40 * 40
    assert all(plausible(int(count), rows, 0.1, ALARM) for count in ones)
    assert not any(plausible(int(count), others, 0.1, ALARM) for count in explored), "the check can see a difference"


def test_before_an_attempt_no_input_is_asked_twice(log: list[tuple[str, Any]]) -> None:
    space = ft.ProductSpace.bernoulli(12, 0.1)
    ft.distill(ft.targets.balanced(space, 4, 1), space, 0.1)
    first = [kind for kind, _ in log].index("open")
    told = np.vstack([np.frombuffer(data, np.uint8).reshape(-1, 12) for _, data in log[:first]])
    assert len(np.unique(told, axis=0)) == len(told)


def test_no_attempt_is_opened_for_the_same_tree_twice(log: list[tuple[str, Any]]) -> None:
    space = ft.ProductSpace.bernoulli(11)
    result = ft.distill(ft.targets.majority(11), space, 0.15, seed=2, max_queries=250)
    opened = [tree for kind, tree in log if kind == "open"]
    assert len(opened) >= len(set(opened))
    assert result.certificate.attempts == len(set(opened)) or result.certificate.ledger == "standing"


@pytest.mark.parametrize("epsilon", [5e-324, 1e-300, 1e-17])
def test_an_epsilon_that_is_lost_in_rounding_ends_with_what_was_reached(epsilon: float) -> None:
    result = ft.distill(lambda rows: rows[:, 0] & rows[:, 1], ft.ProductSpace.bernoulli(10), epsilon, max_queries=400)
    assert not result.certificate.holds
    assert result.error_bound < 0.05


def test_labels_stand_in_increasing_order_in_the_tree() -> None:
    """Whatever order they were seen in."""
    space = ft.ProductSpace.bernoulli(10)
    words = np.array(["zero", "one", "many"])
    result = ft.distill(lambda rows: words[np.minimum(rows[:, :2].sum(axis=1), 2)], space, 0.1)
    assert result.tree.labels.tolist() == ["many", "one", "zero"]
    assert result.tree.predict(np.array([[1, 1] + [0] * 8, [0] * 10])).tolist() == ["many", "zero"]


def test_a_function_of_many_small_effects_is_certified_with_fewer_leaves_than_it_is_learnt_with() -> None:
    """A list of literals: its first few suffice, and the learner's own tree fits them all. One run in twelve takes more
    than 300 labels."""
    space = ft.ProductSpace.bernoulli(30)

    def target(batch: Any) -> Any:
        return batch[:, :12].argmax(axis=1) % 2

    results = [ft.distill(target, space, 0.1, seed=seed) for seed in range(7)]
    assert all(result.certificate.holds for result in results)
    assert max(result.tree.size for result in results) <= 6
    assert np.median([int(result.queries.asked) for result in results]) <= 220


def test_where_no_tree_is_in_sight_all_inputs_are_asked_before_they_were_asked_for_twice() -> None:
    space = ft.ProductSpace.bernoulli(9)
    labels = np.random.default_rng(5).integers(0, 2, 512)

    def target(batch: Any) -> Any:
        return labels[batch.astype(np.intp) @ (1 << np.arange(9))]

    result = ft.distill(target, space, 0.02, seed=1)
    assert result.certificate.holds
    assert result.certificate.method == "exact"
    assert result.queries.asked <= 1.2 * 512
