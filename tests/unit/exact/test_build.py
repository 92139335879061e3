"""From circuits to diagrams: orders, the limit on nodes, what happens past it and without the extra."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.counted import Counted
from fidelitree.errors import MissingExtraError, NoDiagramError, ParameterError
from fidelitree.exact import build, diagram, engine
from fidelitree.exact.build import (
    ORDERS,
    as_listed,
    as_wired,
    build_diagram,
    by_bus,
    by_digit,
    by_last_digit,
    deepest_first,
)
from fidelitree.exact.engine import exact_subfunction, known_error
from fidelitree.exact.truthtable import TableSubfunction
from fidelitree.targets import Circuit, expression
from fidelitree.trees.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable


def pairs(n: int) -> Circuit:
    """OR of x_i & y_i, all x named before all y: exponential in the order of the names, linear in that of the wires."""
    names = [f"{letter}{i}" for letter in "xy" for i in range(n)]
    return expression(" | ".join(f"x{i} & y{i}" for i in range(n)), names)


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "build_diagram", lambda circuit, space, watch: build_diagram(circuit, space, 8, watch))


@pytest.fixture
def no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("oxidd", "oxidd.bcdd", "oxidd.util"):
        monkeypatch.setitem(sys.modules, name, None)


def test_orders_put_wires_that_meet_side_by_side() -> None:
    circuit = expression("(a & d) | (b & e) | c", names=list("abcde"))
    assert sorted(as_wired(circuit)) == sorted(deepest_first(circuit)) == list(range(5))
    assert deepest_first(circuit)[-1] == 2, "c is the shortest way back"
    assert as_listed(circuit) == list(range(5))
    for order in (as_wired, deepest_first):
        found = order(pairs(6))
        assert all(abs(found.index(i) - found.index(6 + i)) == 1 for i in range(6))
    for order in ORDERS:
        assert order(expression("a & ~a", names=["a", "b"])) == []


def test_orders_by_names_take_buses_apart_or_one_after_the_other() -> None:
    names = [f"{bus}[{i}]" for bus in ("in", "sel") for i in range(4) if bus == "in" or i < 2]
    circuit = expression(" ^ ".join(f"x{i}" for i in range(6)), names=[f"x{i}" for i in range(6)])
    circuit.names = tuple(names)
    assert [names[i] for i in by_digit(circuit)] == ["in[0]", "sel[0]", "in[1]", "sel[1]", "in[2]", "in[3]"]
    assert [names[i] for i in by_last_digit(circuit)] == ["in[3]", "in[2]", "in[1]", "sel[1]", "in[0]", "sel[0]"]
    assert [names[i] for i in by_bus(circuit)] == ["sel[0]", "sel[1]", "in[0]", "in[1]", "in[2]", "in[3]"]
    plain = expression("a & b | c")
    assert by_digit(plain) == by_bus(plain) == as_listed(plain), "names without numbers say nothing"


def larger_of_two(n: int) -> Circuit:
    """Whether the first number is the larger one, by a walk that meets all digits of one number before the other's."""
    above = " | ".join(
        f"(a{i} & ~b{i}" + "".join(f" & ~(a{j} ^ b{j})" for j in range(i + 1, n)) + ")" for i in range(n)
    )
    known = " & ".join([*(f"(a{i} | ~a{i})" for i in range(n)), *(f"(b{i} | ~b{i})" for i in range(n))])
    return expression(f"({known}) & ({above})", [f"{bus}{i}" for bus in "ab" for i in range(n)])


def test_a_comparison_is_small_digit_by_digit() -> None:
    circuit = larger_of_two(16)
    found = build_diagram(circuit, circuit.space)
    assert found.diagram.size(found.root) <= 3 * 16
    assert found.label_probabilities()[1] == pytest.approx(0.5 - 2.0**-17, rel=1e-12)


def test_a_watch_ends_the_building() -> None:
    class TimeOverError(Exception):
        pass

    looks = 0

    def watch() -> None:
        nonlocal looks
        looks += 1
        if looks == 3:
            raise TimeOverError

    with pytest.raises(TimeOverError):
        build_diagram(pairs(20), pairs(20).space, watch=watch)
    assert looks == 3


def test_an_order_decides_between_thousands_of_nodes_and_a_few() -> None:
    whole = build_diagram(pairs(40), pairs(40).space)
    assert whole.diagram.size(whole.root) == 80
    assert whole.label_probabilities() == pytest.approx([0.75**40, 1 - 0.75**40], rel=1e-12)
    assert whole.influences() == pytest.approx([0.5 * 0.5 * 0.75**39] * 80, rel=1e-12)


def test_constant_and_single_input() -> None:
    for text, masses in (("a & ~a", [1, 0]), ("a | ~a", [0, 1]), ("~a", [0.7, 0.3])):
        circuit = expression(text)
        found = build_diagram(circuit, ft.ProductSpace.bernoulli(1, 0.7))
        assert found.label_probabilities() == pytest.approx(masses)
        assert found.labels == [0, 1]


def test_a_space_of_another_size_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"space must have the circuit's 2 inputs as features; got 5"):
        build_diagram(expression("a ^ b"), ft.ProductSpace.bernoulli(5))


