"""``verify``: whether a stored result is what it says, and whether the target still agrees with it.

A run is made again from its journal alone: same tree, same certificate, and nobody is asked.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fidelitree import __version__
from fidelitree.asking.access import described
from fidelitree.asking.events import Observer, nobody
from fidelitree.asking.journal.journal import Journal
from fidelitree.asking.journal.run import LIMITS
from fidelitree.asking.journalled import Replayed
from fidelitree.certificates.certificate import ASSUMES_DETERMINISTIC, Certificate
from fidelitree.certificates.confusion import CONFIDENCE
from fidelitree.certificates.consistency import APART, UNCHECKED, Check, checks, same
from fidelitree.certificates.store import POINT, Stored, load, remark_on_verifier, table
from fidelitree.errors import DoubtWarning, FormatError, ParameterError, TargetError, check_switch
from fidelitree.runs.agree.audit import certify
from fidelitree.runs.agree.claim import PATIENCE, patience_of
from fidelitree.runs.agree.recount import ABOUT as COUNTED
from fidelitree.runs.agree.recount import recounted
from fidelitree.runs.agree.reports import with_report
from fidelitree.runs.distill import distill
from fidelitree.runs.frontier import frontier
from fidelitree.runs.frontier_result import FORECAST, Frontier
from fidelitree.runs.kept_rows import doubted
from fidelitree.spaces.product import product_of
from fidelitree.theory.sequential import divergence, log_e_value_below

if TYPE_CHECKING:
    from fidelitree.certificates.frontierfile import StoredFrontier
    from fidelitree.runs.result import Distillation
    from fidelitree.spaces.world import World
    from fidelitree.targets.labels import Target

__all__ = ["Check", "Verification", "verify"]

LIMITED = ("delta", "prefer", "deterministic", "max_queries", "max_leaves", "max_seconds")
OPTIONAL = {"tolerance", "max_cost", "defer"}
ARGUMENTS = {"distill": ("epsilon", "strategy", *LIMITED), "frontier": LIMITED}
UNCOUNTED = ("how the tree was found", "its cost", "points that a frontier does not show")
"""What follows from a second run, and not from the counts of the answers."""
_SPREAD = 3  # times ln(1/delta) over the divergence: a mixture of bets needs so much more than the best one
_NEARER = 4
"""A bound is over three standard deviations above what was measured: a quarter of that may be left.

