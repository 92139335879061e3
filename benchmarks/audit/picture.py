"""The figure of the audit: for each method, what it claims against what is certified, a dot for each model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

GREY, SURE, CLAIM = "#808080", "#2b8cb0", "#d2691e"  # readable on light and on dark pages


def draw(found: Sequence[Any], path: Path) -> None:
    """A row for each method; bars are certified intervals, triangles are claims above them, circles other claims."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    methods = list(dict.fromkeys(row.method for row in found if row.claim is not None))
    with mpl.rc_context({"svg.hashsalt": "audit", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(7.5, 0.62 * len(methods) + 0.9), layout="constrained")
        place = figure.subplots()
        for line, method in enumerate(methods):
            own = [row for row in found if row.method == method and row.claim is not None]
            for k, row in enumerate(own):
                y = line - 0.32 + 0.64 * k / max(1, len(own) - 1)
                place.plot([100 * row.low, 100 * row.high], [y, y], color=SURE, linewidth=2.2)
                shape = "^" if row.too_high else "o"
                place.plot(100 * row.claim, y, shape, color=CLAIM if row.too_high else GREY, markersize=4)
        place.set_yticks(range(len(methods)), methods)
        place.set_ylim(len(methods) - 0.5, -0.5)
        place.set_xlabel(
            "agreement with the model, per cent. Bars: certified; dots: claimed; triangles: claimed too much"
        )
        for part in (*place.get_xticklabels(), *place.get_yticklabels(), place.xaxis.label):
            part.set_color(GREY)
        place.tick_params(color=GREY)
        for side in place.spines.values():
            side.set_color(GREY)
            side.set_alpha(0.4)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, transparent=True, metadata={"Date": None})
