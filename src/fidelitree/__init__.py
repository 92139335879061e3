"""Turn any function you can call into a small decision tree with a certificate.

Names are loaded when they are first used, so that ``import fidelitree`` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fidelitree.version import __version__

if TYPE_CHECKING:
    from fidelitree import export, journal, learners, targets, theory
    from fidelitree.analysis import Analysis, analyze
    from fidelitree.audit import certify
    from fidelitree.certificate import Certificate
    from fidelitree.comparing import Comparison, compare
    from fidelitree.display.progress import Progress
    from fidelitree.distiller import distill
    from fidelitree.errors import (
        FidelitreeError,
        FittedRowsWarning,
        FormatError,
        JournalError,
        ParameterError,
        TargetError,
    )
    from fidelitree.exact.error import tree_error
    from fidelitree.features import Boolean, Categorical, Numeric
    from fidelitree.paper import build_top_down, practical_top_down
    from fidelitree.result import Distillation
    from fidelitree.rows import Rows
    from fidelitree.space import ProductSpace
    from fidelitree.tree import Tree
    from fidelitree.verifying import Verification, verify

_HOMES = {
    "Analysis": "analysis",
    "Boolean": "features",
    "Categorical": "features",
    "Certificate": "certificate",
    "Comparison": "comparing",
    "Distillation": "result",
    "FidelitreeError": "errors",
    "FittedRowsWarning": "errors",
    "FormatError": "errors",
    "JournalError": "errors",
    "Numeric": "features",
    "ParameterError": "errors",
    "ProductSpace": "space",
    "Progress": "display.progress",
    "Rows": "rows",
    "TargetError": "errors",
    "Tree": "tree",
    "Verification": "verifying",
    "analyze": "analysis",
    "build_top_down": "paper",
    "certify": "audit",
    "compare": "comparing",
    "distill": "distiller",
    "practical_top_down": "paper",
    "tree_error": "exact.error",
    "verify": "verifying",
}
_MODULES = ("export", "journal", "learners", "targets", "theory")

__all__ = [
    "Analysis",
    "Boolean",
    "Categorical",
    "Certificate",
    "Comparison",
    "Distillation",
    "FidelitreeError",
    "FittedRowsWarning",
    "FormatError",
    "JournalError",
    "Numeric",
    "ParameterError",
    "ProductSpace",
    "Progress",
    "Rows",
    "TargetError",
    "Tree",
    "Verification",
    "__version__",
    "analyze",
    "build_top_down",
    "certify",
    "compare",
    "distill",
    "export",
    "journal",
    "learners",
    "practical_top_down",
    "targets",
    "theory",
    "tree_error",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"fidelitree.{name}")
    if name in _HOMES:
        value = getattr(import_module(f"fidelitree.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'fidelitree' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
