"""Mixtures of products: masses and draws against enumeration, latent classes, and what is refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from chances import plausible
from fidelitree.exact.paths import disagreement
from fidelitree.spaces.draw import Stream
from fidelitree.spaces.region import Region

FALSE_ALARM = 1e-6


def part(p: float, jobs: dict[str, float], ages: list[int]) -> ft.ProductSpace:
    return ft.ProductSpace([ft.Boolean("owner", p), ft.Categorical("job", jobs), ft.Numeric.from_values("age", ages)])


PARTS = [part(0.1, {"clerk": 0.9, "nurse": 0.1}, [20, 20, 30]), part(0.7, {"clerk": 0.2, "nurse": 0.8}, [30, 50, 70])]


def mixed(parts: list[Any], weights: list[Any]) -> ft.Mixture:
    return ft.Mixture(list(zip(weights, parts, strict=True)))


WORLD = mixed(PARTS, [0.3, 0.7])
INPUTS = WORLD.product.whole.inputs(0, WORLD.product.points or 0)
REGIONS: tuple[dict[str, Any], ...] = (
    {},
    {"owner": 1},
    {"job": {"nurse"}, "age": (None, 30)},
    {"owner": 0, "job": {"clerk"}, "age": (30, 50)},
)


def chance(space: ft.ProductSpace, inner: Any) -> float:
    found = 1.0
    for feature, value in zip(space, inner.tolist(), strict=True):
        values, shares = feature.listed(None)
        found *= float(shares[values == value].sum())
    return found


CHANCES = np.array([0.3 * chance(PARTS[0], row) + 0.7 * chance(PARTS[1], row) for row in INPUTS])


def inside(region: Region, inputs: Any) -> Any:
    kept = np.ones(len(inputs), np.bool_)
    for i, left in region.restrictions.items():
        kept &= np.isin(inputs[:, i], region.space.features[i].listed(left)[0])
    return kept


def test_masses_are_those_of_all_inputs_added_up() -> None:
    assert CHANCES.sum() == pytest.approx(1)
    for given in REGIONS:
        region = Region.of(WORLD.product, given)
        assert WORLD.mass(region) == pytest.approx(CHANCES[inside(region, INPUTS)].sum(), abs=1e-12)
    young_nurse = Region.of(WORLD.product, REGIONS[2])
    assert WORLD.mass(young_nurse) != pytest.approx(young_nurse.mass, abs=0.01)


def test_the_marginals_are_those_of_the_whole() -> None:
    for i, feature in enumerate(WORLD.product):
        values, shares = feature.listed(None)
        assert shares.tolist() == pytest.approx([CHANCES[INPUTS[:, i] == value].sum() for value in values])


@pytest.mark.parametrize("given", REGIONS)
def test_draws_inside_a_box_have_their_chances(given: dict[str, Any]) -> None:
    region = Region.of(WORLD.product, given)
    drawn, kept = WORLD.inside(region, Stream.named(1, "any"), 0, 20_000), inside(region, INPUTS)
    assert inside(region, drawn).all()
    for row, own in zip(INPUTS[kept], CHANCES[kept] / CHANCES[kept].sum(), strict=True):
        assert plausible(int((drawn == row).all(axis=1).sum()), len(drawn), round(float(own), 12), FALSE_ALARM)


@pytest.mark.parametrize("given", REGIONS)
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
    trees = [ft.distill(lambda b: b["owner"], WORLD, 0.2).tree, ft.distill(lambda b: b["age"] > 30, WORLD, 0.2).tree]
    exact = CHANCES[trees[0].predict_inner(INPUTS) != trees[1].predict_inner(INPUTS)].sum()
    assert disagreement(*trees, WORLD) == pytest.approx(exact, abs=1e-12)


def test_weights_that_nearly_add_up_to_1_are_made_to() -> None:
    world = mixed(PARTS, [0.3, 0.7 + 5e-10])
    assert world.weights.sum() == pytest.approx(1, abs=1e-15)
    assert mixed(PARTS, [0.3, 0.7]).weights.tolist() == [0.3, 0.7]


def test_intervals_and_gaps_tell_which_component_it_was() -> None:
    """A number above 1 is of the second component, a missing one of the first: the bit is drawn again as there."""
    parts = [
        ft.ProductSpace([ft.Boolean("bit", 0), ft.Numeric("size", 0, 1, missing=0.5)]),
        ft.ProductSpace([ft.Boolean("bit", 1), ft.Numeric("size", 0, 2)]),
    ]
    world, stream = mixed(parts, [0.5, 0.5]), Stream.named(3, "any")
    inner = np.column_stack([np.zeros(3_000), np.repeat([np.nan, 0.5, 1.5], 1_000)])
    bits = world.redrawn(inner, 0, world.product.whole, stream, 0).reshape(3, 1_000).sum(axis=1)
    assert (bits[0], bits[2]) == (0, 1_000)
    assert plausible(int(bits[1]), 1_000, 0.5, FALSE_ALARM)  # a half of .5 against a half of .5
    assert ft.analyze(lambda batch: batch["bit"], world, max_queries=900).influences[1] == 0


def test_intervals_are_mixed_piece_by_piece() -> None:
    one, two = (ft.ProductSpace([ft.Numeric("x", low, high)]) for low, high in ((0, 4), (2, 6)))
    x = mixed([one, two], [0.5, 0.5]).product.features[0]
    assert [x.mass(ends) for ends in ((0, 2), (2, 4), (4, 6))] == pytest.approx([0.25, 0.5, 0.25])


def classes(rows: int, seed: int = 0) -> dict[str, Any]:
    """Two kinds of rows that a Chow-Liu tree would join in a chain."""
    random = np.random.default_rng(seed)
    kind = random.random(rows) < 0.4
    return {
        **{f"x{i}": random.random(rows) < np.where(kind, 0.9, 0.1) for i in range(6)},
        "size": np.round(random.normal(np.where(kind, 5, 0), 1), 2),
        "colour": np.where(random.random(rows) < np.where(kind, 0.8, 0.2), "red", "blue"),
    }


def test_two_kinds_are_found_and_described() -> None:
    world = ft.Mixture.from_data(classes(800))
    assert len(world.components) == 2
    assert sorted(world.weights.tolist()) == pytest.approx([0.4, 0.6], abs=0.06)
    assert world.fit is not None
    assert world.fit.world > world.fit.product + 1
    assert "2 products of 8 features; held-out log-likelihood per row" in repr(world)
    heads = [one.features[0].mass(1) for one in world.components]
    assert sorted(heads) == pytest.approx([0.1, 0.9], abs=0.06)


def test_where_features_are_independent_one_component_is_enough() -> None:
    random = np.random.default_rng(0)
    world = ft.Mixture.from_data({f"x{i}": random.random(600) < 0.5 for i in range(6)})
    assert len(world.components) == 1


def test_the_same_table_gives_the_same_world() -> None:
    assert ft.Mixture.from_data(classes(200)).digest == ft.Mixture.from_data(classes(200)).digest
    assert ft.Mixture.from_data({"a": [1], "b": ["x"]}).fit is None


def test_the_certificate_says_which_mixture() -> None:
    named = ft.certify(lambda b: b["owner"], lambda b: b["owner"], WORLD, 0.1, seed=0)
    assert "inputs follow the stated mixture of product distributions" in str(named)
    assert ft.Mixture.from_data(classes(100)).assumes == ("inputs follow the mixture of products fitted to this table",)


@pytest.mark.parametrize(
    ("components", "message"),
    [
        ([], r"components must hold at least one pair \(weight, product space\); got none"),
        (7, r"components must list pairs \(weight, product space\); got 7"),
        (PARTS, r"components must be pairs \(weight, product space\); got ProductSpace"),
        ([(1, PARTS[0]), (0, 3)], r"components must be pairs \(weight, product space\); got \(0, 3\)"),
        ([(1, PARTS[0], 2)], "components must be pairs"),
        ([(PARTS[0], 1)], "components must be pairs"),
        ([(0.5, PARTS[0]), (0.5, ft.ProductSpace.bernoulli(3))], "components must have the same features, kinds"),
        (list(zip([0.5, 0.4], PARTS, strict=True)), "weights must add up to 1; got 0.9 - divide each by their sum"),
        (list(zip([0.5, 0.5 + 2e-9], PARTS, strict=True)), r"weights must add up to 1; got 1\.000000002 "),
        (list(zip([1.5, -0.5], PARTS, strict=True)), r"weights must be numbers that are at least 0; got \[1.5, -0.5\]"),
        (list(zip([np.nan, 1.0], PARTS, strict=True)), "weights must be numbers that are at least 0"),
        (list(zip(["much", 1.0], PARTS, strict=True)), "weights must"),
        ([([1.0], PARTS[0])], "weights must be numbers that are at least 0"),
        (
            [
                (0.5, ft.ProductSpace([ft.Numeric("x", 0, 1)])),
                (0.5, ft.ProductSpace([ft.Numeric.from_values("x", [1])])),
            ],
            "feature 'x' must have observed values in all components, or intervals in all of them",
        ),
    ],
)
def test_what_is_no_mixture_is_refused(components: Any, message: str) -> None:
    with pytest.raises(ft.ParameterError, match=message):
        ft.Mixture(components)


def test_a_box_that_no_component_reaches_is_refused() -> None:
    with pytest.raises(ft.ParameterError, match="it has probability 0"):
        WORLD.inside(Region.of(WORLD.product, {"age": (80, 90)}), Stream.named(0, "any"), 0, 3)


@pytest.mark.parametrize(
    ("key", "value", "rule"),
    [("weights", [0.5, 0.4], "add up to 1"), ("components", [{}], "format"), ("fit", {"world": 1}, "missing")],
)
def test_a_damaged_file_is_refused(key: str, value: Any, rule: str) -> None:
    data = copy.deepcopy(json.loads(json.dumps(WORLD.to_dict())))
    data["mixture"][key] = value
    with pytest.raises(ft.FormatError, match=rule):
        ft.Mixture.from_dict(data)
