"""Spaces as JSON: every marginal exactly as it was, so that a stored space has the digest that certificates name.

What cannot be written (categories that are not text, numbers or truth values) is refused when the space is stored, not
when it is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from fidelitree.errors import FormatError, is_text
from fidelitree.spaces.batches import Layout, layout
from fidelitree.spaces.features import Feature
from fidelitree.spaces.features.description import FeatureReader, plain
from fidelitree.spaces.tables import like_table

FORMAT = "fidelitree.space"
VERSION = 1


def encode(features: Sequence[Feature], batches: Layout) -> dict[str, Any]:
    """The plain data that `decode` reads."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "batches": batches.describe(),
        "features": [plain(feature) for feature in features],
    }


def decode(data: Any) -> tuple[list[Feature], Layout]:
    """Check plain data and turn it into features, and the batches that a target receives of them."""
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        _refuse(f'it must be an object with "format": "{FORMAT}"')
    if data.get("version") != VERSION:
        _refuse(f"its version must be {VERSION}, which this fidelitree reads; got {data.get('version')!r:.80}")
    entries = data.get("features")
    if not isinstance(entries, list) or not entries:
        _refuse("features must be a list of at least one feature")
    for entry in entries:
        if not isinstance(entry, Mapping) or not is_text(entry.get("name")):
            _refuse(f"each feature must be an object with a name; got {entry!r:.80}")
    reader = FeatureReader("not a stored space", stored=True)
    features = [reader.read(entry["name"], {key: entry[key] for key in entry if key != "name"}) for entry in entries]
    return features, _layout(features, data.get("batches"))


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
