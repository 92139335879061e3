"""Empty figures; matplotlib is loaded when the first one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fidelitree.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure(rows: int, columns: int, height: float = 3.1) -> tuple[Figure, Any]:
    """An empty figure that needs no screen, and its places, rows by columns."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("figures need matplotlib; install it with: pip install 'fidelitree[plot]'") from None
    picture = Figure(figsize=(5.2 * columns, height * rows), layout="constrained")
    return picture, picture.subplots(rows, columns, squeeze=False)
