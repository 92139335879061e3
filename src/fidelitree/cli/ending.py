"""How a command ends: its exit code, and an error in one line without a traceback."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from functools import wraps
from typing import Any

import typer

from fidelitree.errors import FidelitreeError, FittedRowsWarning, TargetError


class Code(IntEnum):
    """What scripts may rely on."""

    CERTIFIED = 0
    TARGET_FAILED = 1
    BAD_INPUT = 2
    NOT_CERTIFIED = 3
    UNDECIDED = 5


_SPOKEN = {
    "trust_pickle=True": "--trust-pickle",
    "deterministic=False": "--noisy",
    "deterministic=True": "no --noisy",
    'strategy="influence"': "--strategy influence",
    'strategy="auto"': "--strategy auto",
    'strategy="smallest"': "--strategy smallest",
    "max_queries": "--max-queries",
    "max_leaves": "--max-leaves",
    "max_seconds": "--max-seconds",
    "epsilon=None": "--epsilon none",
    "epsilon must be": "--epsilon must be",
    "delta must be": "--delta must be",
    "entropy must be None where": "--entropy must be left out where",
    "entropy must be": "--entropy must be",
    "seed must be": "--seed must be",
    "output must be": "--output must be",
    "p must be": "--bernoulli must be",
    "n must be": "--features must be",
    "prefer must be": "--prefer must be",
    "learners must be": "--learner must be",
    "method must": "--method must",
    "method='auto'": "--method auto",
    "given must": "--given must",
    "timeout must be None where": "--timeout must be left out where",
    "timeout must be": "--timeout must be",
    "give an executor of processes too": "give --jobs too",
    "labels=None": "no --labels",
    "labels='argmax'": "--labels argmax",
    "make the same call again": "give the same command again",
    "give another journal": "give another --journal or --out",
    "or another journal": "or another --journal",
    "and give Rows the other": "and give --rows the other",
}
"""Arguments of the library as the command line calls them."""


def guarded(command: Callable[..., int]) -> Callable[..., None]:
    """The command with its result as the exit code, and every error that is not our own bug as one line."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            with _warnings_in_one_line():
                code = int(command(*args, **kwargs))
        except FidelitreeError as error:
            code = _failed(in_options(str(error)), _code(error))
        except BrokenPipeError:
            raise  # whoever reads has seen enough: typer ends quietly
        except OSError as error:
            where = f": {error.filename}" if error.filename else ""
            code = _failed(f"{error.strerror or error}{where}", Code.BAD_INPUT)
        except KeyboardInterrupt:
            code = _failed("interrupted before there was anything to certify", Code.NOT_CERTIFIED)
        if code:
            raise typer.Exit(code)

    return run


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Warnings of ours without a place in the source, which is not the user's."""
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, FittedRowsWarning):
                _failed(f"warning: {in_options(str(message))}", Code.BAD_INPUT)
            else:
                usual(message, category, *where, **more)

        warnings.showwarning = show
        yield


def in_options(message: str) -> str:
    """A message of the library with arguments named as the command line names them, on one line."""
    for argument, option in _SPOKEN.items():
        message = re.sub(rf"(?<![\w-]){re.escape(argument)}", option, message)
    message = re.sub(r"(?<!\w)given\[(['\"])(.*?)\1\] must", r"--given \2 must", message)
    message = re.sub(r"(?<!\w)trusted=\[(.*?)\]", lambda found: _each("--trusted", found[1]), message)
    return " ".join(message.split())


def _each(option: str, listed: str) -> str:
    """An option once for each item of a list."""
    return " ".join(f"{option} {item}" for item in listed.split(", "))


def _code(error: FidelitreeError) -> Code:
    """A model that refuses a batch for a reason of ours (a feature is missing) was given bad input; it did not fail."""
    reason = error.__cause__ if isinstance(error.__cause__, FidelitreeError) else error
    return Code.TARGET_FAILED if isinstance(reason, TargetError) else Code.BAD_INPUT


def _failed(message: str, code: Code) -> Code:
    typer.echo(f"fidelitree: {message}", err=True)
    return code
