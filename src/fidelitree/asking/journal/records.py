"""One line of a journal: a part of a batch with its answers, sealed so that damage is noticed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from fidelitree.asking.journal.coding import KINDS, digest, inputs_from, label_bytes, labels_from
from fidelitree.errors import FormatError

COLUMNS = "purpose, batch, start, count, digest, kind, inputs, labels, seconds, seal"
_TYPES = (str, int, int, int, bytes, str, bytes, bytes, float, bytes)


@dataclass(frozen=True)
class Opened:
    """An attempt: its ledger, its number there, the digest of its tree, and places in the two streams of inputs.

    It was opened after so many inputs for learning and so many for tests, and counts those from ``labels_since`` and
    ``tests_since`` on.
    """

    ledger: str
    number: int
    tree: str
    labels: int
    tests: int
    labels_since: int
    tests_since: int

    @classmethod
    def read(cls, row: Sequence[Any]) -> Opened:
        """A row of the table, checked."""
        if tuple(map(type, row)) != (str, int, str, int, int, int, int):
            raise FormatError("it is damaged: an attempt holds values of other types")
        found = cls(*row)
        if found.number < 1 or not (0 <= found.labels <= found.labels_since and 0 <= found.tests <= found.tests_since):
            raise FormatError(f"it is damaged: attempt {found.number} counts inputs from before it was opened")
        return found

    @property
    def passes_over(self) -> bool:
        """Whether inputs that come after its opening are not for it."""
        return (self.labels, self.tests) != (self.labels_since, self.tests_since)


@dataclass(frozen=True)
class Record:
    """Answers to ``count`` inputs of a batch from ``start`` on.

    ``batch`` counts the batches of a purpose; ``seconds`` is how long the run had taken by then, pauses left out.
    """

    purpose: str
    batch: int
    start: int
    count: int
    digest: bytes
    kind: str
    inputs: bytes
    labels: bytes
    seconds: float

    @classmethod
    def made(cls, purpose: str, batch: int, start: int, inputs: bytes, labels: NDArray[Any]) -> Record:
        """A new record; its time is not known yet."""
        kind, stored = label_bytes(labels)
        return cls(purpose, batch, start, len(labels), digest(inputs), kind, inputs, stored, 0.0)

    @classmethod
    def read(cls, row: Sequence[Any]) -> Record:
        """A row of the table, checked."""
        if tuple(map(type, row)) != _TYPES:
            raise FormatError("it is damaged: a record holds values of other types")
        record = cls(*row[:-1])
        if record.seal != row[-1] or record.kind not in KINDS or record.start < 0 or record.count < 1:
            raise FormatError(f"it is damaged: batch {record.batch} of {record.purpose!r:.40} does not match its seal")
        return record

    @property
    def seal(self) -> bytes:
        """SHA-256 of all that is not sealed by the digest of the inputs."""
        head = [self.purpose, self.batch, self.start, self.count, self.digest.hex(), self.kind, self.seconds.hex()]
        return hashlib.sha256(json.dumps(head).encode() + self.labels).digest()

    def row(self) -> tuple[Any, ...]:
        """What the table stores."""
        return (*vars(self).values(), self.seal)

    def answers(self) -> NDArray[Any]:
        """The labels."""
        return labels_from(self.kind, self.labels, self.count)

    def inner(self, features: int, bits: bool) -> NDArray[Any]:
        """The inputs as inner values."""
        if digest(self.inputs) != self.digest:
            raise FormatError(f"it is damaged: inputs of batch {self.batch} of {self.purpose!r:.40} have changed")
        return inputs_from(self.inputs, self.count, features, bits)
