"""Searches for trees whose leaves may defer: what a leaf costs, and how the price follows the errors."""

import itertools

import numpy as np
import pytest

from fidelitree.asking.limits import go_on
from fidelitree.search.local import deferred
from fidelitree.search.local.coded import Coded
from fidelitree.spaces.features import AtMost

DEFERS = 2


def coded(rows=4_000, noise=0.4, seed=0):
    """A bit that tells the label, but where another one is set: there the label is a coin with this bias."""
    random = np.random.default_rng(seed)
    bins = random.integers(0, 2, (6, rows)).astype(np.uint16)
    coin = random.random(rows) < noise
    codes = np.where(bins[0] == 1, bins[1] ^ coin, bins[1]).astype(np.intp)
    return Coded(bins, [True] * 6, [2] * 6, codes, np.ones(rows))


def found(rows, epsilon, sizes=(2, 3, 5, 8)):
    for search in deferred.searches(rows, DEFERS, epsilon, sizes, 0, go_on):
        deferred.improve(search, sizes, 20)
        yield search


def test_a_leaf_costs_its_errors_or_its_price():
    rows = coded()
    both = deferred.with_deferring(rows, deferred.spread(rows, go_on), 0.2, DEFERS)
    tree = (AtMost(0, 0), DEFERS, (AtMost(1, 0), 1, 0))  # defers where the coin is
    wrong = both.errors(tree) - (1 - 0.2) * rows.total
    assert wrong == pytest.approx(0.2 * np.count_nonzero(rows.bins[0]), abs=20)


def test_trees_answer_where_they_are_right_and_defer_the_coin():
    rows = coded()
    for search in found(rows, 0.05):  # at .09, .16 and .28 a coin is not worth its errors
        given = rows.predict(search.with_leaves(3).tree)
        assert (given[rows.bins[0] == 1] == DEFERS).all()
        assert (given[rows.bins[0] == 0] == rows.codes[rows.bins[0] == 0]).all()


def prices(rows, epsilon, monkeypatch):
    seen, original = [], deferred.with_deferring
    monkeypatch.setattr(
        deferred, "with_deferring", lambda a, b, price, d: seen.append(price) or original(a, b, price, d)
    )
    list(found(rows, epsilon))
    return seen


@pytest.mark.parametrize(
    ("epsilon", "least", "most"), [(0.3, 0.3, 0.5), (0.6, 0.6, 0.6), (0.001, 0.001, 0.5), (0, 0.001, 0.5)]
)
def test_prices_are_spread_between_epsilon_and_what_no_leaf_defers_at(monkeypatch, epsilon, least, most):
    found = [least, *prices(coded(1_000), epsilon, monkeypatch), most]
    assert len(found) == deferred.PRICES + 2
    ratios = [high / low for low, high in itertools.pairwise(found)]
    assert ratios == pytest.approx([ratios[0]] * len(ratios))


def test_one_label_is_no_reason_to_defer():
    rows = coded(1_000)
    same = Coded(rows.bins, rows.ordered, rows.sizes, np.zeros_like(rows.codes), rows.weights)
    for search in deferred.searches(same, 1, 0.05, (2, 3), 0, go_on):
        assert search.with_leaves(3).tree == 0


def test_the_next_search_knows_the_trees_of_the_last_one(monkeypatch):
    known, original = [], deferred.Refiner.know
    monkeypatch.setattr(deferred.Refiner, "know", lambda self, tree: known.append(tree) or original(self, tree))
    last: list[object] = []
    for search in deferred.searches(coded(), DEFERS, 0.05, (3, 5), 0, go_on):
        assert known == last
        known.clear()
        last = [search.with_leaves(size).tree for size in (3, 5)]
