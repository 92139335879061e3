"""Expressions: ``a & (b | ~c)``, with Python's signs and Python's order of precedence (``~``, ``&``, ``^``, ``|``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NoReturn

from fidelitree.errors import FormatError, ParameterError, check_names, check_text
from fidelitree.targets.circuits.network import MAX_WIRES, Gates, Network

MAX_LENGTH = 1_000_000
_TOKEN = re.compile(r"\s*(?:([A-Za-z_][\w.\[\]]*)|([01])(?!\w)|([~&^|()]))", re.ASCII)
_STRENGTH = {"|": 1, "^": 2, "&": 3, "~": 4}


def read_expression(text: str, names: Sequence[str] | None = None) -> Network:
    """The circuit of an expression; its inputs are ``names``, or the names in it as they appear."""
    check_text("text of an expression", text)
    if len(text) > MAX_LENGTH:
        raise FormatError(f"expression: it may have at most {MAX_LENGTH:,} characters; got {len(text):,}")
    tokens = list(_tokens(text))
    found = list(dict.fromkeys(token for _, token in tokens if token[0].isalpha() or token[0] == "_"))
    inputs = found if names is None else check_names("names", names, "the inputs of the expression")
    if not 0 < len(inputs) <= MAX_WIRES:
        raise FormatError(f"expression: it must name at least 1 and at most {MAX_WIRES:,} inputs; got {len(inputs):,}")
    if len(set(inputs)) < len(inputs) or not set(found) <= set(inputs):
        odd = ", ".join(sorted(set(found) - set(inputs))) or "a name given twice"
        raise ParameterError(f"names must hold every input of the expression once; got {odd:.80}")
    parser = _Parser({name: 2 * (i + 1) for i, name in enumerate(inputs)})
    return Network(tuple(inputs), ("f0",), parser.gates.made, [parser.literal(tokens, len(text))])


def _tokens(text: str) -> Iterator[tuple[int, str]]:
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            at = end - len(text[at:end].lstrip())
            _refuse(at, f"a sign must be a name, 0, 1, ~, &, ^, | or a parenthesis; got {text[at : at + 10]!r}")
        yield match.start(match.lastindex or 0), match[match.lastindex or 0]
        at = match.end()


class _Parser:
    """Operators wait on a stack until a weaker one comes (Dijkstra): nesting costs no recursion."""

    def __init__(self, inputs: dict[str, int]) -> None:
        self.gates = Gates(len(inputs))
        self._inputs = {"0": 0, "1": 1, **inputs}
        self._values: list[int] = []
        self._waiting: list[tuple[int, str]] = []

    def literal(self, tokens: list[tuple[int, str]], end: int) -> int:
        value_next = True
        for at, token in tokens:
            is_value = token not in ("&", "^", "|", ")")
            if is_value != value_next:
                _refuse(at, f"{'a value' if value_next else 'an operator'} must come here; got {token!r:.40}")
            if token in ("(", "~"):
                self._waiting.append((at, token))
            elif token == ")":
                self._close(at)
            elif is_value:
                self._values.append(self._inputs[token])
                value_next = False
            else:
                self._apply(_STRENGTH[token])
                self._waiting.append((at, token))
                value_next = True
        if value_next:
            _refuse(end, "a value must come here; the expression ends")
        self._apply(0)
        if self._waiting:
            _refuse(self._waiting[-1][0], "a parenthesis must be closed; this one is not")
        return self._values[0]

    def _close(self, at: int) -> None:
        self._apply(0)
        if not self._waiting:
            _refuse(at, "a parenthesis must be opened before it is closed")
        self._waiting.pop()

    def _apply(self, strength: int) -> None:
        """Work off the waiting operators that are at least as strong, back to a parenthesis."""
        while self._waiting and _STRENGTH.get(self._waiting[-1][1], -1) >= max(strength, 1):
            _, sign = self._waiting.pop()
            if sign == "~":
                self._values[-1] ^= 1
                continue
            two, one = self._values.pop(), self._values.pop()
            operation = {"&": self.gates.both, "|": self.gates.either, "^": self.gates.differ}[sign]
            self._values.append(operation(one, two))


def _refuse(at: int, rule: str) -> NoReturn:
    raise FormatError(f"expression, column {at + 1}: {rule}")
