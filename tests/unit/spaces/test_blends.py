"""Neighbours of rows: masses and draws against enumeration, which rows test, and what is refused."""

from __future__ import annotations

import itertools
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from chances import plausible
from fidelitree.exact.paths import disagreement
from fidelitree.runs.input_source import source_of
from fidelitree.spaces.blends import Blend
from fidelitree.spaces.draw import Stream
from fidelitree.spaces.kinds import from_dict
from fidelitree.spaces.region import Region

if TYPE_CHECKING:
    from pathlib import Path

FALSE_ALARM = 1e-6
REGIONS: tuple[dict[str, Any], ...] = (
    {},
    {"size": (2, 4)},
    {"large": 1},
    {"kind": {"a", "c"}, "size": (3, None)},
    {"size": (None, 3), "large": 0, "kind": {"b"}},
    {"size": 6},
)


def table(rows: int = 40, seed: int = 0) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    size = random.integers(1, 7, rows)
    kind = np.where(size > 3, "a", random.choice(["b", "c"], rows))
    return {"size": size, "large": random.random(rows) < size / 7, "kind": kind}


ROWS = ft.Rows(table(), blend=0.3)
WORLD = Blend(ROWS.product, ROWS.inner, 0.3, "digest")


def listed(world: Blend) -> tuple[Any, Any]:
    """Every input with its probability: the mean over rows of a product over features."""
    values = [feature.listed(None) for feature in world.product]
    inputs = np.array(list(itertools.product(*(found for found, _ in values))))
    chances = np.zeros(len(inputs))
    for row in world.inner:
        own = np.ones(len(inputs))
        for i, (found, shares) in enumerate(values):
            place = np.searchsorted(found, inputs[:, i])
            own *= (1 - world.rho) * (inputs[:, i] == row[i]) + world.rho * shares[place]
        chances += own / len(world.inner)
    return inputs, chances


INPUTS, CHANCES = listed(WORLD)


def inside(region: Region, inputs: Any) -> Any:
    kept = np.ones(len(inputs), np.bool_)
    for i, left in region.restrictions.items():
        kept &= np.isin(inputs[:, i], region.space.features[i].listed(left)[0])
    return kept


@pytest.mark.parametrize("given", REGIONS)
def test_masses_and_draws_inside_a_box_are_those_of_all_inputs(given: dict[str, Any]) -> None:
    assert CHANCES.sum() == pytest.approx(1, abs=1e-12)
    region = Region.of(WORLD.product, given)
    kept = inside(region, INPUTS)
    assert WORLD.mass(region) == pytest.approx(CHANCES[kept].sum(), abs=1e-12)
    drawn = WORLD.inside(region, Stream.named(1, "any"), 0, 20_000)
    assert inside(region, drawn).all()
    for part in REGIONS[1:]:
        smaller = Region.of(WORLD.product, part)
        share = CHANCES[inside(smaller, INPUTS) & kept].sum() / CHANCES[kept].sum()
        assert plausible(int(inside(smaller, drawn).sum()), len(drawn), round(share, 12), FALSE_ALARM)


