"""The labels of a run: discovered as they are answered, one kind a run, coded as small numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import TargetError

Target = Callable[[Any], Any]
"""From a batch of inputs to one label for each."""
Codes = NDArray[np.integer[Any]]
LONGEST = 1_000
"""Characters of a text label. NumPy gives every label of an array the room of the longest."""
ONE_RECORD = "if it takes one record, and not a batch, give ft.targets.Remote(function, one_row=True)"
"""The way out for whose function knows no batches."""
_FEW = 8  # answers that are looked up one by one sooner than as an array
_TRUTH = {bool, np.bool_}
_LARGEST = 1e100  # of answers that are numbers: squares of sums of them stay finite
_KINDS = {"b": "bool", "i": "int", "u": "int", "f": "int", "U": "str", "O": "str"}


class LabelBook:
    """Numbers the labels in the order of their first appearance, and knows their increasing order.

    >>> book = LabelBook()
    >>> book.encode(np.array(["no", "yes", "maybe"])).tolist(), book.sorted()
    ([1, 2, 0], ['maybe', 'no', 'yes'])
    """

    def __init__(self, numbers: bool = False) -> None:
        self.numbers = numbers
        """Whether answers are numbers of any kind, of which a tree has to come near."""
        self.kind: str | None = None
        self.seen: list[Any] = []
        self._codes: dict[Any, int] = {}

    def encode(self, answers: NDArray[Any]) -> Codes:
        """The code of every answer; new labels get new codes."""
        answers = self.one_kind(answers)
        if not self.seen:
            for value in np.unique(answers).tolist():
                self._code(value)
        if len(answers) <= _FEW and None not in (codes := [self._codes.get(label) for label in answers.tolist()]):
            return np.array(codes, np.intp)
        if len(self.seen) == 2:
            second: NDArray[np.bool_] = answers == self.seen[1]
            if np.count_nonzero(second) + np.count_nonzero(answers == self.seen[0]) == len(answers):
                return second.view(np.uint8)
        values, inverse = np.unique(answers, return_inverse=True)
        return np.array([self._code(value) for value in values.tolist()], np.intp)[inverse]

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

    def one_kind(self, answers: NDArray[Any]) -> NDArray[Any]:
        """The answers as truth values, whole numbers or text; an error where they are not what came before."""
        answers, kind = _cleaned(answers, self.numbers)
        self.kind = self.kind or kind
        if kind != self.kind:
            raise TargetError(
                f"labels must be of one kind during a run; the target answered {self.kind} before and now {kind}"
            )
        return answers


def answered(answers: Any, rows: int, copy: bool = True, numbers: bool = False) -> NDArray[Any]:
    """What somebody's code answered to so many inputs, as labels in memory of our own; TargetError says what is wrong.

    Sizes are looked at before anything is copied: a range, or a view that repeats one number, may be of any length.
    """
    shape = (len(answers),) if isinstance(answers, Sequence) else (rows,)
    if shape == (rows,):
        try:
            found = as_answered(answers)
        except TargetError:
            raise
        except Exception as error:  # an object with an ``__array__`` is foreign code too
            raise _no_array(str(error)) from error
        shape = found.shape
    if shape != (rows,):
        raise not_one_each("the target", rows, () if isinstance(answers, str) else shape)
    labels, _ = _cleaned(found, numbers)
    return labels.copy() if copy else labels


def not_one_each(who: str, rows: int, shape: tuple[int, ...]) -> TargetError:
    """What to say of answers that are more or fewer than the inputs; one for all may be that of one record."""
    way_out = f" - {ONE_RECORD}" if shape in ((), (1,)) else ""
    if len(shape) == 2 and shape[0] == rows and shape[1] > 1:
        way_out = " - where these are scores of each class, give predict"
    return TargetError(
        f"labels must be one per input: {who} received {rows} inputs and answered an array of shape {shape}{way_out}"
    )


def as_answered(answers: Any) -> NDArray[Any]:
    r"""What a target answered, as an array in which every answer is of its own kind still.

    Of a list NumPy would make NaN beside text the text "nan", True beside 2 the number 1, and "a\0" the text "a"; of
    a masked array it would take what the mask hides. Such answers stay objects, or are refused.
    """
    if np.ma.is_masked(answers):
        return np.array(answers.tolist(), object)
    if hasattr(answers, "__array__"):
        found = np.asarray(answers)
        if found is answers or found.dtype.kind != "U" or found.ndim != 1 or not isinstance(answers, Iterable):
            return found
        answers = list(answers)  # a column of polars, which has NULs still that its array has lost
    each = np.asarray(answers, object)
    kinds = {type(value) for value in each.flat}
    if kinds & {list, tuple}:
        raise _no_array("its parts have different lengths")
    if _all_text(kinds):
        return _as_text(each)
    if any(issubclass(kind, (str, bytes)) for kind in kinds) or (kinds & _TRUTH and not kinds <= _TRUTH):
        return each
    return np.asarray(answers)


def _no_array(why: str) -> TargetError:
    return TargetError(f"labels must be one per input; the target answered what is no array: {why}")


def _as_numbers(answers: NDArray[Any]) -> NDArray[np.float64]:
    """Answers as finite numbers."""
    if answers.dtype.kind not in "bifu":
        raise TargetError(
            f"answers must be numbers where a tolerance is given; the target answered {answers.dtype} - leave it out "
            f"where answers are labels"
        )
    found = answers.astype(np.float64)
    if len(odd := np.flatnonzero(~(np.abs(found) <= _LARGEST))):
        way_out = " - answer in a larger unit" if np.isfinite(found[odd[0]]) else ""
        raise TargetError(
            f"answers must be finite numbers, of {_LARGEST:g} at most in size; the target answered {found[odd[0]]} in "
            f"row {odd[0]}{way_out}"
        )
    return found


def _cleaned(answers: NDArray[Any], numbers: bool = False) -> tuple[NDArray[Any], str]:
    """The answers as truth values, whole numbers or text, and which of them; or as numbers of any kind."""
    if numbers:
        return _as_numbers(answers), "float"
    kind = _KINDS.get(answers.dtype.kind)
    if answers.dtype.kind == "f":
        _check_integral(answers)
        answers = _in_64_bits(answers)
    elif answers.dtype.kind == "O":
        answers, kind = _from_objects(answers)
    elif answers.dtype == np.uint64:
        answers = _in_64_bits(answers)
    if kind is None:
        raise TargetError(f"labels must be bool, int or str; the target answered {answers.dtype}")
    if kind == "str":
        answers = _narrow(answers)
        _check_text(answers)
    return answers, kind


def _check_integral(answers: NDArray[Any]) -> None:
    with np.errstate(invalid="ignore"):
        wrong = np.flatnonzero(~(np.isfinite(answers) & (answers == np.floor(answers))))
    if len(wrong):
        raise TargetError(
            f"labels must be bool, int or str (or floats without a fraction); the target answered "
            f"{answers[wrong[0]]} in row {wrong[0]} of a batch. Return classes, not scores or probabilities; or "
            f"give threshold= (a score above it means 1) or tolerance= (leaves hold numbers)"
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
    if _all_text(kinds):
        return _as_text(answers), "str"
    if kinds and kinds <= _TRUTH:
        return answers.astype(np.bool_), "bool"
    if kinds == {int}:
        return _in_64_bits(answers), "int"
    found = " and ".join(sorted(kind.__name__ for kind in kinds)[:3])
    raise TargetError(f"labels must be bool, int or str, one kind a run; the target answered {found}")


def _all_text(kinds: Set[type]) -> bool:
    return bool(kinds) and all(issubclass(kind, str) for kind in kinds)


def _as_text(answers: NDArray[Any]) -> NDArray[np.str_]:
    r"""Objects as text of NumPy's own, which drops NULs at the end: "a" and "a\0" would be one label."""
    found = [str.__str__(value) for value in answers.flat]  # of an Enum its value, not its name
    for text in set(found):
        if text.endswith("\0"):
            raise TargetError(
                f"labels must be text that does not end with NUL, which NumPy drops; the target answered {text!r:.60}. "
                f"Strip it, or answer numbers"
            )
        if len(text) > LONGEST:
            raise _too_long(text, len(text))
    return np.array(found).reshape(answers.shape)


def _narrow(answers: NDArray[np.str_]) -> NDArray[np.str_]:
    """Text in no more room than it needs; a view that repeats one long text may have any size as a copy."""
    if answers.dtype.itemsize <= 4 * LONGEST:
        return answers
    lengths = np.strings.str_len(answers)
    if lengths.max() > LONGEST:
        raise _too_long(answers[lengths.argmax()].item(), lengths.max())
    return answers.astype(f"U{max(1, lengths.max())}")


def _too_long(text: str, length: int) -> TargetError:
    return TargetError(
        f"labels must have at most {LONGEST:,} characters; the target answered {text:.20}..., which has {length:,}. "
        f"Answer a short name of the class"
    )
