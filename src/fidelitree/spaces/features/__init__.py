"""Kinds of feature, and the tests that split them."""

from fidelitree.spaces.features.boolean import Boolean
from fidelitree.spaces.features.categorical import Categorical
from fidelitree.spaces.features.feature import Column, Feature, Floats, Restriction
from fidelitree.spaces.features.marginals import midway
from fidelitree.spaces.features.numeric import Numeric
from fidelitree.spaces.features.tests import AtMost, IsIn, IsOne, Test

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
