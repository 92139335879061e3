"""Every probe: what the grower may rely on; the exact one has the scores of the reference."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
import reference
from fidelitree import search
from fidelitree.asking.counted import Counted
from fidelitree.asking.on_device import OnDevice
from fidelitree.exact.engine import exact_subfunction
from fidelitree.search.device_pairs import DevicePairs
from fidelitree.search.exact_growth import ExactProbe
from fidelitree.search.grow import Evidence, Probe
from fidelitree.search.sampled_probes import FreshPairs, ReusedPairs, Shelf
from fidelitree.spaces.draw import Stream
from fidelitree.spaces.features import IsOne
from fidelitree.targets.labels import Target
from fidelitree.trees.growing import GrowingLeaf, GrowingTree
from small import cube

Make = Callable[[Target, ft.ProductSpace], Probe]


def exact(target: Target, space: ft.ProductSpace) -> Probe:
    root = exact_subfunction(Counted(target, space), space.whole, 1 << 20)
    assert root is not None
    return ExactProbe(root)


def reused(target: Target, space: ft.ProductSpace) -> Probe:
    return ReusedPairs(Counted(target, space), Stream.named(5, "grow"), lambda j: 200 * j, Shelf())


def fresh(target: Target, space: ft.ProductSpace) -> Probe:
    return FreshPairs(Counted(target, space), Stream.named(5, "grow"), lambda j: 200 * j)


def on_a_device(target: Target, space: ft.ProductSpace) -> Probe:
    torch = pytest.importorskip("torch")

    def answer(batch: Any) -> Any:
        labels = target(batch.numpy().astype(np.uint8))
        return torch.as_tensor(labels if labels.dtype.kind == "i" else np.zeros(len(labels), int))  # it has no text

    model = ft.targets.torch(answer)
    model.counts_there = True
    asked = OnDevice.of(Counted(model, space))
    assert asked is not None
    return DevicePairs(asked, Stream.named(5, "grow"), lambda j: 200 * j)


PROBES: dict[type, Make] = {ExactProbe: exact, ReusedPairs: reused, FreshPairs: fresh, DevicePairs: on_a_device}
every_probe = pytest.mark.parametrize("make", PROBES.values(), ids=[kind.__name__ for kind in PROBES])

SPACE = ft.ProductSpace.bernoulli(5, [0.5, 0.3, 0.8, 0.5, 0.1])
TARGET = ft.targets.TruthTable(np.random.default_rng(11).integers(0, 2, 32))
SPLITS = [(0, 2), (2, 0), (1, 4), (4, 1), (6, 3)]


def members() -> Iterator[type]:
    for found in pkgutil.iter_modules(search.__path__, f"{search.__name__}."):
        for _, kind in inspect.getmembers(importlib.import_module(found.name), inspect.isclass):
            if kind.__module__ == found.name and kind is not Probe and hasattr(kind, "look"):
                yield kind


def test_the_battery_knows_every_probe() -> None:
    assert set(members()) == set(PROBES)


def looks(
    make: Make, target: Target = TARGET
) -> Iterator[tuple[GrowingTree, list[GrowingLeaf], Mapping[int, Evidence]]]:
    """Grow a tree by the same splits, and look after each of them."""
    probe, bare = make(target, SPACE), GrowingTree(SPACE)
    made = list(bare.leaves.values())
    yield bare, made, probe.look(bare, made)
    for number, feature in SPLITS:
        made = list(bare.split(number, IsOne(feature)))
        yield bare, made, probe.look(bare, made)


@every_probe
def test_new_leaves_have_evidence_and_old_ones_are_not_invented(make: Make) -> None:
    for bare, made, evidence in looks(make):
        assert {leaf.number for leaf in made} <= evidence.keys() <= bare.leaves.keys()


@every_probe
def test_scores_are_probabilities_one_for_each_feature(make: Make) -> None:
    for _, _, evidence in looks(make):
        for what in evidence.values():
            assert what.scores.shape == (5,)
            assert ((what.scores >= 0) & (what.scores <= 1)).all()


@every_probe
def test_a_feature_of_the_path_cannot_score(make: Make) -> None:
    for bare, _, evidence in looks(make):
        for number, what in evidence.items():
            assert not what.scores[list(bare.leaves[number].region.restrictions)].any()


@every_probe
def test_an_irrelevant_feature_scores_exactly_nothing(make: Make) -> None:
    for _, _, evidence in looks(make, lambda batch: batch[:, 0] ^ batch[:, 3]):
        for what in evidence.values():
            assert not what.scores[[1, 2, 4]].any()


@every_probe
def test_a_constant_target_has_no_scores_at_all(make: Make) -> None:
    for _, _, evidence in looks(make, lambda batch: np.full(len(batch), "same")):
        assert not any(what.scores.any() for what in evidence.values())


@every_probe
def test_a_probe_sees_the_same_again(make: Make) -> None:
    for (_, _, one), (_, _, two) in zip(looks(make), looks(make), strict=True):
        assert one.keys() == two.keys()
        assert all(np.array_equal(one[number].scores, two[number].scores) for number in one)


def test_the_exact_probe_has_the_scores_and_masses_of_the_reference() -> None:
    table, biases = TARGET(cube(5)).tolist(), SPACE.biases.tolist()
    for _, made, evidence in looks(exact):
        for leaf in made:
            region = tuple(leaf.region.restrictions.get(i) for i in range(5))
            mass = reference.mass(biases, region)
            scores = [mass * reference.influence(table, biases, i, region) for i in range(5)]
            ones = mass * reference.mean(table, biases, region)
            what = evidence[leaf.number]
            np.testing.assert_allclose(what.scores, scores, rtol=1e-12, atol=1e-16)
            np.testing.assert_allclose(what.label_masses, [mass - ones, ones], rtol=1e-12, atol=1e-16)
            assert what.error == pytest.approx(mass * reference.error(table, biases, region), rel=1e-12, abs=1e-15)
