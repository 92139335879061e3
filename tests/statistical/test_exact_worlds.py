"""Masses and disagreements that worlds work out, against as many draws: ten million where the suite may take its time.

Small ones are compared with all inputs added up, in unit/spaces.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from chances import plausible
from fidelitree.exact.paths import disagreement
from fidelitree.spaces.draw import Stream

FALSE_ALARM = 1e-6
BLOCK = 100_000


def table() -> dict[str, Any]:
    random = np.random.default_rng(5)
    size = random.normal(size=600)
    return {
        "size": size.round(1),
        "weight": np.where(random.random(600) < 0.1, np.nan, (2 * size + random.normal(size=600)).round(1)),
        "kind": np.where(size > 0.3, "a", random.choice(["b", "c"], 600)),
        "old": random.random(600) < 1 / (1 + np.exp(-size)),
        "height": (size + random.normal(size=600)).round(2),
    }


WORLDS = {
    "Chow-Liu": ft.ChowLiu.from_data(table()),
    "mixture": ft.Mixture.from_data(table()),
    "blend": ft.Rows(table(), blend=0.2).apart(0)[1],
}


def model(batch: Any) -> Any:
    return (np.nan_to_num(batch["weight"], nan=-1.0) + 2 * (batch["kind"] == "a") + batch["height"]) > 0.5


@pytest.mark.parametrize("name", WORLDS)
def test_masses_and_disagreements_are_shares_of_draws(name: str, soak: bool) -> None:
    world, blocks = WORLDS[name], 100 if soak else 1
    one, two = (
        ft.distill(model, world.product, 0.1, seed=seed, max_leaves=24, max_queries=900).tree for seed in (1, 2)
    )
    regions = [region for node, region in one.regions(world.product) if one.feature[node] < 0]
    leaves = np.flatnonzero(one.feature < 0)
    reached, differ = np.zeros(len(leaves), np.int64), 0
    for block in range(blocks):
        drawn = world.inputs(Stream("draws"), block, BLOCK)
        reached += np.bincount(np.searchsorted(leaves, one.reached_inner(drawn)), minlength=len(leaves))
        differ += int(np.count_nonzero(one.predict_inner(drawn) != two.predict_inner(drawn)))
    masses = [world.mass(region) for region in regions]
    assert sum(masses) == pytest.approx(1, abs=1e-9)
    level = FALSE_ALARM / (len(masses) + 1)
    for hits, mass in [*zip(reached.tolist(), masses, strict=True), (differ, disagreement(one, two, world))]:
        assert plausible(hits, blocks * BLOCK, mass, level)
