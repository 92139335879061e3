"""What was measured, and on what: the commit, and the machine in words that name no machine."""

from __future__ import annotations

import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@cache
def commit() -> str:
    """The commit that is measured, marked where the sources have changed since."""
    asked = ["git", "describe", "--always", "--exclude=*", "--dirty=+"]
    return subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def describe() -> str:
    """Cores, interpreter, the packages that are compared, and our commit."""
    packages = ", ".join(f"{label} {_version(name)}" for label, name in PACKAGES.items())
    machine = f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}"
    return f"{machine}, {packages}, fidelitree at commit {commit()}"


PACKAGES = {
    "NumPy": "numpy",
    "scikit-learn": "scikit-learn",
    "boofun": "boofun",
    "Numba": "numba",
    "OxiDD": "oxidd",
    "SALib": "SALib",
}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
