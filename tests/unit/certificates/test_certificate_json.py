"""Certificates as JSON: what runs promise is read back, and no damage becomes a certificate that cannot print."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fidelitree as ft
from fidelitree.certificates.certificate import METHODS, PROTOCOLS, Certificate
from fidelitree.certificates.helped import Help

SPACE = ft.ProductSpace.bernoulli(11, 0.4)
MUX = ft.targets.multiplexer(3)
STORED = Certificate(0.1, 0.05, 0.09, 60, 1, "sequential", "t", "s", seed=3, protocol="prequential", attempts=2)

RUNS = {
    "certified": lambda: ft.distill(MUX, SPACE, 0.1),
    "a seed from the machine": lambda: ft.distill(MUX, SPACE, 0.3, seed=None),
    "a budget": lambda: ft.distill(MUX, SPACE, 0.1, max_queries=60),
    "few leaves": lambda: ft.distill(MUX, SPACE, 0.1, max_leaves=3),
    "exact": lambda: ft.distill(ft.targets.majority(5), ft.ProductSpace.bernoulli(5), 0.1),
    "Algorithm 1": lambda: ft.build_top_down(MUX, SPACE, 0.1),
}


@pytest.mark.parametrize("run", RUNS)
def test_the_certificate_of_a_run_is_read_back(run: str) -> None:
    certificate = RUNS[run]().certificate
    again = Certificate.from_json(certificate.to_json())
    assert again == certificate
    assert str(again) == str(certificate)
    assert again.to_json() == certificate.to_json()


def test_files_of_the_first_version_have_no_entropy() -> None:
    data = STORED.to_dict()
    del data["entropy"], data["replayed"]
    assert Certificate.from_dict(data) == STORED
    with pytest.raises(ft.FormatError, match=r"missing or unknown entries: seed$"):
        Certificate.from_dict({name: value for name, value in data.items() if name != "seed"})


def test_a_replay_is_read_back() -> None:
    certificate = dataclasses.replace(STORED, entropy="ab" * 16, replayed=True)
    again = Certificate.from_json(certificate.to_json())
    assert again == certificate
    assert str(again) == str(certificate)
    assert str(again).endswith("it proves nothing about a predictor that was changed since.")


def test_the_entries_are_plain_and_complete() -> None:
    data = json.loads(STORED.to_json())
    assert data["format"] == "fidelitree.certificate"
    assert data["holds"] is True
    assert {entry.name for entry in dataclasses.fields(Certificate)} - {
        "tested_errors",
        "helped",
        "coverage",
        "drawn",
        "cost",
    } < set(data)
    helped = dataclasses.replace(STORED, helped=Help("digest", 0.1, None, 1, 0, 0))
    assert set(json.loads(helped.to_json())) == {*data, "helped"}
    assert Certificate.from_json(helped.to_json()) == helped
    assert set(data["versions"]) == {"fidelitree", "numpy"}
    assert data["assumes"] == ["the target is deterministic", "inputs follow the stated product distribution"]


@given(
    st.builds(
        Certificate,
        st.floats(0, 1),
        st.floats(0, 1, exclude_min=True, exclude_max=True),
        st.floats(0, 1),
        samples=st.integers(10, 10**12),
        errors=st.integers(0, 10),
        method=st.sampled_from(METHODS),
        tree_digest=st.text(),
        space_digest=st.text(),
        seed=st.none() | st.integers(0),
        protocol=st.sampled_from(PROTOCOLS),
        differs=st.floats(0, 1),
        queries=st.dictionaries(st.text(), st.integers(0, 2**63 - 1)),
    )
)
def test_any_certificate_is_read_back(certificate: Certificate) -> None:
    again = Certificate.from_json(certificate.to_json())
    assert again == certificate
    assert str(again) == str(certificate)


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


@given(st.sampled_from(sorted(STORED.to_dict())), plain)
def test_a_damaged_entry_is_refused_or_harmless(name: str, value: Any) -> None:
    data = {**STORED.to_dict(), name: value}
    try:
        certificate = Certificate.from_dict(data)
    except ft.FormatError as error:
        assert str(error).startswith("not a stored certificate: ")  # noqa: PT017 - either outcome is right
    else:
        assert "agrees with the target on" in str(certificate)
        assert 0 <= certificate.error_bound <= 1
        wanted = certificate.epsilon
        assert certificate.holds == (
            certificate.error_bound < 1 if wanted is None else certificate.error_bound <= wanted
        )


@given(st.integers(0, len(STORED.to_json()) - 1))
def test_a_cut_file_is_refused(length: int) -> None:
    with pytest.raises(ft.FormatError, match="not a stored certificate: it is not JSON"):
        Certificate.from_json(STORED.to_json()[:length])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"method": "magic"}, "method must be one of exact, fixed, sequential; got 'magic'"),
        ({"protocol": "none"}, "protocol must be one of separate, prequential; got 'none'"),
        ({"ledger": "mine"}, "ledger must be one of run, standing, frontier, audit, interval, whole; got 'mine'"),
        ({"assumes": ["\ud800"]}, "assumes must hold sentences; got ['\\ud800']"),
        ({"assumes": ["this", 3]}, "assumes must hold sentences; got ['this', 3]"),
        ({"errors": None}, "errors may be missing in an exact one only"),
        ({"errors": 61}, "errors must be between 0 and the samples"),
        ({"errors": -1}, "errors must be between 0 and the samples"),
        ({"samples": -1, "errors": None, "method": "exact"}, "errors must be between 0 and the samples"),
        ({"attempt": 0}, "attempt must be between 1 and the attempts"),
        ({"attempt": 3}, "attempt must be between 1 and the attempts"),
        ({"delta": 0}, "delta must be above 0 and below 1 unless it is an exact one"),
        ({"delta": 1.0}, "delta must be above 0 and below 1 unless it is an exact one"),
        ({"level": 0.0}, "level must be above 0 unless it is an exact one; got 0.0"),
        ({"seed": -1}, "seed must be at least 0; got -1"),
        ({"entropy": "xyz"}, "entropy must be 32 hexadecimal digits; got 'xyz'"),
        ({"entropy": 3}, "entropy must be text; got 3"),
        ({"replayed": True}, "a replay must have the entropy of its audit; got None"),
        ({"replayed": 1}, "replayed must be true or false; got 1"),
        ({"samples": 2**63}, "samples must be at least 0 and below 2^63; got 9223372036854775808"),
        ({"attempts": 10**400, "attempt": 9}, f"attempts must be at least 0 and below 2^63; got 1{'0' * 79}"),
        ({"queries": {"label": -1}}, "queries['label'] must be at least 0 and below 2^63; got -1"),
        ({"queries": {"label": "1"}}, "every entry of queries must be a whole number; got {'label': '1'}"),
        ({"queries": {"label": True}}, "every entry of queries must be a whole number; got {'label': True}"),
        ({"versions": {"numpy": 2}}, "every entry of versions must be text; got {'numpy': 2}"),
        ({"error_bound": 0.2}, "it says that it holds, and its numbers say otherwise"),
    ],
)
def test_what_cannot_be_is_refused_with_the_rule(damage: dict[str, Any], message: str) -> None:
    with pytest.raises(ft.FormatError) as caught:
        Certificate.from_dict({**STORED.to_dict(), **damage})
    assert str(caught.value) == f"not a stored certificate: {message}"


@pytest.mark.parametrize("counts", [{"errors": None, "method": "exact"}, {"errors": 0}])
def test_nothing_may_have_been_asked(counts: dict[str, Any]) -> None:
    data = {**STORED.to_dict(), "samples": 0, **counts}
    assert Certificate.from_dict(data).samples == 0


def test_a_stored_tree_is_no_certificate_and_the_other_way_round() -> None:
    tree = ft.Tree.constant(SPACE, 1)
    with pytest.raises(ft.FormatError, match=r'"format": "fidelitree\.certificate"'):
        Certificate.from_json(json.dumps(tree.to_dict()))
    with pytest.raises(ft.FormatError, match=r'"format": "fidelitree\.tree"'):
        ft.Tree.from_dict(STORED.to_dict())
