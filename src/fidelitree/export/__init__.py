"""Trees in other people's formats: functions from a tree to text."""

from fidelitree.export.blif import to_blif
from fidelitree.export.pla import to_pla

__all__ = ["to_blif", "to_pla"]
