"""Growing, polishing and pruning: figures are those of the tree, no pruning is better, no polish makes worse."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from fidelitree.asking.limits import go_on
from fidelitree.search.local import moves
from fidelitree.search.local.by_leaves import RowPrunings
from fidelitree.search.local.coded import Coded, Grouped
from fidelitree.search.local.grown import words_of
from fidelitree.search.local.node import Grower, Leaf, Node, cart, inner, leaf, nested, replace
from fidelitree.search.local.polish import Polisher
from fidelitree.search.local.splits import IMPURITIES, Impurity, Splits, gini
from fidelitree.spaces.features import AtMost
from fidelitree.trees.nested import Nested, size
from labelled import asked, coded_rows, multiplexer, random_nested

prices = st.sampled_from([0.1, 0.5, 1.0, 3.0])


def grown(coded: Coded, price: float, impurity: Impurity = gini) -> Node:
    splits = Splits(Grouped(coded))
    rows = splits.grouped.all_rows
    return Grower(splits, price, impurity).grow(rows, splits.grouped.counts(rows))


def agrees(node: Node, coded: Coded) -> None:
    assert node.leaves == size(nested(node))
    assert node.errors == pytest.approx(coded.errors(nested(node)))


@given(coded_rows(), prices, st.sampled_from(IMPURITIES))
def test_a_grown_tree_has_the_errors_it_says_and_pays(coded: Coded, price: float, impurity: Impurity) -> None:
    node = grown(coded, price, impurity)
    agrees(node, coded)
    alone = leaf(node.rows, node.counts)
    assert node.errors + price * node.leaves <= alone.errors + price


def test_growth_with_a_tiny_price_leaves_no_error() -> None:
    coded = multiplexer(500, 1)
    assert grown(coded, 1e-6).errors == 0


def test_values_peeled_off_one_by_one_do_not_exhaust_the_stack() -> None:
    rows = Coded(np.arange(900, dtype=np.uint16)[None], [True], [900], np.arange(900) % 2, np.ones(900))
    node = grown(rows, 1e-6)
    agrees(node, rows)
    assert node.leaves > 100


@given(coded_rows())
def test_best_first_ends_pure_or_with_as_many_leaves_as_allowed(coded: Coded) -> None:
    splits = Splits(Grouped(coded))
    whole = cart(splits, 1000, gini)
    agrees(whole, coded)
    clashes = {tuple(line): set() for line in coded.bins.T.tolist()}  # type: dict[tuple[int, ...], set[int]]
    for line, code in zip(coded.bins.T.tolist(), coded.codes.tolist(), strict=True):
        clashes[tuple(line)].add(code)
    if all(len(codes) == 1 for codes in clashes.values()):
        assert whole.errors == 0
    for most in range(1, whole.leaves):
        assert cart(splits, most, gini).leaves == most


def all_prunings(tree: Nested, coded: Coded, rows: np.ndarray) -> dict[int, float]:
    counts = np.bincount(coded.codes[rows], coded.weights[rows], coded.classes)
    found = {1: float(counts.sum() - counts.max())}
    if isinstance(tree, tuple):
        yes = coded.says_yes(tree[0], rows)
        sides = all_prunings(tree[1], coded, rows[~yes]), all_prunings(tree[2], coded, rows[yes])
        for (k, one), (m, two) in itertools.product(*(side.items() for side in sides)):
            found[k + m] = min(found.get(k + m, np.inf), one + two)
    return found


@given(coded_rows())
def test_no_pruning_is_better(coded: Coded) -> None:
    node = cart(Splits(Grouped(coded)), 8, gini)
    prunings = RowPrunings(moves.grown(node, words_of(coded.sizes)), moves.engine(coded, None, go_on))
    best = all_prunings(nested(node), coded, node.rows)
    assert prunings.errors.tolist() == pytest.approx([best[leaves] for leaves in range(1, node.leaves + 1)])
    for leaves in range(1, node.leaves + 1):
        assert size(prunings.with_leaves(leaves)) == leaves
        assert coded.errors(prunings.with_leaves(leaves)) == pytest.approx(best[leaves])


@given(coded_rows(), st.integers(0, 1000), prices)
def test_polish_never_costs_more(coded: Coded, seed: int, price: float) -> None:
    polisher = Polisher(Grouped(coded), price)
    tree = random_nested(coded, seed, 4)
    fitted = polisher.fit(tree)
    agrees(fitted, coded)
    assert polisher.cost(fitted) <= coded.errors(tree) + price * size(tree) + 1e-9
    polished = polisher.polish(fitted)
    agrees(polished, coded)
    assert polisher.cost(polished) <= polisher.cost(fitted) + 1e-9


@given(coded_rows(), st.integers(0, 1000))
def test_a_single_test_is_polished_to_the_best_there_is(coded: Coded, seed: int) -> None:
    """With two fixed answers the best test is known by brute force."""
    polisher = Polisher(Grouped(coded), 1e-6)
    node = polisher.fit(random_nested(coded, seed, 1))
    if isinstance(node, Leaf):
        return
    answers = nested(node.no), nested(node.yes)
    best = min(coded.errors((asked(*test), *answers)) for test in reference.binned_tests(coded.ordered, coded.sizes))
    assert polisher.polish(node).errors <= best + 1e-9


def test_a_test_that_decides_nothing_is_dropped() -> None:
    coded = multiplexer(300, 2)
    polisher = Polisher(Grouped(coded), 1e-6)
    same: Nested = (AtMost(1, 3), 1, 0)
    assert polisher.fit((AtMost(4, 20), same, same)).leaves == 4
    assert polisher.polish(polisher.fit((AtMost(4, 20), same, same))).leaves < 4


def test_inner_nodes_are_numbered_and_replaced_in_place() -> None:
    coded = multiplexer(500, 3)
    tree = grown(coded, 2.0)
    seen = set()
    for number in range(tree.leaves - 1):
        path, node = inner(tree, number)
        seen.add(tuple(path))
        assert nested(replace(tree, path, node)) == nested(tree)
        smaller = replace(tree, path, leaf(node.rows, node.counts))
        assert smaller.leaves == tree.leaves - node.leaves + 1
        agrees(smaller, coded)
    assert len(seen) == tree.leaves - 1
