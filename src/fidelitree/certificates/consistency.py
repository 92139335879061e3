"""What the files of a stored result say about each other; nobody is asked, and no run is made again.

Every fact that is stored twice, or that follows from others, is looked at here or by the replay of the journal. What
nothing determines is listed in ``UNCHECKED``: it is compared with copies of itself at most, and no part of a verdict.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fidelitree.certificates.certificate import ASSUMES_DETERMINISTIC, Certificate
from fidelitree.certificates.confusion import Confusion
from fidelitree.certificates.confusionfile import contradiction
from fidelitree.certificates.deferral import coverage_of
from fidelitree.certificates.helped import disagreements
from fidelitree.certificates.store import CERTIFICATE, FILES, POINT, REPORT, SPACE, TRACE, TREE, Stored
from fidelitree.display.wording import leaves
from fidelitree.exact.paths import disagreement
from fidelitree.theory.bounds import level_of_set
from fidelitree.theory.control import Disagreement
from fidelitree.theory.sequential import AUDIT, INTERVAL, LEDGERS, coverage_bound, error_bound, level_in, upper_bound

if TYPE_CHECKING:
    from fidelitree.certificates.frontierfile import StoredPoint
    from fidelitree.spaces.world import World

UNCHECKED = (
    "that the answers are those of the target",
    "that the seed was given",
    "the name of the target",
    "the command",
    "why the run ended",
    "versions",
    "times",
    "the kind of batches",
    "the words of the report",
    "earlier runs of the journal",
    "arguments that changed nothing",
)
_ROUNDING = 1e-6
APART = 1e-9
"""Between two sums of the same probabilities."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at; ``passed`` is None where it could not be decided."""

    passed: bool | None
    sentence: str

    def __str__(self) -> str:
        return f"{ {True: 'yes', False: 'NO', None: '-'}[self.passed]:<4}{self.sentence}"


def same(one: Any, two: Any) -> bool:
    """Whether two values are the same JSON: 0 is not false."""
    return json.dumps(one, sort_keys=True) == json.dumps(two, sort_keys=True)


def checks(stored: Stored, given: World | None, space: World | None) -> Iterator[Check]:
    """All checks; ``space`` is the one that was ``given`` instead of the stored one, or that one."""
    yield from _of_tree(stored, space)
    yield from _helped(stored, space)
    yield _call(stored)
    yield _files(stored, given)
    if stored.frontier is not None:
        yield from _frontier(stored, space)


def _of_tree(stored: Stored, space: World | None) -> Iterator[Check]:
    """Whether tree, certificate and space belong together."""
    certificate = stored.certificate
    yield Check(stored.tree.digest == certificate.tree_digest, "the tree is the one that the certificate names")
    about = "the space is the one that the certificate names"
    if space is None:
        yield Check(None, f"{about}: no space is stored here")
    else:
        yield Check(space.digest == certificate.space_digest, about)
    yield from _bound(stored)
    if certificate.coverage is not None or stored.tree.defers:
        yield _coverage(stored, space)
    if certificate.confusion is not None:
        why = contradiction(certificate.confusion, vars(certificate), stored.tree.size)
        if why:  # else the reader, which works out every sum and interval again, has said all
            yield Check(False, f"the table of answers belongs to the certificate: {why}")
    if certificate.tested_digest is not None or certificate.differs or stored.tested is not None:
        yield _tested(stored, space)


def _bound(stored: Stored) -> Iterator[Check]:
    """Whether the bound follows from errors, samples and level, and the level from delta."""
    certificate, stated = stored.certificate, stored.certificate.error_bound
    if certificate.method == "exact" or certificate.errors_of_test is None:
        if stored.journal is None:
            yield Check(None, f"the error is exactly {stated:.6g}: only the target itself can confirm that")
        return
    level, bound = _follows(certificate, stored.tree.size)
    its_own = certificate.level is None or math.isclose(certificate.level, level, rel_tol=_ROUNDING)
    follows = stated >= min(1.0, bound + certificate.differs) * (1 - _ROUNDING)
    tested = "" if certificate.tested_errors is None else " of the tree that was tested"
    counts = f"{certificate.errors_of_test:,} errors{tested} among {certificate.samples:,} test inputs"
    apart = f", and from {certificate.differs:.6g} on which it differs from this tree" if certificate.differs else ""
    yield Check(its_own and follows, f"the bound {stated:.6g} follows from {counts}, at level {level:.4g}{apart}")


