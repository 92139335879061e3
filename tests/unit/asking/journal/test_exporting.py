"""Answers of a journal as a table: what the user would have written down, in types that other programs know."""

from __future__ import annotations

import csv
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import fidelitree as ft
from fidelitree.asking.journal.journal import Journal
from fidelitree.asking.journal.records import Record, input_bytes
from fidelitree.errors import JournalError, MissingExtraError, WriteError
from journals import MIXED, RUN, on_mixed

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_answers_are_exported_as_the_user_knows_them(tmp_path: Path, suffix: str) -> None:
    path, out = tmp_path / "run.db", tmp_path / f"answers.{suffix}"
    result = ft.distill(on_mixed, MIXED, 0.1, seed=3, journal=path)
    assert ft.journal.export(path, out) == result.queries.paid
    table = pd.read_csv(out, keep_default_na=False) if suffix == "csv" else pd.read_parquet(out)
    assert list(table) == ["purpose", "batch", "owner", "job", "age", "children", "label"]
    assert len(table) == result.queries.paid
    inputs = {name: table[name].to_numpy() for name in MIXED.names}
    assert table["label"].tolist() == on_mixed(inputs).tolist()
    assert table["children"].dtype.kind == "i"


FEATURES = [
    {"name": "job", "kind": "categorical", "values": ["clerk", None]},
    {"name": "age", "kind": "numeric"},
    {"name": "children", "kind": "numeric", "integer": True},
    {"name": "owner", "kind": "boolean"},
]


def journal_of(path: Path, inner: list[list[float]], labels: list[str]) -> Path:
    with Journal(path, replace(RUN, features=FEATURES)) as journal:
        stored = input_bytes(np.array(inner))
        journal.keep(Record.made("label", 4, 0, stored, np.array(labels)))
    return path


