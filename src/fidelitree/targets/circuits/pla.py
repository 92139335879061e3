"""PLA files of espresso: two-level covers, one row for each product of literals.

An input is 1 where some row with a ``1`` for the output covers it. Don't-cares (``-`` and ``2`` in an output) are
read as 0 under every ``.type``, and so is what no row mentions.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn

from fidelitree.targets.circuits.network import Gates, Network

if TYPE_CHECKING:
    from fidelitree.targets.circuits.source import CircuitFile

TYPES = ("f", "fd", "fr", "fdr")
_IGNORED = (".p", ".phase", ".pair")  # how many rows there are; hints to a minimiser
_INPUTS = str.maketrans("2", "-")
_OUTPUTS = str.maketrans("234~-", "00100")  # 4 is another way to write 1


def read_pla(source: CircuitFile) -> Network:
    """The circuit in a PLA file."""
    return _PlaReader(source).read()


class _PlaReader:
    def __init__(self, source: CircuitFile) -> None:
        self._source = source
        self._counts: dict[str, int] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._rows: list[tuple[str, str]] = []
        self._line = 0

    def read(self) -> Network:
        for number, line in self._source.lines():
            self._line = number
            if line.startswith("."):
                if line.split()[0] in (".e", ".end"):
                    break
                self._keyword(*line.split(maxsplit=1))
            elif line:
                self._row(line)
        inputs, outputs = self._wires(".i", ".ilb", "x"), self._wires(".o", ".ob", "f")
        gates = Gates(len(inputs))
        own = [2 * (i + 1) for i in range(len(inputs))]
        columns: list[list[int]] = [[] for _ in outputs]
        for signs, marks in self._rows:
            product = gates.cube(signs, own)
            for place in re.finditer("1", marks):
                columns[place.start()].append(product)
        return Network(inputs, outputs, gates.made, [gates.some(column) for column in columns])

    def _keyword(self, word: str, rest: str = "") -> None:
        if word in (".i", ".o"):
            if self._rows or word in self._counts:
                self._refuse(f"{word} must come once, before the rows")
            self._counts[word] = self._source.count(self._line, rest, word)
        elif word in (".ilb", ".ob"):
            what = "inputs" if word == ".ilb" else "outputs"
            self._names[word] = self._source.different(self._line, rest.split(), what)
        elif word == ".type":
            if rest not in TYPES:
                self._refuse(f".type must be one of {', '.join(TYPES)}; got {rest!r:.40}")
        elif word not in _IGNORED:
            self._refuse(f"a keyword must be .i, .o, .ilb, .ob, .p, .type or .e; got {word:.40}")

    def _row(self, line: str) -> None:
        for word in (".i", ".o"):
            if word not in self._counts:
                self._refuse(f"{word} must come before the rows")
        inputs, outputs = self._counts[".i"], self._counts[".o"]
        cells = re.sub(r"[\s|]", "", line)
        signs, marks = cells[:inputs].translate(_INPUTS), cells[inputs:]
        if len(cells) != inputs + outputs:
            self._refuse(f"a row must have {inputs} inputs and {outputs} outputs; got {len(cells)} signs")
        if not re.fullmatch("[01-]*", signs):
            self._refuse(f"inputs of a row must be 0, 1, 2 or -; got {signs!r:.40}")
        if not re.fullmatch("[01234~-]*", marks):
            self._refuse(f"outputs of a row must be 0, 1, 2, 3, 4, ~ or -; got {marks!r:.40}")
        self._rows.append((signs, marks.translate(_OUTPUTS)))

    def _wires(self, keyword: str, naming: str, letter: str) -> tuple[str, ...]:
        """Names of the inputs, or of the outputs, made up where the file has none."""
        if not self._counts.get(keyword):
            self._refuse(f"{keyword} must say how many there are, at least 1")
        count = self._counts[keyword]
        names = self._names.get(naming) or tuple(f"{letter}{i}" for i in range(count))
        if len(names) != count:
            self._refuse(f"{naming} must give {count} names; got {len(names)}")
        return names

    def _refuse(self, rule: str) -> NoReturn:
        self._source.refuse(self._line, rule)
