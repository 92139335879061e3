"""Looking two steps ahead: where no first test explains anything, and no tree of depth two over bits is better."""

from __future__ import annotations

import itertools

import numpy as np

from fidelitree.asking.limits import go_on
from fidelitree.search.local.coded import Coded
from fidelitree.search.local.two_steps import two_steps
from fidelitree.spaces.features import AtMost
from fidelitree.trees.nested import size


def over_bits(bits: np.ndarray, codes: np.ndarray) -> Coded:
    features = len(bits)
    return Coded(bits.astype(np.uint16), [True] * features, [2] * features, codes, np.ones(len(codes)))


def test_no_tree_of_depth_two_over_bits_has_fewer_errors() -> None:
    rng = np.random.default_rng(2)
    for _ in range(5):
        bits = rng.integers(0, 2, (5, 120))
        rows = over_bits(bits, (rng.random(120) < 0.3 + 0.4 * (bits[0] ^ bits[3])).astype(np.intp))
        found = {size(tree): rows.errors(tree) for tree in two_steps(rows, go_on)}
        tests = [AtMost(i, 0) for i in range(5)]
        trees = [
            (a, (b, *labels[:2]), (c, *labels[2:]))
            for a, b, c in itertools.product(tests, repeat=3)
            for labels in itertools.product((0, 1), repeat=4)
        ]
        assert found[4] == min(rows.errors(tree) for tree in trees)
        three = [(a, tree, label) for a in tests for tree in {t[1] for t in trees} for label in (0, 1)]
        three += [(a, tree, label) if not swap else (a, label, tree) for a, tree, label in three for swap in (True,)]
        assert found[3] == min(rows.errors(tree) for tree in three)
