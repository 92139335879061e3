"""Every format of `fidelitree.export`, one battery: run where it is meant to run, it answers what the tree answers."""

from __future__ import annotations

import math
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fidelitree as ft
from exported import CIRCUITS, RUNNERS, batch, grown, hard_inputs
from fidelitree import export
from fidelitree.errors import ParameterError
from fidelitree.spaces.features import AtMost, IsIn, IsOne
from fidelitree.trees.tree import Tree
from mixed import MIXED
from small import LABEL_SETS

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = 10_000
BITS = ft.ProductSpace.bernoulli(8, np.linspace(0.2, 0.8, 8))
FLOATS = ft.ProductSpace([ft.Numeric("a", 0, 1), ft.Numeric("b", -1e6, 1e9), ft.Numeric("c", -1e-9, 1e-9)])
WHOLE = ft.ProductSpace.from_data({"age": np.arange(18, 91), "rooms": np.array([1, 2, 3] * 24 + [9])})
NAMED = ft.ProductSpace(
    [
        ft.Categorical("job", {"clerk": 0.3, "nurse": 0.3, "": 0.2, "pilot": 0.2}),
        ft.Categorical("level", [3, -1, 7, 2**62]),
        ft.Categorical("town", ["Łódź", "it's", None, 'a "b"', "x\\n"]),
        ft.Categorical("grade", [1.5, None, 2.0, 0.1]),
        ft.Categorical("flag", [True, False]),
    ]
)
GAPS = ft.ProductSpace(
    [
        ft.Numeric("age", 18, 90, missing=0.3),
        ft.Numeric.from_values("rooms", [1, 2, 3, 5, None]),
        ft.Numeric.from_quantiles("income", [-1e6, 0, 0, 1e9]).with_missing(0.9),
        ft.Numeric("size", 0, 1),
    ]
)
MIXED_GAPS = ft.ProductSpace(
    [*GAPS, ft.Categorical("job", ["clerk", None, "pilot"]), ft.Boolean("owner"), ft.Categorical("grade", [1.5, None])]
)
LONG = [-(2**63), -1, 2**40, 2**63 - 1]


def chain(space: ft.ProductSpace, labels: list[Any]) -> Tree:
    """One test after the other, on alternating sides: as deep as there are features."""
    nodes: list[Any] = []
    for i in range(len(space)):
        leaf, on = len(nodes) + 1, len(nodes) + 2
        nodes += [(IsOne(i), *((leaf, on) if i % 3 else (on, leaf))), i % len(labels)]
    return Tree.build(space, [*nodes, len(labels) - 1], labels)


KINDS: dict[str, tuple[ft.ProductSpace, Tree]] = {
    **{f"bits {labels}": (BITS, grown(BITS, 40, labels)) for labels in LABEL_SETS},
    "bits, one leaf, bool": (BITS, Tree.constant(BITS, True)),
    "bits, one leaf of two labels": (BITS, Tree.build(BITS, [1], [0, 1])),
    "bits, two leaves of one label": (BITS, Tree.build(BITS, [(0, 1, 2), 0, 0], [0, 1])),
    "bits, long labels": (BITS, grown(BITS, 20, LONG)),
    "floats": (FLOATS, grown(FLOATS, 60, [0, 1])),
    "floats, many labels": (FLOATS, grown(FLOATS, 60, [f"class {k:02}" for k in range(12)])),
    "whole numbers": (WHOLE, grown(WHOLE, 40, [False, True])),
    "categories": (NAMED, grown(NAMED, 60, ["a", "b", "c"])),
    "categories, one leaf": (NAMED, Tree.constant(NAMED, "only")),
    "categories, one test": (NAMED, Tree.build(NAMED, [(IsIn(2, frozenset({2})), 1, 2), 0, 1], [-1, 1])),
    "missing numbers": (GAPS, grown(GAPS, 60, [0, 1])),
    "missing numbers beside others": (MIXED_GAPS, grown(MIXED_GAPS, 80, ["a", "b", "c"])),
    "missing or not": (GAPS, Tree.build(GAPS, [(AtMost(0, math.inf, False), 1, 2), 0, 1], [0, 1])),
    "mixed": (MIXED, grown(MIXED, 80, [0, 1])),
    "mixed, several labels": (MIXED, grown(MIXED, 80, ["high", "low", "middle"])),
    "mixed, one leaf": (MIXED, Tree.constant(MIXED, 7)),
}


