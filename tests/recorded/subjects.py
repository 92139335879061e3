"""What the recorded runs are about: spaces and targets that depend on no other library's numbers.

Weights are whole numbers and so are their sums, so that no order of additions can change a label. Tables are made of
raw bits of PCG64, which NumPy promises to keep.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fidelitree as ft

Subject = tuple[Any, ft.ProductSpace | ft.Rows]
Integers = NDArray[np.int64]
Make = Callable[[], Subject]

PLA = ".i 5\n.o 2\n.ilb a b c d e\n.ob f g\n1-1-- 10\n01-1- 11\n--011 01\n0---0 10\n.e\n"
BLIF = ".model m\n.inputs a b c d e\n.outputs f\n.names a b t\n10 1\n01 1\n.names t c d u\n11- 1\n0-1 1\n"
BLIF += ".names u e f\n1- 1\n-0 1\n.end\n"


def whole(seed: int, shape: tuple[int, ...], high: int) -> Integers:
    """Pseudo-random whole numbers from 0 to high - 1."""
    raw = np.random.PCG64(seed).random_raw(int(np.prod(shape)))
    return ((raw >> np.uint64(20)) % np.uint64(high)).astype(np.int64).reshape(shape)


def network(inputs: int, classes: int, seed: int) -> Callable[[Any], Any]:
    """A fixed network of one hidden layer of six, ReLU, whole weights; the class with the largest sum."""
    first, second = whole(seed, (inputs, 6), 11) - 5, whole(seed + 1, (6, classes), 11) - 5

    def answer(batch: Any) -> Integers:
        hidden = np.maximum(np.asarray(batch).astype(np.int64) @ first, 0)
        found: Integers = (hidden @ second).argmax(axis=1)
        return found

    return answer


def unseen(target: Any) -> Callable[[Any], Any]:
    """A target as a callable that nobody can look into."""

    def answer(batch: Any) -> Any:
        return target(batch)

    return answer


def on_table(batch: Any) -> Any:
    """Three classes of customers, from columns of any kind of table."""
    age, rooms = np.asarray(batch["age"]), np.asarray(batch["rooms"])
    job, owner = np.asarray(batch["job"]).astype(str), np.asarray(batch["owner"]).astype(bool)
    rich = (age > 40) & (job != "clerk")
    return np.where(rich, "gold", np.where((rooms > 2) & owner, "family", "none"))


def on_numbers(batch: Any) -> Any:
    """A staircase over three of the columns of an array."""
    steps = np.floor(np.asarray(batch) * 4).astype(np.int64)
    return (steps[:, 0] + 2 * steps[:, 1] > 9) * 1 + (steps[:, 2] > 6)


def columns(rows: int, seed: int) -> dict[str, Any]:
    """A table in which age and rooms go together."""
    age = 18 + whole(seed, (rows,), 70)
    return {
        "owner": whole(seed + 1, (rows,), 10) < 4,
        "job": np.array(["clerk", "nurse", "pilot", "smith"])[whole(seed + 2, (rows,), 4)],
        "age": age,
        "rooms": 1 + (age // 20 + whole(seed + 3, (rows,), 3)) % 6,
        "income": whole(seed + 4, (rows,), 1000) / 8,
    }


def table(kind: str, rows: int, seed: int) -> Any:
    """The same columns as a table of any library."""
    if kind == "pandas":
        import pandas as pd

        return pd.DataFrame(columns(rows, seed))
    if kind == "polars":
        import polars as pl

        return pl.DataFrame(columns(rows, seed))
    if kind == "arrow":
        import pyarrow as pa

        return pa.table(columns(rows, seed))
    if kind == "array":
        return whole(seed, (rows, 5), 97) / 32
    return columns(rows, seed)


def bits(n: int, target: Any, p: Any = 0.5) -> Make:
    return lambda: (unseen(target), ft.ProductSpace.bernoulli(n, p))


def planted(n: int, family: str, size: int, seed: int, p: float = 0.5) -> Make:
    """A random tree as a black box."""

    def make() -> Subject:
        space = ft.ProductSpace.bernoulli(n, p)
        return unseen(getattr(ft.targets, family)(space, size, seed).predict), space

    return make


def known(n: int, family: str, size: int, seed: int, p: float = 0.5) -> Make:
    """A random tree that says that it is one."""

    def make() -> Subject:
        space = ft.ProductSpace.bernoulli(n, p)
        return getattr(ft.targets, family)(space, size, seed), space

    return make


def formula(text: str, p: float = 0.5) -> Make:
    def make() -> Subject:
        circuit = ft.targets.expression(text)
        return circuit, ft.ProductSpace.bernoulli(len(circuit.names), p, circuit.names)

    return make


def answers_of(kind: str) -> Callable[[Any], Any]:
    return on_numbers if kind == "array" else on_table


def marginals(kind: str) -> Make:
    return lambda: (answers_of(kind), ft.ProductSpace.from_data(table(kind, 300, 5)))


def rows_of(kind: str, rows: int = 1500) -> Make:
    return lambda: (answers_of(kind), ft.Rows(table(kind, rows, 50)))


def mixed() -> Subject:
    """Every kind of feature, written by hand."""
    features = [
        ft.Boolean("owner", 0.3),
        ft.Categorical("job", {"clerk": 0.5, "nurse": 0.3, "pilot": 0.2}),
        ft.Numeric("age", 18, 90),
        ft.Numeric.from_values("rooms", [1, 1, 2, 2, 2, 3, 5]),
        ft.Numeric.from_quantiles("income", [0, 10, 10, 25, 80]),
    ]
    return on_table, ft.ProductSpace(features)


def grid() -> Subject:
    """Few inputs, not all of them bits."""
    features = [
        ft.Categorical("a", {"r": 0.2, "s": 0.3, "t": 0.5}),
        ft.Numeric.from_values("b", [0, 0, 1, 2, 4]),
        ft.Boolean("c", 0.4),
        ft.Numeric.from_values("d", [1, 2, 3]),
    ]

    def answer(batch: Any) -> Any:
        return ((batch["a"] == "t") | (batch["b"] > 1)) & (batch["c"] == 1) | (batch["d"] + batch["b"] > 5)

    return answer, ft.ProductSpace(features)


def relabelled(labels: list[Any]) -> Make:
    """The classes of a network under other names."""
    answer, names = network(14, len(labels), 70), np.array(labels)
    return lambda: (lambda batch: names[answer(batch)], ft.ProductSpace.bernoulli(14, 0.4))


def truth(n: int, seed: int) -> Make:
    return lambda: (ft.targets.TruthTable(whole(seed, (2**n,), 2)), ft.ProductSpace.bernoulli(n, 0.3))


t = ft.targets
SUBJECTS: dict[str, Make] = {
    "parity-3-of-16": bits(16, t.parity(16, 3)),
    "parity-5": bits(5, t.parity(5)),
    "majority-7": bits(7, t.majority(7)),
    "majority-15": bits(15, t.majority(15)),
    "majority-15-biased": bits(15, t.majority(15), 0.2),
    "multiplexer-6": bits(6, t.multiplexer(2)),
    "multiplexer-20": bits(20, t.multiplexer(4)),
    "tribes-3x4": bits(12, t.tribes(3, 4)),
    "tribes-3x5-biased": bits(15, t.tribes(3, 5), 0.7),
    "hwb-8": bits(8, t.hidden_weighted_bit(8)),
    "nand-tree-16": bits(16, t.nand_tree(4)),
    "threshold-20": bits(20, t.threshold(20, 3), 0.1),
    "selector-parity": bits(14, lambda batch: t.selector_parity(2, 3, 2)(batch[:, :10])),
    "balanced-4": planted(20, "balanced", 4, 1),
    "balanced-4-biased": planted(20, "balanced", 4, 2, 0.1),
    "balanced-3-of-2000": planted(2000, "balanced", 3, 4),
    "chain-9": planted(24, "chain", 9, 3, 0.4),
    "chain-6-of-2000": planted(2000, "chain", 6, 5, 0.3),
    "network-12": bits(12, network(12, 2, 11), 0.4),
    "network-16": bits(16, network(16, 2, 21)),
    "network-60-uneven": bits(60, network(60, 2, 31), [0.1 + 0.01 * i for i in range(60)]),
    "certain-bits": bits(13, t.majority(13), [0.0, 1.0, *[0.5] * 4, *[0.02] * 7]),
    "constant": bits(30, lambda batch: np.full(len(batch), 7)),
    "known-balanced-4": known(12, "balanced", 4, 6),
    "known-chain-12": known(40, "chain", 12, 7, 0.6),
    "formula": formula("(a & b) | (~c & (d ^ e)) | (f & g & ~h)"),
    "formula-biased": formula("(a | b) & (c | d) & (e | f) & (g | h) & (i | j)", 0.7),
    "truth-7": truth(7, 41),
    "mixed": mixed,
    "grid": grid,
    **{f"from-{kind}": marginals(kind) for kind in ("dict", "pandas", "polars", "arrow", "array")},
    **{f"rows-{kind}": rows_of(kind) for kind in ("dict", "pandas", "polars", "arrow", "array")},
    "labels-text": relabelled(["low", "middle", "high"]),
    "labels-truth": relabelled([False, True]),
    "labels-numbers": relabelled([-5, 0, 7, 12]),
    "labels-floats": relabelled([0.0, 1.0, 2.0]),
}


@cache
def subject(name: str) -> Subject:
    """A target and its space."""
    return SUBJECTS[name]()
