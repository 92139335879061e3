"""``fidelitree verify``: check a stored result, offline or against the target."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fidelitree.cli.ending import AsJson, Code, Folder, StatusLine, note, tell
from fidelitree.cli.shared_options import Threshold, interruptible
from fidelitree.cli.space_options import SpaceOptions
from fidelitree.cli.target_options import OpenedTarget, TargetOptions, opened

if TYPE_CHECKING:
    from fidelitree.runs.agree.verify import Verification
    from fidelitree.spaces.world import World


_CODES = {
    "confirmed": Code.CERTIFIED,
    "missed": Code.NOT_CERTIFIED,
    "refuted": Code.NOT_CERTIFIED,
    "undecided": Code.UNDECIDED,
    "contradicted": Code.BAD_INPUT,
}


_CUT_OFF = "interrupted before the check had come to an end"


@dataclass(frozen=True)
class VerifyOptions:
    """What `ft.verify` can be told."""

    target: Annotated[
        str | None,
        typer.Option(metavar="TARGET", help="Ask this target, on fresh inputs; without it, nobody is asked."),
    ] = None
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the test inputs; the machine's own entropy unless given.")
    ] = None
    threshold: Threshold = None
    max_queries: Annotated[int | None, typer.Option(help="End after so many labels.")] = None
    answers: Annotated[
        bool, typer.Option("--answers", help="Count the stored answers, and do not run the learner again.")
    ] = False


def verify(
    folder: Folder, reading: TargetOptions, inputs: SpaceOptions, options: VerifyOptions, as_json: AsJson = False
) -> int:
    """Check a result by its stored answers, or ask the target again.

    Ends with 0 if the certificate is confirmed and holds, with 2 if the folder contradicts itself, with 3 if the target
    contradicts it or the error asked for was not reached, with 5 if nothing confirms it. Results about rows of a table
    need new rows: --data NEW.csv --rows. Ctrl-C ends it with 7, unless the target has confirmed or contradicted it.
    """
    from fidelitree.runs.agree.verify import verify as verify_folder

    with ExitStack() as stack:
        came, found = stack.enter_context(interruptible()), None
        if options.target is not None:
            found = stack.enter_context(opened(options.target, reading))
            if options.max_queries is None:
                _announce(folder, inputs)
        space = _space(folder, found or OpenedTarget(_nobody), inputs)
        progress = stack.enter_context(StatusLine(f"verifying {folder}", None, (options.max_queries, None)))
        report = verify_folder(
            folder,
            None if found is None else found.target,
            space=space,
            seed=options.seed,
            answers=options.answers,
            threshold=options.threshold,
            max_queries=options.max_queries,
            observer=progress,
        )
    if came and report.fresh is None:  # a replay that was cut off may look like a contradiction
        raise KeyboardInterrupt(_CUT_OFF)
    tell(as_json, _plain(report), report)
    if came and not (report.fresh is not None and report.fresh.holds) and not report.contradicted:
        note("interrupted: the target was not asked as often as its test needs")
        return Code.INTERRUPTED
    return _CODES[report.verdict]


def _space(folder: Path, found: OpenedTarget, inputs: SpaceOptions) -> World | None:
    """The space that the options name, with the features of the stored tree where the target does not know any."""
    from fidelitree.certificates.store import load

    if not inputs.given:
        return None
    if found.names is None:
        names = load(folder).tree.names
        found = replace(found, names=names, count=len(names))
    return inputs.open(found)


def _announce(folder: Path, inputs: SpaceOptions) -> None:
    """What a fresh test may cost, before it costs anything; rows of a table need new ones before anybody is asked."""
    from fidelitree.certificates.store import load
    from fidelitree.runs.agree.verify import most_asked

    kept = load(folder)
    rows = kept.space is not None and kept.space.table is not None
    if kept.certificate.error_bound < 1 and (inputs.given or not rows):
        most = most_asked(kept.certificate)
        times = "about every input" if most is None else f"at most {most:,} times"
        note(f"the target is asked {times}; --max-queries sets another limit")


def _nobody(batch: object) -> object:
    raise AssertionError("without a target nobody is asked")


def _plain(report: Verification) -> dict[str, Any]:
    return {
        "consistent": report.consistent,
        "undecided": report.undecided,
        "certified": report.holds,
        "checks": [{"passed": check.passed, "sentence": check.sentence} for check in report.checks],
        "verdict": report.verdict,
        "remarks": list(report.remarks),
        "unchecked": list(report.unchecked),
        "certificate": report.certificate.to_dict(),
        "fresh": None if report.fresh is None else report.fresh.to_dict(),
    }
