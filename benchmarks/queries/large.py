"""Many features: how queries grow with n."""

from __future__ import annotations

from pathlib import Path

from benchmarks.queries.judge import at_most, no_worse_than_cart
from benchmarks.queries.runs import HEADINGS, NEVER, Cell, Summary, compare
from benchmarks.queries.settings import Settings
from benchmarks.report import Bar, Section, Table

FIGURE = Path(__file__).resolve().parents[2] / "docs" / "figures" / "queries-vs-n.png"
SIZES = (200, 2_000, 20_000)
DEPTH_4, DEPTH_6, PARITY = (270, 290, 330), (1300, 1500, 1600), 180
LEAVES_4, LEAVES_6 = 12, 52
CART_UP_TO = 2_000  # features: beyond, its candidates take minutes a target and decide nothing


def cells(settings: Settings) -> list[tuple[Cell, int]]:
    """Cells with their numbers of targets."""
    many, few = (1, 1) if settings.smoke else (settings.targets, settings.slow_targets)
    sizes = (40, 60, 80) if settings.smoke else SIZES
    deep = 3 if settings.smoke else 6
    low = 3 if settings.smoke else 4
    return [
        *[(Cell(f"iid depth 4, n={n:,}", n, family="iid", depth=low), many) for n in sizes],
        *[(Cell(f"iid depth 6, n={n:,}", n, family="iid", depth=deep), few) for n in sizes],
        (Cell(f"parity of 4, n={sizes[-1]:,}", sizes[-1], family="par", depth=low), many),
    ]


def run(settings: Settings) -> Section:
    chosen = cells(settings)
    methods = [("auto", "CART") if cell.n <= CART_UP_TO and "depth 4" in cell.name else ("auto",) for cell, _ in chosen]
    work = [(cell, which, count) for (cell, count), which in zip(chosen, methods, strict=True)]
    found = compare(work, settings)
    if settings.write:
        draw(chosen, found)
    counts = {cell.name: count for cell, count in chosen}
    table = [[name, method, f"{counts[name]}", *summary.cells()] for (name, method), summary in found.items()]
    medians = [found[cell.name, "auto"] for cell, _ in chosen]
    bars: list[Bar] = []
    limits = [(limit, LEAVES_4) for limit in DEPTH_4] + [(limit, LEAVES_6) for limit in DEPTH_6]
    for (cell, _), ours, (queries, leaves) in zip(chosen, medians, limits, strict=False):
        bars += [
            at_most(f"{cell.name}, queries", queries, ours.asked, settings.smoke),
            at_most(f"{cell.name}, leaves", leaves, ours.leaves, settings.smoke),
        ]
    bars.append(at_most(f"{chosen[-1][0].name}, queries", PARITY, medians[-1].asked, settings.smoke))
    bars.append(no_worse_than_cart(found, settings.smoke))
    remark = (
        f"p = .5; medians over {settings.targets} fresh targets, {settings.slow_targets} at depth 6, where a run takes "
        f"long. A run is ended after {settings.seconds:g} s and then counts as never certified, so a faster machine "
        "may certify more of them. CART runs where its rounds take seconds, not minutes."
    )
    tables = [Table(["target", "method", "targets", *HEADINGS], table, 2)]
    return Section("large", "queries against the number of features", tables, bars, remark)


def draw(chosen: list[tuple[Cell, int]], found: dict[tuple[str, str], Summary]) -> None:
    """Queries against n, both axes logarithmic; a cell whose median run was not certified has no point."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    for family, depth, method in (("iid", 4, "auto"), ("iid", 6, "auto"), ("par", 4, "auto"), ("iid", 4, "CART")):
        lines = [cell for cell, _ in chosen if (cell.family, cell.depth) == (family, depth)]
        points = [(cell.n, found[cell.name, method].asked) for cell in lines if (cell.name, method) in found]
        points = [point for point in points if point[1] < NEVER]
        if points:
            axes.plot(*zip(*points, strict=True), marker="o", label=f"{method}: {family}, depth {depth}")
    axes.set(xscale="log", yscale="log", xlabel="features n", ylabel="labels asked, median")
    axes.legend()
    figure.tight_layout()
    figure.savefig(FIGURE, dpi=120, metadata={"Software": None})
    plt.close(figure)
