"""Deep trees: balanced targets that a look-ahead of four splits cannot see into, run by run and in sum.

    python -m benchmarks.depth [--seeds 10] [--first 0] [--depths 7,8] [--features 20,60,200] [--labels iid,parity]

Every node of a target asks an independent feature, none twice along a path; its leaves have the labels of coins
(``iid``) or the parity of the path that leads to them (``parity``). Seeds below 1000 are for development; what is
reported is measured from 7000 on.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import fidelitree as ft

EPSILONS = (0.1, 0.05)
MAX_QUERIES = 60_000
FRESH = 20_000  # inputs that show the error of a tree
Bits = NDArray[np.uint8]
LABELS = ("iid", "parity")


class Run(NamedTuple):
    """What came of one call."""

    certified: bool
    queries: int
    leaves: float
    """By those of the target."""
    error: float
    seconds: float
    """Processor time without the target's."""


class BalancedTree:
    """A complete tree over bits that answers batches."""

    def __init__(self, features: int, depth: int, labels: str, seed: int) -> None:
        random = np.random.default_rng([seed, features, depth, LABELS.index(labels)])
        self.depth, self.seconds = depth, 0.0
        self._tests = np.zeros(2**depth - 1, np.intp)
        for node in range(len(self._tests)):
            above = [self._tests[part] for part in _above(node)]
            self._tests[node] = random.choice(np.setdiff1d(np.arange(features), above))
        places = np.arange(2**depth)
        coins = random.integers(0, 2, 2**depth)
        self._labels = coins if labels == "iid" else np.bitwise_count(places).astype(np.intp) % 2

    def __call__(self, bits: Any) -> Any:
        started = time.process_time()
        inputs = np.asarray(bits)
        rows, node = np.arange(len(inputs)), np.zeros(len(inputs), np.intp)
        for _ in range(self.depth):
            node = 2 * node + 1 + (inputs[rows, self._tests[node]] != 0)
        found = self._labels[node - len(self._tests)]
        self.seconds += time.process_time() - started
        return found

    @property
    def leaves(self) -> int:
        """Leaves of the smallest tree of this shape: neighbours with one label are one."""
        level = self._labels.tolist()
        count = len(level)
        while len(level) > 1:
            pairs = list(zip(level[::2], level[1::2], strict=True))
            same = [one if one == two and one is not None else None for one, two in pairs]
            count -= sum(label is not None for label in same)
            level = same
        return count


def _above(node: int) -> Iterator[int]:
    while node:
        node = (node - 1) // 2
        yield node


def measure(target: BalancedTree, features: int, epsilon: float, seed: int) -> Run:
    """One call, and the error of its tree on fresh inputs."""
    space = ft.ProductSpace.bernoulli(features, 0.5)
    target.seconds, started = 0.0, time.process_time()

    def asked(batch: Any) -> Any:
        return target(batch)

    found = ft.distill(asked, space, epsilon=epsilon, seed=seed, max_queries=MAX_QUERIES)
    seconds = time.process_time() - started - target.seconds
    fresh = np.random.default_rng([seed, 1]).integers(0, 2, (FRESH, features), np.uint8)
    error = float(np.mean(np.asarray(found.tree.predict(fresh)) != target(fresh)))
    asked_for = int(found.queries.asked)
    return Run(found.certificate.holds, asked_for, found.tree.size / target.leaves, error, seconds)


def told(runs: list[Run]) -> str:
    """What came of some calls, in one line."""
    held = [one for one in runs if one.certified]
    text = f"{len(held):>3} of {len(runs):<3}"
    if held:
        queries, leaves = [one.queries for one in held], [one.leaves for one in held]
        text += f" {statistics.median(queries):>8,.0f} {max(queries):>8,}"
        text += f" {statistics.median(leaves):>7.2f} {max(leaves):>6.2f} {max(one.error for one in held):>8.3f}"
        text += f" {statistics.median(one.seconds for one in held):>6.1f}"
    return text + f" {max(one.seconds for one in runs):>6.1f}"


def compare(cases: list[tuple[int, int]], labels: list[str], seeds: range, say: Callable[[str], None]) -> None:
    """All cases, those of one depth together in the end."""
    say(f"{'':<31}certified   labels      max  leaves    max    error     own    max")
    totals: dict[int, list[Run]] = {}
    for depth, features in cases:
        for kind in labels:
            for epsilon in EPSILONS:
                made = [measure(BalancedTree(features, depth, kind, seed), features, epsilon, seed) for seed in seeds]
                say(f"depth {depth}, n = {features:<4}{kind:<8}{epsilon:<5}{told(made)}")
                totals.setdefault(depth, []).extend(made)
    for depth, runs in totals.items():
        say(f"{f'depth {depth}, all':<30}{told(runs)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first of the seeds")
    parser.add_argument("--depths", default="7,8")
    parser.add_argument("--features", default="20,60,200")
    parser.add_argument("--labels", default=",".join(LABELS))
    options = parser.parse_args()
    depths, features = (list(map(int, text.split(","))) for text in (options.depths, options.features))
    cases = [(depth, n) for depth in depths for n in features]
    seeds = range(options.first, options.first + options.seeds)
    compare(cases, options.labels.split(","), seeds, lambda text: print(text, flush=True))


if __name__ == "__main__":
    main()
