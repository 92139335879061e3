"""Audits with a journal and with workers: the same certificate, and nothing is paid for twice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import fidelitree as ft
from fidelitree.asking.journalled import ASKED_AGAIN
from fidelitree.asking.repeats import EACH
from fidelitree.runs.agree.audit import ASSUMES_UNCHANGED
from journals import BITS, Counting, on_bits

if TYPE_CHECKING:
    from pathlib import Path

SPACE = ft.ProductSpace.bernoulli(30)
TREE = ft.distill(on_bits, BITS, 0).tree


def first_twelve(batch: Any) -> Any:
    return TREE.predict(batch[:, :12])


def test_a_broken_audit_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    arguments = {"epsilon": 0.01, "seed": 3, "entropy": "ab" * 16, "batch_size": 50}
    undisturbed = ft.certify(first_twelve, on_bits, SPACE, **arguments)
    with pytest.raises(ft.TargetError, match="make the same call again, and it goes on from there"):
        ft.certify(first_twelve, Counting(on_bits, 200), SPACE, journal=path, **arguments)
    whole = Counting(on_bits)
    resumed = ft.certify(first_twelve, whole, SPACE, journal=path, **arguments)
    assert resumed == replace(undisturbed, assumes=(*undisturbed.assumes, ASSUMES_UNCHANGED))
    assert whole.rows <= undisturbed.samples - 200 + ASKED_AGAIN + undisturbed.samples // EACH
    found = ft.journal.info(path)
    assert (found.run.door, found.by_purpose["certify"], found.ended) == ("certify", undisturbed.samples, "certified")
    assert found.answers == sum(found.by_purpose.values())


def test_an_audit_that_refutes_is_written_down_as_such(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    assert not ft.certify(lambda batch: 1 - on_bits(batch), on_bits, SPACE, 0.05, seed=3, journal=path).holds
    assert ft.journal.info(path).ended == "not certified"


def test_a_seed_of_the_machine_and_another_predictor(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    first = ft.certify(first_twelve, on_bits, SPACE, 0.05, journal=path)
    again = ft.certify(first_twelve, on_bits, SPACE, 0.05, journal=path)
    assert replace(again, assumes=first.assumes) == first
    with pytest.raises(ft.ParameterError, match="predictor was "):
        ft.certify(lambda batch: batch[:, 0], on_bits, SPACE, 0.05, journal=path)
    with pytest.raises(ft.ParameterError, match="call was 'certify' and is 'distill' now"):
        ft.distill(on_bits, SPACE, 0.05, seed=None, journal=path)


def test_workers_change_nothing() -> None:
    with ThreadPoolExecutor(3) as pool:
        found = ft.certify(first_twelve, on_bits, SPACE, 0.02, seed=1, entropy="ab" * 16, executor=pool, batch_size=7)
    assert found == ft.certify(first_twelve, on_bits, SPACE, 0.02, seed=1, entropy="ab" * 16)
