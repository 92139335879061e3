"""A nearest-neighbour target: false certificates over the rows that it was fitted to, true ones over rows held out.

On its training rows such a target repeats their labels, which one test explains; on new rows it errs about a fifth of
the time. 12 tables each, delta = 0.05; ``too_many`` accuses certificates that just keep their word with probability
1e-6, and fresh rows of the same population say what the error is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import fidelitree as ft
from chances import too_many

TABLES, DELTA, ALARM = 12, 0.05, 1e-6
ROWS, FRESH, COLUMNS = 400, 20_000, 12


def population(rows: int, rng: np.random.Generator) -> Any:
    return rng.random((rows, COLUMNS))


def false_bound(seed: int, fitted: bool) -> bool:
    """Whether fresh rows show an error above the certified one."""
    rng = np.random.default_rng([seed, 15])
    training, unseen = population(ROWS, rng), population(ROWS, rng)
    model = KNeighborsClassifier(1).fit(training, training[:, 0] > 0.5)
    result = ft.distill(model.predict, ft.Rows(training if fitted else unseen), 0.1, DELTA, seed=seed)
    fresh = population(FRESH, rng)
    error = float((result.tree.predict(fresh) != model.predict(fresh)).mean())
    return error > result.certificate.error_bound + 0.01  # three standard errors


def test_over_rows_that_were_held_out_certificates_keep_their_word() -> None:
    assert not too_many(sum(false_bound(seed, fitted=False) for seed in range(TABLES)), TABLES, DELTA, ALARM)


def test_over_rows_that_were_fitted_all_are_false_and_each_run_warns() -> None:
    with pytest.warns(ft.FittedRowsWarning) as caught:
        assert all(false_bound(seed, fitted=True) for seed in range(TABLES))
    assert len(caught) == TABLES
