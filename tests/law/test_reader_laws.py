"""Files from strangers: whatever is in them, a reader answers with a circuit or with a FormatError, soon and small."""

from __future__ import annotations

import contextlib
import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fidelitree as ft
import reference
from circuitfiles import SMALL, parse
from fidelitree.errors import FormatError
from fidelitree.targets.circuits import READERS, Circuit, expression
from small import cube, random_tree

every_format = pytest.mark.parametrize("suffix", READERS)
NUMBERS = [b"0", b"1", b"-1", b"2", b"99", b"100001", b"2097153", b"4294967296", b"9" * 40]
INSERTS = [b"\n", b" ", b".", b"\\", b"#", b"\x00", b"\x80", b"\xff", b".names", b".i", b"aig ", b"c\n", b"-", b"1 1\n"]


def corpus(suffix: str) -> list[bytes]:
    """The small file by hand, and trees of all sizes where they can be written."""
    found = [SMALL[suffix]]
    write = {".pla": ft.export.to_pla, ".blif": ft.export.to_blif}.get(suffix)
    for seed in range(6 if write else 0):
        tree = random_tree(ft.ProductSpace.bernoulli(6), np.random.default_rng(seed), [0, 1, 2][: 2 + seed % 2])
        found.append(write(tree).encode())
    return found


def mutated(data: bytes, rng: np.random.Generator, other: bytes) -> bytes:
    """A few cuts, copies, insertions, flipped bytes and other numbers."""
    for _ in range(int(rng.integers(1, 5))):
        start, stop = sorted(rng.integers(0, len(data) + 1, 2).tolist())
        stop = min(stop, start + int(rng.integers(1, 20)))
        kind = rng.integers(6)
        if kind == 0:
            data = data[:start] + data[stop:]
        elif kind == 1:
            data = data[:stop] + data[start:stop] + data[stop:]
        elif kind == 2:
            data = data[:start] + INSERTS[rng.integers(len(INSERTS))] + data[start:]
        elif kind == 3:
            data = data[:start] + bytes(rng.integers(0, 256, stop - start, dtype=np.uint8)) + data[stop:]
        elif kind == 4:
            numbers = list(re.finditer(rb"\d+", data))
            if numbers:
                place = numbers[rng.integers(len(numbers))]
                data = data[: place.start()] + NUMBERS[rng.integers(len(NUMBERS))] + data[place.end() :]
        else:
            data = data[:start] + other[start:]
    return data


@every_format
def test_mutated_files_give_circuits_or_format_errors(suffix: str, soak: bool) -> None:
    rng = np.random.default_rng(20)
    files = corpus(suffix)
    read = 0
    for _ in range(25_000 if soak else 600):
        one, two = rng.integers(len(files), size=2)
        with contextlib.suppress(FormatError):
            network = parse(suffix, mutated(files[one], rng, files[two]))
            circuit = Circuit(network, 0)
            bits = rng.integers(0, 2, (3, circuit.n), dtype=np.uint8)
            wanted = [reference.run_network(network.gates, network.literals[0], row) for row in bits.tolist()]
            assert circuit(bits).tolist() == wanted
            read += 1
    assert read > 20, "mutations that leave nothing to read show little"


@every_format
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_give_circuits_or_format_errors(suffix: str, data: bytes) -> None:
    with contextlib.suppress(FormatError):
        parse(suffix, data)


WORDS = [
    ".i",
    ".o",
    ".ilb",
    ".type",
    ".e",
    ".model",
    ".inputs",
    ".outputs",
    ".names",
    ".end",
    "a",
    "b",
    "1",
    "0",
    "-",
    "11",
]


@every_format
@given(st.lists(st.sampled_from([*WORDS, "\n", "\n", "\\\n", "aag 3 1 0 1 1\n", "4", "2 4 6", "i0 a"]), max_size=30))
def test_any_words_give_circuits_or_format_errors(suffix: str, words: list[str]) -> None:
    with contextlib.suppress(FormatError):
        parse(suffix, " ".join(words))


@given(st.text("ab01~&^|() ?", max_size=40))
def test_any_signs_mean_what_they_mean_in_python_or_give_format_errors(text: str) -> None:
    with contextlib.suppress(FormatError):
        circuit = expression(text)
        rows = cube(min(circuit.n, 6))
        batch = np.pad(rows, ((0, 0), (0, circuit.n - rows.shape[1])))
        wanted = [eval(text.strip(), {}, dict(zip(circuit.names, row, strict=True))) & 1 for row in batch.tolist()]
        assert circuit(batch).tolist() == wanted


@pytest.mark.parametrize(
    ("suffix", "data"),
    [
        (".aig", b"aig 4000000000 2000000000 0 1 2000000000\n"),
        (".aig", b"aig 2097153 1 0 1 2097152\n"),
        (".aag", b"aag 2197152 100000 0 100000 2097152\n"),
        (".aag", b"aag " + b"9" * 5000 + b" 1 0 1 0\n"),
        (".pla", b".i 99999999999999999999\n"),
        (".pla", b".i 100000\n.o 100000\n.p 4000000000\n11 1\n"),
        (".blif", b".inputs" + b" a" * 200_000 + b"\n.outputs a\n"),
    ],
)
def test_announcements_take_no_memory(suffix: str, data: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match=rf"small\{suffix}, line \d+: "):
            parse(suffix, data)
        assert tracemalloc.get_traced_memory()[1] < 40_000_000
    finally:
        tracemalloc.stop()
