"""Copies measured numbers of benchmarks/ into the pages that quote them, and draws some of them.

    python docs/measured.py

Run it after a benchmark has written its log anew. What is quoted stands between the comments
`<!-- NAME: written by docs/measured.py -->` and `<!-- end of NAME -->`; a test compares it with its source.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

DOCS = Path(__file__).resolve().parent
MEASURED = DOCS.parent / "benchmarks"
CAMPAIGN, TRANSFER = MEASURED / "campaign" / "RESULTS.md", MEASURED / "transfer.md"
FRONTIER = MEASURED / "frontier" / "RESULTS.md"
PAGES = tuple(DOCS / name for name in ("peers.md", "campaign.md", "transfer.md", "frontiers.md", "../README.md"))
PART = re.compile(r"<!-- ([a-z-]+): written by docs/measured.py -->\n(.*?)<!-- end of \1 -->", flags=re.DOTALL)
SHOWN = ("iid p=0.5", "iid p=0.1", "par p=0.5", "iid depth 4, n=2,000", "multiplexer 20", "tribes 3x5", "COMPAS RF1")
HARD = ("Seeds", "Breast-Cancer", "LightGBM", "dermatology", "bank")  # the others need 2 to 16 leaves
NAMES = {"auto": "fidelitree"}
DOORS = {
    "`ft.certify`": "certify",
    "`ft.distill`": ("auto", "smallest", "influence"),
    "`ft.frontier`, all points": "frontier",
    "`ft.distill(defer=True)`, all points": "deferring",
    "`ft.diff`": "diff",
    "`ft.practical_top_down`": "practical",
}
BETTER, WORSE = 0.97, 1.03  # of the best peer's error
LOW, HIGH = 0.6, 1.4  # what a figure shows of it
CURVES = ("bank", "iris", "wine forest", "cancer forest", "LightGBM", "TestNetwork2")
GREY, SURE, LIMIT = "#808080", "#2b8cb0", "#d2691e"  # readable on light and on dark pages
Row = dict[str, str]


def rows(page: Path) -> Iterator[Row]:
    """The rows of all tables of a page, each as column to text."""
    header: list[str] = []
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if cells and not header:
            header = cells
        elif cells and not cells[0].startswith(":-"):
            yield dict(zip(header, cells, strict=True))
        elif not cells:
            header = []


def table(header: list[str], lines: list[list[str]]) -> str:
    """A table in Markdown; the numbers stand to the right."""
    signs = [":--" if not any(character.isdigit() for character in lines[0][i]) else "--:" for i in range(len(header))]
    signs[0] = ":--"
    return "".join(f"| {' | '.join(cells)} |\n" for cells in [header, signs, *lines])


def queries(shown: tuple[str, ...] | None = None) -> str:
    """Labels asked and leaves, ours and the peers', for every target that a peer was measured on."""
    found: dict[str, dict[str, Row]] = {}
    for row in rows(MEASURED / "queries" / "RESULTS.md"):
        if row.get("method") in ("auto", "CART", "pystreed"):
            found.setdefault(row["target"], {})[row["method"]] = row
    methods = ("auto", "CART", "pystreed")
    header = [
        "target",
        *(f"{NAMES.get(method, method)}: {what}" for method in methods for what in ("queries", "leaves")),
    ]
    lines = []
    for target, by_method in found.items():
        if len(by_method) > 1 and (shown is None or target in shown):
            cells = [by_method.get(method, {}).get(what, "-") for method in methods for what in ("queries", "leaves")]
            lines.append([target, *cells])
    return table(header, lines)


def leaves() -> str:
    """Leaves of certified trees of real models from 20 000 labels, and CART's from 100 000."""
    found: dict[tuple[str, ...], Row] = {}
    for row in rows(MEASURED / "leaves" / "RESULTS.md"):
        if row.get("labels") in ("20,000", "100,000") and row["epsilon"] == "0.1" and row["model"] in HARD:
            key = (row["model"], row["inputs"], row["epsilon"])
            more = ", 100,000 labels" if row["labels"] == "100,000" else ""
            found.setdefault(key, {})[row["method"] + more] = row["leaves"]
    methods = ("fidelitree", "CART", "CART, pruned", "pystreed", "CART, 100,000 labels")
    return table(
        ["model", "inputs", "epsilon", *methods],
        [[*key, *(by_method[method] for method in methods)] for key, by_method in found.items()],
    )


