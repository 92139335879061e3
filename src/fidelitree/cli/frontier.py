"""``fidelitree frontier``: from a target to trees of many sizes, each with a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fidelitree.cli.ending import Code, StatusLine, in_options, note, say
from fidelitree.cli.result_folder import ResultOptions
from fidelitree.cli.shared_options import Budgets, Confidence, MoneyLimit, NumberOptions, goes_on, keywords
from fidelitree.cli.space_options import SpaceOptions, fit_line
from fidelitree.cli.target_options import OpenedTarget, TargetOptions, TargetText, command_line
from fidelitree.display.wording import leaves

if TYPE_CHECKING:
    from fidelitree.runs.frontier_result import Frontier

_SHOWN = 16  # leaves of a tree that fits a screen


@dataclass(frozen=True)
class FrontierOptions(MoneyLimit, Budgets, NumberOptions, Confidence):
    """Everything that `ft.frontier` can be told."""

    prefer: Annotated[
        Literal["queries", "leaves"],
        typer.Option(help="queries: ask little; leaves: may learn from more labels."),
    ] = "queries"
    seed: Annotated[int | None, typer.Option(min=0, help="Same seed, same trees; a fresh one unless given.")] = None
    max_leaves: Annotated[int, typer.Option(help="Leaves of the largest tree.", rich_help_panel="Budget")] = 64


def frontier(
    target: TargetText,
    reading: TargetOptions,
    inputs: SpaceOptions,
    options: FrontierOptions,
    result: ResultOptions,
) -> int:
    """Distil a target into trees of 1, 2, 3, 5, 8 ... leaves, each with a certificate.

    There is no error to name beforehand: look at the curve, and pick a size with --pick of show, export and report. It
    ends with 0 if the tree at the knee is certified to agree more often than a guess, also where a budget ended the
    run, and with 3 if it is not. Every answer is kept in a journal: after Ctrl-C or a request to end it ends with 7,
    and the same command goes on from there and pays for nothing twice. Ends with 6 if rows of the table that were kept
    aside refute what is certified over draws.
    """

    def begin(found: OpenedTarget, more: dict[str, Any]) -> Frontier:
        return _run(target, found, inputs, {**keywords(options), **more})

    made = result.make(target, reading, begin, _sentences, _plain)
    others = [point.leaves for point in made if point.leaves != made.knee.leaves]
    if others and not result.as_json:
        say(f"another size: fidelitree show {result.folder(target)} --pick leaves={others[-1]}")
    if made.informative and made.refuted_by_rows:
        return Code.REFUTED_BY_ROWS
    if "interrupted" in made.reason:
        note(f"interrupted: {goes_on(made.knee.journal)}")
        return Code.INTERRUPTED
    if made.informative:
        return Code.CERTIFIED
    note(in_options(made.shortfall))
    return Code.NOT_CERTIFIED


def _run(target: str, found: OpenedTarget, inputs: SpaceOptions, arguments: dict[str, Any]) -> Frontier:
    from fidelitree.runs.frontier import frontier as frontier_of_target

    space, limits = inputs.open(found), (arguments["max_queries"], arguments["max_seconds"])
    with StatusLine(f"frontier of {target}", None, limits, arguments.pop("observer")) as progress:
        made = frontier_of_target(found.target, space, **arguments, observer=progress)
    return made.commanded(command_line())


def _sentences(made: Frontier) -> list[str]:
    """The verdict, the curve, the tree that is taken, what it cost."""
    real, ends = made.knee.certificate.real_rows, made.knee.certificate.interval
    told = [] if real is None else real.sentences(ends, made.knee.certificate.agreement)
    rows = [f"Of {leaves(made.knee.leaves)}: {line}" for line in told]
    cost = [f"{made.queries}; seed {made.knee.certificate.seed}", f"ended: {made.reason}"]
    tree = ["", *str(made.knee.tree).splitlines(), ""] if made.knee.leaves <= _SHOWN else []
    head = [made.verdict(), "", *str(made).splitlines(), *tree]
    return [*head, *rows, *fit_line(made.knee.space), *made.foreseen(), *cost]


def _plain(made: Frontier) -> dict[str, Any]:
    knee = made.knee
    return {
        "certified": made.informative,
        "reason": made.reason,
        "refuted_by_rows": made.refuted_by_rows,
        "never": made.lost_labels(),
        "sentence": made.verdict(),
        "knee": knee.leaves if made.has_knee else None,
        "picked": knee.leaves,
        "points": made.rows(),
        "forecast": None if made.forecast is None else made.forecast.to_dict(),
        "queries": made.queries.to_dict(),
        "seed": knee.certificate.seed,
    }
