"""Queries of `distill` beside those of `learners.halving`, on trees of depth at most 3, sampled from all of them.

python -m benchmarks.halving --trees 20

Halving asks what splits the trees that are still possible most evenly: few learners can do with less. Both end with a
certificate at the same epsilon, and all of their labels are counted.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import fidelitree as ft
from fidelitree.spaces.features import IsOne
from fidelitree.trees.nested import build, simplest

EPSILON, BAR = 0.1, 1.5
FEATURES = (8, 10, 12)


def count(depth: int, free: int) -> int:
    """Trees of at most a depth with two labels, no feature twice on a path."""
    return 2 + free * count(depth - 1, free - 1) ** 2 if depth and free else 2


def sampled(space: ft.ProductSpace, rng: np.random.Generator) -> ft.Tree:
    """One of all trees of depth at most 3, each as likely as any other."""

    def grown(depth: int, free: list[int]) -> Any:
        if not depth or rng.random() * count(depth, len(free)) < 2:
            return int(rng.integers(2))
        feature = int(rng.choice(free))
        below = [i for i in free if i != feature]
        return IsOne(feature), grown(depth - 1, below), grown(depth - 1, below)

    return build(space, simplest(grown(3, list(range(len(space))))), [0, 1])


def row(n: int, seeds: range) -> tuple[list[int], list[int]]:
    """Labels asked by both, tree by tree."""
    space, ours, theirs = ft.ProductSpace.bernoulli(n), [], []
    for seed in seeds:
        target = sampled(space, np.random.default_rng([n, seed])).predict  # a black box
        for learn, labels in ((ft.distill, ours), (ft.learners.halving, theirs)):
            result = learn(target, space, EPSILON, seed=seed)
            assert result.certificate.holds, (n, seed, learn)
            labels.append(int(result.queries.asked))
    return ours, theirs


def main() -> None:
    """Print a line for each number of features."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=20, help="sampled for each number of features")
    parser.add_argument("--first", type=int, default=0, help="seed of the first tree")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.trees)
    print(f"{'features':<10}{'distill':>9}{'halving':>9}{'ratio':>7}  labels in the mean, certificate included")
    ratios = []
    for n in FEATURES:
        ours, theirs = (np.mean(labels) for labels in row(n, seeds))
        ratios.append(ours / theirs)
        print(f"{n:<10}{ours:>9.1f}{theirs:>9.1f}{ratios[-1]:>7.2f}", flush=True)
    print(f"distill asks at most {BAR} times as many: {'yes' if max(ratios) <= BAR else 'NO'}")


if __name__ == "__main__":
    main()
