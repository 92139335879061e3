"""Space files: JSON that keeps every marginal exactly, and with it the digest in certificates; TOML written by hand.

What cannot be written (categories that are not text, numbers or truth values) is refused when the space is stored, not
when it is read. A file written by hand:

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

What a feature may say stands in `features.description`.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from fidelitree.errors import FormatError, is_text, read_text
from fidelitree.spaces.batches import KINDS, Kind, Layout, layout
from fidelitree.spaces.features.description import FeatureReader, plain
from fidelitree.spaces.tables import like_table

if TYPE_CHECKING:
    from fidelitree.spaces.features import Feature

FORMAT = "fidelitree.space"
VERSION = 1
_MOST_BYTES = 16_000_000  # of a file written by hand


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


def read_space_file(path: str | os.PathLike[str]) -> tuple[list[Feature], Kind | None]:
    """The features of a space file in their order, and the kind of batch that it asks for."""
    text, name = read_text(path, _MOST_BYTES, "a space file"), Path(path).name
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{name} is not TOML: {error}") from None
    reader = FeatureReader(name, stored=False)
    reader.check_keys("the file", data, ("batch", "features"))
    batch, tables = data.get("batch"), data.get("features")
    if batch is not None and batch not in KINDS:
        reader.refuse("batch", f"must be one of {', '.join(KINDS)}; got {batch!r}")
    if not isinstance(tables, dict) or not tables:
        reader.refuse("features", f"must hold at least one table such as [features.age]; got {tables!r:.80}")
    return [reader.read(feature, entry) for feature, entry in tables.items()], batch
