"""Figures of the experiments; matplotlib is loaded when the first one is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fidelitree.display.canvas import figure
from fidelitree.experiments.sizes import BIASES, FAMILIES, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fidelitree.experiments.catalogue import TightRow
    from fidelitree.experiments.errata import Erratum
    from fidelitree.theory.bounds import WorkedExample

_COLOURS = dict(zip(BIASES, ("#0072b2", "#d55e00", "#009e73"), strict=True))
_MARKERS = dict(zip(BIASES, "os^", strict=True))


def save(picture: Figure, folder: Path, name: str) -> list[Path]:
    """Write PNG and SVG; the SVG has no date and no random names in it, so the same figure is the same file."""
    import matplotlib as mpl

    paths = [folder / f"{name}.png", folder / f"{name}.svg"]
    with mpl.rc_context({"svg.hashsalt": "fidelitree"}):
        picture.savefig(paths[0], dpi=130)
        picture.savefig(paths[1], metadata={"Date": None})
    return paths


MEASURES: dict[str, Callable[[Row], float]] = {
    "leaves": lambda row: row.size,
    "label queries": lambda row: row.asked,
    "exact error": lambda row: row.error,
}
TITLES = {"balanced": "balanced target", "chain-1": "chain, exits at 1", "chain-0": "chain, exits at 0"}


def sizes_figure(rows: Sequence[Row], axis: str, measures: Sequence[str] = tuple(MEASURES)) -> Figure:
    """A row for each measure against ``axis`` ("epsilon" or "n"), a column for each family.

    The paper's own figure is the leaves alone.
    """
    picture, axes = figure(len(measures), len(FAMILIES), 2.7)
    picture.set_figwidth(4.2 * len(FAMILIES))
    for column, family in enumerate(FAMILIES):
        mine = [row for row in rows if row.family == family]
        for place, measure in zip(axes[:, column], measures, strict=True):
            _curves(place, mine, axis, MEASURES[measure])
            _dress(place, mine, axis, measure)
        axes[-1, column].set_xlabel("1 / epsilon" if axis == "epsilon" else "number of features n")
        axes[0, column].set_title(f"{TITLES[family]}, {rows[0].schedule} schedule")
    for line in axes:  # sizes of different targets are compared at a glance
        ends = np.array([place.get_ylim() for place in line])
        for place in line:
            place.set_ylim(ends.min(), ends.max())
    handles, names = axes[0, 0].get_legend_handles_labels()
    picture.legend(handles, names, loc="outside upper center", ncols=len(names), fontsize=8, frameon=False)
    return picture


def _curves(axes: Axes, rows: Sequence[Row], axis: str, value: Callable[[Row], float]) -> None:
    for p in BIASES:
        places = sorted({getattr(row, axis) for row in rows})
        cells = [[row for row in rows if row.p == p and getattr(row, axis) == place] for place in places]
        x = [1 / place if axis == "epsilon" else place for place in places]
        means = [float(np.mean([value(row) for row in cell])) for cell in cells]
        spreads = [float(np.std([value(row) for row in cell])) for cell in cells]
        axes.errorbar(
            x, means, spreads, color=_COLOURS[p], marker=_MARKERS[p], markersize=5, capsize=2, lw=1.2, label=f"p = {p}"
        )
        trivial = [2 * sum(row.constant_suffices for row in cell) >= len(cell) for cell in cells]
        hollow = [k for k, yes in enumerate(trivial) if yes]
        axes.plot(
            [x[k] for k in hollow],
            [means[k] for k in hollow],
            linestyle="none",
            marker=_MARKERS[p],
            markersize=5,
            color="white",
            markeredgecolor=_COLOURS[p],
            zorder=5,
        )


def _dress(place: Axes, rows: Sequence[Row], axis: str, measure: str) -> None:
    places = sorted({getattr(row, axis) for row in rows})
    x = [1 / one if axis == "epsilon" else one for one in places]
    if measure == "leaves":
        ground = [np.mean([row.target_size for row in rows if getattr(row, axis) == one]) for one in places]
        place.plot(x, ground, color="0.4", ls="--", lw=1, label="target's leaves")
        hollow = "a constant suffices (half the targets or more)"
        place.plot([], [], "o", color="white", markeredgecolor="0.3", label=hollow)
        if axis == "epsilon":
            place.set_yscale("log", base=2)
    elif measure == "exact error":
        limit = places if axis == "epsilon" else [rows[0].epsilon] * len(places)
        place.plot(x, limit, color="0.4", ls=":", lw=1.2, label="epsilon")
        place.legend(handles=place.get_lines()[-1:], loc="best", fontsize=8)
        place.set_ylim(bottom=0)
    else:
        place.set_yscale("log")
    place.set_ylabel(measure)
    place.grid(alpha=0.25)
    if axis == "epsilon":
        place.set_xscale("log")
    place.set_xticks(x, [f"1/{one:g}" if axis == "epsilon" else f"{one}" for one in places])
    place.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)


def bounds_figure(rows: Sequence[WorkedExample]) -> Figure:
    """The worked examples: ln of the printed and of the corrected size bound."""
    picture, axes = figure(1, 2, 3.6)
    for place, (name, text) in zip(
        axes[0], (("balanced", "log2 of the leaves"), ("path", "number of features n")), strict=True
    ):
        for epsilon, colour in ((0.1, "#0072b2"), (0.01, "#d55e00")):
            mine = [row for row in rows if (row.name, row.epsilon) == (name, epsilon)]
            x = [row.depth for row in mine]
            place.plot(
                x, [row.theorem_1_1_printed for row in mine], "--", color=colour, label=f"printed, epsilon = {epsilon}"
            )
            place.plot(x, [row.corrected for row in mine], color=colour, label=f"corrected, epsilon = {epsilon}")
        place.plot(x, [math.log(row.leaves) for row in mine], ":", color="0.3", label="leaves of the example")
        place.set_title(f"{name} example")
        place.set_xlabel(text)
        place.set_ylabel("ln of the size")
        place.set_yscale("log")
        place.grid(alpha=0.25)
        place.legend(fontsize=8)
    return picture


def tight_figure(rows: Sequence[TightRow]) -> Figure:
    """The least size of greedy's tree and the bound, and their ratio, against the depth."""
    picture, axes = figure(1, 2, 3.4)
    x = [row.depth for row in rows]
    axes[0, 0].plot(x, [row.upper for row in rows], "-s", color="#d55e00", label="bound (form 1)")
    axes[0, 0].plot(x, [row.lower for row in rows], "-o", color="#0072b2", label="greedy, at least")
    axes[0, 0].plot(x, [row.depth + row.average_depth for row in rows], ":", color="0.4", label="D + Delta")
    axes[0, 0].set(yscale="log", ylabel="ln of the size")
    axes[0, 0].legend(fontsize=8)
    axes[0, 1].plot(x, [row.lower / row.upper for row in rows], "-o", color="#0072b2")
    axes[0, 1].set(ylim=(0, 0.025), ylabel="greedy's least / bound")
    for place in axes[0]:
        place.set(xscale="log", xlabel="depth D of the target")
        place.grid(alpha=0.25)
    return picture