def test_garbage_is_thrown_away_and_the_same_diagram_is_built_again() -> None:
    """A sum of products on shared inputs makes thousands of nodes that nobody needs in the end."""
    text = " ^ ".join(f"(a{i} & b{j} & a{(i + j) % 7})" for i in range(7) for j in range(7))
    circuit = expression(text)
    found = [build_diagram(circuit, circuit.space, 1500) for _ in range(3)]
    assert len({tuple(function.diagram.order) for function in found}) == 1
    assert len({function.diagram.size(function.root) for function in found}) == 1
    table = ft.analyze(circuit, circuit.space, method="exact")
    assert found[0].influences() == pytest.approx(table.influences, rel=1e-12)


def test_past_the_limit_it_says_so() -> None:
    circuit = pairs(20)
    with pytest.raises(NoDiagramError, match=r"diagram of output 'f0' must have at most 8 nodes .* 39 gates over 40"):
        build_diagram(circuit, circuit.space, 8)


@pytest.mark.usefixtures("small_limit")
def test_analyze_falls_back_to_drawn_inputs_and_says_why() -> None:
    circuit = pairs(20)
    found = ft.analyze(circuit, circuit.space, max_queries=41 * 50)
    assert not found.exact
    assert found.reason.startswith("the decision diagram of output 'f0' must have at most 8 nodes")
    assert "(estimated, seed 0: the decision diagram" in str(found)
    assert int(found.queries.asked) == 41 * 50
    with pytest.raises(NoDiagramError, match="must have at most 8 nodes"):
        ft.analyze(circuit, circuit.space, method="exact")


def test_too_many_pairs_of_nodes_are_a_reason_too(monkeypatch: pytest.MonkeyPatch) -> None:
    circuit = expression(" ^ ".join(f"(a{i} & a{(i + 5) % 18} & a{(i * 7) % 18})" for i in range(18)))
    assert ft.analyze(circuit, circuit.space).exact
    monkeypatch.setattr(diagram, "PAIR_LIMIT", 100)
    found = ft.analyze(circuit, circuit.space, max_queries=190)
    assert not found.exact
    assert found.reason.startswith("influences must compare at most 100 pairs of nodes of a diagram; a diagram of ")
    tree = Tree.constant(circuit.space, 0)
    assert ft.tree_error(tree, circuit, circuit.space) > 0, "an error needs no pairs"


@pytest.mark.usefixtures("small_limit")
def test_what_must_be_exact_ends_with_the_reason() -> None:
    circuit = pairs(20)
    tree = Tree.constant(circuit.space, 1)
    for door in (
        lambda: ft.build_top_down(circuit, circuit.space, 0.1),
        lambda: ft.tree_error(tree, circuit, circuit.space),
    ):
        with pytest.raises(ParameterError, match="distill, practical_top_down and certify draw inputs instead"):
            door()
    assert known_error(tree, circuit, circuit.space) is None
    certificate = ft.certify(tree, circuit, circuit.space, 0.1, seed=0)
    assert (certificate.method, certificate.holds) == ("sequential", True)


@pytest.mark.usefixtures("no_extra")
def test_without_the_extra_circuits_are_enumerated_or_drawn() -> None:
    small, large = pairs(9), pairs(20)
    with pytest.raises(MissingExtraError, match=r"need the extra 'bdd': pip install 'fidelitree\[bdd\]'"):
        build_diagram(small, small.space)
    root = exact_subfunction(Counted(small, small.space), small.space.whole, 0)
    assert isinstance(root, TableSubfunction)
    with pytest.raises(ParameterError, match=r"need the extra 'bdd'"):
        ft.build_top_down(large, large.space, 0.1)
    assert "need the extra 'bdd'" in ft.analyze(large, large.space, max_queries=4100).reason


def test_the_doors_are_exact_for_eighty_inputs() -> None:
    circuit = pairs(40)
    space = ft.ProductSpace.bernoulli(80, np.linspace(0.05, 0.2, 80))
    result = ft.build_top_down(circuit, space, 0.2)
    assert result.certificate.method == "exact"
    assert int(result.queries.asked) == 0
    assert ft.tree_error(result.tree, circuit, space) == pytest.approx(result.certificate.error_bound, rel=1e-12)
    again = ft.certify(result.tree, circuit, space, 0.2)
    assert (again.method, again.delta, again.holds) == ("exact", 0.0, True)
    assert again.error_bound == pytest.approx(result.certificate.error_bound, rel=1e-12)
    given = ft.analyze(circuit, space, {"x0": 1, "x79": 0})
    assert given.exact
    assert given.influences[[0, 79]].tolist() == [0, 0]


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_gives_the_same_answers(order: Callable[..., list[int]], monkeypatch: pytest.MonkeyPatch) -> None:
    circuit = expression("(a ^ b & c | d) & ~(e & (f | a)) ^ g")
    space = ft.ProductSpace.bernoulli(7, np.linspace(0.1, 0.8, 7))
    monkeypatch.setattr(build, "ORDERS", (order,))
    found = build_diagram(circuit, space)
    table = ft.analyze(circuit, space)
    assert found.influences() == pytest.approx(table.influences, rel=1e-12)
    assert found.label_probabilities() == pytest.approx(table.label_probabilities, rel=1e-12)
