"""Every textbook function that ships, found by looking, against a slow definition written row by row."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import get_type_hints

import numpy as np
import pytest

from fidelitree import targets
from fidelitree.targets import Textbook, textbook
from small import cube

Slow = Callable[[list[int]], int]
Case = tuple[Textbook, Slow]


def number(bits: list[int]) -> int:
    return int("".join(map(str, bits)), 2)


def tribes(x: list[int], width: int) -> int:
    return int(any(all(x[i : i + width]) for i in range(0, len(x), width)))


def nand(x: list[int]) -> int:
    half = len(x) // 2
    return x[0] if half == 0 else 1 - nand(x[:half]) * nand(x[half:])


def majorities(x: list[int]) -> int:
    third = len(x) // 3
    return x[0] if third == 0 else int(sum(majorities(x[k * third : (k + 1) * third]) for k in range(3)) >= 2)


def edge(v: list[int], edges: list[tuple[int, int]]) -> int:
    chosen = {i for i, bit in enumerate(v) if bit}
    return int(any(chosen == set(pair) for pair in edges))


def marked(x: list[int], edges: list[tuple[int, int]]) -> int:
    v, w = x[: len(x) // 2], x[len(x) // 2 :]
    return int(edge(v, edges) and all(w[i] for i, bit in enumerate(v) if bit))


GRAPHS = [(targets.star(5), 5), (targets.cycle(6), 6), (targets.complete(4), 4), ([], 3), ([(2, 0)], 3)]

SLOW: dict[str, list[Case]] = {
    "parity": [
        *((targets.parity(n), lambda x: sum(x) % 2) for n in (1, 2, 5, 9)),
        (targets.parity(8, 2), lambda x: x[0] ^ x[1]),
        (targets.parity(4, 1), lambda x: x[0]),
    ],
    "majority": [(targets.majority(n), lambda x, n=n: int(2 * sum(x) > n)) for n in (1, 2, 5, 8)],
    "threshold": [(targets.threshold(7, k), lambda x, k=k: int(sum(x) >= k)) for k in (0, 1, 3, 7, 8)],
    "exactly": [(targets.exactly(7, k), lambda x, k=k: int(sum(x) == k)) for k in (0, 3, 7, 8)],
    "mod": [(targets.mod(7, k, r), lambda x, k=k, r=r: int(sum(x) % k == r)) for k, r in ((3, 0), (3, 2), (1, 0))],
    "multiplexer": [(targets.multiplexer(k), lambda x, k=k: x[k + number(x[:k])]) for k in (1, 2, 3)],
    "tribes": [(targets.tribes(w, s), lambda x, w=w: tribes(x, w)) for w, s in ((2, 4), (3, 3), (1, 4), (4, 1))],
    "nand_tree": [(targets.nand_tree(d), nand) for d in (1, 2, 3)],
    "recursive_majority": [(targets.recursive_majority(d), majorities) for d in (1, 2)],
    "sort4": [(targets.sort4(), lambda x: int(x in (sorted(x), sorted(x, reverse=True))))],
    "hidden_weighted_bit": [
        (targets.hidden_weighted_bit(n), lambda x: x[sum(x) - 1] if any(x) else 0) for n in (1, 4, 8)
    ],
    "selector_parity": [
        (
            targets.selector_parity(w, s, k),
            lambda x, w=w, m=w * s, k=k: sum(x[m : m + k] if tribes(x[:m], w) else x[m + k :]) % 2,
        )
        for w, s, k in ((2, 2, 2), (1, 1, 3), (3, 1, 2))
    ],
    "is_edge": [(targets.is_edge(n, edges), lambda x, edges=edges: edge(x, edges)) for edges, n in GRAPHS],
    "is_edge_marked": [
        (targets.is_edge_marked(n, edges), lambda x, edges=edges: marked(x, edges)) for edges, n in GRAPHS
    ],
}


def test_every_function_of_the_textbook_has_a_slow_definition() -> None:
    found = {
        name
        for name, function in inspect.getmembers(textbook, inspect.isfunction)
        if not name.startswith("_") and get_type_hints(function).get("return") is Textbook
    }
    assert found == set(SLOW)
    assert found <= set(targets.__all__)


CASES = [case for cases in SLOW.values() for case in cases]


@pytest.mark.parametrize(("function", "slow"), CASES, ids=[f"{function.name}-{function.n}" for function, _ in CASES])
def test_it_agrees_with_its_definition_on_every_input(function: Textbook, slow: Slow) -> None:
    rows = cube(function.n)
    assert function(rows).tolist() == [slow(row) for row in rows.tolist()]


@pytest.mark.parametrize("function", [cases[0][0] for cases in SLOW.values()], ids=list(SLOW))
def test_it_takes_any_layout_of_bits_and_leaves_its_batch_alone(function: Textbook) -> None:
    rows = cube(function.n)
    expected = function(rows.copy())
    for batch in (np.asfortranarray(rows), rows.astype(bool), rows.astype(np.int64), rows.tolist()):
        assert np.array_equal(function(batch), expected)
    rows.flags.writeable = False
    assert np.array_equal(function(rows), expected)
    assert function(rows[:0]).shape == (0,)
