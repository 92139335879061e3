"""How many false certificates are too many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scipy import special

from benchmarks.campaign.doors import DOORS
from benchmarks.campaign.faults import FAULTS, no_fault
from benchmarks.campaign.targets import FAMILIES, case
from fidelitree.theory.sequential import upper_bound

if TYPE_CHECKING:
    from collections.abc import Iterable

ALARM = 1e-4
"""The chance that certificates which just keep their word are accused, for each line of the table."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class Run:
    """One run: what was claimed is compared with what is so."""

    door: str
    family: str
    delta: float
    number: int
    fault: str | None = None

    @property
    def epsilon(self) -> float:
        if self.door == "practical_top_down":
            return 0.25
        return (0.1, 0.05, 0.15)[self.number % 3]


@dataclass(frozen=True)
class Verdict:
    """Whether a certificate came from draws, whether it held, and whether it was false."""

    run: Run
    drawn: bool
    holds: bool
    false: bool
    share: float
    """The true error over the error certified."""


def perform(run: Run) -> Verdict:
    """Make the run, with its fault planted, and look at the truth."""
    fault = FAULTS[run.fault][0] if run.fault else no_fault
    what = case(run.family, run.epsilon, run.number)
    with fault():
        claim = DOORS[run.door](what, run.epsilon, run.delta, run.number)
    truth = claim.case or what
    error, bound = truth.error(claim.predicted), claim.certificate.error_bound
    false = error > bound + ROUNDING or any(
        not low - ROUNDING <= truth.error(predicted) <= high + ROUNDING
        for (low, high), predicted in ((certificate.interval, predicted) for certificate, predicted in claim.others)
    )
    answered = ((claim.certificate, claim.predicted), *claim.others)
    false |= any(truth.coverage(predicted) < (told.coverage or 0) - ROUNDING for told, predicted in answered)
    drawn = claim.certificate.method != "exact"
    if false and not drawn:
        raise AssertionError(f"an exact certificate is false: {run}, {error} > {bound}")
    return Verdict(run, drawn and bound < 1, claim.certificate.holds, false, error / max(bound, ROUNDING))


def runs_of(door: str, delta: float, count: int, fault: str | None = None) -> list[Run]:
    """So many runs, the families in turns; every one has a seed of its own."""
    start = 1_000_000 * list(DOORS).index(door) + (500_000 if delta > 0.1 else 0)
    return [Run(door, FAMILIES[k % len(FAMILIES)], delta, start + k // len(FAMILIES), fault) for k in range(count)]


@dataclass(frozen=True)
class Line:
    """A line of the table: all runs of one door at one delta."""

    door: str
    delta: float
    runs: int
    certificates: int
    hold: int
    false: int

    @classmethod
    def of(cls, door: str, delta: float, verdicts: Iterable[Verdict]) -> Line:
        found = list(verdicts)
        drawn = [verdict for verdict in found if verdict.drawn]
        return cls(door, delta, len(found), len(drawn), sum(v.holds for v in drawn), sum(v.false for v in drawn))

    @property
    def broken(self) -> bool:
        """More false certificates than delta explains."""
        return self.false > 0 and float(special.bdtrc(self.false - 1, self.certificates, self.delta)) <= ALARM

    @property
    def bound(self) -> float:
        """An upper bound on the share of false certificates, at 99 % confidence."""
        return upper_bound(self.false, self.certificates, 0.01) if self.certificates else 1.0
