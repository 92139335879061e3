"""Which exact engine fits a target."""

from __future__ import annotations

import numpy as np

from fidelitree.errors import MissingExtraError, ParameterError
from fidelitree.exact.build import NoDiagramError, build_diagram
from fidelitree.exact.paths import PathSubfunction
from fidelitree.exact.subfunction import Subfunction
from fidelitree.exact.table import TableSubfunction
from fidelitree.features import IsOne
from fidelitree.region import Region
from fidelitree.targets.circuits.circuit import Circuit
from fidelitree.targets.counting import Counted
from fidelitree.targets.labels import Codes
from fidelitree.targets.table import MAX_FEATURES, TruthTable, tabulate
from fidelitree.tree import Tree

ENUMERATE_UNASKED = 1 << 20
"""Inputs that a call whose purpose is to be exact asks about without being told how many it may ask."""
DIAGRAM_FROM = 1 << 16
"""Inputs from which a circuit becomes a diagram; the table of fewer is as quick, and needs no extra."""
_PAIR_COST = 500  # a pair of paths takes as long as about this many inputs of a table


def free_of_charge(counted: Counted) -> bool:
    """Whether the target lists its own answers, so that enumerating it costs nobody anything."""
    return isinstance(counted.target, (Circuit, TruthTable, Tree))


def exact_subfunction(counted: Counted, region: Region, may_ask: int) -> Subfunction | None:
    """The target inside a region with all its answers known, or None where that takes more than ``may_ask`` queries.

    A tree with few leaves for its features is read path by path, a circuit of more than 16 features becomes a decision
    diagram; any other target is enumerated. NoDiagramError says why a circuit that is too large to be enumerated has
    no diagram.
    """
    target, points = counted.target, 1 << len(region.free())
    if isinstance(target, TruthTable) and target.n != len(region.space):
        raise ParameterError(f"space must have the truth table's {target.n} features; got {len(region.space)}")
    if isinstance(target, Tree):
        target.check_space(region.space)
        if points > 1 << MAX_FEATURES or _PAIR_COST * target.size**2 < points:
            return PathSubfunction(target, region)
    if isinstance(target, Circuit):
        target.check_space(region.space)
        if points > DIAGRAM_FROM and (found := _from_diagram(target, region, points)) is not None:
            return found
    if points > 1 << MAX_FEATURES or (points > may_ask and not free_of_charge(counted)):
        return None
    codes = tabulate(counted, region)
    ranks = counted.book.ranks()
    if ranks != sorted(ranks):
        codes = _recode(codes, ranks)
    return TableSubfunction.of(codes, region, counted.book.sorted())


def _from_diagram(circuit: Circuit, region: Region, points: int) -> Subfunction | None:
    """A circuit inside a region; None where there is no diagram and enumerating is possible."""
    try:
        found = build_diagram(circuit, region.space)
    except (MissingExtraError, NoDiagramError) as error:
        if points > 1 << MAX_FEATURES:
            raise NoDiagramError(str(error)) from None
        return None
    for feature, value in region.restrictions.items():
        found = found.split(IsOne(feature))[value]
    return found


def _recode(codes: Codes, ranks: list[int]) -> Codes:
    return np.array(ranks, codes.dtype)[codes]
