"""Rules for arguments that several doors share; each breach is one sentence."""

from __future__ import annotations

import math
import operator

from fidelitree.errors import ParameterError


def check_epsilon(value: object) -> float:
    """Tolerated error: at least 0 and below 1."""
    number = check_number("epsilon", value)
    if not 0 <= number < 1:
        raise ParameterError(f"epsilon must be at least 0 and below 1; got {value!r}{_as_percentage(number)}")
    return number


def check_delta(value: object) -> float:
    """Probability that a certificate is wrong: above 0 and below 1."""
    number = check_number("delta", value)
    if not 0 < number < 1:
        raise ParameterError(f"delta must be above 0 and below 1; got {value!r}{_as_percentage(number)}")
    return number


def check_probability(name: str, value: object) -> float:
    """A number in [0, 1]."""
    number = check_number(name, value)
    if not 0 <= number <= 1:
        raise ParameterError(f"{name} must be a probability between 0 and 1; got {value!r}{_as_percentage(number)}")
    return number


def check_number(name: str, value: object) -> float:
    """A real number that is not NaN; a truth value is not a number here."""
    try:
        if isinstance(value, (bool, str, bytes)):
            raise TypeError
        number = float(value)  # type: ignore[arg-type]  # refused below when it is no number
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{name} must be a number; got {value!r}") from None
    if math.isnan(number):
        raise ParameterError(f"{name} must be a number; got NaN")
    return number


def check_count(name: str, value: object, least: int = 1) -> int:
    """A whole number that is at least ``least``."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]  # refused below when it is no whole number
    except TypeError:
        raise ParameterError(f"{name} must be a whole number; got {value!r}") from None
    if number < least:
        raise ParameterError(f"{name} must be at least {least}; got {number}")
    return number


def check_switch(name: str, value: object) -> bool:
    """True or False, and nothing that merely counts as one of them."""
    if not isinstance(value, bool):
        raise ParameterError(f"{name} must be True or False; got {value!r:.60}")
    return value


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
        raise ParameterError(f"{name} must be text that UTF-8 can hold; got {value!r:.60} - decode its bytes first")


def check_observer(value: object) -> None:
    """A callable of one event."""
    if not callable(value):
        raise ParameterError(f"observer must be callable: it is given one event after another; got {value!r:.60}")


def _as_percentage(number: float) -> str:
    return f" - did you mean {number / 100:g}?" if 1 < number < 100 else ""
