"""The learners of the literature behind one signature, every answer counted, every tree certified alike.

Each is a function of a target, a space, epsilon, delta and a seed, and returns what `distill` returns.
"""

from fidelitree.learners.entropy import id3
from fidelitree.learners.subcubes import optimal

__all__ = ["id3", "optimal"]
