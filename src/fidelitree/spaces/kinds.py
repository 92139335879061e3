"""All kinds of worlds, by the entry of a stored space that tells them apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from fidelitree.spaces.blends import KEY as NEIGHBOURS
from fidelitree.spaces.blends import Blend
from fidelitree.spaces.chow_liu import KEY as CHOW_LIU
from fidelitree.spaces.chow_liu import ChowLiu
from fidelitree.spaces.mixture import KEY as MIXTURE
from fidelitree.spaces.mixture import Mixture
from fidelitree.spaces.product import ProductSpace
from fidelitree.spaces.rows import Rows
from fidelitree.spaces.sampler import KEY as SAMPLER
from fidelitree.spaces.sampler import Sampler

if TYPE_CHECKING:
    from fidelitree.spaces.world import World

_READERS: dict[str, Callable[[Any], World]] = {
    "rows": Rows.from_dict,
    NEIGHBOURS: Blend.from_dict,
    CHOW_LIU: ChowLiu.from_dict,
    SAMPLER: Sampler.from_dict,
    MIXTURE: Mixture.from_dict,
}


def from_dict(data: Any) -> World:
    """The world that plain data describes; FormatError says what is wrong with it."""
    known = [read for key, read in _READERS.items() if isinstance(data, Mapping) and key in data]
    return known[0](data) if known else ProductSpace.from_dict(data)
