"""A certificate is one honest sentence."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fidelitree.certificates.certificate import Certificate, _up, assumptions, confidence_of
from fidelitree.errors import FormatError

FIXED = Certificate(0.1, 0.05, 0.0876, 1500, 110, "fixed", "tree", "space", seed=3)
EXACT = Certificate(0.1, 0.0, 0.0625, 16, None, "exact", "tree", "space", split_quality=True)


def test_it_holds_when_the_bound_is_at_most_epsilon() -> None:
    assert FIXED.holds
    assert dataclasses.replace(FIXED, error_bound=0.1).holds
    assert not dataclasses.replace(FIXED, error_bound=0.1000001).holds


def test_where_no_error_was_named_anything_certified_holds() -> None:
    smallest = dataclasses.replace(FIXED, epsilon=None)
    assert smallest.holds
    assert dataclasses.replace(smallest, error_bound=0.999).holds
    assert not dataclasses.replace(smallest, error_bound=1.0).holds
    assert "(a tree of every size was asked for), by 110 errors" in str(smallest)


def test_of_a_noisy_target_the_distribution_alone_is_assumed() -> None:
    deterministic, distribution = FIXED.assumes
    assert assumptions(True) == (deterministic, distribution)
    assert assumptions(False) == (distribution,)


def test_what_is_not_said_is_one_attempt_with_a_chosen_seed() -> None:
    assert (FIXED.attempts, FIXED.attempt, FIXED.level, FIXED.differs) == (1, 1, None, 0)
    assert (FIXED.protocol, FIXED.split_quality, FIXED.seed_chosen) == ("separate", False, True)
    assert (FIXED.queries, EXACT.seed) == ({}, None)


def test_the_sentence_of_a_sampled_certificate() -> None:
    assert str(FIXED) == (
        "With confidence 0.95, this tree disagrees with the target on at most 0.0876 of inputs (an error of 0.1 was "
        "asked for), by 110 errors among 1,500 test inputs, provided that the target is deterministic and inputs "
        "follow the stated product distribution."
    )


def test_the_sentence_of_an_exact_certificate() -> None:
    assert str(EXACT) == (
        "This tree disagrees with the target on exactly 0.0625 of all inputs (an error of 0.1 was asked for), provided "
        "that the target is deterministic and inputs follow the stated product distribution."
    )


def test_what_is_not_certified_is_said() -> None:
    assert "(an error of 0.05 was asked for and is NOT certified)" in str(dataclasses.replace(FIXED, epsilon=0.05))


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (5e-324, "1e-300"),
        (7e-301, "1e-300"),
        (1.5e-300, "1.5e-300"),
        (1.23401e-7, "1.235e-07"),
        (0.12341, "0.1235"),
        (0.5, "0.5"),
        (0.99999, "1"),
        (1.0, "1"),
    ],
)
def test_a_bound_is_shown_with_four_digits_rounded_up(share: float, text: str) -> None:
    assert _up(share) == text


@pytest.mark.parametrize(
    ("delta", "text"),
    [
        (0.05, "0.95"),
        (0.5, "0.5"),
        (0.12341, "0.8765"),
        (0.00012, "0.9998"),
        (1e-4, "0.9999"),
        (9.9e-5, "1 - 9.9e-05"),
        (1e-9, "1 - 1e-09"),
    ],
)
def test_confidence_is_shown_with_four_digits_rounded_down(delta: float, text: str) -> None:
    assert confidence_of(delta) == text


@given(st.floats(1e-300, 1))
def test_a_shown_bound_is_never_in_the_trees_favour(share: float) -> None:
    """Up to the last digit of the float: 0.3 is shown as 0.3."""
    assert share * (1 - 1e-12) <= float(_up(share)) <= min(1.0, share * 1.0011)


@pytest.mark.parametrize("certificate", [FIXED, EXACT], ids=["fixed", "exact"])
def test_a_stored_certificate_is_read_back(certificate: Certificate) -> None:
    stored = dataclasses.replace(certificate, queries={"certify": 1500}, differs=0.01)
    assert Certificate.from_json(stored.to_json()) == stored
    assert str(Certificate.from_json(stored.to_json())) == str(stored)


def test_a_stored_certificate_has_a_line_for_each_entry() -> None:
    lines = FIXED.to_json().splitlines()
    assert lines[:4] == ["{", ' "format": "fidelitree.certificate",', ' "version": 1,', ' "holds": true,']


def test_what_was_pruned_and_a_single_error_are_said() -> None:
    text = str(dataclasses.replace(FIXED, errors=1, differs=0.012))
    assert "by 1 error among 1,500 test inputs of a tree that it differs from on 0.012, provided" in text


DAMAGES: list[tuple[dict[str, object], str]] = [
    ({"format": "fidelitree.tree"}, 'it must be an object with "format": "fidelitree.certificate"'),
    ({"version": 2}, "its version must be 1; got 2"),
    ({"extra": 1}, "missing or unknown entries: extra"),
    ({"holds": False}, "it says that it holds, and its numbers say otherwise"),
    ({"epsilon": "0.1"}, "epsilon must be a number; got '0.1'"),
    ({"epsilon": True}, "epsilon must be a number; got True"),
    ({"error_bound": -0.1}, "error_bound must be between 0 and 1; got -0.1"),
    ({"error_bound": float("nan")}, "error_bound must be between 0 and 1; got nan"),
    ({"delta": 1.5}, "delta must be between 0 and 1; got 1.5"),
    ({"samples": 10.5}, "samples must be a whole number; got 10.5"),
    ({"seed": "3"}, "seed must be a whole number; got '3'"),
    ({"split_quality": 1}, "split_quality must be true or false; got 1"),
    ({"assumes": "nothing"}, "assumes must be a list; got 'nothing'"),
    ({"queries": []}, "queries must be an object; got []"),
]


@pytest.mark.parametrize(("damage", "message"), DAMAGES, ids=[message for _, message in DAMAGES])
def test_damaged_certificates_are_refused_with_the_rule(damage: dict[str, object], message: str) -> None:
    with pytest.raises(FormatError) as caught:
        Certificate.from_dict({**FIXED.to_dict(), **damage})
    assert str(caught.value) == f"not a stored certificate: {message}"


def test_a_missing_entry_and_what_is_no_certificate_are_refused() -> None:
    data = FIXED.to_dict()
    del data["samples"], data["seed"]
    with pytest.raises(FormatError, match="not a stored certificate: missing or unknown entries: samples, seed"):
        Certificate.from_dict(data)
    for text in ("", "{", "[" * 100_000):
        with pytest.raises(FormatError, match="not a stored certificate: it is not JSON"):
            Certificate.from_json(text)
    for text in ("[]", "3", "{}"):
        with pytest.raises(FormatError, match='it must be an object with "format"'):
            Certificate.from_json(text)


def test_it_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        FIXED.error_bound = 0.0
