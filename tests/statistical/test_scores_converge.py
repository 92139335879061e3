"""Sampled scores converge to the exact ones: every count fits its binomial law, at three numbers of pairs.

For a leaf that was not chosen from the pairs, the number of pairs that change label is binomial: with the exact
score itself where pairs are global, with the influence inside the leaf where they are drawn inside it. ALARM is the
chance that correct code fails one count with a fresh seed; all counts of this file together stay below 1e-6.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

import fidelitree as ft
from chances import plausible
from fidelitree.asking.counted import Counted
from fidelitree.exact.truthtable import TableSubfunction
from fidelitree.search import sampled_probes as pairs_module
from fidelitree.search.exact_growth import ExactProbe
from fidelitree.search.grow import Probe
from fidelitree.search.sampled_probes import FreshPairs, ReusedPairs, Shelf
from fidelitree.spaces.draw import Stream
from fidelitree.spaces.features import IsOne
from fidelitree.spaces.region import Region
from fidelitree.trees.growing import GrowingLeaf, GrowingTree

if TYPE_CHECKING:
    from collections.abc import Iterator

ALARM = 1e-9
SPACE = ft.ProductSpace.bernoulli(5, [0.5, 0.3, 0.8, 0.6, 0.1])
TABLE = np.random.default_rng(21).integers(0, 3, 32)
SPLITS = [(0, 2), (2, 0), (1, 4), (4, 1)]
sizes = pytest.mark.parametrize("total", [300, 10_000, 300_000])


def leaves() -> GrowingTree:
    bare = GrowingTree(SPACE)
    for number, feature in SPLITS:
        bare.split(number, IsOne(feature))
    return bare


def scores(probe: Probe) -> dict[int, np.ndarray]:
    """The last evidence about every leaf, after the same splits."""
    bare = GrowingTree(SPACE)
    found = dict(probe.look(bare, list(bare.leaves.values())))
    for number, feature in SPLITS:
        found.update(probe.look(bare, list(bare.split(number, IsOne(feature)))))
    return {number: found[number].scores for number in bare.leaves}


def exact() -> dict[int, np.ndarray]:
    return scores(ExactProbe(TableSubfunction.of(TABLE, SPACE.whole, [0, 1, 2])))


def sampled(kind: str, total: int, seed: int) -> dict[int, np.ndarray]:
    counted, stream = Counted(ft.targets.TruthTable(TABLE), SPACE), Stream.named(seed, "grow")
    if kind == "reused":
        return scores(ReusedPairs(counted, stream, lambda j: total, Shelf()))
    return scores(FreshPairs(counted, stream, lambda j: total))


def counts(kind: str, total: int, seed: int) -> Iterator[tuple[GrowingLeaf, int, int, int, float]]:
    """For every leaf and feature: hits, pairs, and the probability that a pair is a hit."""
    estimated, true = sampled(kind, total, seed), exact()
    for number, leaf in leaves().leaves.items():
        mass = leaf.region.mass
        pairs, share = (total, 1.0) if kind == "reused" else (math.ceil(mass * total), mass)
        for i in range(len(SPACE)):
            yield leaf, i, round(estimated[number][i] / share * pairs), pairs, true[number][i] / share


@sizes
@pytest.mark.parametrize("kind", ["reused", "fresh"])
def test_every_score_fits_its_binomial_law(kind: str, total: int) -> None:
    for seed in range(3):
        for leaf, i, hits, pairs, p in counts(kind, total, seed):
            assert plausible(hits, pairs, p, ALARM), f"leaf {leaf.region}, feature {i}: {hits} of {pairs}, not {p:.4f}"


@pytest.mark.parametrize(("total", "off"), [(300, 0.2), (10_000, 0.04), (300_000, 0.007)])
@pytest.mark.parametrize("kind", ["reused", "fresh"])
def test_a_score_that_is_off_would_be_seen_the_sooner_the_more_pairs(kind: str, total: int, off: float) -> None:
    """The tolerance is the law's own, and falls like one over the root of the number of pairs."""
    for leaf, _, hits, pairs, p in counts(kind, total, 0):
        wrong = hits + math.ceil(off * total)
        assert pairs < wrong or not plausible(wrong, pairs, p, ALARM), f"leaf {leaf.region}"


def failures(kind: str, total: int = 300_000) -> int:
    return sum(not plausible(hits, pairs, p, ALARM) for _, _, hits, pairs, p in counts(kind, total, 0))


@pytest.mark.parametrize("kind", ["reused", "fresh"])
def test_flipping_instead_of_drawing_again_would_be_seen(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = pairs_module.draw

    def flip(region: Region, stream: Stream, block: int, rows: int, i: int) -> np.ndarray:
        column = draw(region, stream, block, rows)[i]
        return column if i in region.restrictions else 1 - column

    monkeypatch.setattr(pairs_module, "redraw", flip)
    assert failures(kind) > 0


def test_pairs_drawn_outside_their_leaf_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere = pairs_module.draw
    monkeypatch.setattr(pairs_module, "draw", lambda region, *rest: everywhere(SPACE.whole, *rest))
    assert failures("fresh") > 0


def test_a_lane_that_serves_twice_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    once = pairs_module.draw

    def again(region: Region, stream: Stream, block: int, rows: int, i: int) -> np.ndarray:
        return once(region, stream, block, rows)[i]

    monkeypatch.setattr(pairs_module, "redraw", again)
    for kind in ("reused", "fresh"):
        assert failures(kind) > 0
