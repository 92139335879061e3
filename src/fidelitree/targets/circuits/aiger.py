"""AIGER files, ASCII (``aag``) and binary (``aig``): ANDs and negations, the native tongue of `network`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from fidelitree.targets.circuits.network import MAX_GATES, MAX_WIRES, Gates, Network, in_order

if TYPE_CHECKING:
    from fidelitree.targets.circuits.source import CircuitFile

_HEADER = "the header must be 'aig M I L O A' or 'aag M I L O A'"
_COUNTS = (
    ("M (signals)", MAX_WIRES + MAX_GATES),
    ("I (inputs)", MAX_WIRES),
    ("L (latches)", 0),
    ("O (outputs)", MAX_WIRES),
    ("A (gates)", MAX_GATES),
)


def read_aiger(source: CircuitFile) -> Network:
    """The circuit in an AIGER file; its first word says which kind it is."""
    reader = _AigerReader(source)
    header = reader.header()
    return reader.network(header, reader.ascii(header) if header.ascii else reader.binary(header))


@dataclass(frozen=True)
class _Header:
    ascii: bool
    largest: int
    inputs: int
    outputs: int
    ands: int


@dataclass(frozen=True)
class _Body:
    """Literals as the file writes them, with every AND after the ANDs that it needs."""

    inputs: list[int]
    outputs: list[int]
    ands: list[tuple[int, int, int]]


class _AigerReader:
    def __init__(self, source: CircuitFile) -> None:
        self._source = source
        self._at = 0  # the next byte
        self._line = 0
        self._defined: set[int] = set()

    def header(self) -> _Header:
        """The numbers that the file starts with; they are checked before anything is made."""
        kind, *words = self._words()
        if kind not in ("aig", "aag") or len(words) < 5:
            self._refuse(f"{_HEADER}; got {' '.join([kind, *words])!r:.40}")
        largest, inputs, _, outputs, ands = (
            self._source.count(1, word, what, most) for word, (what, most) in zip(words, _COUNTS, strict=False)
        )
        if any(word != "0" for word in words[5:]):
            self._refuse("bad states, constraints, justice and fairness must be absent: a circuit has outputs only")
        if inputs < 1 or outputs < 1:
            self._refuse(f"a circuit must have at least 1 input and 1 output; got {inputs} and {outputs}")
        if largest < inputs + ands or (kind == "aig" and largest != inputs + ands):
            self._refuse(f"M must be I + A = {inputs + ands} (at least that in an aag file); got {largest}")
        # An output takes two bytes or more, an AND two bytes or more in binary and six in ASCII.
        if 2 * outputs + 2 * ands > len(self._source.data):
            self._refuse(f"{outputs:,} outputs and {ands:,} gates must fit into {len(self._source.data):,} bytes")
        return _Header(kind == "aag", largest, inputs, outputs, ands)

    def binary(self, header: _Header) -> _Body:
        """Inputs are numbered in order; a gate is two differences of literals, seven bits to a byte."""
        outputs = [self._literals(1, header)[0] for _ in range(header.outputs)]
        ands = []
        for gate in range(header.ands):
            left = 2 * (header.inputs + gate + 1)
            one = left - self._difference(gate)
            two = one - self._difference(gate)
            if not 0 <= two <= one < left:
                self._source.refuse(
                    self._line + 1, f"gate {gate} must need earlier signals only; got literals {one} and {two}"
                )
            ands.append((left, one, two))
        return _Body([2 * (i + 1) for i in range(header.inputs)], outputs, ands)

    def ascii(self, header: _Header) -> _Body:
        """Inputs, outputs, gates: a line each."""
        inputs = [self._fresh(self._literals(1, header)[0]) for _ in range(header.inputs)]
        outputs = [self._literals(1, header)[0] for _ in range(header.outputs)]
        ands, lines = [], []
        for _ in range(header.ands):
            left, one, two = self._literals(3, header)
            ands.append((self._fresh(left), one, two))
            lines.append(self._line)
        place = {left: position for position, (left, _, _) in enumerate(ands)}
        known = {0, *inputs, *place}
        for (_, one, two), line in zip(ands, lines, strict=True):
            self._check_known(known, (one, two), line)
        self._check_known(known, outputs, self._line)

        def cycle(position: int) -> NoReturn:
            self._source.refuse(lines[position], f"a gate must not depend on itself; {ands[position][0]} does")

        needs = [[place[literal & ~1] for literal in pair if literal & ~1 in place] for _, *pair in ands]
        order = in_order(range(len(ands)), needs, cycle)
        return _Body(inputs, outputs, [ands[position] for position in order])

    def network(self, header: _Header, body: _Body) -> Network:
        """The gates under our own numbers, and the names at the end of the file."""
        gates = Gates(header.inputs)
        literal = {0: 0} | {theirs: 2 * (i + 1) for i, theirs in enumerate(body.inputs)}
        for left, one, two in body.ands:
            literal[left] = gates.both(literal[one & ~1] ^ (one & 1), literal[two & ~1] ^ (two & 1))
        inputs = [f"x{i}" for i in range(header.inputs)]
        outputs = [f"f{i}" for i in range(header.outputs)]
        self._symbols({"i": inputs, "o": outputs})
        different = self._source.different
        return Network(
            different(self._line, inputs, "inputs"),
            different(self._line, outputs, "outputs"),
            gates.made,
            [literal[theirs & ~1] ^ (theirs & 1) for theirs in body.outputs],
        )

    def _symbols(self, names: dict[str, list[str]]) -> None:
        """Lines such as ``i0 name``, up to the end of the file or a line ``c``."""
        while self._at < len(self._source.data):
            line = self._next_line()
            if line == "c":
                return
            place, _, name = line.partition(" ")
            kind, number = place[:1], place[1:]
            if kind not in names or not name.strip():
                self._refuse(f"a name must be given as 'i0 name' or 'o0 name'; got {line!r:.40}")
            position = self._source.count(self._line, number, f"a position of {kind}", len(names[kind]) - 1)
            names[kind][position] = name.strip()

    def _fresh(self, literal: int) -> int:
        if literal < 2 or literal & 1 or literal in self._defined:
            self._refuse(f"a signal must be defined once, by an even literal above 0; got {literal}")
        self._defined.add(literal)
        return literal

    def _check_known(self, known: set[int], literals: tuple[int, ...] | list[int], line: int) -> None:
        for literal in literals:
            if literal & ~1 not in known:
                self._source.refuse(line, f"a literal must be an input or a gate; {literal} is neither")

    def _literals(self, count: int, header: _Header) -> list[int]:
        words = self._words()
        if len(words) != count:
            self._refuse(f"a line must hold {count} literal{'s' * (count > 1)} here; got {' '.join(words)!r:.40}")
        return [self._source.count(self._line, word, "a literal", 2 * header.largest + 1) for word in words]

    def _difference(self, gate: int) -> int:
        """A number in seven bits a byte, lowest first; a byte below 128 is its last."""
        number, shift, data = 0, 0, self._source.data
        while self._at < len(data):
            byte = data[self._at]
            self._at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
            if shift > 35:
                break
        self._source.refuse(self._line + 1, f"gate {gate} must be two numbers of at most five bytes each")

    def _words(self) -> list[str]:
        return self._next_line().split() or [""]

    def _next_line(self) -> str:
        data = self._source.data
        self._line += 1
        if self._at >= len(data):
            self._refuse("the file must not end here")
        end = data.find(b"\n", self._at)
        end = len(data) if end < 0 else end
        line, self._at = data[self._at : end], end + 1
        try:
            return line.decode("utf-8").rstrip("\r")
        except UnicodeDecodeError:
            self._refuse("it must be text in UTF-8")

    def _refuse(self, rule: str) -> NoReturn:
        self._source.refuse(self._line, rule)