Trees are made to be no better than they must be: a test is given so many times the patience of a first audit.
"""
_ABOUT = "the answers in the journal lead to this tree and this certificate"


def replay(
    path: str | os.PathLike[str], space: World, limits: Mapping[str, Any] | None = None, point: Any = None
) -> Distillation:
    """The result of the `distill` whose journal this is, from its answers; the journal is not changed.

    ``point`` is the one that was picked from its frontier, as a stored run tells of it; of a `frontier` it is the knee
    unless told. ``limits`` are those of an earlier run, where the journal was taken over by one with others.

    A run that ran out of time ends where it did. One that was interrupted while it waited for the target does too; one
    that was interrupted between two batches may go on for as long as it needs no answer. Where the journal's answers do
    not suffice, as in a run that was cut off, TargetError says so.
    """
    with Journal(path) as journal:
        run = journal.run
    if run.door not in ARGUMENTS:
        raise ParameterError(f"journal must be that of a distill or a frontier; this one belongs to {run.door}")
    if unknown := sorted((set(run.arguments) - OPTIONAL) ^ set(ARGUMENTS[run.door])):
        raise FormatError(f"journal {os.fspath(path)!r}: arguments are missing or unknown: {', '.join(unknown):.200}")
    arguments = {"seed": run.seed, "journal": path, **run.arguments, **(limits or {})}
    if run.door == "distill":
        made = distill(Replayed(), space, **arguments)
        return made if point is None or made.frontier is None else _picked(made.frontier, point)
    found = frontier(Replayed(), space, **arguments)
    return found.knee if point is None else _picked(found, point)


def _picked(found: Frontier, point: Any) -> Distillation:
    if not isinstance(point, dict) or set(point) != {"leaves", "epsilon"}:
        raise FormatError(f"{POINT} must hold leaves and epsilon; got {point!r:.80}")
    if point["epsilon"] is not None:
        return found.at(epsilon=point["epsilon"])
    return found.at(leaves=point["leaves"])


@dataclass(frozen=True)
class Verification:
    """What came out of looking at a stored result.

    A certificate is confirmed by the target or by the stored answers; else it is ``undecided``. A fresh test that ends
    without a decision takes nothing back that the stored answers confirm.

    Attributes:
        certificate: The stored one.
        checks: What was looked at, each with its outcome.
        fresh: The certificate of new test inputs, where the target was asked.
        unchecked: What nothing determines: it may be anything, and is no part of the verdict.
        remarks: What a reader should know, and is no part of the verdict either.
        kept: Whether the folder holds the answers of its run.

    Examples:
        >>> import tempfile
        >>> from fidelitree.runs.distill import distill
        >>> from fidelitree.spaces.product import ProductSpace
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = distill(lambda bits: bits[:, 0], ProductSpace.bernoulli(20)).save(folder)
        ...     found = verify(folder)  # nobody is asked, and there is no journal
        >>> found.consistent, found.undecided
        (True, True)
    """

    certificate: Certificate
    checks: tuple[Check, ...]
    fresh: Certificate | None = None
    unchecked: tuple[str, ...] = UNCHECKED
    remarks: tuple[str, ...] = ()
    kept: bool = False

    @property
    def verdict(self) -> str:
        """The one decision: "contradicted", "refuted" by the target, "undecided", "missed" the goal, or "confirmed"."""
        if not self.consistent:
            return "contradicted"
        if self.contradicted:
            return "refuted"
        if not (self._replayed or (self.fresh is not None and self.fresh.holds)):
            return "undecided"
        return "confirmed" if self.certificate.holds else "missed"

    @property
    def consistent(self) -> bool:
        """Whether nothing that was looked at contradicts the certificate."""
        return all(check.passed is not False for check in self.checks)

    @property
    def contradicted(self) -> bool:
        """Whether the target, asked again, shows a larger error than was promised; it may also have shown nothing."""
        if self.fresh is None:
            return False
        if self.fresh.method == self.certificate.method == "exact":
            return abs(self.fresh.error_bound - self.certificate.error_bound) > APART
        if self.fresh.holds or self.fresh.errors is None or self.fresh.epsilon is None:
            return not self.fresh.holds  # the error is known exactly
        against = log_e_value_below(self.fresh.errors, self.fresh.samples, self.fresh.epsilon)
        return against >= -math.log(self.fresh.delta)

    @property
    def undecided(self) -> bool:
        """Whether neither the stored answers nor the target confirm the certificate, and nothing contradicts it."""
        return self.verdict == "undecided"

    @property
    def holds(self) -> bool:
        """Whether the error asked for is certified, and that is confirmed by the target or by the stored answers."""
        return self.verdict == "confirmed"

    def __bool__(self) -> bool:
        """The same: `if verify(folder)` must not be true of a forged one."""
        return self.holds

    @property
    def _replayed(self) -> bool:
        return all(check.passed for check in self.checks)

    def __str__(self) -> str:
        lines = [str(check) for check in self.checks]
        if self.fresh is not None:
            passed = False if self.contradicted else self.fresh.holds or None
            lines.append(str(Check(passed, f"the target, asked again: {' '.join(str(self.fresh).splitlines())}")))
        lines += [f"    {remark}" for remark in self.remarks]
        return "\n".join([*lines, f"not checked: {', '.join(self.unchecked)}", self.explained])

    @property
    def explained(self) -> str:
        """The verdict in words."""
        if self.verdict == "contradicted":
            return "This folder contradicts itself: do not rely on it."
        if self.verdict == "refuted":
            return "The target contradicts the stored certificate: it is not the same target, or not the same space."
        if self.verdict == "undecided":
            return f"Undecided: {_why_undecided(self.fresh, self.kept)}"
        if self.fresh is not None and not self._replayed:
            return "The target confirms the tree; the counts of the stored certificate are not checked."
        asked = self.fresh is not None and self.fresh.holds
        by = "The stored answers and the target confirm" if asked else "The stored answers confirm"
        still = (
            "" if asked or self.fresh is None else f" The target was asked too: {_why_undecided(self.fresh, self.kept)}"
        )
        return f"{by} the certificate.{still}\n{self.certificate}"


def _why_undecided(fresh: Certificate | None, kept: bool) -> str:
    """Few errors tell of too few queries; as many as were promised, or nearly, of a tree that is no better."""
    if fresh is None:
        more = "" if kept else "; or run with journal=, to keep the answers"
        way = f"Give the target (--target), to test the tree on fresh inputs{more}."
        return f"nothing here confirms the certificate. {way}"
    if 2 * (fresh.errors or 0) > (fresh.epsilon or 0) * fresh.samples:
        return "the tree's error is too near to what was promised; more queries may decide it."
    return f"{fresh.samples:,} test inputs are too few for what was promised; more queries may decide it."


def verify(
    folder: str | os.PathLike[str],
    target: Target | None = None,
    *,
    space: World | None = None,
    seed: int | None = None,
    answers: bool = False,
    threshold: float | None = None,
    max_queries: int | None = None,
    observer: Observer = nobody,
) -> Verification:
    """Check a folder that `Distillation.save` wrote, and with a ``target`` test its tree on fresh inputs.

    Without a target nobody is asked: the files must not contradict each other, and the answers in the journal must lead
    to the same tree and certificate again. Without a journal that leaves it undecided. The folder's own ``verify.py``
    checks the answers with code of its own. Where all files are forged, the journal too, and fit each other, only the
    target can tell.

    Args:
        folder: The folder of a stored result.
        target: Asked about fresh inputs, by `certify`, for the error that the stored certificate promises.
        space: Replaces the stored one: new `Rows`, or a space whose batches could not be stored.
        seed: Chooses all draws: the same seed gives the same result. None takes a fresh one, which is recorded.
        answers: Counts the stored answers to the test inputs, and does not run the learner again: a moment's work.
        threshold: Turns scores into labels: 1 above this value, otherwise 0; of a classifier, by its second class.
        max_queries: The most labels of the test on fresh inputs.
        observer: Receives an event for each step of the run; `Progress` is one.

    Returns:
        Every check with its outcome, and the certificate of the fresh test; ``holds`` and ``undecided`` sum it up.

    Raises:
        ParameterError: An argument breaks its rule, or the folder holds no result.
        FormatError: A file is damaged, or not of this kind.
        TargetError: The target failed, or answered something that is no label.

    Examples:
        >>> import tempfile
        >>> from fidelitree.runs.distill import distill
        >>> from fidelitree.spaces.product import ProductSpace
        >>> from fidelitree.targets import multiplexer
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = distill(multiplexer(2), ProductSpace.bernoulli(6)).save(folder)
        ...     verify(folder, multiplexer(2), seed=0).holds
        True
    """
    check_switch("answers", answers)
    stored = load(folder)
    if space is not None:
        product_of(space)
    stored, about_report = with_report(stored)
    remarks = tuple(remark for remark in (remark_on_verifier(stored.folder), about_report) if remark)
    unchecked = (*UNCHECKED, *UNCOUNTED) if answers else UNCHECKED
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtWarning)  # a replay has the doubts of its run; they are said once, here
        checked = tuple(_checks(stored, space, answers))
    found = Verification(stored.certificate, checked, None, unchecked, remarks, stored.journal is not None)
    if target is None or not found.consistent:
        doubted(stored.certificate)
        return found
    epsilon, delta = _promised(stored.certificate), _delta(stored.certificate)
    most = most_asked(stored.certificate) if max_queries is None else max_queries
    fresh = certify(
        stored.tree,
        target,
        inputs_for_tests(stored, space),
        epsilon,
        delta,
        seed=seed,
        tolerance=stored.certificate.tolerance,
        threshold=threshold,
        deterministic=was_deterministic(stored),
        max_queries=most,
        observer=observer,
    )
    if not fresh.refuted_by_rows:  # else the audit has said it
        doubted(stored.certificate)
    return replace(found, fresh=fresh)


def most_asked(certificate: Certificate) -> int | None:
    """The most labels that a target is asked for to confirm a certificate; None where it is asked about every input.

    A bound lies close above what was measured, so its test needs as much evidence again, more where the tree was lucky:
    here enough for an error three quarters of the way up. Most tests end long before.
    """
    epsilon, delta = _promised(certificate), _delta(certificate)
    if epsilon <= 0:
        return None
    samples, helped = max(certificate.samples, 1), certificate.helped
    wrong: float = certificate.errors_of_test or 0
    if helped is not None:
        wrong = samples * helped.differs + helped.more - helped.fewer
    apart = max(epsilon - max(wrong, 0) / samples - certificate.differs, 0.0)
    most, evidence = patience_of(PATIENCE * _NEARER, epsilon, delta), divergence(epsilon - apart / _NEARER, epsilon)
    return max(most, patience_of(_SPREAD, evidence, delta)) if evidence > 0 else most


def _checks(stored: Stored, given: World | None, answers: bool) -> Iterator[Check]:
    space = stored.space if given is None or given.table is not None else given
    found = tuple(checks(stored, given, space))
    yield from found
    if stored.journal is None:
        yield Check(None, f"{_ABOUT}: no journal is stored here")
    elif space is None:
        yield Check(None, f"{_ABOUT}: no space is stored here")
    elif all(check.passed is not False for check in found):  # else it is not worth a run
        yield from _recounted(stored, stored.journal, space) if answers else [_replayed(stored, stored.journal, space)]


def _recounted(stored: Stored, journal: Path, space: World) -> Iterator[Check]:
    """The same from the answers alone; one that belongs to another run is not counted."""
    try:
        differ = _differing(stored, journal, space) or _incomplete(journal)
    except FormatError as error:
        yield Check(False, f"{COUNTED}: {error}")
        return
    if differ:
        yield Check(None, f"{COUNTED}: not tried, the journal belongs to another run, of another {differ}")
    else:
        yield from recounted(stored, journal, space)


def _replayed(stored: Stored, journal: Path, space: World) -> Check:
    """Whether the run, made again from the answers that it kept, ends with the same tree and certificate."""
    try:
        differ = _differing(stored, journal, space)
        if why := f"the journal belongs to another run, of another {differ}" if differ else _of_older_version(journal):
            return Check(None, f"{_ABOUT}: not tried, {why}")
        limits = {name: stored.run[name] for name in LIMITS if name in stored.run}
        again = replay(journal, space, limits, stored.run.get(POINT))
    except ParameterError as error:
        return Check(None, f"{_ABOUT}: not tried, {error}")
    except FormatError as error:
        return Check(False, f"{_ABOUT}: {error}")
    except TargetError as error:
        return _failed(stored, journal, f": {error}")
    if "interrupted" in again.reason and "interrupted" not in str(stored.run.get("reason")):
        raise KeyboardInterrupt  # a replay that is cut off says nothing against the folder
    if other := _other(stored, again):
        return _failed(stored, journal, f": they lead to another {', '.join(other)}")
    return Check(True, _ABOUT)


def _of_older_version(journal: Path) -> str:
    """Why the run of a journal cannot be made again here; nothing where it can."""
    with Journal(journal) as kept:
        made = str(kept.run.versions.get("fidelitree", "?"))
    if made.split(".")[:2] == __version__.split(".")[:2]:
        return ""
    return f"fidelitree {made:.20} made the run and drew other test inputs: only that version makes it again"


def _incomplete(journal: Path) -> str:
    """Arguments that a run of its door has, and the journal does not tell of, or the reverse."""
    with Journal(journal) as kept:
        return ", ".join(sorted((set(kept.run.arguments) - OPTIONAL) ^ set(ARGUMENTS.get(kept.run.door, ()))))


def _other(stored: Stored, again: Distillation) -> list[str]:
    """In what a run that was made again differs from what is stored."""
    made = replace(again.certificate, versions=stored.certificate.versions)
    ways = {"tree": again.tree.digest == stored.tree.digest, "certificate": made == stored.certificate}
    if stored.trace is not None:
        ways["trace"] = table(again.rows) == stored.trace
    ways["frontier"] = _plain(stored.frontier) == _plain(None if again.frontier is None else again.frontier.stored)
    told: dict[str, Any] = {
        "reason": again.reason,
        "asked": dict(again.queries.asked),
        "paid": dict(again.queries.paid),
    }
    foreseen = None if again.frontier is None else again.frontier.forecast
    told[FORECAST] = None if foreseen is None else foreseen.to_dict()
    ways |= {name: same(stored.run[name], value) for name, value in told.items() if name in stored.run}
    return [name for name, equal in ways.items() if not equal]


def _plain(curve: StoredFrontier | None) -> Any:
    """A frontier as data that can be compared; versions and money are nobody's promise."""
    if curve is None:
        return None
    points = [replace(one, certificate=replace(one.certificate, versions={}, cost=None)) for one in curve.points]
    return replace(curve, points=tuple(points)).to_json()


