"""Trees beside the learner's own: what cross-validation says of them, and what a short search makes of a tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fidelitree.search.bits.rivals import ANSWERS, Rivals
from fidelitree.search.bits.sketch import predict
from fidelitree.spaces.features import IsOne
from fidelitree.trees.nested import Nested, size

RANDOM = np.random.default_rng(3)
BITS = RANDOM.integers(0, 2, (400, 6), dtype=np.uint8)
EXACT: Nested = (IsOne(1), 0, (IsOne(4), 0, 1))


def rivals(codes: np.ndarray, features: tuple[int, ...] = tuple(range(6)), weights: np.ndarray | None = None) -> Rivals:
    return Rivals(BITS, codes.astype(np.intp), np.ones(len(codes)) if weights is None else weights, features)


def test_share_falls_to_nothing_at_the_size_that_suffices_and_stays_there() -> None:
    shares = dict(rivals(BITS[:, 1] & BITS[:, 4]).shares())
    assert shares[2] == pytest.approx(0.25, abs=0.08)
    assert all(share < 0.01 for leaves, share in shares.items() if leaves >= 3)
    assert max(shares) <= len(BITS) // ANSWERS


def test_sizes_that_are_not_looked_at_change_nothing_about_the_others() -> None:
    some = rivals(BITS[:, 1] & BITS[:, 4] | BITS[:, 0] & BITS[:, 2])
    assert some.shares(lambda leaves, share: leaves >= 9) == [one for one in some.shares() if one[0] < 9] != []
    assert some.shares(lambda leaves, share: True) == []


def test_answers_that_nobody_can_learn_are_not_flattered_by_large_trees() -> None:
    shares = dict(rivals(RANDOM.integers(0, 2, 400)).shares())
    assert min(shares.values()) > 0.4


def test_weights_count() -> None:
    codes = BITS[:, 1] & BITS[:, 4]
    heavy = np.where(codes == 1, 10.0, 1.0)
    assert dict(rivals(codes, weights=heavy).shares())[2] < 0.16 < dict(rivals(codes).shares())[2]


def test_search_undoes_what_does_not_pay() -> None:
    codes = BITS[:, 1] & BITS[:, 4]
    larger: Nested = (IsOne(0), EXACT, (IsOne(4), 0, (IsOne(1), 0, 1)))
    found = rivals(codes).cheapest(larger, 1.0)
    assert size(found) == 3
    assert np.array_equal(predict(found, BITS), codes)


def test_single_errors_are_not_worth_a_leaf() -> None:
    codes = BITS[:, 1].astype(np.intp)
    codes[7] = 1 - codes[7]
    assert rivals(codes).cheapest(0, 1.0) == (IsOne(1), 0, 1)


def test_only_the_features_given_are_tested() -> None:
    found = rivals(BITS[:, 1] & BITS[:, 4], features=(0, 4)).with_leaves(4)
    assert _tested(found) <= {0, 4}
    elsewhere: Nested = (IsOne(3), 0, EXACT)
    assert _tested(rivals(BITS[:, 4], features=(0, 4)).cheapest(elsewhere, 1.0)) == {4}


def test_with_leaves_is_the_best_of_its_size() -> None:
    assert rivals(BITS[:, 1] & BITS[:, 4]).with_leaves(3) in (EXACT, (IsOne(4), 0, (IsOne(1), 0, 1)))
    assert size(rivals(BITS[:, 1] ^ BITS[:, 4]).with_leaves(2)) <= 2


def test_the_same_answers_give_the_same_tree() -> None:
    codes = (BITS.sum(axis=1) > 3).astype(np.intp)
    assert rivals(codes).cheapest(0, 1.0) == rivals(codes).cheapest(0, 1.0)


def _tested(nested: Nested) -> set[int]:
    if not isinstance(nested, tuple):
        return set()
    return {nested[0].feature} | _tested(nested[1]) | _tested(nested[2])


def test_what_is_known_counts_by_how_it_was_learnt() -> None:
    """Of a space that is known but for a tenth, held-out answers speak for that tenth only."""
    codes = RANDOM.integers(0, 2, len(BITS)).astype(np.intp)
    new = dict(rivals(codes).shares())
    mixed = dict(replace(rivals(codes), unknown=0.1).shares())
    learnt = dict(replace(rivals(codes), unknown=0.0).shares())
    most = max(new)
    assert learnt[most] < mixed[most] < new[most]
    assert learnt[most] < 0.4 < new[most]
    assert mixed[most] == pytest.approx(0.9 * learnt[most] + 0.1 * new[most], abs=0.01)