def commit(page: Path) -> str:
    """The code that a log was measured on."""
    found = re.search(r"fidelitree at\s+commit ([0-9a-f]{7,}\+?)", page.read_text(encoding="utf-8"))
    assert found is not None, f"{page} names no commit"
    return found[1]


def campaign() -> list[Row]:
    """The lines of the campaign: one for each way to a certificate and each delta."""
    return [row for row in rows(CAMPAIGN) if "way to it" in row]


def planted() -> list[Row]:
    """The lines of the campaign's planted faults."""
    return [row for row in rows(CAMPAIGN) if "fault" in row]


def counted(lines: list[Row], what: str) -> int:
    return sum(int(row[what].replace(",", "")) for row in lines)


def doors() -> str:
    """False bounds among all runs, by door and by delta."""
    lines = []
    for name, starts in DOORS.items():
        own = [row for row in campaign() if row["way to it"].startswith(starts)]
        if own:
            parts = [[row for row in own if row["delta"] == delta] for delta in ("0.05", "0.2")]
            false = [counted(part, "false") for part in parts]
            shares = [f"{count / counted(part, 'runs'):.2%}" for count, part in zip(false, parts, strict=True)]
            lines.append([name, f"{counted(own, 'runs'):,}", *shares])
    return table(["door", "runs", "false at delta 5 %", "false at delta 20 %"], lines)


def campaign_counts() -> str:
    good, faulty, text = campaign(), planted(), CAMPAIGN.read_text(encoding="utf-8")
    assert "NOT MET" not in text, "the page would say what is not so"
    return (
        f"{counted(good, 'runs'):,} runs, and {counted(faulty, 'runs'):,} more with a fault planted, on commit "
        f"{commit(CAMPAIGN)}. {counted(good, 'false'):,} of the {counted(good, 'runs'):,} state a false bound. No way "
        "to a certificate exceeds its delta by more than chance explains, and every fault is seen.\n"
    )


def worlds() -> str:
    """How fitted worlds compare with rows, a line for each kind of world."""
    found = [row for row in rows(TRANSFER) if "honest" in row]
    kept = ("leaves / rows' at .1", "measured .1", "kept 8", "kept 16", "honest")
    return table(["world", *kept], [[row["world"], *(row[name] for name in kept)] for row in found])


def every_size() -> dict[str, list[Row]]:
    """The lines of all models, over drawn inputs and over rows, by leaves; one leaf is the same for everybody."""
    found: dict[str, list[Row]] = {}
    for row in rows(FRONTIER):
        if row.get("leaves", "1") != "1" and "ratio" in row:
            found.setdefault(row["leaves"], []).append(row)
    return found


def sizes() -> str:
    """For each size our error over that of the best peer, and how often it is lower and higher."""
    lines = []
    for leaves, some in every_size().items():
        ratios = [float(row["ratio"]) for row in some]
        counts = sum(one < BETTER for one in ratios), sum(one > WORSE for one in ratios)
        equal = len(ratios) - sum(counts)
        lines.append(
            [leaves, f"{median(ratios):.2f}", f"{mean(ratios):.2f}", f"{counts[0]}", f"{equal}", f"{counts[1]}"]
        )
    return table(["leaves", "our error over the best peer's: median", "mean", "lower", "level", "higher"], lines)


