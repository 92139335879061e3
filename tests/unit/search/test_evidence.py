"""Evidence about a leaf: its best label and what that still gets wrong."""

from __future__ import annotations

import numpy as np
import pytest

from fidelitree.search.grow import Evidence

NO_SCORES = np.zeros(2)


@pytest.mark.parametrize(
    ("masses", "best", "error"),
    [
        ([0.1, 0.3], 1, 0.1),
        ([0.2, 0.2], 0, 0.2),
        ([0.1, 0.2, 0.4, 0.1], 2, 0.4),
        ([0.3 * (1 - 1e-13), 0.3], 0, 0.3),  # a near tie goes to the first label
        ([0.3 * (1 - 1e-11), 0.3], 1, 0.3),
        ([0.0, 0.0], 0, 0.0),
        ([0.0, 0.5, 0.0], 1, 0.0),
    ],
)
def test_the_best_label_has_the_largest_mass_and_the_rest_is_wrong(
    masses: list[float], best: int, error: float
) -> None:
    evidence = Evidence(NO_SCORES, np.array(masses))
    assert evidence.best == best
    assert evidence.error == pytest.approx(error, rel=1e-10)


def test_a_probe_without_labels_cannot_be_asked_for_them() -> None:
    with pytest.raises(AssertionError, match="this probe does not know labels"):
        _ = Evidence(NO_SCORES).best
    with pytest.raises(AssertionError, match="this probe does not know labels"):
        _ = Evidence(NO_SCORES).error
