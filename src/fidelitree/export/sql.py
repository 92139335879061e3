"""A tree as one SQL expression, for any database that reads standard SQL."""

from __future__ import annotations

import math
from typing import Any, Literal

from fidelitree.errors import ParameterError, check_choice
from fidelitree.export.clauses import clauses
from fidelitree.spaces.features import AtMost, IsIn
from fidelitree.trees.answers import DEFER
from fidelitree.trees.tree import Tree, check_tree

Bit = Literal["1", "TRUE"]


def to_sql(tree: Tree, bit: Bit = "1") -> str:
    """One CASE expression over columns that have the features' names; put it behind SELECT, with AS and FROM.

    Names stand in double quotes, text in single ones, as the standard has it. ``bit`` is what a column of truth values
    is compared with: 1, or TRUE for columns of type BOOLEAN. NULL is a missing category or number. Where the tree asks
    about a bit or a number that was never missing and is NULL, so is the label: it has no answer to it. It is NULL too
    where the tree defers; ``tree.naming(label)`` has a label there instead.

    >>> from fidelitree.spaces.features import Numeric
    >>> from fidelitree.spaces.product import ProductSpace
    >>> space = ProductSpace([Numeric("age", 18, 90)])
    >>> print(to_sql(Tree.build(space, [(AtMost(0, 32.5), 1, 2), 0, 1], ["high", "low"])), end="")
    CASE
    WHEN "age" IS NULL THEN NULL
    WHEN "age" <= 32.5 THEN 'low'
    ELSE 'high'
    END
    """
    check_tree(tree)
    check_choice("bit", bit, ("1", "TRUE"))
    if tree.size == 1:
        return f"{_literal(tree.label(0))}\n"
    lines = ["CASE", *_missing(tree)]
    for clause in clauses(tree):
        indent = "  " * clause.depth
        if clause.yes is not None:
            lines += [f"{indent}CASE"] * (clause.first and clause.depth > 0)
            lines.append(f"{indent}WHEN {_condition(tree, clause.node, clause.yes, bit)} THEN")
        elif clause.first:
            lines[-1] += f" {_literal(tree.label(clause.node))}"
        else:
            lines += [f"{indent}ELSE {_literal(tree.label(clause.node))}", f"{indent}END"]
    return "\n".join(lines) + "\n"


def _missing(tree: Tree) -> list[str]:
    """The tree has no answer where a bit or a number that it asks about is missing."""
    asked = sorted(set(tree.as_lists[0]) - {-1})
    columns = [_name(tree.names[i]) for i in asked if tree.kinds[i] != "categorical" and i not in tree.gaps]
    return [f"WHEN {column} IS NULL THEN NULL" for column in columns]


def _condition(tree: Tree, node: int, yes: bool, bit: Bit) -> str:
    test = tree.test(node)
    column = _name(tree.names[test.feature])
    if isinstance(test, AtMost):
        return _threshold(test, yes, column)
    if isinstance(test, IsIn):
        values = [(tree.values[test.feature] or ())[code] for code in sorted(test.codes)]
        return _member(column, yes, values)
    return f"{column} {'=' if yes else '<>'} {bit}"


def _threshold(test: AtMost, yes: bool, column: str) -> str:
    """One side of a threshold, with NULL on the side that missing numbers are on."""
    if test.cut == math.inf:
        return f"{column} IS {'NOT ' * yes}NULL"
    side = f"{column} {'<=' if yes else '>'} {_literal(float(test.cut))}"
    return f"({column} IS NULL OR {side})" if test.missing is yes else side


def _member(column: str, yes: bool, values: list[Any]) -> str:
    """Membership where NULL is outside the set unless it is one of the values; a comparison alone would be unknown."""
    known = [_literal(value) for value in values if value is not None]
    null = len(known) < len(values)
    if not known:
        return f"{column} IS {'' if yes else 'NOT '}NULL"
    inside = f"{column} {'IN' if yes else 'NOT IN'} ({', '.join(known)})"
    if len(known) == 1:
        inside = f"{column} {'=' if yes else '<>'} {known[0]}"
    return f"({column} IS NULL OR {inside})" if null == yes else inside


def _name(name: str) -> str:
    _check(name)
    if not name:
        raise ParameterError("names of features must not be empty in SQL; got ''")
    return '"' + name.replace('"', '""') + '"'


def _literal(value: Any) -> str:
    if value is DEFER:
        return "NULL"
    if isinstance(value, str):
        _check(value)
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return repr(value)
    raise ParameterError(f"values must be text, whole or finite numbers, truth values or None in SQL; got {value!r}")


def _check(text: str) -> None:
    if "\0" in text:
        raise ParameterError(f"names and text must hold no NUL in SQL; got {text!r}")
