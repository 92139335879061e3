"""``fidelitree distill``: from a target to a small tree with a certificate."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fidelitree.cli.ending import AsJson, Code, check_place, note, say, say_json
from fidelitree.cli.shared_options import (
    Budgets,
    Confidence,
    Numbers,
    Promise,
    RunningOptions,
    Search,
    epsilon_of,
    interruptible,
)
from fidelitree.cli.space_options import SpaceOptions, fit_line
from fidelitree.cli.status_line import StatusLine
from fidelitree.cli.target_options import OpenedTarget, TargetOptions, TargetText, command_line, opened, plain_name
from fidelitree.display.wording import leaves

if TYPE_CHECKING:
    from fidelitree.runs.result import Distillation

_MOST_LINES = 100  # of a tree; more than that hides what comes after


@dataclass(frozen=True)
class ResultOptions:
    """Where the result goes."""

    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the result (default: results/NAME of the target).")
    ] = None
    as_json: AsJson = False


@dataclass(frozen=True)
class DistillOptions(Budgets, Search, Numbers, Confidence, Promise):
    """Everything that `ft.distill` can be told."""

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of `ft.distill`."""
        return {
            "epsilon": epsilon_of(self.epsilon),
            "delta": self.delta,
            "seed": self.seed,
            "strategy": self.strategy.value,
            "prefer": self.prefer.value,
            "tolerance": self.tolerance,
            "threshold": self.threshold,
            "deterministic": not self.noisy,
            "max_queries": self.max_queries,
            "max_leaves": self.max_leaves,
            "max_seconds": self.max_seconds,
        }


def distill(
    target: TargetText,
    reading: TargetOptions,
    inputs: SpaceOptions,
    options: DistillOptions,
    running: RunningOptions,
    result: ResultOptions,
) -> int:
    """Distil a target into a small tree with a certificate.

    Ctrl-C ends the run with the best tree so far and what is certified about it. Every answer is kept in a journal: the
    same command goes on from there, and pays for nothing twice.
    """
    folder = result.out or Path("results") / plain_name(target)
    check_place("--out", folder, folder=True)
    reading, timeout = reading.for_workers(target)
    with (
        opened(target, reading) as found,
        running.arguments(running.journal_in(folder, found.target), timeout) as more,
        interruptible(),
    ):
        folder.mkdir(parents=True, exist_ok=True)  # now, not after hours
        arguments = {**options.arguments(), **more}
        made = running.run(lambda: _run(target, found, inputs, arguments), more["journal"])
    if not result.as_json:
        say(*_sentences(made))
    running.clear(folder, more["journal"])
    files = made.save(folder)
    if result.as_json:
        say_json(_plain(made, files))
    else:
        say(f"wrote {folder}: {', '.join(path.name for path in files)}", f"report: {files[-1]}")
    if made.certificate.holds:
        return Code.CERTIFIED
    note(f"{made.certificate.standing.words}: {_way_out(made)}")
    return Code.NOT_CERTIFIED


def _run(target: str, found: OpenedTarget, inputs: SpaceOptions, arguments: dict[str, Any]) -> Distillation:
    from fidelitree.runs.distill import distill as distill_target

    space, limits = inputs.open(found), (arguments["max_queries"], arguments["max_seconds"])
    with StatusLine(f"distilling {target}", arguments["epsilon"], limits) as progress:
        made = distill_target(found.target, space, **arguments, observer=progress)
    command = command_line()
    curve = None if made.frontier is None else made.frontier.commanded(command)
    return replace(made, run={**made.run, "command": command}, call=command, frontier=curve)


def _sentences(made: Distillation) -> list[str]:
    """The tree, what is promised about it, what it cost."""
    lines = str(made.tree).splitlines()
    if len(lines) > _MOST_LINES:
        lines = [
            *lines[:_MOST_LINES],
            f"... and {len(lines) - _MOST_LINES:,} more lines: fidelitree show prints them all",
        ]
    shape = f"{leaves(made.tree.size)}, depth {made.tree.depth}; {made.queries}"
    return [
        *lines,
        "",
        str(made.certificate),
        *made.certificate.sentences(made.tree.size),
        *fit_line(made.space),
        *_curve(made),
        shape,
        *([] if made.reason == "certified" else [f"ended early: {made.reason}"]),
    ]


def _curve(made: Distillation) -> list[str]:
    """What each size reaches, where no error was asked for, or none that could be reached."""
    wanted = made.certificate.epsilon is None or not made.certificate.holds
    return ["", str(made.frontier), ""] if wanted and made.frontier is not None else []


def _way_out(made: Distillation) -> str:
    """What to do next when the error asked for was not certified."""
    bound = made.certificate.error_bound
    again = "the same command goes on from there"
    if "interrupted" in made.reason:
        cure = f"let it run on ({again}), or set --max-seconds to have it end by itself"
    elif "max_" in made.reason:
        limit = made.reason.partition(" = ")[0].rpartition(" ")[2].replace("_", "-")
        cure = f"raise --{limit} ({again})"
    else:
        cure = "take it as a finding that no small tree agrees so often"
    enough = f", or be content with --epsilon {math.ceil(bound * 100) / 100:g}" if bound < 1 else ""
    return f"{cure}{enough}"


def _plain(made: Distillation, files: list[Path]) -> dict[str, Any]:
    return {
        "certified": made.certificate.holds,
        "standing": made.certificate.standing.state,
        "reason": made.reason,
        "size": made.tree.size,
        "depth": made.tree.depth,
        "sentence": str(made.certificate),
        "certificate": made.certificate.to_dict(),
        "queries": {"asked": dict(made.queries.asked), "paid": dict(made.queries.paid)},
        "tree": made.tree.to_dict(),
        "files": [str(path) for path in files],
    }
