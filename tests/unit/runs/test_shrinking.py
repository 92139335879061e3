"""From a certified tree to smaller ones that answers vouch for."""

from __future__ import annotations

import fidelitree as ft
from fidelitree.asking.counted import Counted
from fidelitree.asking.memory import Memory
from fidelitree.certificates.attempts import Attempts
from fidelitree.runs import shrinking
from fidelitree.runs.input_source import source_of
from fidelitree.runs.outcome import Outcome
from fidelitree.runs.session import Session
from fidelitree.spaces.features import AtMost, IsIn, IsOne


def test_the_tree_with_the_fewest_errors_stands_for_the_target() -> None:
    """Two certified trees: the first has errors that leave no room for smaller ones, the second has none."""
    space = ft.ProductSpace.bernoulli(20)
    target = ft.targets.balanced(space, 4, seed=1)
    nodes = [
        (int(feature), int(no), int(yes)) if feature >= 0 else int(code)
        for feature, no, yes, code in zip(target.feature, target.no, target.yes, target.code, strict=True)
    ]
    last = next(node for node in range(len(nodes) - 1, -1, -1) if target.feature[node] < 0)
    nodes[last] = 1 - int(target.code[last])
    wrong = ft.Tree.build(space, nodes, target.labels)
    assert ft.tree_error(wrong, target, space) == 1 / 16
    counted, source, attempts = Counted(target.predict, space, Memory()), source_of(space, 0), Attempts(0.1, 0.05)
    run = Session(counted, source, attempts)
    for tree in (wrong, target):
        attempts.open(tree)
    inner = source.test(2_000)
    attempts.count(inner, counted.labels(counted.ask(inner, "certify")))
    found = shrinking.shrunk(Outcome(wrong, attempts.all[0], 0.0), run, 0.1)
    assert wrong.size > found.tree.size
    assert ft.tree_error(found.tree, target, space) <= found.error_bound <= 0.1


def test_beyond_bits() -> None:
    """A tested tree with a leaf that matters little: one without it is found, and passes."""
    space = ft.ProductSpace([ft.Numeric("x", 0, 1), ft.Categorical("c", ["u", "v", "w"]), ft.Boolean("b", 0.3)])
    tests = [AtMost(0, 0.4), IsIn(1, frozenset({0})), IsOne(2), AtMost(0, 0.42)]
    nodes = [(tests[0], 1, 6), (tests[1], 2, 5), (tests[3], 3, 4), 0, 1, 1, (tests[2], 7, 8), 1, 0]
    target = ft.Tree.build(space, nodes, [0, 1])
    counted, source, attempts = Counted(target.predict, space, Memory()), source_of(space, 0), Attempts(0.1, 0.05)
    attempts.open(target)
    inner = source.test(400)
    attempts.count(inner, counted.labels(counted.ask(inner, "certify")))
    found = shrinking.shrunk(Outcome(target, attempts.all[0], 0.0), Session(counted, source, attempts), 0.1)
    assert found.tree.size == 4
    assert ft.tree_error(found.tree, target, space) <= found.error_bound <= 0.1


def test_an_uncertified_tree_stays_as_it_is() -> None:
    space = ft.ProductSpace.bernoulli(8)
    target = ft.targets.balanced(space, 3, seed=1)
    counted, source, attempts = Counted(target.predict, space, Memory()), source_of(space, 0), Attempts(0.1, 0.05)
    attempts.open(target)
    outcome = Outcome(target, attempts.all[0], 0.0)
    assert shrinking.shrunk(outcome, Session(counted, source, attempts), 0.1) is outcome
    assert counted.asked == 0
