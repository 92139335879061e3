"""Truth tables as targets, and turning targets into tables."""

from __future__ import annotations

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.counted import Counted, tabulate
from fidelitree.spaces.region import Region
from fidelitree.targets.table import MAX_FEATURES, TruthTable
from small import cube


def test_the_label_of_an_input_stands_at_its_number() -> None:
    table = TruthTable(list("abcdefgh"))
    assert table.n == 3
    assert "".join(table(cube(3))) == "abcdefgh"
    assert table([[0, 0, 1]]).tolist() == ["e"]
    assert repr(table) == "<TruthTable of 3 features>"


@pytest.mark.parametrize("labels", [[], [1], [0, 1, 1], np.zeros((2, 2)), 5])
def test_only_powers_of_two_are_tables(labels: object) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        TruthTable(labels)
    assert str(caught.value) == (
        f"labels of a truth table must be a list of 2, 4, 8, ... labels; got shape {np.shape(labels)}"
    )


def test_a_table_keeps_the_kinds_of_its_labels() -> None:
    with pytest.raises(ft.TargetError, match="labels must be bool, int or str, one kind a run; the target answered"):
        ft.distill(TruthTable(["yes", float("nan"), "no", "no"]), ft.ProductSpace.bernoulli(2))


def test_tables_have_a_smallest_size() -> None:
    assert TruthTable([1, 0])([[0], [1], [1]]).tolist() == [1, 0, 0]


def test_tables_have_a_largest_size() -> None:
    assert TruthTable(np.broadcast_to(np.uint8(0), 1 << MAX_FEATURES)).n == 26
    labels = np.broadcast_to(np.uint8(0), 1 << (MAX_FEATURES + 1))
    with pytest.raises(ft.ParameterError, match="a truth table may have at most 26 features; got 27"):
        TruthTable(labels)


def test_a_batch_of_the_wrong_width_is_refused() -> None:
    with pytest.raises(ft.ParameterError, match=r"one column for each of the 2 features; got shape \(8, 3\)"):
        TruthTable([0, 1, 1, 0])(cube(3))


def test_a_region_is_enumerated_in_the_order_of_its_free_features() -> None:
    region = Region.of(ft.ProductSpace.bernoulli(4), {"x1": 1, "x2": 0})
    assert region.inputs(0, 4).tolist() == [[0, 1, 0, 0], [1, 1, 0, 0], [0, 1, 0, 1], [1, 1, 0, 1]]
    assert region.inputs(2, 3).tolist() == [[0, 1, 0, 1]]


def test_tabulate_asks_about_every_input_once_in_blocks() -> None:
    sizes = []

    def target(batch: np.ndarray) -> np.ndarray:
        sizes.append(len(batch))
        return batch[:, 17] ^ batch[:, 0]

    space = ft.ProductSpace.bernoulli(18)
    counted = Counted(target, space)
    codes = tabulate(counted, Region.of(space, {"x5": 1}))
    assert sizes == [65_536, 65_536]
    assert dict(counted.queries.asked) == {"enumerate": 1 << 17}
    labels = np.array(counted.book.seen)[codes]
    assert np.array_equal(labels, (np.arange(1 << 17) >> 16 ^ np.arange(1 << 17)) & 1)


def test_more_than_256_labels_are_told_apart() -> None:
    space = ft.ProductSpace.bernoulli(9)
    counted = Counted(lambda batch: batch @ (1 << np.arange(9)), space)
    codes = tabulate(counted, space.whole)
    assert np.array(counted.book.seen)[codes].tolist() == list(range(512))
