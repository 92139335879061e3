"""Ways to a certificate over worlds that are no product, and over numbers; what is so is added up over all inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fidelitree as ft
from benchmarks.campaign.targets import Case, N, cube, places

LABELS = 600
KEEPS = 0.75  # how often a bit of the sampler repeats the one before
TABLE, BLEND = 300, 0.2
TOLERANCE = 0.6
GAPS, MISSING = 4, 0.25  # features that may be missing, and how often each of them is


@dataclass(frozen=True)
class WorldCase(Case):
    """A case with other probabilities of inputs, or with numbers for labels."""

    chances: NDArray[np.float64] | None = None
    numbers: NDArray[np.float64] | None = None

    def weights(self) -> NDArray[np.float64]:
        return super().weights() if self.chances is None else self.chances

    def error(self, predicted: NDArray[Any]) -> float:
        wrong = predicted != self.labels if self.numbers is None else np.abs(predicted - self.numbers) > TOLERANCE
        return float(self.weights()[wrong].sum())


Found = tuple[ft.Certificate, NDArray[Any], Case]


def _over(case: Case, world: Any, chances: NDArray[np.float64], promise: tuple[float, float], seed: int) -> Found:
    found = ft.distill(case, world, *promise, seed=seed, max_queries=LABELS)
    truth = WorldCase(case.family, case.labels, case.space, case.rival, chances)
    return found.certificate, np.asarray(found.tree.predict_inner(cube())), truth


def mixture(case: Case, epsilon: float, delta: float, seed: int) -> Found:
    random = np.random.default_rng([seed, 1])
    parts = [ft.ProductSpace.bernoulli(N, random.uniform(0.1, 0.9, N)) for _ in range(3)]
    weights = random.dirichlet([2, 2, 2])
    chances = sum(weight * part.chances(cube()) for weight, part in zip(weights, parts, strict=True))
    return _over(
        case,
        ft.Mixture(list(zip(weights / weights.sum(), parts, strict=True))),
        np.asarray(chances),
        (epsilon, delta),
        seed,
    )


def sampler(case: Case, epsilon: float, delta: float, seed: int) -> Found:
    """A chain of bits, each of which mostly repeats the last one."""

    def draw(rows: int, rng: np.random.Generator) -> Any:
        same = rng.random((rows, N)) < KEEPS
        same[:, 0] = rng.random(rows) < 0.5
        return (np.cumsum(~same, axis=1) % 2).astype(np.bool_)

    repeats = cube()[:, 1:] == cube()[:, :-1]
    chances = np.where(repeats, KEEPS, 1 - KEEPS).prod(axis=1) / 2
    world = ft.Sampler(draw, like=draw(64, np.random.default_rng(0)))
    return _over(case, world, chances, (epsilon, delta), seed)


def blend(case: Case, epsilon: float, delta: float, seed: int) -> Found:
    """Neighbours of the rows that a run keeps for its tests."""
    rows = ft.Rows(np.random.default_rng([seed, 2]).random((TABLE, N)) < case.space.biases, blend=BLEND)
    tested = rows.parts(seed).testing
    chances = np.ones((len(tested), 1))
    for i, feature in enumerate(rows.features):
        sides = [(1 - BLEND) * (tested[:, i] == value)[:, None] + BLEND * feature.mass(value) for value in (0, 1)]
        chances = np.concatenate([chances * side for side in sides], axis=1)
    return _over(case, rows, chances.mean(axis=0), (epsilon, delta), seed)


def chow_liu(case: Case, epsilon: float, delta: float, seed: int) -> Found:
    """Bits that mostly repeat the one before them, in few rows; an input's probability is a product of its cells."""
    random = np.random.default_rng([seed, 5])
    bits = random.random((TABLE, N)) < case.space.biases
    for i in range(1, N):
        bits[:, i] = np.where(random.random(TABLE) < KEEPS, bits[:, i - 1], bits[:, i])
    world = ft.ChowLiu.from_data(bits)
    chances = np.ones(len(cube()))
    for i, (parent, cells) in enumerate(zip(world.dependence.parents, world.dependence.tables, strict=True)):
        chances *= cells[cube()[:, parent] if parent >= 0 else 0, cube()[:, i]]
    return _over(case, world, chances, (epsilon, delta), seed)


def gaps(case: Case, epsilon: float, delta: float, seed: int) -> Found:
    """The bits as numbers, the first of which may be missing; two that are missing together change the label."""
    chances = case.space.biases.tolist()
    features = [ft.Numeric.from_values(f"x{i}", [0.0, 1.0], [1 - p, p]) for i, p in enumerate(chances)]
    space = ft.ProductSpace([one.with_missing(MISSING) if i < GAPS else one for i, one in enumerate(features)])
    fill = np.random.default_rng([seed, 4]).integers(0, 2, N)

    def answer(inner: NDArray[Any]) -> NDArray[np.intp]:
        gone = np.isnan(inner)
        return case.labels[places(np.where(gone, fill, inner))] ^ (gone[:, 0] & gone[:, 1])

    listed = [feature.listed(None)[0] for feature in space]
    inputs = np.stack([axis.ravel() for axis in np.meshgrid(*listed, indexing="ij")], axis=1)
    found = ft.distill(
        lambda batch: answer(np.stack([batch[name] for name in space.names], axis=1)),
        space,
        epsilon,
        delta,
        seed=seed,
        max_queries=LABELS,
    )
    truth = WorldCase(case.family, answer(inputs), case.space, case.rival, _chances(space, inputs))
    return found.certificate, np.asarray(found.tree.predict_inner(inputs)), truth


def _chances(space: ft.ProductSpace, inputs: NDArray[Any]) -> NDArray[np.float64]:
    """The probability of every input, some of whose numbers are missing."""
    found = np.ones(len(inputs))
    for feature, column in zip(space, inputs.T, strict=True):
        values, shares = feature.listed(None)
        found *= shares[np.where(np.isnan(column), len(values) - 1, np.searchsorted(values, column))]
    return found


def tolerance(case: Case, epsilon: float, delta: float, seed: int) -> Found:
    """Labels as numbers, each of them a little off."""
    numbers = 2.0 * case.labels + np.random.default_rng([seed, 3]).uniform(-0.5, 0.5, len(case.labels))
    found = ft.distill(
        lambda bits: numbers[places(bits)],
        case.space,
        epsilon,
        delta,
        seed=seed,
        max_queries=LABELS,
        tolerance=TOLERANCE,
    )
    truth = WorldCase(case.family, case.labels, case.space, case.rival, None, numbers)
    return found.certificate, np.asarray(found.tree.predict(cube())), truth
