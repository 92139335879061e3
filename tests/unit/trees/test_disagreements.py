"""Disagreements: the rows that differ, all of them, as their owner writes them."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.trees.answers import Answers
from fidelitree.trees.disagreements import Disagreements
from fidelitree.trees.tree import Tree
from mixed import GAPS, MIXED, mixed_tree, some_inputs

TREE = mixed_tree(MIXED, np.random.default_rng(15), ["approve", "decline", "refer"], 0.95)


def answers(wrong: int) -> Answers:
    inputs = some_inputs(MIXED, 50, seed=3)
    labels = TREE.predict_inner(inputs).copy()
    labels[:wrong] = np.where(labels[:wrong] == "refer", "decline", "refer")
    return Answers(inputs, labels)


def test_all_of_them_in_their_order() -> None:
    found, kept = Disagreements.of(TREE, answers(7), MIXED), answers(7)
    assert (len(found), found.wrong, found.tests) == (7, 7, 50)
    assert [one.target for one in found] == kept.labels[:7].tolist()
    assert [one.tree for one in found] == TREE.predict_inner(kept.inputs[:7]).tolist()
    batch = MIXED.batch(kept.inputs[:7])
    for name, column in found.columns().items():
        if name in MIXED.names:
            assert column == np.asarray(batch[name]).tolist(), name
    assert TREE.predict(found.columns()).tolist() == [one.tree for one in found], "they can be asked about again"
    assert repr(found) == "<Disagreements: 7 of 50 fresh inputs>"


def test_fewer_where_fewer_are_wanted() -> None:
    found = Disagreements.of(TREE, answers(20), MIXED, most=3)
    assert (len(found), found.wrong) == (3, 20)
    assert str(found).endswith("20 of 50 fresh inputs.")
    assert found[:2] == found.found[:2]


def test_they_print_what_the_tree_asks_about() -> None:
    found = Disagreements.of(TREE, answers(2), MIXED)
    head = str(found).splitlines()[0].split()
    assert head == [*found.asked, "tree", "target"]
    assert set(found.asked) == {TREE.names[i] for i in TREE.feature.tolist() if i >= 0}
    assert found._repr_html_().count("<tr") == 3
    none = Disagreements.of(TREE, answers(0), MIXED)
    assert not none
    assert str(none) == "0 of 50 fresh inputs."
    assert none._repr_html_() == "<p>Target and tree differ on 0 of 50 fresh inputs.</p>"
    assert none.to_csv() == "tree,target\n"


def test_csv_holds_every_feature() -> None:
    found = Disagreements.of(TREE, answers(4), MIXED)
    rows = list(csv.reader(io.StringIO(found.to_csv())))
    assert rows[0] == [*MIXED.names, "tree", "target"]
    assert len(rows) == 5


def test_a_missing_number_is_none() -> None:
    tree = Tree.constant(GAPS, "a")
    inputs = some_inputs(GAPS, 40, seed=2)
    assert np.isnan(inputs).any()
    found = Disagreements.of(tree, Answers(inputs, np.full(40, "b")), GAPS)
    assert len(found) == 40
    gone = sum(value is None for one in found for value in one.input.values())
    assert gone >= np.isnan(inputs).sum()
    assert "missing" in str(found)


def test_numbers_differ_beyond_the_tolerance() -> None:
    space = ft.ProductSpace([ft.Numeric("x", 0, 1)])
    tree = Tree.constant(space, 2.0)
    found = Disagreements.of(tree, Answers(np.array([[0.1], [0.2]]), np.array([2.4, 2.6])), space, 0.5)
    assert [one.target for one in found] == [2.6]


def test_a_result_tells_its_own_and_a_stored_one_does_not(tmp_path: Path) -> None:
    space = ft.ProductSpace.bernoulli(12)
    result = ft.distill(ft.targets.majority(12), space, 0.25, max_queries=400)
    assert result.answers is not None
    assert result.disagreements().wrong == int(
        (result.tree.predict_inner(result.answers.inputs) != result.answers.labels).sum()
    )
    assert len(result.disagreements(most=1)) == 1
    assert result.predict(result.answers.inputs).tolist() == result.tree.predict_inner(result.answers.inputs).tolist()
    result.save(str(tmp_path))
    with pytest.raises(ft.ParameterError, match="which this result did not keep: it was read from a folder"):
        ft.Frontier.load(str(tmp_path)).knee.disagreements()
    with pytest.raises(ft.ParameterError, match="most must be at least 1; got 0"):
        result.disagreements(most=0)


def test_a_certificate_with_other_numbers_is_explained() -> None:
    found = Disagreements.of(TREE, answers(7), MIXED)
    assert found.because(7, 50) is found
    assert found.because(None, 0) is found
    other = found.because(3, 40)
    why = "The certificate counts 3 in 40: it counts the tree that was tested, from when its test began to its lowest "
    why += "bound."
    assert str(other).endswith(f"7 of 50 fresh inputs. {why}")
    assert why in other._repr_html_()
