"""Stored frontiers: written, read again, and refused where a point is not what its tree and certificate say."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

import fidelitree as ft
from fidelitree.certificates.frontierfile import StoredFrontier
from journals import BITS, on_bits

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="module")
def stored() -> dict[str, Any]:
    found = ft.distill(on_bits, BITS, 0.1).frontier
    assert found is not None
    assert len(found) >= 3
    return json.loads(found.stored.to_json())  # type: ignore[no-any-return]


def test_what_is_written_is_read(stored: dict[str, Any]) -> None:
    again = StoredFrontier.from_dict(stored)
    assert json.loads(again.to_json()) == stored
    assert [point.tree.size for point in again.points] == [point["leaves"] for point in stored["points"]]


def put(*path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: Any) -> None:
        *way, last = path
        for step in way:
            data = data[step]
        data[last] = value

    return change


def drop(*path: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: Any) -> None:
        *way, last = path
        for step in way:
            data = data[step]
        del data[last]

    return change


DAMAGE = {
    "another format": (put("format", value="fidelitree.tree"), 'an object with "format": "fidelitree.frontier"'),
    "another version": (put("version", value=2), "its version must be 1; got 2"),
    "no points": (put("points", value=[]), "and at least one point"),
    "an entry too many": (put("more", value=1), "it must hold delta, format, max_leaves, points, version"),
    "delta": (put("delta", value=0), "delta must be above 0 and below 1; got 0"),
    "max_leaves": (put("max_leaves", value=True), "max_leaves must be a whole number, at least 1; got True"),
    "order": (lambda data: data["points"].reverse(), "must go one way from point to point"),
    "leaves": (put("points", 1, "leaves", value=9), "must be those of its tree and certificate"),
    "interval": (put("points", 1, "interval", value=[0.0, 0.01]), "must be those of its tree and certificate"),
    "half an interval": (put("points", 1, "interval", value=[0.0]), "must be those of its tree and certificate"),
    "a point that says more": (put("points", 1, "more", value=1), "must be those of its tree and certificate"),
    "an old certificate": (drop("points", 1, "certificate", "ledger"), "must have all its entries"),
    "no tree": (drop("points", 0, "tree"), "a point must hold tree, certificate, tested and answers"),
    "a point that is none": (put("points", 0, value=3), "a point must hold tree, certificate, tested and answers"),
    "a leaf too few": (drop("points", 1, "answers", "counts", 0), "a count for every leaf and every label"),
    "fewer than none": (
        put("points", 1, "answers", "counts", 0, 0, value=-1),
        "a count for every leaf and every label",
    ),
    "labels upside down": (
        put("points", 1, "answers", "classes", value=[1, 0]),
        "must be in order, the tree's among them",
    ),
    "samples": (put("points", 1, "answers", "samples", value=1), "must add up to samples; got 1"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_what_cannot_be_is_refused_with_the_rule(stored: dict[str, Any], name: str) -> None:
    change, rule = DAMAGE[name]
    data = copy.deepcopy(stored)
    change(data)
    with pytest.raises(ft.FormatError) as caught:
        StoredFrontier.from_dict(data)
    assert str(caught.value).startswith("not a stored frontier: ")
    assert rule in str(caught.value)


def test_no_object_is_no_frontier() -> None:
    with pytest.raises(ft.FormatError, match="it must be an object"):
        StoredFrontier.from_dict([])
