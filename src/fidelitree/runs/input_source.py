"""Where the inputs of a run come from: a space, or the rows of a table.

Inputs for learning and inputs for tests are kept apart: they come from different streams, or from different rows.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.journal.ledger import FIRST_KEY
from fidelitree.asking.limits import BudgetSpent
from fidelitree.certificates.certificate import assumptions
from fidelitree.spaces.draw import BitDraws, Stream, block_rows, draw
from fidelitree.spaces.region import Region

if TYPE_CHECKING:
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.spaces.rows import Rows
    from fidelitree.spaces.world import Weighed, World

Inner = NDArray[Any]


class Source(ABC):
    """Independent inputs for learning and for tests, each given out once.

    ``most`` and ``tests`` are how many there are of each. ``independent`` is the space that inputs come from, where
    its features are independent; ``masses`` knows the mass of a region, where anybody does; ``world`` draws as many
    inputs as one likes, and is None of a table. The ``digest`` names the distribution in a certificate.
    """

    independent: ProductSpace | None = None
    masses: Weighed | None = None
    world: World | None = None
    most: float = math.inf
    tests: float = math.inf
    keyed: bool = True
    """Whether the key of an attempt changes the inputs to come."""
    labels_test: bool = True
    """Whether inputs for learning are independent of those before them, so that they may test a tree before they teach.
    """

    def __init__(self, space: World, assumes: tuple[str, ...]) -> None:
        self.product, self.digest, self.in_words, self._assumes = space.product, space.digest, space.in_words, assumes

    @property
    @abstractmethod
    def drawn(self) -> tuple[int, int]:
        """How many inputs were given out for learning, and for tests: the same places in all runs of a seed."""

    @abstractmethod
    def rekey(self, key: str | None) -> None:
        """Draw from the streams of another key from now on, or of 0.2.0 (None); rows of a table stay as they are."""

    @property
    def labels_left(self) -> float:
        """How many of those for learning were not given out yet."""
        return self.most - self.drawn[0]

    @property
    def tests_left(self) -> float:
        """How many of those for tests were not given out yet."""
        return self.tests - self.drawn[1]

    @abstractmethod
    def label(self, rows: int) -> Inner:
        """The next inputs for learning, fewer at the end."""

    @abstractmethod
    def test(self, rows: int) -> Inner:
        """The next inputs for tests; BudgetSpent where there are none."""

    @abstractmethod
    def free(self, rows: int) -> Inner:
        """Inputs to look at that nobody was asked about; of a table, rows for learning that were not given out yet."""

    def assumes(self, deterministic: bool, seed_chosen: bool) -> tuple[str, ...]:
        """What a certificate over these inputs takes for granted."""
        return assumptions(deterministic, self._assumes, seed_chosen)


class DrawnSource(Source):
    """Inputs drawn from a world; ``together`` draws those for tests as a learner over bits wants them.

    Masses are those of the distribution that tests are drawn from: a certificate may rest on them.
    """

    def __init__(self, world: World, seed: int, together: bool = False) -> None:
        # What a certificate is about is drawn from the tested part, free inputs of a search from the other.
        learnt, tested = world.apart(seed)
        super().__init__(world, tested.assumes)
        self.world, self._learnt, self._free = tested, learnt, Stream.named(seed, "free")
        self.independent, self.masses = world.independent, tested.masses
        self._seed = seed
        self._together = together
        self._before = 0, 0
        self._labels, self._tests = self._streams(FIRST_KEY)

    def _streams(self, key: str | None) -> tuple[_Blocks, BitDraws | _Blocks]:
        """Inputs of a key, for learning and for tests; without one, those of 0.2.0, which knew none."""
        labels, tests = Stream.named(self._seed, "label"), Stream.named(self._seed, "certify")
        if key is not None:
            labels, tests = labels.child(key), tests.child(key)
        assert self.world is not None, "drawn inputs come from a world"
        if self._together:
            return _Blocks(self._learnt, labels.child("any")), BitDraws(self.product.biases, tests)
        return _Blocks(self._learnt, labels.child("any")), _Blocks(self.world, tests.child("any"))

    @property
    def drawn(self) -> tuple[int, int]:
        labels, tests = self._before
        return labels + self._labels.taken, tests + self._tests.taken

    def rekey(self, key: str | None) -> None:
        """What was drawn from the streams of the key before, and not given out, is dropped."""
        self._before = self.drawn
        self._labels, self._tests = self._streams(key)

    def label(self, rows: int) -> Inner:
        return self._labels.take(rows)

    def test(self, rows: int) -> Inner:
        return self._tests.take(rows)

    def free(self, rows: int) -> Inner:
        return self._learnt.inputs(self._free, 0, rows)


class _Blocks:
    """Inputs of a stream, block after block, each block twice as long as all before it."""

    def __init__(self, world: World, stream: Stream) -> None:
        self._world, self._stream, self._blocks, self.taken = world, stream, 0, 0
        self._waiting = np.empty((0, len(world.product)), world.product.dtype)

    def take(self, rows: int) -> Inner:
        self.taken += rows
        parts, found = [self._waiting], len(self._waiting)
        while found < rows:
            size = min(64 << self._blocks, block_rows(len(self._world.product)))
            parts.append(self._world.inputs(self._stream, self._blocks, size))
            self._blocks += 1
            found += size
        together = np.concatenate(parts) if len(parts) > 1 else parts[0]
        self._waiting = together[rows:]
        return together[:rows]


class TableSource(Source):
    """Rows of a table: one part for learning, the other for tests."""

    drawn: tuple[int, int] = (0, 0)
    keyed = False

    def __init__(self, rows: Rows, seed: int) -> None:
        super().__init__(rows, rows.assumes)
        parts = rows.parts(seed)
        self._growing, self._testing = parts.growing, parts.testing
        self.most, self.tests = len(parts.growing), len(parts.testing)
        self.labels_test = rows.groups is None  # several rows of one group teach

    def label(self, rows: int) -> Inner:
        start, tests = self.drawn
        found = self._growing[start : start + rows]
        self.drawn = start + len(found), tests
        return found

    def test(self, rows: int) -> Inner:
        labels, start = self.drawn
        found = self._testing[start : start + rows]
        if not len(found):
            raise BudgetSpent(f"the table's {len(self._testing):,} test rows")
        self.drawn = labels, start + len(found)
        return found

    def rekey(self, key: str | None) -> None:
        """Nothing: there are no other rows."""

    def free(self, rows: int) -> Inner:
        return self._growing[self.drawn[0] :][:rows]


def inside(world: World, box: Region, stream: Stream, block: int, rows: int) -> Inner:
    """Inputs of a box, as a world draws them there; none where nobody knows how."""
    if world.independent is not None:
        return draw(Region(world.independent, box.restrictions), stream, block, rows).T
    if world.redraws is not None:
        return world.redraws.inside(box, stream, block, rows)
    return np.empty((0, len(world.product)), world.product.dtype)


class BoxDraws:
    """Inputs inside boxes of a world, each block of a stream once."""

    def __init__(self, world: World | None, stream: Stream) -> None:
        self._world, self._stream, self._blocks = world, stream, 0

    def mass(self, box: Region) -> float:
        """Probability of a box; 0 where nobody knows, so that nothing is drawn there."""
        return 0.0 if self._world is None or self._world.masses is None else self._world.masses.mass(box)

    def draw(self, box: Region, rows: int) -> Inner:
        """Inputs of a box; none where nobody knows how to draw there."""
        assert self._world is not None, "a box without a mass is not drawn from"
        self._blocks += 1
        return inside(self._world, box, self._stream, self._blocks, rows)

    def among(self, boxes: Sequence[Region], rows: int) -> tuple[Inner, NDArray[np.intp]]:
        """Inputs of some boxes, each as often as its mass asks, and the place of the box that each is drawn for."""
        masses, nothing = np.array([self.mass(box) for box in boxes]), np.empty((0, 0))
        if not masses.sum() > 0:
            return nothing, np.zeros(0, np.intp)
        self._blocks += 1
        counts = np.bincount(self._stream.child("leaf").picks(self._blocks, 0, rows, masses), minlength=len(boxes))
        drawn = [self.draw(box, int(count)) if count else nothing for box, count in zip(boxes, counts, strict=True)]
        found = [part for part in drawn if len(part)]
        return np.concatenate(found) if found else nothing, np.repeat(np.arange(len(boxes)), [*map(len, drawn)])


def source_of(space: World, seed: int, together: bool = False) -> Source:
    """The inputs that a user's space stands for; with ``together``, bits for tests are drawn together."""
    if space.table is not None:
        return TableSource(space.table, seed)
    return DrawnSource(space, seed, together and space.independent is not None and space.independent.all_bits)
