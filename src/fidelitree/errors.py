"""What can go wrong, as exceptions, and the rules for arguments that several doors share.

Every message names the parameter, the rule, the value that broke it and, where there is one, the way out.
"""

from __future__ import annotations

import inspect
import json
import math
import operator
import os
import re
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

RAISED = (Exception, SystemExit)
"""What code of somebody else may raise in place of an answer: a model that calls ``sys.exit(0)`` must not end a run as
if all were well. An interrupt is the user's, and is not among them."""
MOST = 2**256
"""Counts and seeds stay below it: floats hold it, and so does every format that stores them."""
LEAST_DELTA = 1e-200
"""Levels are parts of delta, and as small as 1e-100 of it; no certificate states one below 1e-300."""
_JSON: dict[str, tuple[type, ...]] = {
    "float": (float, int),
    **{kind.__name__: (kind,) for kind in (int, str, bool)},
    "None": (type(None),),
    "tuple": (list, tuple),
    "Sequence": (list,),
    "Mapping": (dict,),
}
_QUOTED = 80
_PORTION = 1 << 20


class FidelitreeError(Exception):
    """Base of everything that fidelitree raises on purpose."""


class ParameterError(FidelitreeError, ValueError):
    """An argument breaks its rule."""


class FormatError(FidelitreeError, ValueError):
    """A stored tree or certificate, or a circuit, is damaged, or was never one."""


class TargetError(FidelitreeError):
    """The target failed, or answered something that is not a batch of labels."""


class OtherRunError(ParameterError):
    """A journal belongs to another run than the one it was given for."""


class JournalError(FidelitreeError, OSError):
    """A journal cannot be opened or written; what it holds already is safe."""


class ReadError(FidelitreeError, OSError):
    """A file that was named cannot be read."""


class WriteError(FidelitreeError, OSError):
    """A result cannot be written where it was to go."""


class DoubtWarning(UserWarning):
    """Something about the target or its inputs is probably not meant; the run goes on, or ends early."""


class FittedRowsWarning(DoubtWarning):
    """The target was fitted to the rows that are to test a predictor."""


class CopiedRowsWarning(DoubtWarning):
    """Many rows of a table are copies of others; equal rows were kept together."""


class NoDiagramError(ParameterError):
    """A circuit's diagram is too large, or there is nothing to build it with."""


class MissingExtraError(FidelitreeError, ImportError):
    """A feature needs an optional dependency that is not installed."""


def warn(message: str, kind: type[DoubtWarning] = DoubtWarning) -> None:
    """Warn at the line of the user's that called us."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and str(frame.f_globals.get("__name__")).startswith(("fidelitree", "contextlib")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level + 1)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Our own error for the system's: no such file, no right to read it, too many files open."""
    try:
        yield
    except FidelitreeError:
        raise
    except OSError as error:
        raise ReadError(f"{str(path)!r} cannot be read: {error.strerror or error}") from error


@contextmanager
def writing(path: Path, way_out: str) -> Iterator[None]:
    """Our own error for the system's, with the name that was given and what to give instead."""
    try:
        yield
    except FidelitreeError:  # some are the system's too, and say already what went wrong
        raise
    except OSError as error:
        raise WriteError(f"{str(path)!r} cannot be written: {error.strerror or error} - {way_out}") from error


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """A file of text, in a folder that exists; its path."""
    path = check_path("path", path)
    with writing(path, "give a file in a folder that exists"):
        path.write_text(text, encoding="utf-8")
    return path


def show(value: object, most: int = _QUOTED) -> str:
    """A value as a message quotes it: cut short, and no worse for an object that cannot be printed."""
    try:
        return repr(value)[:most]
    except RAISED:
        return f"an object of type {type(value).__name__[:most]} that cannot be printed"


def check_epsilon(value: object) -> float:
    """Tolerated error: at least 0 and below 1."""
    return check_range("epsilon", value, "at least 0 and below 1", lambda share: 0 <= share < 1)


def check_delta(value: object) -> float:
    """Probability that a certificate is wrong: above 0 and below 1, and not so small that parts of it are lost."""
    number = check_share("delta", value)
    if number < LEAST_DELTA:
        raise ParameterError(
            f"delta must be at least {LEAST_DELTA:g}, so that its parts are numbers still; got {show(value)} - 1e-9 "
            f"is one false bound in a billion runs"
        )
    return number


