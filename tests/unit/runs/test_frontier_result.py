"""The frontier as an object: its points, how one is picked, and how it is shown, stored and read again."""

from __future__ import annotations

import json
import pickle
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.certificates.store import FRONTIER, load
from fidelitree.display.wording import at_most
from fidelitree.targets import majority
from journals import BITS, MIXED, on_bits, on_mixed

if TYPE_CHECKING:
    from pathlib import Path


SQUARE = ft.ProductSpace([ft.Numeric(name, 0, 1) for name in "ab"])
LIMITS = {"max_leaves": 8, "max_queries": 600}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("frontier")


@pytest.fixture(scope="module")
def curve(folder: Path) -> ft.Frontier:
    return ft.frontier(on_mixed, MIXED, **LIMITS, journal=folder / "journal.db")


@pytest.fixture(scope="module")
def exact() -> ft.Frontier:
    return ft.frontier(majority(5), ft.ProductSpace.bernoulli(5), max_leaves=8)


def test_points_are_results_from_one_leaf_up(curve: ft.Frontier) -> None:
    assert [point.leaves for point in curve] == [point.tree.size for point in curve.points]
    assert curve[0].leaves == 1
    assert len(curve) >= 4
    sizes, bounds = [p.leaves for p in curve], [p.error_bound for p in curve]
    assert sizes == sorted(set(sizes))
    assert bounds == sorted(set(bounds), reverse=True), "no point is dominated"
    for point in curve:
        low, high = point.interval
        assert 0 <= low <= high == point.error_bound == point.certificate.error_bound
        assert point.depth == point.tree.depth
        assert point.frontier is curve
        assert point.certificate.samples > 0
    assert curve[1:3] == [curve[1], curve[2]]
    assert curve[-1] == list(curve)[-1]


def test_a_point_is_picked_by_size_error_or_price(curve: ft.Frontier) -> None:
    sizes = [point.leaves for point in curve]
    assert curve.at(leaves=sizes[2]).leaves == sizes[2]
    assert curve.at(leaves=10**6).leaves == sizes[-1]
    assert curve.at(leaves=1).leaves == 1
    between = curve.at(epsilon=curve[1].error_bound)
    assert (between.leaves, between.certificate.epsilon, between.certificate.holds) == (
        sizes[1],
        between.error_bound,
        True,
    )
    assert curve.at(price=0.0).leaves == sizes[-1]
    assert curve.at(price=1.0).leaves == 1
    assert curve.knee.leaves == curve.at(price=0.005).leaves


@pytest.fixture(scope="module")
def steep(folder: Path) -> ft.Frontier:
    """A sum of two numbers, which every leaf follows better."""
    return ft.frontier(steps, SQUARE, max_queries=4_000, journal=folder / "steep.db")


def steps(batch: Any) -> Any:
    return np.floor(4 * batch["a"] + 4 * batch["b"]).astype(int)


def test_sizes_between_those_that_are_listed_can_be_picked(steep: ft.Frontier) -> None:
    listed, every = {point.leaves for point in steep}, {point.leaves for point in steep.points}
    assert len(listed) <= 9
    assert listed < every
    assert len(every & set(range(1, 33))) > 20
    assert [row["leaves"] for row in steep.rows()] == sorted(listed)
    between = steep.at(leaves=22)
    assert between.leaves in {20, 21, 22}
    assert steep.at(leaves=13).error_bound >= between.error_bound
    assert steep.at(epsilon=between.error_bound).leaves <= between.leaves
    fresh = SQUARE.draw(20_000, seed=1)
    for point in steep.points:
        assert (point.tree.predict(fresh) != steps(fresh)).mean() < point.error_bound + 0.01


def test_sizes_between_are_stored_and_verified(steep: ft.Frontier, tmp_path: Path) -> None:
    steep.at(leaves=22).save(tmp_path)
    again = ft.Frontier.load(tmp_path)
    assert [point.leaves for point in again.points] == [point.leaves for point in steep.points]
    assert str(again) == str(steep)
    assert ft.verify(tmp_path).holds


def test_what_cannot_be_picked_is_named(curve: ft.Frontier) -> None:
    with pytest.raises(ft.ParameterError, match="at takes one of leaves, epsilon and price; got"):
        curve.at()
    with pytest.raises(ft.ParameterError, match="at takes one of leaves, epsilon and price; got"):
        curve.at(leaves=2, epsilon=0.1)
    with pytest.raises(ft.ParameterError, match="leaves must be"):
        curve.at(leaves=0)
    best = curve[-1]
    with pytest.raises(ft.ParameterError, match=rf"the best, with {best.leaves} leaves, is certified to .*; got 1e-06"):
        curve.at(epsilon=1e-6)


