"""Every public door that takes a table where a space may stand takes ``groups``, and refuses them beside a space."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import fidelitree as ft
from fidelitree import testing
from fidelitree.certificates import standalone
from fidelitree.certificates.certificate import ASSUMES_UNFORESEEN
from fidelitree.learners import LEARNERS
from fidelitree.spaces.given import world_of
from fidelitree.spaces.rows import ASSUMES_GROUPS, ASSUMES_INDEPENDENT, ASSUMES_NEW, ASSUMES_NOT_FITTED

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PEOPLE, YEARS = 120, 4
NO_TABLE = {
    "build_top_down": "its space must be a product that can be listed",
    "practical_top_down": "its space must be a product of bits",
    "tree_error": "it compares two trees over a space",
    "verify": "it takes a space in the place of the stored one",
}


def table() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    base = rng.random((PEOPLE, 3)).repeat(YEARS, axis=0)
    near = base + rng.normal(0, 0.01, base.shape)
    return pd.DataFrame(near, columns=["a", "b", "c"]).assign(person=np.repeat(np.arange(PEOPLE), YEARS))


def model(batch: Any) -> Any:
    assert list(batch.columns) == ["a", "b", "c"], "the column that names groups is no feature"
    return (np.asarray(batch["a"]) > 0.5).astype(int)


def small(batch: Any) -> Any:
    return model(batch)


def some_tree() -> ft.Tree:
    return ft.distill(model, table(), 0.2, seed=0, groups="person").tree


DOORS: dict[str, Callable[..., Any]] = {
    "distill": lambda space, **told: ft.distill(model, space, 0.2, seed=0, max_queries=200, **told),
    "frontier": lambda space, **told: ft.frontier(model, space, seed=0, max_queries=200, max_leaves=3, **told),
    "certify": lambda space, **told: ft.certify(small, model, space, 0.3, seed=0, max_queries=100, **told),
    "analyze": lambda space, **told: ft.analyze(model, space, max_queries=200, seed=0, **told),
    "compare": lambda space, **told: ft.compare(model, space, 0.2, learners=["id3"], max_queries=200, seed=0, **told),
    "errors_by_class": lambda space, **told: ft.errors_by_class(
        some_tree(), model, space, max_queries=100, seed=0, **told
    ),
    "diff": lambda space, **told: ft.diff(model, small, space, epsilon=0.1, max_queries=200, seed=0, **told),
    **{
        name: lambda space, name=name, **told: getattr(ft.learners, name)(
            model, space, 0.3, 0.05, 0, max_queries=200, **told
        )
        for name, one in LEARNERS.items()
        if one.asks == "labels" and not one.bits_only and one.library in (None, "sklearn")
    },
}


def test_no_door_is_missing() -> None:
    assert {"id3", "c45", "cart"} <= {*DOORS}
    takes_space = {
        name
        for name in ft.__all__
        if inspect.isfunction(getattr(ft, name)) and "space" in inspect.signature(getattr(ft, name)).parameters
    }
    assert takes_space - {*NO_TABLE} == {name for name in takes_space if name in DOORS}
    for name in takes_space - {*NO_TABLE}:
        parameter = inspect.signature(getattr(ft, name)).parameters["groups"]
        assert (parameter.kind, parameter.default) == (parameter.KEYWORD_ONLY, None), name
    assert "groups" in inspect.signature(testing.assert_agrees).parameters
    for make in (ft.Rows, ft.ChowLiu.from_data, ft.Mixture.from_data):
        assert "groups" in inspect.signature(make).parameters


@pytest.mark.parametrize("name", DOORS)
def test_a_table_with_groups_is_taken(name: str) -> None:
    DOORS[name](table(), groups="person")


@pytest.mark.parametrize("name", DOORS)
def test_a_space_with_groups_is_refused_with_the_way_out(name: str) -> None:
    rows = ft.Rows(table(), groups="person")
    for space in (rows, rows.product):
        with pytest.raises(ft.ParameterError, match="groups must be left out where the space is no table") as refused:
            DOORS[name](space, groups=range(PEOPLE * YEARS))
        assert "give the table itself, or ft.Rows(table, groups=...) as the space" in str(refused.value)


@pytest.mark.parametrize("name", DOORS)
def test_rows_in_groups_are_taken_as_a_space(name: str) -> None:
    DOORS[name](ft.Rows(table(), groups="person"))


def test_statements_over_rows_say_what_is_independent() -> None:
    grouped, plain = ft.Rows(table(), groups="person"), ft.Rows(table().drop(columns="person"))
    for space, said in ((grouped, ASSUMES_GROUPS), (plain, ASSUMES_INDEPENDENT)):
        for found in (
            ft.distill(model, space, 0.3, seed=0).certificate,
            ft.certify(small, model, space, 0.3, seed=0),
            ft.frontier(model, space, seed=0, max_queries=100, max_leaves=3).knee.certificate,
            ft.learners.id3(model, space, 0.3, seed=0).certificate,  # type: ignore[attr-defined]
        ):
            assert {said, ASSUMES_NOT_FITTED} <= {*found.assumes}
    for told, said in (({"groups": "person"}, ASSUMES_GROUPS), ({}, ASSUMES_INDEPENDENT)):
        given = table() if told else table().drop(columns="person")
        for real in (
            ft.distill(model, given, 0.2, seed=0, **told).certificate,
            ft.certify(small, model, given, 0.3, seed=0, **told),
        ):
            assert real.real_rows is not None
            assert real.real_rows.rows == (PEOPLE // 2 if told else PEOPLE * YEARS // 2)
            assert f"Assumes: {said}; {ASSUMES_NOT_FITTED}; {ASSUMES_NEW}." in " ".join(real.sentences(2))
            assert ft.Certificate.from_json(real.to_json()) == real


def test_a_difference_over_rows_says_it_too() -> None:
    for space, said in (
        (ft.Rows(table(), groups="person"), ASSUMES_GROUPS),
        (ft.Rows(table().drop(columns="person")), ASSUMES_INDEPENDENT),
    ):
        taken = ("inputs are rows like those of this table", said, "neither target was fitted to them")
        for told, foreseen in (({}, ()), ({"seed": 0}, (ASSUMES_UNFORESEEN,))):
            found = ft.diff(model, small, space, epsilon=0.2, **told)
            assert found.assumes == (*taken, *foreseen)
            assert f"Assumes: {'; '.join(found.assumes)}." in str(found)
            assert found.to_dict()["assumes"] == list(found.assumes)
    drawn = ft.Rows(table(), groups="person").product
    assert ft.diff(model, small, drawn, epsilon=0.2, seed=0).assumes == (ASSUMES_UNFORESEEN,)
    fresh = ft.diff(model, small, drawn, epsilon=0.2)
    assert fresh.assumes == ()
    assert "assumes" not in fresh.to_dict()


def test_an_audit_needs_groups_enough() -> None:
    with pytest.raises(ft.ParameterError, match="the table leaves 120 test rows"):
        ft.certify(small, model, ft.Rows(table(), groups="person"), 0.02)
    found = ft.certify(small, model, ft.Rows(table(), groups="person"), seed=0)
    assert found.samples == PEOPLE


def test_a_folder_with_groups_is_checked_as_one_of_rows_is(tmp_path: Path) -> None:
    rows = ft.Rows(table(), groups="person")
    made = ft.distill(model, rows, 0.3, seed=4, journal=tmp_path / "journal.db")
    made.save(tmp_path / "kept")
    assert ft.verify(tmp_path / "kept").holds
    assert standalone.main(str(tmp_path / "kept")) == 5, "counts of rows confirm nothing"
    told = standalone.Folder(tmp_path / "kept")
    assert all(sign != "NO" for sign, _ in told.lines), told.lines
    assert "it may have been changed after its test inputs were known" in str(
        ft.verify(tmp_path / "kept", answers=True)
    )
    growing, testing = rows.places(4)
    assert np.array_equal(told.space.inputs("4/certify", len(testing), together=False), rows.inner[testing])
    assert np.array_equal(told.space.inputs("4/label", len(growing), together=False), rows.inner[growing])


def refused(folder: Path) -> bool:
    """Whether `verify` finds that a folder contradicts itself, or cannot even be read."""
    try:
        return not ft.verify(folder).consistent
    except ft.FormatError:
        return True


@pytest.mark.parametrize("given", ["rows", "table"])
def test_a_changed_group_is_seen(given: str, tmp_path: Path) -> None:
    """Groups that nobody stored would let a row test that equals one that taught: the digest tells them."""
    space = ft.Rows(table(), groups="person") if given == "rows" else world_of(table(), "person")
    ft.distill(model, space, 0.3, seed=4, journal=tmp_path / "journal.db").save(tmp_path / "kept")
    stored = json.loads((tmp_path / "kept" / "space.json").read_text())
    entry = stored["rows"] if given == "rows" else stored["chow_liu"]["kept"]
    changes: list[Callable[[], Any]] = [
        lambda: entry["groups"].update(equal=True),
        lambda: entry.pop("groups"),
        lambda: entry.update(groups={"packed": 3, "equal": False}),
    ]
    for change in changes:
        change()
        (tmp_path / "kept" / "space.json").write_text(json.dumps(stored))
        assert standalone.main(str(tmp_path / "kept")) == 2
        assert refused(tmp_path / "kept")


def test_a_certificate_must_say_what_is_independent(tmp_path: Path) -> None:
    rows = ft.Rows(table(), groups="person")
    ft.distill(model, rows, 0.3, seed=4, journal=tmp_path / "journal.db").save(tmp_path / "kept")
    path = tmp_path / "kept" / "certificate.json"
    told = json.loads(path.read_text())
    told["assumes"] = [one for one in told["assumes"] if one != ASSUMES_GROUPS]
    path.write_text(json.dumps(told))
    assert standalone.main(str(tmp_path / "kept")) == 2
    assert not ft.verify(tmp_path / "kept", answers=True).consistent
    assert not ft.verify(tmp_path / "kept").consistent


def test_assert_agrees_takes_a_table_with_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as updating:
        updating.setattr(testing, "_update", True)
        testing.assert_agrees(model, tmp_path / "approved", table(), 0.3, groups="person")
    found = testing.assert_agrees(model, tmp_path / "approved", table(), 0.3, groups="person")
    assert found.holds
    with pytest.raises(ft.ParameterError, match="groups must be left out where the space is no table"):
        testing.assert_agrees(model, tmp_path / "approved", groups="person")
