"""Every example in a docstring of the package runs and prints what it says."""

from __future__ import annotations

import ast
import doctest
import pkgutil
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import fidelitree

if TYPE_CHECKING:
    from types import ModuleType

FOUND = (info.name for info in pkgutil.walk_packages(fidelitree.__path__, "fidelitree."))
MODULES = sorted(name for name in FOUND if not name.endswith("._native"))  # which is compiled


def test_all_modules_are_found() -> None:
    assert {"fidelitree.trees.tree", "fidelitree.exact.engine", "fidelitree.experiments.errata.small"} <= set(MODULES)


def named_in_types(module: ModuleType) -> dict[str, Any]:
    """What a module imports for its types only: its examples may use these names, too."""
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)]
    found: dict[str, Any] = {}
    for block in blocks:
        exec(compile(ast.Module(block.body, []), str(module.__file__), "exec"), found)
    return found


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name: str) -> None:
    if name == "fidelitree.targets.device.fused":
        pytest.importorskip("triton")  # which comes with torch for a graphics card
    module = import_module(name)
    names = {**named_in_types(module), **vars(module)}
    failed, _ = doctest.testmod(module, globs=names, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0