@pytest.mark.parametrize("given", REGIONS[:4])
def test_a_feature_drawn_again_follows_from_all_others(given: dict[str, Any]) -> None:
    """Many copies of one input: each value is drawn as often as inputs with it are likely."""
    region = Region.of(WORLD.product, given)
    kept = inside(region, INPUTS) & (CHANCES > 0)
    row = INPUTS[kept][int(kept.sum()) // 2]
    for i in range(3):
        alike = kept & (np.delete(INPUTS, i, axis=1) == np.delete(row, i)).all(axis=1)
        drawn = WORLD.redrawn(np.tile(row, (20_000, 1)), i, region, Stream.named(2, "any"), i)
        for value, own in zip(INPUTS[alike, i], CHANCES[alike] / CHANCES[alike].sum(), strict=True):
            assert plausible(int((drawn == value).sum()), len(drawn), round(float(own), 12), FALSE_ALARM)


def test_disagreements_of_trees_are_exact() -> None:
    targets = (lambda batch: batch["kind"] == "a", lambda batch: (batch["size"] > 2) & (batch["large"] == 1))
    one, two = (ft.distill(target, ROWS, 0.1).tree for target in targets)
    exact = CHANCES[one.predict_inner(INPUTS) != two.predict_inner(INPUTS)].sum()
    assert disagreement(one, two, WORLD) == pytest.approx(exact, abs=1e-12)


def test_what_is_missing_is_a_value_like_others_when_a_feature_is_drawn_again() -> None:
    gone = np.array([np.nan, 1.0] * 20)
    rows = ft.Rows({"gone": gone, "bit": np.isnan(gone)}, blend=0.01)
    assert rows.redraws is not None
    drawn = rows.redraws.redrawn(rows.inner, 1, rows.product.whole, Stream("any"), 0)
    assert (drawn == np.isnan(gone)).mean() > 0.9
    found = ft.analyze(lambda batch: batch["bit"], rows, max_queries=3_000)
    assert found.influences[1] < 0.1 < ft.analyze(lambda batch: batch["bit"], rows.product).influences[1]
    assert ft.Rows({"gone": gone}).redraws is None


def test_the_ends_are_the_rows_and_the_product() -> None:
    region = Region.of(ROWS.product, {"size": (2, 4), "large": 1})
    assert Blend(ROWS.product, ROWS.inner, 1.0, "").mass(region) == pytest.approx(region.mass)
    share = inside(region, ROWS.inner).mean()
    assert Blend(ROWS.product, ROWS.inner, 0.0, "").mass(region) == pytest.approx(share)
    assert ft.Rows(table(), blend=0).table is not None
    assert ft.Rows(table(), blend=0).digest == ft.Rows(table()).digest


def test_neighbours_of_one_part_grow_and_of_the_other_test() -> None:
    rows = ft.Rows({"place": np.arange(100), "other": np.arange(100) + 1_000}, blend=0.5)
    parts, source = rows.parts(7), source_of(rows, 7)
    for part, drawn in ((parts.growing, source.label(4_000)), (parts.testing, source.test(4_000))):
        pairs = {tuple(row) for row in part.tolist()}
        own = sum(tuple(row) in pairs for row in drawn.tolist())
        assert own > 900  # a quarter keeps both values
        others = {place for place, _ in {tuple(row) for row in rows.inner.tolist()} - pairs}
        both = sum(place in others and other == place + 1_000 for place, other in drawn.tolist())
        assert both < 60  # both values of another row by chance alone
    assert source.masses is not None
    first = Region.of(rows.product, {"place": (None, 49)})
    share = (parts.testing[:, 0] <= 49).mean()
    assert source.masses.mass(first) == pytest.approx(0.5 * share + 0.25)


def test_the_sentence_speaks_of_neighbours_of_the_tested_rows() -> None:
    rows = ft.Rows(table(400), blend=0.2)
    found = ft.distill(lambda batch: batch["kind"] == "a", rows, 0.1)
    said = "inputs are neighbours of these 200 rows, each feature drawn anew with probability 0.2"
    assert said in str(found.certificate)
    audit = ft.certify(found.tree, lambda batch: batch["kind"] == "a", rows, 0.1)
    assert "neighbours of these 400 rows" in str(audit)


def test_a_fresh_look_is_over_the_rows_that_taught_nothing(tmp_path: Path) -> None:
    target = lambda batch: batch["kind"] == "a"  # noqa: E731
    found = ft.distill(target, ft.Rows(table(400), blend=0.2), 0.1, journal=tmp_path / "journal.db")
    found.save(tmp_path)
    fresh = ft.verify(tmp_path, target).fresh
    assert fresh is not None
    assert "neighbours of these 200 rows" in str(fresh)


def test_auto_changes_a_fifth_and_at_most_three() -> None:
    assert ft.Rows(table(), blend="auto").blend == 0.2
    wide = ft.Rows({f"c{i}": [1, 2, 3] for i in range(60)}, blend="auto")
    assert wide.blend == pytest.approx(0.05)
    assert repr(wide) == "<Rows: 3 rows of 60 features, blend 0.05>"


@pytest.mark.parametrize(("odd", "rule"), [
    (1.5, "from 0 .* to 1 .*; got 1.5"), (-0.1, "got -0.1"), (math.nan, "blend must be"), ("much", '"auto"'),
])  # fmt: skip
def test_a_blend_is_a_probability(odd: Any, rule: str) -> None:
    with pytest.raises(ft.ParameterError, match=rule):
        ft.Rows(table(), blend=odd)


def test_two_rows_are_needed_and_impossible_boxes_refused() -> None:
    with pytest.raises(ft.ParameterError, match="at least 2 rows, one to learn from and one to test; got 1"):
        ft.Rows({"a": [1]}, blend=0.2)
    empty = Region.of(WORLD.product, {"size": (100, None)})
    with pytest.raises(ft.ParameterError, match="it has probability 0"):
        WORLD.inside(empty, Stream.named(0, "any"), 0, 3)


def test_a_stored_blend_is_checked() -> None:
    data = json.loads(json.dumps(ROWS.to_dict()))
    assert ft.Rows.from_dict(data).blend == 0.3
    data["rows"]["blend"] = 7
    with pytest.raises(ft.FormatError, match="not stored rows of a table: blend must be"):
        ft.Rows.from_dict(data)


def test_a_part_is_stored_and_read_back() -> None:
    part = ROWS.apart(seed=1)[1]
    data = json.loads(json.dumps(part.to_dict()))
    again = from_dict(data)
    assert isinstance(again, Blend)
    assert (again.digest, again.assumes, again.rho) == (part.digest, part.assumes, part.rho)
    one, two = (world.inputs(Stream.named(0, "any"), 0, 50).tolist() for world in (part, again))
    assert one == two
    for key, value in (("blend", 7), ("digest", None), ("count", 5)):
        entry = {name: found for name, found in data["neighbours"].items() if name != key or value is not None}
        wrong = {**data, "neighbours": {**entry, **({} if value is None else {key: value})}}
        with pytest.raises(ft.FormatError, match="not stored "):
            from_dict(wrong)