def mean(ratios: list[float]) -> float:
    """The geometric one."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


TABLES: dict[str, Callable[[], str]] = {
    "some-queries": lambda: queries(SHOWN) + _at(MEASURED / "queries" / "RESULTS.md"),
    "leaves": lambda: leaves() + _at(MEASURED / "leaves" / "RESULTS.md"),
    "campaign-doors": doors,
    "campaign-counts": campaign_counts,
    "sizes": lambda: sizes() + _at(FRONTIER),
    "worlds": lambda: worlds() + _at(TRANSFER),
}


def _at(page: Path) -> str:
    return f"\nMeasured on commit {commit(page)}.\n"


def quoted(text: str) -> str:
    """A page with its quoted tables written anew."""
    return PART.sub(
        lambda part: (
            f"<!-- {part[1]}: written by docs/measured.py -->\n\n{TABLES[part[1]]()}\n<!-- end of {part[1]} -->"
        ),
        text,
    )


def draw(lines: list[Row], name: str, path: Path) -> None:
    """The share of false bounds on each line, with the end that it may have, against the delta of the line."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    deltas = sorted({float(row["delta"]) for row in lines})
    names = list(dict.fromkeys(row[name] for row in lines))
    with mpl.rc_context({"svg.hashsalt": "campaign", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(7.5, 0.24 * len(names) + 0.9), layout="constrained")
        for place, delta in zip(figure.subplots(1, len(deltas), sharey=True, squeeze=False)[0], deltas, strict=True):
            for row in (row for row in lines if float(row["delta"]) == delta):
                y = names.index(row[name])
                share, most = (float(row[what].rstrip(" %")) for what in ("share", "at most (99 %)"))
                place.plot([share, most], [y, y], color=SURE, linewidth=1.5)
                place.plot(share, y, "o", color=SURE, markersize=4)
            place.axvline(100 * delta, color=LIMIT, linestyle="--", linewidth=1)
            place.set_xlim(left=0)
            place.set_xlabel(f"false bounds, per cent (dashed: delta = {100 * delta:g} %)")
            place.set_yticks(range(len(names)), names)
            place.set_ylim(len(names) - 0.5, -0.5)
            _quiet(place)
        figure.savefig(path, transparent=True, metadata={"Date": None})


def draw_ratios(path: Path) -> None:
    """A dot for each model and size, and a line through their medians."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    found = {leaves: [float(row["ratio"]) for row in some] for leaves, some in every_size().items()}
    with mpl.rc_context({"svg.hashsalt": "frontier", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(7.5, 3.2), layout="constrained")
        place = figure.subplots()
        for x, ratios in enumerate(found.values()):
            within = [min(max(one, LOW), HIGH) for one in ratios]
            place.plot([x] * len(ratios), within, "o", color=SURE, markersize=4, alpha=0.5, clip_on=False)
        place.plot([median(ratios) for ratios in found.values()], color=SURE, linewidth=1.5)
        place.axhline(1, color=LIMIT, linestyle="--", linewidth=1)
        place.set_ylim(LOW, HIGH)
        place.set_xticks(range(len(found)), list(found))
        place.set_xlabel("leaves (dashed: the best peer; line: median)")
        place.set_ylabel("our error over the best peer's")
        _quiet(place)
        figure.savefig(path, transparent=True, metadata={"Date": None})


def draw_errors(path: Path) -> None:
    """Errors at every size for some models: ours, our bound, and the best peer's."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "frontier", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(7.5, 4.2), layout="constrained")
        for place, model in zip(figure.subplots(2, 3).flat, CURVES, strict=True):
            own = [some[0] for some in _of(model)]
            leaves = [int(row["leaves"]) for row in own]
            peers = [name for name in own[0] if name.startswith(("CART", "py"))]
            best = [min(float(row[name]) for name in peers if row[name] != "-") for row in own]
            place.plot(leaves, [float(row["bound"]) for row in own], color=SURE, linewidth=1, linestyle=":")
            place.plot(leaves, [float(row["fidelitree"]) for row in own], "o-", color=SURE, markersize=3)
            place.plot(leaves, best, "o--", color=LIMIT, markersize=3, linewidth=1)
            place.set_xscale("log")
            place.set_xticks([2, 8, 64], ["2", "8", "64"])
            place.minorticks_off()
            place.set_ylim(bottom=0)
            place.set_title(model, color=GREY, fontsize=9)
            _quiet(place)
        figure.savefig(path, transparent=True, metadata={"Date": None})


def _of(model: str) -> Iterator[list[Row]]:
    for some in every_size().values():
        yield [row for row in some if row["model"] == model]


def _quiet(place: Any) -> None:
    """Axes in grey, which is readable on light and on dark pages."""
    for part in (*place.get_xticklabels(), *place.get_yticklabels(), place.xaxis.label, place.yaxis.label):
        part.set_color(GREY)
    place.tick_params(which="both", color=GREY)
    for side in place.spines.values():
        side.set_color(GREY)
        side.set_alpha(0.4)


if __name__ == "__main__":
    draw(campaign(), "way to it", DOCS / "figures" / "campaign.svg")
    draw(planted(), "fault", DOCS / "figures" / "campaign-faults.svg")
    draw_ratios(DOCS / "figures" / "frontier-ratios.svg")
    draw_errors(DOCS / "figures" / "frontier-errors.svg")
    for page in PAGES:
        page.write_text(quoted(page.read_text(encoding="utf-8")), encoding="utf-8")
