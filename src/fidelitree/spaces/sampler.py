"""Samplers: any generator of rows as the place where inputs come from, such as a simulator or a fitted model.

Nothing is known about its distribution but its draws, which are taken to be independent. So certificates are as usual,
and whatever needs the mass of a region is left out or refused. A sampler has to take all its randomness from the
generator that it is given: then a block of inputs can be drawn again, and a run repeated.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import FormatError, ParameterError, show
from fidelitree.spaces.draw import Stream
from fidelitree.spaces.features import Numeric
from fidelitree.spaces.inputs import row_keys
from fidelitree.spaces.product import ProductSpace
from fidelitree.spaces.tables import column_types
from fidelitree.spaces.world import Joint, over_features

ASSUMES_SAMPLER = "inputs are independent draws of this sampler"
KEY = "sampler"
_LOOKS = 64, 1024  # rows that are drawn to see what the sampler does; the second time where the first says little
_SURE = 35.0  # nats: two blocks that are equal by chance are less likely than e^-35
_BLOCKS = 4096  # that are remembered
_FINGERPRINT = 256  # rows that name it in a certificate
Draw = Callable[[int, np.random.Generator], Any]


class Sampler(Joint):
    """Inputs from a generator of your own, such as a simulator or a fitted model.

    The numbers of ``like`` say nothing about those to come. A sampler that returns anything else than such tables, or
    that does not repeat itself for an equal ``rng``, is refused.

    Args:
        draw: ``draw(rows, rng)`` returns a table of so many independent rows, by the generator ``rng``.
        like: A table whose columns, types and categories all draws share; or a list of features.
        categorical: Columns to be read as categories, whatever they hold.
        numeric: Columns to be read as numbers, whatever they hold.

    Raises:
        ParameterError: An argument breaks its rule.

    Examples:
        >>> def draw(rows, rng):
        ...     age = rng.integers(18, 90, rows)
        ...     return {"age": age, "owner": rng.random(rows) < age / 100}
        >>> world = Sampler(draw, like=draw(100, np.random.default_rng(0)))
        >>> world.draw(2, seed=1)["owner"].shape
        (2,)
    """

    assumes = (ASSUMES_SAMPLER,)

    def __init__(self, draw: Draw, like: Any, categorical: Iterable[str] = (), numeric: Iterable[str] = ()) -> None:
        if not callable(draw):
            raise ParameterError(f"draw must be a callable of rows and rng; got {show(draw)}")
        self._types: dict[str, str | None] = {}
        if isinstance(like, (list, tuple)):
            self.product = ProductSpace(like)
            self._types.update(dict.fromkeys(self.product.names))
        else:
            self.product = ProductSpace.from_data(like, categorical, numeric)
            self._types.update(column_types(like))
        self._draw = draw
        self._drawn: dict[tuple[str, int, int], bytes] = {}  # what each block of a stream was
        self._found: dict[bytes, tuple[str, int, int]] = {}  # and which block was that
        self._look()

    @classmethod
    def from_dict(cls, data: Any) -> Sampler:
        """What is stored of a sampler: it names its features, and cannot draw."""
        world, entry = cls.__new__(cls), data[KEY]
        world.product = ProductSpace.from_dict(data)
        if not isinstance(entry, str) or len(entry) != 64:
            raise FormatError(f"not a stored sampler: it must be named by a digest; got {entry!r:.80}")
        world._draw, world._types, world.digest = _not_here, {}, entry
        return world

    def to_dict(self) -> dict[str, Any]:
        """The features, and the sampler's digest: code cannot be stored."""
        return {**self.product.to_dict(), KEY: self.digest}

    @property
    def in_words(self) -> str:
        """The world as a noun."""
        return over_features("draws of a sampler with", self.product)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the features and of some draws that anybody can repeat."""
        text = hashlib.sha256(f"sampler/{self.product.digest}/".encode())
        drawn = self.inputs(Stream("fingerprint"), 0, _FINGERPRINT)
        text.update(np.ascontiguousarray(drawn, self.dtype.newbyteorder("<")).tobytes())
        return text.hexdigest()

    def inputs(self, stream: Stream, block: int, rows: int) -> NDArray[Any]:
        """Independent inputs, rows by features: a block of a stream is the same whatever was drawn before."""
        bits = np.random.Philox(key=stream.key, counter=np.array([0, 0, 0, block], np.uint64))
        try:
            table = self._draw(rows, np.random.Generator(bits))
        except ParameterError:
            raise
        except Exception as error:
            raise ParameterError(
                f"draw must return a table of {rows} rows; it raised {type(error).__name__}: {error!s:.200}"
            ) from error
        inner = self._checked(table, rows)
        self._check_new((stream.name, block, rows), inner)
        # Mixture models give rows component by component: the first of them alone would be no fair draw.
        order = np.argsort(stream.child("order").lane(block, 0).random_raw(rows), kind="stable")
        return np.asarray(inner[order])

    def _checked(self, table: Any, rows: int) -> NDArray[Any]:
        """Inner values of what the sampler returned; ParameterError where it is not like the example."""
        types = column_types(table)
        if set(types) != set(self._types):
            odd = sorted(set(types) ^ set(self._types))
            raise ParameterError(
                f"draw must return the columns of the example, {', '.join(self._types):.200}; it has others, or not "
                f"all of them: {', '.join(odd):.200}"
            )
        for name, kind in self._types.items():
            if kind not in (None, types[name]):
                raise ParameterError(
                    f"draw must return column {name!r} as {kind}, as in the example; it returned {types[name]}"
                )
        inner = np.array(self.product.encode(table))
        if len(inner) != rows:
            raise ParameterError(f"draw must return as many rows as it is asked for, {rows}; it returned {len(inner)}")
        for i, feature in enumerate(self.product):
            if np.isinf(inner[:, i]).any():
                raise ParameterError(f"draw must return finite numbers in column {feature.name!r}; some are not")
            if isinstance(feature, Numeric) and feature.integer and (inner[:, i] % 1 > 0).any():
                raise ParameterError(f"draw must return whole numbers in column {feature.name!r}; some are not")
            if feature.values is not None and (inner[:, i] < 0).any():
                raise ParameterError(
                    f"draw must return categories of the example in column {feature.name!r}; it returned others - give "
                    f"an example that has them all"
                )
        return inner

    def _look(self) -> None:
        """Draw a block, again and another one, so that a fault is seen before a run begins."""
        for rows in _LOOKS:
            first, *_ = (self.inputs(Stream("look"), block, rows) for block in (0, 0, 1))
            if _surprise(first) > _SURE:
                break

    def _check_new(self, place: tuple[str, int, int], inner: NDArray[Any]) -> None:
        """Whether equal generators give equal rows, and different ones different rows."""
        name = hashlib.sha256(np.ascontiguousarray(inner).tobytes()).digest()
        if self._drawn.get(place, name) != name:
            raise ParameterError(
                "draw must return the same rows for an equal rng; it returned others - take all randomness from rng, "
                "and keep no place in a file or a cursor"
            )
        if self._found.get(name, place) != place and _surprise(inner) > _SURE:
            raise ParameterError("draw must return new rows for another rng; it returned the same - use rng for them")
        if len(self._drawn) < _BLOCKS:
            self._drawn[place], self._found[name] = name, place

    def __repr__(self) -> str:
        return f"<Sampler: {over_features('', self.product).strip()}>"


def _surprise(inner: NDArray[Any]) -> float:
    """A bound for how unlikely these very rows are, in nats, whatever their distribution: rows by their entropy."""
    counts = np.array(list(Counter(row_keys(inner)).values()))
    return float(counts @ np.log(len(inner) / counts))


def _not_here(rows: int, rng: np.random.Generator) -> Any:
    raise ParameterError("space must be the sampler itself here: a stored one is a name only - give it as space=")
