"""strategy="influence" promises that every split is within a quarter of the best one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

import fidelitree as ft
from chances import too_many
from fidelitree.search.exact_growth import as_grown
from fidelitree.search.trace import SplitRecord
from fidelitree.spaces.region import Region

DELTA = 0.2


def scores(target: ft.Tree, region: Region) -> np.ndarray:
    given = {region.space.names[i]: value for i, value in region.restrictions.items()}
    return region.mass * ft.analyze(target, region.space, given).influences


def worst_ratio(splits: Iterable[object], space: ft.ProductSpace, target: ft.Tree) -> float:
    """The smallest share of the best score, under the true target, over all splits of a run."""
    leaves = {space.whole: scores(target, space.whole)}
    worst = 1.0
    for record in splits:
        assert isinstance(record, SplitRecord)
        best = max(float(found.max()) for found in leaves.values())
        mine = leaves.pop(record.leaf)
        worst = min(worst, float(mine[record.feature]) / best if best > 0 else 0.0)
        leaves.update({child: scores(target, child) for child in record.leaf.split(record.test)})
    return worst


def runs(count: int) -> list[float]:
    ratios = []
    for seed in range(count):
        space = ft.ProductSpace.bernoulli(10, (0.5, 0.3, 0.2)[seed % 3])
        target = ft.targets.balanced(space, 3 + seed % 2, seed=seed)
        result = ft.distill(target.predict, space, 0.15, DELTA, seed=seed, strategy="influence")
        assert result.certificate.split_quality
        assert result.certificate.holds
        ratios.append(worst_ratio(result.trace, space, target))
    return ratios


def test_every_split_is_within_a_quarter_of_the_best(soak: bool) -> None:
    count = 400 if soak else 30
    bad = sum(ratio < 0.25 for ratio in runs(count))
    assert not too_many(bad, count, DELTA, alarm=1e-6), f"{bad} of {count} runs have a split below a quarter"


def test_a_surrogate_that_is_not_close_enough_breaks_the_promise() -> None:
    """Planted fault: scores of a tree that is wrong about a third of the space are taken for the target's."""
    space = ft.ProductSpace.bernoulli(10)
    target = ft.targets.parity(10, 4)
    table = ft.build_top_down(target, space, 0).tree
    wrong = ft.targets.chain(space, 4, seed=3)
    grown = as_grown(wrong, space, most=4)
    assert worst_ratio(grown.splits, space, wrong) == 1
    assert worst_ratio(grown.splits, space, table) < 0.25