# Hard inputs have categories that no tree has seen.
pytestmark = pytest.mark.filterwarnings("ignore:feature .* has a category .* that the tree has never seen")


@pytest.fixture(params=RUNNERS)
def name(request: pytest.FixtureRequest, absent: Callable[[str], NoReturn]) -> str:
    """A format whose program is here."""
    return _ready(request.param, absent)


def _ready(name: str, absent: Callable[[str], NoReturn]) -> str:
    if name == "c" and shutil.which("gcc") is None:
        absent("gcc, which compiles what to_c writes, is not installed")
    return name


def test_every_format_that_ships_is_here() -> None:
    assert list(RUNNERS) == list(export.FORMATS)
    assert all(function.__name__ == f"to_{name}" for name, function in export.FORMATS.items())


@pytest.mark.parametrize("kind", KINDS)
def test_it_answers_what_the_tree_answers(name: str, kind: str, tmp_path: Path) -> None:
    space, tree = KINDS[kind]
    if name in CIRCUITS and set(tree.kinds) != {"boolean"}:
        with pytest.raises(ParameterError, match="tree must test bits only to become a circuit"):
            export.FORMATS[name](tree)
        return
    inner = hard_inputs(tree, space, ROWS)
    expected = tree.predict_inner(inner).tolist()
    found = RUNNERS[name](tree, inner, tmp_path)
    assert found == expected
    assert {type(label) for label in found} == {type(label) for label in expected}


def test_the_battery_speaks_of_the_users_own_values() -> None:
    for space, tree in KINDS.values():
        inner = hard_inputs(tree, space, 200)
        assert tree.predict(batch(tree, inner)).tolist() == tree.predict_inner(inner).tolist()


def test_two_thousand_leaves(name: str, tmp_path: Path) -> None:
    tree, inner, expected = _large(name in CIRCUITS)
    assert RUNNERS[name](tree, inner, tmp_path) == expected


@cache
def _large(circuit: bool) -> tuple[Tree, Any, list[Any]]:
    space = ft.ProductSpace.bernoulli(60) if circuit else MIXED_LARGE
    tree = grown(space, 2000, ["a", "b", "c"])
    inner = hard_inputs(tree, space, 500)
    return tree, inner, tree.predict_inner(inner).tolist()


MIXED_LARGE = ft.ProductSpace(
    [
        *[ft.Boolean(f"bit {i}", 0.4) for i in range(10)],
        *[ft.Categorical(f"kind {i}", [f"value {k}" for k in range(12)]) for i in range(5)],
        *[ft.Numeric(f"number {i}", 0, 1000) for i in range(10)],
    ]
)


def test_a_chain_of_two_thousand_tests(name: str, tmp_path: Path) -> None:
    tree, inner, expected = _chain()
    assert RUNNERS[name](tree, inner, tmp_path) == expected


@cache
def _chain() -> tuple[Tree, Any, list[Any]]:
    space = ft.ProductSpace.bernoulli(1900, 0.5)  # SQLite has 2 000 columns
    tree = chain(space, [0, 1])
    assert tree.depth == 1900
    rng = np.random.default_rng(1)
    inner = np.zeros((300, 1900), np.uint8)
    inner[:, 0::3] = 0
    inner[:, 1::3] = inner[:, 2::3] = 1
    inner[np.arange(300), rng.integers(1900, size=300)] ^= 1
    assert len(set(tree.reached(inner).tolist())) > 100
    return tree, inner, tree.predict_inner(inner).tolist()


NASTY = [
    "it's", 'say "hi"', "two words", "line\nbreak", "carriage\rreturn", "tab\t", "Größe", "年齢", "😀", "select", "int",
    "class", "return", "*/", "/*", "//", "??/", "%s", "%%", "-->", "<!--", "]]>", "<b>&amp;", "back\\slash", "end\\",
    "a, b", "{x}", "}", "x <= 3", "a in b", "y = 1: 0", "--", ";", "'); DROP TABLE inputs; --", "inputs", "x", "input",
    "label", "answer", "None", "\x7f", "\u2028", " lead", "trail ", "'''", '"""', "$x", "`", "\\N", "\\\"", "1",
    "x->y", "constant", "inner", "scores", "0",
]  # fmt: skip
words = st.sampled_from(NASTY) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12
)


def distinct(count: int) -> st.SearchStrategy[list[str]]:
    """Words that differ even for SQLite, which takes no notice of the case of names."""
    return st.lists(words, min_size=count, max_size=count, unique_by=str.lower)