def check_share(name: str, value: object) -> float:
    """A part of something that is neither nothing nor all of it."""
    return check_range(name, value, "above 0 and below 1", lambda share: 0 < share < 1)


def check_probability(name: str, value: object) -> float:
    """A number in [0, 1]."""
    number = check_number(name, value)
    inside = 0 <= number <= 1  # no further call where that is so: there may be a million of them
    return number if inside else check_range(name, value, "a probability between 0 and 1", lambda _: inside)


def check_range(name: str, value: object, rule: str, inside: Callable[[float], bool], percent: bool = True) -> float:
    """A number that a rule allows; what may be meant in per cent is told so."""
    number = check_number(name, value)
    if not inside(number):
        meant = f" - did you mean {number / 100:g}?" if percent and 1 < number < 100 else ""
        raise ParameterError(f"{name} must be {rule}; got {show(value)}{meant}")
    return number


def check_number(name: str, value: object) -> float:
    """A real number that is not NaN; a truth value is not a number here."""
    try:
        if isinstance(value, (bool, str, bytes)):
            raise TypeError
        number = float(value)  # type: ignore[arg-type]  # refused below when it is no number
    except RAISED:  # a foreign object may raise anything
        raise ParameterError(f"{name} must be a number; got {show(value)}") from None
    if math.isnan(number):
        raise ParameterError(f"{name} must be a number; got NaN")
    return number


