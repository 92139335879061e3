"""A world at a glance: one line a feature, with its values and a small histogram; and as a file to edit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fidelitree.display.wording import Html, aligned, category, figure, join, percent, row, shown, tag
from fidelitree.spaces.features import Numeric, Observed, Pieces

if TYPE_CHECKING:
    from fidelitree.spaces.features import Feature, Floats
    from fidelitree.spaces.world import World

_BARS = 12
_NAMED = 3  # categories
_BLOCKS = " ▁▂▃▄▅▆▇█"
_LEVELS = tuple(k / 10 for k in range(11))
_FEW = 25  # values of a number that are listed in a file


@dataclass(frozen=True)
class FeatureLine:
    """A feature with its kind, its values in words, and shares for a histogram."""

    name: str
    kind: str
    values: str
    shares: tuple[float, ...]

    @property
    def bars(self) -> str:
        """The shares as a row of blocks; what is there at all can be seen."""
        top = max(self.shares)
        heights = (int(np.ceil(share / top * (len(_BLOCKS) - 1) - 1e-9)) for share in self.shares)
        return "".join(_BLOCKS[height] for height in heights)


@dataclass(frozen=True)
class Description:
    """What inputs are like: prints as a table, and shows as one in a notebook."""

    world: str
    fit: str
    lines: tuple[FeatureLine, ...]

    def __str__(self) -> str:
        rows = [("feature", "kind", "values", ""), *((shown(x.name), x.kind, x.values, x.bars) for x in self.lines)]
        return "\n".join([self.world, *([self.fit] if self.fit else []), *aligned(rows)])

    def _repr_html_(self) -> str:
        head = tag("tr", *(tag("th", name) for name in ("feature", "kind", "values", "")))
        body = [row(x.name, x.kind, x.values, histogram(x.shares)) for x in self.lines]
        said = [tag("p", line) for line in (self.world, self.fit) if line]
        return str(join(*said, tag("table", head, *body)))


def histogram(shares: tuple[float, ...]) -> Html:
    """Shares as a small drawing; the text beside it says what it shows."""
    top = max(shares)
    bars = "".join(f"M{6 * k} 16v-{16 * share / top:.1f}h5V16z" for k, share in enumerate(shares))
    size = {"width": str(6 * len(shares)), "height": "16"}
    return tag("svg", tag("path", d=bars), **size, fill="currentColor", aria_hidden="true")


def describe(world: World) -> Description:
    """All features of a world with their marginals.

    >>> from fidelitree.spaces.features import Boolean
    >>> from fidelitree.spaces.product import ProductSpace
    >>> print(describe(ProductSpace([Boolean("owner", 0.25), Numeric("age", 18, 90)])))
    a product of 2 features, infinitely many inputs
    feature  kind     values
    owner    boolean  1 in 25%             █▃
    age      numeric  18 to 90, middle 54  ████████████
    """
    fit = "" if world.fit is None else str(world.fit)
    return Description(world.in_words, fit, tuple(map(_line, world.features)))


def _line(feature: Feature) -> FeatureLine:
    if isinstance(feature, Numeric):
        known = feature.with_missing(0)
        low, middle, high = quantiles(known, (0.0, 0.5, 1.0))
        gone = f", {percent(feature.missing)} missing" if feature.missing else ""
        words = f"{figure(low)} to {figure(high)}, middle {figure(middle)}{gone}"
        return FeatureLine(feature.name, feature.kind, words, _histogram(known, low, high))
    if feature.kind == "boolean":
        share = feature.mass(1)
        return FeatureLine(feature.name, feature.kind, f"1 in {percent(share)}", (1 - share, share))
    shares = [feature.mass(frozenset({code})) for code in range(feature.points or 0)]
    order = sorted(range(len(shares)), key=lambda code: -shares[code])
    named = [f"{category((feature.values or ())[code])} {percent(shares[code])}" for code in order[:_NAMED]]
    more = f" and {len(shares) - _NAMED} more" if len(shares) > _NAMED else ""
    return FeatureLine(
        feature.name, feature.kind, ", ".join(named) + more, tuple(shares[code] for code in order[:_BARS])
    )


def _histogram(feature: Numeric, low: float, high: float) -> tuple[float, ...]:
    ends = np.linspace(low, high, _BARS + 1)
    ends[0], ends[-1] = -np.inf, np.inf
    pairs = zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    return tuple(feature.mass(pair) for pair in pairs) if low < high else (1.0,)


def quantiles(feature: Numeric, levels: tuple[float, ...]) -> list[float]:
    """Values below which these shares of a number lie that is never missing."""
    marginal = feature.marginal
    if isinstance(marginal, Observed):
        values, shares = feature.listed(None)
        sums = np.cumsum(shares)
        places = np.searchsorted(sums, np.array(levels) * sums[-1] * (1 - 1e-12))
        return [float(value) for value in values[np.minimum(places, len(values) - 1)]]
    assert isinstance(marginal, Pieces), "numbers are observed, or drawn from pieces"
    edges: Floats = np.asarray(marginal.edges, np.float64)
    sums = np.array([0.0, *(feature.mass((-np.inf, float(edge))) for edge in edges[1:])])
    return [float(value) for value in np.interp(levels, sums, edges)]


def to_toml(world: World, batch: str | None = None) -> str:
    """The marginals of a world as a space file to edit: numbers of many values become quantiles.

    >>> from fidelitree.spaces.features import Boolean
    >>> from fidelitree.spaces.product import ProductSpace
    >>> print(to_toml(ProductSpace([Boolean("owner", 0.25)])).strip())
    [features."owner"]
    kind = "boolean"
    p = 0.25
    """
    head = f"batch = {json.dumps(batch)}\n\n" if batch else ""
    return head + "\n".join(_entry(feature) for feature in world.features)


def _entry(feature: Feature) -> str:
    lines = [f"[features.{json.dumps(feature.name, ensure_ascii=False)}]", f'kind = "{feature.kind}"']
    if isinstance(feature, Numeric):
        lines += _number(feature.with_missing(0))
        lines += [f"missing = {feature.missing!r}"] if feature.missing else []
    elif feature.kind == "boolean":
        lines.append(f"p = {feature.mass(1)!r}")
    else:
        values = list(feature.values or ())
        weights = [feature.mass(frozenset({code})) for code in range(len(values))]
        lines += [f"values = {_written(values)}", f"weights = {_written(weights)}"]
    return "\n".join(lines) + "\n"


def _number(feature: Numeric) -> list[str]:
    if isinstance(feature.marginal, Observed) and feature.points is not None and feature.points <= _FEW:
        values, shares = feature.listed(None)
        found = [int(value) for value in values] if feature.integer else values.tolist()
        return [f"values = {_written(found)}", f"weights = {_written(shares.tolist())}"]
    return [f"quantiles = {_written(quantiles(feature, _LEVELS))}  # evenly between neighbours, a tenth each"]


def _written(values: Sequence[object]) -> str:
    return json.dumps(values, ensure_ascii=False)
