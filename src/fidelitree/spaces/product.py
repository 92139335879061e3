"""Product spaces: independent features, each with its own marginal.

Inside the library inputs are *inner* values, rows by features: bytes where all features are bits, else floats (a bit is
0 or 1, a category its code, a number itself). `batch` turns them into what the target receives, `encode` turns inputs
of any form into them.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fidelitree.errors import (
    ParameterError,
    check_array,
    check_count,
    check_list,
    check_names,
    check_probability,
    check_text,
    show,
)
from fidelitree.spaces.batches import Kind, Layout, layout
from fidelitree.spaces.describe import Description, describe
from fidelitree.spaces.draw import draw
from fidelitree.spaces.features import Boolean, Feature
from fidelitree.spaces.files import decode, encode, read_space_file
from fidelitree.spaces.inputs import as_inner
from fidelitree.spaces.region import Region
from fidelitree.spaces.tables import read_table, some_rows
from fidelitree.spaces.world import drawn, over_features

if TYPE_CHECKING:
    from fidelitree.spaces.draw import Stream

MOST_BITS = 1_000_000
_DIGITS = 12  # of a number that somebody can read
SEEN, SEEN_BYTES = 1_000, 1 << 22  # rows of a table that its marginals remember, and the room for them
ASSUMES_DISTRIBUTION = "inputs follow the stated product distribution"


class ProductSpace:
    """Where inputs come from: every feature is drawn on its own.

    `bernoulli` makes a space of bits, `from_data` one of a table's columns, `from_file` one of a TOML file.

    Args:
        features: The features: `Boolean`, `Numeric`, `Categorical`.
        batch: What the target receives: "dict", "pandas", "polars" or "arrow". Bits come as an array otherwise.

    Raises:
        ParameterError: An argument breaks its rule.

    Examples:
        >>> space = ProductSpace.bernoulli(3, p=[0.5, 0.5, 0.1])
        >>> space.names
        ('x0', 'x1', 'x2')
    """

    assumes = (ASSUMES_DISTRIBUTION,)
    kept = fit = table = redraws = None  # inputs are drawn, and each feature is drawn again by itself
    seen: NDArray[Any] | None = None
    """Inner values of some rows of the table whose marginals these are; None where there was none."""

    def __init__(self, features: Sequence[Feature], batch: Kind | None = None) -> None:
        self.features: tuple[Feature, ...] = tuple(check_list("features", features, "features such as Boolean"))
        if not self.features:
            raise ParameterError("features must hold at least one feature; got none")
        for position, feature in enumerate(self.features):
            if not isinstance(getattr(feature, "name", None), str) or not hasattr(feature, "mass"):
                raise ParameterError(f"features must hold features such as Boolean; got {show(feature)} at {position}")
            check_text("name of a feature", feature.name)
        self.names: tuple[str, ...] = tuple(feature.name for feature in self.features)
        self.kinds: tuple[str, ...] = tuple(feature.kind for feature in self.features)
        if len(set(self.names)) < len(self.names):
            ((twice, _),) = Counter(self.names).most_common(1)
            raise ParameterError(f"features must have different names; got {twice!r} more than once")
        self._layout: Layout = layout(self.features, batch)

    @classmethod
    def bernoulli(cls, n: int, p: float | ArrayLike = 0.5, names: Sequence[str] | None = None) -> ProductSpace:
        """Independent bits.

        Args:
            n: How many there are.
            p: The probability of 1, one number or one for each bit.
            names: What they are called; x0, x1 ... where it is left out.

        Returns:
            The space.

        Raises:
            ParameterError: An argument breaks its rule.

        Examples:
            >>> ProductSpace.bernoulli(2, p=0.3, names=["door", "window"]).names
            ('door', 'window')
        """
        n = check_count("n", n)
        if n > MOST_BITS:
            raise ParameterError(f"n must be at most {MOST_BITS:,}, each of which is an object of its own; got {n:,}")
        names = _check_names(n, names)
        return cls([Boolean(name, bias) for name, bias in zip(names, _check_biases(n, p), strict=True)])

    @classmethod
    def from_data(cls, table: Any, categorical: Iterable[str] = (), numeric: Iterable[str] = ()) -> ProductSpace:
        """The marginals of a table.

        Truth values become bits, numbers numeric features, anything else categories. The target receives the same kind
        of table, with the same columns and types.

        Args:
            table: A pandas, polars or arrow table, a mapping of name to 1-D array, or a 2-D array.
            categorical: Columns to be read as categories, whatever they hold.
            numeric: Columns to be read as numbers, whatever they hold.

        Returns:
            The space.

        Raises:
            ParameterError: An argument breaks its rule.

        Examples:
            >>> space = ProductSpace.from_data({"owner": [True, False], "age": [31, 35], "job": ["nurse", "clerk"]})
            >>> [feature.kind for feature in space], space.points
            (['boolean', 'numeric', 'categorical'], 8)
        """
        space = cls._of(*read_table(table, categorical, numeric))
        space.seen = space.encode(some_rows(table, max(1, min(SEEN, SEEN_BYTES // (8 * len(space))))))
        return space

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> ProductSpace:
        """The space that a TOML file describes; `spacefile` has the format."""
        return cls(*read_space_file(path))

    @classmethod
    def from_dict(cls, data: Any) -> ProductSpace:
        """The inverse of `to_dict`; FormatError says what is wrong with anything else."""
        return cls._of(*decode(data))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact: the space made of it has the same digest, and its target receives the same batches."""
        return encode(self.features, self._layout)

    def with_features(self, features: Sequence[Feature]) -> ProductSpace:
        """Other features, with the same batches."""
        return self._of(features, self._layout)

    @classmethod
    def _of(cls, features: Sequence[Feature], batches: Layout) -> ProductSpace:
        space = cls(features)
        space._layout = batches
        return space

    def __len__(self) -> int:
        return len(self.features)

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.features)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, ProductSpace) and self.features == other.features)

    def __hash__(self) -> int:
        return hash(self.features)

    def __repr__(self) -> str:
        shown = ", ".join(repr(feature) for feature in self.features[:4])
        return f"ProductSpace([{shown}{', ...' if len(self) > 4 else ''}])  # {len(self)} features"

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The type of inner values: uint8 where all features are bits, else float64."""
        return np.dtype(np.uint8 if self.all_bits else np.float64)

    @cached_property
    def all_bits(self) -> bool:
        """Whether every feature is a bit."""
        return all(feature.kind == "boolean" for feature in self.features)

    @property
    def product(self) -> ProductSpace:
        """The features, and what a target receives; `World` says what else a run asks of its inputs."""
        return self

    independent = masses = product  # every exact engine can take it, and the mass of every region is known

    @property
    def whole(self) -> Region:
        """The region without restrictions."""
        return Region(self, {})

    def apart(self, seed: int) -> tuple[ProductSpace, ProductSpace]:
        """The space itself, to learn from and to test with."""
        return self, self

    @property
    def in_words(self) -> str:
        """The space as a noun."""
        return f"{over_features('a product of', self)}, {self.extent}"

    def mass(self, region: Region) -> float:
        """Probability that an input falls into the region."""
        return region.mass

    def inputs(self, stream: Stream, block: int, rows: int) -> NDArray[Any]:
        """Independent inputs, rows by features: a block of a stream is the same whatever was drawn before."""
        return draw(self.whole, stream, block, rows).T

    def draw(self, rows: int, seed: int | None = None) -> Any:
        """Inputs as the target receives them; the same seed gives the same ones, None fresh ones.

        >>> ProductSpace.bernoulli(3).draw(2, seed=1).shape
        (2, 3)
        """
        return self.batch(drawn(self, rows, seed))

    def describe(self) -> Description:
        """All features with their marginals: a table, with small histograms in a notebook."""
        return describe(self)

    def _repr_html_(self) -> str:
        return self.describe()._repr_html_()

    @cached_property
    def points(self) -> int | None:
        """How many different inputs there are; None where there are infinitely many."""
        if self.all_bits:
            return 1 << len(self.features)
        counts = Counter(feature.points for feature in self.features)
        # One power for all features of a kind: a product of a million twos, one after the other, takes a minute.
        return None if None in counts else math.prod(count**times for count, times in counts.items() if count)

    @property
    def extent(self) -> str:
        """How many inputs there are, in words."""
        if self.all_bits:
            return f"2^{len(self)} inputs"
        if self.points is None:
            return "infinitely many inputs"
        digits = len(str(self.points)) - 1
        return f"{self.points:,} inputs" if digits < _DIGITS else f"at least 10^{digits} inputs"

    def chances(self, inner: NDArray[Any]) -> NDArray[np.float64]:
        """The probability of each input of a finite space, rows by features."""
        if self.all_bits:
            return np.asarray(np.where(inner, self.biases, 1 - self.biases).prod(axis=1))
        chances = np.ones(len(inner))
        for i, feature in enumerate(self.features):
            values, shares = feature.listed(None)
            chances *= shares[np.searchsorted(values, inner[:, i])]
        return chances

    def batch(self, inner: NDArray[Any]) -> Any:
        """What the target receives for inner values, rows by features."""
        return self._layout.batch(inner)

    def encode(self, inputs: Any) -> NDArray[Any]:
        """Inner values of inputs in any form that `batch` may have, and of 2-D arrays.

        A category that the space does not have gets the code -1; a missing number is NaN.
        """
        return as_inner(inputs, self.names, self.kinds, [feature.values for feature in self.features], self.gaps)

    @cached_property
    def gaps(self) -> frozenset[int]:
        """The features whose numbers may be missing."""
        gone = () if self.all_bits else (getattr(feature, "missing", 0) > 0 for feature in self.features)
        return frozenset(i for i, missing in enumerate(gone) if missing)

    @cached_property
    def biases(self) -> NDArray[np.float64]:
        """Pr[x_i = 1] of every bit; an error where a feature is not a bit."""
        bits = [feature.p for feature in self.features if isinstance(feature, Boolean)]
        if len(bits) < len(self.features):
            other = next(feature for feature in self.features if not isinstance(feature, Boolean))
            raise ParameterError(f"space must hold bits only here; feature {other.name!r} is {other.kind}")
        return np.array(bits)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of all marginals."""
        if self.all_bits:  # there may be thousands
            names, biases = map(encode_basestring_ascii, self.names), map(float.hex, self.biases.tolist())
            bits = (f'{{"kind":"boolean","name":{name},"p":"{p}"}}' for name, p in zip(names, biases, strict=True))
            return hashlib.sha256(f"[{','.join(bits)}]".encode()).hexdigest()
        found = hashlib.sha256()
        for i, feature in enumerate(self.features):  # one by one: a feature may have millions of values
            plain = json.dumps(feature.describe(), sort_keys=True, separators=(",", ":"))
            found.update(f"{',' if i else '['}{plain}".encode())
        found.update(b"]")
        return found.hexdigest()

    def index(self, name: object) -> int:
        """Position of the feature with this name."""
        if isinstance(name, str) and name in self.names:
            return self.names.index(name)
        known = ", ".join(self.names[:8]) + (", ..." if len(self) > 8 else "")
        raise ParameterError(f"feature must be one of the space's names ({known}); got {show(name)}")


