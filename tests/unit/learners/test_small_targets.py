"""The younger learners on targets that are known by heart; tests/contract has what all learners must do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree import learners

SPACE = ft.ProductSpace.bernoulli(8)
ALL = (np.arange(256)[:, None] >> np.arange(8) & 1).astype(np.uint8)


def both(bits: Any) -> Any:
    """Two of eight bits matter."""
    return bits[:, 2] & bits[:, 5]


@pytest.mark.parametrize(
    "learn",
    [learners.blanc_gupta_lange_tan, learners.bshouty_haddad_zaknoon, learners.disagreement, learners.halving],
    ids=lambda learn: learn.__name__,
)
def test_two_bits_are_found_as_a_tree(learn: Any) -> None:
    found = learn(both, SPACE, 0.1)
    assert found.certificate.holds
    assert (found.tree.predict(ALL) != both(ALL)).mean() <= found.certificate.error_bound <= 0.1
    assert found.tree.size <= 8


@pytest.mark.parametrize(
    "learn",
    [learners.kushilevitz_mansour, learners.gopalan_kalai_klivans, learners.odonnell_servedio],
    ids=lambda learn: learn.__name__,
)
@pytest.mark.parametrize("target", [both, lambda bits: bits[:, 0]], ids=["two bits", "one bit"])
def test_few_bits_are_found_as_a_function(learn: Any, target: Any) -> None:
    found = learn(target, SPACE, 0.1)
    assert found.certificate.holds
    assert (np.asarray(found.predict(ALL)) != target(ALL)).mean() <= found.certificate.error_bound <= 0.1


# --- more inputs than may be asked: learners choose their questions, or draw


WIDE = ft.ProductSpace.bernoulli(14)
DRAWN = WIDE.draw(2000, seed=5)
ASKING = pytest.mark.parametrize(
    "learn", [learners.bshouty_haddad_zaknoon, learners.disagreement], ids=lambda learn: learn.__name__
)


def three(bits: Any) -> Any:
    """A tree of depth 2 and four leaves over three of the bits."""
    return np.where(bits[:, 3], bits[:, 7], 1 - bits[:, 11])


@ASKING
def test_questions_of_their_own_find_a_tree_exactly(learn: Any) -> None:
    found = learn(three, WIDE, 0.1)
    assert found.certificate.holds
    assert (found.tree.size, found.tree.depth) == (4, 2)
    assert (found.tree.predict(DRAWN) == three(DRAWN)).all()
    assert found.queries.asked["grow" if learn is learners.bshouty_haddad_zaknoon else "label"] < 200


@pytest.mark.parametrize(
    "learn", [learners.blanc_gupta_lange_tan, learners.blanc_lange_qiao_tan], ids=lambda learn: learn.__name__
)
def test_sampled_influences_and_stabilities_find_it_too(learn: Any) -> None:
    found = learn(three, WIDE, 0.1)
    assert found.certificate.holds
    assert (found.tree.predict(DRAWN) == three(DRAWN)).all()
    assert found.tree.size == (6 if learn is learners.blanc_gupta_lange_tan else 4), "stabilities are estimates"


def test_noise_stability_says_what_was_not_enough() -> None:
    parity = ft.targets.parity(14, 5)
    few = learners.blanc_gupta_lange_tan(parity, WIDE, 0.1, max_leaves=2, pairs=64)
    assert not few.certificate.holds
    assert few.reason == "2 leaves were not enough"
    with pytest.raises(ft.ParameterError) as caught:
        learners.blanc_gupta_lange_tan(parity, WIDE, 0.1, noise=1.5)
    assert str(caught.value) == "noise must be at least 0 and at most 1; got 1.5"


def test_the_search_over_influential_features_takes_a_size_and_tells_a_depth_that_is_too_small() -> None:
    sized = learners.blanc_lange_qiao_tan(three, WIDE, 0.1, size=4)
    assert sized.certificate.holds
    assert sized.tree.size == 4
    shallow = learners.blanc_lange_qiao_tan(ft.targets.parity(14, 5), WIDE, 0.1, depth=2, max_queries=9_000)
    assert not shallow.certificate.holds


def test_a_target_deeper_than_told_is_not_certified_and_the_reason_is_given() -> None:
    target = ft.targets.parity(14, 4)
    few = learners.bshouty_haddad_zaknoon(target, WIDE, 0.1, depth=1)
    assert not few.certificate.holds
    assert few.reason.startswith("no tree of depth 1 fits")
    narrow = learners.disagreement(target, WIDE, 0.1, depth=2)
    assert not narrow.certificate.holds
    assert narrow.reason == "trees of depth 2 that fit do not stand the test"
    stump = learners.disagreement(lambda bits: bits[:, 0] + bits[:, 1], WIDE, 0.1, depth=1)  # a third label
    assert not stump.certificate.holds
    assert stump.reason == "trees of depth 1 that fit do not stand the test"


def test_a_constant_that_almost_fits_is_replaced_by_a_deep_tree() -> None:
    """An AND of five fair bits is 0 on 31 of 32 inputs."""

    def target(bits: Any) -> Any:
        return bits[:, :5].all(axis=1).astype(int)

    found = learners.bshouty_haddad_zaknoon(target, WIDE, 0.02)
    assert found.certificate.holds
    assert found.tree.depth == 5
    assert (found.tree.predict(DRAWN) == target(DRAWN)).all()


@ASKING
def test_a_budget_ends_them_with_what_they_know(learn: Any) -> None:
    found = learn(ft.targets.parity(14, 3), WIDE, 0.1, max_queries=60)
    assert not found.certificate.holds
    assert found.reason == "max_queries = 60"
    assert found.queries.asked <= 60
