"""Figures: what is drawn, what is marked, and that the same figure is the same file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from fidelitree.errors import MissingExtraError
from fidelitree.experiments import pictures
from fidelitree.experiments.catalogue import worked_examples
from fidelitree.experiments.errata import Erratum
from fidelitree.experiments.sizes import BIASES, FAMILIES, Row

if TYPE_CHECKING:
    from pathlib import Path


def rows(axis: str) -> list[Row]:
    places = [0.1, 0.2, 0.3] if axis == "epsilon" else [3, 4, 5]
    return [
        Row(
            family=family,
            p=p,
            n=20 if axis == "epsilon" else int(place),
            epsilon=place if axis == "epsilon" else 0.15,
            repetition=repetition,
            schedule="printed",
            target_size=16,
            size=10 + repetition,
            depth=4,
            error=0.05,
            certified=0.08,
            constant_error=0.25 if p == 0.5 else 0.05,
            asked=1000 * (repetition + 1),
            seconds=0.1,
        )
        for family in FAMILIES
        for p in BIASES
        for place in places
        for repetition in range(2)
    ]


@pytest.mark.parametrize("axis", ["epsilon", "n"])
def test_sizes_queries_and_errors_stand_below_each_other(axis: str) -> None:
    figure = pictures.sizes_figure(rows(axis), axis)
    axes = figure.axes
    assert len(axes) == 3 * 3
    assert [place.get_ylabel() for place in axes[::3]] == ["leaves", "label queries", "exact error"]
    assert [place.get_title() for place in axes[:3]] == [
        "balanced target, printed schedule",
        "chain, exits at 1, printed schedule",
        "chain, exits at 0, printed schedule",
    ]
    for line in range(3):
        assert len({place.get_ylim() for place in axes[3 * line : 3 * line + 3]}) == 1, "one scale for all targets"
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {f"p = {p}" for p in BIASES} <= set(texts)
    assert any("a constant suffices" in text for text in texts)


@pytest.mark.parametrize("axis", ["epsilon", "n"])
def test_the_papers_own_figure_is_the_top_row(axis: str) -> None:
    whole, alone = (pictures.sizes_figure(rows(axis), axis, measures) for measures in (pictures.MEASURES, ["leaves"]))
    assert len(alone.axes) == 3
    for place, same in zip(alone.axes, whole.axes[:3], strict=True):
        assert place.get_ylabel() == "leaves"
        assert place.get_xlabel() == ("1 / epsilon" if axis == "epsilon" else "number of features n")
        drawn, again = ([line.get_xydata().tolist() for line in one.get_lines()] for one in (place, same))
        assert drawn == again


def test_curves_are_means_with_standard_deviations() -> None:
    place = pictures.sizes_figure(rows("n"), "n").axes[0]
    curve = next(drawn for drawn in place.containers if drawn.get_label() == "p = 0.5")
    assert curve.lines[0].get_xydata().tolist() == [[3, 10.5], [4, 10.5], [5, 10.5]]
    bars = curve.lines[2][0].get_segments()
    assert np.array(bars)[:, :, 1].tolist() == [[10.0, 11.0]] * 3


def test_cells_where_a_constant_suffices_are_hollow() -> None:
    """p = 0.5 has constants of error .25, which are good enough for epsilon = .3 alone; the others always are."""
    place = pictures.sizes_figure(rows("epsilon"), "epsilon").axes[0]
    hollow = [line for line in place.get_lines() if line.get_color() == "white" and len(line.get_xdata())]
    found = {line.get_markeredgecolor(): [round(1 / x, 2) for x in line.get_xdata()] for line in hollow}
    assert found[pictures._COLOURS[0.5]] == [0.3]
    assert found[pictures._COLOURS[0.3]] == found[pictures._COLOURS[0.1]] == [0.1, 0.2, 0.3]


def test_errata_are_marks_at_the_smallest_counter_example() -> None:
    rows = [
        Erratum("What holds", "Lemma 1", "holds", "", 100, 0, 0, "", "", 0),
        Erratum("The one error", "Lemma 2", "fails", "", 100, 40, 3, "", "", 0),
        Erratum("Slips", "Lemma 3", "slip", "", 100, 0, 45, "", "", 0),
    ]
    place = pictures.errata_figure(rows).axes[0]
    marks = {line.get_label(): line.get_xydata().tolist() for line in place.get_lines()}
    assert marks == {
        "holds": [[10**6, 0]],
        "fails, from one cause": [[3, 1]],
        "a slip, easily mended": [[45, 2]],
    }
    assert [text.get_text() for text in place.texts] == ["n = 3", "n = 45"]
    assert not place.patches, "no bars"


def test_bounds_are_drawn_printed_beside_corrected() -> None:
    figure = pictures.bounds_figure(worked_examples(depths=(1, 2, 3), features=(1, 2, 4)))
    for place, name, x in zip(figure.axes, ("balanced", "path"), ([1, 2, 3], [1, 2, 4]), strict=True):
        assert place.get_title() == f"{name} example"
        drawn = {line.get_label(): line for line in place.get_lines()}
        assert set(drawn) >= {"printed, epsilon = 0.1", "corrected, epsilon = 0.1", "leaves of the example"}
        assert drawn["corrected, epsilon = 0.1"].get_xdata().tolist() == x


def test_the_same_figure_is_the_same_file(tmp_path: Path) -> None:
    files = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        files.append(pictures.save(pictures.sizes_figure(rows("n"), "n"), tmp_path / name, "figure"))
    assert [path.name for path in files[0]] == ["figure.png", "figure.svg"]
    assert files[0][0].read_bytes().startswith(b"\x89PNG")
    assert files[0][1].read_bytes() == files[1][1].read_bytes()


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError) as caught:
        pictures.figure(1, 1)
    assert str(caught.value) == "figures need matplotlib; install it with: pip install 'fidelitree[plot]'"
