"""What is compiled: the inner loops of searches and predictions, in plain C, each beside a twin in NumPy.

A twin gives the same result bit for bit, so the same seed gives the same tree with and without a compiler. Where the
library is absent, NumPy does the work. A library that is there and cannot be loaded is an error: nobody should wonder
why everything is slow. FIDELITREE_KERNELS=numpy forces NumPy, FIDELITREE_KERNELS=compiled refuses to do without.

A caller asks ``if kernels.compiled:`` each time, so that a test can compare both ways in one process.
"""

from __future__ import annotations

import importlib
import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

from fidelitree.errors import ParameterError

_NAME = "fidelitree.trees.kernels._native"


def chosen(wanted: str) -> bool:
    """Whether to use the compiled library, by what FIDELITREE_KERNELS says and by whether it is there."""
    if wanted not in ("", "numpy", "compiled"):
        raise ParameterError(f"FIDELITREE_KERNELS must be numpy or compiled; got {wanted!r} - or leave it out")
    absent = find_spec(_NAME) is None
    if absent and wanted == "compiled":
        raise ParameterError(
            "FIDELITREE_KERNELS=compiled needs the compiled kernels, and there are none - install fidelitree where a C "
            "compiler is, or leave it out"
        )
    return wanted != "numpy" and not absent


compiled = chosen(os.environ.get("FIDELITREE_KERNELS", ""))

if TYPE_CHECKING:
    from fidelitree.trees.kernels import _native as native
elif compiled:
    native = importlib.import_module(_NAME)

__all__ = ["compiled", "native"]
