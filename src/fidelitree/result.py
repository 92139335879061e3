"""What a run returns: the tree, what is promised about it, what it cost, and how it came about."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fidelitree import store
from fidelitree.bare import Leaf
from fidelitree.certificate import Certificate
from fidelitree.events import Observer, SplitMade, TreeJudged
from fidelitree.features import Test
from fidelitree.region import Region
from fidelitree.rows import Rows
from fidelitree.space import ProductSpace
from fidelitree.targets.counting import Counted, Queries
from fidelitree.tree import Tree


@dataclass(frozen=True)
class SplitRecord:
    """One split: the leaf and the test with their score, then what the tree was like after it.

    ``error`` is the error of the tree after the split, exact or estimated; ``cost`` is the paper's potential, the
    sum of all leaves' scores over all features (NaN where the run ended before it was known); ``asked`` counts the
    labels used until then.
    """

    leaf: Region
    test: Test
    score: float
    size: int
    cost: float
    error: float
    asked: int

    @property
    def feature(self) -> int:
        """Position of the feature that was split."""
        return self.test.feature


class Trace:
    """Keeps one record per split, and tells the observer."""

    def __init__(self, counted: Counted, observer: Observer) -> None:
        self.records: list[SplitRecord] = []
        self._counted, self._observer = counted, observer
        self._pending: tuple[Leaf, Test, float] | None = None

    def split(self, leaf: Leaf, test: Test, score: float) -> None:
        """A split begins: what it leads to is not known yet."""
        self._pending = leaf, test, score

    def judged(self, size: int, cost: float, error: float, error_bound: float) -> None:
        """The tree after the split was judged."""
        asked = self._counted.asked
        if self._pending is not None:
            leaf, test, score = self._pending
            self.records.append(SplitRecord(leaf.region, test, score, size, cost, error, asked))
            self._pending = None
            feature = self._counted.space.features[test.feature]
            shown = test.text(feature.name, True, feature.values)
            self._observer(SplitMade(asked, size, str(leaf.region), shown, score))
        self._observer(TreeJudged(asked, size, error, error_bound))

    def close(self, size: int, error: float, error_bound: float) -> None:
        """The run is over: record a split whose tree was judged before its cost was known."""
        if size == len(self.records) + 2:
            self.judged(size, math.nan, error, error_bound)


@dataclass(frozen=True)
class Distillation:
    """The result of growing a tree for a target."""

    tree: Tree
    certificate: Certificate
    queries: Queries
    trace: tuple[SplitRecord | TreeJudged, ...]
    """One record for each split; for ``distill(strategy="auto")``, one for each tree that was compared with answers."""
    space: ProductSpace | Rows
    reason: str
    """Why the run ended."""
    run: Mapping[str, Any] = field(default_factory=dict)
    """How it was asked for: the arguments of the door it came through."""

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write tree, certificate, space, trace and run into a folder, which ``ft.verify`` can check.

        The space is stored with all observed values, so that it can be checked without the table: give the folder to
        nobody who must not see them.
        """
        run = {**self.run, "reason": self.reason, "asked": dict(self.queries.asked), "paid": dict(self.queries.paid)}
        record = store.Record(self.space, [_row(entry, self.tree) for entry in self.trace], run)
        return store.save(Path(folder), self.tree, self.certificate, record)

    def __str__(self) -> str:
        return f"{self.tree}\n\n{self.certificate}\n{self.tree.size} leaves, depth {self.tree.depth}; {self.queries}"


def _row(entry: SplitRecord | TreeJudged, tree: Tree) -> dict[str, Any]:
    """A record of the trace as text and numbers."""
    if isinstance(entry, TreeJudged):
        return asdict(entry)
    values = tree.values[entry.feature] if tree.values else None
    shown = {"leaf": str(entry.leaf), "test": entry.test.text(tree.names[entry.feature], True, values)}
    numbers = ("score", "size", "cost", "error", "asked")
    return {**shown, **{name: getattr(entry, name) for name in numbers}}
