"""BLIF files: covers in any order, and what is said about what is not combinational."""

from __future__ import annotations

import pytest

from circuitfiles import BLIF, parse
from fidelitree.errors import FormatError
from fidelitree.targets.circuits import Circuit
from small import cube


def test_covers_in_any_order() -> None:
    network = parse(".blif", BLIF)
    assert (network.inputs, network.outputs) == (("a", "b", "c"), ("f", "g", "h"))
    rows = cube(3)
    a, b, c = rows.T
    assert Circuit(network, "f")(rows).tolist() == ((a | b) & c).tolist()
    assert Circuit(network, "g")(rows).tolist() == [1] * 8
    assert Circuit(network, "h")(rows).tolist() == (1 - c).tolist()


def test_an_input_may_be_an_output_and_timing_is_ignored() -> None:
    network = parse(".blif", ".inputs a\n.default_input_arrival 0 0\n.outputs a z\n.names z\n.names unused\n0\n")
    assert Circuit(network, "a")(cube(1)).tolist() == [0, 1]
    assert Circuit(network, "z")(cube(1)).tolist() == [0, 0]


HEAD = ".inputs a b\n.outputs y\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"small\.blif, line 1: \.inputs must name at least 1"),
        (".inputs a\n", r"line 1: \.outputs must name at least 1"),
        (".model a\n.model b\n", r"line 2: a file must hold one \.model"),
        (".inputs a a\n.outputs a\n", r"inputs must have different names; got 'a'"),
        (HEAD + ".latch a y\n", r"line 3: a model must be made of \.names alone, .*; got \.latch"),
        (HEAD + ".subckt x a=b\n", r"line 3: a model must be made of \.names alone"),
        (HEAD + ".names\n", r"line 3: \.names must name a signal"),
        (HEAD + "11 1\n", r"line 3: a line must be a keyword, or a row under \.names; got '11'"),
        (HEAD + ".names a b y\n1 1\n", r"line 4: a row must have one sign for each of the 2 signals; got 1"),
        (HEAD + ".names a b y\n12 1\n", r"line 4: a row must hold 0, 1 and -, and end in 0 or 1; got '12 1'"),
        (HEAD + ".names a b y\n11 1\n00 0\n", r"line 5: all rows of a cover must end in the same value"),
        (HEAD + ".names a y\n1 1\n.names b y\n1 1\n", r"line 5: a signal must be defined once; 'y' is .* line 3"),
        (HEAD + ".names b a\n1 1\n.names y\n", r"line 3: an input must not be defined; 'a' is one"),
        (HEAD + ".names q y\n1 1\n", r"line 3: a signal must be an input or defined; 'q' is neither"),
        (HEAD + ".end\n", r"line 3: an output must be an input or defined; 'y' is neither"),
        (HEAD + ".names y y\n1 1\n", r"line 3: a combinational signal must not depend on itself; 'y' does"),
        (HEAD + ".names t y\n1 1\n.names y t\n1 1\n", r"must not depend on itself"),
        (HEAD + ".names a y\\", r"line 3: the last line must not end in a backslash"),
    ],
)
def test_file_line_and_rule(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        parse(".blif", text)
