"""What the answers in a journal say about a stored certificate, without a second run of the learner.

The keys of all attempts are worked out again, test inputs are drawn anew from seed and keys, their answers are looked
up, and the errors of the tree that was tested are counted from the place where its attempt was opened. Where inputs are
not keyed (rows of a table, journals of 0.2.0), counts confirm nothing: they do not show when the tree was made.
`certificates.standalone` makes the same checks with code of its own; a test compares the two, folder by folder and
forgery by forgery.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.journal.journal import Journal
from fidelitree.asking.journal.ledger import promised
from fidelitree.asking.limits import BudgetSpent
from fidelitree.asking.memory import LABELLED_BYTES
from fidelitree.certificates.certificate import ASSUMES_DETERMINISTIC, ASSUMES_UNFORESEEN, assumptions
from fidelitree.certificates.confusion import MOST, Confusion
from fidelitree.certificates.consistency import APART, Check
from fidelitree.errors import FormatError
from fidelitree.exact.engine import ENUMERATE_UNASKED
from fidelitree.runs.agree.last_answers import Asked, Endings
from fidelitree.runs.input_source import source_of
from fidelitree.spaces.inputs import row_keys
from fidelitree.spaces.rows import Rows, assumed_before
from fidelitree.theory.sequential import STANDING, error_bound, level_in
from fidelitree.trees.answers import MOST_BYTES, Answers, answered, apart

if TYPE_CHECKING:
    from fidelitree.asking.journal.records import Opened
    from fidelitree.asking.journal.run import Run
    from fidelitree.certificates.certificate import Certificate
    from fidelitree.certificates.store import Stored
    from fidelitree.spaces.world import World
    from fidelitree.trees.tree import Tree

ABOUT = "the answers in the journal give the counts of the certificate"
NO_WITNESS = (
    "they do, but they do not show when the tree was made: it may have been changed after its test inputs were known. "
    "Without --answers the run is made again, by the version that wrote it; --target asks the target"
)


class _UnsureError(Exception):
    """It could not be counted, which says nothing against the folder."""


def recounted(stored: Stored, path: Path, space: World) -> Iterator[Check]:
    """The result and every point of its frontier, counted again; one line for all of them."""
    try:
        journal = _Answers.read(path, space)
        paid = stored.run.get("paid")
        if isinstance(paid, dict) and not journal.several and sum(paid.values()) != journal.count:
            raise FormatError(f"the run paid for {sum(paid.values()):,} answers, and the journal has {journal.count:,}")
        journal = replace(journal, paid=sum(paid.values())) if isinstance(paid, dict) else journal
        points = [] if stored.frontier is None else stored.frontier.points
        for tree, certificate, tested in [
            (stored.tree, stored.certificate, stored.tested),
            *((point.tree, point.certificate, point.tested) for point in points),
        ]:
            _check_promise(certificate, space, stored)
            if certificate.method == "exact":
                journal.check_all(tree, certificate)
            else:
                journal.check_real_rows(tree, certificate)
                journal.check(tested or tree, certificate, tree)
    except _UnsureError as why:
        yield Check(None, f"{ABOUT}: {why}")
    except FormatError as why:
        yield Check(False, f"{ABOUT}: {why}")
    else:
        yield Check(True, ABOUT)


def counted(stored: Stored, space: World) -> Answers | None:
    """The stored answers that a result's certificate counts; None where they do not tell which these are."""
    told = stored.certificate
    if stored.journal is None or told.method != "sequential" or told.protocol != "prequential":
        return None
    try:
        journal = _Answers.read(stored.journal, space)
        return journal.counted(stored.tested or stored.tree, told, stored.tree)
    except (_UnsureError, FormatError):
        return None


