"""The command line as a whole: every file is a command, help is cheap and needs no extra."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated

import pytest
import typer

import fidelitree
from commandline import run
from fidelitree import cli
from fidelitree.cli.shared_options import spread

COMMANDS = ["distill", "frontier", "certify", "verify", "show", "export", "analyze"]
EXTRAS = ["joblib", "lightgbm", "matplotlib", "onnx", "onnxruntime", "oxidd", "pandas", "polars", "pyarrow", "sklearn"]


def test_commands_come_in_the_order_that_one_needs_them() -> None:
    names = [command.name for command in cli.app.registered_commands]
    assert names[: len(COMMANDS)] == COMMANDS
    assert "experiment" in names


@pytest.mark.parametrize("command", [*COMMANDS, "experiment"])
def test_every_command_has_help_and_json(command: str) -> None:
    done = run(command, "--help")
    assert done.code == 0
    assert f"fidelitree {command}" in " ".join(done.out.split()) or command in done.out
    assert "--json" in done.out


def test_the_version_is_printed() -> None:
    assert run("--version").out == f"fidelitree {fidelitree.__version__}\n"


def test_help_loads_nothing_that_only_a_run_needs() -> None:
    lines = [
        "import sys",
        "from typer.testing import CliRunner",
        "from fidelitree.cli import app",
        "names = [command.name for command in app.registered_commands]",
        "done = [CliRunner().invoke(app, [*name, '--help']).exit_code for name in ([], *([n] for n in names))]",
        f"print(set(done), [name for name in {['numpy', 'scipy', 'narwhals', *EXTRAS]} if name in sys.modules])",
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    assert done.stdout == "{0} []\n"


def test_a_file_may_hold_a_group_of_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    group = typer.Typer()

    @group.command()
    def first(options: Two) -> int:
        """Say three."""
        typer.echo(options.one + options.two)
        return 3

    @group.command()
    def second() -> int:
        """Do nothing."""
        raise OSError("no")

    module = ModuleType("fidelitree.cli.journal")
    module.__dict__["app"] = group
    monkeypatch.setattr(cli, "_modules", lambda: [("journal", module)])
    monkeypatch.setattr(cli, "app", cli._application())
    assert (run("journal", "first", "--two", 1).code, run("journal", "first").out) == (3, "3\n")
    assert run("journal", "second").err == "fidelitree: no\n"


@dataclass(frozen=True)
class Two:
    """Two options."""

    one: Annotated[int, typer.Option(help="One.")] = 1
    two: Annotated[int, typer.Option(help="Two.")] = 2


def test_a_dataclass_stands_for_its_fields() -> None:
    def command(path: Annotated[Path, typer.Argument()], both: Two, more: bool = False) -> str:
        """Text."""
        return f"{path} {both} {more}"

    flat = spread(command)
    assert flat(path=Path("p"), one=3, two=4, more=True) == "p Two(one=3, two=4) True"
    assert list(flat.__annotations__) == ["path", "one", "two", "more"]
    assert (flat.__name__, flat.__doc__) == ("command", "Text.")
