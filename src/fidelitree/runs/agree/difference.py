"""What changed between two targets: how much, where, from what to what, and what no small tree explains."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fidelitree.certificates.certificate import ASSUMES_UNFORESEEN
from fidelitree.display.wording import at_least, at_most, counted, percent, plain_page, span, table, tag
from fidelitree.display.wording import leaves as in_words
from fidelitree.errors import ParameterError, write_text
from fidelitree.spaces.rows import ASSUMES_NOT_FITTED

if TYPE_CHECKING:
    from fidelitree.asking.counted import Queries
    from fidelitree.spaces.world import World
    from fidelitree.trees.tree import Tree

FORMAT, VERSION = "fidelitree.difference", 1
"""Of the stored form."""
NEITHER_FITTED = "neither target was fitted to them"
SAME = "unchanged"
"""What a tree of changes says where there is none."""


@dataclass(frozen=True)
class Flagging:
    """One tree of the curve with lower bounds of its precision and recall."""

    tree: Tree
    precision: float
    recall: float

    @property
    def leaves(self) -> int:
        """The number of leaves of the tree."""
        return self.tree.size


@dataclass(frozen=True)
class Difference:
    """Where the new target answers otherwise than the old one; all of it true together with confidence 1 - delta.

    Attributes:
        changed: Both ends of the share of inputs with another answer.
        epsilon: The share that was as good as none.
        delta: The chance that the run states a false bound.
        tree: Where, and from what to what; its first feature is what the old target answers.
        precision: So much of what the tree flags has changed, at least.
        recall: So much of what has changed is flagged, at least.
        asked: The precision and recall that were asked for.
        curve: All trees that were tested, with their bounds.
        examples: Up to ten inputs with both answers.
        queries: Labels asked, by purpose.
        space: Where inputs come from.
        reason: Why the run ended.
        exact: Whether everything was counted.
        names: What the two are called.
        seed: Chose all draws; None where everything was counted.
        seed_chosen: Whether somebody chose the seed.

    Examples:
        >>> from fidelitree.runs.agree.diff import diff
        >>> from fidelitree.spaces.product import ProductSpace
        >>> diff(lambda bits: bits[:, 0], lambda bits: bits[:, 1], ProductSpace.bernoulli(2)).changed
        (0.5, 0.5)
    """

    changed: tuple[float, float]
    epsilon: float
    delta: float
    tree: Tree
    precision: float
    recall: float
    asked: tuple[float, float]
    curve: tuple[Flagging, ...]
    examples: tuple[Mapping[str, Any], ...]
    queries: Queries
    space: World
    reason: str
    exact: bool = False
    names: tuple[str, str] = field(default=("old", "new"))
    seed: int | None = None
    seed_chosen: bool = False

    @property
    def holds(self) -> bool:
        """Whether at most epsilon changed."""
        return self.changed[1] <= self.epsilon

    @property
    def explained(self) -> bool:
        """Whether the precision and the recall that were asked for are certified."""
        return self.precision >= self.asked[0] and self.recall >= self.asked[1]

    @property
    def unexplained(self) -> float:
        """The largest share of inputs that may have changed where the tree does not flag them."""
        return self.changed[1] * (1 - self.recall)

    @property
    def leaves(self) -> int:
        """The number of leaves of the tree."""
        return self.tree.size

    @property
    def assumes(self) -> tuple[str, ...]:
        """What is taken for granted about rows of a table, and about a seed that was given."""
        foreseen = (ASSUMES_UNFORESEEN,) if self.seed_chosen else ()
        if self.space.table is None:
            return foreseen
        return (*(one for one in self.space.assumes if one != ASSUMES_NOT_FITTED), NEITHER_FITTED, *foreseen)

    def flags(self, inputs: Any, old: Sequence[Any]) -> Any:
        """Which of these inputs the tree takes to be changed, given the old answers to them."""
        inner = self.space.product.encode(inputs)
        labels = list(self.tree.values[0] or ())
        unknown = [label for label in old if label not in labels]
        if unknown:
            raise ParameterError(f"old must hold labels of the old target ({labels!r:.80}); got {unknown[0]!r:.80}")
        rows = np.column_stack([[labels.index(label) for label in old], inner]).astype(np.float64)
        return self.tree.predict_inner(rows) != SAME

    def sentences(self) -> list[str]:
        """How much, where and how sure, one thing a line."""
        how = "Exactly" if self.exact else f"With confidence {1 - self.delta:.4g}"
        lines = [f"{how}, {span(*self.changed)} of inputs are answered otherwise by the {self.names[1]} target."]
        if self.holds:
            lines.append(f"That is at most {percent(self.epsilon)}, which was allowed.")
        if says_where(self.tree):
            shares = (at_least(1 - share) for share in (self.precision, self.recall))
            precision, recall = (share if self.exact else f"at least {share}" for share in shares)
            lines.append(
                f"A tree of {in_words(self.tree.size)} says where: {precision} of what it flags has changed, and it "
                f"flags {recall} of all changes."
            )
        if not self.holds and self.recall < 1:
            lines.append(f"At most {at_most(self.unexplained)} of inputs changed where it does not say so.")
        lines += [f"Assumes: {'; '.join(self.assumes)}."] if self.assumes else []
        seed = "" if self.seed is None else f" (seed {self.seed})"
        return [*lines, f"{counted(int(self.queries.asked), 'input')} compared{seed}; {self.reason}."]

    def __str__(self) -> str:
        shown = [str(self.tree), ""] if says_where(self.tree) else []
        return "\n".join([*shown, *self.sentences()])

    def markdown(self) -> str:
        """The same for a pull request: sentences, the tree, examples as a table."""
        lines = [f"### What changed between {self.names[0]} and {self.names[1]}", "", *self.sentences()]
        if says_where(self.tree):
            lines += ["", "```text", str(self.tree), "```"]
        if self.examples:
            names = list(self.examples[0])
            lines += ["", f"| {' | '.join(map(_cell, names))} |", f"|{'---|' * len(names)}"]
            lines += [f"| {' | '.join(_cell(one[name]) for name in names)} |" for one in self.examples]
        return "\n".join(lines) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Plain data under a versioned schema."""
        curve = [{"leaves": one.leaves, "precision": one.precision, "recall": one.recall} for one in self.curve]
        assumes = {"assumes": list(self.assumes)} if self.assumes else {}
        return {
            "format": FORMAT,
            "version": VERSION,
            "changed": list(self.changed),
            "epsilon": self.epsilon,
            "delta": self.delta,
            "holds": self.holds,
            "precision": self.precision,
            "recall": self.recall,
            "asked": {"precision": self.asked[0], "recall": self.asked[1]},
            "unexplained": self.unexplained,
            "exact": self.exact,
            "curve": curve,
            "examples": [dict(one) for one in self.examples],
            "queries": dict(self.queries.asked),
            "reason": self.reason,
            "tree": self.tree.to_dict(),
            "seed": self.seed,
            "seed_chosen": self.seed_chosen,
            **assumes,
        }

    def to_json(self) -> str:
        """The difference as JSON text."""
        return json.dumps(self.to_dict(), indent=1, default=str)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write one HTML page that needs nothing else, and return its path."""
        curve = ((one.leaves, at_least(1 - one.precision), at_least(1 - one.recall)) for one in self.curve)
        body = [
            *(tag("p", sentence) for sentence in self.sentences()),
            tag("h2", "Where, and from what to what"),
            tag("pre", str(self.tree)),
            tag("h2", "Precision and recall against leaves"),
            table(["leaves", "precision, at least", "recall, at least"], curve),
            tag("h2", "Examples"),
            table(list(self.examples[0]) if self.examples else [], [[*one.values()] for one in self.examples]),
        ]
        return write_text(path, plain_page(f"What changed between {' and '.join(self.names)}", *body))


def says_where(tree: Tree) -> bool:
    """Whether it flags anything; one leaf does where everything has changed."""
    return tree.size > 1 or tree.label(0) != SAME


def _cell(value: Any) -> str:
    """What stands in a table of Markdown: on one line, and without its own borders."""
    return " ".join(str(value).replace("|", "\\|").split())
