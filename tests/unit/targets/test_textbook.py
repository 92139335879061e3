"""Textbook functions: names, bad arguments, graphs. What they compute is checked in tests/contract."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import fidelitree as ft
from fidelitree import targets
from small import cube

if TYPE_CHECKING:
    from collections.abc import Callable

BAD: list[tuple[Callable[[], object], str]] = [
    (lambda: targets.parity(0), "n must be at least 1; got 0"),
    (lambda: targets.parity(3, 4), "relevant must be at most n = 3; got 4"),
    (lambda: targets.parity(3, 0), "relevant must be at least 1; got 0"),
    (lambda: targets.majority(2.5), "n must be a whole number; got 2.5"),
    (lambda: targets.threshold(0, 1), "n must be at least 1; got 0"),
    (lambda: targets.exactly(-1, 1), "n must be at least 1; got -1"),
    (lambda: targets.mod(3, 0), "k must be at least 1; got 0"),
    (lambda: targets.multiplexer(0), "k must be at least 1; got 0"),
    (lambda: targets.tribes(0, 2), "width must be at least 1; got 0"),
    (lambda: targets.tribes(2, 0), "count must be at least 1; got 0"),
    (lambda: targets.nand_tree(0), "depth must be at least 1; got 0"),
    (lambda: targets.recursive_majority(0), "depth must be at least 1; got 0"),
    (lambda: targets.hidden_weighted_bit(0), "n must be at least 1; got 0"),
    (lambda: targets.selector_parity(2, 2, 0), "k must be at least 1; got 0"),
    (lambda: targets.is_edge(0, []), "vertices must be at least 1; got 0"),
    (lambda: targets.is_edge(3, [(0, 3)]), "edges must join two different vertices below 3; got (0, 3)"),
    (lambda: targets.is_edge(3, [(1, 1)]), "edges must join two different vertices below 3; got (1, 1)"),
    (lambda: targets.is_edge_marked(3, [(0, -1)]), "edges must join two different vertices below 3; got (0, -1)"),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_arguments_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        call()
    assert str(caught.value) == message


def test_a_batch_of_the_wrong_width_is_refused() -> None:
    with pytest.raises(ft.ParameterError, match=r"one column for each of the 5 features; got shape \(16, 4\)"):
        targets.majority(5)(cube(4))


def test_labels_are_bytes_zero_and_one() -> None:
    answers = targets.majority(5)(cube(5))
    assert answers.dtype == np.uint8
    assert set(answers.tolist()) == {0, 1}


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        (targets.parity(3), "<parity_3 of 3 bits>"),
        (targets.parity(8, 2), "<parity_2_of_8 of 8 bits>"),
        (targets.tribes(2, 3), "<tribes_2x3 of 6 bits>"),
        (targets.selector_parity(2, 2, 3), "<selector_parity_2x2_k3 of 10 bits>"),
        (targets.mod(5, 3, 2), "<mod_5_3_2 of 5 bits>"),
    ],
)
def test_functions_show_their_name_and_width(function: targets.Textbook, shown: str) -> None:
    assert repr(function) == shown


def test_graphs_have_their_edges() -> None:
    assert targets.star(4) == [(0, 1), (0, 2), (0, 3)]
    assert targets.cycle(3) == [(0, 1), (1, 2), (2, 0)]
    assert len(targets.complete(6)) == 15
    assert {frozenset(edge) for edge in targets.complete(3)} == {frozenset(edge) for edge in targets.cycle(3)}
