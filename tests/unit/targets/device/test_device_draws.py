"""What torch draws and counts is what NumPy draws and counts, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from fidelitree.runs.analysis.stars import _chances_of_ones, draw_balanced
from fidelitree.spaces.draw import Stream, draw, redraw
from fidelitree.spaces.features import IsOne
from fidelitree.spaces.product import ProductSpace
from fidelitree.spaces.region import Region

torch = pytest.importorskip("torch")

from fidelitree.targets.device import philox  # noqa: E402 - torch comes first
from fidelitree.targets.device.lanes import (  # noqa: E402
    BalancedLanes,
    BitLanes,
    DeviceTree,
    fused_for,
    hybrids,
    placed,
)

CPU = torch.device("cpu")
STREAM = Stream.named(5, "certify")
SPACES = [
    ProductSpace.bernoulli(5),
    ProductSpace.bernoulli(17, np.linspace(0.01, 0.99, 17)),
    ProductSpace.bernoulli(4, [0.5, 0.3, 2.0**-60, 1 - 2.0**-53]),
]


def test_words_are_those_of_numpy() -> None:
    lanes, blocks = torch.tensor([0, 5, 2**40]), torch.tensor([0, 9])
    words = philox.lane_words(philox.key_of(STREAM), 13, lanes, blocks).numpy().view(np.uint64)
    for b, block in enumerate(blocks.tolist()):
        for k, lane in enumerate(lanes.tolist()):
            assert words[b, :, k].tolist() == STREAM.lane(block, lane).random_raw(13).tolist()
    single = philox.word_at(philox.key_of(STREAM), torch.arange(13), torch.tensor(5), torch.tensor(9))
    assert single.numpy().view(np.uint64).tolist() == words[1, :, 1].tolist()


def test_a_number_keeps_its_64_bits() -> None:
    assert [philox.signed(word) for word in (0, 2**63 - 1, 2**63, 2**64 - 1)] == [0, 2**63 - 1, -(2**63), -1]


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("rows", [1, 7, 640, 1003])
def test_bits_are_those_of_the_space(space: ProductSpace, rows: int) -> None:
    for given in ({}, {"x0": 1, "x2": 0}):
        region = Region.of(space, given)
        first, again = (BitLanes.of(region, STREAM, CPU, wanted) for wanted in (False, True))
        for lanes, one in (
            (first, lambda b, r=region: draw(r, STREAM, b, rows)),
            (again, lambda b, r=region: _redrawn(r, b, rows)),
        ):
            found = lanes.draw(range(3, 5), rows, torch.float32).numpy()
            assert (found == np.concatenate([one(3), one(4)], axis=1).T).all()
            alone = lanes.only(1).draw(range(3, 5), rows, torch.uint8).numpy()
            assert (alone[:, 0] == found[:, 1]).all()


def _redrawn(region: Region, block: int, rows: int) -> np.ndarray:
    return np.stack([redraw(region, STREAM, block, rows, i) for i in range(len(region.space))])


@pytest.mark.parametrize("space", SPACES[:2])
def test_balanced_bits_are_those_of_stars(space: ProductSpace) -> None:
    region = Region.of(space, {"x1": 1})
    free = region.free()
    biases = np.array([space.features[i].mass(1) for i in free])
    fixed = torch.tensor([region.restrictions.get(i, 0) for i in range(len(space))], dtype=torch.uint8)
    found = BalancedLanes(STREAM, free, biases, _chances_of_ones(biases), fixed).draw(range(2, 4), 37, torch.uint8)
    wanted = np.concatenate([draw_balanced(region, STREAM, block, 37) for block in (2, 3)], axis=1).T
    assert (found.numpy() == wanted).all()


@pytest.mark.parametrize("flip", [True, False])
def test_hybrids_change_one_feature_each(flip: bool) -> None:
    rng = np.random.default_rng(1)
    inputs, other = (torch.tensor(rng.integers(0, 2, (9, 4)), dtype=torch.uint8) for _ in range(2))
    made = hybrids(inputs, None if flip else other, placed([-1, 0, 3], CPU), slice(2, 7), torch.bfloat16)
    parts = made.view(3, 5, 4).to(torch.uint8)
    assert (parts[0] == inputs[2:7]).all()
    for k, i in enumerate((0, 3)):
        wanted = inputs[2:7].clone()
        wanted[:, i] = (1 - inputs if flip else other)[2:7, i]
        assert (parts[1 + k] == wanted).all()


def test_trees_are_walked_and_answers_counted() -> None:
    tree = DeviceTree.of([(IsOne(0), 1, 2), (IsOne(1), 3, 4), 1, 0, 2], 2, CPU)
    inputs = torch.tensor([[0, 0], [0, 1], [1, 0], [1, 1], [0, 1]])
    nodes = tree.reached(inputs)
    assert nodes.tolist() == [3, 4, 2, 2, 4]
    counts = tree.tally(nodes, torch.tensor([0, 1, 1, -1, 2]), 2)
    assert counts.tolist() == [1, 0, 0, 1, 0, 1, 2]  # pairs of leaf and code, then codes that are none


def test_kernels_are_for_cuda_only() -> None:
    assert fused_for(CPU) is None
