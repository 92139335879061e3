"""Stored trees: what the schema looks like, and how damaged and foreign files are refused."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fidelitree as ft
from fidelitree.spaces.features import AtMost, IsIn
from fidelitree.trees import treefile
from fidelitree.trees.tree import Tree
from reference import parts_everywhere

if TYPE_CHECKING:
    from pathlib import Path

GOOD = {
    "format": "fidelitree.tree",
    "version": 1,
    "features": [{"name": "x0", "kind": "boolean"}, {"name": "x1", "kind": "boolean"}],
    "labels": {"type": "int", "values": [0, 1]},
    "nodes": [
        {"test": {"feature": 0, "is": 1}, "no": 1, "yes": 2},
        {"label": 0},
        {"test": {"feature": 1, "is": 1}, "no": 3, "yes": 4},
        {"label": 0},
        {"label": 1},
    ],
}
Damage = Callable[[dict[str, Any]], object]


def test_the_schema_is_what_a_tree_writes() -> None:
    tree = Tree.build(ft.ProductSpace.bernoulli(2), [(0, 1, 2), 0, (1, 3, 4), 0, 1], [0, 1])
    assert tree.to_dict() == GOOD
    assert Tree.from_dict(GOOD) == tree
    assert Tree.from_dict(GOOD).tests == {}, "bits are tested for 1"
    assert Tree.from_dict(GOOD).values == (), "nor have they values to be listed"


@pytest.mark.parametrize("labels", [[False, True], [-(2**63), 2**63 - 1], ["", "é", "日本"], [0]])
def test_labels_come_back_with_their_type(labels: list[Any]) -> None:
    tree = Tree.build(ft.ProductSpace.bernoulli(1), [(0, 1, 2), 0, len(labels) - 1], labels)
    again = Tree.from_dict(json.loads(json.dumps(tree.to_dict())))
    assert again.labels.tolist() == labels
    assert [type(label) for label in again.labels.tolist()] == [type(label) for label in labels]
    assert again.digest == tree.digest


def node(at: int, **entries: object) -> Damage:
    return lambda data: data["nodes"][at].update(entries)


def put(key: str, value: object) -> Damage:
    return lambda data: data.update({key: value})


RULE_OF_NODES = "must be a label below 2 or a test of a feature below 2; got"
DAMAGES: list[tuple[str, Damage, str]] = [
    ("foreign format", put("format", "sklearn.tree"), 'it must be an object with "format": "fidelitree.tree"'),
    ("newer version", put("version", 2), "its version must be 1, which this fidelitree reads; got 2"),
    ("no version", lambda data: data.pop("version"), "its version must be 1, which this fidelitree reads; got None"),
    ("no features", put("features", []), "features must be a list of at least one feature"),
    ("features as a dict", put("features", {"x0": "boolean"}), "features must be a list of at least one feature"),
    ("a feature without name", put("features", [{"kind": "boolean"}]), "each feature must be an object with a name"),
    ("a feature as a string", put("features", ["x0"]), "each feature must be an object with a name; got 'x0'"),
    (
        "an unknown kind",
        put("features", [{"name": "born", "kind": "date"}]),
        "the kind of feature 'born' must be one of boolean, categorical, numeric; got 'date'",
    ),
    ("a name twice", put("features", [GOOD["features"][0]] * 2), "features must have different names"),
    ("labels as a list", put("labels", [0, 1]), 'labels must be an object with "type" bool, int, float or str'),
    ("no labels", put("labels", {"type": "int", "values": []}), 'labels must be an object with "type"'),
    ("labels of a type", put("labels", {"type": "complex", "values": [0]}), 'labels must be an object with "type"'),
    (
        "labels of another type",
        put("labels", {"type": "int", "values": [0, True]}),
        "labels must be different values of type int in increasing order; got [0, True]",
    ),
    (
        "labels out of order",
        put("labels", {"type": "str", "values": ["b", "a"]}),
        "labels must be different values of type str in increasing order; got ['b', 'a']",
    ),
    ("a label twice", put("labels", {"type": "int", "values": [1, 1]}), "labels must be different values of type int"),
    ("huge labels", put("labels", {"type": "int", "values": [0, 10**30]}), "labels must fit into 64 bits"),
    ("no nodes", put("nodes", []), "nodes must be a list of odd length"),
    ("an even number of nodes", lambda data: data["nodes"].pop(), "nodes must be a list of odd length"),
    ("nodes as a dict", put("nodes", {"0": {"label": 0}}), "nodes must be a list of odd length"),
    ("label out of range", node(1, label=2), f"node 1 {RULE_OF_NODES} {{'label': 2}}"),
    ("negative label", node(1, label=-1), f"node 1 {RULE_OF_NODES} {{'label': -1}}"),
    ("true as a label", node(1, label=True), f"node 1 {RULE_OF_NODES} {{'label': True}}"),
    ("huge label", node(1, label=10**40), f"node 1 {RULE_OF_NODES} {{'label': 1000"),
    ("feature out of range", node(2, test={"feature": 2, "is": 1}), f"node 2 {RULE_OF_NODES}"),
    ("feature as a string", node(2, test={"feature": "x1", "is": 1}), f"node 2 {RULE_OF_NODES}"),
    ("another test", node(2, test={"feature": 1, "at most": 3}), f"node 2 {RULE_OF_NODES}"),
    ("an extra key", node(1, weight=3), f"node 1 {RULE_OF_NODES}"),
    ("a test that is a list", node(2, test=[1]), f"node 2 {RULE_OF_NODES}"),
    ("children as floats", node(2, no=3.0), f"node 2 {RULE_OF_NODES}"),
    ("a cycle", node(2, no=0), "nodes must stand in preorder; node 3 is missing or has two parents"),
    ("its own child", node(2, yes=2), "nodes must stand in preorder; node 4 is missing or has two parents"),
    ("counting from the end", node(2, no=-2), "nodes must stand in preorder; node 3 is missing or has two parents"),
    ("a child beyond the end", node(2, yes=5), "node 2 has a child outside the tree"),
    ("a huge child", node(2, yes=10**40), "node 2 has a child outside the tree"),
    ("two parents", node(2, no=4), "nodes must stand in preorder; node 3 is missing or has two parents"),
    ("one child twice", node(2, yes=3), "nodes must stand in preorder; node 4 is missing or has two parents"),
    ("children swapped", node(2, no=4, yes=3), "nodes must stand in preorder; node 3 is missing or has two parents"),
    ("a feature again", node(2, test={"feature": 0, "is": 1}), "node 2 tests feature 0 again on the same path"),
    (
        "unreachable nodes",
        lambda data: data["nodes"].extend([{"label": 0}] * 2),
        "nodes must all be reached from the root; 2 are not",
    ),
]


@pytest.mark.parametrize(("damage", "message"), [d[1:] for d in DAMAGES], ids=[d[0] for d in DAMAGES])
def test_damaged_trees_are_refused_with_the_rule(damage: Damage, message: str) -> None:
    data = copy.deepcopy(GOOD)
    damage(data)
    with pytest.raises(ft.FormatError) as caught:
        Tree.from_dict(data)
    assert str(caught.value).startswith(f"not a stored tree: {message}")
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("data", [None, 3, "tree", [], [GOOD], {}, {"nodes": []}])
def test_anything_else_is_no_tree(data: object) -> None:
    with pytest.raises(ft.FormatError, match='not a stored tree: it must be an object with "format"'):
        Tree.from_dict(data)


@pytest.mark.parametrize("text", ["", '{"format": "fidelitree.tree", ', "PK\x03\x04", "[" * 100_000, "1" * 5000])
def test_files_that_are_not_json_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "tree.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ft.FormatError, match=r"tree\.json is not JSON: "):
        Tree.load(path)


def test_files_that_are_not_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "tree.json"
    path.write_bytes(b"\xff\xfe\x80{}")
    with pytest.raises(ft.FormatError, match=r"tree\.json must be text in UTF-8"):
        Tree.load(path)


def test_a_truncated_file_is_refused_wherever_it_was_cut(tmp_path: Path) -> None:
    whole = json.dumps(GOOD)
    path = tmp_path / "tree.json"
    for end in range(0, len(whole), 7):
        path.write_text(whole[:end], encoding="utf-8")
        with pytest.raises(ft.FormatError, match="is not JSON"):
            Tree.load(path)


def test_a_file_too_large_to_be_a_tree_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tree.json"
    path.write_text(json.dumps(GOOD), encoding="utf-8")
    monkeypatch.setattr(treefile, "MAX_BYTES", 100)
    with pytest.raises(ft.FormatError, match=r"tree\.json is larger than the 0 MB that a stored tree may have"):
        Tree.load(path)
    monkeypatch.setattr(treefile, "MAX_BYTES", path.stat().st_size)
    assert Tree.load(path) == Tree.from_dict(GOOD)


def test_the_largest_file_has_200_megabytes(tmp_path: Path) -> None:
    path = tmp_path / "tree.json"
    path.touch()
    os.truncate(path, 200_000_001)
    with pytest.raises(ft.FormatError, match="is larger than the 200 MB that a stored tree may have"):
        Tree.load(path)


def test_random_damage_never_does_anything_but_refuse() -> None:
    """Every value of the file replaced by others: a tree that predicts, or a FormatError, nothing else."""
    rng = np.random.default_rng(0)
    junk = [None, True, 0, 1, 2, -1, 10**40, 0.5, "x0", [], {}, [[]], {"label": 0}]
    refused = 0
    for _ in range(2000):
        data = copy.deepcopy(GOOD)
        at: Any = data
        while True:
            key = list(at)[rng.integers(len(at))] if isinstance(at, dict) else int(rng.integers(len(at)))
            if not isinstance(at[key], (dict, list)) or not at[key] or rng.random() < 0.2:
                break
            at = at[key]
        at[key] = junk[rng.integers(len(junk))]
        try:
            answers = Tree.from_dict(data).predict(np.zeros((3, len(data["features"])), np.uint8))
            assert answers.shape == (3,)
        except ft.FormatError:
            refused += 1
    assert refused > 1000


MIXED = {
    "format": "fidelitree.tree",
    "version": 1,
    "features": [
        {"name": "owner", "kind": "boolean"},
        {"name": "job", "kind": "categorical", "values": ["clerk", 2, {"float": "0x1.8000000000000p+0"}, None]},
        {"name": "age", "kind": "numeric"},
    ],
    "labels": {"type": "int", "values": [0, 1]},
    "nodes": [
        {"test": {"feature": 2, "at most": "0x1.0400000000000p+5"}, "no": 1, "yes": 2},
        {"label": 0},
        {"test": {"feature": 1, "in": [0, 3]}, "no": 3, "yes": 4},
        {"label": 0},
        {"label": 1},
    ],
}


def test_the_schema_of_mixed_trees_is_what_a_tree_writes() -> None:
    tree = Tree.from_dict(copy.deepcopy(MIXED))
    assert tree.to_dict() == MIXED
    assert tree.tests == {0: AtMost(2, 32.5), 2: IsIn(1, frozenset({0, 3}))}
    assert tree.values == (None, ("clerk", 2, 1.5, None), None)
    assert str(tree).startswith("age <= 32.5\n    job in {clerk, missing}: 1")


def ask(at: int, **test: object) -> Damage:
    return lambda data: data["nodes"][at].update(test=test)


def listed(*values: object) -> Damage:
    return lambda data: data["features"][1].update(values=list(values))


RULE_OF_MIXED_NODES = "must be a label below 2 or a test of a feature below 3; got"
MIXED_DAMAGES: list[tuple[str, Damage, str]] = [
    ("no values", lambda data: data["features"][1].pop("values"), "feature 'job' must list its values"),
    ("an empty list", listed(), "feature 'job' must list its values"),
    ("a value twice", listed("clerk", 1, True, 2), "values of feature 'job' must be different"),
    (
        "a plain float",
        listed("clerk", 0.5, 1, 2),
        "values of feature 'job' must be str, int, bool, null or exact floats",
    ),
    (
        "a list",
        listed("clerk", [], 1, 2),
        "values of feature 'job' must be str, int, bool, null or exact floats; got []",
    ),
    ("a repr", listed("clerk", {"repr": "x"}, 1, 2), "values of feature 'job' must be str, int, bool, null or exact"),
    ("an odd float", listed("clerk", {"float": "x"}, 1, 2), "values of feature 'job' must be str, int, bool, null or"),
    ("NaN", listed("clerk", {"float": "nan"}, 1, 2), "values of feature 'job' must be str, int, bool, null or exact"),
    ("a bit's test", ask(0, feature=2, **{"is": 1}), f"node 0 {RULE_OF_MIXED_NODES}"),
    ("a plain cut", ask(0, feature=2, **{"at most": 32.5}), f"node 0 {RULE_OF_MIXED_NODES}"),
    ("no cut", ask(0, feature=2, **{"at most": "much"}), f"node 0 {RULE_OF_MIXED_NODES}"),
    ("an infinite cut", ask(0, feature=2, **{"at most": "inf"}), f"node 0 {RULE_OF_MIXED_NODES}"),
    ("a huge cut", ask(0, feature=2, **{"at most": "0x1p99999"}), f"node 0 {RULE_OF_MIXED_NODES}"),
    ("a cut of a category", ask(0, feature=1, **{"at most": "0x1p0"}), f"node 0 {RULE_OF_MIXED_NODES}"),
    ("an empty set", ask(2, feature=1, **{"in": []}), f"node 2 {RULE_OF_MIXED_NODES}"),
    ("a set out of order", ask(2, feature=1, **{"in": [3, 0]}), f"node 2 {RULE_OF_MIXED_NODES}"),
    ("a code twice", ask(2, feature=1, **{"in": [0, 0]}), f"node 2 {RULE_OF_MIXED_NODES}"),
    ("a code out of range", ask(2, feature=1, **{"in": [4]}), f"node 2 {RULE_OF_MIXED_NODES}"),
    ("one of two codes out of range", ask(2, feature=1, **{"in": [0, 4]}), f"node 2 {RULE_OF_MIXED_NODES}"),
    ("a truth value as a code", ask(2, feature=1, **{"in": [True]}), f"node 2 {RULE_OF_MIXED_NODES}"),
    ("two questions", ask(2, feature=1, **{"in": [0], "is": 1}), f"node 2 {RULE_OF_MIXED_NODES}"),
    ("every code", ask(2, feature=1, **{"in": [0, 1, 2, 3]}), "node 2 tests feature 1 again on the same path"),
    ("the same cut", ask(2, feature=2, **{"at most": "0x1.04p+5"}), "node 2 tests feature 2 again on the same path"),
    ("a cut beyond", ask(2, feature=2, **{"at most": "0x1p+6"}), "node 2 tests feature 2 again on the same path"),
]


@pytest.mark.parametrize(("damage", "message"), [case[1:] for case in MIXED_DAMAGES], ids=[c[0] for c in MIXED_DAMAGES])
def test_damaged_mixed_trees_are_refused(damage: Damage, message: str) -> None:
    data = copy.deepcopy(MIXED)
    damage(data)
    with pytest.raises(ft.FormatError) as caught:
        Tree.from_dict(data)
    assert str(caught.value).startswith(f"not a stored tree: {message}")


def test_a_feature_may_be_tested_again_where_something_is_left() -> None:
    data = copy.deepcopy(MIXED)
    ask(2, feature=2, **{"at most": "0x1p+4"})(data)
    assert str(Tree.from_dict(data)).startswith("age <= 32.5\n    age <= 16: 1")


def path_of(*steps: tuple[dict[str, object], str]) -> dict[str, Any]:
    """A tree that goes on below one side of every test."""
    nodes: list[dict[str, object]] = []

    def add(left: tuple[tuple[dict[str, object], str], ...]) -> int:
        place = len(nodes)
        nodes.append({"label": 0})
        if left:
            test, side = left[0]
            no = add(left[1:] if side == "no" else ())
            nodes[place] = {"test": test, "no": no, "yes": add(left[1:] if side == "yes" else ())}
        return place

    add(steps)
    return {**copy.deepcopy(MIXED), "nodes": nodes}


def below(cut: float) -> dict[str, object]:
    return {"feature": 2, "at most": cut.hex()}


def among(*codes: int) -> dict[str, object]:
    return {"feature": 1, "in": list(codes)}


@pytest.mark.parametrize(
    ("steps", "last", "fits"),
    [
        ([(below(5.0), "yes")], below(4.0), True),
        ([(below(5.0), "yes")], below(6.0), False),
        ([(below(5.0), "no")], below(6.0), True),
        ([(below(5.0), "no")], below(5.0), False),
        ([(below(5.0), "no")], below(4.0), False),
        ([(below(5.0), "no"), (below(9.0), "yes")], below(7.0), True),
        ([(below(5.0), "no"), (below(9.0), "yes")], below(9.0), False),
        ([(below(5.0), "no"), (below(9.0), "yes")], below(4.0), False),
        ([(among(0, 1), "yes")], among(0), True),
        ([(among(0, 1), "yes")], among(2), False),
        ([(among(0, 1), "yes")], among(0, 1, 2), False),
        ([(among(0, 1), "no")], among(0), False),
        ([(among(0, 1), "no")], among(0, 2), True),
        ([(among(0, 1), "no"), (among(2), "yes")], among(3), False),
        ([(below(5.0), "no"), (among(0), "no")], {"feature": 0, "is": 1}, True),
        ([({"feature": 0, "is": 1}, "no")], {"feature": 0, "is": 1}, False),
        ([({"feature": 0, "is": 1}, "yes"), (among(0), "no")], {"feature": 0, "is": 1}, False),
    ],
)
def test_a_path_asks_only_what_it_does_not_know(
    steps: list[tuple[dict[str, object], str]], last: dict[str, object], fits: bool
) -> None:
    data = path_of(*steps, (last, ""))
    if fits:
        assert Tree.from_dict(data).depth == len(steps) + 1
        return
    with pytest.raises(ft.FormatError, match="again on the same path"):
        Tree.from_dict(data)


TESTS = [{"feature": 0, "is": 1}, *map(below, (1.0, 2.0, 3.0)), among(0), among(1, 3), among(0, 1, 2)]
POINTS = [{0: a, 1: b, 2: c} for a in range(2) for b in range(4) for c in (0.5, 1.5, 2.5, 3.5)]


def asks(test: dict[str, Any]) -> Callable[[dict[int, float]], bool]:
    feature = test["feature"]
    if feature == 2:
        return lambda point: point[2] <= float.fromhex(test["at most"])
    return lambda point: point[feature] in test.get("in", [1])


nested = st.recursive(st.just(0), lambda inner: st.tuples(st.sampled_from(TESTS), inner, inner), max_leaves=12)


@given(nested)
def test_a_tree_is_read_where_every_test_has_inputs_on_both_sides(tree: Any) -> None:
    nodes: list[dict[str, Any]] = []

    def add(found: Any) -> tuple[Any, ...] | int:
        place = len(nodes)
        nodes.append({"label": 0})
        if not isinstance(found, tuple):
            return 0
        no = place + 1, add(found[1])
        yes = len(nodes), add(found[2])
        nodes[place] = {"test": found[0], "no": no[0], "yes": yes[0]}
        return asks(found[0]), no[1], yes[1]

    wanted = parts_everywhere(add(tree), POINTS)
    data = {**copy.deepcopy(MIXED), "nodes": nodes}
    if wanted:
        assert Tree.from_dict(data).size == (len(nodes) + 1) // 2
        return
    with pytest.raises(ft.FormatError, match="again on the same path"):
        Tree.from_dict(data)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data["features"][0].update(name="\ud800"),
        lambda data: data["features"][1]["values"].__setitem__(0, "\ud800"),
        put("labels", {"type": "str", "values": ["no", "\ud800"]}),
    ],
)
def test_text_that_no_file_can_hold_is_refused(damage: Damage) -> None:
    data = copy.deepcopy(MIXED)
    damage(data)
    with pytest.raises(ft.FormatError) as caught:
        Tree.from_dict(data)
    assert str(caught.value) == (
        "not a stored tree: its names, values and labels must be text that UTF-8 can hold, without NUL at "
        "its end; got '\\ud800'"
    )
