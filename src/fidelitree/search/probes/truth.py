"""The probe that knows everything: true masses and influences from an exact engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fidelitree.exact.subfunction import Subfunction
from fidelitree.search.probes.evidence import Evidence
from fidelitree.trees.bare import BareTree, Leaf


class ExactProbe:
    """Holds one subfunction for each leaf; a split replaces the parent's by the children's."""

    def __init__(self, root: Subfunction) -> None:
        self._root = root
        self._held: dict[int, Subfunction] = {}

    def look(self, bare: BareTree, made: Sequence[Leaf]) -> Mapping[int, Evidence]:
        """Only new leaves have new evidence."""
        if made[0].parent is None:
            self._held = {made[0].number: self._root}
        else:
            halves = self._held.pop(made[0].parent).split(bare.test(made[0].parent))
            self._held.update(zip((leaf.number for leaf in made), halves, strict=True))
        return {leaf.number: self._evidence(leaf) for leaf in made}

    def _evidence(self, leaf: Leaf) -> Evidence:
        function, mass = self._held[leaf.number], leaf.region.mass
        splits = function.splits()
        cost = mass * float(function.influences().sum()) if splits.tests else None
        return Evidence(mass * splits.drops, mass * function.label_probabilities(), splits.tests, cost)
