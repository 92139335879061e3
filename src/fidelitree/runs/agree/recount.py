"""What the answers in a journal say about a stored certificate, without a second run of the learner.

The test inputs are drawn anew from the seed, their answers are looked up, and the errors of the tree that was tested
are counted from the place where its attempt was opened. `certificates.standalone` makes the same checks with code of
its own; a test compares the two, folder by folder and forgery by forgery.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.journal.journal import Journal
from fidelitree.asking.limits import BudgetSpent
from fidelitree.certificates.certificate import ASSUMES_DETERMINISTIC, assumptions
from fidelitree.certificates.consistency import Check
from fidelitree.errors import FormatError
from fidelitree.runs.input_source import source_of
from fidelitree.spaces.inputs import row_keys
from fidelitree.spaces.rows import Rows
from fidelitree.theory.sequential import STANDING, error_bound, level_in
from fidelitree.trees.answers import answered, apart

if TYPE_CHECKING:
    from fidelitree.asking.journal.records import Opened
    from fidelitree.asking.journal.run import Run
    from fidelitree.certificates.certificate import Certificate
    from fidelitree.certificates.store import Stored
    from fidelitree.spaces.world import World
    from fidelitree.trees.tree import Tree

ABOUT = "the answers in the journal give the counts of the certificate"
_MOST = 1 << 20  # inputs of which an exact error is counted again
_ROUNDING = 1e-9


class _UnsureError(Exception):
    """It could not be counted, which says nothing against the folder."""


def recounted(stored: Stored, path: Path, space: World) -> Iterator[Check]:
    """The result and every point of its frontier, counted again; one line for all of them."""
    try:
        journal = _Answers.read(path, space)
        paid = stored.run.get("paid")
        if isinstance(paid, dict) and not journal.several and sum(paid.values()) != journal.count:
            raise FormatError(f"the run paid for {sum(paid.values()):,} answers, and the journal has {journal.count:,}")
        points = [] if stored.frontier is None else stored.frontier.points
        for tree, certificate, tested in [
            (stored.tree, stored.certificate, stored.tested),
            *((point.tree, point.certificate, point.tested) for point in points),
        ]:
            _check_promise(certificate, space, stored)
            if certificate.method == "exact":
                journal.check_all(tree, certificate)
            else:
                journal.check(tested or tree, certificate)
    except _UnsureError as why:
        yield Check(None, f"{ABOUT}: {why}")
    except FormatError as why:
        yield Check(False, f"{ABOUT}: {why}")
    else:
        yield Check(True, ABOUT)


def _check_promise(told: Certificate, space: World, stored: Stored) -> None:
    """What follows from the counts exactly, and what a run of these doors never has."""
    if told.entropy is not None or told.replayed:
        raise FormatError("it is the certificate of an audit")
    if isinstance(space, Rows) and space.blend:
        raise _UnsureError("neighbours of rows are not drawn again here")
    chosen = told.seed_chosen and told.method != "exact"
    sure = ASSUMES_DETERMINISTIC in told.assumes
    if told.assumes not in (assumptions(sure, space.assumes, chosen), assumptions(sure, space.assumes)):
        raise FormatError("it assumes something else than the run did")
    if told.method == "exact":
        numbers = told.delta, told.differs, told.errors, told.seed, told.level, told.seed_chosen
        made = told.protocol, told.attempt, told.attempts, ASSUMES_DETERMINISTIC in told.assumes
        if (numbers, made) != ((0, 0, None, None, None, True), ("separate", 1, 1, True)):
            raise FormatError("an exact error has no delta, and no test inputs")
        return
    if told.helped is not None:
        raise _UnsureError("a surrogate model shortened the test: without --answers the whole run is made again")
    if told.method != "sequential" or told.protocol != "prequential":
        raise _UnsureError("only tests of distill and frontier are counted here")
    if told.seed_chosen != stored.run.get("seed_chosen", told.seed_chosen):
        raise FormatError("seed_chosen is not the same")
    level = level_in(told.ledger, told.attempt, told.delta)
    bound = min(1.0, error_bound(told.errors_of_test or 0, told.samples, level) + told.differs)
    if not math.isclose(told.error_bound, bound, rel_tol=1e-6):
        raise FormatError(f"{told.errors_of_test} errors among {told.samples} test inputs give {bound:.6g}")


@dataclass(frozen=True)
class _Answers:
    """A journal as far as counts depend on it."""

    space: World
    run: Run
    attempts: list[Opened]
    drawn: tuple[int, int]
    several: bool
    """Whether another run, with other limits, went through the same inputs."""
    count: int
    known: dict[bytes, set[Any]]

    @classmethod
    def read(cls, path: Path, space: World) -> _Answers:
        """All of it, every record checked."""
        known: dict[bytes, set[Any]] = {}
        with Journal(path) as journal:
            run, count = journal.run, 0
            if run.lists_answers:
                raise _UnsureError("the target listed its answers, and was not asked")
            for record in journal.all():
                keys, labels = row_keys(record.inner(len(run.features), run.bits)), record.answers().tolist()
                count += len(labels)
                for key, label in zip(keys, labels, strict=True):
                    known.setdefault(key, set()).add(label)
            return cls(space, run, journal.attempts, journal.drawn, len(journal.all_limits) > 1, count, known)

    def labels(self, inner: NDArray[Any]) -> list[Any]:
        """The answers to these inputs, up to the first that was not asked."""
        found: list[Any] = []
        for key in row_keys(inner):
            answers = self.known.get(key, ())
            if len(answers) > 1:
                raise _UnsureError("the target answered an input in two ways")
            if not answers:
                break
            found += answers
        return found

    def check(self, tree: Tree, told: Certificate) -> None:
        """Whether errors and samples are those of inputs that were drawn after the attempt was opened."""
        mine = [one for one in self.attempts if one.ledger == told.ledger]
        found = next((one for one in mine if one.number == told.attempt), None)
        if found is None or found.tree != tree.digest:
            raise FormatError("the attempt in the journal is for another tree")
        if told.attempts > len(mine) or (told.attempts < len(mine) and not self.several):
            raise FormatError(f"{told.attempts} attempts were opened, and the journal lists {len(mine)}")
        standing = told.ledger == STANDING
        if standing and self.drawn[0] and found.passes_over:
            raise _UnsureError("an earlier run went through the same inputs")
        tests = self._mistakes(tree, told, True, found.tests_since)
        labels = self._mistakes(tree, told, False, found.labels_since) if standing else np.zeros(1, np.intp)
        # The two streams may come in any turn.
        ways = [tests[told.samples - k] + labels[k] for k in range(len(labels)) if 0 <= told.samples - k < len(tests)]
        if told.errors_of_test not in ways or (tree.defers and len(tests) - 1 != told.samples):
            raise FormatError("they give other ones")

    def _mistakes(self, tree: Tree, told: Certificate, tests: bool, since: int) -> NDArray[np.intp]:
        """Errors among the first 0, 1, 2, ... inputs of a stream from a place on."""
        source = source_of(self.space, self.run.seed, together=self.run.door == "distill")
        rows = min(since + (told.samples if told.drawn is None else told.drawn), self.drawn[tests])
        if tree.defers and rows < since + (told.drawn or 0):
            raise FormatError("fewer inputs were drawn")
        try:
            inner = (source.test if tests else source.label)(rows)[since:] if rows > since else source.free(0)
        except BudgetSpent:
            raise FormatError("there are fewer test rows") from None
        inner = inner[answered(tree, inner)]
        labels = self.labels(inner)
        given = tree.predict_inner(inner[: len(labels)])
        wrong = apart(given, np.array(labels), told.tolerance) if labels else np.zeros(0, np.bool_)
        return np.concatenate([[0], np.cumsum(wrong)]).astype(np.intp)

    def check_all(self, tree: Tree, told: Certificate) -> None:
        """Whether an exact error is that of all inputs, each of which was answered."""
        space = self.space.independent
        if space is None or space.points is None or space.points > _MOST:
            raise _UnsureError("only the target itself can confirm an exact error")
        inner = space.whole.inputs(0, space.points)
        labels = self.labels(inner)
        if told.samples != len(inner):
            raise FormatError(f"there are {len(inner):,} inputs, and {told.samples:,} were counted")
        if len(labels) < len(inner):
            raise _UnsureError("not every input was asked")
        error = math.fsum(space.chances(inner)[tree.predict_inner(inner) != np.array(labels)])
        if abs(error - told.error_bound) > _ROUNDING:
            raise FormatError(f"the exact error is {error:.6g}")
