"""Options that several commands share, written once.

A parameter of a command whose type is a dataclass stands for one option for each of its fields:

    @dataclass(frozen=True)
    class Limits:
        max_leaves: Annotated[int | None, typer.Option(help="...")] = None

    def distill(target: Text, limits: Limits) -> int: ...
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import update_wrapper
from inspect import Parameter, Signature
from typing import Any


def spread(command: Callable[..., Any]) -> Callable[..., Any]:
    """A function for typer, with one parameter for each option; it calls the command with its dataclasses."""
    hints = typing.get_type_hints(command, include_extras=True)
    parameters = inspect.signature(command).parameters
    groups = {name: hints[name] for name in parameters if is_dataclass(hints[name])}
    flat: list[Parameter] = []
    for name, parameter in parameters.items():
        if name in groups:
            flat += _options(groups[name])
        else:
            flat.append(parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY))

    def call(**given: Any) -> Any:
        made = {
            name: kind(**{entry.name: given.pop(entry.name) for entry in fields(kind)}) for name, kind in groups.items()
        }
        return command(**made, **given)

    update_wrapper(call, command)
    del call.__wrapped__  # type: ignore[attr-defined]  # or typer would read the signature behind this one
    call.__signature__ = Signature(flat)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return call


def _options(group: type[Any]) -> list[Parameter]:
    hints = typing.get_type_hints(group, include_extras=True)
    return [
        Parameter(entry.name, Parameter.KEYWORD_ONLY, annotation=hints[entry.name], default=_default(entry))
        for entry in fields(group)
    ]


def _default(entry: Field[Any]) -> Any:
    return Parameter.empty if entry.default is MISSING else entry.default
