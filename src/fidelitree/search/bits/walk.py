"""Walking from one input to another with a different label, by halves: it ends at a feature that matters."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.uint8]


def walk(one: Row, two: Row, answer: Callable[[Row], bool], random: np.random.Generator) -> int:
    """A feature whose change alone changes the label of some input between the two.

    ``two`` must have another label than ``one``, and ``answer`` says for an input whether it has the label of ``one``
    (as a truth value). It takes log2 of the number of features in which the two differ, rounded up.
    """
    apart = random.permutation(np.flatnonzero(one != two))
    while len(apart) > 1:
        half, rest = apart[: len(apart) // 2], apart[len(apart) // 2 :]
        mixed = one.copy()
        mixed[half] = two[half]
        if answer(mixed):
            one, apart = mixed, rest
        else:
            apart = half
    return int(apart[0])
