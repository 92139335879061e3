"""Python, C and SQL: what they look like, what they do with missing values, what they refuse."""

from __future__ import annotations

import sqlite3
from datetime import date
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.errors import ParameterError
from fidelitree.export import to_c, to_python, to_sql
from fidelitree.export.clauses import clauses, identifiers
from fidelitree.spaces.features import AtMost, IsIn
from fidelitree.trees.tree import Tree
from small import random_tree

TOWNS = ft.ProductSpace([ft.Categorical("town", ["a", None, "b", "c"]), ft.Numeric("x", 0, 1)])
MISSING = Tree.build(TOWNS, [(IsIn(0, frozenset({1, 2})), 1, 2), (AtMost(1, 0.1), 3, 4), 1, 0, 1], [10, 20])


def by_python(tree: Tree, **values: Any) -> Any:
    namespace: dict[str, Any] = {}
    exec(to_python(tree), namespace)
    return namespace["predict"](values)


def by_sql(tree: Tree, **values: Any) -> Any:
    base = sqlite3.connect(":memory:")
    given = ", ".join(f'? AS "{name}"' for name in values)
    (answer,) = base.execute(f"SELECT {to_sql(tree)} FROM (SELECT {given})", list(values.values())).fetchone()
    base.close()
    return answer


@pytest.mark.filterwarnings("ignore:feature .* has a category .* that the tree has never seen")  # which is meant
@pytest.mark.parametrize("town", ["a", "b", "c", "elsewhere", None])
@pytest.mark.parametrize("x", [0.05, 0.7])
def test_missing_categories_are_a_category(town: str | None, x: float) -> None:
    expected = MISSING.predict({"town": np.array([town], object), "x": np.array([x])}).tolist()[0]
    assert by_python(MISSING, town=town, x=x) == by_sql(MISSING, town=town, x=x) == expected


@pytest.mark.filterwarnings("ignore:feature .* has a category .* that the tree has never seen")  # which is meant
def test_both_sides_of_a_set_with_a_missing_value() -> None:
    """The smaller side of a test may be the one outside the set, also where the set holds nothing but None."""
    for codes in ({1}, {0, 1}, {0}, {2, 3}):
        inside = IsIn(0, frozenset(codes))
        for nodes in (
            [(inside, 1, 2), 0, (AtMost(1, 0.5), 3, 4), 0, 1],
            [(inside, 1, 2), (AtMost(1, 0.5), 3, 4), 0, 0, 1],
        ):
            tree = Tree.build(TOWNS, nodes, [0, 1])
            for town in ("a", "b", "elsewhere", None):
                expected = tree.predict({"town": np.array([town], object), "x": np.array([0.2])}).tolist()[0]
                assert by_python(tree, town=town, x=0.2) == by_sql(tree, town=town, x=0.2) == expected


def test_python_takes_nan_for_a_missing_category_and_narrow_floats() -> None:
    assert by_python(MISSING, town=float("nan"), x=0.05) == by_python(MISSING, town=None, x=0.05)
    narrow = np.float32(0.1)  # a little above 0.1
    assert by_python(MISSING, town="a", x=narrow) == MISSING.predict({"town": ["a"], "x": [float(narrow)]})[0]


def test_numbers_and_bits_that_are_missing_have_no_label_in_sql() -> None:
    assert by_sql(MISSING, town="b", x=None) is None
    bits = Tree.build(ft.ProductSpace.bernoulli(1), [(0, 1, 2), 0, 1], ["no", "yes"])
    assert [by_sql(bits, x0=bit) for bit in (0, 1, None)] == ["no", "yes", None]
    assert 'WHEN "x0" = TRUE THEN' in to_sql(bits, bit="TRUE")


def test_nesting_grows_with_the_logarithm_of_the_size() -> None:
    space = ft.ProductSpace.bernoulli(12)
    for seed in range(20):
        tree = random_tree(space, np.random.default_rng(seed), [0, 1], 0.9)
        assert 2 ** max(clause.depth for clause in clauses(tree)) <= tree.size


def test_c_writes_cuts_exactly() -> None:
    assert "x->x <= 0x1.999999999999ap-4 /* 0.1 */" in to_c(MISSING)
    assert "x->town >= 1 && x->town <= 2" in to_c(MISSING)


def test_c_chooses_types_for_labels_and_values() -> None:
    bits = ft.ProductSpace.bernoulli(1)
    for labels, kind in (([0, 1], "int"), ([0, 2**31], "long long"), ([False, True], "bool"), (["a"], "const char *")):
        assert f"\n{kind}{' ' * (kind[-1] != '*')}predict(" in to_c(Tree.build(bits, [0], labels))
    mixed = ft.ProductSpace([ft.Categorical("m", ["a", 1]), ft.Categorical("n", [1, 2])])
    text = to_c(Tree.constant(mixed, 0))
    assert "int predict_n(long long value)" in text
    assert "predict_m" not in text
    assert '0: "a"\n        1: 1 */' in text


def test_identifiers_are_different_and_free() -> None:
    names = ["a b", "a-b", "a_b_2", "int", "9", "", "é"]
    found = identifiers(names, {"int"})
    assert found == ["a_b", "a_b_2", "a_b_2_2", "int_2", "x_9", "x5", "x6"]


def test_refusals() -> None:
    plain = Tree.constant(ft.ProductSpace.bernoulli(1), 1)
    for name in ("a b", "for", "9a", ""):
        with pytest.raises(ParameterError, match=f"name must be a C identifier that is not taken; got '{name}'"):
            to_c(plain, name)
        with pytest.raises(ParameterError, match=f"name must be a Python identifier that is not taken; got '{name}'"):
            to_python(plain, name)
    with pytest.raises(ParameterError, match="bit must be one of 1, TRUE; got 'yes'"):
        to_sql(plain, bit="yes")
    days = ft.ProductSpace([ft.Categorical("day", [date(2020, 1, 1), date(2020, 1, 2)])])
    tree = Tree.build(days, [(IsIn(0, frozenset({0})), 1, 2), 0, 1], [0, 1])
    with pytest.raises(ParameterError, match="values of feature 'day' must be plain Python values in a program"):
        to_python(tree)
    with pytest.raises(ParameterError, match=r"values must be text, whole or finite numbers, .* in SQL; got datetime"):
        to_sql(tree)


def test_nul_is_refused_where_it_would_end_the_text() -> None:
    space = ft.ProductSpace([ft.Categorical("c", ["a\0b", "d"])])
    tree = Tree.build(space, [(IsIn(0, frozenset({0})), 1, 2), 0, 1], [0, 1])
    with pytest.raises(ParameterError, match="text must hold no NUL, which ends a string in C"):
        to_c(tree)
    with pytest.raises(ParameterError, match="names and text must hold no NUL in SQL"):
        to_sql(tree)
    assert by_python(tree, c="a\0b") == 1
    nameless = Tree.build(ft.ProductSpace.bernoulli(1, names=[""]), [(0, 1, 2), 0, 1], [0, 1])
    with pytest.raises(ParameterError, match="names of features must not be empty in SQL"):
        to_sql(nameless)


def test_infinite_categories() -> None:
    space = ft.ProductSpace([ft.Categorical("c", [float("inf"), -float("inf"), 0.5])])
    tree = Tree.build(space, [(IsIn(0, frozenset({0})), 1, 2), 0, 1], [0, 1])
    assert [by_python(tree, c=value) for value in (float("inf"), -float("inf"), 0.5)] == [1, 0, 0]
