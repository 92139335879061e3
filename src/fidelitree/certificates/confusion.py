"""What the target answers against what the tree answers: which label is lost, and how far a constant would get.

The counts of the table are those of all inputs that tested the returned tree, as the certificate's are. How often the
target answers a label is counted among all test inputs of the run, which may be more. Their intervals are no part of
delta: each holds with a confidence of 95 % on its own. The number of tests depends on the answers, so every interval
holds at all times at once (`sequential.interval`).
Three choices that a run makes by looking at answers are paid for:

- *Which attempt is returned.* Number j may fail with its share 6/(pi j)^2 of the 5 %, and the shares add up to all of
  it. Algorithm 2 tests one tree of each size, so the size takes the place of the number.
- *Which tree is returned in the place of the tested one.* Given the tested tree, masses alone say which tree of s
  leaves that is; how many leaves it has depends on the errors counted. So the tested tree gets half of the attempt's
  share, and its substitutes divide the other half by s in the same way. Where ``strategy="smallest"`` has two
  substitutes of one size to choose from, that last choice is not paid for.
- *Which constant is the best.* No tree is involved, so all answers of the run's tests count, at the whole level, from
  the opening of the first attempt on. The label named is the most frequent one in them. No label is more frequent than
  the upper end for that one. For the lower end, the k-th label to appear has 6/(pi k)^2 of half the level: from its
  first appearance on, answers are independent draws again. That first appearance is not counted and all other labels
  are, which only lowers the end; and no label came later than the number of labels says. So the interval holds for the
  constant that is named and for the best one.

Within a row of the table only inputs with that label of the target count, and within a leaf only those that reach it.
These inputs, in the order of their appearance, are independent draws from the same conditional distribution. Hence the
sequence of intervals, indexed by their number, is valid for any number of them. Leaves that few test inputs reach are
joined: a share of ten answers tells nothing. Which leaves these are depends on the tests, so together they get a count
and no interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fidelitree.display.wording import aligned, counted, leaves, percent, shown, span, whole
from fidelitree.theory.sequential import error_bound, interval, level_in, level_of_attempt
from fidelitree.trees.answers import answers_of

if TYPE_CHECKING:
    from fidelitree.trees.answers import LeafLabels
    from fidelitree.trees.tree import Tree

CONFIDENCE = 0.95
_LEVEL = 0.05
MOST = 100
"""Cells with the same label, cells with another, and labels never answered: as many of each are listed."""
_NAMED = 5  # labels that are never answered
_SHOWN = 16  # cells of a table as text

Count = int | float
"""Test inputs, or a probability where every answer is known."""
Ends = tuple[float, float]
FEW = 20
"""Test inputs below which a leaf is joined with others."""
_TINY = 1e-12


def share_of_level(attempt: int, substitute: int | None, ledger: str = "run") -> float:
    """The level of an interval about the tree of an attempt, or about a substitute for it with so many leaves.

    >>> shares = [share_of_level(1, leaves) for leaves in (None, *range(1, 10_000))]
    >>> round(sum(shares), 3), round(level_in("run", 1, 0.05), 3)
    (0.029, 0.029)
    """
    half = level_in(ledger, attempt, _LEVEL) / 2
    return half if substitute is None else level_of_attempt(substitute, half)


@dataclass(frozen=True)
class LabelPair:
    """So often the tree answers ``tree`` where the target answers ``target``, of as many inputs with that label."""

    target: Any
    tree: Any
    count: Count
    of: Count

    @property
    def wrong(self) -> bool:
        """Whether the two differ."""
        return bool(self.target != self.tree)


@dataclass(frozen=True)
class Label:
    """A label of the target, and how often it answers it."""

    label: Any
    count: Count


@dataclass(frozen=True)
class TargetAnswers:
    """What the target answered, whatever the tree: ``best`` is the most frequent of ``labels`` different ones."""

    inputs: Count
    labels: int
    best: Label


@dataclass(frozen=True)
class Confusion:
    """The table of both answers, largest cells first, and what follows from it.

    ``tests`` inputs were counted, ``wrong`` of them in cells with two labels; where every answer is known they are
    probabilities, and ``level`` is None. ``target`` tells of its answers alone, which may be those of more inputs.
    ``never`` lists labels of the target that no leaf has, of a predictor that is no tree those that it did not answer
    once, counted among the same inputs. Of ``cells_in_all`` and ``never_in_all`` the largest are listed.
    """

    tests: Count
    wrong: Count
    level: float | None
    target: TargetAnswers
    never: tuple[Label, ...]
    never_in_all: int
    cells: tuple[LabelPair, ...]
    cells_in_all: int

    @classmethod
    def of(
        cls,
        table: Mapping[tuple[Any, Any], Count],
        level: float | None,
        missing: Iterable[Any] | None = None,
        target: Mapping[Any, Count] | None = None,
    ) -> Confusion | None:
        """From counts by the target's label and the tree's; ``missing`` labels are never answered by the tree.

        ``target`` counts the target's labels, if there are more than those of the table.

        >>> found = Confusion.of({("no", "no"): 90, ("yes", "no"): 4}, 0.05)
        >>> found.target.best, found.wrong, [label.label for label in found.never]
        (Label(label='no', count=90), 4, ['yes'])
        """
        cells = [LabelPair(*pair, count, 0) for pair, count in table.items() if count]
        if not cells:
            return None
        total = sum if level is not None else math.fsum
        rows: dict[Any, Count] = {}
        for cell in cells:
            rows[cell.target] = rows.get(cell.target, 0) + cell.count
        answered, target = {cell.tree for cell in cells}, rows if target is None else target
        absent = (label for label in rows if label not in answered) if missing is None else missing
        never = _largest(Label(label, target.get(label, 0)) for label in absent)
        cells = [replace(cell, of=rows[cell.target]) for cell in cells]
        wrong = _largest(cell for cell in cells if cell.wrong)
        listed = _largest([*_largest(cell for cell in cells if not cell.wrong)[:MOST], *wrong[:MOST]])
        best = _largest(Label(label, count) for label, count in target.items())[0]
        return cls(
            1.0 if level is None else sum(rows.values()),
            total(cell.count for cell in wrong),
            level,
            TargetAnswers(1.0 if level is None else sum(target.values()), len(target), best),
            tuple(never[:MOST]),
            len(never),
            tuple(listed),
            len(cells),
        )

    @classmethod
    def of_leaves(
        cls, found: LeafLabels | None, tree: Tree, level: float | None, target: Mapping[Any, Count] | None = None
    ) -> Confusion | None:
        """From the target's labels in each leaf; no level where they are exact."""
        if found is None:
            return None
        table: dict[tuple[Any, Any], Count] = {}
        own, counts = tree.labels[tree.code[tree.feature < 0]].tolist(), found.counts
        for leaf, place in np.argwhere(counts).tolist():
            cell = found.classes[place], own[leaf]
            table[cell] = table.get(cell, 0) + counts[leaf, place].item()
        missing = sorted({*found.classes, *answers_of(tree.labels.tolist())} - {*own})
        return cls.of(table, level, missing, target)

    def share(self, cell: LabelPair) -> Ends:
        """Both ends of a cell's share of the inputs with its label of the target; equal where it is known."""
        return self._ends(cell.count, cell.of, self.level)

    def _ends(self, count: Count, of: Count, level: float | None) -> Ends:
        if self.level is None or level is None:
            return (count / of, count / of) if of else (0.0, 0.0)
        return interval(int(count), int(of), level)

    @property
    def constant_error(self) -> Ends:
        """How often the most frequent label is wrong as a constant: see the top of this file."""
        count, inputs = self.target.best.count, self.target.inputs
        if self.level is None:
            return (inputs - count,) * 2
        least = level_of_attempt(self.target.labels, _LEVEL / 2)
        return 1 - error_bound(int(count), int(inputs), _LEVEL / 2), error_bound(
            int(inputs - count), int(inputs) - 1, least
        )

    def of_target(self, label: Label) -> Ends:
        """Both ends of how often the target answers a label."""
        return self._ends(label.count, self.target.inputs, _LEVEL)

    def sentences(self, certified: bool, leaves: int | None) -> list[str]:
        """At most three lines: how far a constant would get, and which labels are lost (`never_answers`).

        ``leaves`` is None for a predictor that is no tree; ``certified`` says whether the error asked for is.
        """
        confident = "" if self.level is None else f" (with {percent(CONFIDENCE)} confidence)"
        constant, error = shown(self.target.best.label), span(*self.constant_error)
        lines = [f"A constant answer {constant} would be wrong on {error} of inputs{confident}."]
        if leaves == 1 and certified:
            lines.append("The tree is a single leaf: a constant is all it takes.")
        return [*lines, *self.never_answers(leaves)]

    def never_answers(self, leaves: int | None) -> list[str]:
        """One line about the labels of the target that are lost, with their shares of the test inputs; or none.

        >>> print(*Confusion.of({("ok", "ok"): 317, ("fair", "ok"): 9}, 0.05).never_answers(1))
        The tree never answers: fair (2.8% of inputs: 9 of 326).
        """
        if not self.never:
            return []
        once = f" in {counted(int(self.tests), 'test input')}" if leaves is None and self.level is not None else ""
        named = ", ".join(f"{shown(label.label)} ({self._how_often(label)})" for label in self.never[:_NAMED])
        rest = f" and {self.never_in_all - _NAMED:,} more" if self.never_in_all > _NAMED else ""
        return [f"The {'predictor' if leaves is None else 'tree'} never answers{once}: {named}{rest}."]

    def _how_often(self, label: Label) -> str:
        """The share of inputs with a label of the target, and what was counted."""
        if self.level is None:
            return f"{percent(label.count)} of inputs"
        share = percent(label.count / self.target.inputs)
        every = int(self.target.inputs)
        more = f" all {whole(every)} test inputs of the run" if every != self.tests else f" {whole(every)}"
        return f"{share} of inputs: {whole(int(label.count))} of{more}"

    def lines(self) -> list[str]:
        """The table as text, with a head and its confidence."""
        exact, cells = self.level is None, self.rows(_SHOWN)
        rows = [["target", "tree", *([] if exact else ["test inputs"]), "share of that label"]]
        for cell in cells:
            counts = [] if exact else [f"{cell.count:,} of {cell.of:,}"]
            rows.append([shown(cell.target), shown(cell.tree), *counts, span(*self.share(cell))])
        rest = self.cells_in_all - len(cells)
        more = [f"and {rest:,} more pairs of labels"] if rest else []
        sure = [] if exact else [f"each interval holds with {percent(CONFIDENCE)} confidence on its own"]
        return [*aligned(rows), *more, *sure]

    def rows(self, most: int) -> list[LabelPair]:
        """The cells to show: all of them by the target's label where they are few, else the largest wrong ones."""
        if self.cells_in_all <= most:
            return sorted(self.cells, key=lambda cell: (-cell.of, str(cell.target), -cell.count))
        return [cell for cell in self.cells if cell.wrong][:most]