def test_a_row_of_the_export_is_an_answer(tmp_path: Path) -> None:
    inner, labels = [[0, 0.5, 3, 1], [1, 2, -(2.0**53) + 1, 0]], ["yes", 'say "no"']
    path, out = journal_of(tmp_path / "run.db", inner, labels), tmp_path / "out.CSV"
    assert ft.journal.export(path, out) == 2
    assert out.read_text(encoding="utf-8").splitlines() == [
        "purpose,batch,job,age,children,owner,label",
        "label,4,clerk,0.5,3,1,yes",
        'label,4,,2.0,-9007199254740991,0,"say ""no"""',
    ]


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ([2, 0.5, 3, 1], "feature 'job' must hold the codes of its 2 values"),
        ([-1, 0.5, 3, 1], "feature 'job' must hold the codes of its 2 values"),
        ([0.5, 0.5, 3, 1], "feature 'job' must hold the codes of its 2 values"),
        ([np.nan, 0.5, 3, 1], "feature 'job' must hold the codes of its 2 values"),
        ([0, 0.5, 2.0**53, 1], "feature 'children' must hold whole numbers"),
        ([0, 0.5, np.nan, 1], "feature 'children' must hold whole numbers"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_inputs_that_the_features_do_not_have_are_not_exported(
    row: list[float], sentence: str, first: bool, tmp_path: Path
) -> None:
    rows = [row, [0, 0.5, 3, 1]] if first else [[0, 0.5, 3, 1], row]
    path = journal_of(tmp_path / "run.db", rows, ["yes", "no"])
    with pytest.raises(ft.FormatError, match=sentence):
        ft.journal.export(path, tmp_path / "out.csv")


def test_labels_and_bits_keep_their_types_in_parquet(tmp_path: Path) -> None:
    with Journal(tmp_path / "run.db", RUN) as journal:
        journal.keep(Record.made("label", 0, 2, b"\x80", np.array([True])))
        journal.keep(Record.made("label", 0, 0, b"\x80\x00", np.array([True, False])))
    assert ft.journal.export(tmp_path / "run.db", tmp_path / "out.parquet") == 3
    table = pd.read_parquet(tmp_path / "out.parquet")
    assert (table["x0"].tolist(), table["x0"].dtype) == ([1, 1, 0], np.uint8)
    assert (table["label"].tolist(), table["label"].dtype) == ([True, True, False], np.bool_)


def test_a_feature_may_have_one_of_our_names(tmp_path: Path) -> None:
    space = ft.ProductSpace.bernoulli(2, names=["label", "batch"])
    ft.distill(on_first, space, journal=tmp_path / "run.db")
    ft.journal.export(tmp_path / "run.db", tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as stream:
        assert next(csv.reader(stream)) == ["purpose", "batch_", "label", "batch", "label_"]


def on_first(batch: np.ndarray) -> np.ndarray:
    return batch[:, 0]


def test_export_refuses_other_formats(tmp_path: Path) -> None:
    with pytest.raises(ft.ParameterError, match=r"out must end in \.csv or \.parquet; got 'answers\.xlsx'"):
        ft.journal.export(tmp_path / "run.db", "answers.xlsx")


def test_a_journal_without_answers_is_a_table_without_rows(tmp_path: Path) -> None:
    with Journal(tmp_path / "run.db", replace(RUN, features=FEATURES)):
        pass
    for name in ("answers.csv", "answers.parquet"):
        assert ft.journal.export(tmp_path / "run.db", tmp_path / name) == 0
    assert (tmp_path / "answers.csv").read_bytes() == b"purpose,batch,job,age,children,owner,label\n"
    table = parquet.read_table(tmp_path / "answers.parquet")
    assert table.num_rows == 0
    types = [pa.string(), pa.int64(), pa.string(), pa.float64(), pa.int64(), pa.uint8(), pa.string()]
    assert table.schema.types == types
    assert table.schema.names == ["purpose", "batch", "job", "age", "children", "owner", "label"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_labels_of_two_kinds_are_not_exported(tmp_path: Path, suffix: str) -> None:
    path = journal_of(tmp_path / "run.db", [[0, 0.5, 3, 1]], ["yes"])
    with Journal(path, replace(RUN, features=FEATURES)) as journal:
        journal.keep(Record.made("label", 5, 0, input_bytes(np.array([[0.0, 0.5, 3, 1]])), np.array([7])))
    with pytest.raises(ft.FormatError, match=r"^labels of a journal must be of one kind; got int and str$"):
        ft.journal.export(path, tmp_path / f"out.{suffix}")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("feature", [{"name": "\udc80"}, {"kind": "categorical", "values": ["clerk", "\udc80"]}])
def test_text_that_no_file_can_hold_is_not_exported(tmp_path: Path, suffix: str, feature: dict[str, object]) -> None:
    path = tmp_path / "run.db"
    with Journal(path, replace(RUN, features=[{"name": "a", "kind": "boolean", **feature}])):
        pass
    with pytest.raises(ft.FormatError, match="its text is not UTF-8"):
        ft.journal.export(path, tmp_path / f"out.{suffix}")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_labels_that_no_file_can_hold_are_not_exported(tmp_path: Path, suffix: str) -> None:
    path = journal_of(tmp_path / "run.db", [[0, 0.5, 3, 1]], ["\udc80"])
    with pytest.raises(ft.FormatError, match="1 labels of kind 'str' cannot be read from 10 bytes"):
        ft.journal.export(path, tmp_path / f"out.{suffix}")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_folder_that_does_not_exist_is_our_own_error(tmp_path: Path, suffix: str) -> None:
    path = journal_of(tmp_path / "run.db", [[0, 0.5, 3, 1]], ["yes"])
    with pytest.raises(
        WriteError, match=rf"nowhere.out\.{suffix}' cannot be written: .* - give a file in a folder that"
    ):
        ft.journal.export(path, tmp_path / "nowhere" / f"out.{suffix}")
    with pytest.raises(JournalError, match="does not exist"):
        ft.journal.export(tmp_path / "none.db", tmp_path / f"out.{suffix}")


def test_lines_of_a_csv_file_end_alike_on_every_system(tmp_path: Path) -> None:
    path = journal_of(tmp_path / "run.db", [[0, 0.5, 3, 1]], ["two\r\nlines"])
    ft.journal.export(path, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes().split(b"\n", 1) == [
        b"purpose,batch,job,age,children,owner,label",
        b'label,4,clerk,0.5,3,1,"two\r\nlines"\n',
    ]


def test_a_batch_without_any_value_has_the_types_of_the_others(tmp_path: Path) -> None:
    path = journal_of(tmp_path / "run.db", [[1, 0.5, 3, 1]], ["yes"])
    with Journal(path, replace(RUN, features=FEATURES)) as journal:
        journal.keep(Record.made("label", 5, 0, input_bytes(np.array([[0.0, 0.5, 3, 1]])), np.array(["no"])))
    assert ft.journal.export(path, tmp_path / "out.parquet") == 2
    table = parquet.read_table(tmp_path / "out.parquet")
    assert table["job"].to_pylist() == [None, "clerk"]
    assert {table.schema.field(name).type for name in ("job", "label", "purpose")} == {pa.string()}


def test_without_pyarrow_the_way_out_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = journal_of(tmp_path / "run.db", [[0, 0.5, 3, 1]], ["yes"])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match="Parquet files need pyarrow, which is not installed: pip install"):
        ft.journal.export(path, tmp_path / "out.parquet")
