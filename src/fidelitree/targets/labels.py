"""The labels of a run: discovered as they are answered, one kind a run, coded as small numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import RAISED, TargetError

Codes = NDArray[np.integer[Any]]
_TEXT, _TRUTH = {str, np.str_}, {bool, np.bool_}
_KINDS = {"b": "bool", "i": "int", "u": "int", "f": "int", "U": "str", "O": "str"}


class LabelBook:
    """Numbers the labels in the order of their first appearance, and knows their increasing order.

    >>> book = LabelBook()
    >>> book.encode(np.array(["no", "yes", "maybe"])).tolist(), book.sorted()
    ([1, 2, 0], ['maybe', 'no', 'yes'])
    """

    def __init__(self) -> None:
        self.kind: str | None = None
        self.seen: list[Any] = []
        self._codes: dict[Any, int] = {}

    def encode(self, answers: NDArray[Any]) -> Codes:
        """The code of every answer; new labels get new codes."""
        answers = self.one_kind(answers)
        if not self.seen:
            for value in np.unique(answers).tolist():
                self._code(value)
        if len(self.seen) == 2:
            second: NDArray[np.bool_] = answers == self.seen[1]
            if np.count_nonzero(second) + np.count_nonzero(answers == self.seen[0]) == len(answers):
                return second.view(np.uint8)
        values, inverse = np.unique(answers, return_inverse=True)
        codes = np.array([self._code(value) for value in values.tolist()], np.intp)
        return codes[inverse]

    def _code(self, value: Any) -> int:
        if value not in self._codes:
            self._codes[value] = len(self.seen)
            self.seen.append(value)
        return self._codes[value]

    def sorted(self) -> list[Any]:
        """All labels seen, in increasing order."""
        return sorted(self.seen)

    def ranks(self) -> list[int]:
        """Position of each code in the increasing order."""
        place = {value: rank for rank, value in enumerate(self.sorted())}
        return [place[value] for value in self.seen]

    def majority(self, counts: Sequence[float]) -> int:
        """The code with the largest count; ties go to the label that comes first in increasing order."""
        ranks = self.ranks()
        return max(range(len(counts)), key=lambda code: (counts[code], -ranks[code]), default=0)

    def checked(self, answers: Any, rows: int) -> NDArray[Any]:
        """What a target answered to so many inputs, as labels of one kind; TargetError where it is not that."""
        found = as_answered(answers)
        if found.shape != (rows,):
            raise TargetError(
                f"labels must be one per input: the target received {rows} inputs and answered an array of shape "
                f"{found.shape}"
            )
        return self.one_kind(found)

    def one_kind(self, answers: NDArray[Any]) -> NDArray[Any]:
        """The answers as truth values, whole numbers or text; an error where they are not what came before."""
        kind = _KINDS.get(answers.dtype.kind)
        if answers.dtype.kind == "f":
            _check_integral(answers)
            answers = _in_64_bits(answers)
        elif answers.dtype.kind == "O":
            answers, kind = _from_objects(answers)
        elif answers.dtype == np.uint64:
            answers = _in_64_bits(answers)
        if kind == "str":
            _check_text(answers)
        if kind is None:
            raise TargetError(f"labels must be bool, int or str; the target answered {answers.dtype}")
        self.kind = self.kind or kind
        if kind != self.kind:
            raise TargetError(
                f"labels must be of one kind during a run; the target answered {self.kind} before and now {kind}"
            )
        return answers


def as_answered(answers: Any) -> NDArray[Any]:
    """What a target answered, as an array in which every answer is of its own kind still.

    Of a list NumPy would make NaN beside text the text "nan", and True beside 2 the number 1; of a masked array it
    would take what the mask hides. Such answers stay objects, which `LabelBook.one_kind` refuses.
    """
    if np.ma.is_masked(answers):
        return np.array(answers.tolist(), object)
    try:
        found = np.asarray(answers)
    except RAISED as error:
        raise TargetError(f"labels must be one per input; the target answered what is no array: {error}") from None
    if hasattr(answers, "__array__") or found.dtype.kind not in "Uiuf":
        return found
    each = np.asarray(answers, object)
    kinds = {type(value) for value in each.flat}
    alike = kinds <= _TEXT if found.dtype.kind == "U" else not kinds & _TRUTH
    return found if alike else each


def _check_integral(answers: NDArray[Any]) -> None:
    with np.errstate(invalid="ignore"):
        wrong = np.flatnonzero(~(np.isfinite(answers) & (answers == np.floor(answers))))
    if len(wrong):
        raise TargetError(
            f"labels must be bool, int or str (or floats without a fraction); the target answered "
            f"{answers[wrong[0]]} in row {wrong[0]} of a batch. Return classes, not scores or probabilities"
        )


def _check_text(answers: NDArray[np.str_]) -> None:
    """Refuse text that no file can hold: bytes that were not decoded leave lone surrogates, U+D800 to U+DFFF."""
    points = np.ascontiguousarray(answers, answers.dtype.newbyteorder("=")).view(np.uint32)
    lone = points - np.uint32(0xD800) < 0x800  # what is below the first wraps around
    if lone.any():
        row = lone.reshape(len(answers), -1).any(axis=1).argmax()
        raise TargetError(
            f"labels must be text that UTF-8 can hold; the target answered {answers[row].item()!r:.60} in row {row} of "
            f"a batch. Decode its bytes first"
        )


def _in_64_bits(answers: NDArray[Any]) -> NDArray[np.int64]:
    """Whole numbers as int64; larger ones would lose digits on their way into a tree."""
    with np.errstate(over="ignore"):
        beyond = np.flatnonzero((answers < -(2**63)) | (answers >= 2**63))
    if len(beyond):
        raise TargetError(
            f"labels must fit into 64 bits; the target answered {answers[beyond[0]]} in row {beyond[0]} of a batch"
        )
    return answers.astype(np.int64)


def _from_objects(answers: NDArray[Any]) -> tuple[NDArray[Any], str]:
    kinds = {type(value) for value in answers}
    if kinds and all(issubclass(kind, str) for kind in kinds):
        return np.array([str.__str__(value) for value in answers]), "str"  # of an Enum its value, not its name
    if kinds and kinds <= _TRUTH:
        return answers.astype(np.bool_), "bool"
    if kinds == {int}:
        return _in_64_bits(answers), "int"
    found = " and ".join(sorted(kind.__name__ for kind in kinds)[:3])
    raise TargetError(f"labels must be bool, int or str, one kind a run; the target answered {found}")
