"""Curves of least error against leaves: never higher than the paper's prunings, lower with every better policy."""

from __future__ import annotations

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.counted import Counted
from fidelitree.asking.limits import Budget
from fidelitree.exact.engine import exact_subfunction
from fidelitree.search.optimal.affordable import SearchEnded
from fidelitree.search.optimal.lattice import axes_of
from fidelitree.search.optimal.optimum import least_errors
from fidelitree.search.optimal.rollout import GREEDY, POLICIES, Policy, Rollouts
from fidelitree.search.optimal.substitutes import Prunings
from fidelitree.trees import nested
from small import cube, true_error

SPACE = ft.ProductSpace.bernoulli(8, [0.5, 0.3, 0.5, 0.7, 0.5, 0.4, 0.5, 0.6])


def search(seed: int, exact: bool) -> tuple[Rollouts, Counted, np.ndarray]:
    codes = (np.random.default_rng(seed).random(256) < 0.3).astype(np.intp)
    codes[:128] |= codes[128:] & 1
    target = ft.targets.TruthTable(codes)
    counted = Counted(target, SPACE)
    return (
        Rollouts(
            SPACE, lambda inputs: np.asarray(target(inputs), np.intp), 300, exact, counted, room=27 if exact else 64
        ),
        counted,
        codes,
    )


@pytest.mark.parametrize("seed", range(3))
def test_curves_are_between_the_frontier_and_the_papers_prunings(seed: int) -> None:
    found, counted, codes = search(seed, False)
    root = exact_subfunction(counted, SPACE.whole, 256)
    assert root is not None
    paper = Prunings(ft.build_top_down(counted.target, SPACE, 0).tree, SPACE).disagreements
    least = least_errors(*axes_of(SPACE, codes), 300).errors
    before = None
    for policy in (GREEDY, Policy(1, 3), Policy(2, 3)):
        errors = found.curve(root, SPACE.whole, policy).errors
        size = min(len(errors), len(paper))
        assert (errors[:size] <= paper[:size] + 1e-12).all()
        assert (errors >= least[: len(errors)] - 1e-12).all()
        if before is not None:
            size = min(len(errors), len(before))
            assert (errors[:size] <= before[:size] + 1e-12).all()
        before = errors


def test_trees_have_the_errors_of_their_curve() -> None:
    found, counted, _ = search(0, False)
    root = exact_subfunction(counted, SPACE.whole, 256)
    assert root is not None
    curve = found.curve(root, SPACE.whole, Policy(1, 4))
    for leaves in (1, 2, 5, 20, len(curve.errors)):
        tree = nested.build(SPACE, curve.build(leaves), [0, 1])
        assert tree.size <= leaves
        assert true_error(tree, counted.target, SPACE) == pytest.approx(curve.errors[leaves - 1], abs=1e-12)


@pytest.mark.parametrize("policy", POLICIES[:4])
def test_without_an_error(policy: Policy) -> None:
    found, counted, codes = search(1, True)
    root = exact_subfunction(counted, SPACE.whole, 256)
    assert root is not None
    curve = found.curve(root, SPACE.whole, policy)
    leaves = curve.first_within(0)
    assert leaves is not None
    assert leaves <= ft.build_top_down(counted.target, SPACE, 0).tree.size
    tree = nested.build(SPACE, curve.build(leaves), [0, 1])
    assert tree.size == leaves
    assert tree.predict(cube(8)).tolist() == codes.tolist()


def test_time_and_steps_end_it() -> None:
    found, counted, _ = search(2, False)
    root = exact_subfunction(counted, SPACE.whole, 256)
    assert root is not None
    found.clock = Counted(counted.target, SPACE, budget=Budget(max_seconds=0))
    with pytest.raises(SearchEnded):
        list(found.curves(root))
    found.clock, found.steps = counted, 1
    curves = found.curves(root)
    assert next(curves).errors[-1] == 0
    with pytest.raises(SearchEnded):
        next(curves)