def _check_promise(told: Certificate, space: World, stored: Stored) -> None:
    """What follows from the counts exactly, and what a run of these doors never has."""
    if told.entropy is not None or told.replayed:
        raise FormatError("it is the certificate of an audit")
    if isinstance(space, Rows) and space.blend:
        raise _UnsureError("neighbours of rows are not drawn again here")
    chosen = told.seed_chosen and told.method != "exact"
    sure = ASSUMES_DETERMINISTIC in told.assumes
    known = space.assumes, assumed_before(space)
    if told.assumes not in [assumptions(sure, some, given) for some in known for given in {chosen, False}]:
        raise FormatError("it assumes something else than the run did")
    if told.method == "exact":
        numbers = told.delta, told.differs, told.errors, told.seed, told.level, told.seed_chosen
        made = told.protocol, told.attempt, told.attempts, ASSUMES_DETERMINISTIC in told.assumes
        if (numbers, made) != ((0, 0, None, None, None, True), ("separate", 1, 1, True)):
            raise FormatError("an exact error has no delta, and no test inputs")
        return
    if told.helped is not None:
        raise _UnsureError("a surrogate model shortened the test, which is not counted here: ask the target")
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
    real: int
    """Answers about rows that were kept aside."""
    known: dict[bytes, set[Any]]
    asked: dict[bytes, Asked]
    tests: int
    paid: float = math.inf
    """Answers of the run: a journal that another run extended has more."""

    @classmethod
    def read(cls, path: Path, space: World) -> _Answers:
        """All of it, every record checked."""
        known: dict[bytes, set[Any]] = {}
        asked: dict[bytes, Asked] = {}
        with Journal(path) as journal:
            run, count, real, tests = journal.run, 0, 0, 0
            if run.lists_answers:
                raise _UnsureError("the target listed its answers, and was not asked")
            for record in journal.all():
                keys, labels = row_keys(record.inner(len(run.features), run.bits)), record.answers().tolist()
                place = record.purpose, record.batch, count
                count += len(labels)
                tests += len(labels) * (record.purpose == "certify")
                real += len(labels) * (record.purpose == "real rows")
                for key, label in zip(keys, labels, strict=True):
                    known.setdefault(key, set()).add(label)
                    asked.setdefault(key, place)
            several = len(journal.all_limits) > 1
            return cls(space, run, journal.attempts, journal.drawn, several, count, real, known, asked, tests)

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

    def check(self, tree: Tree, told: Certificate, returned: Tree) -> None:
        """Whether errors and samples are those of inputs that were drawn after the attempt was opened."""
        mine = [one for one in self.attempts if one.ledger == told.ledger]
        if not mine and not told.samples:  # it ended before it tested a tree
            if told.confusion is not None:
                raise FormatError("without tests there is no table of answers")
            return
        found = self._attempt(tree, told)
        if told.attempts > len(mine) or (told.attempts < len(mine) and not self.several):
            raise FormatError(f"{told.attempts} attempts were opened, and the journal lists {len(mine)}")
        self._check_assumed(told, found)
        self.counted(tree, told, returned)
        if not found.key:
            raise _UnsureError(NO_WITNESS)

    def _attempt(self, tree: Tree, told: Certificate) -> Opened:
        """The attempt of a certificate, which must be for the tree that was tested."""
        mine = (one for one in self.attempts if (one.ledger, one.number) == (told.ledger, told.attempt))
        found = next(mine, None)
        if found is None or found.tree != tree.digest:
            raise FormatError("the attempt in the journal is for another tree")
        return found

    def counted(self, tree: Tree, told: Certificate, returned: Tree) -> Answers:
        """The answers after the opening that give a certificate's counts, for the tested tree and the returned one."""
        found = self._attempt(tree, told)
        standing = told.ledger == STANDING
        if standing and self.drawn[0] and found.passes_over:
            raise _UnsureError("an earlier run went through the same inputs")
        tests = self._answered(tree, told, True, found)
        labels = Answers(tests.inputs[:0], tests.labels[:0])
        both = standing and source_of(self.space, self.run.seed).labels_test
        if both:
            labels = self._answered(tree, told, False, found)
        # The two streams may come in any turn.
        ways = [k for k in range(len(labels) + 1) if 0 <= told.samples - k <= len(tests)]
        for judged, errors in ((tree, told.errors_of_test), (returned, told.errors)):
            if errors is not None:
                sums = [_mistakes(judged, some, told.tolerance) for some in (tests, labels)]
                ways = [k for k in ways if sums[0][told.samples - k] + sums[1][k] == errors]
        if not ways or (tree.defers and len(tests) != told.samples):
            raise FormatError("they give other ones")
        if found.key and told.confusion is not None:
            ways = self._in_table(told, returned, ways, (tests, labels))
        if found.key:  # journals of older versions end where a bound was lowest
            self._check_complete(told, found, ways, both)
        return _taken((tests, labels), told.samples, ways[0])

    def _in_table(
        self, told: Certificate, returned: Tree, ways: list[int], parts: tuple[Answers, Answers]
    ) -> list[int]:
        """The ways of counting that give the certificate's table; a long one lists its largest cells."""
        assert told.confusion is not None, "the caller has looked"
        if told.confusion.tests != told.samples and self._bytes(sum(self.drawn)) > MOST_BYTES:
            raise _UnsureError("a run keeps no more than 64 MB of answers for its table")
        for k in ways:
            counts = _taken(parts, told.samples, k).leaf_labels(returned)
            table = Confusion.of_leaves(counts, returned, told.confusion.level)
            if table is not None and _same_table(table, told.confusion):
                return [one for one in ways if one >= k]
        raise FormatError("they give another table")

    def _check_complete(self, told: Certificate, found: Opened, ways: list[int], both: bool) -> None:
        """Refuse counts that end before the answers do: at the luckiest moment a bound is lower than in the end."""
        standing = found.ledger == STANDING
        if standing and self.run.arguments.get("defer"):
            return  # it counts no input that other trees defer
        if not self.several and self.tests > self.drawn[1]:
            raise FormatError("more test inputs were answered than were drawn")
        most = told.samples if told.drawn is None else told.drawn
        promise = promised(self.space.digest, told.delta, told.tolerance, ASSUMES_DETERMINISTIC in told.assumes)
        way = self._way(found, promise)
        tests = self._endings(way, True)
        labels = self._endings(way, False) if both else None
        counts = ((found.tests_since + most - k, found.labels_since + k) for k in ways)
        if any(tests.allow(tested) and (labels is None or labels.allow(learnt)) for tested, learnt in counts):
            return
        later = [one for one in self.attempts if (one.ledger, one.run) == (found.ledger, found.run)]
        if standing and sum(one.number > found.number for one in later) > 1:
            raise _UnsureError("the attempt may have been given up before the end")
        raise FormatError("it leaves out the last answers")

    def _endings(self, way: list[Opened], tests: bool) -> Endings:
        """How many inputs of a stream may count."""
        self._check_room(self.drawn[tests])
        keys = row_keys(self._inputs(way, tests, self.drawn[tests]))
        return Endings.of(keys, self.asked, "certify" if tests else "label", self.paid)

    def check_real_rows(self, tree: Tree, told: Certificate) -> None:
        """Whether the errors on rows that were kept aside are those of their answers, which came first and in order."""
        real, kept = told.real_rows, None if self.space.kept is None else self.space.kept.inner
        inner = np.empty((0, len(self.run.features))) if kept is None or not self.real else kept
        labels = self.labels(inner)
        inner = inner[: len(labels)]
        own = answered(tree, inner) if told.coverage is not None else np.ones(len(inner), np.bool_)
        if real is None:
            if own.any():
                raise _UnsureError("rows that were kept aside were answered, and it does not tell of them")
            return
        found = Answers(inner[own], np.array(labels)[own])
        if real.rows > len(found) or (real.rows < len(found) and told.coverage is None and real.rows < self.real):
            raise FormatError("it tells of other real rows")
        if _mistakes(tree, found, told.tolerance)[real.rows] != real.errors:
            raise FormatError("real rows give another error")

    def _check_assumed(self, told: Certificate, attempt: Opened) -> None:
        """Refuse a certificate that leaves out what the run assumed; one of 0.2.0, without keys, could not say it."""
        if attempt.key and told.seed_chosen and ASSUMES_UNFORESEEN not in told.assumes:
            raise FormatError("it does not say that the seed was given")
        if attempt.key and set(self.space.assumes) - {*told.assumes}:
            raise FormatError("it does not say all that the run assumed")

    def _answered(self, tree: Tree, told: Certificate, tests: bool, attempt: Opened) -> Answers:
        """The inputs after an opening that a tree answers, up to the first that was not asked."""
        since = attempt.tests_since if tests else attempt.labels_since
        end = min(since + (told.samples if told.drawn is None else told.drawn), self.drawn[tests])
        if tree.defers and end < since + (told.drawn or 0):
            raise FormatError("fewer inputs were drawn")
        self._check_room(end)
        sure = ASSUMES_DETERMINISTIC in told.assumes
        way = self._way(attempt, promised(self.space.digest, told.delta, told.tolerance, sure))
        inner = self._inputs(way, tests, max(since, end))[since:]
        inner = inner[answered(tree, inner)]
        labels = self.labels(inner)
        return Answers(inner[: len(labels)], np.array(labels))

    def _check_room(self, inputs: int) -> None:
        """Draw no more than a learner may hold: a stranger's journal says how many there are."""
        if self._bytes(inputs) > LABELLED_BYTES:
            raise _UnsureError(f"more than {LABELLED_BYTES // 8:,} values would be drawn")

    def _bytes(self, inputs: int) -> int:
        """What inputs take."""
        return 8 * inputs * len(self.run.features)

    def _inputs(self, way: list[Opened], tests: bool, end: int) -> NDArray[Any]:
        """The first inputs of a run, on its way through the keys of its attempts."""
        source = source_of(self.space, self.run.seed, together=self.run.door == "distill")
        draw = source.test if tests else source.label
        parts = [source.free(0)]
        place = 0
        if not way:
            source.rekey(None)
        try:
            for one in way:
                stop = min(one.tests if tests else one.labels, end)
                parts += [draw(stop - place)] if stop > place else []
                place = max(place, stop)
                source.rekey(one.key)
            parts += [draw(end - place)] if end > place else []
        except BudgetSpent:
            raise FormatError("there are fewer test rows") from None
        return np.concatenate(parts)

    def _way(self, attempt: Opened, promise: str) -> list[Opened]:
        """The attempts that were opened before one and after it, in their order; none where inputs are not keyed.

        Backwards there is one way, since a key names the key before it; forwards there must be one. That each key
        follows from the one before was checked when the journal was read; the first one follows from the promise.
        """
        if not attempt.key:
            return []
        same_run = [one for one in self.attempts if one.run == attempt.run]
        by_key = {one.key: one for one in same_run}
        following: dict[str, list[Opened]] = {}
        for one in same_run:
            following.setdefault(one.before, []).append(one)
        found = [attempt]
        while found[-1].before != promise:
            if found[-1].before not in by_key:
                raise FormatError("attempts are missing between two keys, or something else was promised")
            found.append(by_key[found[-1].before])
        found.reverse()
        while later := following.get(found[-1].key, []):
            if len(later) > 1:
                raise _UnsureError("the run went on in two ways")
            found.append(later[0])
        _check_order(found)
        return found

    def check_all(self, tree: Tree, told: Certificate) -> None:
        """Whether an exact error is that of all inputs, each of which was answered."""
        space = self.space.independent
        if space is None or space.points is None or space.points > ENUMERATE_UNASKED:
            raise _UnsureError("only the target itself can confirm an exact error")
        inner = space.whole.inputs(0, space.points)
        labels = self.labels(inner)
        if told.samples != len(inner):
            raise FormatError(f"there are {len(inner):,} inputs, and {told.samples:,} were counted")
        if len(labels) < len(inner):
            raise _UnsureError("not every input was asked")
        error = math.fsum(space.chances(inner)[tree.predict_inner(inner) != np.array(labels)])
        if abs(error - told.error_bound) > APART:
            raise FormatError(f"the exact error is {error:.6g}")


