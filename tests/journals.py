"""Runs for the tests of journals and workers: a space, targets that can be pickled, and what must be equal."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

import fidelitree as ft
from fidelitree.asking.journal.run import Run
from fidelitree.spaces.draw import Stream, draw

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

BITS = ft.ProductSpace.bernoulli(12)
MIXED = ft.ProductSpace(
    [
        ft.Boolean("owner", 0.3),
        ft.Categorical("job", {"clerk": 0.5, "nurse": 0.3, "pilot": 0.2}),
        ft.Numeric("age", 18, 90),
        ft.Numeric.from_values("children", [0, 0, 1, 2, 3]),
    ]
)
RUN = Run("distill", "model", "ab" * 32, [{"name": "x0", "kind": "boolean"}], 7, True, {"epsilon": 0.05})


def on_bits(batch: Any) -> Any:
    """Three features decide, two labels."""
    return (batch[:, 0] & batch[:, 1]) | batch[:, 5]


def on_mixed(batch: Any) -> Any:
    """Three labels, as text."""
    rich = (batch["age"] > 40) & (batch["job"] != "clerk")
    return np.where(rich, "gold", np.where(batch["children"] > 1, "family", "none"))


class Counting:
    """Counts the inputs that reach a target, and may break after some."""

    def __init__(self, target: Any, most: float = np.inf) -> None:
        self.target, self.most, self.rows, self.calls = target, most, 0, 0

    def __call__(self, batch: Any) -> Any:
        rows = len(next(iter(batch.values()))) if isinstance(batch, dict) else len(batch)
        if self.rows + rows > self.most:
            raise ConnectionError("the line is dead")
        self.rows += rows
        self.calls += 1
        return self.target(batch)


def drawn(space: ft.ProductSpace, rows: int) -> Any:
    """Inner values of some inputs."""
    return draw(space.whole, Stream.named(1, "rows of a table"), 0, rows).T


def alike(one: ft.Distillation, two: ft.Distillation) -> bool:
    """Same tree, certificate, queries and trace, bit for bit."""
    return (one.tree.digest, one.certificate, one.queries, one.reason) == (
        two.tree.digest,
        two.certificate,
        two.queries,
        two.reason,
    ) and str(one.trace) == str(two.trace)


def only_file(path: Path) -> list[str]:
    """Names of the files beside a journal, itself included."""
    return sorted(entry.name for entry in path.parent.iterdir())


def chain(file: sqlite3.Connection, key: str) -> None:
    """The keys that a forger works out for what is opened now, one after the other; the first one follows ``key``."""
    while row := file.execute(
        "SELECT ledger, number, tree, labels, tests FROM attempts WHERE before = ?", (key,)
    ).fetchone():
        ledger, number, tree, labels, tests = row
        old = file.execute("SELECT key FROM attempts WHERE ledger = ? AND number = ?", (ledger, number)).fetchone()[0]
        key = hashlib.sha256(f"{key}/{ledger}/{labels}/{tests}/{tree}".encode()).hexdigest()
        file.execute("UPDATE attempts SET key = ? WHERE ledger = ? AND number = ?", (key, ledger, number))
        file.execute("UPDATE attempts SET before = ? WHERE before = ?", (key, old))
