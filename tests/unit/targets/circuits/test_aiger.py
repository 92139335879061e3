"""AIGER files, both kinds; headers that announce more than there is are refused before anything is made."""

from __future__ import annotations

import pytest

from circuitfiles import AAG, AIG, parse
from fidelitree.errors import FormatError
from fidelitree.targets.circuits import Circuit
from small import cube


def test_binary() -> None:
    network = parse(".aig", AIG)
    assert (network.inputs, network.outputs) == (("a", "b"), ("f",))
    assert Circuit(network)(cube(2)).tolist() == [0, 1, 1, 0]


def test_ascii_with_gates_in_any_order() -> None:
    network = parse(".aag", AAG)
    assert (network.inputs, network.outputs) == (("a", "b"), ("never", "always"))
    assert Circuit(network, "never")(cube(2)).tolist() == [0] * 4
    assert Circuit(network, "always")(cube(2)).tolist() == [1] * 4


def test_constants_numbers_with_holes_and_no_names() -> None:
    network = parse(".aag", "aag 9 1 0 3 1\n4\n0\n1\n18\n18 4 1\n")
    assert (network.inputs, network.outputs) == (("x0",), ("f0", "f1", "f2"))
    assert [Circuit(network, k)(cube(1)).tolist() for k in range(3)] == [[0, 0], [1, 1], [0, 1]]


def test_the_first_word_decides_not_the_suffix() -> None:
    assert Circuit(parse(".aag", AIG))(cube(2)).tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"small\.aag, line 1: the file must not end here"),
        ("\n", r"line 1: the header must be 'aig M I L O A' or 'aag M I L O A'; got ''"),
        ("aag 1 1\n", r"line 1: the header must be"),
        ("hello world\n", r"line 1: the header must be .*; got 'hello world'"),
        ("aag 1 1 0 x 0\n", r"line 1: O \(outputs\) must be a whole number; got 'x'"),
        ("aag 1 1 1 1 0\n", r"line 1: L \(latches\) must be at most 0; got 1"),
        ("aag 1 1 0 1 0 1\n", r"line 1: bad states, constraints, justice and fairness must be absent"),
        ("aag 0 0 0 1 0\n", r"line 1: a circuit must have at least 1 input and 1 output; got 0 and 1"),
        ("aig 5 1 0 1 3\n", r"line 1: M must be I \+ A = 4"),
        ("aig 2000000001 1 0 1 2000000000\n", r"line 1: M \(signals\) must be at most 2,197,152; got 2000000001"),
        ("aig 2000000000 2000000000 0 1 0\n", r"line 1: M \(signals\) must be at most"),
        ("aig 1000000 100000 0 1 900000\n2\n", r"line 1: 1 outputs and 900,000 gates must fit into 32 bytes"),
        ("aag 2 1 0 1 0\n3\n2\n", r"line 2: a signal must be defined once, by an even literal above 0; got 3"),
        ("aag 2 2 0 1 0\n2\n2\n2\n", r"line 3: a signal must be defined once"),
        ("aag 2 1 0 1 0\n2 4\n2\n", r"line 2: a line must hold 1 literal here; got '2 4'"),
        ("aag 2 1 0 1 0\n2\n4\n", r"line 3: a literal must be an input or a gate; 4 is neither"),
        ("aag 2 1 0 1 0\n2\n99\n", r"line 3: a literal must be at most 5; got 99"),
        ("aag 3 1 0 1 1\n2\n4\n4 6 2\n", r"line 4: a literal must be an input or a gate; 6 is neither"),
        ("aag 3 1 0 1 2\n2\n4\n4 6 2\n6 4 2\n", r"a gate must not depend on itself; (4|6) does"),
        ("aag 1 1 0 1 0\n2\n", r"line 3: the file must not end here"),
        ("aag 1 1 0 1 0\n2\n2\nx0 a\n", r"line 4: a name must be given as 'i0 name' or 'o0 name'; got 'x0 a'"),
        ("aag 1 1 0 1 0\n2\n2\ni1 a\n", r"line 4: a position of i must be at most 0; got 1"),
        ("aag 2 2 0 1 0\n2\n4\n2\ni0 x1\n", r"inputs must have different names; got 'x1'"),
        (b"aag 1 1 0 1 0\n2\n2\ni0 \xff\n", r"line 4: it must be text in UTF-8"),
        (b"aig 2 1 0 1 1\n2\n\x01", r"line 3: gate 0 must be two numbers of at most five bytes each"),
        (b"aig 2 1 0 1 1\n2\n\x80\x80\x80\x80\x80\x80\x80\x01", r"line 3: gate 0 must be two numbers"),
        (b"aig 2 1 0 1 1\n2\n\x00\x00", r"line 3: gate 0 must need earlier signals only; got literals 4 and 4"),
        (b"aig 2 1 0 1 1\n2\n\x05\x00", r"gate 0 must need earlier signals only; got literals -1 and -1"),
    ],
)
def test_file_line_and_rule(text: str | bytes, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        parse(".aag", text)
