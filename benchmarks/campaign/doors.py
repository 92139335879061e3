"""The ways to a certificate, each as a function from a case to what was claimed about which predictions."""

from __future__ import annotations

import hashlib
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import fidelitree as ft
from benchmarks.campaign import dependent, twice, worlds
from benchmarks.campaign.targets import Case, N, cube, places
from fidelitree.runs import economics
from fidelitree.runs.agree import audit
from fidelitree.runs.agree import diff as compared
from fidelitree.runs.learning import EFFORTS, Effort
from fidelitree.search.local import deferred
from fidelitree.spaces.draw import Stream, draw

ROWS = 700
FEW, SOME, MANY = 250, 600, 2_500  # labels that a run may use
RUNGS = (80, 160, 300, 600)  # labels that a run may use at first, and each time that it goes on
IDLE = 26  # bits that decide nothing, so that what was patched weighs nothing


class Claim(NamedTuple):
    """A certificate and what the predictor says about every input; the case, where it is not the one given."""

    certificate: ft.Certificate
    predicted: NDArray[Any]
    case: Case | None = None
    others: tuple[tuple[ft.Certificate, NDArray[Any]], ...] = ()
    """What else was claimed in the same breath: all of it is false if one of it is."""


GuardedTarget = Callable[[Case, float, float, int], Claim]


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


