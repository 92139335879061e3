"""The learners of the literature behind one signature, every answer counted, every tree certified in the same way.

Each is a function of a target, a space, epsilon, delta and a seed, takes ``max_queries``, ``max_leaves``,
``max_seconds`` and ``observer`` besides options of its own, and returns what `distill` returns.
"""

from __future__ import annotations

from collections.abc import Callable

from fidelitree.learners.blanc_gupta_lange_tan import blanc_gupta_lange_tan
from fidelitree.learners.blanc_lange_qiao_tan import blanc_lange_qiao_tan
from fidelitree.learners.bshouty_haddad_zaknoon import bshouty_haddad_zaknoon
from fidelitree.learners.c45 import c45
from fidelitree.learners.cart import cart
from fidelitree.learners.disagreement import disagreement
from fidelitree.learners.gopalan_kalai_klivans import gopalan_kalai_klivans
from fidelitree.learners.halving import halving
from fidelitree.learners.id3 import id3
from fidelitree.learners.kushilevitz_mansour import kushilevitz_mansour
from fidelitree.learners.lesson import REGISTERED, Learner
from fidelitree.learners.lowest_rank import lowest_rank
from fidelitree.learners.mehta_raghavan import mehta_raghavan
from fidelitree.learners.monotone_top_down import monotone_top_down
from fidelitree.learners.odonnell_servedio import odonnell_servedio
from fidelitree.learners.optimal import optimal
from fidelitree.learners.spectrum import LearntFunction
from fidelitree.learners.streed import streed
from fidelitree.learners.top_down import top_down

__all__ = [
    "IMPROPER",
    "LEARNERS",
    "Learner",
    "LearntFunction",
    "blanc_gupta_lange_tan",
    "blanc_lange_qiao_tan",
    "bshouty_haddad_zaknoon",
    "c45",
    "cart",
    "disagreement",
    "gopalan_kalai_klivans",
    "halving",
    "id3",
    "kushilevitz_mansour",
    "lowest_rank",
    "mehta_raghavan",
    "monotone_top_down",
    "odonnell_servedio",
    "optimal",
    "streed",
    "top_down",
]


_ORDER = (
    "top_down blanc_gupta_lange_tan monotone_top_down id3 c45 cart lowest_rank mehta_raghavan blanc_lange_qiao_tan "
    "bshouty_haddad_zaknoon disagreement halving streed optimal"
)
LEARNERS = {name: REGISTERED[name] for name in _ORDER.split()}
"""In the order in which they are compared."""

IMPROPER: dict[str, tuple[Callable[..., LearntFunction], str]] = {
    "kushilevitz_mansour": (kushilevitz_mansour, "Kushilevitz, Mansour 1991"),
    "gopalan_kalai_klivans": (gopalan_kalai_klivans, "Gopalan, Kalai, Klivans 2008"),
    "odonnell_servedio": (odonnell_servedio, "O'Donnell, Servedio 2007"),
}
"""Learners of functions that are no trees, with their papers: all take bits and two labels."""
