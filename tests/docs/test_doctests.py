"""Every example in a docstring of the package runs and prints what it says."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import fidelitree

MODULES = sorted(info.name for info in pkgutil.walk_packages(fidelitree.__path__, "fidelitree."))


def test_all_modules_are_found() -> None:
    assert {"fidelitree.trees.tree", "fidelitree.exact.engine", "fidelitree.experiments.errata.small"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name: str) -> None:
    failed, _ = doctest.testmod(import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0
