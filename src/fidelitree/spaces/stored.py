"""Spaces as JSON: every marginal exactly as it was, so that a stored space has the digest that certificates name.

JSON holds floats to the last bit, because Python writes as many digits as tell them apart. What cannot be written
(categories that are not text, numbers or truth values) is refused when the space is stored, not when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from fidelitree.errors import FormatError, ParameterError, is_text
from fidelitree.spaces.batches import Layout, layout
from fidelitree.spaces.features import Boolean, Categorical, Feature, Numeric
from fidelitree.spaces.features.marginals import Observed
from fidelitree.spaces.tables import like_table

FORMAT = "fidelitree.space"
VERSION = 1


def encode(features: Sequence[Feature], batches: Layout) -> dict[str, Any]:
    """The plain data that `decode` reads."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "batches": batches.describe(),
        "features": [_encoded(feature) for feature in features],
    }


def _encoded(feature: Feature) -> dict[str, Any]:
    head = {"name": feature.name, "kind": feature.kind}
    if isinstance(feature, Boolean):
        return {**head, "p": feature.p}
    if isinstance(feature, Categorical):
        for value in feature.values:
            if not (value is None or isinstance(value, (str, int, float))):
                raise ParameterError(
                    f"values of feature {feature.name!r} must be str, int, float, bool or None to be stored; got "
                    f"{value!r}"
                )
        return {**head, "values": list(feature.values), "weights": feature.weights.tolist()}
    if isinstance(feature, Numeric):
        marginal = feature.marginal
        if isinstance(marginal, Observed):
            values = (marginal.values.astype(np.int64) if feature.integer else marginal.values).tolist()
            return {**head, "integer": feature.integer, "values": values, "weights": marginal.weights.tolist()}
        return {**head, "edges": marginal.edges.tolist(), "shares": marginal.shares.tolist()}
    raise ParameterError(f"feature {feature.name!r} is of a kind that cannot be stored: {feature.kind}")


def decode(data: Any) -> tuple[list[Feature], Layout]:
    """Check plain data and turn it into features, and the batches that a target receives of them."""
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        _refuse(f'it must be an object with "format": "{FORMAT}"')
    if data.get("version") != VERSION:
        _refuse(f"its version must be {VERSION}, which this fidelitree reads; got {data.get('version')!r:.80}")
    entries = data.get("features")
    if not isinstance(entries, list) or not entries:
        _refuse("features must be a list of at least one feature")
    features = [_feature(entry) for entry in entries]
    return features, _layout(features, data.get("batches"))


def _feature(entry: Any) -> Feature:
    if not isinstance(entry, Mapping) or not is_text(entry.get("name")):
        _refuse(f"each feature must be an object with a name; got {entry!r:.80}")
    read = _KINDS.get(str(entry.get("kind")))
    if read is None:
        _refuse(
            f"the kind of feature {entry['name']!r} must be one of {', '.join(_KINDS)}; got {entry.get('kind')!r:.80}"
        )
    try:
        return read(entry)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        reason = f"{error.args[0]} is missing" if isinstance(error, KeyError) else error
        _refuse(f"feature {entry['name']!r}: {reason}")


def _categorical(entry: Mapping[str, Any]) -> Categorical:
    values, weights = entry["values"], entry["weights"]
    if not isinstance(values, list) or not isinstance(weights, list) or len(values) != len(weights):
        raise ValueError("values and weights must be lists of one length")
    counts = dict(zip(values, weights, strict=True))
    if len(counts) < len(values):
        raise ValueError("values must be different")
    return Categorical.from_counts(entry["name"], counts)


def _numeric(entry: Mapping[str, Any]) -> Numeric:
    if "edges" in entry:
        return Numeric.from_pieces(entry["name"], entry["edges"], entry["shares"])
    kind = np.int64 if entry["integer"] is True else np.float64
    return Numeric.from_values(entry["name"], np.array(entry["values"], kind), entry["weights"])


def _boolean(entry: Mapping[str, Any]) -> Boolean:
    return Boolean(entry["name"], entry["p"])


_KINDS: dict[str, Callable[[Mapping[str, Any]], Feature]] = {
    "boolean": _boolean,
    "categorical": _categorical,
    "numeric": _numeric,
}


def _layout(features: Sequence[Feature], described: Any) -> Layout:
    """The batches of the run; where they cannot be described, those of a space without a table."""
    if described is None:
        return layout(features, None)
    if not isinstance(described, Mapping):
        _refuse(f"batches must be an object or null; got {described!r:.80}")
    try:
        if "table" in described:
            return like_table(features, described)
        return layout(features, described.get("batch"))
    except (KeyError, TypeError, ValueError) as error:
        _refuse(f"batches: {error}")


def _refuse(rule: str) -> NoReturn:
    raise FormatError(f"not a stored space: {rule}")
