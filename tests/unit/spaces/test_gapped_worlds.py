"""Worlds fitted to a table with gaps: masses are what draws say, and gaps that come together stay together.

ALARM is the chance of a false alarm for one share, were the seed new; there are fewer than a thousand.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from chances import plausible
from fidelitree.spaces import kinds
from fidelitree.spaces.blends import Blend
from fidelitree.spaces.describe import describe, to_toml
from fidelitree.spaces.draw import Stream
from fidelitree.spaces.features import AtMost
from fidelitree.spaces.region import Region

ALARM, ROWS = 1e-10, 20_000


def table(rows: int = 600) -> dict[str, Any]:
    """Who does not say his age does not say his income either."""
    random = np.random.default_rng(0)
    age = random.integers(18, 90, rows).astype(float)
    silent = random.random(rows) < 0.25
    return {
        "age": np.where(silent, np.nan, age),
        "income": np.where(silent & (random.random(rows) < 0.9), np.nan, age * 100 + random.normal(0, 500, rows)),
        "job": np.where(random.random(rows) < age / 90, "nurse", "clerk"),
    }


WORLDS: dict[str, Any] = {
    "product": ft.ProductSpace.from_data(table()),
    "chow-liu": ft.ChowLiu.from_data(table()),
    "mixture": ft.Mixture.from_data(table()),
    "blend": ft.Rows(table(), blend=0.2),
    "stated mixture": ft.Mixture(
        [
            (
                0.25,
                ft.ProductSpace(
                    [ft.Numeric("age", 18, 40, missing=0.5), ft.Numeric("income", 0, 9000), ft.Boolean("job")]
                ),
            ),
            (
                0.75,
                ft.ProductSpace(
                    [ft.Numeric("age", 30, 90), ft.Numeric("income", 0, 900, missing=0.2), ft.Boolean("job")]
                ),
            ),
        ]
    ),
}
every_world = pytest.mark.parametrize("name", WORLDS)


def regions(world: Any, seed: int) -> list[Region]:
    """Both sides of a few tests of each number, one below the other."""
    random, found = np.random.default_rng(seed), [world.product.whole]
    for feature, cuts in ((0, (25, 40, math.inf, 60)), (1, (2000, 5000, math.inf, 700))):
        cut = float(random.choice(cuts))
        test = AtMost(feature, cut, bool(random.integers(2)) and cut < math.inf)
        found += [part for region in found for part in region.parts(test) if part is not None]
    return found


def mass(world: Any, region: Region) -> float:
    """Of neighbours of all rows, where those of a part are what a run knows."""
    if isinstance(world, ft.Rows):
        return Blend(world.product, world.inner, world.blend, "").mass(region)
    return float(world.mass(region))


@every_world
def test_masses_are_what_draws_say(name: str) -> None:
    world = WORLDS[name]
    inner = world.inputs(Stream.named(1, "test"), 0, ROWS)
    for seed in range(6):
        for region in regions(world, seed):
            inside = np.ones(ROWS, np.bool_)
            for i, (low, high, *missing) in region.restrictions.items():
                column = inner[:, i]
                inside &= ((column > low) & (column <= high)) | (np.isnan(column) & bool(missing))
            assert plausible(int(inside.sum()), ROWS, min(1.0, mass(world, region)), ALARM)


@every_world
def test_draws_inside_a_region_are_inside(name: str) -> None:
    world = WORLDS[name]
    if not hasattr(world, "inside"):
        return
    for region in regions(world, 3):
        if world.mass(region) == 0:
            continue
        inner = world.inside(region, Stream.named(2, "test"), 0, 500)
        for i, (low, high, *missing) in region.restrictions.items():
            column = inner[:, i]
            assert (((column > low) & (column <= high)) | (np.isnan(column) & bool(missing))).all()


@every_world
def test_a_stored_world_is_the_same_world(name: str) -> None:
    world = WORLDS[name]
    again = kinds.from_dict(json.loads(json.dumps(world.to_dict(), allow_nan=False)))
    assert again.digest == world.digest
    stream = Stream.named(4, "test")
    assert np.array_equal(again.inputs(stream, 0, 50), world.inputs(stream, 0, 50), equal_nan=True)


@pytest.mark.parametrize(("name", "together"), [("product", 0.25 * 0.225), ("chow-liu", 0.2), ("mixture", 0.2)])
def test_gaps_that_come_together_stay_together(name: str, together: float) -> None:
    """In the table 22 % are silent on both; the product knows nothing of it."""
    inner = WORLDS[name].inputs(Stream.named(5, "test"), 0, ROWS)
    assert np.isnan(inner[:, :2]).all(axis=1).mean() == pytest.approx(together, abs=0.04)


def test_stored_rows_keep_their_gaps_and_no_others() -> None:
    rows = ft.Rows(table())
    data = json.loads(json.dumps(rows.to_dict(), allow_nan=False))
    again = kinds.from_dict(data)
    assert again.digest == rows.digest
    assert np.array_equal(again.table.inner, rows.inner, equal_nan=True)
    for feature in data["features"]:
        feature.pop("missing", None)
    with pytest.raises(ft.FormatError, match="numbers of feature 'age' may not be missing"):
        kinds.from_dict(data)


def test_a_sampler_may_leave_gaps() -> None:
    def draw(rows: int, rng: np.random.Generator) -> dict[str, Any]:
        return {"age": np.where(rng.random(rows) < 0.3, np.nan, rng.normal(40, 10, rows))}

    world = ft.Sampler(draw, like=draw(100, np.random.default_rng(0)))
    result = ft.distill(lambda batch: np.isnan(batch["age"]), world, epsilon=0.05, seed=0)
    assert str(result.tree).splitlines() == ["age is not missing: False", "age is missing: True"]


def test_a_description_and_a_file_to_edit_say_how_many_are_missing(tmp_path: Any) -> None:
    space = WORLDS["product"]
    assert "missing" in str(describe(space)).splitlines()[2]
    path = tmp_path / "space.toml"
    path.write_text(to_toml(space), encoding="utf-8")
    again = ft.ProductSpace.from_file(path)
    assert [getattr(one, "missing", None) for one in again] == [getattr(one, "missing", None) for one in space]
