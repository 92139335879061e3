"""Walking from one input to another with a different label, by halves: it ends at a feature that matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

    from fidelitree.search.questions import Steps

Row = NDArray[np.uint8]


def walk(one: Row, two: Row, answer: Callable[[Row], Steps[bool]], random: np.random.Generator) -> Steps[int]:
    """A feature whose change alone changes the label of some input between the two.

    ``two`` must have another label than ``one``, and ``answer`` asks whether an input has that of ``one``. It takes
    log2 of the number of features in which the two differ, rounded up.
    """
    apart = random.permutation(np.flatnonzero(one != two))
    while len(apart) > 1:
        half, rest = apart[: len(apart) // 2], apart[len(apart) // 2 :]
        mixed = one.copy()
        mixed[half] = two[half]
        if (yield from answer(mixed)):
            one, apart = mixed, rest
        else:
            apart = half
    return int(apart[0])