_MARKS = {"holds": ("o", "#009e73"), "slip": ("D", "#e69f00"), "fails": ("X", "#d55e00")}
_EVERYWHERE = 10**6  # where what holds is drawn: beyond every counter-example


def errata_figure(rows: Sequence[Erratum]) -> Figure:
    """One mark a statement, at the features of the smallest target known to break it; beyond all if it holds."""
    picture, axes = figure(1, 1, 0.32 * len(rows) + 1.2)
    picture.set_figwidth(9)
    place = axes[0, 0]
    for verdict, (marker, colour) in _MARKS.items():
        mine = [(row.features or _EVERYWHERE, y) for y, row in enumerate(rows) if row.verdict == verdict]
        if mine:
            words = {"holds": "holds", "slip": "a slip, easily mended", "fails": "fails, from one cause"}[verdict]
            place.plot(*zip(*mine, strict=True), marker, color=colour, ms=8, ls="none", label=words)
    for y, row in enumerate(rows):
        if row.features:
            place.annotate(f"n = {row.features}", (row.features, y), (8, 0), textcoords="offset points", va="center")
    place.set_yticks(range(len(rows)), [row.statement for row in rows])
    place.set(xscale="log", xlim=(0.7, 4 * _EVERYWHERE), xlabel="features of the smallest counter-example known")
    place.set_xticks([1, 10, 100, 1_000, 10_000, _EVERYWHERE], ["1", "10", "100", "1,000", "10,000", "none"])
    place.tick_params(axis="x", which="minor", bottom=False)
    place.grid(axis="y", alpha=0.25)
    place.invert_yaxis()
    picture.legend(loc="outside upper center", ncols=3, fontsize=8, frameon=False)
    return picture
