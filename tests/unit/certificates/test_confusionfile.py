"""The table as plain data: read back as it was, and refused where counts, sums or intervals do not fit."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

import fidelitree as ft
from fidelitree.certificates.confusion import Confusion
from fidelitree.certificates.confusionfile import contradiction, from_dict, to_dict
from fidelitree.errors import FormatError

TABLE = Confusion.of({("a", "a"): 60, ("b", "a"): 30, ("c", "c"): 10}, 0.02)
assert TABLE is not None
PLAIN = to_dict(TABLE)
EXACT = Confusion.of({(0, 0): 0.75, (1, 0): 0.125, (1, 1): 0.125}, None)


@pytest.mark.parametrize("found", [TABLE, EXACT])
def test_it_is_read_back(found: Confusion) -> None:
    assert from_dict(json.loads(json.dumps(to_dict(found)))) == found


def test_older_certificates_have_none() -> None:
    certificate = ft.distill(ft.targets.multiplexer(3), ft.ProductSpace.bernoulli(11), 0.1).certificate
    data = certificate.to_dict()
    assert data.pop("confusion")["cells"]
    assert ft.Certificate.from_dict(data).confusion is None


Change = Callable[[dict[str, Any]], Any]
CHANGES: dict[str, Change] = {
    "a count": lambda data: data["cells"][0].update(count=59),
    "a count and its interval's base": lambda data: data["cells"][0].update(of=61),
    "no whole number": lambda data: data["cells"][0].update(count=60.5),
    "an interval": lambda data: data["cells"][1].update(share=[0.0, 0.4]),
    "an interval of three": lambda data: data["cells"][1].update(share=[0.0, 0.4, 1]),
    "an interval beyond all floats": lambda data: data["cells"][1].update(share=[0.0, 10**400]),
    "an entry too many": lambda data: data["cells"][1].update(odd=1),
    "the constant's interval": lambda data: data["constant"].update(error=[0.3, 0.41]),
    "the constant's label": lambda data: data["constant"].update(label="b"),
    "the constant's count": lambda data: data["constant"].update(count=61),
    "labels": lambda data: data["constant"].update(labels=2),
    "tests": lambda data: data.update(tests=101),
    "wrong": lambda data: data.update(wrong=29),
    "level": lambda data: data.update(level=0.03),
    "level of a known table": lambda data: data.update(level=None),
    "level of no kind": lambda data: data.update(level="0.02"),
    "confidence": lambda data: data.update(confidence=0.99),
    "a label that is answered": lambda data: data["never"][0].update(label="c"),
    "never": lambda data: data["never"][0].update(count=31),
    "never in all": lambda data: data.update(never_in_all=0),
    "cells in all": lambda data: data.update(cells_in_all=2),
    "a label of no kind": lambda data: data["cells"][0].update(target=["a"]),
    "a missing entry": lambda data: data.pop("wrong"),
    "a missing entry of a cell": lambda data: data["cells"][0].pop("of"),
    "lists": lambda data: data.update(cells={}),
    "a huge number": lambda data: data.update(tests=10**400),
    "infinity": lambda data: data.update(level=float("inf")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_damage_is_refused(change: str) -> None:
    data = copy.deepcopy(PLAIN)
    CHANGES[change](data)
    with pytest.raises(FormatError, match="not a stored certificate: confusion: "):
        from_dict(data)


@pytest.mark.parametrize("data", [3, [], "x", {}, True])
def test_other_things_are_refused(data: Any) -> None:
    with pytest.raises(FormatError, match="not a stored certificate: confusion: it must be an object"):
        from_dict(data)


def test_a_table_belongs_to_its_certificate(tmp_path: Any) -> None:
    """What the reader cannot know, `verify` compares: another run's table, fewer mistakes, another level."""
    result = ft.distill(ft.targets.multiplexer(3), ft.ProductSpace.bernoulli(11), 0.01, max_queries=210)
    certificate = result.certificate
    table, size = certificate.confusion, result.tree.size
    assert table is not None
    assert contradiction(table, vars(certificate), size) == ""
    changed = {
        "mistakes": {**vars(certificate), "errors": certificate.errors - 20},  # type: ignore[operator]
        "level": {**vars(certificate), "attempt": certificate.attempt + 1},
        "exact": {**vars(certificate), "method": "exact"},
        "tests": {**vars(certificate), "method": "fixed", "samples": certificate.samples - 1},
    }
    for word, other in changed.items():
        assert word in contradiction(table, other, size), word
    result.save(tmp_path)
    path = tmp_path / "certificate.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    data["confusion"] = PLAIN
    path.write_text(json.dumps(data), encoding="utf-8")
    found = ft.verify(tmp_path)
    assert not found.consistent
    assert "NO  the table of answers belongs to the certificate" in str(found)
