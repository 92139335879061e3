"""The learners of the literature behind one signature, every answer counted, every tree certified in the same way.

Each is a function of a target, a space, epsilon, delta and a seed, takes ``max_queries``, ``max_leaves``,
``max_seconds`` and ``observer`` besides options of its own, and returns what `distill` returns.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from fidelitree.exact.engine import ENUMERATE_UNASKED
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
from fidelitree.learners.lowest_rank import lowest_rank
from fidelitree.learners.mehta_raghavan import mehta_raghavan
from fidelitree.learners.monotone_top_down import monotone_top_down
from fidelitree.learners.odonnell_servedio import odonnell_servedio
from fidelitree.learners.optimal import optimal
from fidelitree.learners.spectrum import LearntFunction
from fidelitree.learners.streed import streed
from fidelitree.learners.top_down import top_down
from fidelitree.spaces.product import product_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from fidelitree.runs.result import Distillation
    from fidelitree.spaces.world import World

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


@dataclass(frozen=True)
class Learner:
    """A learner of the literature.

    ``asks`` is what it sees of a target: ``labels`` of inputs as they are drawn, ``queries`` of its own choice, or
    ``everything``. ``library`` is what must be installed.
    """

    name: str
    learn: Callable[..., Distillation]
    paper: str
    asks: str
    bits_only: bool = False
    library: str | None = None

    def why_not(self, space: World) -> str | None:
        """Why it does not apply to a space; None where it does."""
        product = product_of(space)
        if self.library is not None and find_spec(self.library) is None:
            return f"{self.library} is not installed"
        if self.bits_only and any(feature.kind != "boolean" for feature in product):
            return "not all features are bits"
        if space.independent is None and self.asks != "labels":
            return f"it chooses its own inputs, and these are {space.in_words}"
        if self.asks == "everything" and (product.points is None or product.points > ENUMERATE_UNASKED):
            return f"{product.extent} are too many to ask them all"
        return None


LEARNERS = {
    learner.name: learner
    for learner in (
        Learner("top_down", top_down, "Blanc, Lange, Tan 2020", "queries", bits_only=True),
        Learner(
            "blanc_gupta_lange_tan", blanc_gupta_lange_tan, "Blanc, Gupta, Lange, Tan 2020", "queries", bits_only=True
        ),
        Learner("monotone_top_down", monotone_top_down, "Blanc, Lange, Tan 2020", "labels", bits_only=True),
        Learner("id3", id3, "Quinlan 1986", "labels"),
        Learner("c45", c45, "Quinlan 1993, without subtree raising", "labels"),
        Learner("cart", cart, "Breiman, Friedman, Olshen, Stone 1984", "labels", library="sklearn"),
        Learner("lowest_rank", lowest_rank, "Ehrenfeucht, Haussler 1989", "labels"),
        Learner("mehta_raghavan", mehta_raghavan, "Mehta, Raghavan 2002", "labels"),
        Learner(
            "blanc_lange_qiao_tan", blanc_lange_qiao_tan, "Blanc, Lange, Qiao, Tan 2022", "queries", bits_only=True
        ),
        Learner(
            "bshouty_haddad_zaknoon",
            bshouty_haddad_zaknoon,
            "after Bshouty, Haddad-Zaknoon 2019",
            "queries",
            bits_only=True,
        ),
        Learner("disagreement", disagreement, "after Soltani Moakhar et al. 2026", "labels"),
        Learner("halving", halving, "after Huang, Jin 2025", "queries", bits_only=True),
        Learner("streed", streed, "van der Linden, de Weerdt, Demirovic 2023", "labels", library="pystreed"),
        Learner("optimal", optimal, "dynamic programming over subcubes", "everything"),
    )
}

IMPROPER: dict[str, tuple[Callable[..., LearntFunction], str]] = {
    "kushilevitz_mansour": (kushilevitz_mansour, "Kushilevitz, Mansour 1991"),
    "gopalan_kalai_klivans": (gopalan_kalai_klivans, "Gopalan, Kalai, Klivans 2008"),
    "odonnell_servedio": (odonnell_servedio, "O'Donnell, Servedio 2007"),
}
"""Learners of functions that are no trees, with their papers: all take bits and two labels."""
