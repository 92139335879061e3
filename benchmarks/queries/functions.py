"""Families of functions over bits that are no small complete trees, every one a function of random numbers."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.targets.circuits import Circuit, read_circuit

Bits = NDArray[np.uint8]
Function = Callable[[Bits], NDArray[Any]]
Maker = Callable[[np.random.Generator, int, int], Function]
CIRCUITS = Path(os.environ.get("FIDELITREE_DATA", "../shared/data")) / "circuits"
WIDTHS = (2, 5)  # literals of a term: from, below
CONTENTS = 6  # literals that the data inputs of a selector are taken from, where there are more of those


def _literals(random: np.random.Generator, n: int, count: int) -> tuple[NDArray[np.intp], Bits]:
    """Distinct features, and the value of each that makes its literal true."""
    return random.choice(n, count, replace=False), random.integers(0, 2, count, dtype=np.uint8)


def dnf(random: np.random.Generator, n: int, terms: int) -> Function:
    """An OR of ANDs of two to four literals."""
    chosen = [_literals(random, n, int(random.integers(*WIDTHS))) for _ in range(terms)]
    return lambda bits: np.any([(bits[:, which] == values).all(axis=1) for which, values in chosen], axis=0)


def _list(random: np.random.Generator, n: int, rules: int, width: int) -> Function:
    chosen = [_literals(random, n, width) for _ in range(rules)]
    labels = random.integers(0, 2, rules + 1)
    labels[-1] = 1 - labels[-2]

    def answer(bits: Bits) -> NDArray[Any]:
        fires = [(bits[:, which] == values).all(axis=1) for which, values in chosen]
        return labels[np.argmax([*fires, np.ones(len(bits), bool)], axis=0)]

    return answer


def list_1(random: np.random.Generator, n: int, rules: int) -> Function:
    """The first literal that is true decides."""
    return _list(random, n, rules, 1)


def list_2(random: np.random.Generator, n: int, rules: int) -> Function:
    """The first AND of two literals that is true decides."""
    return _list(random, n, rules, 2)


def canalizing(random: np.random.Generator, n: int, depth: int) -> Function:
    """Nested canalizing: distinct features in a row, each with a value that decides; labels come in layers."""
    which, values = _literals(random, n, depth)
    labels = (np.cumsum(random.random(depth + 1) < 0.5) + random.integers(2)) % 2
    labels[-1] = 1 - labels[-2]
    return lambda bits: labels[np.column_stack([bits[:, which] == values, np.ones(len(bits), bool)]).argmax(axis=1)]


def read_once(random: np.random.Generator, n: int, literals: int) -> Function:
    """A formula of ANDs and ORs, of two or three parts each, in which every literal occurs once."""
    which, values = _literals(random, n, literals)

    def formula(first: int, last: int, either: bool) -> Function:
        if last - first == 1:
            return lambda bits: bits[:, which[first]] == values[first]
        parts = min(int(random.integers(2, 4)), last - first)
        inside = np.sort(random.choice(np.arange(first + 1, last), parts - 1, replace=False)).tolist()
        edges = [first, *inside, last]
        below = [formula(one, two, not either) for one, two in pairwise(edges)]
        join = np.any if either else np.all
        return lambda bits: join([part(bits) for part in below], axis=0)

    return formula(0, literals, bool(random.integers(2)))


def threshold(random: np.random.Generator, n: int, votes: int) -> Function:
    """Whether a weighted vote of some bits is above its middle; weights are 1 to 5."""
    which, values = _literals(random, n, votes)
    weights = random.integers(1, 6, votes)
    return lambda bits: 2 * ((bits[:, which] == values) @ weights) > weights.sum()


def network(random: np.random.Generator, n: int, hidden: int) -> Function:
    """A network with one hidden layer of rectifiers and normal weights."""
    first, second = random.normal(size=(n, hidden)), random.normal(size=hidden)
    rows = 2.0 * random.integers(0, 2, (1_000, n)) - 1
    cut = np.median(np.maximum(rows @ first, 0) @ second)  # about half of the inputs get each label
    return lambda bits: np.maximum((2.0 * bits - 1) @ first, 0) @ second > cut


def unbalanced(random: np.random.Generator, n: int, leaves: int) -> Function:
    """A tree that grew at leaves drawn without regard to their depth."""
    paths: list[tuple[tuple[int, int], ...]] = [()]
    while len(paths) < leaves:
        path = paths.pop(int(random.integers(len(paths))))
        feature = int(random.choice(np.setdiff1d(np.arange(n), [i for i, _ in path])))
        paths += [(*path, (feature, 0)), (*path, (feature, 1))]
    labels = random.integers(0, 2, leaves)

    def answer(bits: Bits) -> NDArray[Any]:
        found = np.empty(len(bits), np.int64)
        for path, label in zip(paths, labels, strict=True):
            found[np.all([bits[:, i] == value for i, value in path], axis=0)] = label
        return found

    return answer


def selector(random: np.random.Generator, n: int, address: int) -> Function:
    """Some bits say which of a few other literals is the label; a literal may be chosen by several addresses."""
    where = random.choice(n, address, replace=False)
    others = np.setdiff1d(np.arange(n), where)
    which, values = _literals(random, len(others), min(CONTENTS, len(others)))
    data = random.integers(0, len(which), 1 << address)

    def answer(bits: Bits) -> NDArray[Any]:
        place = data[bits[:, where].astype(np.intp) @ (1 << np.arange(address))]
        return bits[np.arange(len(bits)), others[which][place]] == values[place]

    return answer


FUNCTIONS: dict[str, Maker] = {
    "DNF": dnf,
    "lists of one literal": list_1,
    "lists of two literals": list_2,
    "read-once": read_once,
    "thresholds": threshold,
    "networks": network,
    "unbalanced trees": unbalanced,
    "selectors": selector,
    "nested canalizing": canalizing,
}


def circuit(path: str, output: int) -> Circuit:
    """An output of a circuit."""
    return read_circuit(CIRCUITS / path, output)