def check_count(name: str, value: object, least: int = 1) -> int:
    """A whole number that is at least ``least``."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]  # refused below when it is no whole number
    except RAISED:
        raise ParameterError(f"{name} must be a whole number; got {show(value)}") from None
    if number < least:
        raise ParameterError(f"{name} must be at least {least}; got {show(number)}")
    if number >= MOST:
        raise ParameterError(f"{name} must be below 2^256; got a number of {number.bit_length():,} bits")
    return number


def is_entropy(value: object) -> bool:
    """Whether it is 128 bits, as 32 hexadecimal digits."""
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{32}", value) is not None


def check_entropy(value: object) -> str:
    """What a certificate recorded."""
    if not is_entropy(value):
        raise ParameterError(
            f"entropy must be the 32 hexadecimal digits that a certificate records; got {show(value, 60)} - leave "
            f"it out for a new audit"
        )
    return str(value)


def check_choice(name: str, value: object, known: Collection[str]) -> str:
    """One of some words; an array compares with each of them and is none."""
    if not isinstance(value, str) or value not in known:
        raise ParameterError(f"{name} must be one of {', '.join(known)}; got {show(value)}")
    return value


def check_list(name: str, value: object, of: str) -> list[Any]:
    """The items of a collection; text is none, although Python takes it for one of letters."""
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return [*value]  # type: ignore[misc]  # refused below when it cannot be listed
    except RAISED:
        raise ParameterError(f"{name} must list {of}; got {show(value)}") from None


def check_names(name: str, value: object, of: str) -> list[str]:
    """A list of different texts."""
    found = check_list(name, value, of)
    for item in found:
        if not is_text(item):
            raise ParameterError(f"{name} must list {of}, as text; got {show(item)}")
    return found


def check_array(name: str, value: object, kind: Any = None, what: str = "numbers") -> NDArray[Any]:
    """An array, of a type if there is one to have; nested lists of different lengths are none."""
    import numpy as np  # noqa: PLC0415  # `--help` needs the errors, and must not wait for arrays

    try:
        return np.asarray(value, kind)
    except RAISED as error:
        raise ParameterError(f"{name} must be {what}; got {show(value)}: {error!s:.80}") from None


def check_path(name: str, value: object) -> Path:
    """The path of a file or folder, which the system can take: no NUL, and no text that it cannot encode."""
    try:
        path = os.fspath(value)  # type: ignore[call-overload]  # refused below when it is no path
        if not isinstance(path, str) or b"\0" in os.fsencode(path):
            raise TypeError
    except RAISED:
        raise ParameterError(f"{name} must be a path: text that a file system can hold; got {show(value)}") from None
    return Path(path)


def check_tolerance(value: object, threshold: object = None) -> float | None:
    """How far numbers may be apart; None where answers are labels, as they are with a threshold."""
    if value is not None and threshold is not None:
        raise ParameterError("tolerance must be left out where threshold is given: scores above that are 1, others 0")
    found = None if value is None else check_number("tolerance", value)
    if found is not None and not 0 < found < math.inf:
        raise ParameterError(
            f"tolerance must be above 0 and finite: how far a tree may be from the target; got {show(value)} - leave "
            f"it out where answers are labels"
        )
    return found


def check_switch(name: str, value: object) -> bool:
    """True or False, and nothing that merely counts as one of them."""
    if not isinstance(value, bool):
        raise ParameterError(f"{name} must be True or False; got {show(value)}")
    return value


def check_one_kind(name: str, own: NDArray[Any], labels: NDArray[Any]) -> None:
    """Refuse labels that can never be equal, text and numbers; truth values and numbers can be compared."""
    if len(own) and len(labels) and _words(own) != _words(labels):
        one, two = (type(found[:1].tolist()[0]).__name__ for found in (own, labels))
        raise ParameterError(f"{name} must answer labels of the target's kind; it answers {one}, and the target {two}")


def _words(labels: NDArray[Any]) -> bool:
    return labels.dtype.kind == "U" or (labels.dtype.kind == "O" and isinstance(labels[0], str))


def is_text(value: object) -> bool:
    r"""Whether it is text that every file and every array can hold.

    Bytes that were not decoded leave lone surrogates, which UTF-8 cannot hold; NumPy drops NULs at the end, so that
    "a" and "a\0" would be one.
    """
    if not isinstance(value, str) or value.endswith("\0"):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_text(name: str, value: object) -> None:
    """Text that can be written to a file and kept in an array."""
    if isinstance(value, str) and value.endswith("\0"):
        raise ParameterError(f"{name} must not end with NUL, which NumPy drops; got {value!r:.60} - strip it")
    if not is_text(value):
        raise ParameterError(f"{name} must be text that UTF-8 can hold; got {show(value)} - decode its bytes first")


def check_stored(what: str, holds: object, rule: str) -> None:
    """Refuse a stored certificate or frontier that breaks a rule."""
    if not holds:
        raise FormatError(f"not a stored {what}: {rule}")


def json_kinds(record: type) -> dict[str, tuple[type, ...]]:
    """The types that JSON may have for each field of a dataclass, by its annotation; those of our own classes aside."""
    found = {}
    for name, annotation in record.__annotations__.items():
        parts = [part.partition("[")[0] for part in annotation.split(" | ")]
        if all(part in _JSON for part in parts):
            found[name] = tuple(kind for part in parts for kind in _JSON[part])
    return found


def read_json(text: str) -> Any:
    """Plain data from JSON text; ValueError where a name stands twice, because readers differ in which they take."""
    return json.loads(text, object_pairs_hook=_named_once)


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in an object")
    return found


def is_json(value: object, kinds: tuple[type, ...]) -> bool:
    """Whether a value is of one of these types: a truth value is no number."""
    return isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


def check_observer(value: object) -> None:
    """A callable of one event."""
    if not callable(value):
        raise ParameterError(f"observer must be callable: it is given one event after another; got {show(value)}")


def read_bytes(path: str | os.PathLike[str], most: int, what: str) -> bytes:
    """All bytes of a file; a device tells no size and never ends, so that what is read is limited itself."""
    path = check_path("path", path)
    with reading(path), path.open("rb") as file:
        found = bytearray()
        # Python makes room for all that it is asked to read, so that a small file is read in small portions.
        while path.stat().st_size <= most and len(found) <= most and (more := file.read(_PORTION)):
            found += more
        large = path.stat().st_size > most or len(found) > most
    if large:
        raise FormatError(f"{path.name} is larger than the {most // 1_000_000} MB that {what} may have")
    return bytes(found)


def read_text(path: str | os.PathLike[str], most: int, what: str) -> str:
    """A file of text in UTF-8, with lines that end in a newline as Python has them."""
    try:
        return read_bytes(path, most, what).decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise FormatError(f"{Path(path).name} must be text in UTF-8") from None


def need(module: str, extra: str, purpose: str) -> Any:
    """The module, or an error that names the extra which brings it."""
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or library).partition(".")[0] != library:  # it is installed, and lacks something itself
            raise
        raise MissingExtraError(
            f"{purpose} need {library}, which is not installed; install it with: pip install 'fidelitree[{extra}]'"
        ) from None
