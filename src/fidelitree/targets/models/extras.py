"""Optional dependencies: loaded by the first model that needs one, never on `import fidelitree`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from fidelitree.errors import MissingExtraError


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