def _coverage(stored: Stored, space: World | None) -> Check:
    """Whether the tree answers as much as is said: by its mass, or by the inputs that were drawn."""
    told, tree = stored.certificate, stored.tree
    if told.coverage is None or told.drawn is None or told.level is None:
        return Check(False, "a tree that defers states its coverage")
    about = f"the tree answers at least {told.coverage:.6g} of inputs"
    if space is None:
        return Check(None, f"{about}: no space is stored here")
    masses = space.apart(told.seed or 0)[1].masses
    if masses is not None:
        return Check(abs(coverage_of(tree, masses) - told.coverage) <= APART, about)
    least = coverage_bound(told.samples, told.drawn, told.ledger, told.level) if tree.defers else 1.0
    return Check(told.coverage <= least + APART, f"{about}: {told.samples:,} of {told.drawn:,} were answered")


def _follows(certificate: Certificate, size: int) -> tuple[float, float]:
    """Level and bound of the tree that was tested, from the counts."""
    errors, samples, delta = certificate.errors_of_test or 0, certificate.samples, certificate.delta
    if certificate.method == "fixed":
        level = level_of_set(size, samples, delta)
        return level, upper_bound(errors, samples, level) if samples else 1.0
    level = delta
    if certificate.protocol == "prequential":
        level = level_in(certificate.ledger, certificate.attempt, delta)
    elif certificate.ledger in (AUDIT, INTERVAL):
        level = LEDGERS[certificate.ledger] * delta
    if not level:  # a share of the smallest number that there is
        return level, 1.0
    if certificate.helped is not None:
        return level, certificate.helped.bound(errors, samples, level)
    return level, error_bound(errors, samples, level)


def _helped(stored: Stored, space: World | None) -> Iterator[Check]:
    """Whether trees and surrogate disagree as often as all certificates say, on the same inputs."""
    told = {stored.tree: stored.certificate} | {
        point.tree: point.certificate for point in (() if stored.frontier is None else stored.frontier.points)
    }
    helped = {tree: one.helped for tree, one in told.items() if one.helped is not None}
    if not helped:
        return
    about, surrogate = "the surrogate disagrees with the trees as often as their certificates say", stored.surrogate
    if surrogate is None or space is None:
        yield Check(None, f"{about}: {'no space' if space is None else 'it'} is not stored here")
    elif {one.digest for one in helped.values()} != {surrogate.digest} or not surrogate.fits(space.product):
        yield Check(False, f"{about}: the one that is stored is not the one that they name")
    elif space.digest == stored.certificate.space_digest:
        key = stored.certificate.seed or 0, min(one.first for one in helped.values())
        again = disagreements(list(helped), surrogate, space.apart(key[0])[1], key)
        same_shares = [
            Disagreement(one.differs, one.draws) == now for one, now in zip(helped.values(), again, strict=True)
        ]
        yield Check(all(same_shares) and len({one.first for one in helped.values()}) == 1, about)


def _tested(stored: Stored, space: World | None) -> Check:
    """How far the tree is from the one that was tested, computed again."""
    certificate, tested = stored.certificate, stored.tested
    about = f"the tree differs from the one that was tested on {certificate.differs:.6g} of inputs"
    if tested is None:
        return Check(None, f"{about}: that one is not stored here")
    if tested.digest != certificate.tested_digest:
        return Check(False, f"{about}: the one that is stored is not the one that the certificate names")
    masses = None if space is None else space.apart(certificate.seed or 0)[1].masses  # those of the test inputs
    if masses is None:
        return Check(None, f"{about}: how often rows reach a leaf is not known")
    apart = disagreement(stored.tree, tested, masses)
    return Check(abs(apart - certificate.differs) <= APART, about)


def _call(stored: Stored) -> Check:
    """Whether the certificate is one of the run that was asked for, and cost what it says."""
    about, certificate = "call and costs are those of the certificate", stored.certificate
    if not stored.run:
        return Check(None, f"{about}: no run is stored here")
    told, run = _told(certificate), _run_of(stored)
    if stored.left_out and not certificate.queries:  # 0.1.0 did not write the costs of exact results into them
        del told["asked"]
    if POINT in run:
        run["epsilon"] = _asked_error(stored)
    differ = [name for name, value in told.items() if name in run and not same(run[name], value)]
    if differ:
        return Check(False, f"{about}: {', '.join(differ)} is not the same")
    if stored.left_out:
        return Check(None, f"{about}: the certificate does without {', '.join(stored.left_out)}")
    missing = [name for name in (*told, "paid", "reason") if name not in run]
    if missing:
        return Check(None, f"{about}: {', '.join(missing)} is not stored")
    return Check(True, about)


def _run_of(stored: Stored) -> dict[str, Any]:
    """What a run was told; a tolerance and deferring are younger than the first runs, which do without."""
    return {"tolerance": None, "defer": None, **stored.run}


