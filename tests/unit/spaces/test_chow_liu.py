"""Chow-Liu trees: what is fitted, masses and draws against enumeration, and what is refused."""

from __future__ import annotations

import copy
import itertools
import json
import math
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from chances import plausible
from fidelitree.exact.paths import disagreement
from fidelitree.spaces.bins import Bins, bins_for
from fidelitree.spaces.chow_liu import ChowLiu
from fidelitree.spaces.dependence import fitted, tree_of
from fidelitree.spaces.draw import Stream
from fidelitree.spaces.features import Numeric
from fidelitree.spaces.region import Region
from fidelitree.trees import kernels

FALSE_ALARM = 1e-6


def table(rows: int = 150, seed: int = 0) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    size = random.integers(1, 7, rows)
    return {
        "size": size,
        "large": random.random(rows) < size / 7,
        "kind": np.where(random.random(rows) < 0.8, np.where(size > 3, "a", "b"), "c"),
        "price": np.round(size * 10 + random.normal(0, 3, rows)),
        "coin": random.random(rows) < 0.5,
    }


WORLD = ChowLiu.from_data(table())
REGIONS: tuple[dict[str, Any], ...] = (
    {},
    {"size": (2, 4)},
    {"large": 1},
    {"kind": {"a", "c"}, "price": (25, None)},
    {"size": (None, 3), "large": 0, "kind": {"b"}, "price": (12, 33), "coin": 1},
    {"size": 6, "price": (None, 20)},
)


