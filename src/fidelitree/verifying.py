"""``verify``: whether a stored result is what it says, and whether the target still agrees with it."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from fidelitree.audit import certify, patience_of
from fidelitree.binomial import upper_bound
from fidelitree.certificate import ASSUMES_DETERMINISTIC, Certificate
from fidelitree.errors import FormatError, ParameterError, TargetError
from fidelitree.events import Observer, nobody
from fidelitree.journal.journal import Journal
from fidelitree.journal.run import LIMITS
from fidelitree.replaying import replay
from fidelitree.rows import Rows
from fidelitree.sequential import error_bound, level_in, log_e_value_below
from fidelitree.space import ProductSpace
from fidelitree.store import Stored, load
from fidelitree.targets.counting import Target

_ROUNDING = 1e-6
_PATIENCE = 256  # times ln(1/delta)/epsilon answers: trees are made to be no better than they must
_DELTA = 0.05  # of a fresh test where the stored certificate is exact and has none


@dataclass(frozen=True)
class Check:
    """One thing that was looked at; ``passed`` is None where it could not be decided."""

    passed: bool | None
    sentence: str

    def __str__(self) -> str:
        return f"{ {True: 'yes', False: 'NO', None: '-'}[self.passed]:<4}{self.sentence}"


@dataclass(frozen=True)
class Verification:
    """What came out of looking at a stored result.

    ``consistent`` says whether tree, space and bound are those of the certificate; ``fresh`` is the certificate of new
    test inputs, where the target was asked.
    """

    certificate: Certificate
    checks: tuple[Check, ...]
    fresh: Certificate | None = None

    @property
    def consistent(self) -> bool:
        """Whether nothing that was looked at contradicts the certificate."""
        return all(check.passed is not False for check in self.checks)

    @property
    def contradicted(self) -> bool:
        """Whether the target, asked again, shows a larger error than was promised; it may also have shown nothing."""
        if self.fresh is None or self.fresh.holds:
            return False
        if self.fresh.errors is None or self.fresh.epsilon is None:
            return True  # the error is known exactly
        against = log_e_value_below(self.fresh.errors, self.fresh.samples, self.fresh.epsilon)
        return against >= -math.log(self.fresh.delta)

    @property
    def holds(self) -> bool:
        """Whether the error asked for is certified, the folder is consistent, and the target, if asked, agrees."""
        return self.certificate.holds and self.consistent and (self.fresh is None or self.fresh.holds)

    def __str__(self) -> str:
        lines = [str(check) for check in self.checks]
        if self.fresh is not None:
            passed = False if self.contradicted else self.fresh.holds or None
            lines.append(str(Check(passed, f"the target, asked again: {self.fresh}")))
        return "\n".join([*lines, self._verdict()])

    def _verdict(self) -> str:
        if not self.consistent:
            return "This folder contradicts itself: do not rely on it."
        if self.contradicted:
            return "The target contradicts the stored certificate: it is not the same target, or not the same space."
        if self.fresh is not None and not self.fresh.holds:
            return f"Undecided: {self._why_undecided(self.fresh)}; more queries may decide it."
        confirmed = (
            "The target confirms the stored certificate" if self.fresh else "The stored certificate is consistent"
        )
        return f"{confirmed}: {self.certificate}"

    @staticmethod
    def _why_undecided(fresh: Certificate) -> str:
        """Few errors tell of too few queries; as many as were promised, or nearly, of a tree that is no better."""
        if 2 * (fresh.errors or 0) > (fresh.epsilon or 0) * fresh.samples:
            return "the tree's error is too near to what was promised"
        return f"{fresh.samples:,} test inputs are too few for what was promised"


def verify(
    folder: str | os.PathLike[str],
    target: Target | None = None,
    *,
    space: ProductSpace | Rows | None = None,
    seed: int | None = None,
    max_queries: int | None = None,
    observer: Observer = nobody,
) -> Verification:
    """Check a folder that `Distillation.save` wrote, and with a ``target`` test its tree on fresh inputs.

    Without a target nobody is asked: the digests of tree and space must be those of the certificate, its bound must
    follow from its counts, and where the folder holds the run's journal, its answers must lead to the same again. With
    a target, `certify` tests the stored tree for the error that the stored certificate promises. ``space`` replaces
    the stored one: the space itself, if its target needs batches of a kind that could not be stored, or new `Rows`,
    where the result is about rows of a table, which can test a tree only once.
    """
    stored = load(folder)
    checks = tuple(_checks(stored, space))
    found = Verification(stored.certificate, checks)
    if target is None or not found.consistent:
        return found
    epsilon, delta = _promised(stored.certificate), stored.certificate.delta or _DELTA
    most = max_queries
    if most is None and epsilon > 0:
        most = patience_of(_PATIENCE, epsilon, delta)
    fresh = certify(
        stored.tree,
        target,
        _inputs(stored, space),
        epsilon,
        delta,
        seed=seed,
        deterministic=_deterministic(stored),
        max_queries=most,
        observer=observer,
    )
    return Verification(stored.certificate, checks, fresh)


def _checks(stored: Stored, space: ProductSpace | Rows | None) -> Iterator[Check]:
    certificate = stored.certificate
    yield Check(stored.tree.digest == certificate.tree_digest, "the tree is the one that the certificate names")
    about = "the space is the one that the certificate names"
    known = stored.space if space is None or isinstance(space, Rows) else space
    if known is None:
        yield Check(None, f"{about}: no space is stored here")
    else:
        yield Check(known.digest == certificate.space_digest, about)
    yield _bound(certificate, stored.tree.size)
    if stored.journal is not None:
        yield _replayed(stored, stored.journal, known)


def _replayed(stored: Stored, journal: Path, space: ProductSpace | Rows | None) -> Check:
    """Whether the run, made again from the answers that it kept, ends with the same tree and certificate."""
    about = "the answers in the journal lead to this tree and this certificate"
    if space is None:
        return Check(None, f"{about}: no space is stored here")
    try:
        if differ := _differing(stored, journal, space):
            return Check(None, f"{about}: not tried, the journal belongs to another run, of another {differ}")
        again = replay(journal, space, {name: stored.run[name] for name in LIMITS if name in stored.run})
    except ParameterError as error:
        return Check(None, f"{about}: not tried, {error}")
    except FormatError as error:
        return Check(False, f"{about}: {error}")
    except TargetError as error:
        return _failed(stored, journal, about, f": {error}")
    made = replace(again.certificate, versions=stored.certificate.versions)
    same = again.tree.digest == stored.tree.digest and made == stored.certificate
    return Check(True, about) if same else _failed(stored, journal, about)


def _differing(stored: Stored, journal: Path, space: ProductSpace | Rows) -> str:
    """In what a journal says itself that it is another run's: an older one may lie where a result was written."""
    with Journal(journal) as kept:
        run = kept.run
    theirs = {"target": run.target, "space": run.space, "seed": run.seed, **run.arguments}
    ours = {**stored.run, "space": space.digest}
    return ", ".join(name for name in theirs if name in ours and name not in LIMITS and theirs[name] != ours[name])


