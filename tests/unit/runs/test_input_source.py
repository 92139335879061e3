"""Where inputs come from: nothing is given out twice, and what teaches never tests."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.limits import BudgetSpent
from fidelitree.certificates.certificate import ASSUMES_UNFORESEEN
from fidelitree.runs.input_source import DrawnSource, TableSource, source_of
from fidelitree.spaces.draw import BitDraws, Stream
from fidelitree.spaces.product import ASSUMES_DISTRIBUTION as DISTRIBUTION
from fidelitree.spaces.rows import Rows
from mixed import MIXED


def numbered(rows: int) -> Rows:
    """A table whose rows can be told apart."""
    return Rows({"number": np.arange(rows), "odd": np.arange(rows) % 2 == 1})


def as_set(inner: Any) -> set[tuple[float, ...]]:
    return {tuple(row) for row in inner.tolist()}


@pytest.mark.parametrize("space", [MIXED, ft.ProductSpace.bernoulli(70, 0.3)], ids=["mixed", "bits"])
def test_portions_do_not_change_what_is_drawn(space: ft.ProductSpace) -> None:
    one, two = DrawnSource(space, 7), DrawnSource(space, 7)
    whole = one.label(500)
    assert np.array_equal(whole, np.concatenate([two.label(rows) for rows in (1, 0, 63, 64, 372)]))
    assert whole.dtype == space.dtype
    assert len(as_set(whole)) > 400, "inputs differ"


def test_labels_and_tests_are_drawn_from_different_streams() -> None:
    drawn = DrawnSource(MIXED, 0)
    assert not as_set(drawn.label(300)) & as_set(drawn.test(300))
    assert not as_set(DrawnSource(MIXED, 1).test(300)) & as_set(DrawnSource(MIXED, 0).test(300))


@pytest.mark.parametrize("purpose", ["label", "certify"])
def test_inputs_that_a_run_over_bits_has_seen_do_not_come_again(purpose: str) -> None:
    """A run over bits draws for itself; its attempts may go on to count what comes from here."""
    space = ft.ProductSpace.bernoulli(60, np.linspace(0.2, 0.8, 60))
    before = as_set(BitDraws(space.biases, Stream.named(0, purpose)).take(600))
    drawn = DrawnSource(space, 0)
    assert not before & as_set(drawn.test(600))
    assert not before & as_set(drawn.label(600))


def test_a_space_never_runs_out() -> None:
    drawn = source_of(MIXED, 0)
    assert isinstance(drawn, DrawnSource)
    assert drawn.most == drawn.tests == math.inf
    assert drawn.masses is drawn.product is MIXED
    assert drawn.digest == MIXED.digest
    assert drawn.assumes(deterministic=True, seed_chosen=False) == ("the target is deterministic", DISTRIBUTION)
    assert drawn.assumes(deterministic=False, seed_chosen=False) == (DISTRIBUTION,)
    assert drawn.assumes(deterministic=False, seed_chosen=True) == (DISTRIBUTION, ASSUMES_UNFORESEEN)


def test_rows_are_given_out_once_and_in_one_part_only() -> None:
    rows = numbered(101)
    listed = source_of(rows, 3)
    assert isinstance(listed, TableSource)
    assert (listed.most, listed.tests, listed.masses) == (51, 50, None)
    assert listed.digest == rows.digest != rows.product.digest
    learnt = np.concatenate([listed.label(20), listed.label(20), listed.label(20), listed.label(20)])
    tested = np.concatenate([listed.test(30), listed.test(30)])
    assert (len(learnt), len(tested)) == (51, 50)
    assert len(as_set(learnt) | as_set(tested)) == 101
    with pytest.raises(BudgetSpent, match="the table's 50 test rows"):
        listed.test(1)
    assert len(listed.label(1)) == 0


def test_the_seed_chooses_the_parts() -> None:
    rows = numbered(100)
    tests = [source_of(rows, seed).test(50) for seed in (0, 0, 1)]
    assert np.array_equal(tests[0], tests[1])
    assert as_set(tests[0]) != as_set(tests[2])


def test_what_a_certificate_over_rows_takes_for_granted() -> None:
    listed = source_of(numbered(10), 0)
    of_rows = (
        "inputs are rows like those of this table",
        "the rows are independent of each other",
        "the target was not fitted to them",
    )
    assert listed.assumes(deterministic=True, seed_chosen=False) == ("the target is deterministic", *of_rows)
    assert listed.assumes(deterministic=False, seed_chosen=False) == of_rows
