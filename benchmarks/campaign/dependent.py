"""Ways to a certificate over rows that depend on each other: a split that parts them lets a tree know its tests."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fidelitree as ft
from benchmarks.campaign.targets import Case, N, cube
from benchmarks.campaign.worlds import Found, WorldCase

DIFFERENT, COPIES = 240, 4  # rows, and how often each of them is in the table
PEOPLE, EACH = 180, 8  # people, and rows of each
SLIPS = 0.02  # how often a bit of a person's row is another one


def copied(case: Case, epsilon: float, delta: float, seed: int) -> Found:
    """Every row is in the table several times, and nobody says so; what is true of new rows is judged."""
    random = np.random.default_rng([seed, 7])
    rows = np.repeat(random.random((DIFFERENT, N)) < case.space.biases, COPIES, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns
        world = ft.Rows(_table(rows), numeric=_NAMES)
    return _over(case, world, None, (epsilon, delta), seed)


def of_people(case: Case, epsilon: float, delta: float, seed: int) -> Found:
    """People with several rows that are nearly the same; judged are rows of other people."""
    random = np.random.default_rng([seed, 8])
    people = np.repeat(random.random((PEOPLE, N)) < case.space.biases, EACH, axis=0)
    rows = people ^ (random.random(people.shape) < SLIPS)
    who = np.repeat(np.arange(PEOPLE), EACH)
    shares = case.space.biases * (1 - SLIPS) + (1 - case.space.biases) * SLIPS
    chances = np.where(cube(), shares, 1 - shares).prod(axis=1)
    return _over(case, of_groups(rows, who), chances, (epsilon, delta), seed)


def of_groups(rows: NDArray[np.bool_], who: NDArray[np.intp]) -> ft.Rows:
    """Rows of people, who are named."""
    return ft.Rows({**_table(rows), "who": who}, numeric=_NAMES, groups="who")


def ungrouped(rows: NDArray[np.bool_]) -> ft.Rows:
    """The same, who are not named; each row is its own group, so that copies are not kept together either."""
    return ft.Rows(_table(rows), numeric=_NAMES, groups=range(len(rows)))


_NAMES = [f"x{i}" for i in range(N)]


def _table(rows: NDArray[np.bool_]) -> dict[str, Any]:
    return dict(zip(_NAMES, rows.T.astype(np.float64), strict=True))


def _over(
    case: Case, world: Any, chances: NDArray[np.float64] | None, promise: tuple[float, float], seed: int
) -> Found:
    def target(batch: Any) -> NDArray[np.intp]:
        return case(np.stack([batch[name] for name in _NAMES], axis=1))

    found = ft.distill(target, world, *promise, seed=seed)
    truth = WorldCase(case.family, case.labels, case.space, case.rival, chances)
    return found.certificate, np.asarray(found.tree.predict(cube())), truth
