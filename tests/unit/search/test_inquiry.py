"""Inputs of one's own choice: over bits they find what matters, elsewhere there are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from driving import driven
from fidelitree.asking.limits import BudgetSpent, go_on
from fidelitree.search import inquiry
from fidelitree.search.inquiry import SHOWN, BitInquiry, FewRounds, Inquiry
from fidelitree.targets.labels import LabelBook


def parity(bits: Any) -> Any:
    return np.where((bits[:, 2] + bits[:, 11]) % 2, "odd", "even")


class Asked:
    """An inquiry with a target, that remembers what it was asked."""

    def __init__(
        self,
        target: Callable[[Any], Any],
        watch: Callable[[], None] = go_on,
        seed: int = 0,
        *,
        kind: type[BitInquiry] = BitInquiry,
        features: int = 20,
    ) -> None:
        self.book, self.target, self.asked, self.rounds = LabelBook(), target, 0, 0
        self.features, space = features, ft.ProductSpace.bernoulli(features)
        self.inquiry = kind(space, self.book, seed, watch)

    def codes(self, bits: Any) -> Any:
        return np.asarray(self.book.encode(np.asarray(self.target(bits))), np.intp)

    def _answer(self, bits: Any) -> Any:
        self.asked += len(bits)
        self.rounds += 1
        return self.codes(bits)

    def learn(self, rows: int, seed: int = 0) -> None:
        bits = drawn(rows, seed, self.features)
        driven(self.inquiry.learn(bits, self.codes(bits)), self._answer)


def drawn(rows: int, seed: int = 0, features: int = 20) -> Any:
    return np.random.default_rng(seed).integers(0, 2, (rows, features)).astype(np.uint8)


def test_elsewhere_nothing_is_chosen() -> None:
    nobody = Inquiry()
    assert driven(nobody.learn(np.zeros((5, 2)), np.zeros(5, np.intp)), pytest.fail) is None
    assert (nobody.tree, nobody.known) == (None, 0)


def test_over_bits_walks_find_what_no_label_tells() -> None:
    asked = Asked(parity, features=60)
    assert (asked.inquiry.tree, asked.inquiry.known) == (None, 0)
    asked.learn(64)
    tree = asked.inquiry.tree
    assert tree is not None
    assert tree.size == 4
    assert {int(one) for one in tree.feature if one >= 0} == {2, 11}
    fresh = drawn(200, seed=1, features=60)
    assert np.array_equal(tree.predict(fresh), parity(fresh))
    assert 0 < asked.asked < 64
    assert asked.inquiry.known == 64 + asked.asked, "what was told, and what it asked itself"


def test_where_it_is_right_there_is_nothing_to_ask() -> None:
    asked = Asked(parity)
    asked.learn(64)
    before = asked.asked, asked.inquiry.tree
    asked.learn(64, seed=2)
    assert asked.asked == before[0]
    assert asked.inquiry.tree is before[1], "trees are values: none is built anew for nothing"


def test_a_label_that_comes_late_has_its_place_in_the_order() -> None:
    asked = Asked(lambda bits: np.where(bits[:, 4], "z", "m"))
    asked.learn(40)
    first = asked.inquiry.tree
    asked.target = lambda bits: np.where(bits[:, 4], np.where(bits[:, 5], "a", "z"), "m")
    fresh = drawn(300, seed=3)
    fresh = fresh[(fresh[:, 4] == 1) & (fresh[:, 5] == 1)]
    driven(asked.inquiry.learn(fresh, asked.codes(fresh)), asked.codes)
    assert asked.book.seen == ["m", "z", "a"]
    assert first is not None
    assert first.labels.tolist() == ["m", "z"], "the tree that was handed out stays as it was"
    tree = asked.inquiry.tree
    assert tree is not None
    assert (tree.predict(fresh) == "a").all()


def test_answers_are_taken_in_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, told = Asked(parity), []
    learn = asked.inquiry._learner.learn

    def spied(bits: Any, codes: Any) -> Any:
        told.append(len(bits))
        return learn(bits, codes)

    monkeypatch.setattr(asked.inquiry._learner, "learn", spied)
    asked.learn(2 * SHOWN + 5)
    assert told == [SHOWN, SHOWN, 5]


def test_the_same_seed_asks_the_same() -> None:
    found: list[list[bytes]] = []
    for seed in (0, 0, 1):
        asked, said = Asked(parity, seed=seed, features=60), list[bytes]()

        def answer(bits: Any, asked: Asked = asked, said: list[bytes] = said) -> Any:
            said.append(bits.tobytes())
            return asked.codes(bits)

        driven(asked.inquiry.learn(bits := drawn(64, features=60), asked.codes(bits)), answer)
        found.append(said)
    assert found[0] == found[1] != found[2]


def test_a_tree_that_only_repeats_what_it_was_told_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    coin = np.random.default_rng(7).integers(0, 2, 1 << 20)
    places = 1 << np.arange(20)
    monkeypatch.setattr(inquiry, "BY_HEART", 150)
    asked = Asked(lambda bits: coin[bits.astype(np.int64) @ places])
    asked.learn(96)
    assert asked.inquiry.known > 96
    asked.learn(400, seed=1)
    assert asked.inquiry.tree is None
    known, before = asked.inquiry.known, asked.asked
    assert known < 496, "it gave up on the way"
    asked.learn(64, seed=2)
    assert (asked.inquiry.known, asked.asked) == (known, before), "and asks nothing from then on"


def test_an_inquiry_that_is_ended_keeps_its_tree() -> None:
    over = [False]

    def watch() -> None:
        if over[0]:
            raise BudgetSpent("max_seconds = 1")

    asked = Asked(lambda bits: (bits[:, :12].sum(axis=1) > 6).astype(int), watch)
    asked.learn(64)
    tree = asked.inquiry.tree
    over[0] = True
    with pytest.raises(BudgetSpent):
        asked.learn(64, seed=1)
    assert asked.inquiry.tree is tree


# --- few rounds


def mixed(bits: Any) -> Any:
    return np.where(bits[:, 2], bits[:, 11] & bits[:, 5], bits[:, 7] | bits[:, 14])


def test_in_few_rounds_nothing_is_asked_while_a_search_sees_all_features() -> None:
    asked = Asked(mixed, kind=FewRounds)
    asked.learn(100)
    asked.learn(300, seed=1)
    assert (asked.asked, asked.inquiry.known) == (0, 400)
    tree = asked.inquiry.tree
    assert tree is not None
    fresh = drawn(400, seed=2)
    assert np.array_equal(tree.predict(fresh), mixed(fresh))


def test_in_few_rounds_all_answers_are_taken_in_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, fits = Asked(mixed, kind=FewRounds), list[int]()
    refit = asked.inquiry._learner.refit

    def spied() -> None:
        fits.append(asked.inquiry.known)
        refit()

    monkeypatch.setattr(asked.inquiry._learner, "refit", spied)
    asked.learn(5 * SHOWN)
    assert fits == [5 * SHOWN]


def test_where_a_search_sees_nothing_walks_do() -> None:
    def far(bits: Any) -> Any:
        return bits[:, :7].sum(axis=1) % 2

    asked = Asked(far, kind=FewRounds)
    for seed in range(4):
        asked.learn(200, seed=seed)
    assert asked.asked > 0
    assert asked.inquiry._learner.relevant
    assert {*asked.inquiry._learner.relevant} <= {*range(7)}


def test_in_wide_spaces_walks_go_side_by_side() -> None:
    usual, few = (Asked(mixed, kind=kind, features=100) for kind in (BitInquiry, FewRounds))
    for one in (usual, few):
        one.learn(96)
        tree = one.inquiry.tree
        assert tree is not None
        assert {2, 11, 5, 7, 14} == {int(feature) for feature in tree.feature if feature >= 0}
    assert 3 * few.rounds < usual.rounds


def test_in_few_rounds_too_the_same_seed_asks_the_same() -> None:
    found: list[list[bytes]] = []
    for seed in (0, 0, 1):
        asked, said = Asked(mixed, seed=seed, kind=FewRounds, features=100), list[bytes]()

        def answer(bits: Any, asked: Asked = asked, said: list[bytes] = said) -> Any:
            said.append(bits.tobytes())
            return asked.codes(bits)

        driven(asked.inquiry.learn(bits := drawn(96, 0, 100), asked.codes(bits)), answer)
        found.append(said)
    assert found[0] == found[1] != found[2]
