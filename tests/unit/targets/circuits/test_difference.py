"""Miters: how often two circuits differ, exactly."""

from __future__ import annotations

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.errors import ParameterError
from fidelitree.targets import expression
from fidelitree.targets.circuits.circuit import difference
from small import cube, true_error

NAMES = list("abcd")


def test_it_is_1_where_they_differ() -> None:
    one, two = expression("a & b | ~c", NAMES), expression("a ^ (d | c)", NAMES)
    found = difference(one, two)
    assert np.array_equal(found(cube(4)), one(cube(4)) ^ two(cube(4)))
    assert found.output == "f0 differs from f0"


def test_another_number_of_inputs_is_refused() -> None:
    with pytest.raises(ParameterError, match="circuits must have as many inputs to be compared; got 1 and 2"):
        difference(expression("a"), expression("a | b"))


def test_certify_compares_circuits_exactly() -> None:
    names = [f"x{i}" for i in range(90)]
    one = expression(" & ".join(names[:45]) + " | " + " ^ ".join(names[45:]))
    two = expression(" ^ ".join(names[45:]), names)
    certificate = ft.certify(one, two, one.space, 0.01)
    assert (certificate.method, certificate.delta, certificate.samples) == ("exact", 0.0, 0)
    assert certificate.error_bound == pytest.approx(2.0**-46, rel=1e-12)


def test_certify_compares_a_circuit_with_a_tree() -> None:
    circuit, space = expression("a & b | ~c", NAMES), ft.ProductSpace.bernoulli(4, 0.3, names=NAMES)
    tree = ft.build_top_down(expression("a ^ (d | c)", NAMES), space, 0.1).tree
    found = ft.certify(circuit, tree, space, 0.5)
    assert found.method == "exact"
    assert found.error_bound == pytest.approx(true_error(tree, circuit, space))
