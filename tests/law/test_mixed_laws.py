"""Identities of mixed features, regions and trees, whatever their marginals.

Shares are compared with the exact binomial tail. ALARM is the chance of a false alarm for one share, were the seed
new; all shares of this file together (fewer than 5000) stay below one in a million.
"""

from __future__ import annotations

import itertools
import json
import math
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fidelitree as ft
from chances import plausible
from fidelitree.exact.grid import GridSubfunction
from fidelitree.exact.paths import PathSubfunction
from fidelitree.search.optimal.substitutes import Prunings
from fidelitree.spaces.draw import Stream, draw, draw_feature, redraw
from fidelitree.spaces.region import Region
from fidelitree.trees.tree import Tree
from mixed import GAPS, MIXED, every_input, mixed_spaces, mixed_tree, mixed_trees, possible_tests, some_inputs
from reference import slow_influence, stored_answer

ALARM = 2e-10
ROWS = 20_000


@st.composite
def grown(draw: st.DrawFn, finite: bool = False) -> tuple[ft.ProductSpace, Tree]:
    space = draw(mixed_spaces(finite=finite))
    return space, draw(mixed_trees(space))


def user_rows(space: ft.ProductSpace, inner: np.ndarray) -> list[dict[str, object]]:
    """The user's values of every row, by name."""
    columns = {name: column.tolist() for name, column in ft.ProductSpace(space.features, "dict").batch(inner).items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def same(one: np.ndarray, two: np.ndarray) -> bool:
    """Equal, where a missing number equals itself."""
    return np.array_equal(one, two, equal_nan=True)


@given(grown())
def test_prediction_is_the_walk_of_every_row(pair: tuple[ft.ProductSpace, Tree]) -> None:
    space, tree = pair
    inner = some_inputs(space, 60)
    expected = [stored_answer(tree.to_dict(), row) for row in user_rows(space, inner)]
    assert tree.predict_inner(inner).tolist() == expected
    assert tree.predict(space.batch(inner)).tolist() == expected


@given(grown())
def test_export_and_import_give_the_same_tree(pair: tuple[ft.ProductSpace, Tree]) -> None:
    _, tree = pair
    again = Tree.from_dict(json.loads(json.dumps(tree.to_dict())))
    assert again == tree
    assert (again.names, again.kinds, again.values, dict(again.tests)) == (
        tree.names,
        tree.kinds,
        tree.values,
        dict(tree.tests),
    )
    assert str(again) == str(tree)


@given(mixed_spaces(), st.integers(0, 2**32), st.sampled_from(["dict", "pandas", "polars", "arrow"]))
def test_encoding_a_batch_gives_the_inner_values_back(space: ft.ProductSpace, seed: int, kind: str) -> None:
    inner = some_inputs(space, 30, seed)
    other = ft.ProductSpace(space.features, batch=kind)
    assert same(space.encode(space.batch(inner)), inner)
    assert same(other.encode(other.batch(inner)), inner)


@given(grown())
def test_children_share_the_mass_of_their_parent(pair: tuple[ft.ProductSpace, Tree]) -> None:
    space, tree = pair
    mass = {node: region.mass for node, region in tree.regions(space)}
    for node in np.flatnonzero(tree.feature >= 0):
        assert mass[tree.no[node]] + mass[tree.yes[node]] == pytest.approx(mass[node], rel=1e-12, abs=1e-15)
    assert math.fsum(mass[node] for node in np.flatnonzero(tree.feature < 0)) == pytest.approx(1, rel=1e-12)


@given(grown(), st.integers(0, 2**32))
def test_what_is_drawn_in_a_region_is_in_the_region(pair: tuple[ft.ProductSpace, Tree], seed: int) -> None:
    """Every input drawn inside the region of a leaf reaches that leaf."""
    space, tree = pair
    for node, region in tree.regions(space):
        if tree.feature[node] < 0 and region.mass > 0:
            inner = draw(region, Stream.named(seed, "test"), 0, 20).T
            alone = Tree.build(space, [*_nodes(tree, marked=node)], [0, 1])
            assert alone.predict_inner(inner).all()


def _nodes(tree: Tree, marked: int) -> list[object]:
    """The tree's nodes with label 1 at one leaf and 0 at the others."""
    inner = tree.feature >= 0
    return [
        (tree.test(node), int(tree.no[node]), int(tree.yes[node])) if inner[node] else int(node == marked)
        for node in range(len(tree.feature))
    ]


@pytest.mark.parametrize("space", [MIXED, GAPS], ids=["whole", "with gaps"])
def test_a_leaf_is_reached_as_often_as_its_mass_says(space: ft.ProductSpace) -> None:
    """65 leaves of 5 trees at most, one share each."""
    for seed in range(5):
        tree = mixed_tree(space, np.random.default_rng(seed), [0, 1], 0.9)
        inner = some_inputs(space, ROWS, seed)
        for node, region in tree.regions(space):
            if tree.feature[node] < 0:
                hits = Tree.build(space, _nodes(tree, marked=node), [0, 1]).predict_inner(inner).sum()
                assert plausible(int(hits), ROWS, region.mass, ALARM)


@pytest.mark.parametrize("space", [MIXED, GAPS], ids=["whole", "with gaps"])
@pytest.mark.parametrize("i", range(len(MIXED)))
def test_draws_and_second_draws_have_the_marginal_inside_a_region(space: ft.ProductSpace, i: int) -> None:
    """Down random paths, the share on each side of the next test is the ratio of masses."""
    rng = np.random.default_rng(i)
    for path in range(10):
        region, stream = space.whole, Stream.named(path, "test")
        while tests := [test for test in possible_tests(region, rng) if test.feature == i][::-1]:
            no, yes = region.split(tests[0])
            for column in (draw_feature(region, stream, 0, ROWS, i), redraw(region, stream, 0, ROWS, i)):
                hits = int(tests[0].answers(column).sum())
                assert plausible(hits, ROWS, min(1.0, yes.mass / region.mass), ALARM)
            region = yes if rng.random() < 0.5 else no
            if region.mass < 1e-6:
                break


def test_a_wrong_marginal_is_noticed() -> None:
    """The same comparison with a share that is off by a twentieth goes red."""
    column = draw_feature(MIXED.whole, Stream.named(0, "test"), 0, ROWS, 2)
    assert not plausible(int((column <= 36).sum()), ROWS, 0.30, ALARM)
    assert plausible(int((column <= 36).sum()), ROWS, 0.25, ALARM)


@given(mixed_spaces(), st.integers(0, 2**64), st.integers(0, 2**40), st.integers(0, 100))
def test_drawing_a_block_again_gives_the_same_inputs(space: ft.ProductSpace, seed: int, block: int, rows: int) -> None:
    region, stream = space.whole, Stream.named(seed, "grow")
    drawn = draw(region, stream, block, rows)
    draw(region, stream, block + 1, 77)
    assert drawn.dtype == space.dtype
    assert same(draw(region, Stream.named(seed, "grow"), block, rows), drawn)
    for i in reversed(range(len(space))):
        assert same(draw_feature(region, stream, block, rows, i), drawn[i])


def test_features_and_their_second_draws_do_not_share_randomness() -> None:
    """Equal features have different lanes: 200 numbers of 53 bits each, all different but with chance below 1e-9."""
    space = ft.ProductSpace([ft.Numeric(f"x{i}", 0, 1) for i in range(4)])
    region, stream = space.whole, Stream.named(3, "test")
    columns = [*draw(region, stream, 0, 25), *(redraw(region, stream, 0, 25, i) for i in range(4))]
    assert len({*np.concatenate(columns).tolist()}) == 200


@given(st.data())
def test_the_error_between_trees_is_that_of_all_inputs(data: st.DataObject) -> None:
    space = data.draw(mixed_spaces(finite=True))
    one, two = (data.draw(mixed_trees(space)) for _ in range(2))
    rows, chances = every_input(space)
    differ = chances[one.predict_inner(rows) != two.predict_inner(rows)].sum()
    assert ft.tree_error(one, two, space) == pytest.approx(differ, rel=1e-9, abs=1e-14)
    assert ft.tree_error(one, two.__call__, space) == pytest.approx(differ, rel=1e-9, abs=1e-14)
    assert ft.tree_error(one, one, space) == 0


@pytest.mark.parametrize("space", [MIXED, GAPS], ids=["whole", "with gaps"])
def test_the_error_between_trees_is_that_of_drawn_inputs(space: ft.ProductSpace) -> None:
    """20 pairs of trees, one share each: intervals and quantiles cannot be listed."""
    for seed in range(20):
        one, two = (mixed_tree(space, np.random.default_rng((seed, k)), [0, 1]) for k in range(2))
        inner = some_inputs(space, ROWS, seed)
        hits = int((one.predict_inner(inner) != two.predict_inner(inner)).sum())
        assert plausible(hits, ROWS, min(1.0, ft.tree_error(one, two, space)), ALARM)


@given(grown(finite=True))
def test_engines_agree_with_the_list_of_all_inputs(pair: tuple[ft.ProductSpace, Tree]) -> None:
    space, tree = pair
    whole = space.whole
    rows, chances = every_input(space)
    answers = tree.predict_inner(rows)
    engines = [PathSubfunction(tree, whole), GridSubfunction(whole, *listed(tree, whole))]
    for engine in engines:
        shares = [chances[answers == label].sum() for label in tree.labels]
        np.testing.assert_allclose(engine.label_probabilities(), shares, rtol=1e-9, atol=1e-14)
        slow = [slow_influence(rows, chances, answers, i) for i in range(len(space))]
        np.testing.assert_allclose(engine.influences(), slow, rtol=1e-9, atol=1e-14)


def listed(tree: Tree, region: Region) -> tuple[np.ndarray, list[object]]:
    answers = tree.predict_inner(region.inputs(0, region.points))
    return np.searchsorted(tree.labels, answers), tree.labels.tolist()


@given(grown(finite=True))
def test_a_split_drops_the_cost_by_its_score(pair: tuple[ft.ProductSpace, Tree]) -> None:
    """THEORY 4(f): the drop of the best test is the total influence before less that after, whatever the feature."""
    space, tree = pair
    whole = space.whole
    grid = GridSubfunction(whole, *listed(tree, whole))
    splits = grid.splits()
    np.testing.assert_allclose(PathSubfunction(tree, whole).splits().drops, splits.drops, rtol=1e-9, atol=1e-15)
    assert (splits.drops > 0).tolist() == (grid.influences() > 1e-15).tolist()
    for drop, test in zip(splits.drops, splits.tests, strict=True):
        if drop > 0:
            after = 0.0
            for side, function in zip(whole.split(test), grid.split(test), strict=True):
                after += side.mass * function.influences().sum()
            assert grid.influences().sum() - after == pytest.approx(drop, rel=1e-9, abs=1e-12)


@given(grown(finite=True), st.integers(0, 2**32))
def test_no_test_of_a_feature_is_better_than_the_best(pair: tuple[ft.ProductSpace, Tree], seed: int) -> None:
    space, tree = pair
    whole, rng = space.whole, np.random.default_rng(seed)
    grid = GridSubfunction(whole, *listed(tree, whole))
    drops, before = grid.splits().drops, grid.influences().sum()
    for test in possible_tests(whole, rng):
        sides = zip(whole.split(test), grid.split(test), strict=True)
        after = sum(side.mass * function.influences().sum() for side, function in sides)
        assert before - after <= drops[test.feature] + 1e-12


@given(grown(), st.floats(0, 0.5))
def test_algorithm_1_keeps_its_promise_on_any_features(pair: tuple[ft.ProductSpace, Tree], epsilon: float) -> None:
    space, tree = pair
    result = ft.build_top_down(tree, space, epsilon)
    assert result.certificate.holds
    assert result.certificate.error_bound == pytest.approx(ft.tree_error(result.tree, tree, space), rel=1e-9, abs=1e-13)
    for one, two in itertools.pairwise([record.cost for record in result.trace]):
        assert two <= one + 1e-12


@settings(max_examples=settings.default.max_examples if os.environ.get("FIDELITREE_SOAK") == "1" else 40)
@given(grown())
def test_prunings_disagree_by_what_they_say(pair: tuple[ft.ProductSpace, Tree]) -> None:
    space, tree = pair
    prunings = Prunings(tree, space)
    for leaves, differs in enumerate(prunings.disagreements.tolist(), 1):
        smaller = prunings.with_leaves(leaves)
        assert smaller.size <= leaves
        assert ft.tree_error(smaller, tree, space) == pytest.approx(differs, rel=1e-9, abs=1e-12)
