"""Certified precision and recall of every answer of a tree, all of them true together.

Precision of a label is judged by inputs that the tree gives it, recall by inputs that the target gives it. Of each
kind, in the order in which they come, these are independent draws from one conditional distribution, so an any-time
interval holds for each. Labels share delta by their place: those of the tree first, then others as the target shows
them. What made a label known is not counted for it. A rare answer gets its precision by draws inside the leaves that
give it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.access import as_used
from fidelitree.asking.counted import Counted
from fidelitree.asking.events import Observer, nobody
from fidelitree.asking.limits import Budget, BudgetSpent
from fidelitree.asking.memory import REMEMBERED_BYTES, Memory
from fidelitree.asking.repeats import Repeats
from fidelitree.display.wording import shown, span
from fidelitree.errors import ParameterError, check_delta, check_observer, check_one_kind, check_share, check_switch
from fidelitree.runs.input_source import BoxDraws, source_of
from fidelitree.spaces.draw import Stream, seed_of
from fidelitree.spaces.rows import taken_for_granted
from fidelitree.targets.fitted import warn_if_fitted
from fidelitree.theory.sequential import interval, level_of_attempt
from fidelitree.trees.tree import Tree, check_tree

if TYPE_CHECKING:
    from fidelitree.spaces.world import World
    from fidelitree.targets.labels import Target

_BATCH = 200  # inputs of one round, from everywhere and from the leaves of one label
Ends = tuple[float, float]


@dataclass
class ClassErrors:
    """One label: how often the target agrees where the tree gives it, and the tree where the target gives it.

    ``answered`` and ``given`` count the inputs behind the two. Both intervals hold together with those of all labels.
    ``seed`` chose all draws of the run. ``assumes`` is what intervals over rows of a table take for granted.
    """

    label: Any
    level: float
    answered: int = 0
    right_answers: int = 0
    given: int = 0
    found: int = 0
    seed: int | None = None
    assumes: tuple[str, ...] = ()

    @property
    def precision(self) -> Ends:
        """Pr[the target gives the label | the tree does]."""
        return interval(self.right_answers, self.answered, self.level)

    @property
    def recall(self) -> Ends:
        """Pr[the tree gives the label | the target does]."""
        return interval(self.found, self.given, self.level)

    def __str__(self) -> str:
        told = f" (assumes: {'; '.join(self.assumes)})" if self.assumes else ""
        return f"{shown(self.label)}: precision {span(*self.precision)}, recall {span(*self.recall)}{told}"


def errors_by_class(
    tree: Tree,
    target: Target,
    space: World,
    delta: float = 0.05,
    *,
    groups: Any = None,
    within: float = 0.05,
    threshold: float | None = None,
    seed: int | None = None,
    deterministic: bool = True,
    max_queries: int | None = 20_000,
    observer: Observer = nobody,
) -> tuple[ClassErrors, ...]:
    """Precision and recall of each answer of a tree as intervals that hold together with confidence 1 - delta.

    Rows of a table are taken to be independent of each other, and the target not to be fitted to them; of `Rows` in
    groups one row of each counts.

    Args:
        tree: The tree whose answers are looked at; it answers labels, no numbers.
        target: What is explained: a callable from a batch of inputs to labels, or a fitted model.
        space: Where inputs come from: any space, or a table, to one half of which a `ChowLiu` is fitted.
        delta: The chance that the run states a false bound.
        groups: The column of a table that says which rows belong together, or an entry for each row.
        within: Ends the run when no end of an interval is further from its middle.
        threshold: Turns scores into labels: 1 above this value, otherwise 0; of a classifier, by its second class.
        seed: Chooses all draws: the same seed gives the same result. None takes a fresh one, which is recorded.
        deterministic: False where the target may answer an input differently each time: no answer is remembered.
        max_queries: Ends the run after so many labels, with what is certified by then.
        observer: Receives an event for each step of the run; `Progress` is one.

    Returns:
        An entry for each answer, in the order of their names.

    Raises:
        ParameterError: An argument breaks its rule.
        TargetError: The target failed, or answered something that is no label.

    Examples:
        >>> from fidelitree.spaces.product import ProductSpace
        >>> space = ProductSpace.bernoulli(4)
        >>> tree = Tree.build(space, [(0, 1, 2), 0, 1], [0, 1])
        >>> for one in errors_by_class(tree, lambda batch: batch[:, 0], space, seed=0):
        ...     print(one)
        0: precision 94.8% to 100%, recall 94.8% to 100%
        1: precision 92.7% to 100%, recall 92.7% to 100%
    """
    check_tree(tree)
    tree.check_answers("precision and recall of labels")
    if tree.labels.dtype.kind == "f":
        raise ParameterError(
            "tree must answer labels, each of which has a precision and a recall; this one answers numbers - "
            "ft.certify(tree, target, space, tolerance=...) says how often they are further off"
        )
    target, space = as_used(target, space, threshold, groups=groups)
    check_switch("deterministic", deterministic)
    check_observer(observer)
    width = check_share("within", within)
    known_seed = seed_of(seed)
    tree.check_space(space.product)
    if space.table is not None:
        warn_if_fitted(target, space.table, known_seed)
    memory = Memory.within(REMEMBERED_BYTES, space.product) if deterministic else None
    counted = Counted(target, space.product, memory, Budget(max_queries=max_queries), observer=observer)
    counted.repeats = Repeats(points=space.product.points) if deterministic else None
    audit = _Audit(tree, counted, space, check_delta(delta), known_seed)
    with suppress(BudgetSpent):
        audit.run(width)
    found = sorted(audit.classes.values(), key=lambda one: str(one.label))
    return tuple(replace(one, seed=known_seed, assumes=taken_for_granted(space)) for one in found)


class _Audit:
    """One run."""

    def __init__(self, tree: Tree, counted: Counted, space: World, delta: float, seed: int) -> None:
        self._tree, self._counted, self._space, self._delta = tree, counted, space, delta
        self._source = source_of(space, seed)
        self._inside = BoxDraws(self._source.world, Stream.named(seed, "inside"))
        self.classes: dict[Any, ClassErrors] = {}
        for label in tree.labels.tolist():
            self._know(label)

    def _know(self, label: Any) -> None:
        share = level_of_attempt(len(self.classes) + 1, self._delta) / 2
        self.classes[label] = ClassErrors(label, share)

    def run(self, within: float) -> None:
        """Inputs from everywhere, and inside the leaves of whatever answer is known least."""
        while True:
            self._see(self._source.test(self._counted.affordable(_BATCH)), whole=True)
            loose = [
                one for one in self.classes.values() if one.label in self._answers and _wide(one.precision, within)
            ]
            for one in loose:
                self._see(self._draws(one.label), whole=False, only=one.label)
            vague = any(one.given and _wide(one.recall, within) for one in self.classes.values())
            if not loose and not vague:
                return

    @property
    def _answers(self) -> set[Any]:
        tree = self._tree
        return set(tree.labels[tree.code[tree.feature < 0]].tolist())

    def _see(self, inner: NDArray[Any], whole: bool, only: Any = None) -> None:
        if not len(inner):
            return
        labels = self._counted.labels(np.asarray(self._counted.ask(inner, "certify"), np.intp))
        predicted = self._tree.predict_inner(inner)
        check_one_kind("tree", predicted, labels)
        for given, answer in zip(labels.tolist(), predicted.tolist(), strict=True):
            mine = self.classes[answer]
            if whole or answer == only:
                mine.answered += 1
                mine.right_answers += given == answer
            if not whole:
                continue
            if given not in self.classes:
                self._know(given)
            else:
                self.classes[given].given += 1
                self.classes[given].found += given == answer

    def _draws(self, label: Any) -> NDArray[Any]:
        """Inputs that the tree gives a label; none where nobody knows how to draw there."""
        tree, regions = self._tree, self._tree.regions(self._space.product)
        boxes = [box for node, box in regions if tree.feature[node] < 0 and tree.label(node) == label]
        return self._inside.among(boxes, _BATCH)[0]


def _wide(ends: Ends, within: float) -> bool:
    return ends[1] - ends[0] > 2 * within
