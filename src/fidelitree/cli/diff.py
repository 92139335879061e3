"""``fidelitree diff``: what changed between two targets, for people and for checks of a pull request."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fidelitree.cli.ending import AsJson, Code, StatusLine, check_place, note, tell
from fidelitree.cli.shared_options import (
    AuditOptions,
    Budgets,
    Confidence,
    Threshold,
    goes_on,
    interruptible,
    keywords,
    write_and_tell,
)
from fidelitree.cli.space_options import SpaceOptions
from fidelitree.cli.target_options import TargetOptions, both, opened

if TYPE_CHECKING:
    from fidelitree.runs.agree.difference import Difference

OldText = Annotated[str, typer.Argument(metavar="OLD", help="Anything that TARGET may be, or a result folder.")]
NewText = Annotated[str, typer.Argument(metavar="NEW", help="The same.")]


@dataclass(frozen=True)
class DiffOptions(AuditOptions, Budgets, Confidence):
    """Everything that `ft.diff` can be told, and where to say what it found."""

    precision: Annotated[float, typer.Option(help="At least so much of what is flagged has changed.")] = 0.9
    recall: Annotated[float, typer.Option(help="At least so much of what has changed is flagged.")] = 0.9
    epsilon: Annotated[float, typer.Option(help="The share of inputs that may change.")] = 0.001
    max_leaves: Annotated[int, typer.Option(help="No larger tree.")] = 64
    tolerance: Annotated[
        float | None, typer.Option(metavar="T", help="Answers are numbers; a change is one by more than T.")
    ] = None
    threshold: Threshold = None
    seed: Annotated[int | None, typer.Option(min=0, help="Same seed, same tree; a fresh one unless given.")] = None
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page for people.")] = None
    markdown: Annotated[Path | None, typer.Option(metavar="FILE", help="Add a Markdown summary to this file.")] = None
    github: Annotated[bool, typer.Option("--github", help="Print an annotation that GitHub shows.")] = False


def diff(
    old: OldText,
    new: NewText,
    reading: TargetOptions,
    inputs: SpaceOptions,
    options: DiffOptions,
    as_json: AsJson = False,
) -> int:
    """Say how often two targets answer differently, and where.

    Ends with 0 if at most --epsilon of inputs changed, with 4 if more did, and with 3 if a budget ended it before that
    was certain. Ctrl-C ends it with what was found by then, and with 7. Of two stored results everything is exact, and
    nobody is asked.
    """
    from fidelitree.runs.agree.diff import diff as compare_targets

    check_place("--report", options.report)
    check_place("--markdown", options.markdown)
    with ExitStack() as stack:
        stack.enter_context(interruptible())
        ways = {text: reading.for_workers(text) for text in (old, new)}
        before, after = (stack.enter_context(opened(text, ways[text][0])) for text in (old, new))
        timeout = next((seconds for _, seconds in ways.values() if seconds is not None), None)
        space = inputs.open(both(after, before))
        progress = stack.enter_context(
            StatusLine(f"comparing {old} and {new}", options.epsilon, (options.max_queries, options.max_seconds))
        )
        found = compare_targets(
            before.target,
            after.target,
            space,
            **keywords(options, "journal", "report", "markdown", "github"),
            observer=progress,
            **stack.enter_context(options.arguments(options.journal, timeout)),
        )
    place = options.markdown if options.report is None else options.report
    write_and_tell(lambda: _write(found, options), lambda: tell(as_json, found.to_dict(), found), place, as_json)
    _annotate(found, options)
    code = _code(found)
    if code == Code.INTERRUPTED:
        note(f"interrupted: {goes_on(options.journal)}")
    return code


def _write(found: Difference, options: DiffOptions) -> list[Path]:
    files = [path for path in (options.report, options.markdown) if path is not None]
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
    if options.report is not None:
        found.report(options.report)
    if options.markdown is not None:
        with options.markdown.open("a", encoding="utf-8") as file:
            file.write(found.markdown())
    return files


def _annotate(found: Difference, options: DiffOptions) -> None:
    if options.github:
        level = "notice" if found.holds else "error"
        note(f"::{level} title=fidelitree diff::{' '.join(found.sentences())}")


def _code(found: Difference) -> int:
    if found.holds:
        return Code.CERTIFIED
    if found.reason == "interrupted":
        return Code.INTERRUPTED
    return Code.CHANGED if found.changed[0] > found.epsilon else Code.NOT_CERTIFIED
