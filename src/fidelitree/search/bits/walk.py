"""Walking from one input to another with a different label, part by part: it ends at a feature that matters."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from fidelitree.search.questions import Steps

Rows = NDArray[np.uint8]
Truths = NDArray[np.bool_]


def walk(
    one: Rows, two: Rows, same: Callable[[Rows], Steps[Truths]], random: np.random.Generator, parts: int = 2
) -> Steps[int]:
    """A feature whose change alone changes the label of some input between the two.

    ``two`` must have another label than ``one``, and ``same`` asks which inputs have that of ``one``. By halves
    it takes log2 of the number of features in which the two differ, rounded up, one query after the other. With more
    ``parts`` the inputs between them are asked together: more queries, in fewer rounds.
    """
    apart = random.permutation(np.flatnonzero(one != two))
    while len(apart) > 1:
        cuts = sorted({part * len(apart) // parts for part in range(1, parts)} - {0})
        mixed = np.repeat(one[None], len(cuts), axis=0)
        for row, cut in zip(mixed, cuts, strict=True):
            row[apart[:cut]] = two[apart[:cut]]
        passed = [*(yield from same(mixed)), False].index(False)  # of them, before the first that differs
        one = mixed[passed - 1] if passed else one
        apart = apart[cuts[passed - 1] if passed else 0 : cuts[passed] if passed < len(cuts) else None]
    return int(apart[0])
