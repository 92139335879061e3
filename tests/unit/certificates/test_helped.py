"""Attempts beside a surrogate: what they count, what they draw, and what their certificates say."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.journal.ledger import TEST, LedgerEntry
from fidelitree.certificates import helped
from fidelitree.certificates.attempts import Attempt, Attempts
from fidelitree.certificates.helped import Adviser, Help, HelpedAttempt, compare, disagreements
from fidelitree.errors import FormatError
from fidelitree.theory.control import Disagreement, Signed, helped_bound
from fidelitree.theory.sequential import FRONTIER, error_bound
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


def attempt(surrogate: Ensemble, waits: int = 0) -> HelpedAttempt:
    return HelpedAttempt(TREE, 0.1, LedgerEntry(FRONTIER, 3, {TEST: waits}), Adviser(surrogate))


BATCH = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]], np.uint8)
LABELS = np.array([1, 1, 1, 0])
"""The tree errs on rows 0, 1 and 3; answering x1, the surrogate differs from it on rows 1 and 2."""


def test_it_counts_where_tree_and_surrogate_do_not_err_together() -> None:
    tested = attempt(answering(1))
    tested.disagreement = Disagreement(0.5)
    assert tested.see(BATCH, LABELS).tolist() == [True, True, False, True]
    assert (tested.errors, tested.samples) == (3, 4)
    assert tested.rate == 0.5 + (2 - 1) / 4
    assert tested.help == Help(answering(1).digest, 0.5, None, 3, 2, 1)
    for _ in range(30):
        tested.see(BATCH, LABELS)
    assert tested.error_bound == helped_bound(Signed(93, 124, 62, 31), Disagreement(0.5), tested.level) < 1
    assert tested.help is not None
    assert tested.help.bound(93, 124, tested.level) == tested.error_bound


def test_inputs_of_an_earlier_run_are_not_counted() -> None:
    tested = attempt(answering(1), waits=1)
    tested.disagreement = Disagreement(0.5)
    tested.see(BATCH, LABELS)
    assert (tested.errors, tested.samples, tested.help) == (2, 3, Help(answering(1).digest, 0.5, None, 3, 1, 1))


def test_what_was_certified_stays_so_with_its_counts() -> None:
    tested = attempt(answering(0))
    tested.disagreement = Disagreement(0.0)
    good, bad = np.zeros((400, 3), np.uint8), np.ones((400, 3), np.uint8)
    tested.see(good, np.zeros(400, np.intp))
    before, told = tested.error_bound, tested.help
    assert tested.certifies(before)
    assert not tested.certifies(before / 2)
    tested.see(bad, np.zeros(400, np.intp))
    assert (tested.error_bound, tested.help, tested.counts) == (before, told, (0, 400))


def test_without_a_disagreement_it_is_an_attempt_like_any_other() -> None:
    tested, plain = attempt(answering(1)), Attempt(TREE, 0.1, LedgerEntry(FRONTIER, 3, {TEST: 0}))
    for one in (tested, plain):
        for _ in range(20):
            one.see(BATCH, LABELS)
        assert one.error_bound == error_bound(60, 80, one.level)
        assert one.certifies(0.99)
    assert tested.help is None
    assert tested.rate == plain.rate == 0.75


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


def test_attempts_that_were_opened_together_share_their_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helped, "_LISTED", 0)
    attempts, adviser = Attempts(0.0, 0.1, part=FRONTIER), Adviser(answering(1))
    trees = [TREE, Tree.constant(SPACE, 0)]
    opened = [attempts.open(tree, made=lambda *told: HelpedAttempt(*told, adviser)) for tree in trees]
    assert [type(one) for one in opened] == [HelpedAttempt] * 2
    looks: list[int] = []
    compare(opened, SPACE, 7, lambda: looks.append(1))
    assert [one.disagreement for one in opened] == disagreements(trees, answering(1), SPACE, (7, 1))
    assert [one.first for one in opened] == [1, 1]
    assert len(looks) == 16


def test_a_surrogate_is_asked_once_about_a_batch() -> None:
    adviser, asked = Adviser(answering(1)), []
    said = adviser.of(BATCH)
    assert adviser.of(BATCH) is said
    other = BATCH.copy()
    asked.append(adviser.of(other))
    assert asked[0] is not said
    assert asked[0].tolist() == said.tolist() == [0, 1, 0, 1]


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
