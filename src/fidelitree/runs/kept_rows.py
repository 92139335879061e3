"""Real rows beside a fitted world: the target is asked about them first, and nothing learns from what it says.

So they show the error of any tree of the run afterwards, whatever ended it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import BudgetSpent
from fidelitree.certificates.confusion import CONFIDENCE
from fidelitree.certificates.real_rows import RealRows
from fidelitree.display.wording import percent, span
from fidelitree.errors import warn
from fidelitree.trees.answers import DEFER, apart

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted
    from fidelitree.certificates.certificate import Certificate
    from fidelitree.runs.frontier_result import Frontier
    from fidelitree.runs.result import Distillation
    from fidelitree.spaces.world import World

ASKED = 500
"""Rows that are asked about: then an error of 5 % is known to 2 %."""
SHARE = 5
"""One label in so many goes to them where labels are limited."""
Predict = Callable[[NDArray[Any]], NDArray[Any]]


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Real rows with the target's answers."""

    inner: NDArray[Any]
    labels: NDArray[Any]
    counted: str = "rows"

    @classmethod
    def ask(cls, counted: Counted, space: World) -> KeptRows | None:
        """The answers to some of the rows that a world kept; None without any, or where no budget allows it."""
        limit = counted.budget.max_queries
        most = ASKED if limit is None else min(ASKED, limit // SHARE)
        if space.kept is None or not most:
            return None
        inner = space.kept.inner[:most]
        try:
            return cls(inner, counted.labels(counted.ask(inner, "real rows")), space.kept.counted)
        except BudgetSpent:
            return None


def told(certificate: Certificate, kept: KeptRows | None, predict: Predict) -> Certificate:
    """A certificate that tells of these rows, too."""
    if kept is None:
        return certificate
    found = np.asarray(predict(kept.inner))
    own = np.ones(len(found), np.bool_) if certificate.coverage is None else np.asarray(found != DEFER)
    if not own.any():
        return certificate
    wrong = int(np.count_nonzero(apart(found[own], kept.labels[own], certificate.tolerance)))
    return replace(certificate, real_rows=RealRows(int(own.sum()), wrong, kept.counted))


def doubted(certificate: Certificate) -> None:
    """Warn where real rows refute what is certified over draws."""
    real = certificate.real_rows
    if real is None or not certificate.refuted_by_rows:
        return
    low, high = real.interval
    warn(
        f"real rows refute this certificate, which is about draws: at least {certificate.agreement} is "
        f"certified, and on {real.rows:,} rows of the table that were kept aside the tree agrees on "
        f"{percent(1 - real.share)} ({span(1 - high, 1 - low)} with {percent(CONFIDENCE)} confidence). The draws are "
        f"not like the rows, or the model was fitted to rows of this table and answers them by heart - certify over "
        f"rows with ft.Rows(table), or draw otherwise: ft.Mixture.from_data(table), and take rows that are new to the "
        f"model"
    )


def beside(found: Distillation, kept: KeptRows | None) -> Distillation:
    """A result, and all points of its frontier, with their errors on real rows."""
    if kept is None:
        return found
    curve = found.curve_with(lambda curve: beside_all(curve, kept))
    return replace(found, certificate=told(found.certificate, kept, found.tree.predict_inner), curve=curve)


def beside_all(found: Frontier, kept: KeptRows | None) -> Frontier:
    """The same for a frontier."""
    return replace(found, points=tuple(beside(point, kept) for point in found.points))