def _differing(stored: Stored, journal: Path, space: World) -> str:
    """In what a journal says itself that it is another run's: an older one may lie where a result was written."""
    with Journal(journal) as kept:
        run, all_limits = kept.run, kept.all_limits or [kept.run.limits]
        for record in kept.all():  # one that is damaged is noticed, also where nobody needs it
            record.inner(len(run.features), run.bits)
    names = ("door", "target", "space", "seed", "seed_chosen")
    theirs = {**{name: getattr(run, name) for name in names}, **run.arguments}
    ours = {**stored.run, "space": space.digest} if stored.run else theirs
    told = sorted({*theirs, *OPTIONAL} - {*LIMITS})
    differ = [name for name in told if not same(theirs.get(name), ours.get(name))]
    limits = {name: ours.get(name, "none") for name in run.limits}
    differ += [] if limits in all_limits else [name for name in limits if limits[name] != run.limits[name]]
    differ += [] if list(run.features) == described(space) else ["features"]
    return ", ".join(differ)


def _failed(stored: Stored, journal: Path, why: str) -> Check:
    """A replay that went another way; undecided where folder and journal both tell of what it cannot repeat."""
    with Journal(journal) as kept:
        told, ended = (stored.run, kept.run.arguments), (stored.run.get("reason"), kept.ending and kept.ending.reason)
    if kept.ending is None and any(
        ending in str(stored.run.get("reason")) for ending in ("interrupted", "max_seconds")
    ):
        return Check(None, f"{_ABOUT}: the run went on after this result, and was cut off; the same call ends it")
    if all(run.get("strategy") == "smallest" and run.get("max_seconds") is not None for run in told):
        return Check(None, f"{_ABOUT}: its search was limited by time, and a replay has another clock")
    if all("interrupted" in str(reason) for reason in ended):
        return Check(None, f"{_ABOUT}: the run was interrupted between two answers, and a replay cannot tell where")
    return Check(False, f"{_ABOUT}{why}")


