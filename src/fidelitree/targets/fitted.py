"""Rows that the target was fitted to: a certificate over them says nothing about new ones.

Some fitted models carry their training rows: nearest neighbours, Gaussian processes, support vectors. Equal rows alone
accuse nobody, because rows of categories repeat. What tells is where values fall that occur exactly twice among
training rows and test rows together. If the two were drawn apart, such a pair falls into different parts by chance
only; of rows that were fitted and are given again, always.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from fidelitree.errors import RAISED, FittedRowsWarning, warn
from fidelitree.spaces.draw import Stream
from fidelitree.targets.models.estimator import Estimator

if TYPE_CHECKING:
    from fidelitree.spaces.rows import Rows
    from fidelitree.targets.labels import Target

WHOLE = ("_fit_X", "X_train_", "X_fit_", "X_")
"""Where models keep all their training rows: neighbours, Gaussian processes, kernel ridge, label propagation."""
SOME = "support_vectors_"
INSIDE = ("best_estimator_", "base_estimator_", "estimator_", "estimator")
"""Where models keep a model that they are made around; an unfitted one carries nothing."""
LISTED = ("estimators_", "calibrated_classifiers_")
CHECKED = 4096  # rows of the table that are looked up
DEPTH, WIDTH = 5, 8  # of models around models
REPEATED = 0.05  # of test rows, beyond which support vectors tell nothing
ALARM = 1e-9
"""The chance that rows drawn apart from the training rows are taken for some of them."""


def warn_if_fitted(target: Target, rows: Rows, seed: int | None) -> None:
    """Warn where the target carries training rows, and rows that are to test a predictor are among them.

    ``seed`` parts the rows, as in `Rows.parts`; None where all of them are for tests.
    """
    owner = _part(target, "__self__")  # of a method such as model.predict
    for kept, whole, steps in _carried(target if owner is None else owner, (), DEPTH):
        try:
            inner = rows.inner if seed is None else rows.parts(seed).testing
            batch = rows.batch(inner[:: -(-len(inner) // CHECKED)].copy())  # a transformer may write to it
            for step in steps:
                batch = step(batch)
            training, tested = _keys(kept), _keys(batch)
        except RAISED:  # a stranger's transformer, or rows that are no numbers: then nothing is known
            continue
        if overlap(training, tested, whole):
            shared = int(np.isin(tested, training).sum())
            warn(
                f"the target was fitted to rows of this table: {shared:,} of {len(tested):,} test rows that were "
                f"looked up are among its training rows. A certificate over them says nothing about new rows - fit "
                f"the target to one part of the table, and give Rows the other",
                FittedRowsWarning,
            )
            return


def _carried(model: Any, steps: Sequence[Any], depth: int) -> Iterator[tuple[Any, bool, Sequence[Any]]]:
    """Training rows inside a model, whether they are all of them, and what a batch goes through on its way there."""
    if isinstance(model, Estimator):
        yield from _carried(model.model, [*steps, model.received], depth)
        return
    pipeline = _part(model, "steps")
    if isinstance(pipeline, list) and pipeline and depth:
        before = [step.transform for _, step in pipeline[:-1] if hasattr(step, "transform")]
        yield from _carried(pipeline[-1][1], [*steps, *before], depth - 1)
        return
    for name in (*WHOLE, SOME):
        if (kept := _part(model, name)) is not None:
            yield kept, name != SOME, steps
    listed = [found for name in LISTED if isinstance(found := _part(model, name), list)]
    inside = [_part(model, name) for name in INSIDE]
    for inner in [*inside, *(inner for found in listed for inner in found[:WIDTH])] if depth else ():
        if inner is not None:
            yield from _carried(inner, steps, depth - 1)


def _part(model: Any, name: str) -> Any:
    try:
        return getattr(model, name, None)
    except RAISED:
        return None


def _keys(table: Any) -> NDArray[np.uint64]:
    """One number for each row, the same for equal rows; what differs in the last digits is equal."""
    dense = table.toarray() if hasattr(table, "toarray") else table
    with np.errstate(over="ignore"):
        values = np.asarray(dense, np.float64).astype(np.float32) + np.float32(0)  # -0 is 0
    values[np.isnan(values)] = np.nan  # and a missing number is one, whatever its bits
    if values.ndim != 2:
        raise ValueError("rows of numbers are needed")
    factors = np.asarray(Stream("rows as numbers").lane(0, 0).random_raw(values.shape[1]), np.uint64) | np.uint64(1)
    keys = np.full(len(values), values.shape[1], np.uint64)
    for i in range(values.shape[1]):
        keys += np.ascontiguousarray(values[:, i]).view(np.uint32).astype(np.uint64) * factors[i]
        keys ^= keys >> np.uint64(29)
    return keys


def overlap(training: NDArray[np.uint64], tested: NDArray[np.uint64], whole: bool = True) -> bool:
    """Whether rows are in both parts more often than chance puts them there.

    Where ``training`` holds some of the training rows only, chosen by what they are, pairs inside it say nothing, and
    rows that repeat themselves tell no chance from choice.
    """
    n, m = len(training), len(tested)
    values, place = np.unique(np.concatenate([training, tested]), return_inverse=True)
    ours, theirs = (np.bincount(part, minlength=len(values)) for part in (place[:n], place[n:]))
    if not whole and theirs[theirs > 1].sum() > REPEATED * m:
        return False
    pairs = (ours + theirs == 2) & (whole | (theirs > 0))
    shared = int((pairs & (theirs == 1)).sum())
    chance = 2 * n * m / ((n + m) * (n + m - 1)) if whole else 2 * n / (2 * n + m - 1)
    return shared > 0 and float(special.bdtrc(shared - 1, int(pairs.sum()), min(1.0, chance))) <= ALARM
