"""The machine in words that name no machine."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version


def describe() -> str:
    """Cores, interpreter, and the packages that are compared."""
    packages = ", ".join(f"{label} {_version(name)}" for label, name in PACKAGES.items())
    return f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, {packages}"


PACKAGES = {"NumPy": "numpy", "scikit-learn": "scikit-learn", "boofun": "boofun", "Numba": "numba", "OxiDD": "oxidd"}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
