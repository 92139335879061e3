"""Trees: shape, text, digest, space, and the two ways to predict."""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.errors import DoubtWarning
from fidelitree.spaces.features import AtMost, IsIn
from fidelitree.trees.tree import Tree
from mixed import MIXED, some_inputs
from small import cube, random_tree, walk

if TYPE_CHECKING:
    from pathlib import Path

SPACE = ft.ProductSpace.bernoulli(3, [0.5, 0.2, 0.1])


def nested() -> Tree:
    """x1 = 0: 0; else x2 = 0: 1, x2 = 1: 0. The nodes stand in no particular order."""
    return Tree.build(SPACE, [(1, 4, 3), 1, 0, (2, 1, 2), 0], [0, 1])


def test_nodes_are_put_in_preorder_no_side_first() -> None:
    tree = nested()
    assert tree.feature.tolist() == [1, -1, 2, -1, -1]
    assert tree.no.tolist() == [1, -1, 3, -1, -1]
    assert tree.yes.tolist() == [2, -1, 4, -1, -1]
    assert tree.code.tolist() == [-1, 0, -1, 1, 0]
    assert (tree.values, tree.tests) == ((), {}), "bits have no categories, and are tested for 1"


def test_size_depth_and_average_depth() -> None:
    tree = nested()
    assert (tree.size, tree.depth) == (3, 2)
    assert tree.average_depth(SPACE) == pytest.approx(1 + 0.2)
    assert tree.average_depth(ft.ProductSpace.bernoulli(3)) == 1.5


def test_a_constant_is_one_leaf() -> None:
    tree = Tree.constant(SPACE, "yes")
    assert (tree.size, tree.depth, tree.average_depth(SPACE), str(tree)) == (1, 0, 0.0, "yes")
    assert (tree.code.tolist(), tree.feature.tolist(), tree.labels.tolist()) == ([0], [-1], ["yes"])
    assert tree.predict(cube(3)).tolist() == ["yes"] * 8


def test_text_is_indented_and_names_features() -> None:
    space = ft.ProductSpace.bernoulli(2, names=["owner", "urban"])
    tree = Tree.build(space, [(1, 1, 2), 0, (0, 3, 4), 0, 1], ["no", "yes"])
    assert str(tree) == "urban = 0: no\nurban = 1\n    owner = 0: no\n    owner = 1: yes"
    assert repr(tree) == "<Tree: 3 leaves, depth 2, 2 features>"


def test_predict_answers_in_the_type_of_the_labels() -> None:
    for labels, kind in (([0, 1], np.integer), ([False, True], np.bool_), (["a", "bc"], np.str_)):
        answers = Tree.build(SPACE, [(0, 1, 2), 0, 1], labels).predict(cube(3))
        assert isinstance(answers[0], kind)
        assert answers.tolist() == [labels[row[0]] for row in cube(3)]


def test_a_tree_is_a_target() -> None:
    tree = nested()
    assert np.array_equal(tree(cube(3)), tree.predict(cube(3)))


@pytest.mark.parametrize("labels", [["only"], [0, 1], [0, 1, 2], ["a", "b", "c", "d", "e"]])
@pytest.mark.parametrize("rows", [1, 64, 5000, 200_000])
def test_words_and_steps_and_blocks_predict_what_a_walk_does(rows: int, labels: list[object]) -> None:
    space = ft.ProductSpace.bernoulli(12)
    rng = np.random.default_rng(rows + len(labels))
    inputs = rng.integers(0, 2, (rows, 12), np.uint8)
    for tree in (random_tree(space, rng, labels, grow) for grow in (0.5, 0.95)):
        answers = tree.predict(inputs)
        some = rng.integers(0, rows, min(rows, 200))
        assert [answers[row] for row in some] == [walk(tree, inputs[row]) for row in some]
        assert np.array_equal(tree.labels[tree._codes_by_words(inputs)], answers)
        assert np.array_equal(tree.labels[tree._codes_by_steps(inputs)], answers)


def test_more_labels_than_a_byte_can_count_are_told_apart() -> None:
    """Nine bits, read as a number: 512 leaves, each with its own label."""
    inner = [((node + 1).bit_length() - 1, 2 * node + 1, 2 * node + 2) for node in range(511)]
    tree = Tree.build(ft.ProductSpace.bernoulli(9), [*inner, *range(512)], list(range(512)))
    inputs = np.tile(cube(9), (100, 1))
    numbers = inputs @ (1 << np.arange(9)[::-1])
    for codes in (tree.predict(inputs), tree._codes_by_words(inputs), tree._codes_by_steps(inputs)):
        assert np.array_equal(codes, numbers)


