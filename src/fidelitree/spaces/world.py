"""Worlds: what every place that inputs come from can be asked, so that another kind of them is one more file.

A world has features and batches (``product``), names itself (``digest``, ``assumes``), and gives out inputs. What is
known about its distribution differs, and is asked for, never guessed from its type: a product of independent features
is open to every exact engine (``independent``), some others still know the mass of a region (``masses``), and a table
has a number of rows, each of which serves once (``table``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fidelitree.display.wording import counted
from fidelitree.errors import check_count
from fidelitree.spaces.describe import Description, describe
from fidelitree.spaces.draw import Stream, block_rows, seed_of

if TYPE_CHECKING:
    from fidelitree.spaces.features import Feature
    from fidelitree.spaces.held_out import Fit
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.spaces.region import Region
    from fidelitree.spaces.rows import Rows


World: TypeAlias = "ProductSpace | Joint"
"""Where inputs come from; `Joint` says what each of them can be asked."""
Weighed: TypeAlias = "ProductSpace | KnownJoint"
"""Inputs of which the mass of every region is known."""


class Joint(ABC):
    """A world that is no product: features and batches are those of its marginals."""

    product: ProductSpace
    """The features with their marginals, and what a target receives."""
    independent: None = None
    """The world itself where its features are independent: what exact engines take."""
    kept: Rows | None = None
    """Real rows that it was not fitted to, on which errors are shown beside a certificate; None without any."""
    fit: Fit | None = None
    """How well it describes rows that it has not seen; None where it was not fitted, or nobody can tell."""

    @property
    @abstractmethod
    def digest(self) -> str:
        """SHA-256 of all that determines the distribution."""

    @property
    @abstractmethod
    def assumes(self) -> tuple[str, ...]:
        """What a certificate over these inputs takes for granted about them."""

    @property
    def masses(self) -> KnownJoint | None:
        """The world itself where masses of regions are known, those of its own inputs; None elsewhere."""
        return None

    @property
    def table(self) -> Rows | None:
        """The rows that inputs are taken from, each once; None where as many as you like can be drawn."""
        return None

    @property
    def redraws(self) -> KnownJoint | None:
        """The world itself where dependent features can be drawn again one by one; None elsewhere."""
        return None

    @property
    @abstractmethod
    def in_words(self) -> str:
        """The world as a noun."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return self.product.names

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features with their marginals."""
        return self.product.features

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of inner values."""
        return self.product.dtype

    def apart(self, seed: int) -> tuple[Any, Any]:
        """The worlds that a run learns from and tests with: itself, twice, unless they come from different rows."""
        return self, self

    def batch(self, inner: NDArray[Any]) -> Any:
        """What the target receives: the same kind of table."""
        return self.product.batch(inner)

    def encode(self, inputs: Any) -> NDArray[Any]:
        """Inner values of inputs in any form."""
        return self.product.encode(inputs)

    @abstractmethod
    def inputs(self, stream: Stream, block: int, rows: int) -> NDArray[Any]:
        """Independent inputs, rows by features: a block of a stream is the same whatever was drawn before."""

    def draw(self, rows: int, seed: int | None = None) -> Any:
        """Inputs as the target receives them; the same seed gives the same ones, None fresh ones."""
        return self.product.batch(drawn(self, rows, seed))

    def describe(self) -> Description:
        """All features with their marginals: a table, with small histograms in a notebook."""
        return describe(self)

    def _repr_html_(self) -> str:
        return self.describe()._repr_html_()


class KnownJoint(Joint):
    """A joint distribution that is known: masses of regions, draws inside them and draws given the rest are exact."""

    @property
    def masses(self) -> Self:
        """The world itself: the mass of every region is known, and one feature can be drawn again given all others."""
        return self

    redraws = masses

    @abstractmethod
    def mass(self, region: Region) -> float:
        """Probability that an input falls into the region."""

    @abstractmethod
    def inside(self, region: Region, stream: Stream, block: int, rows: int) -> NDArray[Any]:
        """Inputs of a region, rows by features, without rejection however rare it is."""

    @abstractmethod
    def redrawn(self, inner: NDArray[Any], feature: int, region: Region, stream: Stream, block: int) -> NDArray[Any]:
        """Another value of a feature for each of these inputs of a region, given its values of all others."""

    def inputs(self, stream: Stream, block: int, rows: int) -> NDArray[Any]:
        """Independent inputs, rows by features: a block of a stream is the same whatever was drawn before."""
        return self.inside(self.product.whole, stream, block, rows)


def drawn(world: World, rows: int, seed: int | None) -> NDArray[Any]:
    """Inputs for a user to look at: those of a run come from other streams."""
    rows, stream, step = check_count("rows", rows), Stream.named(seed_of(seed), "draw"), block_rows(len(world.names))
    starts = range(0, rows, step)
    return np.concatenate([world.inputs(stream, block, min(step, rows - s)) for block, s in enumerate(starts)])


def over_features(what: str, product: ProductSpace) -> str:
    """Such as "rows of a table with 3 features"."""
    return f"{what} {counted(len(product), 'feature')}"
