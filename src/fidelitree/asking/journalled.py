"""Calls that are written down: what the journal knows is not asked again, what is answered is on disk before use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.call import on_their_way
from fidelitree.asking.journal.records import Record, digest, input_bytes
from fidelitree.asking.repeats import CHECK, same
from fidelitree.errors import OtherRunError, TargetError

if TYPE_CHECKING:
    from fidelitree.asking.call import Calls, Part
    from fidelitree.asking.guarded import Inner
    from fidelitree.asking.journal.journal import Journal
    from fidelitree.targets.labels import Target

ASKED_AGAIN = 16
"""Inputs that a resumed run asks once more, to see that it is the same target."""
NO_CHANCE = 0.002  # for a noisy target to be taken for another one


class Journalled:
    """Calls behind a journal.

    A batch is known by its purpose, its number among those of the purpose, and its inputs. It may have been answered in
    part when a run was killed; the other part is asked then. Where a run has two targets, what each is asked has a
    purpose that begins with its ``name``.
    """

    def __init__(self, calls: Calls, journal: Journal, name: str = "") -> None:
        self._calls, self._journal, self._name = calls, journal, name
        self._batches: Counter[str] = Counter()
        self._interrupt: KeyboardInterrupt | None = None

    def parts(self, inner: Inner, purpose: str) -> Iterator[Part]:
        batch_of_checks, purpose = purpose == CHECK, self._name + purpose
        batch = self._batches[purpose]
        self._batches[purpose] += 1
        known = np.zeros(len(inner), np.bool_)
        if self._journal.records:
            yield from self._found(inner, purpose, batch, known)
        if batch_of_checks and not self._journal.writes:  # nobody can be asked again: the run made do with these
            return
        for start, stop in _gaps(known):
            self._journal.go_live()
            coming = self._calls.parts(inner[start:stop], purpose)
            try:
                for offset, labels in coming:
                    yield self._kept((purpose, batch, start + offset), inner, labels)
                    if self._interrupt is not None:
                        raise self._interrupt
            except KeyboardInterrupt as interrupt:
                for offset, labels in on_their_way(coming, interrupt):
                    yield self._kept((purpose, batch, start + offset), inner, labels)
                raise
            except TargetError as error:
                raise self._with_a_way_out(error) from error.__cause__

    def _kept(self, place: tuple[str, int, int], inner: Inner, labels: NDArray[Any]) -> Part:
        """A part that is on disk now; an interrupt while it is written waits until it is counted, too."""
        purpose, batch, first = place
        if not len(labels):  # nothing came yet
            return first, labels
        record = Record.made(purpose, batch, first, input_bytes(inner[first : first + len(labels)]), labels)
        try:
            self._journal.keep(record)
        except KeyboardInterrupt as interrupt:
            self._interrupt = interrupt
            known = self._journal.find(purpose, batch)
            if (first, record.digest) not in [(one.start, one.digest) for one in known]:
                self._journal.keep(record)
        return first, labels

    def _found(self, inner: Inner, purpose: str, batch: int, known: NDArray[np.bool_]) -> Iterator[Part]:
        for record in self._journal.find(purpose, batch):
            rows = slice(record.start, record.start + record.count)
            if rows.stop > len(inner) or known[rows].any() or digest(input_bytes(inner[rows])) != record.digest:
                continue  # of a run with other limits, which cut its batches differently
            known[rows] = True
            yield record.start, record.answers()

    def _with_a_way_out(self, error: TargetError) -> TargetError:
        if not self._journal.kept:
            return error
        return TargetError(
            f"{error}. Every answer until then is in the journal {str(self._journal.path)!r}: make the same call "
            f"again, and it goes on from there"
        )


def _gaps(known: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Runs of inputs that are not known."""
    edges = np.flatnonzero(np.diff(np.concatenate([[True], known, [True]]).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def ask_again(journal: Journal, calls: Calls, deterministic: bool = True, name: str = "") -> None:
    """Ask a few journalled inputs once more; OtherRunError where the target answers otherwise now.

    A noisy target may differ from itself. Among k labels it repeats itself with a chance of at least 1/k, whatever its
    noise, so it is taken for another one where it never does, and chance would hardly explain that.
    """
    tolerance = journal.run.arguments.get("tolerance")
    inputs, answers = _sample(journal, name)
    if not answers:
        return
    asked = dict(_numbered(calls, inputs))
    changed = [(was, asked[row]) for row, was in enumerate(answers) if not same(was, asked[row], tolerance)]
    if deterministic and changed:
        was, new = changed[0]
        raise _other_target(
            journal,
            f", or to one that is not deterministic: an input that was answered {was!r} is answered {new!r} now",
        )
    if len(changed) == len(answers) and (1 - 1 / len({*answers, *asked.values()})) ** len(answers) < NO_CHANCE:
        raise _other_target(journal, f": all of {len(answers)} inputs are answered otherwise now")


def _numbered(calls: Calls, inputs: Inner) -> Iterator[tuple[int, Any]]:
    for start, labels in calls.parts(inputs, "resume"):
        yield from enumerate(labels.tolist(), start)


def _other_target(journal: Journal, why: str) -> OtherRunError:
    return OtherRunError(
        f"journal must belong to the same target, and {str(journal.path)!r} belongs to another one{why} - give another "
        f"journal"
    )


def _sample(journal: Journal, name: str) -> tuple[Inner, list[Any]]:
    run, records = journal.run, list(journal.some(ASKED_AGAIN, name))
    each = -(-ASKED_AGAIN // max(1, len(records)))
    inputs: list[Inner] = []
    answers: list[Any] = []
    for record in records:
        places = np.unique(np.linspace(0, record.count - 1, each).astype(np.intp))
        inputs += list(record.inner(len(run.features), run.bits)[places])
        answers += record.answers()[places].tolist()
    return np.array(inputs[:ASKED_AGAIN]), answers[:ASKED_AGAIN]


class Replayed:
    """Stands in for a target that is not there: its answers come from a journal, and anything else is an error."""

    replays = True

    def __call__(self, batch: Any) -> Any:
        raise LookupError("the journal does not have their answers, and the target is not there to be asked")


def name_of(target: Target) -> str:
    """What a target is called, without anything that it was made with: a command line may hold keys."""
    words = getattr(target, "words", None)
    if isinstance(words, tuple) and words:
        return f"cmd:{words[0]}"
    for found in (getattr(target, "name", None), getattr(target, "__qualname__", None)):
        if isinstance(found, str):
            return found
    return type(target).__qualname__