def test_the_knee_is_where_leaves_stop_paying(curve: ft.Frontier) -> None:
    assert curve.has_knee
    knee = curve.knee.leaves
    assert [mark.leaves for mark in curve.marks if mark.knee] == [knee]
    assert f"{knee} leaves agree with the target on at least" in curve.verdict()
    assert f"the knee of {len(curve)} certified trees" in curve.verdict()


def test_a_curve_without_a_knee_says_why() -> None:
    constant = ft.frontier(lambda batch: batch[:, 0] * 0, ft.ProductSpace.bernoulli(20), max_queries=300, max_leaves=4)
    assert (constant.has_knee, [mark.knee for mark in constant.marks]) == (False, [False] * len(constant))
    why = "No knee: no larger tree is certified to agree more often."
    assert constant.sentences()[0] == why
    assert why in str(constant)
    rare = ft.frontier(lambda bits: bits.all(axis=1), ft.ProductSpace.bernoulli(8), max_leaves=9)
    assert len(rare) > 1
    assert rare.sentences()[0] == "No knee: no larger tree brings half a per cent of agreement for each of its leaves."
    assert rare.verdict().startswith("1 leaf agrees with the target on ")  # the tree that is saved and reported
    steep = ft.frontier(majority(5), ft.ProductSpace.bernoulli(5), max_leaves=2)
    assert steep.sentences()[0] == "No knee: every leaf brings half a per cent of agreement, up to 2 leaves."
    assert steep.verdict().startswith("2 leaves agree with the target on ")


def test_it_prints_as_a_table(curve: ft.Frontier, exact: ft.Frontier) -> None:
    lines = str(curve).splitlines()
    assert lines[0] == "leaves  agrees on at least  at most"
    assert [line.split()[0] for line in lines[1 : len(curve) + 1]] == [f"{point.leaves}" for point in curve]
    assert sum(line.endswith("<- knee") for line in lines) == 1
    assert lines[-1] == "All of these hold together, with 95% confidence."
    assert str(exact).splitlines()[-1] == "Exact: every answer is known."
    assert repr(curve).startswith(f"<Frontier: {len(curve)} trees, 1 to {curve[-1].leaves} leaves, error <= ")
    assert f" to {at_most(curve[-1].error_bound)} (95% for all), {curve.queries.asked:,} labels>" in repr(curve)


def test_rows_and_frame(curve: ft.Frontier) -> None:
    pytest.importorskip("pandas")
    frame = curve.to_frame()
    assert list(frame.columns) == ["leaves", "depth", "error_bound", "lower", "upper", "samples", "errors"]
    assert frame.to_dict("records") == curve.rows()


def test_a_notebook_shows_a_card_with_the_curve(curve: ft.Frontier) -> None:
    html = curve._repr_html_()
    assert curve.verdict() in html
    assert html.count("<circle") == len(curve)
    assert ">knee</text>" in html
    assert "<script" not in html