def _promised(certificate: Certificate) -> float:
    """The error that a fresh test is for."""
    if certificate.holds and certificate.epsilon is not None:
        return certificate.epsilon
    if certificate.error_bound >= 1:
        raise ParameterError("nothing was certified in this folder, so there is nothing that a target could confirm")
    return certificate.error_bound


def _delta(certificate: Certificate) -> float:
    """The chance that a fresh test may be wrong: an exact certificate has none."""
    return certificate.delta or 1 - CONFIDENCE


def was_deterministic(stored: Stored) -> bool:
    """Whether the run took the target to be so; of a noisy one, a fresh test may rely on no single answer either."""
    return ASSUMES_DETERMINISTIC in stored.certificate.assumes and stored.run.get("deterministic") is not False


def inputs_for_tests(stored: Stored, space: World | None) -> World:
    """The inputs of a test on fresh ones: stored rows have taught and tested the tree, their neighbours have not."""
    inputs = stored.space if space is None else space
    if inputs is None:
        raise ParameterError("the folder holds no space.json: give the space that the result is about")
    if inputs.table is not None and inputs.digest == stored.certificate.space_digest:
        raise ParameterError(
            "this result is about rows of a table, and these rows have taught and tested the tree: give new ones"
        )
    if inputs.digest == stored.certificate.space_digest and stored.certificate.seed is not None:
        return inputs.apart(stored.certificate.seed)[1]  # neighbours of the rows that have taught nothing
    return inputs
