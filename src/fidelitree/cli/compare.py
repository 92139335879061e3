"""``fidelitree compare``: the learners of the literature side by side on one target."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fidelitree.cli.ending import AsJson, Code, StatusLine, check_place, note, tell
from fidelitree.cli.shared_options import Threshold, epsilon_of, interruptible, keywords, write_and_tell
from fidelitree.cli.space_options import SpaceOptions
from fidelitree.cli.target_options import TargetOptions, TargetText, opened
from fidelitree.errors import ParameterError

if TYPE_CHECKING:
    from fidelitree.asking.events import Event
    from fidelitree.learners.compare import Comparison


@dataclass(frozen=True)
class CompareOptions:
    """Everything that `ft.compare` can be told."""

    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="Tolerated error.")] = "0.05"
    delta: Annotated[float, typer.Option(help="Probability that each certificate may be wrong.")] = 0.05
    learner: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this learner. Repeatable; all unless given.")
    ] = None
    seed: Annotated[int | None, typer.Option(min=0, help="Same seed, same trees; a fresh one unless given.")] = None
    threshold: Threshold = None
    max_queries: Annotated[int | None, typer.Option(help="Labels that each learner may use.")] = None
    max_seconds: Annotated[float, typer.Option(help="Seconds that each learner may take.")] = 60.0
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the table, a CSV and a plot of error against leaves.")
    ] = None


class _LearnerLine(StatusLine):
    """Says which learner is at work; none begins after a signal to end, of which the last one may have told nothing."""

    came: Sequence[int] = ()

    def __call__(self, event: Event) -> None:
        from fidelitree.asking.events import LearnerBegan

        if isinstance(event, LearnerBegan):
            if self.came:
                raise KeyboardInterrupt
            self.begin(f"{event.learner}, {event.number} of {event.of}")
        super().__call__(event)


def compare(
    target: TargetText, reading: TargetOptions, inputs: SpaceOptions, options: CompareOptions, as_json: AsJson = False
) -> int:
    """Compare the learners of the literature on a target: queries, leaves, certified and true errors, seconds.

    Ends with 0 if at least one of them is certified, with 3 if none is, and with 6 if rows of the table that were kept
    aside refute what is certified over draws. Ctrl-C ends it with the rows so far, and with 7.
    """
    from fidelitree.learners.compare import compare as compare_learners

    epsilon = epsilon_of(options.epsilon)
    if epsilon is None:
        raise ParameterError("--epsilon must be a number here; got none")
    check_place("--out", options.out, folder=True)
    with ExitStack() as stack:
        came = stack.enter_context(interruptible())
        found = stack.enter_context(opened(target, reading))
        space = inputs.open(found)
        limits = options.max_queries, options.max_seconds
        progress = stack.enter_context(_LearnerLine(f"comparing {target}", epsilon, limits))
        progress.came = came
        comparison = compare_learners(
            found.target,
            space,
            **keywords(options, "learner", "out"),
            learners=options.learner or None,
            observer=progress,
        )
    told = {"epsilon": epsilon, "delta": options.delta, "seed": comparison.seed, "interrupted": comparison.interrupted}
    refuted = _refuted(comparison)
    plain = {**told, "refuted_by_rows": list(refuted), "rows": [asdict(row) for row in comparison.rows]}
    write_and_tell(
        lambda: [] if options.out is None else comparison.save(options.out),
        lambda: tell(as_json, plain, comparison, *refuted.values(), f"seed {comparison.seed}"),
        options.out,
        as_json,
    )
    return _code(comparison, bool(refuted))


def _refuted(comparison: Comparison) -> dict[str, str]:
    """The learners whose certificates real rows refute, each with what these rows say."""
    certificates = {name: found.certificate for name, found in comparison.results.items()}
    return {
        name: f"{name}: {' '.join(found.real_rows.sentences(found.interval, found.agreement))}"
        for name, found in certificates.items()
        if found.holds and found.refuted_by_rows and found.real_rows is not None
    }


def _code(comparison: Comparison, refuted: bool) -> Code:
    if comparison.interrupted:
        note("interrupted: learners that are not listed were not run")
        return Code.INTERRUPTED
    if refuted:
        return Code.REFUTED_BY_ROWS
    return Code.CERTIFIED if any(row.certified for row in comparison.rows) else Code.NOT_CERTIFIED
