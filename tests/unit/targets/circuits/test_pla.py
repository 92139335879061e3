"""PLA files: what they mean, and what is said about those that mean nothing."""

from __future__ import annotations

import numpy as np
import pytest

import reference
from circuitfiles import PLA, parse
from fidelitree.errors import FormatError
from fidelitree.targets.circuits import Circuit
from small import cube

ROWS = [("1-1", "10"), ("01-", "10"), ("--0", "01")]


def test_a_row_covers_inputs_and_marks_outputs() -> None:
    network = parse(".pla", PLA)
    assert (network.inputs, network.outputs) == (("a", "b", "c"), ("f", "g"))
    for output in (0, 1):
        wanted = [reference.run_cover(ROWS, output, bits) for bits in cube(3).tolist()]
        assert Circuit(network, output)(cube(3)).tolist() == wanted


def test_names_are_made_up_where_the_file_has_none() -> None:
    network = parse(".pla", ".i 2\n.o 2\n11 10\n00 01\n")
    assert (network.inputs, network.outputs) == (("x0", "x1"), ("f0", "f1"))


@pytest.mark.parametrize("kind", ["f", "fd", "fr", "fdr"])
def test_whatever_is_not_marked_1_is_0(kind: str) -> None:
    network = parse(".pla", f".i 1\n.o 7\n.type {kind}\n1 01234-~\n.e\nnot read any more\n")
    assert [int(Circuit(network, output)(np.array([[1]]))[0]) for output in range(7)] == [0, 1, 0, 0, 1, 0, 0]


def test_signs_may_stand_apart_and_2_is_a_dash() -> None:
    assert Circuit(parse(".pla", ".i 3\n.o 1\n1 2 0 | 1\n"))(cube(3)).tolist() == [0, 1, 0, 1, 0, 0, 0, 0]


def test_no_rows_mean_0() -> None:
    assert Circuit(parse(".pla", ".i 1\n.o 1\n.p 0\n.e\n"))(cube(1)).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"small\.pla, line 1: \.i must say how many there are, at least 1"),
        (".i 2\n", r"line 2: \.o must say how many"),
        (".i two\n", r"line 1: \.i must be a whole number; got 'two'"),
        (".i ²\n", r"line 1: \.i must be a whole number; got '²'"),
        (".i 1000000000000\n", r"line 1: \.i must be at most 100,000; got 1000000000000"),
        (".o 4000000000\n", r"line 1: \.o must be at most 100,000"),
        (".i 1\n.i 1\n", r"line 2: \.i must come once, before the rows"),
        (".i 2\n11 1\n", r"line 2: \.o must come before the rows"),
        (".i 2\n.o 1\n\n11 11\n", r"line 4: a row must have 2 inputs and 1 outputs; got 4 signs"),
        (".i 2\n.o 1\n1x 1\n", r"line 3: inputs of a row must be 0, 1, 2 or -; got '1x'"),
        (".i 2\n.o 1\n11 x\n", r"line 3: outputs of a row must be 0, 1, 2, 3, 4, ~ or -; got 'x'"),
        (".i 2\n.o 1\n.ilb a\n", r"\.ilb must give 2 names; got 1"),
        (".i 2\n.o 1\n.ilb a a\n", r"line 3: inputs must have different names; got 'a' more than once"),
        (".type xy\n", r"line 1: \.type must be one of f, fd, fr, fdr; got 'xy'"),
        (".mv 4 2\n", r"line 1: a keyword must be \.i, \.o, .* or \.e; got \.mv"),
        (b".i 2\n\xff\n", r"line 2: it must be text in UTF-8"),
    ],
)
def test_file_line_and_rule(text: str | bytes, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        parse(".pla", text)
