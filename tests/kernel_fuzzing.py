"""Compiled kernels with arguments from strangers: python kernel_fuzzing.py LIBRARY CALLS SEED.

Half of the calls are sound; in the others an array has entries changed, is cut off, or has another type. Each call
returns or raises an error of Python; the sanitizers that the library was compiled with end the process otherwise.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from typing import Any

import numpy as np

REFUSED = ValueError, TypeError, BufferError, OverflowError, MemoryError
ODD = [-(2**31), -2, -1, 0, 1, 2, 7, 63, 64, 255, 65535, 2**31 - 1]


def loaded(path: str) -> Any:
    loader = importlib.machinery.ExtensionFileLoader("_native", path)
    spec = importlib.util.spec_from_loader("_native", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def changed(random: np.random.Generator, argument: Any) -> Any:
    """An argument as a stranger might give it."""
    if isinstance(argument, tuple):
        some = list(argument)
        place = int(random.integers(len(some)))
        some[place] = changed(random, some[place])
        return tuple(some)
    if not isinstance(argument, np.ndarray):
        return ODD[int(random.integers(len(ODD)))] if isinstance(argument, int | float) else argument
    kind = int(random.integers(5))
    if kind == 0:
        return argument[..., : int(random.integers(argument.shape[-1] + 1))].copy()
    if kind == 1:
        return argument.astype([np.float32, np.int64, np.uint8, np.bool_][int(random.integers(4))])
    other = argument.copy()
    if other.size:
        for _ in range(int(random.integers(1, 4))):
            value = np.nan if other.dtype.kind == "f" else ODD[int(random.integers(len(ODD)))]
            other.flat[int(random.integers(other.size))] = np.array([value]).astype(other.dtype)[0]
    return other


def numbers_of(random: np.random.Generator) -> list[Any]:
    rows, features = (int(random.integers(1, most)) for most in (60, 5))
    inner, lines = random.choice([0.0, -1.5, 1e300, np.inf], (rows, features)), (features, rows)
    counts = np.zeros(features, np.int32)
    return [inner, np.arange(features, dtype=np.int32), np.zeros(lines, np.uint16), np.zeros(lines), counts]


def rows_of(random: np.random.Generator) -> list[Any]:
    rows, features, classes = (int(random.integers(1, most)) for most in (60, 5, 4))
    bits = random.random() < 0.3
    sizes = np.full(features, 2, np.int32) if bits else random.integers(1, 80, features).astype(np.int32)
    bins = np.stack([random.integers(size, size=rows) for size in sizes]).astype(np.uint16)
    ordered = random.random(features) < (1.0 if bits else 0.5)
    chosen = np.flatnonzero(random.random(features) < 0.9).astype(np.int32)
    codes = random.integers(classes, size=rows).astype(np.int32)
    counts = np.arange(rows + 1.0)
    most = int(random.integers(1, 100))
    return [bins, codes, sizes, ordered, chosen, counts * np.log(np.maximum(counts, 1)), classes, most]


def tree_of(random: np.random.Generator, sizes: np.ndarray[Any, Any], depth: int) -> tuple[Any, ...]:
    words = -(-int(sizes.max()) // 64)
    rows: list[list[int]] = []
    sets: list[np.ndarray[Any, Any]] = []

    def grow(left: int) -> None:
        row = [-1, -1, -1, -1]
        rows.append(row)
        if left and random.random() < 0.8:
            row[0] = int(random.integers(len(sizes)))
            row[1] = int(random.integers(sizes[row[0]]))
            if random.random() < 0.4:
                row[3] = len(sets)
                sets.append(random.integers(2**63, size=words).astype(np.uint64))
            grow(left - 1)
            row[2] = len(rows)
            grow(left - 1)

    grow(depth)
    feature, cut, yes, place = np.array(rows, np.int32).T.copy()
    return feature, cut, yes, place, np.array(sets, np.uint64).reshape(len(sets), words)


def walked(random: np.random.Generator) -> list[Any]:
    nodes, features, rows = 7, int(random.integers(1, 4)), int(random.integers(1, 70))
    leaf = np.arange(nodes) > 2
    by_columns = bool(random.integers(2))
    return [
        np.where(leaf, np.nan, random.random(nodes)),
        random.integers(features, size=nodes).astype(np.int32),
        np.where(leaf, np.arange(nodes), 2 * np.arange(nodes) + 1).astype(np.int32),
        random.integers(9, size=nodes),
        np.where(leaf, -1, random.choice([2, -1, -1, -2], nodes)).astype(np.int32),
        np.full(nodes, 3, np.int32),
        random.integers(2, size=5).astype(np.uint8),
        random.choice([0.1, 0.5, 0.9, 2.0, np.nan], (features, rows) if by_columns else (rows, features)),
        np.zeros(rows, np.int64),
        0,
        by_columns,
        2,
        bool(random.integers(2)),
    ]


def truth_table(random: np.random.Generator) -> list[Any]:
    """A truth table of some labels, the biases of its slots, and room for what is found."""
    slots = int(random.integers(9, 15))
    planes = random.integers(1 << 63, size=(int(random.integers(1, 4)), 1 << (slots - 6)), dtype=np.uint64)
    return [planes, random.random(slots), np.empty(1 << max(0, slots - 13)), np.empty(slots)]


def few_steps(kernel: Any) -> Any:
    """A search whose steps no stranger gives: 2^31 of them would take half an hour."""
    return lambda *given: kernel(*given[:4], 5, *given[4:])


def main(path: str, calls: int, seed: int) -> None:
    native, random, done = loaded(path), np.random.default_rng(seed), 0

    def call(function: Any, arguments: list[Any]) -> Any:
        nonlocal done
        given = list(arguments)
        if random.random() < 0.5:
            place = int(random.integers(len(given)))
            given[place] = changed(random, given[place])
        try:
            found = function(*given)
        except REFUSED:
            return None
        done += 1
        return found

    for _ in range(calls):
        call(native.walk, walked(random))
        lines = random.random((3, 5)), random.random((3, 2)), random.random((3, 4))
        call(native.min_plus, [*lines, np.zeros((3, 5), np.int64) if random.integers(2) else None, 0.1])
        call(native.bin_columns, numbers_of(random))
        call(native.changes, truth_table(random))
        lines = int(random.integers(1, 70))
        planes = random.integers(0, 1 << 63, (lines, int(random.integers(0, 5))), np.uint64)
        call(native.count_pairs, [planes, np.zeros((lines, lines), np.int32), 0, int(random.integers(-1, 80))])
        rows = rows_of(random)
        table = call(native.table, rows)
        if table is None:
            continue
        tree, price = tree_of(random, rows[2], 4), float(random.choice([0.0, 0.1, 1.0, 5.0]))
        nodes = len(tree[0])
        call(native.table_cart, [table, int(random.integers(1, 30)), int])
        call(native.table_fit, [table, tree, price, int])
        call(few_steps(native.table_descend), [table, tree, price, seed, bool(random.integers(2)), int])
        call(native.table_prune, [table, tree, np.ones(nodes), int])
    print(9 * calls, done)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
