"""The one curve: its merge is what trying every share finds, and its trace-back has the error it says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fidelitree.spaces.features import IsOne
from fidelitree.trees import kernels
from fidelitree.trees.curve import Curve, CurveSplit, first_share, min_plus
from fidelitree.trees.nested import Nested, size

errors = st.lists(st.integers(0, 12), min_size=1, max_size=6).map(lambda raw: np.sort(np.array(raw, float))[::-1] / 16)


def curve(falling: np.ndarray, first: int) -> Curve:
    """Leaves below tests of one feature each, with labels that tell which curve they come from."""

    def build(leaves: int) -> Nested:
        return first if leaves == 1 else (IsOne(first), first, build(leaves - 1))

    return Curve(falling, build)


@given(errors, errors, errors, st.integers(1, 12))
def test_the_merge_is_what_every_share_finds(no: np.ndarray, yes: np.ndarray, own: np.ndarray, most: int) -> None:
    found = curve(own, 0).or_split(CurveSplit(IsOne(9), curve(no, 1), curve(yes, 2), (0.25, 0.75)), most)
    assert len(found.errors) == min(most, max(len(own), len(no) + len(yes)))
    for leaves, error in enumerate(found.errors, start=1):
        sums = {
            (j, k): 0.25 * no[j - 1] + 0.75 * yes[k - 1]
            for j in range(1, len(no) + 1)
            for k in range(1, len(yes) + 1)
            if j + k <= leaves
        }
        alone = own[min(leaves, len(own)) - 1]
        assert error == min([alone, *sums.values()])
        tree = found.build(leaves)
        assert size(tree) <= leaves
        if isinstance(tree, tuple) and tree[0] == IsOne(9):
            assert sums[size(tree[1]), size(tree[2])] == error
        else:
            assert own[size(tree) - 1] == error


@given(errors, errors, st.integers(2, 14))
def test_the_first_share_is_the_least_that_reaches_the_error(no: np.ndarray, yes: np.ndarray, leaves: int) -> None:
    best = np.full((1, leaves), 2.0)
    min_plus(best, no[None], yes[None])
    least = float(np.minimum.accumulate(best[0])[-1])
    share = first_share(no, yes, leaves, least)
    assert share is not None
    reached = [no[min(j, len(no)) - 1] + yes[min(leaves - j, len(yes)) - 1] for j in range(1, leaves)]
    assert reached.index(least) == share - 1
    assert first_share(no, yes, leaves, least - 1e-9) is None


def test_a_split_that_gains_no_more_than_the_slack_is_not_taken() -> None:
    own, split = Curve.leaf(5, 0.5), CurveSplit(IsOne(0), Curve.leaf(0, 0.25), Curve.leaf(1, 0.25 - 1e-16))
    assert own.or_split(split, slack=1e-15).build(2) == 5
    assert own.or_split(split).build(2) == (IsOne(0), 0, 1)
    assert own.or_split(split).build(1) == 5


def test_the_lowest_of_some_curves() -> None:
    found = Curve.lowest([curve(np.array([0.5, 0.25]), 0), curve(np.array([0.5, 0.5, 0.0]), 1)])
    assert found.errors.tolist() == [0.5, 0.25, 0.0]
    assert [found.build(leaves) for leaves in (1, 2)] == [0, (IsOne(0), 0, 0)]
    assert size(found.build(9)) == 9
    assert found.first_within(0.25) == 2
    assert found.first_within(-0.1) is None
    assert found.first_within(1e-13) == pytest.approx(3)


@pytest.mark.skipif(not kernels.compiled, reason="there are no compiled kernels; python hatch_build.py")
@pytest.mark.parametrize("seed", range(40))
def test_both_ways_merge_alike(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(seed)
    lines = (3, 2) if seed % 3 == 0 else ()
    best, one, two = (random.integers(9, size=(*lines, int(width))) / 8 for width in random.integers(1, 12, 3))
    shares = [np.zeros(best.shape, np.intp) if seed % 2 else None for _ in range(2)]
    found = [best.copy(), best.copy()]
    for twin, share in zip(found, shares, strict=True):
        min_plus(twin, one[..., :3], two, share, 0.1 * (seed % 4 == 1))
        monkeypatch.setattr(kernels, "compiled", False)
    np.testing.assert_equal(*found)
    np.testing.assert_equal(*shares)


@pytest.mark.skipif(not kernels.compiled, reason="there are no compiled kernels; python hatch_build.py")
def test_the_kernel_refuses_lines_that_do_not_belong_together() -> None:
    two, three = np.zeros((2, 4)), np.zeros((3, 4))
    for arrays in ((two, three, two, None), (two, two, two, np.zeros((2, 3), np.int64))):
        with pytest.raises(ValueError, match="all arrays must have as many lines"):
            kernels.native.min_plus(*arrays, 0.0)
