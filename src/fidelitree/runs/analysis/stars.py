"""Stars: inputs, each asked together with its changes, one feature at a time.

One input serves the pairs of all features, so a star of n features has n pairs for n + 1 queries. A bit is flipped
instead of re-drawn: then every pair counts, where half of the re-drawn ones would have two equal inputs.

Inputs of bits are stratified by their number of ones. Row k of a block gets its number of ones from the k-th of equal
slices of the distribution, then bits that fit it. Each row has its own slice and draws alone, so rows are independent,
and together they have the space's distribution: an average over them is unbiased, and never varies more than over
other inputs. It varies far less where the target looks at the number of ones, as votes, thresholds and risk
scores do. Counts stay as trustworthy as binomial ones: a sum of independent trials with different probabilities is more
concentrated than a binomial one with the same mean (Hoeffding, 1956, theorem 5), as `trial_level` needs it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.call import MOST_BYTES
from fidelitree.asking.on_device import OnDevice, rows_at_once, windows
from fidelitree.errors import ParameterError
from fidelitree.search.device_pairs import Changes
from fidelitree.spaces.draw import Inputs, Stream, block_rows, draw, paired, redraw
from fidelitree.spaces.features import Boolean
from fidelitree.targets.device.lanes import BalancedLanes, BitLanes, placed
from fidelitree.targets.device.values import Given, ValueLanes

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted
    from fidelitree.spaces.region import Region
    from fidelitree.spaces.rows import Rows
    from fidelitree.spaces.world import KnownJoint
    from fidelitree.targets.labels import Codes

Floats = NDArray[np.float64]
Drawn = tuple[Inputs, dict[int, Inputs]]
"""Inputs, and new values of the features that are changed."""


def can_balance(region: Region) -> bool:
    """Whether all features are bits, and so few of them free that the table of chances fits into a block."""
    bits = max(1, len(region.free()))
    return region.space.all_bits and bits <= block_rows(8 * bits)


def draw_balanced(region: Region, stream: Stream, block: int, rows: int) -> Inputs:
    """Inputs inside a region of bits, features by rows, in the order of their numbers of ones.

    >>> from fidelitree.spaces.product import ProductSpace
    >>> drawn = draw_balanced(ProductSpace.bernoulli(2).whole, Stream.named(0, "grow"), 0, 8)
    >>> drawn.sum(axis=0).tolist()
    [0, 0, 1, 1, 1, 1, 2, 2]
    """
    free, space = region.free(), region.space
    columns = np.empty((len(space), rows), space.dtype)
    for i, value in region.restrictions.items():
        columns[i] = value
    biases = np.array([space.features[i].mass(1) for i in free])
    chances = _chances_of_ones(biases)
    slices = (np.arange(rows) + stream.uniforms(block, 2 * len(space), rows)) / rows
    # Rounding must not carry a draw beyond the largest number of ones that can be.
    left = np.minimum(np.searchsorted(np.cumsum(chances[0]), slices, side="right"), np.flatnonzero(chances[0])[-1])
    for place, i in enumerate(free):
        # Given how many ones are left for this bit and those after it.
        one = biases[place] * np.where(left > 0, chances[place + 1][left - 1], 0.0)
        columns[i] = stream.uniforms(block, i, rows) * chances[place][left] < one
        left = left - columns[i]
    return columns


def trial_level(level: float) -> float:
    """The level at which a Clopper-Pearson end must be taken to be wrong with probability ``level`` at most.

    Beyond the mean by at least one hit, independent trials have lighter tails than the binomial law with their mean.
    Nearer to the mean an end can only be wrong if the mean is below one hit (or one miss): the binomial law gives more
    than 1/4 to either side of its mean elsewhere (Greenberg and Mohri, 2014). There the chance of a hit is at most the
    mean m, where the binomial law has 1 - exp(-m) at least.
    """
    return min(-math.expm1(-level), 0.25)


def _chances_of_ones(biases: Floats) -> Floats:
    """Row j, column s: the probability that the bits from place j on have s ones."""
    count = len(biases)
    chances = np.zeros((count + 1, count + 1))
    chances[count, 0] = 1
    for place in range(count - 1, -1, -1):
        bias, after = biases[place], chances[place + 1]
        chances[place] = (1 - bias) * after
        chances[place, 1:] += bias * after[:-1]
    return chances


class Star(NamedTuple):
    """Inputs (features by rows), their label codes, and the codes after each change (changes by rows)."""

    inputs: Inputs
    before: Codes
    after: Codes


@dataclass
class Stars:
    """What was asked in a region.

    ``changes`` are the features that were changed, one after the other; ``changed`` counts, for every feature, the
    rows whose label changed with it, and ``weights`` holds what such a share is of the influence: 2p(1-p) where a bit
    was flipped. ``labels`` counts label codes of the inputs themselves. ``held`` has the answers one by one where bits
    were flipped and there is room for them.
    """

    region: Region
    changes: Sequence[int]
    weights: Floats
    stream: Stream
    rows: int = 0
    changed: NDArray[np.int64] = field(init=False)
    labels: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    held: list[Star] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.changed = np.zeros(len(self.region.space), np.int64)

    def add(self, counted: Counted, inputs: Inputs, values: dict[int, Inputs], keep: bool) -> None:
        """Ask about inputs and the same with each feature's new values."""
        rows = inputs.shape[1]
        batch = paired(inputs, values, self.changes).reshape(len(inputs), -1).T
        codes = counted.ask(batch, "analyze").reshape(-1, rows)
        before, after = codes[0], codes[1:]
        self.changed[list(self.changes)] += np.count_nonzero(after != before, axis=1)
        found = np.bincount(before, minlength=len(counted.book.seen))
        found[: len(self.labels)] += self.labels
        self.labels, self.rows = found, self.rows + rows
        if keep:
            self.held.append(Star(inputs, before, after))

    def ask(self, counted: Counted, rows: int, drawn: Callable[[int, slice], Drawn], keep: bool = False) -> Stars:
        """Ask about so many inputs, block by block; ``drawn`` gives those of a block and their new values."""
        step = _step(self.region, self.changes)
        for block, start in enumerate(range(0, rows, step)):
            self.add(counted, *drawn(block, slice(start, min(start + step, rows))), keep)
        return self

    def take(self, found: Changes, rows: int) -> None:
        """What was counted on a device."""
        changed, self.labels = found.counts()
        self.changed[list(self.changes)] += changed
        self.rows += rows