@pytest.mark.parametrize("turn", [np.ascontiguousarray, np.asfortranarray, lambda rows: np.repeat(rows, 2, 1)[:, ::2]])
def test_the_layout_of_the_rows_does_not_matter(turn: object) -> None:
    space = ft.ProductSpace.bernoulli(8)
    tree = random_tree(space, np.random.default_rng(3), [0, 1], 0.9)
    inputs = np.random.default_rng(4).integers(0, 2, (70_000, 8), np.uint8)
    assert np.array_equal(tree.predict(turn(inputs)), tree.predict(inputs.tolist()))


def test_no_rows_get_no_labels() -> None:
    answers = Tree.build(SPACE, [(0, 1, 2), 0, 1], ["a", "b"]).predict(cube(3)[:0])
    assert (answers.shape, answers.dtype.kind) == ((0,), "U")


def test_predict_refuses_other_shapes() -> None:
    with pytest.raises(ft.ParameterError, match=r"one column for each of the 3 features; got shape \(8, 2\)"):
        nested().predict(cube(3)[:, :2])


def test_a_very_deep_tree_needs_no_recursion() -> None:
    space = ft.ProductSpace.bernoulli(3000)
    tree = ft.targets.chain(space, 3001, seed=1)
    assert (tree.size, tree.depth) == (3001, 3000)
    assert Tree.from_dict(tree.to_dict()) == tree
    assert str(tree).count("\n") == 5999
    rows = np.random.default_rng(0).integers(0, 2, (10, 3000), np.uint8)
    assert tree.predict(rows).tolist() == [walk(tree, row) for row in rows]


def test_arrays_cannot_be_written_to() -> None:
    tree = nested()
    for array in (tree.feature, tree.no, tree.yes, tree.code, tree.labels):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_pickled_tree_is_the_same_and_cannot_be_written_to() -> None:
    again = pickle.loads(pickle.dumps(nested()))
    assert again == nested()
    with pytest.raises(ValueError, match="read-only"):
        again.code[0] = 1


def test_the_leaf_that_is_reached_has_the_label_that_is_predicted() -> None:
    mixed = Tree.build(MIXED, [(AtMost(2, 32.5), 1, 2), (IsIn(1, frozenset({0, 1})), 3, 4), 0, 1, 0], ["no", "yes"])
    for tree, inputs in ((nested(), cube(3)), (mixed, MIXED.batch(some_inputs(MIXED, 99)))):
        leaves = tree.reached(inputs)
        assert set(leaves) == set(np.flatnonzero(tree.feature < 0))
        assert (tree.labels[tree.code[leaves]] == tree.predict(inputs)).all()


def test_building_leaves_the_callers_labels_alone() -> None:
    labels = np.array([0, 1])
    Tree.build(SPACE, [(0, 1, 2), 0, 1], labels)
    labels[0] = 5
    assert labels.tolist() == [5, 1]


def test_equality_is_that_of_digests() -> None:
    assert nested() == nested()
    assert hash(nested()) == hash(nested())
    others = [
        Tree.build(SPACE, [(1, 4, 3), 0, 1, (2, 1, 2), 0], [0, 1]),
        Tree.build(SPACE, [(1, 4, 3), 1, 0, (2, 1, 2), 0], [False, True]),
        Tree.build(SPACE, [(1, 4, 3), 1, 0, (2, 1, 2), 0], ["0", "1"]),
        Tree.build(ft.ProductSpace.bernoulli(3, names=["a", "b", "c"]), [(1, 4, 3), 1, 0, (2, 1, 2), 0], [0, 1]),
    ]
    assert len({tree.digest for tree in (nested(), *others)}) == 5
    assert all(nested() != tree for tree in others)
    assert (nested() == nested().digest) is False


def test_the_digest_does_not_depend_on_the_width_of_the_labels_or_the_biases() -> None:
    nodes = [(0, 1, 2), 0, 1]
    trees = [Tree.build(SPACE, nodes, np.array([0, 1], kind)) for kind in (np.uint8, np.int16, np.int64)]
    trees.append(Tree.build(ft.ProductSpace.bernoulli(3, 0.9), nodes, [0, 1]))
    assert len({tree.digest for tree in trees}) == 1


