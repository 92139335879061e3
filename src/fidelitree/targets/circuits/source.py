"""A file from a stranger: its name, its bytes, and how it is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from fidelitree.errors import FormatError, ParameterError, read_bytes, reading
from fidelitree.targets.circuits.network import MAX_WIRES

MAX_BYTES = 32_000_000


@dataclass(frozen=True)
class CircuitFile:
    """What is read, under the name that errors give it."""

    name: str
    data: bytes

    @classmethod
    def of(cls, path: Path) -> CircuitFile:
        """The bytes of a file, unless there are too many of them."""
        with reading(path):
            there = path.is_file()
        if not there:
            raise ParameterError(f"path must name a file; there is none at {str(path)!r}")
        return cls(path.name, read_bytes(path, MAX_BYTES, "a circuit"))

    def refuse(self, line: int, rule: str) -> NoReturn:
        """This line breaks this rule."""
        raise FormatError(f"{self.name}, line {line}: {rule}")

    def lines(self) -> Iterator[tuple[int, str]]:
        """Numbered lines of a text file, comments (``#`` to the end of a line) and outer blanks taken away."""
        for number, line in enumerate(self.data.split(b"\n"), start=1):
            try:
                yield number, line.decode("utf-8").partition("#")[0].strip()
            except UnicodeDecodeError:
                self.refuse(number, "it must be text in UTF-8")

    def count(self, line: int, word: str, what: str, most: int = MAX_WIRES) -> int:
        """A number that says how many of something there are."""
        if not (word.isascii() and word.isdigit()):
            self.refuse(line, f"{what} must be a whole number; got {word!r:.40}")
        # A number of many digits takes long to read, and is too large whatever they are.
        if len(word.lstrip("0")) > len(str(most)) or int(word) > most:
            self.refuse(line, f"{what} must be at most {most:,}; got {word:.40}")
        return int(word)

    def different(self, line: int, names: Sequence[str], what: str) -> tuple[str, ...]:
        """Names of which none occurs twice."""
        if len(set(names)) < len(names):
            seen: set[str] = set()
            twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
            self.refuse(line, f"{what} must have different names; got {twice!r:.40} more than once")
        return tuple(names)
