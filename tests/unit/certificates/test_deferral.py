"""What an attempt for a tree that defers counts, and how its coverage follows."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import fidelitree as ft
from fidelitree.asking.journal.ledger import LedgerEntry
from fidelitree.certificates.attempts import Attempts
from fidelitree.certificates.certificate import Certificate
from fidelitree.certificates.deferral import DeferringAttempt, certified_coverage, coverage_of
from fidelitree.theory.sequential import FRONTIER, LEDGERS, LOWER_ENDS, coverage_bound, error_bound
from fidelitree.trees.answers import DEFER

BITS = ft.ProductSpace.bernoulli(2, [0.3, 0.5])
TREE = ft.Tree.build(BITS, [(0, 1, 2), 2, (1, 3, 4), 0, 1], [0, 1, DEFER])
ROWS = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [1, 1]], np.uint8)


def attempt(waits=None):
    return DeferringAttempt(TREE, 0.05, LedgerEntry(FRONTIER, 1, waits or {}))


def see(found: DeferringAttempt, batch: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.bool_]:
    tally = found.tally(batch, labels)
    found.add(tally)
    return tally.wrong


def test_only_answered_inputs_count_and_all_are_drawn():
    found = attempt()
    wrong = see(found, ROWS, np.array([9, 0, 0, 9, 1]))
    assert wrong.tolist() == [False, False, True, False, False]
    assert (found.errors, found.samples, found.drawn) == (1, 3, 5)


def test_what_an_earlier_run_has_drawn_is_passed_by_its_place():
    found = attempt({"test": 3})
    see(found, ROWS, np.array([9, 0, 0, 9, 1]))
    assert (found.errors, found.samples, found.drawn) == (0, 1, 2)


def test_drawn_and_counts_are_those_of_all_inputs():
    found = attempt()
    right = np.array([9, 0, 1, 9, 1])
    for _ in range(40):
        see(found, ROWS, right)
    low = found.error_bound
    for _ in range(40):
        see(found, ROWS, 1 - right)
    assert found.error_bound > low
    assert found.counts == (120, 240)
    assert found.drawn == 400


def test_coverage_is_the_mass_or_a_bound_at_the_level_of_a_lower_end():
    found = attempt()
    see(found, np.repeat(ROWS, 40, axis=0), np.repeat([9, 0, 1, 9, 1], 40))
    assert coverage_of(TREE, BITS) == pytest.approx(0.3)
    assert certified_coverage(TREE, found, FRONTIER, BITS) == pytest.approx(0.3)
    level = found.level * LOWER_ENDS[FRONTIER] / LEDGERS[FRONTIER]
    bound = certified_coverage(TREE, found, FRONTIER, None)
    assert bound == coverage_bound(120, 200, FRONTIER, found.level) == 1 - error_bound(80, 200, level)
    assert 0.4 < bound < 0.6


def test_an_input_is_asked_where_one_tree_answers_it():
    attempts = Attempts(0.05, 0.05, part=FRONTIER)
    assert attempts.to_ask(ROWS) is None
    attempts.open(TREE, made=DeferringAttempt)
    assert attempts.to_ask(ROWS).tolist() == [False, True, True, False, True]
    other = ft.Tree.build(BITS, [(1, 1, 2), 0, 1], [0, DEFER])
    attempts.open(other, made=DeferringAttempt)
    assert attempts.to_ask(ROWS).tolist() == [True, True, True, False, True]
    attempts.open(ft.Tree.constant(BITS, 1), made=DeferringAttempt)
    assert attempts.to_ask(ROWS) is None


def test_answers_are_those_that_the_tree_gives_and_others_do_not_stand():
    attempts = Attempts(0.05, 0.05, part=FRONTIER)
    found = attempts.open(TREE, made=DeferringAttempt)
    attempts.standing.open(100, [ft.Tree.constant(BITS, 1)])
    asked = np.array([True, True, True, False, True])
    attempts.count(ROWS, np.array([0, 0, 1, 9, 1]), asked)
    assert attempts.answers(found).labels.tolist() == [0, 1, 1]
    assert attempts.answers(found).counts(TREE).tolist() == [[0, 0], [1, 0], [0, 2]]
    assert attempts.answers(found).leaf_labels(TREE).wrong(TREE).tolist() == [0.0, 0.0, 0.0]
    assert attempts.standing.all[0].samples == 0  # what is left after passing over is no sample of all inputs


def certificate(**more):
    kept = {"coverage": 0.3, "drawn": 900, "ledger": FRONTIER, "level": 0.004, "protocol": "prequential"}
    made = Certificate(0.05, 0.05, 0.04, 300, 3, "sequential", "tree", "space", **kept)
    return dataclasses.replace(made, **more)


def test_the_sentence_says_how_much_and_how_well():
    first, basis = str(certificate()).splitlines()
    assert first == (
        "Certified: this tree agrees with the target on at least 96% of the inputs that it answers, with 95% "
        "confidence. It answers at least 30% of all inputs, and asks the target about the rest."
    )
    assert basis.startswith(
        "Tested on 300 fresh inputs: this tree disagreed on 3. 600 more inputs were drawn that it defers."
    )
    assert "defers nothing" in str(certificate(coverage=1.0, drawn=300))
    nil = certificate(coverage=0.0, drawn=0, samples=0, errors=0, error_bound=1.0)
    assert str(nil).startswith("Coverage is nil: this tree asks the target about every input. NOT certified")


def test_it_states_no_lower_end_of_the_error_and_both_of_what_is_lost():
    assert certificate().interval == (0.0, 0.04)
    assert certificate().ends == pytest.approx((0.7, 0.7))
    counted = coverage_bound(300, 900, FRONTIER, 0.004)
    assert certificate(coverage=counted).ends == (0.0, pytest.approx(1 - counted))


def test_json_keeps_it_and_refuses_what_cannot_be():
    found = certificate()
    assert Certificate.from_json(found.to_json()) == found
    assert "coverage" not in dataclasses.replace(found, coverage=None, drawn=None).to_dict()
    for wrong in ({"drawn": 299}, {"coverage": 1.1}, {"drawn": None}, {"coverage": "all"}):
        with pytest.raises(ft.FormatError, match="not a stored certificate"):
            Certificate.from_dict(found.to_dict() | wrong)
