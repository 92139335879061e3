"""Attempts that a surrogate helps: fewer tests for the same bound (`theory.control` has the argument).

The surrogate is fitted to answers that taught, so it is fixed before the attempt is opened. How often it disagrees with
the attempt's tree is drawn after that, from a stream of its own and without a label, or summed up where all inputs can
be listed. A certificate names the surrogate and tells what was counted; a folder keeps it, so that `verify` can draw
the same inputs again and work out the same bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fidelitree.asking.limits import Watch, go_on
from fidelitree.errors import check_stored, is_json, json_kinds
from fidelitree.spaces.draw import Stream, block_rows
from fidelitree.theory.control import Disagreement, Signed, helped_bound

if TYPE_CHECKING:
    from fidelitree.spaces.world import World
    from fidelitree.trees.ensemble import Ensemble
    from fidelitree.trees.tree import Tree

_BLOCK = 1 << 13  # free inputs that are drawn at a time, fewer where features are very many
_BLOCKS, _WORK = 16, 14_400  # such blocks, and blocks x trees of the surrogate, at most
_LISTED = 1 << 16  # inputs of a space that are listed instead


@dataclass(frozen=True)
class Help:
    """What a surrogate added to the counts of a certificate.

    ``differs`` is the share of ``draws`` on which it and the tree disagree, of all inputs where ``draws`` is None.
    ``first`` is the number of the first attempt that these inputs were drawn for. Of the counted answers, the tree
    disagreed with ``more`` but not with the surrogate, and with the surrogate but not with ``fewer``.
    """

    digest: str
    differs: float
    draws: int | None
    first: int
    more: int
    fewer: int

    def bound(self, errors: int, samples: int, level: float) -> float:
        """The bound that follows."""
        disagreement = Disagreement(self.differs, self.draws)
        return helped_bound(Signed(errors, samples, self.more, self.fewer), disagreement, level)

    @classmethod
    def from_dict(cls, data: Any, errors: int, samples: int) -> Help:
        """The inverse of ``asdict``; FormatError where numbers are not what they can be."""
        every = json_kinds(cls)
        known = isinstance(data, dict) and set(data) == set(every)
        check_stored("certificate", known, f"help must hold {', '.join(every)}; got {data!r:.80}")
        for name, kinds in every.items():
            check_stored("certificate", is_json(data[name], kinds), f"{name} of help is {data[name]!r:.80}")
        found = cls(**data)
        counts = 0 <= found.more <= errors and 0 <= found.fewer <= samples - errors
        drawn = 0 <= found.differs <= 1 and found.first >= 1 and (found.draws is None or found.draws >= 1)
        check_stored("certificate", counts and drawn, "the counts of help do not fit its errors and samples")
        return found


def disagreements(
    trees: Sequence[Tree], surrogate: Ensemble, world: World, key: tuple[int, int], watch: Watch = go_on
) -> list[Disagreement]:
    """How often each tree disagrees with the surrogate; ``key`` are the seed and the number of the first attempt."""
    space = world.independent
    if space is not None and space.points is not None and space.points <= _LISTED:
        inner = space.whole.inputs(0, space.points)
        chances, said = space.chances(inner), surrogate.predict_inner(inner)
        shares = (float(chances[tree.predict_inner(inner) != said].sum()) for tree in trees)
        return [Disagreement(min(1.0, share)) for share in shares]
    seed, first = key
    stream, counts = Stream.named(seed, "disagree").child(surrogate.digest, first), np.zeros(len(trees), np.intp)
    blocks, rows = max(2, min(_BLOCKS, _WORK // len(surrogate.values))), min(_BLOCK, block_rows(len(world.product)))
    for block in range(blocks):
        watch()
        inner = world.inputs(stream, block, rows)
        said = surrogate.predict_inner(inner)
        counts += [int(np.count_nonzero(tree.predict_inner(inner) != said)) for tree in trees]
    return [Disagreement(int(count) / (blocks * rows), blocks * rows) for count in counts]
