"""What can go wrong, as exceptions.

Every message names the parameter, the rule, the value that broke it and, where there is one, the way out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

RAISED = (Exception, SystemExit)
"""What code of somebody else may raise in place of an answer: a model that calls ``sys.exit(0)`` must not end a run as
if all were well. An interrupt is the user's, and is not among them."""


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


class FittedRowsWarning(UserWarning):
    """The target was fitted to the rows that are to test a predictor."""


class MissingExtraError(FidelitreeError, ImportError):
    """A feature needs an optional dependency that is not installed."""


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
