"""Product spaces: independent features, each with its own marginal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fidelitree.checks import check_count, check_probability
from fidelitree.errors import ParameterError
from fidelitree.features import Boolean, Feature


class ProductSpace:
    """Where inputs come from: every feature is drawn on its own.

    >>> space = ProductSpace.bernoulli(3, p=[0.5, 0.5, 0.1])
    >>> space.names
    ('x0', 'x1', 'x2')
    """

    def __init__(self, features: Sequence[Feature]) -> None:
        self.features: tuple[Feature, ...] = tuple(features)
        if not self.features:
            raise ParameterError("features must hold at least one feature; got none")
        for position, feature in enumerate(self.features):
            if not isinstance(getattr(feature, "name", None), str) or not hasattr(feature, "mass"):
                raise ParameterError(f"features must hold features such as Boolean; got {feature!r} at {position}")
        self.names: tuple[str, ...] = tuple(feature.name for feature in self.features)
        if len(set(self.names)) < len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise ParameterError(f"features must have different names; got {twice!r} more than once")

    @classmethod
    def bernoulli(cls, n: int, p: float | ArrayLike = 0.5, names: Sequence[str] | None = None) -> ProductSpace:
        """``n`` independent bits; ``p`` is the probability of 1, one number or one per bit."""
        n = check_count("n", n)
        names = _check_names(n, names)
        return cls([Boolean(name, bias) for name, bias in zip(names, _check_biases(n, p), strict=True)])

    def __len__(self) -> int:
        return len(self.features)

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.features)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProductSpace) and self.features == other.features

    def __hash__(self) -> int:
        return hash(self.features)

    def __repr__(self) -> str:
        shown = ", ".join(repr(feature) for feature in self.features[:4])
        return f"ProductSpace([{shown}{', ...' if len(self) > 4 else ''}])  # {len(self)} features"

    @cached_property
    def biases(self) -> NDArray[np.float64]:
        """Pr[x_i = 1] of every bit; an error where a feature is not a bit."""
        for feature in self.features:
            if not isinstance(feature, Boolean):
                raise ParameterError(f"space must hold bits only here; feature {feature.name!r} is {feature.kind}")
        return np.array([feature.p for feature in self.features if isinstance(feature, Boolean)])

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of all marginals."""
        plain = json.dumps([feature.describe() for feature in self.features], sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(plain.encode()).hexdigest()

    def index(self, name: str) -> int:
        """Position of the feature with this name."""
        try:
            return self.names.index(name)
        except ValueError:
            known = ", ".join(self.names[:8]) + (", ..." if len(self) > 8 else "")
            raise ParameterError(f"feature must be one of the space's names ({known}); got {name!r}") from None


def _check_biases(n: int, p: float | ArrayLike) -> list[float]:
    try:
        biases = np.asarray(p, dtype=object)
    except ValueError:
        raise ParameterError(f"p must be one number or one per bit; got {p!r}") from None
    if biases.ndim == 0:
        return [check_probability("p", biases.item())] * n
    if biases.shape != (n,):
        raise ParameterError(f"p must be one number or one per bit: n is {n}, p has shape {biases.shape}")
    return [check_probability(f"p[{i}]", bias) for i, bias in enumerate(biases)]


def _check_names(n: int, names: Sequence[str] | None) -> Sequence[str]:
    if names is None:
        return [f"x{i}" for i in range(n)]
    names = list(names)
    if len(names) != n:
        raise ParameterError(f"names must hold one name per bit: n is {n}, got {len(names)} names")
    for name in names:
        if not isinstance(name, str):
            raise ParameterError(f"names must be strings; got {name!r}")
    return names
