"""The parts of a report: shares of nodes, influences, the scene for the script, the chart."""

from __future__ import annotations

import itertools
import json
import math
import re

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.report.contents import Shares, TracePoint
from fidelitree.report.sections import bars as influences_module
from fidelitree.report.sections.bars import influences
from fidelitree.report.sections.course import error_chart, thinned
from fidelitree.report.sections.tree_outline import controls, scene
from fidelitree.spaces.features import AtMost
from fidelitree.trees.answers import upwards
from mixed import MIXED, mixed_tree, some_inputs

TREE = mixed_tree(MIXED, np.random.default_rng(15), ["approve", "decline", "refer"], 0.95)


def test_sums_go_up_the_tree() -> None:
    rng = np.random.default_rng(0)
    of_leaves = rng.random(TREE.size)
    sums = upwards(TREE, of_leaves)
    assert sums[0] == pytest.approx(of_leaves.sum())
    for node in np.flatnonzero(TREE.feature >= 0):
        assert sums[node] == pytest.approx(sums[TREE.no[node]] + sums[TREE.yes[node]])


def test_masses_come_from_the_space_or_from_the_rows() -> None:
    product = ft.build_top_down(TREE, MIXED, 0.05)
    shares = Shares.of(product.contents)
    assert shares.masses is not None
    assert shares.wrong is not None
    assert not shares.estimated
    assert shares.masses[0] == 1
    assert shares.wrong[0] == pytest.approx(product.certificate.error_bound)
    table = MIXED.batch(some_inputs(MIXED, 2_000))
    listed = ft.distill(TREE, ft.Rows(table), 0.2)
    shares = Shares.of(listed.contents)
    assert shares.estimated
    assert shares.masses is not None
    assert listed.answers is not None
    of_leaves = listed.answers.counts(listed.tree).sum(axis=1) / len(listed.answers)
    assert shares.masses.tolist() == pytest.approx(upwards(listed.tree, of_leaves).tolist())


def test_influences_are_those_of_the_tree() -> None:
    found = influences(TREE, MIXED)
    assert found.rows == 0
    assert found.values.tolist() == pytest.approx(ft.analyze(TREE, MIXED).influences.tolist())


def test_influences_of_a_large_tree_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    """A share of 20 000 draws is off by more than 0.02 with probability below 2 exp(-16) for each of 5 features
    (Hoeffding); the seed is fixed all the same."""
    exact = influences(TREE, MIXED)
    monkeypatch.setattr(influences_module, "_PAIRS", 0)
    found = influences(TREE, MIXED)
    assert found.rows == 20_000
    assert found.values == pytest.approx(exact.values, abs=0.02)
    untested = sorted(set(range(len(MIXED))) - set(TREE.feature.tolist()))
    assert not found.values[untested].any()


def test_the_scene_holds_the_tree_exactly() -> None:
    result = ft.build_top_down(TREE, MIXED, 0)
    contents = result.contents
    found = scene(contents, Shares.of(contents), influences(contents.tree, MIXED).values)
    assert json.loads(json.dumps(found, allow_nan=False))["nodes"]["feature"] == result.tree.feature.tolist()
    for node, test in result.tree.tests.items():
        if test.kind == "numeric":
            assert found["cuts"][node] == test.cut  # type: ignore[attr-defined]
        else:
            assert found["sets"][node] == sorted(test.codes)  # type: ignore[attr-defined]
    asked = controls(contents)
    starts = {entry["name"]: entry["start"] for entry in asked}
    assert starts == {"owner": 0, "job": 0, "age": 54.0, "rooms": 2.0, "income": 10.0}
    assert {len(entry["likely"]) for entry in asked if entry["kind"] == "numeric"} == {21}


def test_the_scene_says_where_missing_numbers_go() -> None:
    age = ft.ProductSpace([ft.Numeric.from_values("age", [20, 30, None])])
    nodes = [(AtMost(0, 25.0, True), 1, 2), 0, (AtMost(0, math.inf, False), 3, 4), 1, 0]
    contents = ft.build_top_down(ft.Tree.build(age, nodes, [0, 1]), age, 0).contents
    found = scene(contents, Shares.of(contents), influences(contents.tree, age).values)
    known = [node for node, cut in found["cuts"].items() if cut is None]
    assert len(known) == 1, "JSON has no infinity"
    assert found["missing"].keys() == found["cuts"].keys()
    assert json.dumps(found, allow_nan=False)
    (asked,) = controls(contents)
    assert asked["missing"] == pytest.approx(1 / 3, abs=1e-6)
    assert not any(map(math.isnan, asked["likely"]))


def _numbers(svg: str, pattern: str) -> list[float]:
    return [float(number) for number in re.findall(pattern, svg)]


def test_chart_joins_the_error_of_a_tree_with_its_own_bound() -> None:
    steps = [
        TracePoint(10, 1, 0.5, 1.0),
        TracePoint(50, 3, 0.25, 1.0),
        TracePoint(90, 3, 0.01, 0.4),
        TracePoint(120, 3, None, 0.09),
    ]
    svg = error_chart(steps, 0.1, False, "it went well")
    assert len(re.findall(r'class="dot"', svg)) == 3, "the last error is not known"
    heights = _numbers(svg, r'cy="([\d.]+)" r="2.5"')
    assert heights == sorted(heights), "a smaller error is drawn lower"
    assert "<polyline" not in svg, "trees of a search are strangers to each other"
    uprights = re.findall(r'<line x1="([\d.]+)" x2="\1" y1="([\d.]+)" y2="([\d.]+)" class="line bound"', svg)
    assert len(uprights) == 2, "a bound of 1 certifies nothing"
    dots = dict(re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="2.5"', svg))
    (place, low, high), _ = uprights
    assert dots[place] == low, "from the error of the tree"
    assert float(high) < float(low), "up to its own bound"
    assert ">10% asked for<" in svg
    assert ">9%<" in svg
    assert "<desc" in svg
    assert "it went well" in svg


def test_chart_by_leaves_needs_no_bound_and_no_epsilon() -> None:
    svg = error_chart([TracePoint(0, size, 1 / size, None) for size in range(1, 6)], None, True, "")
    assert ">leaves<" in svg
    assert "asked for" not in svg
    assert 'class="line bound"' not in svg


def test_errors_of_zero_have_a_chart_too() -> None:
    svg = error_chart([TracePoint(0, 1, 0.0, None), TracePoint(0, 2, 0.0, 0.0)], 0.0, True, "")
    assert "NaN" not in svg
    assert "nan" not in svg


def test_long_traces_are_thinned_evenly() -> None:
    steps = [TracePoint(k, k, 0.1, None) for k in range(5_000)]
    few = thinned(steps, 100)
    assert (few[0], few[-1], len(few)) == (steps[0], steps[-1], 100)
    gaps = {after.asked - before.asked for before, after in itertools.pairwise(few)}
    assert max(gaps) - min(gaps) <= 1
    assert thinned(steps[:3], 100) == steps[:3]
    assert math.isfinite(len(error_chart(steps, None, True, "")))