def _largest(entries: Iterable[Any]) -> list[Any]:
    """The most frequent first; ties by their labels, so that one run gives one order."""

    def place(entry: LabelPair | Label) -> tuple[Any, ...]:
        labels = (entry.target, entry.tree) if isinstance(entry, LabelPair) else (entry.label,)
        return -entry.count, *((label, 0) if isinstance(label, str) else ("", label) for label in labels)

    return sorted(entries, key=place)


@dataclass(frozen=True)
class LeafError:
    """Of ``reached`` test inputs the leaf gets ``wrong`` ones wrong; probabilities, where these are exact.

    ``nodes`` are several where leaves were joined, and ``share`` is None for them: the ends of how often the leaf is
    wrong.

    >>> print(LeafError((3,), 2, 40, (0.0042, 0.21)))
    2 of 40 wrong (0.4% to 21%)
    """

    nodes: tuple[int, ...]
    wrong: float
    reached: float
    share: tuple[float, float] | None

    @property
    def exact(self) -> bool:
        """Whether the share is known."""
        return self.share is not None and self.share[0] == self.share[1]

    @property
    def counts(self) -> str:
        """So many of so many."""
        return f"{whole(int(self.wrong))} of {whole(int(self.reached))}"

    def __str__(self) -> str:
        if self.share is None:
            each = "" if len(self.nodes) == 1 else " each"
            return f"{self.counts} wrong, in {leaves(len(self.nodes))} with fewer than {FEW} test inputs{each}"
        return f"{span(*self.share)} wrong" if self.exact else f"{self.counts} wrong ({span(*self.share)})"


def leaf_errors(labels: LeafLabels, tree: Tree, level: float) -> list[LeafError]:
    """Every leaf that inputs reach, the one with the most errors first; those that were joined come last."""
    nodes, exact = np.flatnonzero(tree.feature < 0).tolist(), labels.samples is None
    counts = labels.counts
    reached = counts.sum(axis=1)
    wrong = labels.wrong(tree) if exact else np.rint(labels.wrong(tree) * (labels.samples or 0)).astype(np.int64)
    found, few = [], []
    for place in np.argsort(-wrong, kind="stable").tolist():
        errors, inputs = wrong[place].item(), reached[place].item()
        if exact and inputs > _TINY:
            found.append(LeafError((nodes[place],), errors, inputs, (errors / inputs,) * 2))
        elif not exact and inputs >= FEW:
            found.append(LeafError((nodes[place],), errors, inputs, interval(errors, inputs, level)))
        elif not exact and inputs:
            few.append(place)
    if few:
        together = int(wrong[few].sum()), int(reached[few].sum())
        found.append(LeafError(tuple(nodes[place] for place in sorted(few)), *together, None))
    return found
