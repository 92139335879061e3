"""Copies measured numbers of benchmarks/queries and benchmarks/leaves into the pages that quote them.

    python docs/peer_tables.py

Run it after `make bench-queries` or `make bench-leaves` has written a page anew. A quoted table stands between the
comments `<!-- NAME: written by docs/peer_tables.py -->` and `<!-- end of NAME -->`; a test compares it with its source.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DOCS = Path(__file__).resolve().parent
MEASURED = DOCS.parent / "benchmarks"
PAGES = (DOCS / "peers.md", DOCS.parent / "README.md")
PART = re.compile(r"<!-- ([a-z-]+): written by docs/peer_tables.py -->\n(.*?)<!-- end of \1 -->", flags=re.DOTALL)
SHOWN = ("iid p=0.5", "iid p=0.1", "par p=0.5", "iid depth 4, n=2,000", "multiplexer 20", "tribes 3x5", "COMPAS RF1")
HARD = ("Seeds", "Breast-Cancer", "LightGBM", "dermatology", "bank")  # the others need 2 to 16 leaves
NAMES = {"auto": "fidelitree"}
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


TABLES: dict[str, Callable[[], str]] = {
    "some-queries": lambda: queries(SHOWN),
    "leaves": leaves,
}


def quoted(text: str) -> str:
    """A page with its quoted tables written anew."""
    return PART.sub(
        lambda part: (
            f"<!-- {part[1]}: written by docs/peer_tables.py -->\n\n{TABLES[part[1]]()}\n<!-- end of {part[1]} -->"
        ),
        text,
    )


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(quoted(page.read_text(encoding="utf-8")), encoding="utf-8")
