"""What folders of 0.2.0 tell of a surrogate that shortened their tests, read and drawn again."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.certificates.helped import Help, disagreements
from fidelitree.errors import FormatError
from fidelitree.theory.control import Disagreement
from fidelitree.trees.ensemble import Ensemble
from fidelitree.trees.tree import Tree

SPACE = ft.ProductSpace.bernoulli(3, [0.5, 0.2, 0.1])
TREE = Tree.build(SPACE, [(0, 1, 2), 0, 1], [0, 1])
"""It answers x0."""


def answering(feature: int, features: int = 3) -> Ensemble:
    """A surrogate that answers a bit."""
    bit = np.array([0, 1])
    one = np.array([[feature]])
    return Ensemble(
        (0, 1), (False,) * features, (bit,) * features, one, np.zeros((1, 1), np.uint8), np.array([[-1, 1]])
    )


def test_where_inputs_can_be_listed_the_disagreement_is_exact() -> None:
    (found,) = disagreements([TREE], answering(1), SPACE, (0, 1))
    assert found == Disagreement(pytest.approx(0.5))
    assert disagreements([TREE], answering(0), SPACE, (0, 1)) == [Disagreement(0.0)]


def test_else_it_is_drawn_the_same_again() -> None:
    space = ft.ProductSpace.bernoulli(20, [0.3, 0.2, *[0.5] * 18])
    tree, model = Tree.build(space, [(0, 1, 2), 0, 1], [0, 1]), answering(1, 20)
    found, again, later = (disagreements([tree], model, space, (5, first))[0] for first in (1, 1, 10))
    assert found == again != later
    assert found.draws == 16 << 13
    assert found.differs == pytest.approx(0.3 * 0.8 + 0.7 * 0.2, abs=0.01)
    many = replace(
        model, **{name: np.repeat(getattr(model, name), 3_000, 0) for name in ("features", "cuts", "values")}
    )
    assert disagreements([tree], many, space, (5, 1))[0].draws == 4 << 13


def test_a_strangers_help_is_checked() -> None:
    good = asdict(Help("digest", 0.5, 100, 1, 2, 1))
    assert Help.from_dict(good, 3, 4) == Help("digest", 0.5, 100, 1, 2, 1)
    for change, told in (
        ({"more": 4}, "do not fit"),
        ({"fewer": 2}, "do not fit"),
        ({"more": -1}, "do not fit"),
        ({"differs": 1.5}, "do not fit"),
        ({"draws": 0}, "do not fit"),
        ({"first": 0}, "do not fit"),
        ({"draws": True}, "draws of help"),
        ({"digest": 3}, "digest of help"),
        ({"other": 3}, "help must hold"),
    ):
        with pytest.raises(FormatError, match=told):
            Help.from_dict({**good, **change}, 3, 4)
    with pytest.raises(FormatError, match="help must hold"):
        Help.from_dict([], 3, 4)
