"""Paired draws: one feature drawn twice inside a region, all else equal, with the labels of both inputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.counted import Counted
from fidelitree.errors import check_count
from fidelitree.spaces.draw import Stream, block_rows, draw, paired, redraw
from fidelitree.spaces.features import Column, Feature, Restriction
from fidelitree.spaces.region import Region


@dataclass(frozen=True, eq=False)
class Pairs:
    """Values ``one`` and ``two`` of a feature, independent given all other features, and whether the label changed."""

    region: Region
    feature: int
    one: Column
    two: Column
    changed: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.changed)

    @property
    def drawn(self) -> Feature:
        """The feature that was drawn twice."""
        return self.region.space.features[self.feature]

    @property
    def left(self) -> Restriction | None:
        """What is left of it in the region."""
        return self.region.restrictions.get(self.feature)

    def part(self, rows: slice) -> Pairs:
        """Some of the pairs."""
        return Pairs(self.region, self.feature, self.one[rows], self.two[rows], self.changed[rows])


def draw_pairs(counted: Counted, region: Region, feature: int, stream: Stream, count: int) -> Pairs:
    """``count`` pairs inside a region, which take two queries each.

    >>> from fidelitree.spaces.product import ProductSpace
    >>> space = ProductSpace.bernoulli(2)
    >>> stream = Stream.named(0, "grow")
    >>> pairs = draw_pairs(Counted(lambda batch: batch[:, 0], space), Region.whole(space), 0, stream, 1000)
    >>> bool((pairs.changed == (pairs.one != pairs.two)).all())
    True
    """
    count, most = check_count("count", count), block_rows(len(region.space)) // 2
    parts = []
    for block, start in enumerate(range(0, count, most)):
        rows = min(most, count - start)
        inputs = draw(region, stream, block, rows)
        again = redraw(region, stream, block, rows, feature)
        batch = paired(inputs, {feature: again}, [feature]).reshape(len(inputs), -1).T
        before, after = counted.ask(batch, "grow").reshape(2, rows)
        parts.append((inputs[feature], again, before != after))
    one, two, changed = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Pairs(region, feature, one, two, changed)
