"""Kinds of feature, and the tests that split them."""

from fidelitree.features.boolean import Boolean
from fidelitree.features.categorical import Categorical
from fidelitree.features.feature import Column, Feature, Floats, Restriction
from fidelitree.features.marginals import midway
from fidelitree.features.numeric import Numeric
from fidelitree.features.tests import AtMost, IsIn, IsOne, Test

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
