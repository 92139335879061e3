"""The circuits of EPFL and of espresso: closed forms, two formats of one circuit, greedy sizes, both exact engines."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import fidelitree as ft
from circuitfiles import circuits
from fidelitree.exact.build import build_diagram
from fidelitree.exact.engine import known_error
from fidelitree.exact.truthtable import TableSubfunction
from fidelitree.targets import Circuit, read_circuit
from fidelitree.targets.circuits import read_network
from small import cube

Find = Callable[[str], Path]
SIZES = {
    "epfl/adder.aig": (256, 129),
    "epfl/adder.blif": (256, 129),
    "epfl/arbiter.aig": (256, 129),
    "epfl/bar.aig": (135, 128),
    "epfl/ctrl.aig": (7, 26),
    "epfl/ctrl.blif": (7, 26),
    "epfl/dec.aig": (8, 256),
    "epfl/i2c.aig": (147, 142),
    "epfl/max.aig": (512, 130),
    "epfl/max.blif": (512, 130),
    "epfl/priority.aig": (128, 8),
    "epfl/priority.blif": (128, 8),
    "epfl/router.aig": (60, 30),
    "epfl/router.blif": (60, 30),
    "epfl/voter.aig": (1001, 1),
    "pla/5xp1.pla": (7, 10),
    "pla/9sym.pla": (9, 1),
    "pla/alu4.pla": (14, 8),
    "pla/b12.pla": (15, 9),
    "pla/bw.pla": (5, 28),
    "pla/con1.pla": (7, 2),
    "pla/cordic.pla": (23, 2),
    "pla/duke2.pla": (22, 29),
    "pla/e64.pla": (65, 65),
    "pla/misex1.pla": (8, 7),
    "pla/rd53.pla": (5, 3),
    "pla/rd73.pla": (7, 3),
    "pla/rd84.pla": (8, 4),
    "pla/squar5.pla": (5, 8),
    "pla/t481.pla": (16, 1),
    "pla/vg2.pla": (25, 8),
    "pla/xor5.pla": (5, 1),
}


def test_every_file_is_read(data_dir: Path) -> None:
    files = [path for path in (data_dir / "circuits").glob("*/*.*") if path.suffix in (".aig", ".blif", ".pla")]
    found = {}
    for path in files:
        network = read_network(path)
        found[f"{path.parent.name}/{path.name}"] = (len(network.inputs), len(network.outputs))
    assert found == SIZES


@pytest.mark.parametrize("name", ["rd53", "rd73", "rd84"])
def test_outputs_of_rd_are_the_digits_of_the_number_of_ones(name: str, data_file: Find) -> None:
    found = circuits(data_file(f"circuits/pla/{name}.pla"))
    rows = cube(found[0].n)
    digits = {tuple((rows.sum(axis=1) >> digit & 1).tolist()) for digit in range(len(found))}
    assert {tuple(circuit(rows).tolist()) for circuit in found} == digits


def test_9sym_and_xor5(data_file: Find) -> None:
    ones = cube(9).sum(axis=1)
    assert np.array_equal(read_circuit(data_file("circuits/pla/9sym.pla"))(cube(9)), (ones >= 3) & (ones <= 6))
    assert np.array_equal(read_circuit(data_file("circuits/pla/xor5.pla"))(cube(5)), cube(5).sum(axis=1) % 2)


def test_dec_is_a_decoder(data_file: Find) -> None:
    """Its outputs stand in an order of their own: one for each input, and one input for each."""
    found = circuits(data_file("circuits/epfl/dec.aig"))
    answers = np.array([circuit(cube(8)) for circuit in found])
    assert (answers.sum(axis=0) == 1).all()
    assert (answers.sum(axis=1) == 1).all()


def test_adder_adds(data_file: Find) -> None:
    network = read_network(data_file("circuits/epfl/adder.aig"))
    rows = np.random.default_rng(0).integers(0, 2, (64, 256), dtype=np.uint8)
    numbers = [
        [int("".join(map(str, half[::-1])), 2) for half in (row[:128].tolist(), row[128:].tolist())] for row in rows
    ]
    answers = np.array([Circuit(network, digit)(rows) for digit in range(129)])
    for row, (a, b) in enumerate(numbers):
        assert int("".join(map(str, answers[::-1, row].tolist())), 2) == a + b


@pytest.mark.parametrize("name", ["ctrl", "router", "priority", "adder"])
def test_aig_and_blif_agree(name: str, data_file: Find) -> None:
    one, two = (read_network(data_file(f"circuits/epfl/{name}.{suffix}")) for suffix in ("aig", "blif"))
    assert (one.inputs, one.outputs) == (two.inputs, two.outputs)
    rng = np.random.default_rng(1)
    rows = np.concatenate([rng.random((500, len(one.inputs))) < p for p in (0.5, 0.02, 0.98)])
    for position in range(len(one.outputs)):
        first, second = Circuit(one, position), Circuit(two, position)
        assert np.array_equal(first(rows), second(rows))
        assert known_error(first, second, first.space) == 0


def test_voter_is_the_majority_of_1001(data_file: Find) -> None:
    voter = read_circuit(data_file("circuits/epfl/voter.aig"))
    rng = np.random.default_rng(2)
    random = rng.integers(0, 2, (2000, 1001), dtype=np.uint8)
    boundary = np.zeros((400, 1001), np.uint8)
    for row, ones in enumerate(np.repeat([500, 501, 499, 502], 100)):
        boundary[row, rng.permutation(1001)[:ones]] = 1
    ends = np.array([[0] * 1001, [1] * 1001], np.uint8)
    for rows in (random, boundary, ends):
        assert np.array_equal(voter(rows), rows.sum(axis=1) >= 501)


def test_greedy_trees_have_the_leaves_and_depths_of_the_table(data_file: Find) -> None:
    with data_file("optimal/circuits.tsv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    grown, listed = {}, {}
    for row in rows:
        circuit = read_circuit(data_file(row["circuit"]), int(row["output_index"]))
        result = ft.build_top_down(circuit, circuit.space, 0)
        key = (row["circuit"], circuit.output)
        grown[key] = (result.tree.size, result.tree.depth, result.certificate.error_bound)
        listed[row["circuit"], row["output_name"]] = (
            int(row["greedy_influence_leaves"]),
            int(row["greedy_influence_depth"]),
            0.0,
        )
    assert grown == listed
    assert len(grown) == 110


SMALL_FILES = [name for name, (inputs, _) in SIZES.items() if inputs <= 20 and not name.endswith(".blif")]


@pytest.mark.parametrize("name", SMALL_FILES)
def test_diagrams_and_tables_agree_under_unequal_biases(name: str, data_file: Find, soak: bool) -> None:
    found = circuits(data_file(f"circuits/{name}"))
    rng = np.random.default_rng(3)
    space = ft.ProductSpace.bernoulli(found[0].n, rng.uniform(0.02, 0.98, found[0].n))
    whole = space.whole
    for circuit in found if soak or len(found) <= 30 else found[::16]:
        answers = circuit(whole.inputs(0, 1 << circuit.n))
        table, diagram = TableSubfunction.of(answers, whole, [0, 1]), build_diagram(circuit, space)
        np.testing.assert_allclose(diagram.influences(), table.influences(), rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(diagram.label_probabilities(), table.label_probabilities(), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", ["epfl/priority.aig", "epfl/router.aig", "pla/e64.pla", "epfl/i2c.aig"])
def test_influences_of_all_inputs_are_exact(name: str, data_file: Find) -> None:
    """Against flips of drawn inputs: within 6 standard deviations each, false alarms below one in a million."""
    rng = np.random.default_rng(4)
    found = circuits(data_file(f"circuits/{name}"))
    draws = 2000
    for circuit in found[:: max(1, len(found) // 4)]:
        analysis = ft.analyze(circuit, circuit.space)
        assert analysis.exact
        assert int(analysis.queries.asked) == 0
        rows = rng.integers(0, 2, (draws, circuit.n), dtype=np.uint8)
        before = circuit(rows)
        for i in np.argsort(-analysis.influences)[:8].tolist():
            flipped = rows.copy()
            flipped[:, i] ^= 1
            share = float((circuit(flipped) != before).mean())
            flip = 2 * analysis.influences[i]
            assert abs(share - flip) <= 6 * math.sqrt(flip * (1 - flip) / draws) + 12 / draws


def test_influences_of_the_adder_have_a_closed_form(data_file: Find) -> None:
    """Digit k of a sum of fair digits is fair, and changes whenever a digit below it is flipped and carried up."""
    for digit in (0, 1, 64, 127):
        circuit = read_circuit(data_file("circuits/epfl/adder.aig"), digit)
        analysis = ft.analyze(circuit, circuit.space)
        wanted = np.zeros(256)
        for place in range(digit + 1):
            wanted[[place, 128 + place]] = 0.5 * 2.0 ** (place - digit)
        assert analysis.exact
        assert analysis.mean == pytest.approx(0.5, rel=1e-12)
        np.testing.assert_allclose(analysis.influences, wanted, rtol=1e-12)


def test_priority_is_certified_exactly(data_file: Find) -> None:
    circuit = read_circuit(data_file("circuits/epfl/priority.aig"), "0")
    result = ft.build_top_down(circuit, circuit.space, 0.01)
    assert (result.certificate.method, result.certificate.holds) == ("exact", True)
    certificate = ft.certify(result.tree, circuit, circuit.space, 0.01)
    assert certificate.error_bound == pytest.approx(result.certificate.error_bound, rel=1e-12)
    assert (certificate.method, certificate.delta, certificate.samples) == ("exact", 0.0, 0)


def test_the_largest_of_four_numbers_has_small_diagrams_whose_paths_end_a_run(data_file: Find) -> None:
    network = read_network(data_file("circuits/epfl/max.blif"))
    for output in ("result[0]", "result[64]", "address[1]"):
        circuit = Circuit(network, output)
        found = build_diagram(circuit, circuit.space)
        assert found.diagram.size(found.root) <= 5_701
    circuit = Circuit(network, "result[123]")
    result = ft.distill(circuit, circuit.space, 0.01)
    assert (result.certificate.method, result.certificate.holds) == ("exact", True)
    assert result.leaves <= int(result.queries.asked) <= 2_200
    assert ft.tree_error(result.tree, circuit, circuit.space) == pytest.approx(result.error_bound, rel=1e-9)


def test_past_the_limit_inputs_are_drawn(data_file: Find) -> None:
    voter = read_circuit(data_file("circuits/epfl/voter.aig"))
    analysis = ft.analyze(voter, voter.space, max_queries=2004)
    assert not analysis.exact
    assert "must have at most 262,144 nodes" in analysis.reason
