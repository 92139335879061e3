"""A certificate is one honest sentence."""

from __future__ import annotations

import dataclasses

import pytest

from fidelitree.certificates.certificate import Certificate, assumptions
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
    assert "with 95% confidence.\nTested on 1,500 fresh inputs: this tree disagreed on 110." in str(smallest)


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
        "Certified: this tree agrees with the target on at least 91.2% of inputs, with 95% confidence "
        "(asked for: 90%).\nTested on 1,500 fresh inputs: this tree disagreed on 110. Assumes: the target is "
        "deterministic; inputs follow the stated product distribution."
    )


def test_the_sentence_of_an_exact_certificate() -> None:
    assert str(EXACT) == (
        "Exact: this tree agrees with the target on 93.75% of all inputs.\nEvery input was counted. Assumes: "
        "the target is deterministic; inputs follow the stated product distribution."
    )


def test_what_is_not_certified_is_said() -> None:
    promise = str(dataclasses.replace(FIXED, epsilon=0.05)).splitlines()[0]
    assert promise.endswith("with 95% confidence. NOT certified: the 95% that was asked for.")


@pytest.mark.parametrize("certificate", [FIXED, EXACT], ids=["fixed", "exact"])
def test_a_stored_certificate_is_read_back(certificate: Certificate) -> None:
    stored = dataclasses.replace(certificate, queries={"certify": 1500}, differs=0.01)
    assert Certificate.from_json(stored.to_json()) == stored
    assert str(Certificate.from_json(stored.to_json())) == str(stored)


def test_a_stored_certificate_has_a_line_for_each_entry() -> None:
    lines = FIXED.to_json().splitlines()
    assert lines[:4] == ["{", ' "format": "fidelitree.certificate",', ' "version": 2,', ' "holds": true,']


def test_what_was_pruned_and_a_single_error_are_said() -> None:
    pruned = dataclasses.replace(
        FIXED, method="sequential", level=0.03, errors=12, tested_digest="9" * 64, tested_errors=1, differs=0.012
    )
    assert "Tested on 1,500 fresh inputs: this tree disagreed on 12. Assumes" in str(pruned)
    assert pruned.errors_of_test == 1
    told = " ".join(pruned.details())
    assert "which disagreed with the target on 1 of 1,500 inputs" in told
    assert "This tree differs from it on exactly 0.012 of inputs" in told
    uncounted = dataclasses.replace(pruned, errors=None)
    assert "Tested on 1,500 fresh inputs: 1 disagreement with a tree close to this one (see details)." in str(uncounted)


DAMAGES: list[tuple[dict[str, object], str]] = [
    ({"format": "fidelitree.tree"}, 'it must be an object with "format": "fidelitree.certificate"'),
    ({"version": 3}, "its version must be 1 or 2; got 3"),
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
