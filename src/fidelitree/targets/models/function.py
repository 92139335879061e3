"""Functions by their address: ``package.module:function``."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from fidelitree.errors import RAISED, ParameterError, TargetError, check_text, show
from fidelitree.targets.models.model import Model, ModelColumns

ADDRESS = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*):([^\W\d]\w*(?:\.[^\W\d]\w*)*)")


class Function(Model):
    """A callable that receives the batch as the space gives it; it can be pickled when the callable can.

    >>> import numpy as np
    >>> Function(lambda batch: batch[:, 0], name="first")(np.array([[1, 0], [0, 0]])).tolist()
    [1, 0]
    """

    def __init__(self, function: Callable[[Any], Any], name: str | None = None) -> None:
        if not callable(function):
            raise ParameterError(f"function must be callable: a batch of inputs in, labels out; got {show(function)}")
        self.function = function
        if name is not None:
            check_text("name of a function", name)
        own = getattr(function, "__name__", type(function).__name__)  # a function of an old NumPy has no longer name
        self.name = str(getattr(function, "__qualname__", own)) if name is None else name
        self.columns = ModelColumns()

    def labels(self, batch: Any) -> Any:
        return self.function(batch)


def import_object(address: str) -> Any:
    """What stands at ``package.module:name``; importing it runs that module, as any import does.

    >>> import_object("math:pi")
    3.141592653589793
    """
    match = ADDRESS.fullmatch(address)
    if match is None:
        raise ParameterError(f"an address must look like package.module:function; got {address!r}")
    module, path = match.groups()
    found = _import(module)
    for name in path.split("."):
        try:
            found = getattr(found, name)
        except AttributeError:
            near = get_close_matches(name, [known for known in dir(found) if not known.startswith("_")], 1)
            meant = f" - did you mean {near[0]!r}?" if near else ""
            raise ParameterError(f"{address!r}: module {module!r} has no {path!r}{meant}") from None
    return found


def _import(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise TargetError(f"importing {module!r} failed: it needs {error.name!r}, which is missing") from error
        raise ParameterError(
            f"there is no module {error.name!r} to import; put its folder on the path, for example with PYTHONPATH=."
        ) from None
    except RAISED as error:
        raise TargetError(f"importing {module!r} raised {type(error).__name__}: {error}") from error