def _failed(stored: Stored, journal: Path, about: str, why: str = "") -> Check:
    """A replay that went another way; undecided where folder and journal both tell of what it cannot repeat."""
    with Journal(journal) as kept:
        told, ended = (stored.run, kept.run.arguments), (stored.run.get("reason"), kept.ending and kept.ending.reason)
    if kept.ending is None and any(
        ending in str(stored.run.get("reason")) for ending in ("interrupted", "max_seconds")
    ):
        return Check(None, f"{about}: the run went on after this result, and was cut off; the same call ends it")
    if all(run.get("strategy") == "smallest" and run.get("max_seconds") is not None for run in told):
        return Check(None, f"{about}: its search was limited by time, and a replay has another clock")
    if all("interrupted" in str(reason) for reason in ended):
        return Check(None, f"{about}: the run was interrupted between two answers, and a replay cannot tell where")
    return Check(False, f"{about}{why}")


def _bound(certificate: Certificate, size: int) -> Check:
    """Whether the bound follows from errors, samples and level, and the level from delta."""
    stated, errors = certificate.error_bound, certificate.errors
    if certificate.method == "exact" or errors is None:
        return Check(None, f"the error is exactly {stated:.6g}: only the target itself can confirm that")
    level = certificate.delta / (8 * size**2)
    if certificate.method == "fixed":
        bound = upper_bound(errors, certificate.samples, level) if certificate.samples else 1.0
    else:
        prequential = certificate.protocol == "prequential"
        level = certificate.delta
        if prequential:
            level = level_in(certificate.ledger, certificate.attempt, certificate.delta)
        bound = error_bound(errors, certificate.samples, level)
    same = certificate.level is None or math.isclose(certificate.level, level, rel_tol=_ROUNDING)
    follows = stated >= min(1.0, bound + certificate.differs) * (1 - _ROUNDING)
    counts = f"{errors:,} errors among {certificate.samples:,} test inputs"
    return Check(same and follows, f"the bound {stated:.6g} follows from {counts}, at level {level:.4g}")


def _promised(certificate: Certificate) -> float:
    """The error that a fresh test is for."""
    if certificate.holds and certificate.epsilon is not None:
        return certificate.epsilon
    if certificate.error_bound >= 1:
        raise ParameterError("nothing was certified in this folder, so there is nothing that a target could confirm")
    return certificate.error_bound


def _deterministic(stored: Stored) -> bool:
    """Whether the run took the target to be so; of a noisy one, a fresh test may rely on no single answer either."""
    return ASSUMES_DETERMINISTIC in stored.certificate.assumes and stored.run.get("deterministic") is not False


def _inputs(stored: Stored, space: ProductSpace | Rows | None) -> ProductSpace | Rows:
    inputs = stored.space if space is None else space
    if inputs is None:
        raise ParameterError("the folder holds no space.json: give the space that the result is about")
    if isinstance(inputs, Rows) and inputs.digest == stored.certificate.space_digest:
        raise ParameterError(
            "this result is about rows of a table, and these rows have taught and tested the tree: give new ones"
        )
    return inputs