def _taken(parts: tuple[Answers, Answers], samples: int, learnt: int) -> Answers:
    """Return this many answers of both streams, ``learnt`` of them from the one for learning."""
    taken = samples - learnt, learnt
    inputs = [part.inputs[:count] for part, count in zip(parts, taken, strict=True)]
    answers = [part.labels[:count] for part, count in zip(parts, taken, strict=True) if count]
    return Answers(np.concatenate(inputs), np.concatenate(answers) if answers else parts[1].labels[:0])


def _same_table(one: Confusion, two: Confusion) -> bool:
    """Whether cells are the same, and labels that are never answered; of many labels the rarest are not listed."""
    lost = [{entry.label for entry in table.never} for table in (one, two)]
    return (one.cells, one.cells_in_all) == (two.cells, two.cells_in_all) and (
        lost[0] == lost[1] or len(lost[1]) >= MOST
    )


def _mistakes(tree: Tree, answers: Answers, tolerance: float | None) -> NDArray[np.intp]:
    """Errors among the first 0, 1, 2, ... answers."""
    wrong = np.zeros(0, np.bool_)
    if len(answers):
        wrong = apart(tree.predict_inner(answers.inputs), answers.labels, tolerance)
    return np.concatenate([[0], np.cumsum(wrong)]).astype(np.intp)


def _check_order(way: list[Opened]) -> None:
    """Refuse attempts whose places or numbers fall, or that count other inputs than those after them."""
    numbers: dict[str, int] = {}
    for last, one in zip([way[0], *way], way, strict=False):
        if last.labels > one.labels or last.tests > one.tests or one.passes_over:
            raise FormatError("attempts count other inputs than those that came after them")
        if numbers.get(one.ledger, 0) >= one.number:
            raise FormatError("attempts are not numbered in their order")
        numbers[one.ledger] = one.number