def test_every_nasty_word_as_name_value_and_label(name: str, tmp_path: Path) -> None:
    if name in CIRCUITS:
        with pytest.raises(ParameterError, match="names of features must have no blanks"):
            export.FORMATS[name](Tree.constant(ft.ProductSpace.bernoulli(len(NASTY), names=NASTY), 0))
        return
    values = ft.Categorical("values", NASTY)
    space = ft.ProductSpace([values, *[ft.Numeric(word, 0, 1) for word in NASTY]])
    ends = len(NASTY) - 1
    by_value = [(IsIn(0, frozenset({k})), 2 * k + 2, 2 * k + 1) for k in range(ends)]
    nodes = [node for k, test in enumerate(by_value) for node in (test, k)]
    every = Tree.build(space, [*nodes, ends], sorted(NASTY))
    for tree in (every, grown(space, 300, sorted(NASTY))):
        inner = hard_inputs(tree, space, 500)
        assert RUNNERS[name](tree, inner, tmp_path) == tree.predict_inner(inner).tolist()


@pytest.mark.parametrize("named", [name for name in RUNNERS if name not in CIRCUITS])
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(names=distinct(4), values=distinct(4), labels=distinct(3), seed=st.integers(0, 2**16))
def test_any_names_values_and_labels(
    named: str,
    absent: Callable[[str], NoReturn],
    names: list[str],
    values: list[str],
    labels: list[str],
    seed: int,
) -> None:
    _ready(named, absent)
    space = ft.ProductSpace(
        [
            ft.Boolean(names[0]),
            ft.Categorical(names[1], values),
            ft.Numeric(names[2], 0, 1),
            ft.Categorical(names[3], values[:2]),
        ]
    )
    tree = grown(space, 8, sorted(labels), seed)
    inner = hard_inputs(tree, space, 40)
    with tempfile.TemporaryDirectory() as folder:
        assert RUNNERS[named](tree, inner, Path(folder)) == tree.predict_inner(inner).tolist()


def test_scikit_learns_tree_goes_through_skl2onnx() -> None:
    import onnxruntime
    import skl2onnx
    from skl2onnx.common.data_types import FloatTensorType

    for kind in ("mixed", "floats, many labels", "categories", f"bits {[0, 1]}", "whole numbers"):
        space, tree = KINDS[kind]
        encoder = export.Encoder(tree)
        inputs = [("X", FloatTensorType([None, len(encoder.names)]))]
        model = skl2onnx.convert_sklearn(
            export.to_sklearn(tree, space), initial_types=inputs, options={"zipmap": False}
        )
        inner = hard_inputs(tree, space, ROWS)
        session = onnxruntime.InferenceSession(model.SerializeToString())
        found = session.run(None, {"X": encoder.transform_inner(inner)})[0]
        assert found.tolist() == tree.predict_inner(inner).tolist()


def test_onnx_is_read_back_as_a_target() -> None:
    space, tree = KINDS["mixed, several labels"]
    model = ft.targets.OnnxModel(export.to_onnx(tree).SerializeToString())
    inner = hard_inputs(tree, space, 1000)
    inner = inner[inner[:, 1] >= 0]
    assert model(batch(tree, inner)).tolist() == tree.predict_inner(inner).tolist()
    assert ft.certify(tree, model, space, 0.05, seed=1).holds


def test_cuts_next_to_each_other_in_32_bits(name: str, tmp_path: Path) -> None:
    """Neighbouring 32-bit floats are the closest cuts that scikit-learn can tell apart, and it does."""
    near = np.float32(0.1)
    cuts = [float(near), float(np.nextafter(near, np.float32(1))), 0.3, np.nextafter(0.3, 1) + 1e-6]
    space = ft.ProductSpace([ft.Numeric("x", 0, 1)])
    nodes = [(AtMost(0, cuts[1]), 1, 2), (AtMost(0, cuts[2]), 3, 4), (AtMost(0, cuts[0]), 5, 6)]
    nodes += [(AtMost(0, cuts[3]), 7, 8), 0, 1, 2, 3, 4]
    tree = Tree.build(space, nodes, list("abcde"))
    inner = hard_inputs(tree, space, 10_000)
    if name not in CIRCUITS:
        assert RUNNERS[name](tree, inner, tmp_path) == tree.predict_inner(inner).tolist()
