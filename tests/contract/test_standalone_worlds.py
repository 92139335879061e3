"""What ``verify.py`` draws and weighs, with code of its own, against what the library draws and weighs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.certificates import standalone
from fidelitree.runs.input_source import source_of
from fidelitree.spaces.given import world_of
from fidelitree.spaces.region import Region

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fidelitree.spaces.world import World

ROWS = 700  # the first blocks of a stream: 64, 128, 256, 512


def table(rows: int = 300, gaps: bool = True) -> dict[str, Any]:
    """Columns of all kinds that go together; some numbers are missing."""
    random = np.random.default_rng(5)
    age = random.integers(18, 90, rows)
    income = np.round(age * 100 + random.normal(0, 500, rows), 1)
    return {
        "age": age,
        "owner": random.random(rows) < age / 100,
        "job": np.where(random.random(rows) < age / 90, "nurse", np.where(age % 3 == 0, "clerk", "pilot")),
        "income": np.where(random.random(rows) < 0.2, np.nan, income) if gaps else income,
    }


YOUNG = ft.ProductSpace([ft.Numeric("age", 18, 40, missing=0.1), ft.Boolean("owner", 0.1)])
OLD = ft.ProductSpace([ft.Numeric("age", 40, 90), ft.Boolean("owner", 0.8)])
WORLDS: dict[str, World] = {
    "bits": ft.ProductSpace.bernoulli(5, 0.3),
    "product": ft.ProductSpace.from_data(table()),
    "quantiles": ft.ProductSpace([ft.Numeric.from_quantiles("x", [0, 0, 2, 7]).with_missing(0.25), ft.Boolean("b")]),
    "weights": ft.ProductSpace([ft.Numeric.from_values("x", [1.5, 2.5, 4.0], [0.3, 0.3, 0.4]), ft.Boolean("b")]),
    "rows": ft.Rows(table()),
    "chow-liu": ft.ChowLiu.from_data(table()),
    "chow-liu of bits": ft.ChowLiu.from_data({"a": np.arange(90) % 2 == 0, "b": np.arange(90) % 4 == 0}),
    "half of a table": world_of(table()),
    "mixture": ft.Mixture([(0.75, YOUNG), (0.25, OLD)]),
    "latent classes": ft.Mixture.from_data(table(gaps=False)),
    "latent classes of gaps": ft.Mixture.from_data(table()),
}
every_world = pytest.mark.parametrize("name", list(WORLDS))


def stored(name: str) -> Any:
    """The world as ``verify.py`` reads it."""
    return standalone.space_of(json.loads(json.dumps(WORLDS[name].to_dict()), parse_int=standalone.short_int))


@every_world
def test_digests_and_assumptions_are_the_same(name: str) -> None:
    found = stored(name)
    assert found.digest == WORLDS[name].digest
    assert found.assumes == WORLDS[name].assumes


@every_world
@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("seed", [0, 12345])
def test_inputs_are_the_same_to_the_last_bit(name: str, together: bool, seed: int) -> None:
    world, found = WORLDS[name], stored(name)
    source = source_of(world, seed, together=together)
    count = 100 if name == "rows" else ROWS
    joined = together and found.bits and found.independent
    for purpose, draw in (("certify", source.test), ("label", source.label)):
        drawn = draw(count)
        mine = found.inputs(f"{seed}/{purpose}/{standalone.FIRST_KEY}", count, joined and purpose == "certify")
        assert np.array_equal(drawn, np.array(mine, drawn.dtype), equal_nan=drawn.dtype.kind == "f")


def boxes(world: World) -> Iterator[tuple[dict[str, Any], dict[int, Any]]]:
    """What a user gives, and what is left of features as ``verify.py`` writes it."""
    names = list(world.product.names)
    for i, feature in enumerate(world.product.features):
        if feature.kind == "boolean":
            yield {feature.name: 1}, {i: {1}}
        elif feature.kind == "categorical":
            some = (feature.values or ())[:2]
            yield {feature.name: set(some)}, {i: {0, 1}}
    if "owner" in names and "age" in names:
        place = names.index("age")
        yield {"age": (None, 37.5)}, {place: (float("-inf"), 37.5, False)}
        yield {"age": (None, 41.0), "owner": 0}, {place: (float("-inf"), 41.0, False), names.index("owner"): {0}}
    if "income" in names and getattr(world.product.features[names.index("income")], "missing", 0):
        place = names.index("income")
        yield {"income": None, "owner": 1}, {place: (float("inf"), float("inf"), True), names.index("owner"): {1}}


@pytest.mark.parametrize("name", [name for name, world in WORLDS.items() if world.masses is not None])
def test_masses_are_the_same(name: str) -> None:
    world, found = WORLDS[name], stored(name)
    assert world.masses is not None
    for given, box in boxes(world):
        region = Region.of(world.product, given)
        assert found.mass(box) == pytest.approx(world.masses.mass(region), abs=1e-12), given


def code_of(folder: Path, answers: bool = True) -> int:
    found = ft.verify(folder, answers=answers)
    return 2 if not found.consistent else 5 if found.undecided else 0 if found.holds else 3


@every_world
def test_folders_of_every_world_are_confirmed_where_inputs_bear_witness(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world = WORLDS[name]
    first = world.product.features[0]
    cut = {"numeric": 40 if first.name == "age" else 1.75}.get(first.kind, 0.5)

    def target(batch: Any) -> Any:
        return np.asarray(batch[:, 0] if isinstance(batch, np.ndarray) else batch[first.name], np.float64) > cut

    made = ft.distill(target, world, epsilon=0.2, seed=3, journal=tmp_path / "run.db")
    made.save(tmp_path / "kept")
    expected = 5 if name == "rows" else 0
    assert standalone.main(tmp_path / "kept") == code_of(tmp_path / "kept") == expected, capsys.readouterr().out
    assert code_of(tmp_path / "kept", answers=False) == 0
