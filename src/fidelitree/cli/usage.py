"""How to use the program: examples at the top of every help, and wrong command lines answered in one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

EXAMPLES: dict[str, tuple[str, ...]] = {
    "distill": (
        "distill model.onnx --data table.csv",
        "distill house:alarm --bernoulli 0.3 --features 20 --epsilon 0.1",
    ),
    "frontier": ("frontier model.joblib --trust-pickle --data table.csv",),
    "certify": ("certify tree.json model.onnx --data table.csv", "certify rules:predict model.onnx --space space.toml"),
    "verify": ("verify results/model", "verify results/model --target model.onnx"),
    "show": ("show results/model", "show results/model --pick leaves=8"),
    "export": ("export results/model --to sql", "export results/model --to c --out tree.c"),
    "analyze": ("analyze house:alarm --bernoulli 0.3 --features 20",),
    "compare": ("compare house:alarm --bernoulli 0.5 --features 12 --learner distill --learner cart",),
    "diff": ("diff old.onnx new.onnx --data table.csv",),
    "experiment": ("experiment errata --out results",),
    "report": ("report results/model --title 'Audit of March' --out page.html",),
    "space": ("space table.csv --out space.toml",),
    "verifier": ("verifier > verify.py", "verifier --sha256"),
    "view": ("view results",),
    "watch": ("watch results/model rows.csv --label answer",),
}
"""A first command line or two for each command, without the program's name."""
BEGIN = (*EXAMPLES["frontier"], EXAMPLES["show"][1], EXAMPLES["export"][0])


def with_examples(name: str, doc: str | None) -> str | None:
    """What a command does, examples, and the rest of its description."""
    if doc is None or name not in EXAMPLES:
        return doc
    first, *rest = doc.split("\n\n")  # the terminal wraps lines, where it has room
    return "\n\n".join([" ".join(first.split()), shown(EXAMPLES[name]), *(" ".join(part.split()) for part in rest)])


def shown(lines: tuple[str, ...]) -> str:
    """Command lines as one types them."""
    return "\n".join(f"  $ fidelitree {line}" for line in lines)


@contextmanager
def _in_one_line() -> Iterator[None]:
    """What the parser refuses, without a frame around it; help that stands for an error stays as it is."""
    try:
        yield
    except Exception as error:
        if not hasattr(error, "format_message") or type(error).__name__ == "NoArgsIsHelpError":
            raise
        context = getattr(error, "ctx", None)
        command = f" {context.info_name}" if context is not None and context.parent is not None else ""
        said = " ".join(str(error.format_message()).split()).removesuffix(".")
        said += " - a table is given with --data" * bool(re.search(r"extra argument.*\.(csv|tsv|parquet|pq)\b", said))
        typer.echo(f"fidelitree: {said} - see fidelitree{command} --help", err=True)
        raise typer.Exit(getattr(error, "exit_code", 2)) from None


def _bare(params: list[Any]) -> list[Any]:
    """A switch takes no value, so its help names no type of one."""
    for one in params:
        if getattr(one, "is_flag", False) and one.metavar is None:
            one.metavar = " "
    return params


class Verb(TyperCommand):
    """One command."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its arguments and options, as the help shows them."""
        return _bare(super().get_params(ctx))


class Program(TyperGroup):
    """All commands; a command line that cannot be read ends in one line."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options of the program itself."""
        return _bare(super().get_params(ctx))

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Options of the program itself are read here."""
        with _in_one_line():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Those of a command are read here."""
        with _in_one_line():
            return super().invoke(ctx)
