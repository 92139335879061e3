"""Trees whose leaves hold numbers: every export answers as the tree does, or says why not."""

from __future__ import annotations

import ctypes
import json
import sqlite3
import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime
import pandas as pd
import pytest

import fidelitree as ft
from fidelitree.export.encoder import Encoder

if TYPE_CHECKING:
    from pathlib import Path

SPACE = ft.ProductSpace([ft.Numeric("age", 0, 10), ft.Numeric("size", -1, 1), ft.Boolean("own", 0.4)])


def price(batch: Any) -> Any:
    return batch["age"] * 1.5 + np.where(batch["size"] > 0, -13.25, 1 / 3) - 2 * batch["own"]


TREE = ft.distill(price, SPACE, 0.1, tolerance=1.5, seed=0).tree
BATCH = pd.DataFrame(SPACE.draw(5_000, seed=1))
ANSWERS = TREE.predict(BATCH)


def test_the_tree_is_stored_and_read_again() -> None:
    again = ft.Tree.from_dict(json.loads(ft.export.to_json(TREE)))
    assert again == TREE
    assert again.digest == TREE.digest
    assert again.labels.dtype == np.float64


def test_python_and_sql_answer_the_same() -> None:
    made: dict[str, Any] = {}
    exec(ft.export.to_python(TREE), made)
    assert [made["predict"](row) for row in BATCH.to_dict("records")] == ANSWERS.tolist()
    with sqlite3.connect(":memory:") as base:
        BATCH.to_sql("inputs", base, index=False)
        found = base.execute(f"SELECT {ft.export.to_sql(TREE)} FROM inputs").fetchall()
    assert [value for (value,) in found] == ANSWERS.tolist()


def test_c_answers_the_same(tmp_path: Path) -> None:
    source = ft.export.to_c(TREE)
    assert "double predict(" in source
    wrapper = "\ndouble of(double age, double size, int own) { struct predict_input x = {age, size, own}; "
    (tmp_path / "tree.c").write_text(source + wrapper + "return predict(&x); }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "tree.so", tmp_path / "tree.c"], check=True)
    of = ctypes.CDLL(str(tmp_path / "tree.so")).of
    of.restype, of.argtypes = ctypes.c_double, [ctypes.c_double, ctypes.c_double, ctypes.c_int]
    assert [of(*row) for row in BATCH.itertuples(index=False)] == ANSWERS.tolist()


def test_onnx_and_scikit_learn_answer_the_same() -> None:
    session = onnxruntime.InferenceSession(ft.export.to_onnx(TREE).SerializeToString())
    (found,) = session.run(None, {session.get_inputs()[0].name: BATCH.to_numpy(np.float64)})
    assert np.array_equal(found, ANSWERS)
    regressor = ft.export.to_sklearn(TREE, SPACE)
    assert type(regressor).__name__ == "DecisionTreeRegressor"
    assert regressor.predict(Encoder(TREE).transform(BATCH)) == pytest.approx(ANSWERS, abs=0)
    assert regressor.get_n_leaves() == TREE.size


def test_rules_and_drawings_show_the_numbers() -> None:
    value = repr(TREE.label(int(np.flatnonzero(TREE.feature < 0)[0])))
    rules = ft.export.to_rules(TREE, SPACE)
    told = {rule.label for rule in rules}
    assert set(ANSWERS.tolist()) <= told <= set(TREE.labels.tolist()), "a leaf that no input reaches has no rule"
    for text in (ft.export.to_text(TREE), ft.export.to_dot(TREE), ft.export.to_svg(TREE)):
        assert value in text


@pytest.mark.parametrize("values", [[1.0, float("inf")], ["a"], [1]])
def test_a_damaged_file_is_refused(values: list[Any]) -> None:
    text = ft.export.to_json(ft.Tree.constant(SPACE, 1.5)).replace("1.5", str(values)[1:-1].replace("'", '"'))
    with pytest.raises(ft.FormatError, match="labels"):
        ft.Tree.from_dict(json.loads(text.replace("inf", "Infinity")))