def test_the_digest_is_pinned() -> None:
    """Stored certificates name a tree by it."""
    assert nested().digest == "f5bea21d5ffe08521b6cdc4cdf3cb33650a86fc87ed2e8080bd4e9af99357b0a"


def test_saved_trees_are_read_back(tmp_path: Path) -> None:
    space = ft.ProductSpace.bernoulli(2, names=["größe", "x = 1?"])
    tree = Tree.build(space, [(0, 1, 2), 0, (1, 3, 4), 1, 2], ["ja", "nein", "vielleicht"])
    tree.save(tmp_path / "tree.json")
    again = Tree.load(str(tmp_path / "tree.json"))
    assert again == tree
    assert again.names == ("größe", "x = 1?")
    assert np.array_equal(again.predict(cube(2)), tree.predict(cube(2)))
    lines = (tmp_path / "tree.json").read_text(encoding="utf-8").splitlines()
    assert lines[:4] == ["{", ' "format": "fidelitree.tree",', ' "version": 1,', ' "features": [']


@pytest.mark.parametrize("other", [ft.ProductSpace.bernoulli(2), ft.ProductSpace.bernoulli(3, names=["a", "b", "c"])])
def test_a_space_of_other_features_is_refused(other: ft.ProductSpace) -> None:
    with pytest.raises(ft.ParameterError, match=r"space must have the tree's 3 features \(x0, x1, x2\); got Product"):
        nested().average_depth(other)


@pytest.mark.parametrize(("features", "more"), [(8, ""), (9, ", ..."), (1000, ", ...")])
def test_a_refused_space_does_not_list_a_thousand_features(features: int, more: str) -> None:
    tree = Tree.constant(ft.ProductSpace.bernoulli(features), 0)
    with pytest.raises(ft.ParameterError) as caught:
        tree.check_space(SPACE)
    assert f"tree's {features} features (x0, x1, x2, x3, x4, x5, x6, x7{more}); got " in str(caught.value)


def test_regions_are_those_of_the_paths() -> None:
    assert [(node, str(region)) for node, region in nested().regions(SPACE)] == [
        (0, "---"),
        (1, "-0-"),
        (2, "-1-"),
        (3, "-10"),
        (4, "-11"),
    ]
    first = Tree.build(SPACE, [(0, 1, 2), 0, 1], [0, 1])
    assert [(node, str(region)) for node, region in first.regions(SPACE)] == [(0, "---"), (1, "0--"), (2, "1--")]
    assert first.average_depth(SPACE) == 1


def test_mixed_trees_read_well() -> None:
    nodes = [(AtMost(2, 32.5), 1, 2), (IsIn(1, frozenset({0, 1})), 3, 4), 0, (IsIn(1, frozenset({2})), 5, 6), 1, 0, 1]
    with pytest.raises(ft.ParameterError, match="splits nothing"):
        Tree.build(MIXED, nodes, ["no", "yes"]).average_depth(MIXED)
    tree = Tree.build(
        MIXED, [(AtMost(2, 32.5), 1, 2), (IsIn(1, frozenset({0, 1})), 3, 4), 0, 1, (0, 5, 6), 0, 1], [0, 1]
    )
    assert str(tree).splitlines() == [
        "age <= 32.5: 0",
        "age > 32.5",
        "    job in {clerk, nurse}",
        "        owner = 0: 0",
        "        owner = 1: 1",
        "    job = pilot: 1",
    ]
    assert tree.average_depth(MIXED) == pytest.approx(1 + (1 - 14.5 / 72) * 1.8)
    assert tree.test(1) == IsIn(1, frozenset({0, 1}))


def test_an_unknown_category_is_outside_every_set() -> None:
    tree = Tree.build(MIXED, [(IsIn(1, frozenset({0, 2})), 1, 2), 0, 1], ["no", "yes"])
    inputs = {**MIXED.batch(np.zeros((2, 5))), "job": ["chef", "clerk"]}
    with pytest.warns(DoubtWarning, match="^feature 'job' has a category in 1 of 2 rows that the tree has never seen"):
        assert tree.predict(inputs).tolist() == ["no", "yes"]


