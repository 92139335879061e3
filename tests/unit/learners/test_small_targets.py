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