def draw_stars(counted: Counted, region: Region, queries: int, stream: Stream) -> Stars:
    """As many stars inside a region as the queries allow."""
    features = region.space.features
    able = able_to_change(region)
    bits = [i for i in able if isinstance(features[i], Boolean)]
    others = [i for i in able if not isinstance(features[i], Boolean)]
    weights = np.zeros(len(features))
    weights[others] = 1
    weights[bits] = [2 * features[i].mass(1) * features[i].mass(0) for i in bits]
    stars = Stars(region, able, weights, stream)
    rows = _affordable(queries, len(stars.changes), "flips" if not others else "changes")
    balanced = can_balance(region)
    keep = not others and 8 * rows * (len(bits) + 1) <= MOST_BYTES
    asked = None if keep else OnDevice.of(counted, any_features=True)
    there = count_values_there if others else count_there
    if asked is not None and there(stars, asked, rows, _step(region, able)):
        return stars

    def drawn(block: int, rows: slice) -> Drawn:
        some = rows.stop - rows.start
        inputs = (draw_balanced if balanced else draw)(region, stream, block, some)
        values = {i: 1 - inputs[i] for i in bits}
        return inputs, values | {i: redraw(region, stream, block, some, i) for i in others}

    return stars.ask(counted, rows, drawn, keep)


