"""Trees in other people's formats: functions from a tree to text.

``FORMATS`` lists them by the name that the command line knows them by.
"""

from collections.abc import Callable
from typing import Any

from fidelitree.export.blif import to_blif
from fidelitree.export.pla import to_pla

FORMATS: dict[str, Callable[..., Any]] = {"pla": to_pla, "blif": to_blif}
"""Name of a format -> the function that writes it."""

__all__ = ["FORMATS", "to_blif", "to_pla"]
