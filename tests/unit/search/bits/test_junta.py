"""The table over few bits: which cells are missing, and the tree of a table that is complete."""

from __future__ import annotations

import numpy as np
import pytest

from fidelitree.search.bits import junta
from fidelitree.search.bits.sketch import predict
from fidelitree.spaces.features import IsOne
from fidelitree.trees.nested import size
from small import cube


def test_cells_are_numbered_by_the_relevant_bits_alone() -> None:
    rows = cube(4)
    assert junta.cells(rows, [2, 0]).tolist() == (rows[:, 2] + 2 * rows[:, 0]).tolist()
    assert junta.cells(rows, []).tolist() == [0] * 16


def test_missing_cells_become_inputs_with_the_bits_of_others_elsewhere() -> None:
    rows = cube(5)[:6]
    missing = junta.missing(rows, [1, 3])
    assert missing.tolist() == [2, 3]
    others = np.ones((2, 5), np.uint8)
    asked = junta.members(missing, [1, 3], others)
    assert asked.tolist() == [[1, 0, 1, 1, 1], [1, 1, 1, 1, 1]]
    assert others.all(), "what is known stays as it is"
    assert not len(junta.missing(np.concatenate([rows, asked]), [1, 3]))


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("bits", [0, 1, 4, 7])
def test_the_tree_of_a_table_has_no_error(labels: int, bits: int) -> None:
    rng = np.random.default_rng(bits)
    relevant = rng.permutation(9)[:bits].tolist()
    table = rng.integers(0, labels, 1 << bits)
    rows = rng.integers(0, 2, (300, 9)).astype(np.uint8)
    assert predict(junta.tree(table, relevant), rows).tolist() == table[junta.cells(rows, relevant)].tolist()


def test_bits_that_change_nothing_are_not_tested() -> None:
    table = np.tile([0, 1], 8)
    assert junta.tree(table, [5, 1, 2, 3]) == (IsOne(5), 0, 1)
    parity = junta.tree(np.array([int(cell).bit_count() % 2 for cell in range(32)]), list(range(5)))
    assert size(parity) == 32
    assert junta.crowds(size(parity), 5)
    assert not junta.crowds(size(junta.tree(np.array([0] * 31 + [1]), list(range(5)))), 5), "an AND is no crowd"
