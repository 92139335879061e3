"""The ways to a certificate, each as a function from a case to what was claimed about which predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import fidelitree as ft
from benchmarks.campaign.targets import Case, N, cube, places
from fidelitree.draw import Stream, draw
from fidelitree.region import Region

ROWS = 700
FEW, SOME, MANY = 250, 600, 2_500  # labels that a run may use


class Claim(NamedTuple):
    """A certificate and what the predictor says about every input."""

    certificate: ft.Certificate
    predicted: NDArray[Any]


Door = Callable[[Case, float, float, int], Claim]


def _distilled(case: Case, epsilon: float | None, delta: float, seed: int, **more: Any) -> Claim:
    found = ft.distill(case, case.space, epsilon, delta, seed=seed, **{"max_queries": SOME, **more})
    return Claim(found.certificate, found.tree.predict(cube()))


def auto(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    return _distilled(case, epsilon, delta, seed)


def influence(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    return _distilled(case, epsilon, delta, seed, strategy="influence")


def leaves(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    return _distilled(case, epsilon, delta, seed, prefer="leaves", max_queries=MANY)


def smallest(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    return _distilled(case, epsilon, delta, seed, strategy="smallest", max_queries=MANY)


def noisy(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    return _distilled(case, epsilon, delta, seed, deterministic=False)


def within_a_budget(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    return _distilled(case, None, delta, seed, max_queries=FEW)


def _numbers(case: Case) -> ft.ProductSpace:
    """The bits as numbers 0 and 1, for runs over features of any kind."""
    weights = [[1 - p, p] for p in case.space.biases.tolist()]
    return ft.ProductSpace([ft.Numeric.from_values(f"x{i}", [0.0, 1.0], weights[i]) for i in range(N)])


def _columns(case: Case) -> Callable[[Any], Any]:
    return lambda batch: case(np.stack([batch[f"x{i}"] for i in range(N)], axis=1))


def tables(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    found = ft.distill(_columns(case), _numbers(case), epsilon, delta, seed=seed, max_queries=SOME)
    return Claim(found.certificate, found.tree.predict(cube()))


def rows(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    drawn = draw(Region.whole(case.space), Stream.named(seed, "the rows of a table"), 0, ROWS).astype(np.float64)
    table = ft.Rows({f"x{i}": drawn[i] for i in range(N)}, numeric=[f"x{i}" for i in range(N)])
    found = ft.distill(_columns(case), table, epsilon, delta, seed=seed)
    return Claim(found.certificate, found.tree.predict(cube()))


def practical(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    found = ft.practical_top_down(case, case.space, epsilon, delta, seed=seed, max_queries=400_000)
    return Claim(found.certificate, found.tree.predict(cube()))


def certify(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    found = ft.certify(lambda bits: case.rival[places(bits)], case, case.space, epsilon, delta, seed=seed)
    return Claim(found, case.rival)


def scribbling(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    """The target turns its batch around in place once it has answered."""

    def target(bits: NDArray[np.uint8]) -> NDArray[Any]:
        labels = case(bits)
        bits[:] = bits[:, ::-1].copy()
        return labels

    found = ft.distill(target, case.space, epsilon, delta, seed=seed, max_queries=SOME)
    return Claim(found.certificate, found.tree.predict(cube()))


def reused_buffer(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    """The target answers with views of one buffer, and is called again before a batch is complete."""
    buffer = np.zeros(7, np.intp)

    def target(bits: NDArray[np.uint8]) -> NDArray[Any]:
        buffer[: len(bits)] = case(bits)
        return buffer[: len(bits)]

    found = ft.distill(target, case.space, epsilon, delta, seed=seed, max_queries=SOME, batch_size=7)
    return Claim(found.certificate, found.tree.predict(cube()))


def nul_labels(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    """Labels that differ in a NUL: at the end of a text they are refused, elsewhere they are kept apart."""

    def answered(other: str) -> Claim:
        words = np.array(["a", other], object)
        found = ft.distill(lambda bits: words[case(bits)], case.space, epsilon, delta, seed=seed, max_queries=SOME)
        return Claim(found.certificate, (np.asarray(found.tree.predict(cube())) == other).astype(np.intp))

    try:
        return answered("a\0")
    except ft.TargetError:
        return answered("\0a")


DOORS: dict[str, Door] = {
    "certify": certify,
    "auto": auto,
    "auto, prefer leaves": leaves,
    "influence": influence,
    "smallest": smallest,
    "auto, not deterministic": noisy,
    "auto, epsilon None": within_a_budget,
    "auto, any features": tables,
    "auto, rows of a table": rows,
    "practical_top_down": practical,
    "auto, scribbling target": scribbling,
    "auto, re-used buffer": reused_buffer,
    "auto, NUL labels": nul_labels,
}
