"""A feature as plain data: the one schema of space files (TOML), stored spaces (JSON) and journals.

    boolean       p
    categorical   values, weights
    numeric       values, weights, integer     as observed
                  edges, shares                even between neighbouring edges
                  missing                      beside any of these, where numbers may be missing: their share

That is what `plain` writes and what a stored space must have. A file written by hand may leave out the p of a fair bit
and equal weights, or use a short form: probabilities, low and high, quantiles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from fidelitree.errors import FormatError, ParameterError
from fidelitree.spaces.features.boolean import Boolean
from fidelitree.spaces.features.categorical import Categorical
from fidelitree.spaces.features.marginals import Observed
from fidelitree.spaces.features.numeric import Numeric

if TYPE_CHECKING:
    from fidelitree.spaces.features.feature import Feature

_MOST_INTEGERS = 1 << 20
Entry = Mapping[str, Any]


def plain(feature: Feature) -> dict[str, Any]:
    """All about a feature, to the last bit: JSON has as many digits as tell two floats apart."""
    head = {"name": feature.name, "kind": feature.kind}
    if isinstance(feature, Boolean):
        return {**head, "p": feature.p}
    if isinstance(feature, Categorical):
        for value in feature.values:
            if not _is_plain(value):
                raise ParameterError(
                    f"values of feature {feature.name!r} must be str, int, float, bool or None to be stored; got "
                    f"{value!r}"
                )
        return {**head, "values": list(feature.values), "weights": feature.weights.tolist()}
    if isinstance(feature, Numeric):
        marginal, gone = feature.marginal, {"missing": feature.missing} if feature.missing else {}
        if isinstance(marginal, Observed):
            values = (marginal.values.astype(np.int64) if feature.integer else marginal.values).tolist()
            return {**head, "integer": feature.integer, "values": values, "weights": marginal.weights.tolist(), **gone}
        return {**head, "edges": marginal.edges.tolist(), "shares": marginal.shares.tolist(), **gone}
    raise ParameterError(f"feature {feature.name!r} is of a kind that cannot be stored: {feature.kind}")


def outline(feature: Feature) -> dict[str, Any]:
    """What a journal keeps, enough to export inputs: no marginal, and categories that are not plain as they print."""
    found: dict[str, Any] = {"name": feature.name, "kind": feature.kind}
    if feature.values is not None:
        found["values"] = [value if _is_plain(value) else repr(value) for value in feature.values]
    if getattr(feature, "integer", False):
        found["integer"] = True
    if getattr(feature, "missing", 0):
        found["missing"] = True
    return found


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float))


class FeatureReader:
    """Makes features of plain data; a breach is an error that names ``source``, the key, the rule and the value.

    Where ``stored`` is true, only what `plain` writes is read. All ranges of whole numbers share one limit, so that a
    short file does not take much memory.
    """

    def __init__(self, source: str, stored: bool) -> None:
        self._source = source
        self._stored = stored
        self._integers = 0

    def read(self, name: str, entry: Any) -> Feature:
        """One feature."""
        where = f"features.{name}"
        if not isinstance(entry, Mapping):
            self.refuse(where, f'must be a table, such as {{ kind = "boolean", p = 0.5 }}; got {entry!r:.80}')
        kind = entry.get("kind")
        if not isinstance(kind, str) or kind not in _FORMS:
            self.refuse(f"{where}.kind", f"must be one of {', '.join(_FORMS)}; got {kind!r:.80}")
        given = {key: value for key, value in entry.items() if key != "kind"}
        form = self._form(where, kind, given)
        numeric = kind == "numeric"
        self.check_keys(where, given, (*form.needed, *form.optional, *["missing"] * numeric))
        self._count_integers(where, given)
        try:
            made = form.make(name, given)
            return made.with_missing(given["missing"]) if isinstance(made, Numeric) and "missing" in given else made
        except (ParameterError, TypeError, ValueError, OverflowError) as error:
            self.refuse(where, str(error))

    def check_keys(self, where: str, given: Entry, keys: Sequence[str]) -> None:
        """Refuse a key that nobody would read."""
        for key in given:
            if key not in keys:
                self.refuse(where, f"knows the keys {', '.join(keys) or 'none'} here; got {key!r}")

    def refuse(self, key: str, rule: str) -> NoReturn:
        """Say what is wrong."""
        raise FormatError(f"{self._source}: {key} {rule}")

    def _form(self, where: str, kind: str, given: Entry) -> Form:
        """The form that the keys belong to."""
        forms = [form.in_full for form in _FORMS[kind] if not form.short] if self._stored else _FORMS[kind]
        for form in forms:
            if set(form.needed) <= set(given):
                return form
        ways = " or ".join(" and ".join(form.needed) for form in forms)
        self.refuse(where, f"is {kind} and must have {ways}; got {', '.join(given) or 'none of them'}")

    def _count_integers(self, where: str, given: Entry) -> None:
        self._integers += _integers(given)
        if self._integers > _MOST_INTEGERS:
            ends = f"from {given['low']!r:.40} to {given['high']!r:.40}"
            rule = f"all ranges with integer = true may have {_MOST_INTEGERS:,} together, and this one goes {ends}"
            self.refuse(where, f"holds too many whole numbers: {rule} - leave out integer = true where a range is long")


@dataclass(frozen=True)
class Form:
    """Keys that it must have, keys that it may have besides, what they make, and whether it is for hands only."""

    make: Callable[[str, Entry], Feature]
    needed: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    short: bool = False

    @property
    def in_full(self) -> Form:
        """The same with nothing left out."""
        return Form(self.make, (*self.needed, *self.optional))


def _boolean(name: str, given: Entry) -> Feature:
    return Boolean(name, given.get("p", 0.5))


def _categories(name: str, given: Entry) -> Feature:
    values = _items("values", given["values"])
    weights = _items("weights", given.get("weights", [1] * len(values)))
    if len(weights) != len(values):
        raise ParameterError(f"weights must be one for each of the {len(values)} values; got {len(weights)}")
    counts = dict(zip(values, weights, strict=True))
    if len(counts) < len(values):
        raise ParameterError(f"values must be different; got {values!r:.80}")
    return Categorical.from_counts(name, counts)


def _probabilities(name: str, given: Entry) -> Feature:
    shares = given["probabilities"]
    if not isinstance(shares, Mapping):
        raise ParameterError(f"probabilities must be a table of value to probability; got {shares!r:.80}")
    return Categorical(name, shares)


def _observed(name: str, given: Entry) -> Feature:
    values: Any = _items("values", given["values"])
    if "integer" in given:
        values = np.array(values, np.int64 if given["integer"] is True else np.float64)
    return Numeric.from_values(name, values, given.get("weights"))


def _pieces(name: str, given: Entry) -> Feature:
    return Numeric.from_pieces(name, given["edges"], given["shares"])


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


def _quantiles(name: str, given: Entry) -> Feature:
    quantiles = given["quantiles"]
    if not isinstance(quantiles, Mapping):
        return Numeric.from_quantiles(name, _items("quantiles", quantiles))
    try:
        levels = {float(level): value for level, value in quantiles.items()}
    except ValueError:
        raise ParameterError(f"levels of quantiles must be numbers from 0 to 1; got {list(quantiles)!r:.80}") from None
    return Numeric.from_quantiles(name, levels)


def _items(key: str, given: Any) -> list[Any]:
    if not isinstance(given, list):
        mapped = " - a mapping of value to probability is called probabilities" * isinstance(given, Mapping)
        raise ParameterError(f"{key} must be a list; got {given!r:.80}{mapped}")
    return given


_FORMS: dict[str, tuple[Form, ...]] = {
    "boolean": (Form(_boolean, (), ("p",)),),
    "categorical": (
        Form(_probabilities, ("probabilities",), short=True),
        Form(_categories, ("values",), ("weights",)),
    ),
    "numeric": (
        Form(_interval, ("low", "high"), ("integer",), short=True),
        Form(_observed, ("values",), ("weights", "integer")),
        Form(_pieces, ("edges", "shares")),
        Form(_quantiles, ("quantiles",), short=True),
    ),
}
