"""Identities of mixed features, regions and trees, whatever their marginals.

Shares are compared with the exact binomial tail. ALARM is the chance of a false alarm for one share, were the seed
new; all shares of this file together (fewer than 5000) stay below one in a million.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fidelitree as ft
from chances import plausible
from fidelitree.draw import Stream, draw, draw_feature, redraw
from fidelitree.region import Region
from fidelitree.tree import Tree
from mixed import MIXED, mixed_spaces, mixed_tree, mixed_trees, possible_tests, some_inputs
from reference import stored_answer

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
    assert np.array_equal(space.encode(space.batch(inner)), inner)
    assert np.array_equal(other.encode(other.batch(inner)), inner)


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


def test_a_leaf_is_reached_as_often_as_its_mass_says() -> None:
    """65 leaves of 5 trees at most, one share each."""
    for seed in range(5):
        tree = mixed_tree(MIXED, np.random.default_rng(seed), [0, 1], 0.9)
        inner = some_inputs(MIXED, ROWS, seed)
        for node, region in tree.regions(MIXED):
            if tree.feature[node] < 0:
                hits = Tree.build(MIXED, _nodes(tree, marked=node), [0, 1]).predict_inner(inner).sum()
                assert plausible(int(hits), ROWS, region.mass, ALARM)


@pytest.mark.parametrize("i", range(len(MIXED)))
def test_draws_and_second_draws_have_the_marginal_inside_a_region(i: int) -> None:
    """Down random paths, the share on each side of the next test is the ratio of masses."""
    rng = np.random.default_rng(i)
    for path in range(10):
        region, stream = Region.whole(MIXED), Stream.named(path, "test")
        while tests := [test for test in possible_tests(region, rng) if test.feature == i]:
            no, yes = region.split(tests[0])
            for column in (draw_feature(region, stream, 0, ROWS, i), redraw(region, stream, 0, ROWS, i)):
                hits = int(tests[0].answers(column).sum())
                assert plausible(hits, ROWS, min(1.0, yes.mass / region.mass), ALARM)
            region = yes if rng.random() < 0.5 else no
            if region.mass < 1e-6:
                break


def test_a_wrong_marginal_is_noticed() -> None:
    """The same comparison with a share that is off by a twentieth goes red."""
    column = draw_feature(Region.whole(MIXED), Stream.named(0, "test"), 0, ROWS, 2)
    assert not plausible(int((column <= 36).sum()), ROWS, 0.30, ALARM)
    assert plausible(int((column <= 36).sum()), ROWS, 0.25, ALARM)


@given(mixed_spaces(), st.integers(0, 2**64), st.integers(0, 2**40), st.integers(0, 100))
def test_drawing_a_block_again_gives_the_same_inputs(space: ft.ProductSpace, seed: int, block: int, rows: int) -> None:
    region, stream = Region.whole(space), Stream.named(seed, "grow")
    drawn = draw(region, stream, block, rows)
    draw(region, stream, block + 1, 77)
    assert drawn.dtype == space.dtype
    assert np.array_equal(draw(region, Stream.named(seed, "grow"), block, rows), drawn)
    for i in reversed(range(len(space))):
        assert np.array_equal(draw_feature(region, stream, block, rows, i), drawn[i])


def test_features_and_their_second_draws_do_not_share_randomness() -> None:
    """Equal features have different lanes: 200 numbers of 53 bits each, all different but with chance below 1e-9."""
    space = ft.ProductSpace([ft.Numeric(f"x{i}", 0, 1) for i in range(4)])
    region, stream = Region.whole(space), Stream.named(3, "test")
    columns = [*draw(region, stream, 0, 25), *(redraw(region, stream, 0, 25, i) for i in range(4))]
    assert len({*np.concatenate(columns).tolist()}) == 200