def listed(world: ChowLiu) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Every input of a small world with its probability: one code after the other, then one value inside each bin."""
    options = []
    for one in world.bins:
        inside = [one.feature.listed(part) for part in one.parts]
        options.append([(k, v, s) for k, (vs, ss) in enumerate(inside) for v, s in zip(vs, ss, strict=True)])
    inputs, chances = [], []
    for choice in itertools.product(*options):
        chance = math.prod(share for _, _, share in choice)
        for i, (parent, probabilities) in enumerate(
            zip(world.dependence.parents, world.dependence.tables, strict=True)
        ):
            chance *= probabilities[choice[parent][0] if parent >= 0 else 0, choice[i][0]]
        inputs.append([value for _, value, _ in choice])
        chances.append(chance)
    return np.array(inputs), np.array(chances)


INPUTS, CHANCES = listed(WORLD)


def inside(region: Region, inputs: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    kept = np.ones(len(inputs), np.bool_)
    for i, left in region.restrictions.items():
        values = region.space.features[i].listed(left)[0]
        kept &= np.isin(inputs[:, i], values)
    return kept


def test_bins_follow_the_number_of_rows() -> None:
    assert [bins_for(rows) for rows in (10, 99, 100, 399, 400, 10**6)] == [3, 3, 4, 4, 8, 8]
    assert [len(one) for one in WORLD.bins] == [4, 2, 3, 4, 2]
    assert [len(one) for one in ChowLiu.from_data(table(80)).bins] == [3, 2, 3, 3, 2]


def test_bins_are_about_equally_full_and_few_values_stay_as_they_are() -> None:
    values = np.arange(1000.0)
    bins = Bins.of(Numeric.from_values("x", values), values, 8)
    assert np.bincount(bins.codes(values)).tolist() == [125] * 8
    few = np.array([1.0] * 98 + [2, 3])
    assert Bins.of(Numeric.from_values("x", few), few, 8).cuts == (1.0, 2.0)
    tied = np.array([0.0] * 900 + list(range(1, 101)))
    bins = Bins.of(Numeric.from_values("x", tied), tied, 8)
    assert bins.cuts[0] == 0
    assert (np.bincount(bins.codes(tied)) > 0).all()


def test_the_tree_joins_what_goes_together() -> None:
    parents = {"size": None, "large": "size", "kind": "size", "price": "size", "coin": None}
    assert ChowLiu.from_data(table(3_000)).parents == parents


def test_a_chain_is_found() -> None:
    random = np.random.default_rng(1)
    columns = [random.integers(0, 2, 5_000)]
    for _ in range(6):
        columns.append(np.where(random.random(5_000) < 0.9, columns[-1], 1 - columns[-1]))
    order = [3, 0, 5, 1, 6, 2, 4]
    world = ChowLiu.from_data({f"c{i}": columns[i].astype(bool) for i in order})
    pairs = {frozenset((name, parent)) for name, parent in world.parents.items() if parent is not None}
    assert pairs == {frozenset((f"c{i}", f"c{i + 1}")) for i in range(6)}


def test_conditional_tables_are_counts_smoothed_towards_the_marginal() -> None:
    counts = np.kron(np.ones((2, 2), np.int32), np.diag(np.array([4, 4], np.int32)))
    found = tree_of(counts, [np.array([0.5, 0.5])] * 2)
    assert found.parents == (-1, 0)
    assert found.tables[0].tolist() == [[0.5, 0.5]]
    assert found.tables[1].tolist() == [[5.5 / 7, 1.5 / 7], [1.5 / 7, 5.5 / 7]]


def test_masses_are_those_of_all_inputs_added_up() -> None:
    assert CHANCES.sum() == pytest.approx(1, abs=1e-12)
    for given in REGIONS:
        region = Region.of(WORLD.product, given)
        assert WORLD.mass(region) == pytest.approx(CHANCES[inside(region, INPUTS)].sum(), abs=1e-12)


def test_masses_are_shares_of_draws() -> None:
    drawn = WORLD.inputs(Stream.named(0, "any"), 0, 40_000)
    for given in REGIONS[1:]:
        region = Region.of(WORLD.product, given)
        hits = int(inside(region, drawn).sum())
        assert plausible(hits, len(drawn), WORLD.mass(region), FALSE_ALARM)


@pytest.mark.parametrize("given", REGIONS)
def test_draws_inside_a_box_are_those_that_rejection_leaves(given: dict[str, Any]) -> None:
    region = Region.of(WORLD.product, given)
    drawn = WORLD.inside(region, Stream.named(1, "any"), 0, 20_000)
    assert inside(region, drawn).all()
    kept = inside(region, INPUTS)
    for part in REGIONS[1:]:
        smaller = inside(Region.of(WORLD.product, part), INPUTS) & kept
        share = CHANCES[smaller].sum() / CHANCES[kept].sum()
        hits = int(inside(Region.of(WORLD.product, part), drawn).sum())
        assert plausible(hits, len(drawn), round(share, 12), FALSE_ALARM)


def test_a_feature_drawn_again_leaves_the_distribution_as_it_is() -> None:
    region, stream = Region.of(WORLD.product, {"price": (15, None)}), Stream.named(5, "any")
    kept = inside(region, INPUTS)
    for feature in range(5):
        inner = np.array(WORLD.inside(region, stream, feature, 20_000))
        before = inner[:, feature].copy()
        inner[:, feature] = WORLD.redrawn(inner, feature, region, stream, feature)
        assert (inner[:, feature] != before).any()
        assert inside(region, inner).all()
        for part in REGIONS[1:]:
            smaller = inside(Region.of(WORLD.product, part), INPUTS) & kept
            hits = int(inside(Region.of(WORLD.product, part), inner).sum())
            share = CHANCES[smaller].sum() / CHANCES[kept].sum()
            assert plausible(hits, len(inner), round(share, 12), FALSE_ALARM)


def test_disagreements_of_trees_are_exact() -> None:
    found = [ft.distill(target, WORLD, 0.1, 0.1).tree for target in (_dear, lambda batch: batch["size"] > 3)]
    exact = CHANCES[found[0].predict_inner(INPUTS) != found[1].predict_inner(INPUTS)].sum()
    assert disagreement(*found, WORLD) == pytest.approx(exact, abs=1e-12)
    assert ft.tree_error(found[0], found[1], WORLD) == disagreement(*found, WORLD)
    assert ft.tree_error(found[0], found[1], WORLD.product) != pytest.approx(exact, abs=1e-3)
    with pytest.raises(ft.ParameterError, match="space must be a ProductSpace"):
        ft.tree_error(found[0], _dear, WORLD)


def _dear(batch: Any) -> Any:
    return (batch["price"] > 30) & (batch["kind"] == "a")


def test_the_fit_beats_the_product_and_is_kept() -> None:
    assert WORLD.fit is not None
    assert WORLD.fit.rows == 150
    assert WORLD.fit.world > WORLD.fit.product + 0.5
    assert "held-out log-likelihood per row" in repr(WORLD)
    assert ChowLiu.from_data({"a": [1, 2]}).fit is None


@pytest.mark.parametrize("rows", [4, 10, 20, 40, 90, 300])
@pytest.mark.parametrize("made", [ChowLiu, ft.Mixture])
def test_where_nothing_depends_on_anything_hardly_anything_is_joined(rows: int, made: Any) -> None:
    random = np.random.default_rng(0)
    joined = 0
    for _ in range(10):
        world = made.from_data({f"c{i}": random.random(rows) for i in range(8)})
        assert world.fit is not None
        assert world.fit.world >= world.fit.product
        joined += world.fit.world > world.fit.product
    assert joined <= 1


def test_dependence_is_taken_as_far_as_held_out_rows_bear_it_out() -> None:
    random = np.random.default_rng(0)
    same = random.integers(0, 2, 400)
    strong, fit = fitted(np.stack([same, same]), [np.bincount(same) / 400] * 2)
    assert fit is not None
    assert fit.world == pytest.approx(fit.product / 2, abs=0.05)
    assert strong.tables[1].max() > 0.97
    noise = random.integers(0, 2, (2, 400))
    none, fit = fitted(noise, [np.bincount(row) / 400 for row in noise])
    assert fit is not None
    assert (none.parents, fit.world) == ((-1, -1), fit.product)


def test_the_same_table_gives_the_same_world() -> None:
    assert ChowLiu.from_data(table()).digest == WORLD.digest
    assert ChowLiu.from_data(table(seed=1)).digest != WORLD.digest


def test_one_column_and_one_row_are_enough() -> None:
    for one in ({"a": [3, 3, 3]}, {"a": [1], "b": ["x"]}, {"a": [True, False]}):
        world = ChowLiu.from_data(one)
        assert world.mass(world.product.whole) == 1
        assert set(world.draw(50)["a"].tolist()) == set(one["a"])


def test_what_cannot_be_drawn_is_refused() -> None:
    region = Region.of(WORLD.product, {"size": (2, 2), "price": (1_000, None)})
    assert WORLD.mass(region) == 0
    with pytest.raises(ft.ParameterError, match="it has probability 0"):
        WORLD.inside(region, Stream.named(0, "any"), 0, 5)


@pytest.mark.skipif(not kernels.compiled, reason="the kernels are not compiled")
def test_pairs_are_counted_alike_with_and_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    shared = random.integers(0, 3, 5_000)
    codes = np.stack([np.where(random.random(5_000) < 0.5, shared, random.integers(0, 3, 5_000)) for _ in range(200)])
    marginals = [np.bincount(column, minlength=3) / 5_000 for column in codes]
    found, fit = fitted(codes, marginals)
    monkeypatch.setattr(kernels, "compiled", False)
    other, other_fit = fitted(codes, marginals)
    assert found.parents == other.parents
    assert max(found.parents) >= 0
    assert all((one == two).all() for one, two in zip(found.tables, other.tables, strict=True))
    assert fit == other_fit


def test_very_many_numbers_get_fewer_bins_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fidelitree.spaces.bins.MOST_BINS", 60)
    rows = np.random.default_rng(0).random((500, 10))
    assert [len(bins) for bins in ChowLiu.from_data(rows[:, :7]).bins] == [8] * 7
    assert [len(bins) for bins in ChowLiu.from_data(rows).bins] == [6] * 10


@pytest.mark.filterwarnings("ignore:column 'name' has 7,000 different texts")
def test_too_many_categories_are_refused() -> None:
    with pytest.raises(ft.ParameterError, match=r"at most 6,000 categories and bins .* 7,000 of them in 'name'"):
        ChowLiu.from_data({"name": [f"n{i}" for i in range(7_000)], "age": list(range(7_000))})


@pytest.mark.parametrize(
    ("path", "value", "rule"),
    [
        (("cuts",), [[]], "cuts for each of the 5 features"),
        (("cuts", 0), [2, 1], "must be finite and rise"),
        (("cuts", 1), [0.5], "cuts belong to numbers"),
        (("cuts", 0), [1, 1.5, 3, 4], "must leave some of its values in every bin"),
        (("parents",), [-1], "a parent and a table for each"),
        (("parents", 0), 7, "places of features, or -1"),
        (("parents", 0), 3, "a row for each bin of its parent"),
        (("tables", 0), [[0.5, 0.5, 0.5, 0.5]], "add up to 1"),
        (("tables", 0), "no", "could not convert"),
        (("fit",), {"world": 1}, "missing"),
    ],
)
def test_a_damaged_file_is_refused(path: tuple[Any, ...], value: Any, rule: str) -> None:
    data = copy.deepcopy(json.loads(json.dumps(WORLD.to_dict())))
    place = data["chow_liu"]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(ft.FormatError, match=f"not a stored Chow-Liu tree: .*{rule}"):
        ChowLiu.from_dict(data)


def test_parents_in_a_circle_are_refused() -> None:
    data = json.loads(json.dumps(ChowLiu.from_data({"a": [True, False] * 50, "b": [True, False] * 50}).to_dict()))
    entry = data["chow_liu"]
    entry["parents"], entry["tables"][0] = [1, 0], [[0.5, 0.5], [0.5, 0.5]]
    with pytest.raises(ft.FormatError, match="round in a circle"):
        ChowLiu.from_dict(data)
