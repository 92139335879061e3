"""What a tree shows to its users: the rule of one input, figures, and tables for notebooks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fidelitree as ft
from fidelitree.spaces.features import AtMost, IsIn
from mixed import MIXED, mixed_tree, some_inputs

TREE = mixed_tree(MIXED, np.random.default_rng(15), ["approve", "decline", "refer"], 0.95)
SPACE = ft.ProductSpace([ft.Numeric("age", 18, 90), ft.Categorical("job", ["clerk", "nurse"])])
SMALL = ft.Tree.build(SPACE, [(AtMost(0, 40.0), 1, 2), (IsIn(1, frozenset({1})), 3, 4), 0, 0, 1], ["no", "yes"])


@pytest.mark.parametrize("row", [
    {"age": 50, "job": "nurse"},
    {"age": [50], "job": ["nurse"]},
    pd.Series({"age": 50, "job": "nurse"}),
    pd.DataFrame({"age": [50], "job": ["nurse"]}),
])  # fmt: skip
def test_one_input_is_explained_in_any_form(row: Any) -> None:
    rule = SMALL.explain(row)
    assert str(rule) == "If age > 40 and job = nurse then yes."
    assert (rule.label, len(rule.conditions)) == ("yes", 2)


def test_rows_of_bits_are_explained() -> None:
    tree = ft.targets.balanced(ft.ProductSpace.bernoulli(4), 2, seed=1)
    for row in ([0, 1, 0, 1], np.array([1, 1, 0, 0], np.uint8), np.zeros((1, 4), np.uint8)):
        label = tree.predict(np.atleast_2d(np.array(row, np.uint8)))[0]
        assert tree.explain(row).label == label


def test_the_rule_is_the_one_that_holds() -> None:
    inner = some_inputs(MIXED, 30, seed=8)
    batch = MIXED.batch(inner)
    for k, label in enumerate(TREE.predict_inner(inner)):
        row = {name: np.asarray(column)[k] for name, column in batch.items()}
        rule = TREE.explain(row)
        assert rule.label == label
        assert all(condition.holds(row[condition.name]) for condition in rule.conditions)


def test_many_rows_are_refused() -> None:
    with pytest.raises(ft.ParameterError, match="row must be a single input; got 2 - predict takes many"):
        SMALL.explain({"age": [50, 60], "job": ["nurse", "clerk"]})


def test_rules_are_those_of_the_export() -> None:
    assert SMALL.rules() == ft.export.to_rules(SMALL)
    assert SMALL.rules(SPACE)[0].probability is not None
    shown = SMALL.rules(SPACE)._repr_html_()
    assert shown.count("<tr") == 4
    assert "share of inputs" in shown
    assert "share of inputs" not in SMALL.rules()._repr_html_()


@pytest.mark.parametrize("tree", [SMALL, TREE, ft.Tree.constant(SPACE, "always")])
def test_a_tree_is_a_figure_too(tree: ft.Tree, tmp_path: Path) -> None:
    picture = tree.plot(tmp_path / "tree.png", space=SPACE if tree is not TREE else MIXED)
    (axes,) = picture.axes
    boxes = [text for text in axes.texts if text.get_bbox_patch() is not None]
    assert len(boxes) == len(tree.feature)
    assert len(axes.lines) == len(tree.feature) - 1
    assert (tmp_path / "tree.png").stat().st_size > 1_000
    with pytest.raises(ft.ParameterError, match="path must end in one of"):
        tree.plot(tmp_path / "tree.docx")


def test_notebooks_show_tables() -> None:
    result = ft.distill(ft.targets.majority(5), ft.ProductSpace.bernoulli(5), 0.1)
    assert "<td>all</td>" in result.queries._repr_html_()
    assert SPACE._repr_html_() == SPACE.describe()._repr_html_()
    found = ft.analyze(ft.targets.majority(5), ft.ProductSpace.bernoulli(5))
    assert repr(found) == "<Analysis: 5 features, total influence 0.9375 (exact)>"
    assert found._repr_html_().startswith("<pre")
    compared = ft.compare(ft.targets.majority(3), ft.ProductSpace.bernoulli(3), 0.1, learners=["id3"])
    assert compared._repr_html_().count("<tr") == 2
    assert repr(compared) == "<Comparison: 1 learners, error 0.1 asked for>"
