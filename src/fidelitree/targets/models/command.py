"""Commands: any program that reads inputs as lines and answers labels as lines is a target."""

from __future__ import annotations

import json
import shlex
import threading
from collections.abc import Sequence
from typing import Any, Self

from fidelitree.errors import ParameterError, TargetError, check_list, check_number, show
from fidelitree.targets.models.model import Model, ModelColumns
from fidelitree.targets.models.process import LineProcess, shown

Label = bool | int | str


class Command(Model):
    """A program that runs as long as the target is used, and is fed batch by batch.

    It receives one line for each input on its standard input, a JSON object of feature to value, as in
    ``{"age": 41, "job": "nurse"}`` (bits are 0 and 1, a missing value is null), and answers one line for each on its
    standard output, in the same order: a label as JSON (``true``, ``3``, ``"yes"``) or as bare text (``yes``). It must
    flush its output without waiting for the end of its input, which comes when the target is closed.

    ``command`` is a list of words, or a text that is split like a shell line; no shell runs. ``timeout`` is the longest
    time in seconds between two finished lines while labels are awaited. ``names`` names the columns of an array, which
    are x0, x1, ... else. The process starts with the first batch, and again after a failure. It ends with `close`, at
    the end of a ``with`` block, with the target itself, or with this program, whatever becomes of it. Threads take
    turns; a pickled copy starts a process of its own.
    """

    def __init__(
        self, command: str | Sequence[str], *, timeout: float = 60.0, names: Sequence[str] | None = None
    ) -> None:
        self.words = _split(command)
        self.name = shown(self.words)
        self.timeout = check_number("timeout", timeout)
        if self.timeout <= 0:
            raise ParameterError(f"timeout must be above 0 seconds; got {self.timeout:g}")
        self.columns = ModelColumns.named(names)
        self._process: LineProcess | None = None
        self._turn = threading.Lock()

    def labels(self, batch: Any) -> Any:
        lines = _as_lines(self.columns.plain(batch))
        with self._turn:
            if self._process is None:
                self._process = LineProcess(self.words)
            process, self._process = self._process, None
            answers = process.exchange("".join(lines).encode(), len(lines), self.timeout)
            self._process = process  # only one that answered well is asked again
        return _as_labels(answers)

    def close(self) -> None:
        """End the process; labels that it answered beyond those asked for are an error."""
        with self._turn:
            process, self._process = self._process, None
        if process is not None:
            process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_process", "_turn")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _process=None, _turn=threading.Lock())


def _split(command: str | Sequence[str]) -> tuple[str, ...]:
    try:
        words = shlex.split(command) if isinstance(command, str) else check_list("command", command, "words")
    except ValueError as error:
        raise ParameterError(f"command must be a line that a shell could split; got {show(command)}: {error}") from None
    if not words or not all(isinstance(word, str) and "\0" not in word for word in words):
        raise ParameterError(f"command must be a program and its arguments; got {show(command)}")
    return tuple(words)


def _as_lines(columns: dict[str, list[Any]]) -> list[str]:
    try:
        return [
            json.dumps(dict(zip(columns, row, strict=True)), allow_nan=False, ensure_ascii=False) + "\n"
            for row in zip(*columns.values(), strict=True)
        ]
    except (TypeError, ValueError) as error:
        raise ParameterError(f"inputs of a command must be numbers, truth values or text: {error}") from None


def _as_labels(answers: list[bytes]) -> list[Label]:
    """Labels of one kind; each different line is read once."""
    known: dict[bytes, Label] = {}
    for row, line in enumerate(answers):
        if line not in known:
            known[line] = _label(line, row)
    if len(kinds := {type(label).__name__ for label in known.values()}) > 1:
        raise TargetError(
            f"labels must be of one kind; the command answered {' and '.join(sorted(kinds))} in one batch: "
            f"{', '.join(repr(line.decode()) for line in list(known)[:4])}"
        )
    return [known[line] for line in answers]


def _label(line: bytes, row: int) -> Label:
    try:
        text = line.decode().strip()
        value = json.loads(text)
    except (UnicodeDecodeError, RecursionError):
        value = None
    except ValueError:
        value = _plain(text)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, (bool, int, str)) and value != "":
        return value
    raise TargetError(
        f"a command must answer each input with a label: a whole number, a truth value or text; it answered "
        f"{line[:80]!r} to input {row} of a batch"
    )


def _plain(text: str) -> float | str:
    """Text that is not JSON: a number all the same, such as nan or 1., or a bare label."""
    try:
        return float(text)
    except ValueError:
        return text
