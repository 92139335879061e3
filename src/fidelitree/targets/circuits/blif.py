"""BLIF files: one combinational model, every signal defined by a cover (``.names``)."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from fidelitree.targets.circuits.network import FALSE, MAX_WIRES, Gates, Network, in_order

if TYPE_CHECKING:
    from fidelitree.targets.circuits.source import CircuitFile

# Areas, delays and loads: nothing that changes a value.
_IGNORED = (".area", ".delay", ".wire", ".input_", ".output_", ".default_", ".max_input_load", ".wire_load_slope")


def read_blif(source: CircuitFile) -> Network:
    """The circuit in a BLIF file."""
    return _BlifReader(source).read()


@dataclass
class _Cover:
    """A signal as a function of others: it is ``value`` where some row covers them, and the opposite elsewhere."""

    line: int
    needs: list[str]
    rows: list[str] = field(default_factory=list)
    value: str = "1"

    def literal(self, gates: Gates, inputs: list[int]) -> int:
        if not self.rows:
            return FALSE
        return gates.some([gates.cube(row, inputs) for row in self.rows]) ^ (self.value == "0")


class _BlifReader:
    def __init__(self, source: CircuitFile) -> None:
        self._source = source
        self._models = 0
        self._inputs: list[str] = []
        self._outputs: list[str] = []
        self._covers: dict[str, _Cover] = {}
        self._open: _Cover | None = None
        self._line = 1

    def read(self) -> Network:
        for number, line in self._logical_lines():
            self._line = number
            if not line.startswith("."):
                self._row(line.split())
                continue
            self._open = None
            word, *rest = line.split()
            if word == ".end":
                break
            self._keyword(word, rest)
        for names, what in ((self._inputs, "inputs"), (self._outputs, "outputs")):
            if not 0 < len(names) <= MAX_WIRES:
                self._refuse(f".{what} must name at least 1 and at most {MAX_WIRES:,} signals; got {len(names):,}")
        inputs = self._source.different(self._line, self._inputs, "inputs")
        outputs = self._source.different(self._line, self._outputs, "outputs")
        gates, literals = self._gates(inputs, outputs)
        return Network(inputs, outputs, gates.made, literals)

    def _logical_lines(self) -> Iterator[tuple[int, str]]:
        """Lines that are not empty; one that ends in a backslash goes on in the next."""
        parts: list[str] = []
        for number, line in self._source.lines():
            parts.append(line.removesuffix("\\"))
            if line.endswith("\\"):
                continue
            whole = " ".join(parts).strip()
            parts.clear()
            if whole:
                yield number, whole
        if parts:
            self._source.refuse(number, "the last line must not end in a backslash")

    def _keyword(self, word: str, rest: list[str]) -> None:
        if word == ".model":
            self._models += 1
            if self._models > 1:
                self._refuse("a file must hold one .model")
        elif word in (".inputs", ".outputs"):
            (self._inputs if word == ".inputs" else self._outputs).extend(rest)
        elif word == ".names":
            self._define(rest)
        elif not word.startswith(_IGNORED):
            self._refuse(f"a model must be made of .names alone, without latches or subcircuits; got {word:.40}")

    def _define(self, names: list[str]) -> None:
        if not names:
            self._refuse(".names must name a signal")
        if names[-1] in self._covers:
            first = self._covers[names[-1]].line
            self._refuse(f"a signal must be defined once; {names[-1]!r:.40} is defined in line {first} as well")
        self._open = self._covers[names[-1]] = _Cover(self._line, names[:-1])

    def _row(self, words: list[str]) -> None:
        cover = self._open
        if cover is None:
            self._refuse(f"a line must be a keyword, or a row under .names; got {words[0]!r:.40}")
        signs, value = "".join(words[:-1]), words[-1]
        if not re.fullmatch("[01-]*", signs) or value not in ("0", "1"):
            self._refuse(f"a row must hold 0, 1 and -, and end in 0 or 1; got {' '.join(words)!r:.40}")
        if len(signs) != len(cover.needs):
            self._refuse(f"a row must have one sign for each of the {len(cover.needs)} signals; got {len(signs)}")
        if cover.rows and value != cover.value:
            self._refuse("all rows of a cover must end in the same value")
        cover.rows.append(signs)
        cover.value = value

    def _gates(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> tuple[Gates, list[int]]:
        """Every cover as gates, each after the covers that it needs."""
        literal = {name: 2 * (i + 1) for i, name in enumerate(inputs)}
        place = {name: position for position, name in enumerate(self._covers)}
        self._check_signals(literal, place, outputs)
        covers = list(self._covers.items())

        def cycle(position: int) -> NoReturn:
            name, cover = covers[position]
            self._source.refuse(cover.line, f"a combinational signal must not depend on itself; {name!r:.40} does")

        gates = Gates(len(inputs))
        needs = [[place[name] for name in cover.needs if name in place] for _, cover in covers]
        for position in in_order(range(len(covers)), needs, cycle):
            name, cover = covers[position]
            literal[name] = cover.literal(gates, [literal[need] for need in cover.needs])
        return gates, [literal[name] for name in outputs]

    def _check_signals(self, inputs: Container[str], defined: Container[str], outputs: Sequence[str]) -> None:
        """Every signal is an input, or defined, and not both."""
        for name, cover in self._covers.items():
            if name in inputs:
                self._source.refuse(cover.line, f"an input must not be defined; {name!r:.40} is one")
            for need in cover.needs:
                if need not in inputs and need not in defined:
                    self._source.refuse(cover.line, f"a signal must be an input or defined; {need!r:.40} is neither")
        for name in outputs:
            if name not in inputs and name not in defined:
                self._refuse(f"an output must be an input or defined; {name!r:.40} is neither")

    def _refuse(self, rule: str) -> NoReturn:
        self._source.refuse(self._line, rule)
