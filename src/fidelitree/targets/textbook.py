"""Functions of the textbooks, on bits x[0] to x[n-1]; labels are 0 and 1."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fidelitree.errors import ParameterError, check_count
from fidelitree.spaces.inputs import as_bits

Bits = NDArray[np.uint8]
MOST_POWER = 20


@dataclass(frozen=True)
class Textbook:
    """A named function of ``n`` bits.

    >>> f = multiplexer(2)
    >>> f, f(np.array([[1, 0, 0, 0, 1, 0]])).tolist()
    (<multiplexer_2 of 6 bits>, [1])
    """

    name: str
    n: int
    function: Callable[[Bits], ArrayLike]

    def __call__(self, batch: Any) -> NDArray[np.uint8]:
        bits = as_bits(batch, tuple(f"x{i}" for i in range(self.n)))
        return np.asarray(self.function(bits)).astype(np.uint8)

    def __repr__(self) -> str:
        return f"<{self.name} of {self.n} bits>"


def parity(n: int, relevant: int | None = None) -> Textbook:
    """Sum modulo 2 of the first ``relevant`` bits (all, when not given)."""
    n = check_count("n", n)
    k = n if relevant is None else check_count("relevant", relevant)
    if k > n:
        raise ParameterError(f"relevant must be at most n = {n}; got {k}")
    return Textbook(f"parity_{k}" + ("" if k == n else f"_of_{n}"), n, lambda x: _sum(x[:, :k]) % 2)


def majority(n: int) -> Textbook:
    """1 iff more than half of the bits are 1."""
    return Textbook(f"majority_{check_count('n', n)}", n, lambda x: 2 * _sum(x) > n)


def threshold(n: int, k: int) -> Textbook:
    """1 iff at least ``k`` bits are 1."""
    return Textbook(f"threshold_{check_count('n', n)}_{check_count('k', k, least=0)}", n, lambda x: _sum(x) >= k)


def exactly(n: int, k: int) -> Textbook:
    """1 iff exactly ``k`` bits are 1."""
    return Textbook(f"exactly_{check_count('n', n)}_{check_count('k', k, least=0)}", n, lambda x: _sum(x) == k)


def mod(n: int, k: int, residue: int = 0) -> Textbook:
    """1 iff the number of ones leaves ``residue`` when divided by ``k``."""
    check_count("k", k)
    return Textbook(f"mod_{check_count('n', n)}_{k}_{residue}", n, lambda x: _sum(x) % k == residue)


def multiplexer(k: int) -> Textbook:
    """``k`` address bits, most significant first, choose one of the 2^k data bits that follow."""
    k = check_count("k", k)
    data = _power(2, "k", k)

    def answer(x: Bits) -> ArrayLike:
        address = _sum(x[:, :k] * (1 << np.arange(k)[::-1]))
        return x[np.arange(len(x)), k + address]

    return Textbook(f"multiplexer_{k}", k + data, answer)


def tribes(width: int, count: int) -> Textbook:
    """OR of ``count`` disjoint ANDs of ``width`` consecutive bits."""
    n = check_count("width", width) * check_count("count", count)
    return Textbook(f"tribes_{width}x{count}", n, lambda x: x.reshape(-1, count, width).min(axis=2).max(axis=1))


def nand_tree(depth: int) -> Textbook:
    """Complete tree of NANDs over 2^depth bits."""
    n = _power(2, "depth", depth)

    def answer(x: Bits) -> ArrayLike:
        for _ in range(depth):
            x = 1 - np.minimum(x[:, ::2], x[:, 1::2])
        return x[:, 0]

    return Textbook(f"nand_tree_{depth}", n, answer)


def recursive_majority(depth: int) -> Textbook:
    """Majority of three, of majorities of three, ... over 3^depth bits."""
    n = _power(3, "depth", depth)

    def answer(x: Bits) -> ArrayLike:
        for _ in range(depth):
            x = (x.reshape(len(x), x.shape[1] // 3, 3).sum(axis=2) >= 2).astype(np.uint8)
        return x[:, 0]

    return Textbook(f"recursive_majority_{depth}", n, answer)


def sort4() -> Textbook:
    """1 iff the four bits are sorted, up or down (Ambainis)."""
    return Textbook("sort4", 4, lambda x: (np.diff(x.astype(np.int8)) != 0).sum(axis=1) <= 1)


def hidden_weighted_bit(n: int) -> Textbook:
    """0 if no bit is 1, else bit number s - 1, where s is the number of ones."""

    def answer(x: Bits) -> ArrayLike:
        ones = _sum(x)
        return np.where(ones > 0, x[np.arange(len(x)), np.maximum(ones, 1) - 1], 0)

    return Textbook(f"hidden_weighted_bit_{check_count('n', n)}", n, answer)


def selector_parity(width: int, count: int, k: int) -> Textbook:
    """Tribes of the first bits chooses between the parities of two groups of ``k`` bits (its value 1: the first)."""
    selector = tribes(width, count)
    m = selector.n

    def answer(x: Bits) -> ArrayLike:
        one, two = _sum(x[:, m : m + k]) % 2, _sum(x[:, m + k :]) % 2
        return np.where(selector(x[:, :m]), one, two)

    return Textbook(f"selector_parity_{width}x{count}_k{check_count('k', k)}", m + 2 * k, answer)


def is_edge(vertices: int, edges: Iterable[tuple[int, int]]) -> Textbook:
    """1 iff the bits indicate exactly two vertices, joined by an edge (after Koch, Strassle, Tan, FOCS 2023)."""
    joined = _adjacency(vertices, edges)

    def answer(x: Bits) -> ArrayLike:
        return np.asarray((_sum(x) == 2) & ((x @ joined) * x).any(axis=1))

    return Textbook(f"is_edge_{vertices}", vertices, answer)


def is_edge_marked(vertices: int, edges: Iterable[tuple[int, int]]) -> Textbook:
    """Bits v, then bits w: 1 iff v indicates an edge (i, j) and w[i] = w[j] = 1."""
    plain = is_edge(vertices, edges)

    def answer(x: Bits) -> ArrayLike:
        v, w = x[:, :vertices], x[:, vertices:]
        return np.asarray((plain(v) == 1) & (_sum(v & w) == 2))

    return Textbook(f"is_edge_marked_{vertices}", 2 * vertices, answer)


def star(vertices: int) -> list[tuple[int, int]]:
    """Edges from vertex 0 to all others."""
    return [(0, i) for i in range(1, vertices)]


def cycle(vertices: int) -> list[tuple[int, int]]:
    """Edges from i to i + 1, and back to 0."""
    return [(i, (i + 1) % vertices) for i in range(vertices)]


def complete(vertices: int) -> list[tuple[int, int]]:
    """All edges."""
    return [(i, j) for i in range(vertices) for j in range(i)]


def _power(base: int, name: str, exponent: int) -> int:
    """As many bits as the power says, which may be a number that no memory holds."""
    if check_count(name, exponent) > MOST_POWER:
        raise ParameterError(f"{name} must be at most {MOST_POWER}: there are {base}^{name} bits; got {exponent}")
    return int(base**exponent)


def _sum(x: NDArray[Any]) -> NDArray[np.int64]:
    return x.sum(axis=1, dtype=np.int64)  # type: ignore[no-any-return]


def _adjacency(vertices: int, edges: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
    joined = np.zeros((check_count("vertices", vertices),) * 2, np.int64)
    for i, j in edges:
        if not (0 <= i < vertices and 0 <= j < vertices and i != j):
            raise ParameterError(f"edges must join two different vertices below {vertices}; got {(i, j)}")
        joined[i, j] = joined[j, i] = 1
    return joined
