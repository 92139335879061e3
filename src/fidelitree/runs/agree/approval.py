"""Whether a model is still as good as one that was approved: the test behind `assert_agrees`, and its update.

The approved error is the bound of a stored certificate, a number close above what was measured. A test that must show
once more that the error is below it would have to be lucky, and is undecided for ever where the bound is tight. So a
margin is allowed above it, and Wald's test (`theory.wald`) tells the two apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fidelitree.asking.access import as_used
from fidelitree.asking.repeats import most_checks
from fidelitree.certificates.store import CERTIFICATE, POINT, load
from fidelitree.display.wording import at_least, at_most, percent, span
from fidelitree.errors import check_count, check_delta, check_epsilon, check_share
from fidelitree.runs.agree.audit import approved, certify
from fidelitree.runs.agree.claim import APPROVAL_LABELS, Approval
from fidelitree.runs.agree.diff import diff
from fidelitree.runs.agree.difference import says_where
from fidelitree.runs.agree.verify import inputs_for_tests, was_deterministic
from fidelitree.runs.distill import distill
from fidelitree.runs.frontier import frontier
from fidelitree.runs.frontier_result import Frontier
from fidelitree.spaces.given import world_of

if TYPE_CHECKING:
    from pathlib import Path

    from fidelitree.certificates.certificate import Certificate
    from fidelitree.certificates.store import Stored
    from fidelitree.runs.result import Distillation
    from fidelitree.spaces.world import World

_NONE = "approve one with pytest --fidelitree-update"
_FRONTIER = ("delta", "prefer", "deterministic", "tolerance", "max_queries", "max_leaves", "max_seconds")


def checked(
    model: Any, folder: Path, given: tuple[Any, Any], threshold: float | None, limits: Mapping[str, Any]
) -> tuple[Certificate, str]:
    """What fresh inputs show about a model and the approved tree of a folder, and why it fails; no text if it passes.

    ``given`` is a space, or a table with the groups of its rows; None is the stored space.
    ``limits`` are ``epsilon``, ``margin``, ``delta`` and ``max_queries`` of `assert_agrees`.
    """
    if not (folder / CERTIFICATE).is_file():
        raise AssertionError(f"there is no approved result in {folder}: {_NONE}")
    epsilon, margin = limits["epsilon"], check_share("margin", limits["margin"])
    epsilon = None if epsilon is None else check_epsilon(epsilon)
    most = APPROVAL_LABELS if limits["max_queries"] is None else check_count("max_queries", limits["max_queries"])
    test = _Test(load(folder), margin, epsilon, check_delta(limits["delta"]), most)
    asked = model.predict if threshold is None and callable(model) and hasattr(model, "predict") else model
    target, inputs = as_used(asked, test.inputs(_world(*given)), threshold)
    found, passed = test.run(target, inputs)
    if passed:
        return found, ""
    differs = f"The model differs from the approved tree on {_ends(found)}."
    if passed is None:
        shown = f"undecided after {found.samples:,} inputs, which show neither that the model agrees with {folder} nor"
        return found, f"{shown} that it does not: {test.allows}.\n{differs}\n{test.way_out}"
    where = test.where(target, inputs, found)
    return found, f"the model no longer agrees with {folder}: {test.allows}.\n{differs}\n\n{where}"


@dataclass(frozen=True)
class _Test:
    """What was approved, and how far a model may be from it."""

    kept: Stored
    margin: float
    epsilon: float | None
    delta: float
    most: int

    @property
    def approved(self) -> float:
        """The error of the approved tree, at most."""
        return self.kept.certificate.error_bound

    @property
    def allowed(self) -> float:
        """The error that a model may have."""
        return self.approved + self.margin if self.epsilon is None else self.epsilon

    @property
    def allows(self) -> str:
        """What is allowed, in words."""
        if self.epsilon is not None:
            return f"epsilon allows {percent(self.epsilon)}"
        return f"{at_most(self.approved)} was approved, and {at_most(self.allowed)} is allowed"

    @property
    def way_out(self) -> str:
        """What helps where a test is undecided."""
        if self.epsilon is None:
            return "Raise max_queries (give more rows, where inputs are rows), or allow a larger margin."
        return "Raise max_queries (give more rows, where inputs are rows), give another epsilon, or leave epsilon out."

    def inputs(self, space: World | None) -> World:
        """Those of the test: a space that was given, or the stored one without rows that taught the tree."""
        if space is None and self.kept.space is None:
            raise AssertionError(f"no space is stored in {self.kept.folder}: give space")
        return inputs_for_tests(self.kept, space)

    def run(self, target: Any, inputs: World) -> tuple[Certificate, bool | None]:
        """What fresh inputs show, and the verdict; None is undecided."""
        tree, near, same = self.kept.tree, self.kept.certificate.tolerance, was_deterministic(self.kept)
        if self.epsilon is not None:
            told: dict[str, Any] = {"tolerance": near, "deterministic": same, "max_queries": self.most}
            found = certify(tree, target, inputs, self.epsilon, self.delta, **told)
            refuted = found.interval[0] > self.epsilon
            return found, True if found.holds else False if refuted else None
        if self.allowed >= 1:
            raise AssertionError(f"nothing is certified in {self.kept.folder}: {_NONE}")
        rule = replace(Approval.of(self.approved, self.margin, self.delta), patience=self.most)
        return approved(tree, target, inputs, rule, near, same)

    def where(self, target: Any, inputs: World, found: Certificate) -> str:
        """What changed, and where, by the labels that are left."""
        tree, asked = self.kept.tree, sum(found.queries.values())
        left = self.most - asked - most_checks(asked)
        if not tree.defers and left > 0:  # where they differ is known of trees that answer
            told: dict[str, Any] = {"seed": None, "max_queries": left, "tolerance": self.kept.certificate.tolerance}
            change = diff(tree.predict, target, inputs, self.delta, epsilon=self.allowed, **told)
            if says_where(change.tree):
                return f"What changed, and where:\n\n{change}"
        table = [] if found.confusion is None else found.confusion.lines()
        head = "What the model (target) and the approved tree (tree) answer:"
        return "\n".join([head, "", *table]) if table else str(found)


def _ends(found: Certificate) -> str:
    """Both ends of the error, or the error."""
    low, high = found.interval
    if found.method == "exact":
        return f"{percent(high)} of inputs"
    return f"{span(low, high)} of inputs, with {at_least(found.delta)} confidence"


def approve(
    model: Any, folder: Path, given: tuple[Any, Any], epsilon: float | None, threshold: float | None
) -> Certificate:
    """Distil the model again, in the way in which the folder was made: one tree, or the point of a frontier."""
    space = _world(*given)
    kept = load(folder) if (folder / CERTIFICATE).is_file() else None
    inputs = space if space is not None or kept is None else kept.space
    if inputs is None:
        raise AssertionError(f"give space, to approve a model in {folder} for the first time")
    if kept is not None and kept.run.get("door") == "frontier" and epsilon is None:
        made = _point(model, inputs, kept, threshold)
    else:
        asked = epsilon if epsilon is not None or kept is None else kept.certificate.epsilon
        told: dict[str, Any] = {"seed": None, "threshold": threshold}
        told |= {} if kept is None else {"tolerance": kept.certificate.tolerance, "defer": kept.tree.defers}
        made = distill(model, inputs, 0.05 if asked is None else asked, **told)
    made.save(folder)
    return made.certificate


def _world(space: Any, groups: Any) -> World | None:
    """A space, or a table with the groups of its rows, as a world; None where the stored space is meant."""
    if space is None and groups is None:
        return None
    return world_of(space, groups)


def _point(model: Any, inputs: World, kept: Stored, threshold: float | None) -> Distillation:
    """The point of a new frontier in the place of the stored one: of the same error, the knee, or of the same size."""
    told = {name: kept.run[name] for name in _FRONTIER if kept.run.get(name) is not None}
    made, point = frontier(model, inputs, seed=None, threshold=threshold, **told), kept.run.get(POINT) or {}
    if point.get("epsilon") is not None:
        return made.at(epsilon=point["epsilon"])
    knee = kept.frontier is None or Frontier.load(kept.folder).knee.leaves == kept.tree.size
    return made.knee if knee else made.at(leaves=kept.tree.size)
