"""Kinds of feature, and the tests that split them."""

from fidelitree.spaces.features.boolean import Boolean
from fidelitree.spaces.features.categorical import Categorical
from fidelitree.spaces.features.feature import (
    AtMost,
    Column,
    Feature,
    Floats,
    IsIn,
    IsOne,
    Restriction,
    Test,
    among,
    json_value,
    pick,
    pick_each,
    short,
)
from fidelitree.spaces.features.marginals import Observed, Pieces, midway
from fidelitree.spaces.features.numeric import MISSING, Numeric, left_of, part_of

__all__ = [
    "MISSING",
    "AtMost",
    "Boolean",
    "Categorical",
    "Column",
    "Feature",
    "Floats",
    "IsIn",
    "IsOne",
    "Numeric",
    "Observed",
    "Pieces",
    "Restriction",
    "Test",
    "among",
    "json_value",
    "left_of",
    "midway",
    "part_of",
    "pick",
    "pick_each",
    "short",
]
