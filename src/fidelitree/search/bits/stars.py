"""The feature that a deep tree tests first: of all, the one whose change most often changes the label.

A look-ahead sees nothing in the first splits of a tree that is deeper than it looks. What each feature does can still
be asked: an input of a region, and that input with one bit flipped, for each feature in turn, are a *star*. Over inputs
as they are drawn, the share of flips that change the label estimates the influence of the feature there, and the best
tree's first test has a large one (THEORY 2; the paper splits where reach times influence is largest). Features race:
what is clearly behind is not flipped any more.

Inputs of stars lie close together: their answers teach, and are no sample of the region.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from fidelitree.search.questions import Steps

Bits = NDArray[np.uint8]
Codes = NDArray[np.intp]
Floats = NDArray[np.float64]

CENTRES = 48  # stars of a race, as two features may both be first; after a quarter of them a region may be given up
BEHIND = 2.0  # standard errors of a difference from which on a feature is out of the race
DEPTH = 6  # tests of an input, on average: then one influence is at least variance / DEPTH, and all are DEPTH at most


class DrawnRegion(NamedTuple):
    """Inputs as they were drawn in a region, with their labels, and how to ask about others."""

    centres: Bits
    codes: Codes
    answers: Callable[[Bits], Steps[Codes]]


def most_influential(region: DrawnRegion, features: list[int]) -> Steps[int | None]:
    """The feature with the largest influence; None where no tree of a sensible size can begin with any of them."""
    worth, least = _worth(region.centres, features), _variance(region.codes) / DEPTH
    if not least:
        return None
    alive = np.ones(len(features), np.bool_)
    gains: Floats = np.zeros((0, len(features)))
    for centre, code in zip(region.centres[:CENTRES], region.codes[:CENTRES], strict=True):
        if np.count_nonzero(alive) == 1:
            break
        flipped = np.flatnonzero(alive)
        rows = np.repeat(centre[None], len(flipped), axis=0)
        rows[np.arange(len(flipped)), np.array(features)[flipped]] ^= 1
        changed = np.zeros(len(features))
        changed[flipped] = (yield from region.answers(rows)) != code
        gains = np.concatenate([gains, (changed * worth)[None]])
        means = np.where(alive, gains.mean(axis=0), -1.0)
        if len(gains) == CENTRES // 4 and (means.max() < least or gains.sum() > DEPTH * len(gains)):
            return None
        alive &= ~_behind(gains, int(means.argmax()))
    means = np.where(alive, gains.sum(axis=0) / max(1, len(gains)), -1.0)
    return None if means.max() < least else features[int(means.argmax())]


def clearly_ahead(rows: Bits, features: list[int], chosen: int, answers: Callable[[Bits], Codes]) -> int:
    """The feature with the largest influence where answers cost nothing; the ``chosen`` one unless it is behind."""
    worth, codes = _worth(rows, features), answers(rows)
    gains = np.empty((len(rows), len(features)))
    for place, feature in enumerate(features):
        flipped = rows.copy()
        flipped[:, feature] ^= 1
        gains[:, place] = (answers(flipped) != codes) * worth[place]
    leader = int(gains.mean(axis=0).argmax())
    return features[leader] if _behind(gains, leader)[features.index(chosen)] else chosen


def _behind(gains: Floats, leader: int) -> NDArray[np.bool_]:
    """Which features are clearly behind the leader, star by star."""
    apart = gains[:, [leader]] - gains
    lead, spread = apart.sum(axis=0), np.sqrt((apart**2).sum(axis=0))
    return np.asarray((lead > 0) & (lead >= BEHIND * spread))


def _worth(centres: Bits, features: list[int]) -> Floats:
    """What a flip that changes the label says about drawing the feature anew: 1 for a fair bit, 0 for a constant."""
    ones = centres[:, features].mean(axis=0)
    return np.asarray(4 * ones * (1 - ones), np.float64)


def _variance(codes: Codes) -> float:
    """Of the label: 1 for two that are as frequent, 0 for one."""
    shares = np.bincount(codes) / max(1, len(codes))
    return float(2 * (1 - (shares**2).sum()))