def curve(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    """All points of a frontier; the search is short, because good trees are no aim here."""
    with patch.dict(EFFORTS, {"queries": Effort(gain=0.1, most=FEW, steps=5)}):
        front = ft.frontier(case, case.space, delta, seed=seed, max_queries=FEW, max_leaves=12)
    first, *others = ((point.certificate, np.asarray(point.tree.predict(cube()))) for point in front.points)
    return Claim(*first, others=tuple(others))


def noisy(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    return _distilled(case, epsilon, delta, seed, deterministic=False)


def within_a_budget(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    return _distilled(case, None, delta, seed, max_queries=FEW)


def extended(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    """One journal, four limits, four certificates: they are false together if one of them is."""
    with tempfile.TemporaryDirectory() as folder:
        more = {"journal": Path(folder) / "run.db"}
        claims = [_distilled(case, epsilon, delta, seed, max_queries=most, **more) for most in RUNGS]
    return max(claims, key=lambda claim: _doubt(case, claim))


def _doubt(case: Case, claim: Claim) -> tuple[bool, bool, float]:
    """False claims first, then those that come from draws."""
    made, error = claim.certificate, case.error(claim.predicted)
    return (
        error > made.error_bound,
        made.method != "exact" and made.error_bound < 1,
        error / max(made.error_bound, 1e-9),
    )


def _numbers(case: Case) -> ft.ProductSpace:
    """The bits as numbers 0 and 1, for runs over features of any kind."""
    weights = [[1 - p, p] for p in case.space.biases.tolist()]
    return ft.ProductSpace([ft.Numeric.from_values(f"x{i}", [0.0, 1.0], weights[i]) for i in range(N)])


def _columns(case: Case) -> Callable[[Any], Any]:
    return lambda batch: case(np.stack([batch[f"x{i}"] for i in range(N)], axis=1))


def tables(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    found = ft.distill(_columns(case), _numbers(case), epsilon, delta, seed=seed, max_queries=SOME)
    return Claim(found.certificate, found.tree.predict(cube()))


def _drawn(case: Case, seed: int, what: str) -> NDArray[Any]:
    """Rows of the case's space, one row of the result for each feature."""
    return draw(case.space.whole, Stream.named(seed, what), 0, ROWS)


def _over_rows(case: Case, drawn: NDArray[Any], epsilon: float, delta: float, seed: int) -> Claim:
    table = {f"x{i}": drawn[i].astype(np.float64) for i in range(N)}
    found = ft.distill(_columns(case), ft.Rows(table, numeric=list(table)), epsilon, delta, seed=seed)
    return Claim(found.certificate, found.tree.predict(cube()), case)


def rows(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    return _over_rows(case, _drawn(case, seed, "the rows of a table"), epsilon, delta, seed)


def fitted(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    """The target is the nearest neighbour among rows; the table has rows that were held out of it."""
    target, training = _nearest_neighbour(case, seed)
    return _over_rows(target, held_out(case, seed, training), epsilon, delta, seed)


def kept_rows(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    """The same in a table to one half of which a world is fitted: what the other half says of the error on real rows.

    Their interval has a confidence of its own, 95 %; what is certified over draws is another line's.
    """
    target, training = _nearest_neighbour(case, seed)
    told = {f"x{i}": column.astype(np.bool_) for i, column in enumerate(held_out(case, seed, training))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that real rows refute what is certified over draws is not asked here
        found = ft.distill(_columns(target), told, epsilon, delta, seed=seed, max_queries=SOME)
    real, predicted = found.certificate.real_rows, np.asarray(found.tree.predict_inner(cube()))
    if real is None:
        raise AssertionError("no row was kept")
    stated = _Stated(real.interval)
    return Claim(stated, predicted, target, ((stated, predicted),))  # type: ignore[arg-type]


def _nearest_neighbour(case: Case, seed: int) -> tuple[Case, NDArray[Any]]:
    """A target that answers as the nearest of some rows, and those rows."""
    training = _drawn(case, seed, "rows that were fitted")
    ours, theirs = cube().astype(np.float32), training.T.astype(np.float32)
    nearest = (ours.sum(axis=1)[:, None] + theirs.sum(axis=1) - 2 * ours @ theirs.T).argmin(axis=1)
    return replace(case, labels=case(training.T)[nearest]), training


def held_out(case: Case, seed: int, training: NDArray[Any]) -> NDArray[Any]:
    """Rows that the target has not seen."""
    return _drawn(case, seed, "rows that were held out")


def practical(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    found = ft.practical_top_down(case, case.space, epsilon, delta, seed=seed, max_queries=400_000)
    return Claim(found.certificate, found.tree.predict(cube()))


def fresh(seed: int, number: int) -> str:
    """Stands in for the machine's entropy, so that the campaign can be run again."""
    return hashlib.sha256(f"audit {number} of {seed}".encode()).hexdigest()[:32]


def certify(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    with patch.object(audit, "fresh_entropy", lambda: fresh(seed, 0)):
        found = ft.certify(lambda bits: case.rival[places(bits)], case, case.space, epsilon, delta, seed=seed)
    return Claim(found, case.rival)


def patched(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    """The predictor is repaired where an audit caught it, and audited again with the same seed."""
    space = ft.ProductSpace.bernoulli(N + IDLE, [*case.space.biases.tolist(), *[0.5] * IDLE])
    caught: set[bytes] = set()

    def target(bits: Any) -> NDArray[np.intp]:
        return case(bits[:, :N])

    def predictor(bits: Any) -> NDArray[np.intp]:
        known = [row.tobytes() in caught for row in np.ascontiguousarray(bits)]
        return np.where(known, target(bits), case.rival[places(bits[:, :N])])

    def spied_on(bits: Any) -> NDArray[np.intp]:
        seen.update(row.tobytes() for row in np.ascontiguousarray(bits))
        return target(bits)

    seen: set[bytes] = set()
    with patch.object(audit, "fresh_entropy", lambda: fresh(seed, len(caught))):
        ft.certify(predictor, spied_on, space, epsilon, delta, seed=seed)
        caught |= seen
        return Claim(ft.certify(predictor, target, space, epsilon, delta, seed=seed), case.rival)


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


def deferring(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    """All points of leaves against coverage; the search is short, because good trees are no aim here."""
    return _points(case, (case, case.space), epsilon, delta, seed)


def deferring_rows(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    """The same over rows of a table, where nobody knows how much a tree answers: coverage is tested too."""
    drawn = _drawn(case, seed, "the rows of a table")
    table = {f"x{i}": drawn[i].astype(np.float64) for i in range(N)}
    return _points(case, (_columns(case), ft.Rows(table, numeric=list(table))), epsilon, delta, seed)


def _points(case: Case, about: tuple[Any, Any], epsilon: float, delta: float, seed: int) -> Claim:
    with (
        patch.dict(EFFORTS, {"leaves": Effort(gain=0.1, most=SOME, steps=3)}),
        patch.multiple(deferred, PRICES=2),
    ):
        found = ft.distill(*about, epsilon, delta, seed=seed, defer=True, max_queries=MANY // 2, max_leaves=8)
    others = () if found.frontier is None else tuple(point for point in found.frontier)
    told = ((point.certificate, np.asarray(point.tree.predict(cube()))) for point in others)
    return Claim(found.certificate, np.asarray(found.tree.predict(cube())), case, tuple(told))


class _Stated(NamedTuple):
    """One number of a difference, as a certificate states it."""

    interval: tuple[float, float]
    method: str = "sequential"
    holds: bool = False
    coverage: float | None = None

    @property
    def error_bound(self) -> float:
        return self.interval[1]


def difference(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    """How much changed, and precision and recall of what a tree flags, as errors where something is answered."""

    def old(bits: Any) -> NDArray[np.intp]:
        return case.rival[places(bits)]

    soon = patch.object(compared._Comparison, "_hopeless", lambda run: run._proposals >= 2)
    with soon, patch.multiple(economics, HOPELESS_FROM=2 * SOME * economics.LEARNING, STEPS=5):
        found = ft.diff(old, case, case.space, delta, epsilon=0.01, seed=seed, max_queries=MANY, max_leaves=8)
    changed, flagged = case.rival != case.labels, np.asarray(found.flags(cube(), case.rival.tolist()))
    truth = replace(case, labels=changed.astype(np.intp))
    alarms, misses = (np.full(len(changed), ft.DEFER, object) for _ in range(2))
    alarms[flagged], misses[changed] = 1, flagged[changed].astype(np.intp)
    others = ((_Stated((0.0, 1 - found.precision)), alarms), (_Stated((0.0, 1 - found.recall)), misses))
    return Claim(_Stated(found.changed), np.zeros(len(changed), np.intp), truth, others)  # type: ignore[arg-type]


def patched_difference(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    """How much a new model changed that was repaired where it was compared once; both ends are judged."""
    interval, truth = twice.patched_difference(case, epsilon, delta, seed)
    stated, none = _Stated(interval), np.zeros(len(truth.labels), np.intp)
    return Claim(stated, none, truth, ((stated, none),))  # type: ignore[arg-type]


def interrupted(case: Case, epsilon: float, delta: float, seed: int) -> Claim:
    """All that a run says that is interrupted twice: it is false together if one of it is."""
    claims = [Claim(*found) for found in twice.interrupted(case, epsilon, delta, seed)]
    return max(claims, key=lambda claim: _doubt(case, claim))


DOORS: dict[str, GuardedTarget] = {  # a run's seed comes from its line's place here: new lines go to the end
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
    "auto, extended three times": extended,
    "certify, patched predictor": patched,
    "auto, rows held out of a fit": fitted,
    "auto, scribbling target": scribbling,
    "auto, re-used buffer": reused_buffer,
    "auto, NUL labels": nul_labels,
    "frontier, all points": curve,
    "auto, patched target": lambda *run: Claim(*twice.patched(*run)),  # in the place of a line that is gone
    **{
        f"auto, {name}": lambda case, epsilon, delta, seed, door=door: Claim(*door(case, epsilon, delta, seed))
        for name, door in (
            ("mixtures", worlds.mixture),
            ("samplers", worlds.sampler),
            ("neighbours of rows", worlds.blend),
            ("numbers", worlds.tolerance),
            ("missing numbers", worlds.gaps),
        )
    },
    "deferring, all points": deferring,
    "deferring, rows of a table": deferring_rows,
    "diff": difference,
    "auto, Chow-Liu trees": lambda *run: Claim(*worlds.chow_liu(*run)),
    "auto, cached target": lambda *run: Claim(*twice.cached(*run)),
    "auto, replayed seeds": lambda *run: Claim(*twice.replayed(*run)),
    "certify, replayed seeds": lambda *run: Claim(*twice.replayed_audit(*run)),
    "auto, interrupted counting": interrupted,
    "diff, patched target": patched_difference,
    "auto, rows kept from a fit": kept_rows,
    "auto, duplicated rows": lambda *run: Claim(*dependent.copied(*run)),
    "auto, grouped rows": lambda *run: Claim(*dependent.of_people(*run)),
}
