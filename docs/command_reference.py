"""Writes the second half of docs/cli.md from the commands themselves: python docs/command_reference.py"""

from __future__ import annotations

import inspect
import types
import typing
from pathlib import Path
from typing import Any

import typer

from fidelitree.cli import app

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGE = Path(__file__).with_name("cli.md")
MARK = "<!-- Everything below is written by docs/command_reference.py: edit the commands, not this page. -->"


def reference(application: typer.Typer, prefix: str = "fidelitree") -> Iterator[str]:
    """Every command with its arguments and options, line by line."""
    for command in application.registered_commands:
        assert command.callback is not None
        yield from _command(f"{prefix} {command.name or command.callback.__name__}", command.callback)
    for group in application.registered_groups:
        assert group.typer_instance is not None
        yield from reference(group.typer_instance, f"{prefix} {group.name}")


def _command(line: str, callback: Callable[..., Any]) -> Iterator[str]:
    found = list(inspect.signature(callback, eval_str=True).parameters.values())
    arguments = [parameter for parameter in found if isinstance(_info(parameter), typer.models.ArgumentInfo)]
    options = [parameter for parameter in found if isinstance(_info(parameter), typer.models.OptionInfo)]
    usage = " ".join([line, *(_metavar(argument) for argument in arguments), "[OPTIONS]"])
    yield from (f"## {line}", "", inspect.getdoc(callback) or "", "", f"    {usage}", "")
    yield from ("| argument | meaning |", "|---|---|", *(_row(_metavar(entry), entry) for entry in arguments), "")
    for panel in dict.fromkeys(_info(option).rich_help_panel for option in options):
        members = [option for option in options if _info(option).rich_help_panel == panel]
        yield from (f"| {(panel or 'option').lower()} | meaning |", "|---|---|")
        yield from (*(_row(_option(entry), entry) for entry in members), "")


def _info(parameter: inspect.Parameter) -> Any:
    return next(extra for extra in parameter.annotation.__metadata__ if hasattr(extra, "help"))


def _kind(parameter: inspect.Parameter) -> Any:
    """The type of one value: None and lists are left aside."""
    kind = parameter.annotation.__origin__
    while isinstance(kind, types.UnionType) or typing.get_origin(kind) is list:
        kind = typing.get_args(kind)[0]
    return kind


def _choices(parameter: inspect.Parameter) -> tuple[str, ...]:
    kind = _kind(parameter)
    return typing.get_args(kind) if typing.get_origin(kind) is typing.Literal else ()


def _metavar(parameter: inspect.Parameter) -> str:
    return _info(parameter).metavar or "|".join(_choices(parameter)) or _kind(parameter).__name__.upper()


def _option(parameter: inspect.Parameter) -> str:
    info = _info(parameter)
    named = [name for name in (info.default, *(info.param_decls or ())) if isinstance(name, str)]
    name = ", ".join(named) or f"--{parameter.name.replace('_', '-')}"
    return name if _kind(parameter) is bool else f"{name} {_metavar(parameter)}"


def _row(name: str, parameter: inspect.Parameter) -> str:
    text, default = _info(parameter).help, parameter.default
    if default not in (inspect.Parameter.empty, None) and default is not False:
        text += f" Default: {default}."
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in (f"`{name}`", text)) + " |"


def page(before: str) -> str:
    """The page with its second half written anew."""
    return "\n".join([f"{before.partition(MARK)[0]}{MARK}", "", *reference(app)])


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
