"""A tree as rules: for each leaf the conditions that lead to it, how often they hold, and how pure it is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from fidelitree.display.wording import percent, shown, table
from fidelitree.errors import MissingExtraError, ParameterError, check_choice, show
from fidelitree.spaces.features import AtMost, IsIn, Test, among, short
from fidelitree.spaces.inputs import is_missing
from fidelitree.spaces.world import drawn
from fidelitree.trees.answers import upwards
from fidelitree.trees.gaps import sides

if TYPE_CHECKING:
    from fidelitree.spaces.world import World
    from fidelitree.trees.answers import Answers
    from fidelitree.trees.tree import Tree

DRAWN = 1 << 16  # inputs that tell how often rules hold, where only draws do
_BACKENDS = {"pandas": "pandas", "polars": "polars", "arrow": "pyarrow"}


@dataclass(frozen=True)
class Condition:
    """What a path asks of one feature: all its tests of the feature in one.

    A bit is ``low`` = ``high`` = 0 or 1; a number is above ``low`` and at most ``high``, or it is missing, where
    ``missing`` allows it; a category is one of ``values``, or none of them where ``excluded``.
    """

    name: str
    kind: str
    low: float = -math.inf
    high: float = math.inf
    values: tuple[Any, ...] = ()
    excluded: bool = False
    missing: bool = False
    others: tuple[Any, ...] = field(default=(), compare=False, repr=False)
    """Where values are excluded: those of the feature that are left, for text only."""

    def holds(self, value: Any) -> bool:
        """Whether a value of the feature meets the condition; a missing one is None, or NaN if it is a number."""
        if self.kind == "categorical":
            return (value in self.values) != self.excluded
        if self.kind == "boolean":
            return bool(value) == bool(self.low)
        return self.missing if is_missing(value) else self.low < value <= self.high

    def __str__(self) -> str:
        name = shown(self.name)
        if self.kind == "boolean":
            return f"{name} = {self.low:g}"
        if self.kind == "numeric":
            return self._number(name)
        return among(self.name, self.values, not self.excluded, self.others)

    def _number(self, name: str) -> str:
        also = " or missing" * self.missing
        if self.low == math.inf or (self.low == -math.inf and self.high == math.inf):
            return f"{name} is {'' if self.low == math.inf else 'not '}missing"
        if self.low == -math.inf:
            return f"{name} <= {short(self.high)}{also}"
        if self.high == math.inf:
            return f"{name} > {short(self.low)}{also}"
        return f"{short(self.low)} < {name} <= {short(self.high)}{also}"


@dataclass(frozen=True)
class Rule:
    """One leaf: inputs that meet all ``conditions`` get ``label``.

    ``probability`` is how often an input is drawn that does, None where no space was given. Of the ``answers`` that the
    target gave to such inputs, the share ``purity`` was the label; None where nobody asked.
    """

    leaf: int
    conditions: tuple[Condition, ...]
    label: Any
    probability: float | None = None
    answers: int | None = None
    purity: float | None = None

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether an input, a mapping of feature name to value, meets all conditions."""
        return all(condition.holds(values[condition.name]) for condition in self.conditions)

    def __str__(self) -> str:
        meant = f"If {self.premise} then {shown(self.label)}" if self.conditions else f"Always {shown(self.label)}"
        facts = []
        if self.probability is not None:
            facts.append(f"reached by {percent(self.probability)} of inputs")
        if self.answers is not None and self.purity is not None:
            facts.append(f"right for {percent(self.purity)} of {self.answers:,} answers")
        elif self.answers is not None:
            facts.append("no answers")
        return meant + (f" ({', '.join(facts)})." if facts else ".")

    @property
    def premise(self) -> str:
        """All conditions in one line."""
        return " and ".join(map(str, self.conditions))


