"""Small circuits as files, for tests of the readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fidelitree.targets.circuits import READERS, Circuit, Network
from fidelitree.targets.circuits.source import CircuitFile

if TYPE_CHECKING:
    from pathlib import Path

PLA = """# two outputs
.i 3
.o 2
.ilb a b c
.ob f g
.type fd
.p 3
1-1 10   # a & c
01- | 1-
--0 ~1
.e
"""

BLIF = """.model small
.inputs a b \\
  c
.outputs f g h
.names t c f   # used before it is defined
11 1
.names a b t
00 0
.names g
1
.names c h
0 1
.end
"""

AAG = """aag 5 2 0 2 3
2
4
6
7
6 8 10
8 3 4
10 2 5
i0 a
i1 b
o0 never
o1 always
c
written by hand
"""

AIG = b"aig 5 2 0 1 3\n10\n\x02\x02\x03\x02\x01\x02i0 a\ni1 b\no0 f\nc\nby hand\n"
"""Gate 6 is 4 & 2, gate 8 is ~4 & ~2 (5, 3), gate 10 is ~8 & ~6: XOR."""

SMALL: dict[str, bytes] = {".pla": PLA.encode(), ".blif": BLIF.encode(), ".aag": AAG.encode(), ".aig": AIG}


def parse(suffix: str, data: bytes | str) -> Network:
    """Read a file that is in memory."""
    return READERS[suffix](CircuitFile(f"small{suffix}", data.encode() if isinstance(data, str) else data))


def circuits(path: Path) -> list[Circuit]:
    """Every output of a file."""
    from fidelitree.targets.circuits import read_network

    network = read_network(path)
    return [Circuit(network, position) for position in range(len(network.outputs))]
