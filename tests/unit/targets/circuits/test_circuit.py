"""Circuits as targets: every batch size, every order in memory, outputs by name and by position."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import fidelitree as ft
import reference
from circuitfiles import AAG, PLA, SMALL
from fidelitree.errors import FormatError, ParameterError
from fidelitree.targets import Circuit, read_circuit
from fidelitree.targets.circuits import network, source
from fidelitree.targets.circuits.network import Gates, Network
from small import cube

if TYPE_CHECKING:
    from pathlib import Path


def random_network(inputs: int, gates: int, outputs: int, seed: int) -> Network:
    rng = np.random.default_rng(seed)
    made = [tuple(rng.integers(0, 2 * (inputs + 1 + g), 2).tolist()) for g in range(gates)]
    names = tuple(f"in{i}" for i in range(inputs))
    literals = rng.integers(0, 2 * (inputs + 1 + gates), outputs).tolist()
    return Network(names, tuple(f"out{k}" for k in range(outputs)), made, literals)


@pytest.mark.parametrize("seed", range(4))
def test_every_output_is_what_its_gates_say(seed: int) -> None:
    whole = random_network(6, 40, 8, seed)
    for position, literal in enumerate(whole.literals):
        circuit = Circuit(whole, position)
        wanted = [reference.run_network(whole.gates, literal, bits) for bits in cube(6).tolist()]
        assert circuit(cube(6)).tolist() == wanted
        assert [reference.run_network(circuit.gates, circuit.literal, bits) for bits in cube(6).tolist()] == wanted


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 1000])
def test_any_number_of_rows_in_any_order_of_memory(rows: int) -> None:
    circuit = Circuit(random_network(20, 300, 1, 5))
    batch = np.random.default_rng(rows).integers(0, 2, (rows, 20), dtype=np.uint8)
    wanted = [reference.run_network(circuit.gates, circuit.literal, bits) for bits in batch.tolist()]
    for inputs in (batch, np.asfortranarray(batch), batch.astype(bool), batch.astype(np.int64)):
        found = circuit(inputs)
        assert found.dtype == np.uint8
        assert found.tolist() == wanted


def test_blocks_of_rows_join(monkeypatch: pytest.MonkeyPatch) -> None:
    circuit = Circuit(random_network(8, 60, 1, 2))
    batch = np.tile(cube(8), (3, 1))
    once = circuit(batch)
    monkeypatch.setattr("fidelitree.targets.circuits.circuit._WORDS", 1)
    assert np.array_equal(circuit(batch), once)


def test_only_the_gates_of_the_output_are_kept() -> None:
    circuit = Circuit(Network(("a", "b"), ("f", "g"), [(2, 4), (2, 5), (6, 9)], [6, 11]), "f")
    assert (circuit.gates, circuit.literal) == ([(2, 4)], 6)
    assert repr(circuit) == "<Circuit 'f': 2 inputs, 1 gates>"


def test_outputs_by_name_then_by_position(tmp_path: Path) -> None:
    path = tmp_path / "small.pla"
    path.write_text(PLA.replace(".ob f g", ".ob 1 g"), encoding="utf-8")
    assert read_circuit(path, "1").output == "1"
    assert read_circuit(path, 1).output == "g"
    assert read_circuit(path, "0").output == "1"
    assert read_circuit(str(path), output="g").output == "g"
    assert read_circuit(path, np.int64(1)).output == "g"
    for wrong in (None, 2, -1, "f", 1.0, True):
        message = rf"output must be one of the circuit's 2 outputs \(1, g\), or its position; got {wrong!r}"
        with pytest.raises(ParameterError, match=message):
            read_circuit(path, wrong)


def test_a_position_of_many_digits_is_no_position() -> None:
    with pytest.raises(ParameterError, match=r"output must be one of .*; got '9{39}$"):
        Circuit(Network(("a",), ("f",), [], [2]), "9" * 5000)


def test_every_suffix_has_its_reader(tmp_path: Path) -> None:
    for suffix, data in SMALL.items():
        path = tmp_path / f"small{suffix.upper()}"
        path.write_bytes(data)
        assert read_circuit(path, 0).n in (2, 3)
    with pytest.raises(ParameterError, match=r"path must end in \.aag, \.aig, \.blif, \.pla; got 'small\.v'"):
        read_circuit(tmp_path / "small.v")


def test_features_are_inputs_by_position() -> None:
    circuit = ft.targets.expression("a & ~b")
    assert circuit.space == ft.ProductSpace.bernoulli(2, names=["a", "b"])
    named_otherwise = ft.ProductSpace.bernoulli(2, [0.9, 0.1])
    assert ft.analyze(circuit, named_otherwise).mean == pytest.approx(0.81)
    with pytest.raises(ParameterError, match=r"space must have the circuit's 2 inputs as features; got 3"):
        ft.analyze(circuit, ft.ProductSpace.bernoulli(3))
    mixed = ft.ProductSpace([ft.Boolean("a"), ft.Numeric("b", 0, 1)])
    with pytest.raises(ParameterError, match=r"space must hold bits only for a circuit; feature 'b' is numeric"):
        ft.analyze(circuit, mixed)
    with pytest.raises(ParameterError, match=r"one column for each of the 2 features; got shape \(1, 3\)"):
        circuit(np.zeros((1, 3), np.uint8))


def test_equal_gates_are_made_once_and_constants_none() -> None:
    gates = Gates(3)
    a, b, c = 2, 4, 6
    assert gates.both(a, 0) == 0
    assert gates.both(1, a) == a
    assert gates.both(a, a ^ 1) == 0
    assert gates.either(a, a) == a
    assert gates.every([]) == 1
    assert gates.some([]) == 0
    assert gates.every([a, b, c]) == gates.both(gates.both(b, a), c)
    assert gates.differ(a, b) == gates.differ(a, b)
    assert len(gates.made) == 5


def test_a_circuit_may_not_be_larger_than_the_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large.aag"
    path.write_text(AAG, encoding="utf-8")
    monkeypatch.setattr(network, "MAX_GATES", 2)
    with pytest.raises(FormatError, match=r"large\.aag: a circuit may have at most 2 gates"):
        read_circuit(path, 0)
    monkeypatch.setattr(source, "MAX_BYTES", 10)
    with pytest.raises(FormatError, match=r"large\.aag is larger than the 0 MB that a circuit may have"):
        read_circuit(path, 0)


@pytest.mark.parametrize("name", ["missing.aig", "folder.blif"])
def test_a_path_without_a_file_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder.blif").mkdir()
    with pytest.raises(ft.ParameterError, match=f"path must name a file; there is none at '.*{name}'"):
        ft.targets.read_circuit(tmp_path / name)