class Rules(tuple[Rule, ...]):
    """The rules of a tree, one a leaf, of which exactly one holds for every input.

    ``str()`` gives a sentence for each; `to_dict` and `to_frame` give a table.
    """

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def __repr__(self) -> str:
        return f"<{len(self)} rules>"

    def _repr_html_(self) -> str:
        known = any(rule.probability is not None for rule in self)
        rows = ((rule.premise or "always", shown(rule.label), *_share(rule, known)) for rule in self)
        return table(("if", "then", *(("share of inputs",) if known else ())), rows)

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns: the leaf's node, its conditions as text, label, probability, answers, purity."""
        names = {name: name for name in ("leaf", "rule", "label", "probability", "answers", "purity")}
        names["rule"] = "premise"
        return {name: [getattr(rule, own) for rule in self] for name, own in names.items()}

    def to_frame(self, kind: Literal["pandas", "polars", "arrow"] = "pandas") -> Any:
        """The columns that hold something as a table of pandas, polars or arrow."""
        check_choice("kind", kind, _BACKENDS)
        columns = {name: column for name, column in self.to_dict().items() if any(v is not None for v in column)}
        library = _BACKENDS[kind]
        try:
            import_module(library)
        except ModuleNotFoundError:
            raise MissingExtraError(f"this table needs {library}, which is not installed; to_dict does not") from None
        return nw.from_dict(columns, backend=library).to_native()  # type: ignore[arg-type]


def rules_of(tree: Tree, space: World | None = None, answers: Answers | None = None) -> Rules:
    """The rules of a tree, in the order of its leaves: see `Tree.rules`."""
    rules = [Rule(leaf, conditions, tree.label(leaf)) for leaf, conditions in _paths(tree)]
    if space is not None:
        shares = node_shares(tree, space)
        rules = [replace(rule, probability=shares[rule.leaf]) for rule in rules]
    if answers is not None:
        if not callable(getattr(answers, "counts", None)):
            raise ParameterError(f"answers must be those of a result, or None; got {show(answers)}")
        counts, classes = answers.counts(tree), list(answers.classes(tree))
        rules = [_judged(rule, row, classes.index(rule.label)) for rule, row in zip(rules, counts, strict=True)]
    return Rules(rules)


def node_shares(tree: Tree, space: World) -> list[float]:
    """For every node the probability that an input reaches it; among rows or draws where nobody knows it exactly."""
    product: Any = getattr(space, "product", space)  # what is no space is refused by the next line
    tree.check_space(product)
    if space.masses is not None:
        return [space.masses.mass(region) for _, region in tree.regions(product)]
    inner = drawn(space, DRAWN, 0) if space.table is None else space.table.inner
    shares = np.bincount(tree.reached_inner(inner), minlength=len(tree.feature)) / len(inner)
    found: list[float] = upwards(tree, shares[tree.feature < 0]).tolist()
    return found


def _judged(rule: Rule, row: NDArray[np.int64], own: int) -> Rule:
    total = int(row.sum())
    return replace(rule, answers=total, purity=int(row[own]) / total if total else None)


def _paths(tree: Tree) -> Iterator[tuple[int, tuple[Condition, ...]]]:
    """Every leaf with its conditions, features in the order in which the path meets them."""
    waiting: list[tuple[int, dict[int, Condition]]] = [(0, {})]
    while waiting:
        node, path = waiting.pop()
        if tree.feature[node] < 0:
            yield node, tuple(path.values())
            continue
        test = tree.test(node)
        before = path.get(test.feature)
        for child, yes in ((tree.yes, True), (tree.no, False)):
            waiting.append((int(child[node]), {**path, test.feature: _narrowed(tree, test, yes, before)}))


def _narrowed(tree: Tree, test: Test, yes: bool, before: Condition | None) -> Condition:
    """A condition and one more answer about its feature."""
    found = before or Condition(tree.names[test.feature], test.kind, excluded=test.kind == "categorical")
    if isinstance(test, AtMost):
        gap = test.missing is not None if before is None else before.missing
        side = sides(test, (found.low, found.high, gap))[yes]
        return replace(found, low=float(side[0]), high=float(side[1]), missing=side[2])
    if not isinstance(test, IsIn):
        return replace(found, low=float(yes), high=float(yes))
    known = tree.values[test.feature] or ()
    named = tuple(known[code] for code in sorted(test.codes))
    if found.excluded:  # so far the path named values that it leaves out
        left = tuple(value for value in named if value not in found.values)
        return (
            replace(found, values=left, excluded=False)
            if yes
            else replace(
                found,
                values=tuple(gone := [value for value in known if value in found.values + named]),
                others=tuple(value for value in known if value not in gone),
            )
        )
    return replace(found, values=tuple(value for value in found.values if (value in named) == yes))


def _share(rule: Rule, known: bool) -> tuple[str, ...]:
    return () if not known or rule.probability is None else (percent(rule.probability),)
