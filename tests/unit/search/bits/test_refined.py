"""What a short search makes of a look-ahead's tree."""

from __future__ import annotations

import numpy as np

from fidelitree.search.bits.refined import BitRefiner
from fidelitree.search.bits.sketch import predict
from fidelitree.spaces.features import IsOne
from fidelitree.trees import nested
from fidelitree.trees.nested import Nested, size

RANDOM = np.random.default_rng(3)
BITS = RANDOM.integers(0, 2, (400, 6), dtype=np.uint8)
EXACT: Nested = (IsOne(1), 0, (IsOne(4), 0, 1))


def refiner(codes: np.ndarray, features: tuple[int, ...] = tuple(range(6))) -> BitRefiner:
    return BitRefiner(BITS, codes.astype(np.intp), features)


def test_search_undoes_what_does_not_pay() -> None:
    codes = BITS[:, 1] & BITS[:, 4]
    larger: Nested = (IsOne(0), EXACT, (IsOne(4), 0, (IsOne(1), 0, 1)))
    found = refiner(codes).cheapest(larger, 1.0)
    assert size(found) == 3
    assert np.array_equal(predict(found, BITS), codes)


def test_single_errors_are_not_worth_a_leaf() -> None:
    codes = BITS[:, 1].astype(np.intp)
    codes[7] = 1 - codes[7]
    assert refiner(codes).cheapest(0, 1.0) == (IsOne(1), 0, 1)


def test_only_the_features_given_are_tested() -> None:
    elsewhere: Nested = (IsOne(3), 0, EXACT)
    assert set(nested.tested(refiner(BITS[:, 4], features=(0, 4)).cheapest(elsewhere, 1.0))) == {4}


def test_the_same_answers_give_the_same_tree() -> None:
    codes = (BITS.sum(axis=1) > 3).astype(np.intp)
    assert refiner(codes).cheapest(0, 1.0) == refiner(codes).cheapest(0, 1.0)
