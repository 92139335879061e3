"""One battery for every kind of world: what a run asks of its inputs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.spaces import kinds
from fidelitree.spaces.draw import Stream

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fidelitree.spaces.world import World


def table(rows: int = 400, seed: int | np.random.Generator = 0) -> dict[str, Any]:
    """Columns of all kinds that go together: the older, the more often an owner and a nurse."""
    random = np.random.default_rng(seed)
    age = random.integers(18, 90, rows)
    return {
        "age": age,
        "owner": random.random(rows) < age / 100,
        "job": np.where(random.random(rows) < age / 90, "nurse", "clerk"),
        "income": np.round(age * 100 + random.normal(0, 500, rows), 1),
    }


WORLDS: dict[str, World] = {
    "bits": ft.ProductSpace.bernoulli(5, 0.3),
    "product": ft.ProductSpace.from_data(table()),
    "rows": ft.Rows(table()),
    "blend": ft.Rows(table(), blend=0.2),
    "chow-liu": ft.ChowLiu.from_data(table()),
    "mixture": ft.Mixture.from_data(table()),
    "sampler": ft.Sampler(table, like=table()),
}


def target_over(name: str) -> Callable[[Any], Any]:
    return (lambda batch: batch[:, 0] & batch[:, 1]) if name == "bits" else lambda batch: batch["age"] > 40


every_world = pytest.mark.parametrize("name", list(WORLDS))


@every_world
def test_a_block_of_a_stream_is_the_same_whatever_was_drawn_before(name: str) -> None:
    world, stream = WORLDS[name], Stream.named(3, "any")
    first = world.inputs(stream, 2, 100)
    world.inputs(stream, 1, 50)
    assert np.array_equal(world.inputs(stream, 2, 100), first)
    assert not np.array_equal(world.inputs(stream, 3, 100), first)
    assert not np.array_equal(world.inputs(Stream.named(4, "any"), 2, 100), first)
    assert first.shape == (100, len(world.features))
    assert first.dtype == world.product.dtype


@every_world
def test_draw_gives_what_the_target_receives(name: str) -> None:
    world = WORLDS[name]
    batch = world.draw(300, seed=1)
    inner = world.product.encode(batch)
    assert inner.shape == (300, len(world.names))
    assert np.array_equal(world.product.encode(world.draw(300, seed=1)), inner)
    assert not np.array_equal(world.product.encode(world.draw(300, seed=2)), inner)
    with pytest.raises(ft.ParameterError, match="rows must be"):
        world.draw(0)


@every_world
def test_a_stored_world_is_the_same_world(name: str) -> None:
    world = WORLDS[name]
    again = kinds.from_dict(json.loads(json.dumps(world.to_dict())))
    assert type(again) is type(world)
    assert again.digest == world.digest
    assert again.assumes == world.assumes
    assert again.in_words == world.in_words
    if name == "sampler":
        return  # code is not stored
    stream = Stream.named(0, "any")
    assert np.array_equal(again.inputs(stream, 0, 200), world.inputs(stream, 0, 200))
    assert type(again.draw(3)) is type(world.draw(3))


def test_digests_tell_kinds_apart() -> None:
    assert len({world.digest for world in WORLDS.values()}) == len(WORLDS)


@every_world
def test_what_is_known_is_the_worlds_own(name: str) -> None:
    world = WORLDS[name]
    assert world.independent is None or world.independent is world
    assert world.masses is None or world.masses is world
    assert world.table is None or world.table is world
    if world.masses is not None:
        assert world.masses.mass(world.product.whole) == 1


@every_world
def test_shares_of_rules_add_up(name: str) -> None:
    world = WORLDS[name]
    found = ft.distill(target_over(name), world, 0.1, 0.1)
    rules = ft.export.to_rules(found.tree, found.space)
    assert sum(rule.probability or 0 for rule in rules) == pytest.approx(1)


@every_world
def test_a_run_is_kept_and_made_again(name: str, tmp_path: Path) -> None:
    world = WORLDS[name]
    found = ft.distill(target_over(name), world, 0.1, 0.1, journal=tmp_path / "journal.db")
    assert found.certificate.holds
    assert found.certificate.space_digest == world.digest
    assert set(world.apart(0)[1].assumes) <= set(found.certificate.assumes)
    found.save(tmp_path)
    report = ft.verify(tmp_path, space=world if name == "sampler" else None)
    assert report.holds, report
    assert all(check.passed for check in report.checks)
    again = ft.distill(target_over(name), world, 0.1, 0.1)
    assert (again.tree, again.certificate) == (found.tree, found.certificate)


@every_world
def test_frontier_certify_and_learners_take_it(name: str) -> None:
    world, target = WORLDS[name], target_over(name)
    points = ft.frontier(target, world, 0.1, max_queries=1_500)
    assert points[-1].certificate.space_digest == world.digest
    assert ft.certify(target, target, world, 0.1, 0.1, seed=0).holds
    found = ft.learners.LEARNERS["id3"].learn(target, world, 0.2, 0.1)
    assert found.certificate.space_digest == world.digest
    refused = ft.learners.LEARNERS["optimal"].why_not(world)
    assert refused is None or "chooses its own inputs" in refused or "too many" in refused


@every_world
def test_the_report_names_it(name: str, tmp_path: Path) -> None:
    world = WORLDS[name]
    page = ft.distill(target_over(name), world, 0.1, 0.1).report(tmp_path / "report.html").read_text()
    assert world.in_words in page


@every_world
def test_an_exact_error_needs_a_product(name: str) -> None:
    world = WORLDS[name]
    if world.independent is None:
        with pytest.raises(ft.ParameterError, match="epsilon must be above 0 where inputs are"):
            ft.certify(lambda batch: batch["age"] > 40, lambda batch: batch["age"] > 40, world, 0)
        with pytest.raises(ft.ParameterError, match="epsilon must be above 0 where inputs are"):
            ft.distill(lambda batch: batch["age"] > 40, world, 0)


def test_a_circuit_over_rows_has_no_exact_error() -> None:
    """What is exact about the product of the marginals says nothing about rows."""
    random = np.random.default_rng(0)
    bit = random.random(4_000) < 0.5
    rows = ft.Rows(np.stack([bit, bit, random.random(4_000) < 0.5], axis=1))
    table = ft.targets.TruthTable([0, 1, 1, 0, 0, 1, 1, 1])
    for found in (ft.distill(table, rows, 0.01, max_queries=60), ft.frontier(table, rows, max_queries=200)[-1]):
        assert found.certificate.method == "sequential"
        assert found.certificate.space_digest == rows.digest


@pytest.mark.parametrize("name", ["chow-liu", "mixture", "sampler", "blend"])
@pytest.mark.parametrize("how", [{"strategy": "smallest"}, {"prefer": "leaves"}, {"max_leaves": 1}, {"epsilon": None}])
def test_every_way_of_asking_ends_with_the_worlds_own_certificate(name: str, how: dict[str, Any]) -> None:
    world = WORLDS[name]
    found = ft.distill(target_over(name), world, **{"epsilon": 0.1, "max_queries": 800, **how})
    assert found.certificate.space_digest == world.digest
    assert found.certificate.method == "sequential"
    with pytest.raises(ft.ParameterError, match=r'strategy="influence" needs a product space; got (draws|neigh)'):
        ft.distill(target_over(name), world, 0.1, strategy="influence")


def test_an_influence_over_a_chow_liu_tree_changes_a_feature_given_all_others() -> None:
    """Income says how old somebody is: drawn again given it, the age changes sides less often."""
    world = WORLDS["chow-liu"]
    found = ft.analyze(target_over("chow-liu"), world, max_queries=5_000)
    alone = ft.analyze(target_over("chow-liu"), world.product, max_queries=5_000)
    assert found.influences[1:].tolist() == [0, 0, 0]
    assert 0.05 < found.influences[0] < alone.influences[0] / 2
    with pytest.raises(ft.ParameterError, match="method must not be 'exact' where inputs are draws from a"):
        ft.analyze(target_over("chow-liu"), world, method="exact")
