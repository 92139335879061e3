"""Turn any function you can call into a small decision tree with a certificate.

Names are loaded when they are first used, so that ``import fidelitree`` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.3.0"  # the build reads it here: nobody needs the metadata of an installation

if TYPE_CHECKING:
    from fidelitree import export, learners, targets, theory
    from fidelitree.asking import journal
    from fidelitree.asking.limits import Budget, Running
    from fidelitree.asking.progress import Progress
    from fidelitree.certificates.certificate import Certificate
    from fidelitree.errors import (
        CopiedRowsWarning,
        FidelitreeError,
        FittedRowsWarning,
        FormatError,
        JournalError,
        ParameterError,
        TargetError,
    )
    from fidelitree.exact.engine import tree_error
    from fidelitree.learners.compare import Comparison, compare
    from fidelitree.runs.agree.audit import certify
    from fidelitree.runs.agree.by_class import errors_by_class
    from fidelitree.runs.agree.diff import diff
    from fidelitree.runs.agree.difference import Difference
    from fidelitree.runs.agree.monitor import Monitor
    from fidelitree.runs.agree.verify import Verification, verify
    from fidelitree.runs.analysis.analyze import Analysis, analyze
    from fidelitree.runs.distill import distill
    from fidelitree.runs.frontier import frontier
    from fidelitree.runs.frontier_result import Frontier
    from fidelitree.runs.paper import build_top_down, practical_top_down
    from fidelitree.runs.result import Distillation
    from fidelitree.spaces.chow_liu import ChowLiu
    from fidelitree.spaces.features import Boolean, Categorical, Numeric
    from fidelitree.spaces.mixture import Mixture
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.spaces.rows import Rows
    from fidelitree.spaces.sampler import Sampler
    from fidelitree.trees.answers import DEFER
    from fidelitree.trees.tree import Tree

_HOMES = {
    "Analysis": "runs.analysis.analyze",
    "Boolean": "spaces.features",
    "Budget": "asking.limits",
    "Categorical": "spaces.features",
    "Certificate": "certificates.certificate",
    "ChowLiu": "spaces.chow_liu",
    "Comparison": "learners.compare",
    "CopiedRowsWarning": "errors",
    "DEFER": "trees.answers",
    "Difference": "runs.agree.difference",
    "Distillation": "runs.result",
    "FidelitreeError": "errors",
    "FittedRowsWarning": "errors",
    "FormatError": "errors",
    "Frontier": "runs.frontier_result",
    "JournalError": "errors",
    "Mixture": "spaces.mixture",
    "Monitor": "runs.agree.monitor",
    "Numeric": "spaces.features",
    "ParameterError": "errors",
    "ProductSpace": "spaces.product",
    "Progress": "asking.progress",
    "Rows": "spaces.rows",
    "Running": "asking.limits",
    "Sampler": "spaces.sampler",
    "TargetError": "errors",
    "Tree": "trees.tree",
    "Verification": "runs.agree.verify",
    "analyze": "runs.analysis.analyze",
    "build_top_down": "runs.paper",
    "certify": "runs.agree.audit",
    "compare": "learners.compare",
    "diff": "runs.agree.diff",
    "distill": "runs.distill",
    "errors_by_class": "runs.agree.by_class",
    "frontier": "runs.frontier",
    "practical_top_down": "runs.paper",
    "tree_error": "exact.engine",
    "verify": "runs.agree.verify",
}
_MODULES = {
    "export": "export",
    "journal": "asking.journal",
    "learners": "learners",
    "targets": "targets",
    "theory": "theory",
}

__all__ = [
    "DEFER",
    "Analysis",
    "Boolean",
    "Budget",
    "Categorical",
    "Certificate",
    "ChowLiu",
    "Comparison",
    "CopiedRowsWarning",
    "Difference",
    "Distillation",
    "FidelitreeError",
    "FittedRowsWarning",
    "FormatError",
    "Frontier",
    "JournalError",
    "Mixture",
    "Monitor",
    "Numeric",
    "ParameterError",
    "ProductSpace",
    "Progress",
    "Rows",
    "Running",
    "Sampler",
    "TargetError",
    "Tree",
    "Verification",
    "__version__",
    "analyze",
    "build_top_down",
    "certify",
    "compare",
    "diff",
    "distill",
    "errors_by_class",
    "export",
    "frontier",
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
        return import_module(f"fidelitree.{_MODULES[name]}")
    if name in _HOMES:
        value = getattr(import_module(f"fidelitree.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'fidelitree' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
