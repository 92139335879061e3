"""Which exact engine fits a target."""

from __future__ import annotations

import numpy as np

from fidelitree.asking.counted import Counted
from fidelitree.asking.tabulate import tabulate
from fidelitree.errors import MissingExtraError, ParameterError
from fidelitree.exact.build import build_diagram
from fidelitree.exact.diagram import NoDiagramError
from fidelitree.exact.grid import MOST as GRID_MOST
from fidelitree.exact.grid import GridSubfunction
from fidelitree.exact.paths import PathSubfunction
from fidelitree.exact.subfunction import Subfunction
from fidelitree.exact.truthtable import TableSubfunction
from fidelitree.spaces.features import IsOne
from fidelitree.spaces.region import Region
from fidelitree.targets.circuits.circuit import Circuit
from fidelitree.targets.labels import Codes
from fidelitree.targets.table import MAX_FEATURES, TruthTable
from fidelitree.trees.tree import Tree

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
    target, points, bits = counted.target, region.points, region.space.all_bits
    most = 1 << MAX_FEATURES if bits else GRID_MOST
    if isinstance(target, TruthTable) and target.n != len(region.space):
        raise ParameterError(f"space must have the truth table's {target.n} features; got {len(region.space)}")
    if isinstance(target, Tree):
        target.check_space(region.space)
        if points is None or points > most or not bits or _PAIR_COST * target.size**2 < points:
            return PathSubfunction(target, region)
    if isinstance(target, Circuit):
        target.check_space(region.space)
        if (found := _from_diagram(target, region)) is not None:
            return found
    if points is None or points > most or (points > may_ask and not free_of_charge(counted)):
        return None
    codes = tabulate(counted, region)
    ranks = counted.book.ranks()
    if ranks != sorted(ranks):
        codes = _recode(codes, ranks)
    labels = counted.book.sorted()
    return TableSubfunction.of(codes, region, labels) if bits else GridSubfunction(region, codes, labels)


def _from_diagram(circuit: Circuit, region: Region) -> Subfunction | None:
    """A circuit inside a region; None where a table is as good, or the only way."""
    points = 1 << len(region.free())
    if points <= DIAGRAM_FROM:
        return None
    try:
        found = build_diagram(circuit, region.space)
    except (MissingExtraError, NoDiagramError) as error:
        if points > 1 << MAX_FEATURES:
            raise NoDiagramError(str(error)) from None
        return None
    for feature in region.restrictions:
        found = found.split(IsOne(feature))[region.restrictions[feature] == 1]
    return found


def _recode(codes: Codes, ranks: list[int]) -> Codes:
    return np.array(ranks, codes.dtype)[codes]
