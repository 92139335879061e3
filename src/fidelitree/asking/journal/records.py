"""One line of a journal: a part of a batch with its answers as bytes, sealed so that damage is noticed.

Inputs and labels are plain numbers and text, nothing that could run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import FormatError, is_text
from fidelitree.spaces.inputs import one_form

KINDS = ("bool", "int", "float", "str")
COLUMNS = "purpose, batch, start, count, digest, kind, inputs, labels, seconds, seal"
_TYPES = (str, int, int, int, bytes, str, bytes, bytes, float, bytes)


def input_bytes(inner: NDArray[Any]) -> bytes:
    """Inner values, row after row: eight bits a byte, or floats of eight bytes."""
    if inner.dtype == np.uint8:
        return np.packbits(inner, axis=1).tobytes()
    return np.ascontiguousarray(one_form(inner), "<f8").tobytes()


def inputs_from(stored: bytes, rows: int, features: int, bits: bool) -> NDArray[Any]:
    """The inverse of `input_bytes`."""
    width = -(-features // 8) if bits else 8 * features
    if len(stored) != rows * width:
        raise FormatError(f"{rows} inputs of {features} features take {rows * width} bytes; got {len(stored)}")
    if bits:
        return np.unpackbits(np.frombuffer(stored, np.uint8).reshape(rows, width), axis=1, count=features)
    return np.frombuffer(stored, "<f8").reshape(rows, features).astype(np.float64)


def digest(stored: bytes) -> bytes:
    """What tells the inputs of a batch from all others."""
    return hashlib.sha256(stored).digest()


def label_bytes(labels: NDArray[Any]) -> tuple[str, bytes]:
    """Kind and bytes of labels of one kind: truth values, whole numbers of 64 bits, numbers, or text."""
    if labels.dtype.kind == "b":
        return "bool", labels.astype(np.uint8).tobytes()
    if labels.dtype.kind in "iu":
        return "int", labels.astype("<i8").tobytes()
    if labels.dtype.kind == "f":
        return "float", labels.astype("<f8").tobytes()
    return "str", json.dumps(labels.tolist(), separators=(",", ":")).encode()


def labels_from(kind: str, stored: bytes, rows: int) -> NDArray[Any]:
    """The inverse of `label_bytes`; FormatError for anything that is not so many labels of the kind."""
    if kind == "bool" and len(stored) == rows and max(stored, default=0) <= 1:
        return np.frombuffer(stored, np.uint8).astype(np.bool_)
    if kind == "int" and len(stored) == 8 * rows:
        return np.frombuffer(stored, "<i8").astype(np.int64)
    if kind == "float" and len(stored) == 8 * rows and np.isfinite(found := np.frombuffer(stored, "<f8")).all():
        return found.astype(np.float64)
    if kind == "str":
        try:
            listed = json.loads(stored)
        except (ValueError, RecursionError):
            listed = None
        if isinstance(listed, list) and len(listed) == rows and all(map(is_text, listed)):
            return np.array(listed, np.str_)
    raise FormatError(f"{rows} labels of kind {kind!r:.20} cannot be read from {len(stored)} bytes")


@dataclass(frozen=True)
class Opened:
    """An attempt: its ledger, its number there, the digest of its tree, and places in the two streams of inputs.

    It was opened after so many inputs for learning and so many for tests, and counts those from ``labels_since`` and
    ``tests_since`` on. ``run`` is the place of its run's limits among those of the journal. Where inputs are keyed,
    they came from ``before`` until it was opened, and come from ``key`` since (`ledger`); elsewhere both are empty.
    """

    ledger: str
    number: int
    tree: str
    labels: int
    tests: int
    labels_since: int
    tests_since: int
    run: int = 0
    before: str = ""
    key: str = ""

    @classmethod
    def read(cls, row: Sequence[Any]) -> Opened:
        """A row of the table, checked; older tables end before ``run``."""
        kinds = (str, int, str, int, int, int, int, int, str, str)
        if tuple(map(type, row)) not in (kinds, kinds[:7]):
            raise FormatError("it is damaged: an attempt holds values of other types")
        found = cls(*row)
        if found.number < 1 or not (0 <= found.labels <= found.labels_since and 0 <= found.tests <= found.tests_since):
            raise FormatError(f"it is damaged: attempt {found.number} counts inputs from before it was opened")
        if found.key != (found.key_after(found.before) if found.before else ""):
            raise FormatError(f"it is damaged: the key of attempt {found.number} does not follow from the one before")
        return found

    def key_after(self, before: str) -> str:
        """The key that follows another one when this is opened: a hash of both."""
        told = (before, self.ledger, self.labels, self.tests, self.tree)
        return hashlib.sha256("/".join(map(str, told)).encode()).hexdigest()

    def between(self, before: str, key: str) -> Opened:
        """The same, opened between two keys."""
        return replace(self, before=before, key=key)

    def since(self, labels: int, tests: int) -> Opened:
        """The same, counting from other places on."""
        return replace(self, labels_since=labels, tests_since=tests)

    def numbered(self, number: int, run: int) -> Opened:
        """The same with its number, opened by the run of these limits."""
        return replace(self, number=number, run=run)

    def same_place(self, other: Opened) -> bool:
        """Whether both are attempts for one tree, opened at one place."""
        mine = (self.tree, self.labels, self.tests, self.key)
        return mine == (other.tree, other.labels, other.tests, other.key)

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
