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

What a feature may say stands in `features.description`.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

from fidelitree.errors import FormatError
from fidelitree.spaces.batches import KINDS as BATCHES
from fidelitree.spaces.batches import Kind
from fidelitree.spaces.features import Feature
from fidelitree.spaces.features.description import FeatureReader
from fidelitree.spaces.reading import read_text

_MOST_BYTES = 16_000_000


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
    if batch is not None and batch not in BATCHES:
        reader.refuse("batch", f"must be one of {', '.join(BATCHES)}; got {batch!r}")
    if not isinstance(tables, dict) or not tables:
        reader.refuse("features", f"must hold at least one table such as [features.age]; got {tables!r:.80}")
    return [reader.read(feature, entry) for feature, entry in tables.items()], batch