@pytest.mark.parametrize(
    ("test", "message"),
    [
        (1, "feature 'job' is categorical; the test IsOne(feature=1) does not fit it"),
        (AtMost(0, 0.5), "feature 'owner' is boolean; the test AtMost(feature=0, cut=0.5) does not fit it"),
        (IsIn(2, frozenset({0})), "feature 'age' is numeric; the test IsIn(feature=2, codes=frozenset({0})) does not"),
    ],
)
def test_tests_must_fit_their_features(test: object, message: str) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        Tree.build(MIXED, [(test, 1, 2), 0, 1], [0, 1])
    assert str(caught.value).startswith(message)


def test_a_mixed_tree_knows_its_categories() -> None:
    tree = Tree.constant(MIXED, 1)
    tree.check_space(MIXED)
    other = [ft.Categorical("job", ["clerk", "pilot", "nurse"]) if f.name == "job" else f for f in MIXED]
    with pytest.raises(ft.ParameterError, match="space must have the tree's 5 features"):
        tree.check_space(ft.ProductSpace(other))


def test_the_digest_of_a_mixed_tree_is_pinned() -> None:
    tree = Tree.build(MIXED, [(AtMost(2, 32.5), 1, 2), (IsIn(1, frozenset({0, 1})), 3, 4), 0, 1, 0], [0, 1])
    assert tree.digest == "0b4a4f0712daa93ac20e45a2790f1ab5b883f7da1943fe5a3ee24548a28ace17"


def test_mixed_trees_differ_by_cut_set_and_category() -> None:
    def tree(test: object, space: ft.ProductSpace = MIXED) -> Tree:
        return Tree.build(space, [(test, 1, 2), 0, 1], [0, 1])

    assert tree(AtMost(2, 50.0)) == tree(AtMost(2, 50.0)) != tree(AtMost(2, 51.0))
    assert tree(IsIn(1, frozenset({0}))) != tree(IsIn(1, frozenset({1})))
    one, two = (ft.ProductSpace([ft.Categorical("x", values)]) for values in ([0, 1], [0.0, 1.0]))
    assert tree(IsIn(0, frozenset({0})), one) != tree(IsIn(0, frozenset({0})), two)


def test_categories_that_no_file_can_hold_are_not_stored(tmp_path: Path) -> None:
    tree = Tree.constant(ft.ProductSpace([ft.Categorical("pair", [(1, 2), (3, 4)])]), 1)
    assert len(tree.digest) == 64
    with pytest.raises(ft.ParameterError) as caught:
        tree.save(tmp_path / "tree.json")
    assert str(caught.value) == (
        "values of feature 'pair' must be str, int, float, bool or None to be stored; got (1, 2)"
    )


def test_a_mixed_tree_is_read_again(tmp_path: Path) -> None:
    space = ft.ProductSpace([ft.Categorical("x", ["a", 1, 2.5, None]), ft.Numeric("y", 0, 1)])
    tree = Tree.build(space, [(IsIn(0, frozenset({1, 3})), 1, 2), (AtMost(1, 0.1), 3, 4), 0, 1, 0], [0, 1])
    tree.save(tmp_path / "tree.json")
    again = Tree.load(tmp_path / "tree.json")
    assert again == tree
    assert again.values == (("a", 1, 2.5, None), None)
    rows = np.array([[1, 0.1], ["a", 0.05], ["a", 0.2], [None, 0.0], ["new", 0.5]], object)
    with pytest.warns(DoubtWarning, match="feature 'x' has a category in 1 of 5 rows"):
        assert again.predict(rows).tolist() == [0, 0, 1, 0, 1]


def test_labels_that_numpy_would_merge_are_refused() -> None:
    space = ft.ProductSpace.bernoulli(1)
    with pytest.raises(ft.ParameterError) as caught:
        ft.Tree.build(space, [(0, 1, 2), 0, 1], ["a", "a\0"])
    assert str(caught.value) == "label of a tree must not end with NUL, which NumPy drops; got 'a\\x00' - strip it"
    stored = ft.Tree.build(space, [(0, 1, 2), 0, 1], ["a", "b"]).to_json().replace('"b"', '"a\\u0000"')
    with pytest.raises(ft.FormatError, match="must be text that UTF-8 can hold, without NUL at its end"):
        ft.Tree.from_dict(json.loads(stored))