def _check_biases(n: int, p: float | ArrayLike) -> list[float]:
    biases = check_array("p", p, object, "one number or one per bit")
    if biases.ndim == 0:
        return [check_probability("p", biases.item())] * n
    if biases.shape != (n,):
        raise ParameterError(f"p must be one number or one per bit: n is {n}, p has shape {biases.shape}")
    return [check_probability(f"p[{i}]", bias) for i, bias in enumerate(biases)]


def _check_names(n: int, names: Sequence[str] | None) -> Sequence[str]:
    if names is None:
        return [f"x{i}" for i in range(n)]
    names = check_names("names", names, "one name per bit")
    if len(names) != n:
        raise ParameterError(f"names must hold one name per bit: n is {n}, got {len(names)} names")
    return names


def check_space(space: object) -> None:
    """Refuse what is no space, before anything is made of it."""
    if not isinstance(space, ProductSpace):
        way = " - ProductSpace.from_data makes one of a table" if hasattr(space, "columns") else ""
        shown = type(space).__name__ if way else show(space)
        raise ParameterError(f"space must be a ProductSpace; got {shown}{way}")


def product_of(space: Any) -> ProductSpace:
    """The features of a space, or of rows of a table; anything else is refused."""
    product = getattr(space, "product", None)
    if isinstance(product, ProductSpace):  # a table has a method of that name
        return product
    check_space(space)
    return space  # type: ignore[no-any-return]
