"""``fidelitree distill``: from a target to a small tree with a certificate."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fidelitree.cli.ending import Code, StatusLine, in_options, note
from fidelitree.cli.result_folder import ResultOptions
from fidelitree.cli.shared_options import (
    Budgets,
    Confidence,
    MoneyLimit,
    NumberOptions,
    Promise,
    SearchOptions,
    goes_on,
    keywords,
)
from fidelitree.cli.space_options import SpaceOptions, fit_line
from fidelitree.cli.target_options import OpenedTarget, TargetOptions, TargetText, command_line

if TYPE_CHECKING:
    from fidelitree.runs.result import Distillation

_MOST_LINES = 100  # of a tree; more than that hides what comes after


@dataclass(frozen=True)
class DistillOptions(MoneyLimit, Budgets, SearchOptions, NumberOptions, Confidence, Promise):
    """Everything that `ft.distill` can be told."""

    defer: Annotated[
        bool, typer.Option("--defer", help="Leaves may say: ask the target. Epsilon is the error where it answers.")
    ] = False


def distill(
    target: TargetText,
    reading: TargetOptions,
    inputs: SpaceOptions,
    options: DistillOptions,
    result: ResultOptions,
) -> int:
    """Distil a target into a small tree with a certificate.

    Ctrl-C ends the run with the best tree so far and what is certified about it. Every answer is kept in a journal: the
    same command goes on from there, and pays for nothing twice; an interrupted run without the goal ends with 7. Ends
    with 6 if the error is certified over draws and rows of the table that were kept aside refute it.
    """

    def begin(found: OpenedTarget, more: dict[str, Any]) -> Distillation:
        return _run(target, found, inputs, {**keywords(options), **more})

    made = result.make(target, reading, begin, _sentences, _plain)
    curve = made.frontier if made.certificate.epsilon is None else None
    interrupted, met = "interrupted" in made.reason, made.certificate.holds and (curve is None or curve.informative)
    if met and made.refuted_by_rows:
        return Code.REFUTED_BY_ROWS
    if met and not (interrupted and curve is not None):
        return Code.CERTIFIED
    note(f"{made.certificate.standing.words}: {_way_out(made)}")
    return Code.INTERRUPTED if interrupted else Code.NOT_CERTIFIED


def _run(target: str, found: OpenedTarget, inputs: SpaceOptions, arguments: dict[str, Any]) -> Distillation:
    from fidelitree.runs.distill import distill as distill_target

    space, limits = inputs.open(found), (arguments["max_queries"], arguments["max_seconds"])
    with StatusLine(f"distilling {target}", arguments["epsilon"], limits, arguments.pop("observer")) as progress:
        made = distill_target(found.target, space, **arguments, observer=progress)
    command = command_line()
    curve = made.curve_with(lambda curve: curve.commanded(command))
    return replace(made, run={**made.run, "command": command}, call=command, curve=curve)


def _sentences(made: Distillation) -> list[str]:
    """The tree, what is promised about it, what it cost."""
    lines = str(made.tree).splitlines()
    if len(lines) > _MOST_LINES:
        lines = [
            *lines[:_MOST_LINES],
            f"... and {len(lines) - _MOST_LINES:,} more lines: fidelitree show prints them all",
        ]
    return [
        *lines,
        "",
        str(made.certificate),
        *made.certificate.sentences(made.tree.size),
        *fit_line(made.space),
        *_curve(made),
        made.cost_line(),
        *([] if made.reason == "certified" else [f"ended early: {made.reason}"]),
        *([in_options(made.hint)] if made.hint else []),
    ]


def _curve(made: Distillation) -> list[str]:
    """What each size reaches, where no error was asked for, or none that could be reached."""
    told = made.certificate
    wanted = told.epsilon is None or not told.holds or told.coverage is not None
    return ["", str(made.frontier), ""] if wanted and made.frontier is not None else []


def _way_out(made: Distillation) -> str:
    """What to do next when the error asked for was not certified."""
    bound = made.certificate.error_bound
    again = "the same command goes on from there"
    if "interrupted" in made.reason:
        cure = f"let it run on ({goes_on(made.journal)}), or set --max-seconds to have it end by itself"
    elif "max_" in made.reason:
        limit = made.reason.partition(" = ")[0].rpartition(" ")[2].replace("_", "-")
        cure = f"raise --{limit} ({again})"
    else:
        cure = "take it as a finding that no small tree agrees so often"
    enough = f", or be content with --epsilon {math.ceil(bound * 100) / 100:g}" if bound < 1 else ""
    return f"{cure}{enough}"


def _plain(made: Distillation) -> dict[str, Any]:
    return {
        "certified": made.certificate.holds,
        "refuted_by_rows": made.refuted_by_rows,
        **({} if made.certificate.coverage is None else {"coverage": made.certificate.coverage}),
        "standing": made.certificate.standing.state,
        "reason": made.reason,
        "size": made.tree.size,
        "depth": made.tree.depth,
        "sentence": str(made.certificate),
        "certificate": made.certificate.to_dict(),
        "queries": made.queries.to_dict(),
        "seed": made.certificate.seed,
        "tree": made.tree.to_dict(),
    }
