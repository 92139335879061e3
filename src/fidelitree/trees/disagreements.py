"""Inputs on which target and tree differ, one by one: what a reader wants to see after the bound."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from fidelitree.display.wording import shown, table, tag
from fidelitree.trees.answers import apart

if TYPE_CHECKING:
    from fidelitree.spaces.features import Feature
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.trees.answers import Answers
    from fidelitree.trees.tree import Tree

EXAMPLES = 10
"""Of them, that are printed."""
ON_PAGES = 100
"""Of them, that a page holds."""
FEATURES = 8
"""Columns of a table of them on a page, besides the answers."""


@dataclass(frozen=True)
class Differing:
    """One input, by the names of its features, with both answers; ``leaf`` is the node that it reaches."""

    input: dict[str, Any]
    tree: Any
    target: Any
    leaf: int


@dataclass(frozen=True)
class Disagreements(Sequence[Differing]):
    """Fresh inputs on which target and tree differ, in the order in which they were drawn.

    Of ``tests`` inputs ``wrong`` are such; they are all here unless fewer were wanted. ``asked`` are the features that
    the tree asks about: those that its text shows.
    """

    found: tuple[Differing, ...]
    tests: int
    wrong: int
    asked: tuple[str, ...]
    counted: tuple[int, int] | None = None
    """Errors and tests that the certificate counts, where these are others."""

    @classmethod
    def of(
        cls, tree: Tree, answers: Answers, space: ProductSpace, tolerance: float | None = None, most: int | None = None
    ) -> Disagreements:
        """Those among the answers that tested a tree; with a ``tolerance``, numbers further apart than that.

        >>> from fidelitree.spaces.product import ProductSpace
        >>> from fidelitree.trees.answers import Answers
        >>> from fidelitree.trees.tree import Tree
        >>> space = ProductSpace.bernoulli(2)
        >>> tree = Tree.build(space, [(0, 1, 2), 0, 1], ["no", "yes"])
        >>> print(Disagreements.of(tree, Answers(np.array([[0, 1], [1, 1]], np.uint8), np.array(["no", "no"])), space))
        x0  tree  target
        1   yes   no
        1 of 2 fresh inputs.
        """
        said = tree.predict_inner(answers.inputs)
        wrong = apart(said, answers.labels, tolerance)
        count = int(wrong.sum())
        places = np.flatnonzero(wrong)[:most]
        rows, leaves = answers.inputs[places], tree.reached_inner(answers.inputs[places]).tolist()
        both = zip(said[places].tolist(), answers.labels[places].tolist(), strict=True)
        found = (
            Differing({one.name: value_of(one, x) for one, x in zip(space, row, strict=True)}, *pair, leaf)
            for row, pair, leaf in zip(rows.tolist(), both, leaves, strict=True)
        )
        asked = tuple(tree.names[i] for i in dict.fromkeys(tree.feature.tolist()) if i >= 0)
        return cls(tuple(found), len(answers), count, asked)

    @overload
    def __getitem__(self, index: int) -> Differing: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Differing, ...]: ...
    def __getitem__(self, index: int | slice) -> Differing | tuple[Differing, ...]:
        return self.found[index]

    def __len__(self) -> int:
        return len(self.found)

    def __repr__(self) -> str:
        return f"<Disagreements: {self.wrong:,} of {self.tests:,} fresh inputs>"

    def columns(self) -> dict[str, list[Any]]:
        """Every feature, then both answers, for a table of any library: ``pandas.DataFrame(found.columns())``.

        A feature that is called ``tree`` or ``target`` gives way to the answer.
        """
        names = dict.fromkeys(name for one in self.found[:1] for name in one.input)
        inputs = {name: [one.input[name] for one in self.found] for name in names}
        answers = {"tree": [one.tree for one in self.found], "target": [one.target for one in self.found]}
        return inputs | answers

    def to_csv(self) -> str:
        """The same as CSV."""
        columns, text = self.columns(), io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        return text.getvalue()

    def cells(self, most: int, features: int) -> tuple[list[str], list[list[str]]]:
        """Heads and rows of a short table: what the tree asks about first, or the first features where it asks none."""
        names = list(self.asked or self.found[0].input)[:features]
        rows = [[*(text(one.input[name]) for name in names), text(one.tree), text(one.target)] for one in self[:most]]
        return [*map(shown, names), "tree", "target"], rows

    def because(self, errors: int | None, tests: int) -> Disagreements:
        """The same, which tells why a certificate that counts so many errors in so many tests names other numbers."""
        if errors is None or (errors, tests) == (self.wrong, self.tests):
            return self
        return replace(self, counted=(errors, tests))

    @property
    def why(self) -> str:
        """Why the certificate names other numbers; empty where it does not."""
        return "" if self.counted is None else f" {why_counted(*self.counted)}"

    def __str__(self) -> str:
        told = f"{self.wrong:,} of {self.tests:,} fresh inputs.{self.why}"
        if not self.found:
            return told
        head, rows = self.cells(EXAMPLES, EXAMPLES)
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in (head, *rows)]
        return "\n".join([*lines, *(["..."] if self.wrong > EXAMPLES else []), told])

    def _repr_html_(self) -> str:
        told = tag("p", f"Target and tree differ on {self.wrong:,} of {self.tests:,} fresh inputs.{self.why}")
        if not self.found:
            return told
        head, rows = self.cells(EXAMPLES, EXAMPLES)
        return told + table(head, rows)


def why_counted(errors: int, tests: int) -> str:
    """Why a certificate may count other errors than the tree's on all fresh inputs."""
    return (
        f"The certificate counts {errors:,} in {tests:,}: it counts the tree that was tested, from when its test "
        "began to its lowest bound."
    )


def text(value: Any) -> str:
    """A value for a cell: three to six digits are enough to recognise a number."""
    return f"{value:.6g}" if isinstance(value, float) else "missing" if value is None else shown(value)


def value_of(feature: Feature, inner: float) -> Any:
    """A value as the user writes it; None where it is missing."""
    if feature.values is not None:
        return feature.values[int(inner)]
    if feature.kind == "boolean":
        return int(inner)
    if math.isnan(inner):
        return None
    return int(inner) if getattr(feature, "integer", False) else float(inner)
