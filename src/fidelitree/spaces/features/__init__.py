"""Kinds of feature, and the tests that split them."""

from fidelitree.spaces.features.boolean import Boolean
from fidelitree.spaces.features.categorical import Categorical
from fidelitree.spaces.features.feature import AtMost, Column, Feature, Floats, IsIn, IsOne, Restriction, Test
from fidelitree.spaces.features.marginals import midway
from fidelitree.spaces.features.numeric import Numeric

__all__ = [
    "AtMost",
    "Boolean",
    "Categorical",
    "Column",
    "Feature",
    "Floats",
    "IsIn",
    "IsOne",
    "Numeric",
    "Restriction",
    "Test",
    "midway",
]
