"""What a report is about: plain data, so that it can be made from a result or from stored files.

`About` is what only its author knows: the names of model and data, and the date.
`Shares` is how inputs spread over the nodes of a tree: their masses, the target's labels, and the errors.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.certificates.confusion import CONFIDENCE, LeafError, leaf_errors
from fidelitree.errors import check_text
from fidelitree.trees.answers import upwards

if TYPE_CHECKING:
    from fidelitree.asking.counted import Queries
    from fidelitree.certificates.certificate import Certificate
    from fidelitree.display.frontier_chart import Mark
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.spaces.world import World
    from fidelitree.trees.answers import LeafLabels
    from fidelitree.trees.disagreements import Disagreements
    from fidelitree.trees.tree import Tree

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TracePoint:
    """A tree on the way: labels asked until then, its leaves, its error, and the error certified for this tree.

    The error is exact or estimated; what is not known is None.
    """

    asked: int
    size: int
    error: float | None
    error_bound: float | None


@dataclass(frozen=True)
class Contents:
    """Everything that a page shows.

    ``call`` is the Python call or the command that led here.
    """

    tree: Tree
    world: World
    certificate: Certificate
    queries: Queries
    steps: tuple[TracePoint, ...] = ()
    by_leaves: bool = False
    """Whether each step is one more split of the same tree, so that leaves are what to draw errors against."""
    leaf_labels: LeafLabels | None = None
    reason: str = ""
    call: str = ""
    knee: bool = False
    """Whether the tree is the knee of its curve."""
    curve: SizeCurve | None = None
    """The trees of all sizes that the same answers certify, this one among them."""
    disagreements: Disagreements | None = None
    """Test inputs on which target and tree differ; None where they were not kept one by one."""
    target_name: str = ""
    """What the run calls its target."""
    ways: tuple[tuple[str, str], ...] = ()
    """How the stored folder can be checked, what decides first: a sentence and a command each."""

    @property
    def space(self) -> ProductSpace:
        """The features with their marginals."""
        return self.world.product

    @property
    def leaf_errors(self) -> list[LeafError]:
        """What each leaf gets wrong."""
        table, labels = self.certificate.confusion, self.leaf_labels
        level = None if table is None else table.level
        return [] if labels is None else leaf_errors(labels, self.tree, level or 1 - CONFIDENCE)


@dataclass(frozen=True)
class About:
    """What the author of a report says about it; what is empty is left out, or taken from the run."""

    title: str = ""
    target_name: str = ""
    notes: str = ""
    date: str = ""

    @classmethod
    def told(cls, **texts: object) -> About:
        """From the arguments of a door; a date may be one, and None is the day of writing."""
        day = dt.datetime.now(tz=dt.UTC).date() if texts["date"] is None else texts["date"]
        texts["date"] = day.isoformat() if isinstance(day, dt.date) else day
        for name, value in texts.items():
            check_text(name, value)
        return cls(**texts)  # type: ignore[arg-type]  # they are texts


@dataclass(frozen=True)
class SizeCurve:
    """Trees of many sizes; the page opens at the ``chosen`` one and can show each of them."""

    points: tuple[Contents, ...]
    chosen: int
    sentences: tuple[str, ...]
    """What the numbers are worth, and why there is no knee where there is none."""

    @property
    def marks(self) -> list[Mark]:
        """The points as a drawing needs them."""
        return [one.certificate.mark(one.tree.size, one.knee) for one in self.points]


@dataclass(frozen=True, eq=False)
class Shares:
    """For every node: the share of inputs that reach it, and the share that reach it and are labelled wrongly.

    ``masses`` are None where they are not known, ``wrong`` where no answers were kept.
    """

    masses: Floats | None
    wrong: Floats | None
    estimated: bool
    """Whether the masses, too, come from answers."""

    @classmethod
    def of(cls, contents: Contents) -> Shares:
        """Masses from the world where it knows them; else only the answers tell how many inputs reach a leaf."""
        tree, labels = contents.tree, contents.leaf_labels
        wrong = None if labels is None else upwards(tree, labels.wrong(tree))
        if (known := contents.world.masses) is not None:
            return cls(np.array([known.mass(region) for _, region in tree.regions(contents.space)]), wrong, False)
        return cls(None if labels is None else upwards(tree, labels.shares.sum(axis=1)), wrong, True)
