"""Rules: one a leaf, in words and as a table, with how often they hold and how pure they are."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import fidelitree as ft
from exported import grown
from fidelitree.errors import MissingExtraError, ParameterError
from fidelitree.export import Condition, to_rules
from fidelitree.spaces.features import AtMost, IsIn
from fidelitree.trees.answers import Answers
from fidelitree.trees.rules import node_shares
from fidelitree.trees.tree import Tree
from mixed import MIXED, some_inputs

JOB, AGE = 1, 2
TREE = Tree.build(
    MIXED,
    [
        (AtMost(AGE, 32.5), 1, 2),
        (IsIn(JOB, frozenset({0, 1})), 3, 4),
        (0, 5, 6),
        0,
        (AtMost(AGE, 60), 7, 8),
        1,
        0,
        1,
        0,
    ],
    ["no", "yes"],
)


def test_tests_of_one_feature_become_one_condition() -> None:
    assert str(to_rules(TREE)) == "\n".join(
        [
            "If age > 32.5 and job = pilot then no.",
            "If age > 60 and job in {clerk, nurse} then yes.",
            "If 32.5 < age <= 60 and job in {clerk, nurse} then no.",
            "If age <= 32.5 and owner = 0 then yes.",
            "If age <= 32.5 and owner = 1 then no.",
        ]
    )


def test_categories_named_twice_on_a_path() -> None:
    space = ft.ProductSpace([ft.Categorical("c", ["p", "q", "r", "s"])])
    nodes = [(IsIn(0, frozenset({0})), 1, 2), (IsIn(0, frozenset({2})), 3, 4), 0, (IsIn(0, frozenset({0, 1})), 5, 6)]
    tree = Tree.build(space, [*nodes, 1, 0, 1], [0, 1])
    assert [rule.premise for rule in to_rules(tree)] == ["c = s", "c = q", "c = r", "c = p"]


def test_probabilities_are_exact_and_add_up() -> None:
    rules = to_rules(TREE, MIXED)
    assert sum(rule.probability for rule in rules) == pytest.approx(1, abs=1e-12)
    assert rules[4].probability == pytest.approx((32.5 - 18) / 72 * 0.3, abs=1e-12)
    assert str(rules[4]) == "If age <= 32.5 and owner = 1 then no (reached by 6% of inputs)."


def test_over_rows_probabilities_are_shares() -> None:
    rows = ft.Rows({"age": [20, 30, 40, 50], "job": ["nurse", "nurse", "clerk", "nurse"]})
    nodes = [(AtMost(0, 35.0), 1, 2), (IsIn(1, frozenset({1})), 3, 4), 0, 1, 0]
    tree = Tree.build(rows.product, nodes, [0, 1])
    assert [rule.probability for rule in to_rules(tree, rows)] == [0.25, 0.25, 0.5]
    assert node_shares(tree, rows)[0] == 1


def test_purity_is_the_share_of_answers_with_the_leafs_label() -> None:
    inputs = some_inputs(MIXED, 500)
    told = TREE.predict_inner(inputs).astype("<U5")
    told[::10] = "maybe"
    rules = to_rules(TREE, answers=Answers(inputs, told))
    assert sum(rule.answers for rule in rules) == 500
    assert sum(rule.answers * rule.purity for rule in rules) == pytest.approx(450)
    assert "right for " in str(rules[0])
    few = to_rules(TREE, answers=Answers(inputs[:1], told[:1]))
    assert sorted((rule.answers, rule.purity) for rule in few if rule.answers) == [(1, 0.0)]
    assert sum(str(rule).endswith("(no answers).") for rule in few) == 4


def test_one_leaf() -> None:
    (rule,) = to_rules(Tree.constant(MIXED, 3), MIXED)
    assert (str(rule), rule.conditions) == ("Always 3 (reached by 100% of inputs).", ())


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_as_a_table(kind: str) -> None:
    rules = to_rules(TREE, MIXED)
    table = rules.to_frame(kind)
    columns = list(table.column_names if kind == "arrow" else table.columns)
    assert columns == ["leaf", "rule", "label", "probability"]
    assert list(table["label"].to_pylist() if kind == "arrow" else table["label"]) == ["no", "yes", "no", "yes", "no"]
    assert rules.to_dict()["purity"] == [None] * 5


def test_what_rules_are() -> None:
    rules = to_rules(TREE)
    assert (len(rules), repr(rules), rules[1:3]) == (5, "<5 rules>", (rules[1], rules[2]))
    assert rules == to_rules(TREE)
    assert rules != to_rules(TREE, MIXED)
    assert hash(rules) == hash(to_rules(TREE))
    assert str(Condition("a b\n", "boolean", 1, 1)) == "'a b\\n' = 1"


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match="kind must be one of pandas, polars, arrow; got 'excel'"):
        to_rules(TREE).to_frame("excel")
    with pytest.raises(ParameterError, match="space must have the tree's 5 features"):
        to_rules(TREE, ft.ProductSpace.bernoulli(5))
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtraError, match="this table needs polars, which is not installed; to_dict does not"):
        to_rules(TREE).to_frame("polars")


def test_large_trees_reach_everything_once() -> None:
    tree = grown(MIXED, 300, [0, 1])
    shares = node_shares(tree, MIXED)
    assert sum(shares[node] for node in np.flatnonzero(tree.feature < 0)) == pytest.approx(1)
