"""The command line: each command parses, makes one library call, and prints."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fidelitree.errors import FidelitreeError

app = typer.Typer(
    help="Turn any function you can call into a small decision tree with a certificate.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


class ExperimentName(StrEnum):
    """The experiments that ship."""

    SIZE_VS_EPSILON = "size-vs-epsilon"
    SIZE_VS_DIMENSION = "size-vs-dimension"
    BOUNDS = "bounds"
    ERRATA = "errata"


class ScheduleName(StrEnum):
    """The two readings of Algorithm 2."""

    CORRECTED = "corrected"
    PRINTED = "printed"


@app.callback()
def _version_first() -> None:
    """Keep `experiment` a sub-command while it is the only one."""


@app.command()
def experiment(
    name: Annotated[ExperimentName, typer.Argument(help="Which experiment to run.")],
    out: Annotated[Path, typer.Option(help="Folder for the CSV, PNG and SVG files.")] = Path("results"),
    repetitions: Annotated[int, typer.Option(min=1, help="Targets for each cell of a figure.")] = 6,
    schedule: Annotated[ScheduleName, typer.Option(help="Sample sizes of Algorithm 2.")] = ScheduleName.CORRECTED,
    seed: Annotated[int, typer.Option(min=0, help="Seed of targets and runs.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Processes to use.")] = 1,
) -> None:
    """Re-run the paper: its figures, its bounds, and what is wrong in it."""
    from rich.console import Console  # noqa: PLC0415 - `--help` must not wait for it
    from rich.progress import Progress  # noqa: PLC0415

    from fidelitree.experiments import Settings, run  # noqa: PLC0415

    console = Console()
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task(name.value, total=None)

        def advance(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        report = run(name.value, Settings(out, repetitions, schedule.value, seed, jobs), advance)
    for line in report.summary:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    for path in report.files:
        console.print(f"wrote {path}", markup=False, highlight=False, soft_wrap=True)


def main() -> None:
    """Run the command line; our own errors are one line, not a traceback."""
    try:
        app()
    except FidelitreeError as error:
        typer.echo(f"fidelitree: {error}", err=True)
        sys.exit(2)
    except OSError as error:
        typer.echo(f"fidelitree: {error.strerror or error}: {error.filename or ''}", err=True)
        sys.exit(2)
