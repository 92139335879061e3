"""Saved scikit-learn models: skops files, and pickles for those who insist.

A pickle is a program: loading one runs whatever its author wrote, with the rights of the reader, before anybody
could look at it. A skops file is data: it lists the types it would build, and unknown ones are refused.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fidelitree.errors import RAISED, FormatError, ParameterError
from fidelitree.targets.models.extras import need


def read_skops(path: Path, trusted: Sequence[str] = ()) -> Any:
    """The object in a skops file; types that skops does not know must be listed in ``trusted``."""
    io = need("skops.io", "skops", "skops files")
    if isinstance(trusted, str):
        raise ParameterError(f"trusted must be a list of names of types; got the text {trusted!r}")
    try:
        unknown = [name for name in io.get_untrusted_types(file=path) if name not in trusted]
        if not unknown:
            return io.load(path, trusted=list(trusted))
    except RAISED as error:
        raise FormatError(f"{path.name} is not a skops file that can be read: {error}") from error
    listed = ", ".join(repr(name) for name in unknown)
    raise ParameterError(
        f"{path.name} would build types that skops does not know as harmless: {listed}. "
        f"If you know them and trust the file's author, say so: trusted=[{listed}]"
    )


def read_pickle(path: Path, trust_pickle: bool = False) -> Any:
    """The object in a pickle or joblib file, when the caller trusts its author."""
    if trust_pickle is not True:
        raise ParameterError(
            f"{path.name} is a pickle, and loading a pickle runs whatever program its author put into it. "
            f"If you made the file, or trust who did, say trust_pickle=True; otherwise ask for a skops file"
        )
    joblib = need("joblib", "sklearn", "joblib files") if path.suffix.lower() == ".joblib" else None
    try:
        with path.open("rb") as file:
            return joblib.load(file) if joblib else pickle.load(file)
    except RAISED as error:
        raise FormatError(f"{path.name} cannot be unpickled here: {type(error).__name__}: {error}") from error
