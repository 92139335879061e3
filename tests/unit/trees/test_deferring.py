"""Leaves that ask the target: the label, predictions with a fallback, files and other people's formats."""

import pickle

import numpy as np
import pandas as pd
import pytest

import fidelitree as ft
from fidelitree.spaces.features import AtMost
from fidelitree.trees.answers import DEFER, answered

BITS = ft.ProductSpace.bernoulli(2)
ROWS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.uint8)


def tree(labels=("no", "yes")):
    return ft.Tree.build(BITS, [(0, 1, 2), 2, (1, 3, 4), 0, 1], [*labels, DEFER])


def test_the_label_is_one_thing_that_comes_last():
    assert ft.DEFER is DEFER
    assert pickle.loads(pickle.dumps(DEFER)) is DEFER
    assert sorted([DEFER, "b", "a"]) == ["a", "b", DEFER]
    assert sorted([DEFER, 2, 1]) == [1, 2, DEFER]
    assert (repr(DEFER), str(DEFER)) == ("DEFER", "ask the target")


def test_a_tree_says_where_it_defers():
    found = tree()
    assert found.defers
    assert not ft.Tree.build(BITS, [(0, 1, 2), 0, 1], ["no", "yes"]).defers
    assert found.predict(ROWS).tolist() == [DEFER, DEFER, "no", "yes"]
    assert answered(found, ROWS).tolist() == [False, False, True, True]
    assert str(found).splitlines()[0] == "x0 = 0: ask the target"


@pytest.mark.parametrize(
    "inputs", [ROWS, {"x0": ROWS[:, 0], "x1": ROWS[:, 1]}, pd.DataFrame(ROWS, columns=["x0", "x1"])]
)
def test_a_fallback_is_asked_about_the_rest_in_the_same_form(inputs):
    seen = []

    def fallback(batch):
        seen.append(batch)
        return ["yes", "no"]

    assert tree().predict(inputs, fallback=fallback).tolist() == ["yes", "no", "no", "yes"]
    assert type(seen[0]) is type(inputs)
    asked = np.column_stack(list(seen[0].values())) if isinstance(inputs, dict) else np.asarray(seen[0])
    assert asked.tolist() == [[0, 0], [0, 1]]


def test_a_fallback_must_answer_each_input():
    with pytest.raises(ft.ParameterError, match="fallback must give one label for each of 2 inputs; it gave"):
        tree().predict(ROWS, fallback=lambda batch: ["yes"])


def test_files_hold_null_and_digests_tell_it_apart():
    found = tree()
    stored = found.to_dict()
    assert stored["labels"] == {"type": "str", "values": ["no", "yes", None]}
    again = ft.Tree.from_dict(stored)
    assert again == found
    assert again.digest == found.digest
    assert again.predict(ROWS).tolist() == found.predict(ROWS).tolist()
    assert found.naming("ask").digest != found.digest


@pytest.mark.parametrize("values", [[None], [None, "no"], ["no", None, None]])
def test_null_elsewhere_is_no_label(values):
    stored = tree().to_dict() | {"labels": {"type": "str", "values": values}}
    with pytest.raises(ft.FormatError, match="labels must be"):
        ft.Tree.from_dict(stored)


def test_a_name_makes_it_a_tree_like_others():
    named = tree().naming("ask")
    assert named.predict(ROWS).tolist() == ["ask", "ask", "no", "yes"]
    assert not named.defers
    plain = ft.Tree.constant(BITS, 1)
    assert plain.naming(2) is plain
    for label in ("no", 3):
        with pytest.raises(ft.ParameterError, match="label must be a new str beside the tree's"):
            tree().naming(label)


def test_exports_say_it_in_their_own_way():
    assert 'WHEN "x0" <> 1 THEN NULL' in ft.export.to_sql(tree())
    code: dict = {}
    exec(ft.export.to_python(tree()), code)
    assert [code["predict"](dict(zip(("x0", "x1"), row, strict=True))) for row in ROWS.tolist()] == [
        None,
        None,
        "no",
        "yes",
    ]
    assert str(ft.export.to_rules(tree())).splitlines()[0] == "If x0 = 0 then ask the target."
    assert "ask the target" in ft.export.to_svg(tree())


def test_c_has_a_null_pointer_or_a_number_that_is_no_label():
    assert "return 0 /* ask the target */;" in ft.export.to_c(tree())
    assert "#define PREDICT_DEFER (-1)" in ft.export.to_c(tree((0, 1)))
    assert "#define PREDICT_DEFER (8)" in ft.export.to_c(tree((-(2**31) + 1, 7)))
    truth = ft.export.to_c(tree((False, True)))
    assert "int predict(" in truth
    assert "return PREDICT_DEFER;" in truth
    assert "return 1;" in truth


@pytest.mark.parametrize(("name", "what"), [("sklearn", "one of scikit-learn"), ("onnx", "an ONNX model")])
def test_formats_without_a_way_to_say_it_refuse_by_name(name, what):
    with pytest.raises(ft.ParameterError, match=f"must answer every input to become {what}; .* tree.naming"):
        ft.export.FORMATS[name](tree())


def test_numbers_are_deferred_too():
    space = ft.ProductSpace([ft.Numeric("age", 0, 10)])
    found = ft.Tree.build(space, [(AtMost(0, 4.0), 1, 2), 2, 0], [0, 1, DEFER])
    assert found.predict({"age": [3.0, 5.0]}).tolist() == [0, DEFER]
    assert found.predict({"age": [3.0, 5.0]}, fallback=lambda batch: [1]).dtype.kind == "i"
