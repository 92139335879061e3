"""A population whose features depend on each other, tables drawn from it, and true errors over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.spaces.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable

JOBS = np.array(["clerk", "nurse", "pilot", "retired"])


def _people() -> tuple[dict[str, NDArray[Any]], NDArray[np.float64]]:
    """People of 60 ages, 4 jobs and 6 numbers of rooms, with probabilities: the old are retired and live in more."""
    age, job, rooms = (axis.ravel() for axis in np.meshgrid(np.arange(20, 80), np.arange(4), np.arange(1, 7)))
    retired = np.where(age >= 65, np.where(job == 3, 0.9, 0.1 / 3), np.where(job == 3, 0.01, 0.33))
    chances = retired * np.exp(-np.abs(rooms - age / 20))
    people = {"age": age, "job": JOBS[job], "rooms": rooms, "owner": rooms * 20 > age}
    return people, chances / chances.sum()


PEOPLE = _people()


def table_of(rows: int, seed: int) -> Rows:
    """So many people, drawn independently."""
    people, chances = PEOPLE
    drawn = np.random.default_rng(seed).choice(len(chances), rows, p=chances)
    return Rows({name: column[drawn] for name, column in people.items()})


def loan(batch: Any) -> NDArray[np.bool_]:
    """A rule that is a small tree."""
    return np.asarray(np.where(batch["job"] == "retired", batch["rooms"] > 3, (batch["age"] > 30) & batch["owner"]))


def noisy_loan(batch: Any) -> NDArray[np.bool_]:
    """The rule, but for about a fifth of people: no small tree is good enough."""
    odd = (np.asarray(batch["age"]) * 7 + np.asarray(batch["rooms"]) * 5) % 5 == 0
    return np.asarray(loan(batch) ^ odd)


def population_error(tree: Any, target: Callable[[Any], Any]) -> float:
    """The true share of the population on which a tree and a target disagree."""
    people, chances = PEOPLE
    return float(chances[np.asarray(tree.predict(people)) != np.asarray(target(people))].sum())
