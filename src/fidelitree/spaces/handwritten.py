"""Space files: where inputs come from, written by hand in TOML.

    batch = "pandas"             # what the target receives: dict, pandas, polars or arrow; may be left out

    [features.owner]             # features in the order of the file
    kind = "boolean"
    p = 0.3

    [features.job]
    kind = "categorical"
    probabilities = { clerk = 0.5, nurse = 0.3, pilot = 0.2 }

    [features.age]
    kind = "numeric"
    low = 18
    high = 90

Every breach is an error that names the file, the key, the rule and the value.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from fidelitree.errors import FormatError, ParameterError
from fidelitree.spaces.batches import KINDS as BATCHES
from fidelitree.spaces.batches import Kind
from fidelitree.spaces.features import Boolean, Categorical, Feature, Numeric
from fidelitree.spaces.reading import read_text

_MOST_INTEGERS = 1 << 20
_MOST_BYTES = 16_000_000
Entry = Mapping[str, Any]
Form = tuple[tuple[str, ...], tuple[str, ...], Callable[[str, Entry], Feature]]
"""Keys that it must have, keys that it may have besides, and what they make."""


def read_space_file(path: str | os.PathLike[str]) -> tuple[list[Feature], Kind | None]:
    """The features of a space file in their order, and the kind of batch that it asks for."""
    text, name = read_text(path, _MOST_BYTES, "a space file"), Path(path).name
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{name} is not TOML: {error}") from None
    return _Reader(name).read(data)


class _Reader:
    """Reads one file; its name stands in every message."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._integers = 0

    def read(self, data: Entry) -> tuple[list[Feature], Kind | None]:
        self._known("the file", data, ("batch", "features"))
        batch = data.get("batch")
        if batch is not None and batch not in BATCHES:
            self._refuse("batch", f"must be one of {', '.join(BATCHES)}; got {batch!r}")
        tables = data.get("features")
        if not isinstance(tables, dict) or not tables:
            self._refuse("features", f"must hold at least one table such as [features.age]; got {tables!r:.80}")
        return [self._feature(name, entry) for name, entry in tables.items()], batch

    def _feature(self, name: str, entry: Any) -> Feature:
        where = f"features.{name}"
        if not isinstance(entry, dict):
            self._refuse(where, f'must be a table, such as {{ kind = "boolean", p = 0.5 }}; got {entry!r:.80}')
        kind = entry.get("kind")
        if not isinstance(kind, str) or kind not in _FORMS:
            self._refuse(f"{where}.kind", f"must be one of {', '.join(_FORMS)}; got {kind!r:.80}")
        given = {key: value for key, value in entry.items() if key != "kind"}
        needed, allowed, make = self._form(where, kind, given)
        self._known(where, given, (*needed, *allowed))
        self._count_integers(where, given)
        try:
            return make(name, given)
        except (ParameterError, TypeError, ValueError, OverflowError) as error:
            self._refuse(where, str(error))

    def _count_integers(self, where: str, given: Entry) -> None:
        """A short file must not take much memory: all ranges share what one may have."""
        self._integers += _integers(given)
        if self._integers > _MOST_INTEGERS:
            ends = f"from {given['low']!r:.40} to {given['high']!r:.40}"
            rule = f"all ranges with integer = true may have {_MOST_INTEGERS:,} together, and this one goes {ends}"
            self._refuse(
                where, f"holds too many whole numbers: {rule} - leave out integer = true where a range is long"
            )

    def _form(self, where: str, kind: str, given: Entry) -> Form:
        """The way of writing this kind of feature that the keys belong to."""
        for form in _FORMS[kind]:
            if set(form[0]) <= set(given):
                return form
        ways = " or ".join(" and ".join(form[0]) for form in _FORMS[kind])
        self._refuse(where, f"is {kind} and must have {ways}; got {', '.join(given) or 'none of them'}")

    def _known(self, where: str, given: Entry, keys: Sequence[str]) -> None:
        for key in given:
            if key not in keys:
                self._refuse(where, f"knows the keys {', '.join(keys) or 'none'} here; got {key!r}")

    def _refuse(self, key: str, rule: str) -> NoReturn:
        raise FormatError(f"{self._file}: {key} {rule}")


def _boolean(name: str, given: Entry) -> Feature:
    return Boolean(name, given.get("p", 0.5))


def _probabilities(name: str, given: Entry) -> Feature:
    shares = given["probabilities"]
    if not isinstance(shares, dict):
        raise ParameterError(f"probabilities must be a table of value to probability; got {shares!r:.80}")
    return Categorical(name, shares)


def _listed(name: str, given: Entry) -> Feature:
    values = _items("values", given["values"])
    weights = _items("weights", given.get("weights", [1] * len(values)))
    if len(weights) != len(values):
        raise ParameterError(f"weights must be one for each of the {len(values)} values; got {len(weights)}")
    counts = dict(zip(values, weights, strict=True))
    if len(counts) < len(values):
        raise ParameterError(f"values must be different; got {values!r:.80}")
    return Categorical.from_counts(name, counts)


def _interval(name: str, given: Entry) -> Feature:
    low, high = given["low"], given["high"]
    if given.get("integer", False) is False:
        return Numeric(name, low, high)
    if not _integers(given):
        raise ParameterError(f"integer = true needs whole numbers low and high, low first; got {low!r} and {high!r}")
    return Numeric.from_values(name, range(low, high + 1))


def _integers(given: Entry) -> int:
    """How many numbers a range of whole numbers holds, each of which takes memory; 0 where there is none."""
    low, high = given.get("low"), given.get("high")
    if type(low) is int and type(high) is int and given.get("integer") is True:
        return max(0, high + 1 - low)
    return 0


def _observed(name: str, given: Entry) -> Feature:
    return Numeric.from_values(name, _items("values", given["values"]), given.get("weights"))


def _quantiles(name: str, given: Entry) -> Feature:
    quantiles = given["quantiles"]
    if not isinstance(quantiles, dict):
        return Numeric.from_quantiles(name, _items("quantiles", quantiles))
    try:
        levels = {float(level): value for level, value in quantiles.items()}
    except ValueError:
        raise ParameterError(f"levels of quantiles must be numbers from 0 to 1; got {list(quantiles)!r:.80}") from None
    return Numeric.from_quantiles(name, levels)


def _items(key: str, given: Any) -> list[Any]:
    if not isinstance(given, list):
        raise ParameterError(f"{key} must be a list; got {given!r:.80}")
    return given


def _form(make: Callable[[str, Entry], Feature], needed: str, allowed: str = "") -> Form:
    return tuple(needed.split()), tuple(allowed.split()), make


_FORMS: dict[str, tuple[Form, ...]] = {
    "boolean": (_form(_boolean, "", "p"),),
    "categorical": (_form(_probabilities, "probabilities"), _form(_listed, "values", "weights")),
    "numeric": (
        _form(_interval, "low high", "integer"),
        _form(_observed, "values", "weights"),
        _form(_quantiles, "quantiles"),
    ),
}
