"""``fidelitree experiment``: the paper run again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from fidelitree.cli.ending import AsJson, Code, check_place, tell
from fidelitree.cli.shared_options import interruptible

ExperimentName = Literal[
    "size-vs-epsilon",
    "size-vs-dimension",
    "iteration",
    "bounds",
    "errata",
    "tight-exponent",
    "juntas",
    "selector-parity",
    "impurity",
    "hard-instances",
]

_ENDED = "interrupted: the experiment is not done, and the same command begins anew"


@dataclass(frozen=True)
class ExperimentOptions:
    """What a user may choose about an experiment."""

    out: Annotated[Path, typer.Option(help="Folder for the CSV, PNG and SVG files.")] = Path("results")
    repetitions: Annotated[int, typer.Option(min=1, help="Targets for each cell of a figure.")] = 6
    schedule: Annotated[Literal["corrected", "printed"], typer.Option(help="Sample sizes of Algorithm 2.")] = (
        "corrected"
    )
    seed: Annotated[
        int | None, typer.Option(min=0, help="Same seed, same targets and runs; a fresh one unless given.")
    ] = None
    jobs: Annotated[int, typer.Option(min=1, help="Processes to use.")] = 1


def experiment(
    name: Annotated[ExperimentName, typer.Argument(help="Which experiment to run.")],
    chosen: ExperimentOptions,
    as_json: AsJson = False,
) -> int:
    """Re-run the paper: its figures, its bounds, what holds in it and what does not.

    Ctrl-C ends it with 7: it begins anew.
    """
    from rich.console import Console
    from rich.progress import Progress

    from fidelitree.experiments.catalogue import Settings, run
    from fidelitree.spaces.draw import seed_of

    check_place("--out", chosen.out, folder=True)
    settings = Settings(chosen.out, chosen.repetitions, chosen.schedule, seed_of(chosen.seed), chosen.jobs)
    with interruptible() as came, Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(name, total=None)

        def advance(done: int, total: int) -> None:
            if came:  # a run that was cut off is no row: it may have kept quiet about the signal
                raise KeyboardInterrupt(_ENDED)
            progress.update(task, completed=done, total=total)

        report = run(name, settings, advance)
        if came:
            raise KeyboardInterrupt(_ENDED)
    files = [str(path) for path in report.files]
    drawn = [] if report.seed is None else [f"seed {report.seed}"]
    told = {"summary": report.summary, "seed": report.seed, "files": files}
    tell(as_json, told, *report.summary, *drawn, *(f"wrote {path}" for path in files))
    return Code.CERTIFIED
