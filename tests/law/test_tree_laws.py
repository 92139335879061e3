"""Identities of trees and regions, whatever their shape, labels and biases."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fidelitree as ft
from fidelitree.exact.paths import PathSubfunction
from fidelitree.trees.growing import GrowingTree
from fidelitree.trees.tree import Tree
from small import Bits, cube, spaces, trees, true_error, walk, weights


@st.composite
def grown(draw: st.DrawFn) -> tuple[ft.ProductSpace, Tree]:
    space = draw(spaces())
    return space, draw(trees(space))


@given(grown())
def test_bit_packed_prediction_is_the_walk_of_every_row(pair: tuple[ft.ProductSpace, Tree]) -> None:
    space, tree = pair
    rows = cube(len(space))
    expected = [walk(tree, row) for row in rows]
    assert tree.predict(rows).tolist() == expected
    many = np.tile(rows, (3000 // len(rows) + 1, 1))
    assert tree.labels[tree._codes_by_words(many)].tolist() == expected * (len(many) // len(rows))


@given(grown())
def test_export_and_import_give_the_same_tree(pair: tuple[ft.ProductSpace, Tree]) -> None:
    _, tree = pair
    again = Tree.from_dict(json.loads(json.dumps(tree.to_dict())))
    assert again == tree
    assert again.digest == tree.digest
    assert (again.names, again.kinds, again.labels.tolist()) == (tree.names, tree.kinds, tree.labels.tolist())
    for name in ("feature", "no", "yes", "code"):
        assert np.array_equal(getattr(again, name), getattr(tree, name))
    assert str(again) == str(tree)


@given(grown(), st.randoms(use_true_random=False))
def test_the_order_in_which_nodes_are_given_does_not_matter(pair: tuple[ft.ProductSpace, Tree], random: object) -> None:
    space, tree = pair
    place = [0, *random.sample(range(1, len(tree.feature)), len(tree.feature) - 1)]
    nodes: list[object] = [None] * len(place)
    for node, at in enumerate(place):
        inner = tree.feature[node] >= 0
        children = (int(tree.feature[node]), place[tree.no[node]], place[tree.yes[node]])
        nodes[at] = children if inner else int(tree.code[node])
    assert Tree.build(space, nodes, tree.labels).digest == tree.digest


@given(grown())
def test_children_share_the_mass_of_their_parent(pair: tuple[ft.ProductSpace, Tree]) -> None:
    space, tree = pair
    mass = {node: region.mass for node, region in tree.regions(space)}
    for node in np.flatnonzero(tree.feature >= 0):
        assert mass[tree.no[node]] + mass[tree.yes[node]] == pytest.approx(mass[node], rel=1e-12, abs=1e-300)
    leaves = [mass[node] for node in np.flatnonzero(tree.feature < 0)]
    assert math.fsum(leaves) == pytest.approx(1, rel=1e-12)


@given(grown())
def test_the_mass_of_a_region_is_that_of_its_inputs(pair: tuple[ft.ProductSpace, Tree]) -> None:
    space, tree = pair
    rows, chances = cube(len(space)), weights(space)
    for _, region in tree.regions(space):
        inside = np.all([rows[:, i] == value for i, value in region.restrictions.items()] or [rows[:, 0] >= 0], axis=0)
        assert region.mass == pytest.approx(chances[inside].sum(), rel=1e-9, abs=1e-300)


@given(grown())
def test_average_depth_is_the_expected_length_of_a_walk(pair: tuple[ft.ProductSpace, Tree]) -> None:
    space, tree = pair

    def steps(row: Bits) -> int:
        node, count = 0, 0
        while tree.feature[node] >= 0:
            node, count = int(tree.yes[node] if row[tree.feature[node]] else tree.no[node]), count + 1
        return count

    lengths = [steps(row) for row in cube(len(space))]
    assert max(lengths) == tree.depth
    assert tree.average_depth(space) == pytest.approx(weights(space) @ lengths, rel=1e-9, abs=1e-12)


@given(st.data())
def test_the_error_between_trees_is_a_distance(data: st.DataObject) -> None:
    space = data.draw(spaces(4))
    one, two, three = (data.draw(trees(space)) for _ in range(3))
    assert ft.tree_error(one, one, space) == 0
    assert ft.tree_error(one, two, space) == pytest.approx(true_error(one, two, space), rel=1e-9, abs=1e-14)
    assert ft.tree_error(one, two, space) == pytest.approx(ft.tree_error(two, one, space), rel=1e-9, abs=1e-14)
    detour = ft.tree_error(one, three, space) + ft.tree_error(three, two, space)
    assert ft.tree_error(one, two, space) <= detour + 1e-12


@given(grown())
def test_a_split_parts_probabilities_and_drops_the_cost_by_the_score(pair: tuple[ft.ProductSpace, Tree]) -> None:
    """Lemma 4.3 for any number of labels: whatever is split, the cost drops by the score."""
    space, tree = pair
    whole = PathSubfunction(tree, space.whole)
    for test in space.whole.tests():
        no, yes = whole.split(test)
        p = space.features[test.feature].mass(1)
        mixed = (1 - p) * no.label_probabilities() + p * yes.label_probabilities()
        np.testing.assert_allclose(mixed, whole.label_probabilities(), rtol=1e-9, atol=1e-14)
        after = (1 - p) * no.influences().sum() + p * yes.influences().sum()
        drop = whole.influences().sum() - after
        assert drop == pytest.approx(whole.influences()[test.feature], rel=1e-9, abs=1e-12)


@given(grown())
def test_the_cost_drops_by_the_score_along_every_trace(pair: tuple[ft.ProductSpace, Tree]) -> None:
    space, tree = pair
    result = ft.build_top_down(tree, space, 0)
    cost = ft.analyze(tree, space).total_influence
    for record in result.trace:
        assert cost - record.cost == pytest.approx(record.score, rel=1e-9, abs=1e-12)
        assert record.error <= record.cost + 1e-12
        cost = record.cost
    assert [record.size for record in result.trace] == list(range(2, result.tree.size + 1))
    assert true_error(result.tree, tree, space) == pytest.approx(0, abs=1e-15)


@given(grown(), st.floats(0, 0.999))
def test_algorithm_1_keeps_its_exact_promise(pair: tuple[ft.ProductSpace, Tree], epsilon: float) -> None:
    space, tree = pair
    result = ft.build_top_down(tree, space, epsilon)
    error = true_error(result.tree, tree, space)
    assert result.certificate.error_bound == pytest.approx(error, rel=1e-9, abs=1e-14)
    assert result.certificate.holds
    assert len(result.trace) == result.tree.size - 1


@given(st.data())
def test_a_bare_tree_can_be_cut_back_to_every_tree_it_was(data: st.DataObject) -> None:
    space = data.draw(spaces())
    bare, history = GrowingTree(space), []
    for _ in range(data.draw(st.integers(0, 6))):
        open_leaves = [leaf for leaf in bare.leaves.values() if leaf.region.free()]
        if not open_leaves:
            break
        leaf = data.draw(st.sampled_from(open_leaves))
        history.append((sorted(bare.leaves), bare.complete(dict.fromkeys(bare.leaves, 0), ["label"])))
        bare.split(leaf.number, data.draw(st.sampled_from(leaf.region.tests())))
        assert math.fsum(leaf.region.mass for leaf in bare.leaves.values()) == pytest.approx(1, rel=1e-12)
    for leaves, tree in history:
        assert sorted(bare.cut(leaves)) == leaves
        assert bare.complete(dict.fromkeys(leaves, 0), ["label"]) == tree
