"""The bar plot of an analysis: what it draws, read back from the figure."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.errors import MissingExtraError

if TYPE_CHECKING:
    from pathlib import Path

SPACE = ft.ProductSpace.bernoulli(
    20, names=[f"feature {i}" for i in range(19)] + ["a name that goes on and on for ever"]
)


def target(batch: np.ndarray) -> np.ndarray:
    return batch[:, 4] & (batch[:, 19] | batch[:, 7])


def test_bars_are_the_influences_largest_first_with_their_intervals(tmp_path: Path) -> None:
    found = ft.analyze(target, SPACE, max_queries=5000, delta=0.1)
    picture = found.plot(tmp_path / "bars.png", most=3)
    place = picture.axes[0]
    assert [bar.get_width() for bar in place.patches] == sorted(found.influences.tolist())[::-1][:3]
    names = [text.get_text() for text in place.get_yticklabels()]
    assert names[0] == "feature 4"
    assert sorted(names[1:]) == ["a name that goes on and on …", "feature 7"]
    assert place.get_title() == "the 3 largest of 20, intervals hold together with confidence 0.9"
    lines = place.containers[1].lines[2][0].get_segments()
    assert lines[0][:, 0].tolist() == pytest.approx(found.intervals[4].tolist())
    assert (tmp_path / "bars.png").read_bytes().startswith(b"\x89PNG")


def test_exact_bars_have_no_intervals() -> None:
    found = ft.analyze(lambda batch: batch[:, 0], ft.ProductSpace.bernoulli(3))
    place = found.plot().axes[0]
    assert place.get_title() == "exact"
    assert len(place.containers) == 1
    assert len(place.patches) == 3


def test_a_constant_has_a_plot_too() -> None:
    found = ft.analyze(lambda batch: np.zeros(len(batch)), ft.ProductSpace.bernoulli(3))
    assert found.plot().axes[0].get_xlim() == (0, 1)


def test_bad_arguments_are_refused() -> None:
    found = ft.analyze(target, SPACE, max_queries=5000)
    with pytest.raises(ft.ParameterError, match="most must be at least 1; got 0"):
        found.plot(most=0)


@pytest.mark.parametrize("name", ["bars.xyz", "bars"])
def test_an_ending_that_cannot_be_drawn_is_refused(name: str) -> None:
    found = ft.analyze(target, SPACE, max_queries=5000)
    with pytest.raises(ft.ParameterError, match=rf"path must end in one of \..*, \.png, .*; got '{name}'"):
        found.plot(name)


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"figures need matplotlib; install it with: pip install 'fidelitree\["):
        ft.analyze(target, SPACE, max_queries=5000).plot()
