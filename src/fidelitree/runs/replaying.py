"""A run again from its journal alone: same tree, same certificate, and nobody is asked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from fidelitree.asking.journal.journal import Journal
from fidelitree.asking.journalled import Replayed
from fidelitree.errors import FormatError, ParameterError
from fidelitree.runs.distill import distill
from fidelitree.runs.result import Distillation
from fidelitree.spaces.product import ProductSpace
from fidelitree.spaces.rows import Rows

ARGUMENTS = (
    "epsilon",
    "delta",
    "strategy",
    "prefer",
    "deterministic",
    "max_queries",
    "max_leaves",
    "max_seconds",
)


def replay(
    path: str | os.PathLike[str], space: ProductSpace | Rows, limits: Mapping[str, Any] | None = None
) -> Distillation:
    """The result of the `distill` whose journal this is, from its answers; the journal is not changed.

    ``limits`` are those of an earlier run, where the journal was taken over by one with others.

    A run that ran out of time ends where it did. One that was interrupted while it waited for the target does too; one
    that was interrupted between two batches may go on for as long as it needs no answer. Where the journal's answers do
    not suffice, as in a run that was cut off, TargetError says so.
    """
    with Journal(path) as journal:
        run = journal.run
    if run.door != "distill":
        raise ParameterError(f"journal must be that of a distill; this one belongs to {run.door}")
    if unknown := sorted(set(run.arguments) ^ set(ARGUMENTS)):
        raise FormatError(f"journal {os.fspath(path)!r}: arguments are missing or unknown: {', '.join(unknown):.200}")
    return distill(Replayed(), space, seed=run.seed, journal=path, **{**run.arguments, **(limits or {})})
