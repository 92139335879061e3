"""Rules for arguments that several doors share; each breach is one sentence."""

from __future__ import annotations

import math
import operator
import re

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


def is_entropy(value: object) -> bool:
    """Whether it is 128 bits, as 32 hexadecimal digits."""
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{32}", value) is not None


def check_entropy(value: object) -> str:
    """What a certificate recorded."""
    if not is_entropy(value):
        raise ParameterError(
            f"entropy must be the 32 hexadecimal digits that a certificate records; got {value!r:.60} - leave it out "
            f"for a new audit"
        )
    return str(value)


def check_switch(name: str, value: object) -> bool:
    """True or False, and nothing that merely counts as one of them."""
    if not isinstance(value, bool):
        raise ParameterError(f"{name} must be True or False; got {value!r:.60}")
    return value


def is_text(value: object) -> bool:
    """Whether it is text that UTF-8 can hold, and so every file; bytes that were not decoded leave lone surrogates."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_text(name: str, value: object) -> None:
    """Text that can be written to a file."""
    if not is_text(value):
        raise ParameterError(f"{name} must be text that UTF-8 can hold; got {value!r:.60} - decode its bytes first")


def check_observer(value: object) -> None:
    """A callable of one event."""
    if not callable(value):
        raise ParameterError(f"observer must be callable: it is given one event after another; got {value!r:.60}")


def _as_percentage(number: float) -> str:
    return f" - did you mean {number / 100:g}?" if 1 < number < 100 else ""
