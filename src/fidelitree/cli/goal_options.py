"""What is asked of a tree, and what may be spent on it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from fidelitree.errors import ParameterError

_PANEL = "Budget"


class StrategyName(StrEnum):
    """How a tree is looked for."""

    AUTO = "auto"
    INFLUENCE = "influence"
    SMALLEST = "smallest"


class PreferenceName(StrEnum):
    """What is saved."""

    QUERIES = "queries"
    LEAVES = "leaves"


def epsilon_of(text: str) -> float | None:
    """A tolerated error; ``none`` asks for the smallest one within a budget."""
    if text.lower() == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"--epsilon must be a number, or none; got {text!r}") from None


@dataclass(frozen=True)
class Confidence:
    """How sure a certificate is, and of what kind of target."""

    delta: Annotated[float, typer.Option(help="Probability that the certificate may be wrong.")] = 0.05
    noisy: Annotated[
        bool, typer.Option("--noisy", help="The target may answer the same input differently: ask every input anew.")
    ] = False


@dataclass(frozen=True)
class Promise:
    """The error that is asked for."""

    epsilon: Annotated[
        str, typer.Option(metavar="NUMBER|none", help="Tolerated error; none: the smallest within a budget.")
    ] = "0.05"


@dataclass(frozen=True)
class Budgets:
    """Limits that end a run early, with what it has."""

    max_queries: Annotated[int | None, typer.Option(help="End after so many labels.", rich_help_panel=_PANEL)] = None
    max_seconds: Annotated[float | None, typer.Option(help="End after so many seconds.", rich_help_panel=_PANEL)] = None


@dataclass(frozen=True)
class Search:
    """How the tree is found."""

    strategy: Annotated[
        StrategyName,
        typer.Option(
            help="auto: few queries, small tree; influence: the paper's tree with its promise; smallest: fewest leaves."
        ),
    ] = StrategyName.AUTO
    prefer: Annotated[
        PreferenceName,
        typer.Option(help="queries: ask little; leaves: a smaller tree, for ten times as many."),
    ] = PreferenceName.QUERIES
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same tree.")] = 0
    max_leaves: Annotated[int | None, typer.Option(help="No larger tree.", rich_help_panel=_PANEL)] = None
