"""The command line: each command parses, makes one library call, and prints. Nothing else in the library prints.

A file of this package that holds a function of its own name is a command, and one that holds a Typer application called
``app`` is a group of commands. So a new command is one new file. A command returns its exit code (`ending.Code`), may
raise any error of fidelitree's own, and takes shared options as dataclasses (`shared_options`).
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Annotated

import typer

import fidelitree
from fidelitree.cli.ending import guarded, show_tracebacks
from fidelitree.cli.shared_options import spread
from fidelitree.cli.usage import BEGIN, Program, Verb, shown, with_examples

# As one meets them; the others follow by name.
_FIRST = ("distill", "frontier", "certify", "verify", "show", "export", "analyze")


def _modules() -> Iterator[tuple[str, ModuleType]]:
    names = [module.name for module in iter_modules(__path__)]
    for name in [*(name for name in _FIRST if name in names), *(name for name in names if name not in _FIRST)]:
        yield name, import_module(f"{__name__}.{name}")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fidelitree {fidelitree.__version__}")
        raise typer.Exit


def _version(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Print the version and exit.")
    ] = False,
    traceback: Annotated[
        bool, typer.Option("--traceback", callback=show_tracebacks, help="Show where a target failed, frame by frame.")
    ] = False,
) -> None:
    """Options of the program itself."""


def _application() -> typer.Typer:
    made = typer.Typer(
        help=f"Turn any function you can call into a small decision tree with a certificate.\n\n{shown(BEGIN)}",
        epilog="Ends with 0: goal met; 3: goal missed, or nothing certified; 7: interrupted; "
        "2: bad input; 1: the target failed.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        cls=Program,
    )
    made.callback()(_version)
    for name, module in _modules():
        if isinstance(group := getattr(module, "app", None), typer.Typer):
            for member in group.registered_commands:
                assert member.callback is not None, "a registered command has a function"
                member.callback, member.cls = spread(guarded(member.callback)), Verb
            made.add_typer(group, name=name)
        elif callable(command := getattr(module, name, None)):
            told = with_examples(name, inspect.getdoc(command))
            made.command(name, cls=Verb, help=told)(spread(guarded(command)))
    return made


app = _application()


def main() -> None:
    """Run the command line; the program itself begins in `fidelitree.__main__`."""
    app()