def _told(certificate: Certificate) -> dict[str, Any]:
    """What a certificate says about its run."""
    told: dict[str, Any] = {"epsilon": certificate.epsilon, "asked": dict(certificate.queries)}
    told |= {"tolerance": certificate.tolerance, "defer": None if certificate.coverage is None else True}
    if certificate.method != "exact":
        told |= {"delta": certificate.delta, "seed": certificate.seed}
        told["deterministic"] = ASSUMES_DETERMINISTIC in certificate.assumes
    if certificate.split_quality:
        told["strategy"] = "influence"
    return told


def _asked_error(stored: Stored) -> Any:
    """The error that a point was picked by; nothing that a certificate could hold where another tree was picked."""
    point = stored.run[POINT]
    fits = isinstance(point, dict) and same(point.get("leaves"), stored.tree.size)
    return point.get("epsilon") if fits else "another point"


def _frontier(stored: Stored, space: World | None) -> Iterator[Check]:
    """Every point like a result of its own; what was picked must be one, a run's own result may be dominated."""
    assert stored.frontier is not None
    points, failed, open_questions = stored.frontier.points, [], []
    for point in points:
        alone = replace(stored, tree=point.tree, certificate=point.certificate, tested=point.tested)
        about = f"the point of the frontier with {leaves(point.tree.size)}"
        found = [*_of_tree(alone, space), _of_run(alone), _answers(point)]
        failed += [Check(False, f"{about}: {check.sentence}") for check in found if check.passed is False]
        open_questions += [Check(None, f"{about}: {check.sentence}") for check in found if check.passed is None]
    yield from failed or open_questions[:1]
    mine = replace(stored.certificate, epsilon=None)
    among = any(replace(one.certificate, epsilon=None) == mine and one.tree == stored.tree for one in points)
    if POINT in stored.run:
        yield Check(among, "tree and certificate are a point of the frontier")
    if not failed and not open_questions:
        yield Check(True, f"all {len(points)} points of the frontier: tree, bound, answers and costs fit each other")


def _of_run(stored: Stored) -> Check:
    """Whether a point is of this run; the error that was asked for is only its result's."""
    told, run = _told(stored.certificate), _run_of(stored)
    if told["epsilon"] is None:
        del told["epsilon"]
    assert stored.frontier is not None
    differ = [name for name, value in told.items() if name in run and not same(run[name], value)]
    differ += [] if same(run.get("delta", stored.frontier.delta), stored.frontier.delta) else ["delta"]
    why = f": {', '.join(differ)} is not the same" if differ else ""
    return Check(not differ, f"its call and costs are the run's{why}")


def _numbers_fit(point: StoredPoint) -> bool:
    """Whether numbers by leaf are those that were counted; numbers have no table, and older files have none by leaf."""
    told, labels = point.certificate, point.labels
    if labels is None or labels.samples is None:
        return labels is None and told.confusion is None
    wrong = round(float(labels.wrong(point.tree).sum()) * labels.samples)
    more = labels.samples > told.samples or told.errors is None  # of an older version: the bound was lowest before
    return told.confusion is None and labels.samples >= told.samples and (more or wrong == told.errors)


def _answers(point: StoredPoint) -> Check:
    """Whether the answers by leaf are those of the table in the certificate."""
    about, table = "its answers by leaf are those of its certificate", point.certificate.confusion
    if point.certificate.tolerance is not None:
        return Check(_numbers_fit(point), about)
    if point.labels is None or table is None:
        return Check(point.labels is None and table is None, about)
    again = Confusion.of_leaves(point.labels, point.tree, table.level)
    assert again is not None, "answers have a label"
    close = math.isclose(float(again.wrong), float(table.wrong), rel_tol=_ROUNDING, abs_tol=APART)
    same_cells = [(cell.target, cell.tree) for cell in again.cells] == [
        (cell.target, cell.tree) for cell in table.cells
    ]
    return Check(
        close and same_cells and math.isclose(float(again.tests), float(table.tests), rel_tol=_ROUNDING), about
    )


def _files(stored: Stored, given: World | None) -> Check:
    """Whether all files were saved together, and none has changed since."""
    about, listed, found = "the files are as they were saved", stored.run.get(FILES), stored.digests
    if not isinstance(listed, dict):
        return Check(None, f"{about}: no digests of them are stored")
    if stored.changed:
        return Check(False, f"{about}: {', '.join(stored.changed)} is not")
    spared = {REPORT} if given is None else {REPORT, SPACE}  # a report that is not there claims nothing
    wanted = dict.fromkeys([TREE, CERTIFICATE, SPACE, TRACE, *map(str, listed)])
    missing = [name for name in wanted if name not in found and name not in spared]
    if missing:
        return Check(None, f"{about}: {', '.join(missing):.80} is not here")
    return Check(True, about)