def _step(region: Region, changes: Sequence[int]) -> int:
    """Inputs that are asked about at once, each with all its changes."""
    return max(1, block_rows(len(region.space)) // (len(changes) + 1))


def count_there(stars: Stars, asked: OnDevice, rows: int, size: int) -> bool:
    """Flips of all bits on the target's device: the same inputs, in blocks of ``size``, of which counts come back."""
    region, device = stars.region, asked.model.device
    found, most = Changes(asked, stars.changes, "analyze", size), rows_at_once(len(region.space))
    draws: BitLanes | BalancedLanes = BitLanes.of(region, stars.stream, device)
    if can_balance(region):
        free = region.free()
        biases = np.array([region.space.features[i].mass(1) for i in free])
        fixed = placed([region.restrictions.get(i, 0) for i in range(len(region.space))], device, "uint8")
        draws = BalancedLanes(stars.stream, free, biases, _chances_of_ones(biases), fixed)
    for blocks, each in windows(0, rows, size, most):
        found.add(draws.draw(blocks, each, found.octets))
    stars.take(found, rows)
    return True


def count_values_there(stars: Stars, asked: OnDevice, rows: int, size: int) -> bool:
    """The same of changes of any features; False where the model receives something else than numbers."""
    region, model = stars.region, asked.model
    given = Given.found(region.space, model)
    if given is None:
        return False
    found = Changes(asked, stars.changes, "analyze", size, given)
    inputs, again = (ValueLanes.inside(region, stars.stream, model.device, second) for second in (False, True))
    bits = [i for i in stars.changes if isinstance(region.space.features[i], Boolean)]
    for blocks, each in windows(0, rows, size, rows_at_once(len(region.space))):
        inner, other = inputs.draw(blocks, each), again.draw(blocks, each)
        other[:, bits] = 1 - inner[:, bits]
        found.add(inner, other)
    stars.take(found, rows)
    return True


def stars_of_rows(counted: Counted, rows: Rows, region: Region, queries: int, stream: Stream) -> Stars:
    """Stars whose inputs are rows of a table; each takes all its new values from one other row.

    The rows inside the region are shuffled and paired off: every pair of rows is an independent trial for rows like
    those of the table, because no row serves twice, and of a group one row.
    """
    kept, features = np.ones(rows.count, np.bool_), rows.features
    for i, left in region.restrictions.items():
        listed = features[i].listed(left)[0]
        kept &= np.isin(rows.inner[:, i], listed) | (np.isnan(rows.inner[:, i]) & np.isnan(listed).any())
    if rows.groups is not None:
        places = np.flatnonzero(kept)
        kept = np.zeros(rows.count, np.bool_)
        kept[places[rows.groups.of(places).one_each(stream.child("groups"))]] = True
    inside = rows.inner[kept].T
    if inside.shape[1] < 2:
        what = "rows of the table" if rows.groups is None else "groups of rows"
        raise ParameterError(
            f"given must leave at least two {what}; {inside.shape[1]} of {rows.count:,} are inside {region}"
        )
    shuffled = inside[:, np.argsort(stream.lane(0, 0).random_raw(inside.shape[1]), kind="stable")]
    stars = Stars(region, able_to_change(region), np.ones(len(features)), stream)
    count = min(inside.shape[1] // 2, _affordable(queries, len(stars.changes), "changes"))
    inputs, donors = shuffled[:, :count], shuffled[:, count : 2 * count]
    return stars.ask(counted, count, lambda _, some: (inputs[:, some], dict(enumerate(donors[:, some]))))


def stars_of_world(counted: Counted, world: KnownJoint, region: Region, queries: int, stream: Stream) -> Stars:
    """Stars whose features depend on each other: each is drawn again given the values of all others."""
    stars = Stars(region, able_to_change(region), np.ones(len(region.space)), stream)

    def drawn(block: int, rows: slice) -> Drawn:
        inner = world.inside(region, stream, block, rows.stop - rows.start)
        return inner.T, {i: world.redrawn(inner, i, region, stream, block) for i in stars.changes}

    return stars.ask(counted, _affordable(queries, len(stars.changes), "changes"), drawn)


def able_to_change(region: Region) -> list[int]:
    """Features of which more than one value is left."""
    left = [(i, feature, region.restrictions.get(i)) for i, feature in enumerate(region.space)]
    return [i for i, feature, what in left if feature.points is None or len(feature.listed(what)[0]) > 1]


def _affordable(queries: int, changes: int, word: str) -> int:
    rows = queries // (changes + 1)
    if rows < 1:
        raise ParameterError(
            f"max_queries must allow one input and its {changes} {word}; got {queries}, needed {changes + 1}"
        )
    return rows
