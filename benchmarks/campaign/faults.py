"""Faults that a certificate, or its use, could have; the campaign must see each of them."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from benchmarks.campaign import dependent, doors, twice
from fidelitree.asking.counted import Counted
from fidelitree.certificates import attempts
from fidelitree.certificates.attempts import Attempt, Attempts
from fidelitree.certificates.deferral import DeferringAttempt
from fidelitree.runs import economics
from fidelitree.runs.input_source import DrawnSource
from fidelitree.spaces import rows
from fidelitree.theory import sequential
from fidelitree.theory.sequential import upper_bound
from fidelitree.trees.answers import answered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def no_fault() -> Iterator[None]:
    yield


@contextmanager
def deciding(accepts: Callable[[int, int, float, float], bool]) -> Iterator[None]:
    """Another rule decides, for errors and samples, whether an epsilon is certified at a level."""

    def samples_needed(errors: int, epsilon: float, level: float) -> int:
        few, most = errors, errors + 1
        while most < 1 << 40 and not accepts(errors, most, epsilon, level):
            few, most = most, 2 * most
        while most - few > 1:
            middle = (few + most) // 2
            few, most = (few, middle) if accepts(errors, middle, epsilon, level) else (middle, most)
        return most

    with patch.multiple(sequential, accepts=accepts, samples_needed=samples_needed):
        yield


@contextmanager
def estimate_for_bound() -> Iterator[None]:
    """The share of errors seen is taken for the error."""
    with ExitStack() as stack:
        stack.enter_context(deciding(lambda k, n, epsilon, level: n >= 20 and k <= epsilon * n))
        stack.enter_context(patch.object(sequential, "error_bound", lambda k, n, level: k / n if n >= 20 else 1.0))
        yield


@contextmanager
def peeking() -> Iterator[None]:
    """A bound for a number of samples fixed beforehand is looked at again and again, until it is good enough."""
    with ExitStack() as stack:
        stack.enter_context(deciding(lambda k, n, epsilon, level: n > 0 and upper_bound(k, n, level) <= epsilon))
        stack.enter_context(
            patch.object(sequential, "error_bound", lambda k, n, level: upper_bound(k, n, level) if n else 1.0)
        )
        yield


@contextmanager
def shared_inputs() -> Iterator[None]:
    """An attempt counts the answers that its tree was made from, too."""
    asked: list[tuple[Any, Any]] = []
    ask, begin = Counted.ask, Attempts.open

    def remembering(self: Counted, batch: Any, purpose: str, **more: bool) -> Any:
        codes = ask(self, batch, purpose, **more)
        asked.append((batch, self.labels(codes)))
        return codes

    def counting(self: Attempts, tree: Any, **more: Any) -> Attempt:
        before = len(self.all)
        found = begin(self, tree, **more)
        for attempt in self.all[before:]:
            for batch, labels in asked:
                attempt.count(int((tree.predict_inner(batch) != labels).sum()), len(labels))
        return found

    with patch.object(Counted, "ask", remembering), patch.object(Attempts, "open", counting):
        yield


@contextmanager
def known_entropy() -> Iterator[None]:
    """Audits draw what their seed says, and nothing else: their inputs can be foreseen."""
    with patch.object(doors, "fresh", lambda seed, number: "0" * 32):
        yield


@contextmanager
def shared_inputs_and_few_tests() -> Iterator[None]:
    """The same in a frontier that leaves few labels to its tests: many more would make up for those that taught."""
    with patch.object(economics, "LEARNING", 0.9), shared_inputs():
        yield


@contextmanager
def seed_that_stays() -> Iterator[None]:
    """Without a seed every run takes the same one."""
    with patch.object(twice, "fresh", lambda seed, number: seed):
        yield


@contextmanager
def unkeyed_and_the_same_seed() -> Iterator[None]:
    """The same, and what is opened does not change the inputs to come: 0.2.0."""
    with seed_that_stays(), patch.object(DrawnSource, "rekey", lambda self, key: None):
        yield


@contextmanager
def counted_in_part() -> Iterator[None]:
    """Samples are counted for all attempts before errors are looked for: an interrupt leaves them without errors."""
    together = attempts._worked_out

    def in_part(some: Any, batch: Any, labels: Any, stream: str) -> Any:
        before = [one.counts for one in some]
        for one in some:
            one.counts = one.counts[0], one.counts[1] + len(labels) - one._passed(len(labels), stream)[0]
        for one in some:
            vars(attempts)["apart"](one.tree.predict_inner(batch), labels, None)  # here it is interrupted
        for one, counts in zip(some, before, strict=True):
            one.counts = counts
        return together(some, batch, labels, stream)

    with patch.object(attempts, "_worked_out", in_part):
        yield


@contextmanager
def rows_that_were_fitted() -> Iterator[None]:
    """The target knows the rows of the table by heart: no fault of ours, but a use that certificates warn of."""
    with patch.object(doors, "held_out", lambda case, seed, training: training):
        yield


@contextmanager
def equal_rows_apart() -> Iterator[None]:
    """Equal rows stand on both sides of the split."""
    with patch.object(rows, "grouped_if_copied", lambda product, inner: None):
        yield


@contextmanager
def people_apart() -> Iterator[None]:
    """Rows of one person stand on both sides of the split: nobody has named them."""
    with patch.object(dependent, "of_groups", lambda some, who: dependent.ungrouped(some)):
        yield


@contextmanager
def passed_over_and_counted() -> Iterator[None]:
    """Inputs that a tree defers are counted as if it had answered them rightly."""
    tally = DeferringAttempt.tally

    def counting(self: DeferringAttempt, batch: Any, labels: Any, stream: str = "test") -> Any:
        found = tally(self, batch, labels, stream)
        errors, samples = found.counts
        return replace(found, counts=(errors, samples + int((~answered(self.tree, batch)).sum())))

    with patch.object(DeferringAttempt, "tally", counting):
        yield


FAULTS = {
    "the estimate for the bound": (estimate_for_bound, "certify"),
    "peeking at a fixed-size bound": (peeking, "certify"),
    "answers that taught are counted": (shared_inputs, "auto"),
    "candidates chosen by what they count": (shared_inputs_and_few_tests, "frontier, all points"),
    "entropy that is known beforehand": (known_entropy, "certify, patched predictor"),
    "what is deferred counts as right": (passed_over_and_counted, "deferring, all points"),
    "rows that the target was fitted to": (rows_that_were_fitted, "auto, rows held out of a fit"),
    "kept rows that the target was fitted to": (rows_that_were_fitted, "auto, rows kept from a fit"),
    "no keys and one seed, patched target": (unkeyed_and_the_same_seed, "auto, patched target"),
    "no keys and one seed, cached target": (unkeyed_and_the_same_seed, "auto, cached target"),
    "one seed, patched difference": (seed_that_stays, "diff, patched target"),
    "equal rows on both sides": (equal_rows_apart, "auto, duplicated rows"),
    "people on both sides": (people_apart, "auto, grouped rows"),
    "samples are counted before their errors": (counted_in_part, "auto, interrupted counting"),
}
