"""Worlds at a glance, and as files to edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.spaces.describe import quantiles, to_toml
from fidelitree.spaces.features import Numeric

if TYPE_CHECKING:
    from pathlib import Path


def table(rows: int = 300) -> dict[str, Any]:
    random = np.random.default_rng(0)
    age = random.integers(18, 90, rows)
    return {
        "age": age,
        "owner": random.random(rows) < 0.3,
        'the "job"': random.choice(["clerk", "nurse", "pilot", "cook, chef"], rows, p=[0.5, 0.3, 0.15, 0.05]),
        "income": np.round(random.gamma(2, 900, rows), 2),
        "rooms": random.integers(1, 5, rows),
    }


@pytest.mark.parametrize("made", [
    ft.ProductSpace.from_data, ft.ChowLiu.from_data, ft.Mixture.from_data, ft.Rows, lambda t: ft.Rows(t, blend=0.2),
])  # fmt: skip
def test_every_kind_of_world_describes_itself(made: Any) -> None:
    world = made(table())
    text = str(world.describe())
    lines = text.splitlines()
    assert lines[0] == world.in_words
    assert ("held-out log-likelihood" in text) == (world.fit is not None)
    assert len(lines) == 7 + (world.fit is not None)
    assert "18 to 89, middle" in text
    html = world.describe()._repr_html_()
    assert html.count("<svg") == 5
    assert "the &quot;job&quot;" in html


def test_histograms_show_shares() -> None:
    lines = ft.ProductSpace([ft.Numeric("x", 0, 12), ft.Boolean("b", 0.25)]).describe().lines
    assert lines[0].shares == pytest.approx([1 / 12] * 12)
    assert lines[0].bars == "█" * 12
    assert lines[1].shares == (0.75, 0.25)
    assert ft.ProductSpace.from_data({"same": [3, 3]}).describe().lines[0].shares == (1.0,)


@pytest.mark.parametrize("feature", [
    Numeric("x", 2, 4), Numeric.from_quantiles("x", [0, 1, 5]), Numeric.from_values("x", range(101)),
])  # fmt: skip
def test_quantiles_have_their_shares_below_them(feature: Numeric) -> None:
    for level, value in zip((0.1, 0.5, 0.9), quantiles(feature, (0.1, 0.5, 0.9)), strict=True):
        assert feature.mass((-np.inf, value)) == pytest.approx(level, abs=0.011)


def test_the_file_is_read_again(tmp_path: Path) -> None:
    world = ft.ProductSpace.from_data(table())
    path = tmp_path / "space.toml"
    path.write_text(to_toml(world, "pandas"), encoding="utf-8")
    again = ft.ProductSpace.from_file(path)
    assert again.names == world.names
    assert again.kinds == world.kinds
    assert again.features[1].mass(1) == pytest.approx(world.features[1].mass(1))
    assert again.features[2].values == world.features[2].values
    assert again.features[4].listed(None)[0].tolist() == [1, 2, 3, 4]
    income = [feature for feature in (world.features[3], again.features[3]) if isinstance(feature, Numeric)]
    assert quantiles(income[0], (0.2, 0.8)) == pytest.approx(quantiles(income[1], (0.2, 0.8)), rel=0.02)
