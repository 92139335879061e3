"""What is known of a target that lists its answers is known without a label, and worked out once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.counted import Counted
from fidelitree.asking.limits import Budget, BudgetSpent
from fidelitree.asking.memory import Memory
from fidelitree.certificates.attempts import Attempts
from fidelitree.errors import NoDiagramError
from fidelitree.exact.engine import all_answers_of
from fidelitree.runs import known_answers
from fidelitree.runs.known_answers import KnownErrors, exact_error
from fidelitree.search.optimal.substitutes import Prunings
from small import cube

SPACE = ft.ProductSpace.bernoulli(12, 0.3)
TREE = ft.targets.balanced(SPACE, 3, seed=4)
TABLE = ft.targets.TruthTable(TREE.predict(cube(12)).astype(np.uint8))


def counted(target: Any = TABLE, **limits: Any) -> Counted:
    return Counted(target, SPACE, Memory(), Budget(**limits))


def test_all_answers_of_a_circuit_are_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A diagram of many inputs takes a second; a run that opened five attempts built it five times."""
    asked: list[int] = []

    def counting(target: Any, space: ft.ProductSpace, watch: Any) -> Any:
        asked.append(len(space))
        return all_answers_of(target, space, watch)

    monkeypatch.setattr(known_answers, "all_answers_of", counting)
    trees, run = [TREE, ft.Tree.constant(SPACE, 0), ft.Tree.constant(SPACE, 1)], counted()
    errors = [exact_error(tree, run) for tree in trees]
    assert errors == pytest.approx([ft.tree_error(tree, TABLE, SPACE) for tree in trees])
    assert asked == [12]
    assert exact_error(TREE, counted()) == 0
    assert asked == [12, 12], "another run may have another target"


def test_what_takes_too_long_to_know_is_tried_again_only_if_time_ended_it(monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[Exception] = [BudgetSpent("max_seconds = 1"), NoDiagramError("too large")]

    def failing(*told: Any) -> Any:
        raise raised.pop(0)

    monkeypatch.setattr(known_answers, "all_answers_of", failing)
    run = counted(TREE.predict)
    assert [exact_error(TREE, run) for _ in range(3)] == [None, None, None]
    assert not raised


def test_nothing_is_known_of_a_stranger_or_of_what_may_answer_otherwise() -> None:
    assert KnownErrors.of(counted(TABLE.__call__)) is None
    assert KnownErrors.of(Counted(TABLE, SPACE, None)) is None
    assert KnownErrors.of(counted()) is not None


def test_the_first_tree_that_is_good_enough_is_pruned_as_far_as_it_stays_so() -> None:
    """No label is asked for, and every tree under test is looked at once."""
    run, attempts = counted(), Attempts(0.1, 0.05)
    known = KnownErrors(run)
    attempts.open(ft.Tree.constant(SPACE, 0))
    assert not known.judged(attempts)
    assert known.done(attempts) is None
    assert known.judged(attempts)
    assert known.refuted == {attempts.all[0].number}
    attempts.open(TREE)
    assert not known.judged(attempts)
    found = known.done(attempts)
    assert found is not None
    assert found.error == pytest.approx(ft.tree_error(found.tree, TABLE, SPACE))
    assert found.error_bound == found.error <= 0.1
    assert 1 < found.tree.size < TREE.size
    assert run.asked == 0
    smaller = [tree for tree in prunings() if tree.size < found.tree.size]
    assert all(ft.tree_error(tree, TABLE, SPACE) > 0.1 for tree in smaller)


def prunings() -> list[ft.Tree]:
    found = Prunings(TREE, SPACE)
    return [found.with_leaves(leaves) for leaves in range(1, TREE.size + 1)]


def test_leaves_beyond_the_limit_are_not_returned_and_the_error_is_still_exact() -> None:
    attempts = Attempts(0.01, 0.05)
    attempts.open(TREE)
    found = KnownErrors(counted(max_leaves=3)).done(attempts)
    assert found is not None
    assert found.tree.size <= 3
    assert found.error == pytest.approx(ft.tree_error(found.tree, TABLE, SPACE))
    assert found.error_bound > 0.01


def test_after_many_labels_the_paths_of_a_diagram_are_a_tree_that_takes_none() -> None:
    """A circuit whose paths are few, and a search that has found nothing in 2,000 labels."""
    circuit = ft.targets.expression("a & b | c & (a ^ b)")
    run = Counted(circuit, circuit.space, Memory())
    known, attempts = KnownErrors(run), Attempts(0.01, 0.05)
    attempts.open(ft.Tree.constant(circuit.space, 0))
    assert known.done(attempts) is None
    found = known.unfolded(attempts, 100)
    if found is not None:  # where the engine for small circuits is a diagram
        assert found.error == ft.tree_error(found.tree, circuit, circuit.space) <= 0.01
    assert run.asked == 0