def test_the_plot_has_both_ends_of_every_interval(curve: ft.Frontier, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = curve.plot(tmp_path / "curve.svg")
    (place,) = picture.axes
    bars = next(one for one in place.collections if len(one.get_segments()) == len(curve))
    ends = [(float(low), float(high)) for (_, low), (_, high) in bars.get_segments()]
    for (low, high), point in zip(ends, curve, strict=True):
        assert (low, high) == pytest.approx((1 - point.interval[1], 1 - point.interval[0]))
    assert [text.get_text() for text in place.texts] == ["knee"]
    assert (picture.patch.get_alpha(), place.patch.get_alpha()) == (0, 0)
    assert (tmp_path / "curve.svg").stat().st_size > 1_000
    with pytest.raises(ft.ParameterError, match=r"path must end in one of"):
        curve.plot(tmp_path / "curve.doc")


def test_it_comes_back_from_its_folder(curve: ft.Frontier, folder: Path) -> None:
    files = {path.name for path in curve.save(folder)}
    assert {"frontier.json", "tree.json", "certificate.json", "space.json", "report.html"} <= files
    again = ft.Frontier.load(folder)
    assert again.rows() == curve.rows()
    assert str(again) == str(curve)
    assert (again.delta, again.max_leaves, again.reason, again.queries) == (0.05, 8, curve.reason, curve.queries)
    for one, two in zip(curve, again, strict=True):
        assert (one.tree, one.certificate, one.tested, one.trace) == (two.tree, two.certificate, two.tested, two.trace)
        assert one.leaf_labels is not None
        assert two.leaf_labels is not None
        assert (one.leaf_labels.shares == two.leaf_labels.shares).all()
    assert load(folder).tree == curve.knee.tree
    assert ft.verify(folder).holds


def test_its_report_comes_back_too(curve: ft.Frontier, folder: Path, tmp_path: Path) -> None:
    curve.save(folder)
    # A folder keeps no answers one by one, and nothing of how they came.
    told = [replace(p, call="", answers=None, queries=replace(p.queries, rounds=0)) for p in curve.points]
    page = replace(curve, points=tuple(told)).report(tmp_path / "one.html").read_bytes()
    assert ft.Frontier.load(folder).report(tmp_path / "two.html").read_bytes() == page


@pytest.mark.parametrize("pick", [{"leaves": 2}, {"epsilon": 0.6}, {"price": 1.0}])
def test_any_point_is_stored_and_verified(curve: ft.Frontier, folder: Path, pick: dict[str, float]) -> None:
    point = curve.at(**pick)  # type: ignore[arg-type]
    point.save(folder)
    stored = load(folder)
    assert (stored.tree, stored.certificate) == (point.tree, point.certificate)
    assert stored.run["point"] == {"leaves": point.leaves, "epsilon": pick.get("epsilon")}
    found = ft.verify(folder)
    assert (found.consistent, found.holds) == (True, True), str(found)
    assert ft.Frontier.load(folder).rows() == curve.rows()


def test_an_exact_frontier_comes_back(exact: ft.Frontier, tmp_path: Path) -> None:
    exact.save(tmp_path)
    again = ft.Frontier.load(tmp_path)
    assert again.rows() == exact.rows()
    assert [point.certificate for point in again] == [point.certificate for point in exact]


def test_distill_stores_its_frontier_and_any_point_of_it(tmp_path: Path) -> None:
    result = ft.distill(on_bits, BITS, 0.1, journal=tmp_path / "journal.db")
    assert result.frontier is not None
    result.save(tmp_path)
    assert ft.verify(tmp_path).holds
    again = ft.Frontier.load(tmp_path)
    assert again.rows() == result.frontier.rows()
    assert again.at(epsilon=0.1).leaves == result.tree.size
    smaller = again.at(leaves=result.tree.size - 1)
    smaller.save(tmp_path)
    found = ft.verify(tmp_path)
    assert (found.consistent, found.undecided) == (True, False), str(found)
    assert load(tmp_path).tree == smaller.tree


def test_a_result_without_one_leaves_none_behind(tmp_path: Path, curve: ft.Frontier) -> None:
    curve.save(tmp_path)
    ft.build_top_down(majority(3), ft.ProductSpace.bernoulli(3), 0).save(tmp_path)
    assert not (tmp_path / FRONTIER).exists()
    with pytest.raises(ft.ParameterError, match=r"folder must hold a stored frontier; frontier.json is not in"):
        ft.Frontier.load(tmp_path)


@pytest.mark.parametrize("name", ["asked", "paid"])
def test_counts_that_are_none_are_refused(curve: ft.Frontier, tmp_path: Path, name: str) -> None:
    curve.save(tmp_path)
    run = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    (tmp_path / "run.json").write_text(json.dumps({**run, name: {"label": "many"}}), encoding="utf-8")
    with pytest.raises(ft.FormatError, match=rf"run.json: {name} must hold counts"):
        ft.Frontier.load(tmp_path)


def test_a_trace_of_words_is_refused(curve: ft.Frontier, tmp_path: Path) -> None:
    curve.save(tmp_path)
    (tmp_path / "trace.csv").write_text("asked,size,error,error_bound\n1,2,few,many\n", encoding="utf-8")
    with pytest.raises(ft.FormatError, match=r"trace.csv must hold numbers"):
        ft.Frontier.load(tmp_path)


def test_a_point_of_another_run_is_noticed(curve: ft.Frontier, folder: Path, tmp_path: Path) -> None:
    """Each file is honest, and the two frontiers differ by their seed alone."""
    curve.save(folder)
    other = ft.frontier(on_mixed, MIXED, **LIMITS, seed=3, journal=tmp_path / "journal.db")
    other.save(tmp_path)
    shutil.copy(folder / FRONTIER, tmp_path / FRONTIER)
    run = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    run["files"][FRONTIER] = json.loads((folder / "run.json").read_text(encoding="utf-8"))["files"][FRONTIER]
    (tmp_path / "run.json").write_text(json.dumps(run), encoding="utf-8")
    found = ft.verify(tmp_path)
    assert not found.consistent
    assert "seed is not the same" in str(found)


def test_the_curve_of_a_result_is_made_when_it_is_asked_for_and_goes_with_a_pickle() -> None:
    made = ft.distill(lambda bits: bits[:, 0] & bits[:, 3], ft.ProductSpace.bernoulli(24), 0.1)
    assert callable(made.curve)
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    assert [(one.tree, one.certificate) for one in again.frontier] == [
        (one.tree, one.certificate) for one in made.frontier or ()
    ]
