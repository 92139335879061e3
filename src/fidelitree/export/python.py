"""A tree as a Python function that needs nothing but Python."""

from __future__ import annotations

import ast
import builtins
import keyword
import math
from typing import Any

from fidelitree.errors import ParameterError, show
from fidelitree.export.clauses import clauses, identifiers, is_identifier, threshold
from fidelitree.spaces.features import AtMost, IsIn
from fidelitree.trees.answers import DEFER
from fidelitree.trees.tree import Tree, check_tree

_TAKEN = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "inputs"})


def to_python(tree: Tree, name: str = "predict") -> str:
    """Source of a function from one input, a mapping of feature name to value, to its label.

    It reads only the features that the tree asks about. A missing category or number is None or NaN, as in
    `Tree.predict`; a category that was not there when the tree was made is on the no side of every ``in``. Where the
    tree defers, the function returns None.

    >>> from fidelitree.spaces.features import Numeric
    >>> from fidelitree.spaces.product import ProductSpace
    >>> space = ProductSpace([Numeric("age", 18, 90)])
    >>> print(to_python(Tree.build(space, [(AtMost(0, 32.5), 1, 2), 0, 1], ["high", "low"])), end="")
    def predict(inputs):
        age = float(inputs["age"])
        if age <= 32.5:
            return "low"
        return "high"
    """
    check_tree(tree)
    if not is_identifier(name) or name in _TAKEN:
        raise ParameterError(f"name must be a Python identifier that is not taken; got {show(name)}")
    variables = identifiers(tree.names, {*_TAKEN, name})
    lines = [f"def {name}(inputs):"]
    for feature in sorted(set(tree.as_lists[0]) - {-1}):
        read = f"inputs[{_literal(tree.names[feature])}]"
        if feature in tree.gaps:
            read = f'float("nan") if {read} is None else float({read})'
        elif tree.kinds[feature] == "numeric":
            read = f"float({read})"  # one of 32 bits would be compared in 32 bits
        lines.append(f"    {variables[feature]} = {read}")
    for clause in clauses(tree):
        indent = "    " * (clause.depth + 1)
        if clause.yes is None:
            lines.append(f"{indent}return {_literal(tree.label(clause.node))}")
        else:
            lines.append(f"{indent}if {_condition(tree, clause.node, clause.yes, variables)}:")
    return "\n".join(lines) + "\n"


def _condition(tree: Tree, node: int, yes: bool, variables: list[str]) -> str:
    test = tree.test(node)
    variable = variables[test.feature]
    if isinstance(test, AtMost):
        return threshold(test, yes, variable, repr, "not ")
    if isinstance(test, IsIn):
        values = [(tree.values[test.feature] or ())[code] for code in sorted(test.codes)]
        return _member(variable, yes, values, tree.names[test.feature])
    return variable if yes else f"not {variable}"


def _member(variable: str, yes: bool, values: list[Any], name: str) -> str:
    """Membership; where missing values belong to the set, NaN (the only value that differs from itself) does too."""
    known = [_category(value, name) for value in values if value is not None]
    parts = [f"{variable} {'in' if yes else 'not in'} {{{', '.join(known)}}}"] if known else []
    if len(known) == 1:
        parts = [f"{variable} {'==' if yes else '!='} {known[0]}"]
    if len(known) < len(values):
        missing = f"{variable} is None or {variable} != {variable}"
        present = f"{variable} is not None and {variable} == {variable}"
        parts.append(missing if yes else present)
    return (" or " if yes else " and ").join(parts)


def _category(value: Any, name: str) -> str:
    text = _literal(value)
    try:
        same = ast.literal_eval(text) == value
    except (ValueError, SyntaxError):
        same = False
    if not same:
        raise ParameterError(f"values of feature {name!r} must be plain Python values in a program; got {value!r}")
    return text


def _literal(value: Any) -> str:
    """A value as Python source, text in double quotes."""
    if value is DEFER:
        return "None  # ask the target"
    if isinstance(value, str):
        return f'"{"".join(map(_character, value))}"'
    if isinstance(value, float) and math.isinf(value):
        return "1e999" if value > 0 else "-1e999"
    return repr(value)


def _character(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else character.encode("unicode_escape").decode()
