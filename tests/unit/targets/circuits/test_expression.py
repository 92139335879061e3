"""Expressions mean what they mean in Python."""

from __future__ import annotations

import pytest

import fidelitree as ft
from fidelitree.errors import FormatError, ParameterError
from fidelitree.targets import expression
from small import cube


@pytest.mark.parametrize(
    "text",
    ["a", "~a", "a & b | c", "a | b & c", "a ^ b & c | ~a", "~(a | b) ^ c", "a & (b | ~c)", "~~a & b", "1 & a | 0"],
)
def test_precedence_is_pythons(text: str) -> None:
    circuit = expression(text, names=["a", "b", "c"])
    wanted = [eval(text, {}, dict(zip("abc", map(int, row), strict=True))) & 1 for row in cube(3)]
    assert circuit(cube(3)).tolist() == wanted


def test_inputs_are_the_names_as_they_appear() -> None:
    assert expression("b.x & a[0] | b.x").names == ("b.x", "a[0]")
    assert expression("b & a", names=("a", "b", "c")).names == ("a", "b", "c")


def test_nesting_takes_no_recursion() -> None:
    deep = "(" * 5000 + "a" + ")" * 5000
    assert expression("~" * 5001 + deep)(cube(1)).tolist() == [1, 0]


def test_labels_are_exact_in_the_doors() -> None:
    circuit = expression("a & (b | ~c)")
    found = ft.analyze(circuit, circuit.space)
    assert (found.exact, found.mean, found.names) == (True, 0.375, ("a", "b", "c"))
    assert found.influences.tolist() == [0.375, 0.125, 0.125]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"expression: it must name at least 1"),
        ("1 | 0", r"expression: it must name at least 1 and at most 100,000 inputs; got 0"),
        ("a &", r"expression, column 4: a value must come here; the expression ends"),
        ("a b", r"expression, column 3: an operator must come here; got 'b'"),
        ("& a", r"expression, column 1: a value must come here; got '&'"),
        ("a & )", r"expression, column 5: a value must come here; got '\)'"),
        ("(a & (b)", r"expression, column 1: a parenthesis must be closed"),
        ("a)", r"expression, column 2: a parenthesis must be opened before it is closed"),
        ("a ?b", r"expression, column 3: a sign must be a name, 0, 1, .*; got '\?b'"),
        ("a & 2", r"expression, column 5: a sign must be"),
        ("a & 0x1", r"expression, column 5: a sign must be"),
        ("a" * 1_000_001, r"expression: it may have at most 1,000,000 characters; got 1,000,001"),
    ],
)
def test_column_and_rule(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        expression(text)


@pytest.mark.parametrize("names", [["a"], ["a", "b", "b"]])
def test_names_must_hold_every_input_once(names: list[str]) -> None:
    with pytest.raises(ParameterError, match=r"names must hold every input of the expression once; got (b|a name)"):
        expression("a & b", names)
