"""The learners of the literature behind one signature, every answer counted, every tree certified alike.

Each is a function of a target, a space, epsilon, delta and a seed, takes ``max_queries``, ``max_leaves``,
``max_seconds`` and ``observer`` besides options of its own, and returns what `distill` returns.
"""

from fidelitree.learners.cost_complexity import cart
from fidelitree.learners.entropy import id3
from fidelitree.learners.gain_ratio import c45
from fidelitree.learners.monotone import monotone_top_down
from fidelitree.learners.most_influential import blanc_lange_qiao_tan
from fidelitree.learners.named import LEARNERS, Learner
from fidelitree.learners.rank import lowest_rank
from fidelitree.learners.restrictions import mehta_raghavan
from fidelitree.learners.separation import streed
from fidelitree.learners.size_budget import top_down
from fidelitree.learners.subcubes import optimal

__all__ = [
    "LEARNERS",
    "Learner",
    "blanc_lange_qiao_tan",
    "c45",
    "cart",
    "id3",
    "lowest_rank",
    "mehta_raghavan",
    "monotone_top_down",
    "optimal",
    "streed",
    "top_down",
]
