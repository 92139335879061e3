"""Audit surrogates that people use on twelve real models: python -m benchmarks.audit [--write].

Each method learns from the same labelled inputs and says how faithful it is. `ft.certify` then says how faithful it is
on fresh inputs. With --write, docs/audited.md, its figure and every single number (benchmarks/audit/results.csv) are
written. Peers that are not installed are named, and left out (extra "audit").
"""

from __future__ import annotations

import argparse
import csv
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import fidelitree as ft
from benchmarks.audit.methods import ABSENT, METHODS, Lesson, made
from benchmarks.audit.picture import draw
from benchmarks.frontier.cases import Case
from benchmarks.machine import commit
from benchmarks.report import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MODELS = (
    "COMPAS", "Seeds", "Breast-Cancer", "HTRU2", "LightGBM", "agaricus", "dermatology", "bank", "wine forest",
    "cancer forest", "cancer logistic", "digits network",
)  # fmt: skip
LABELS, TESTS, SECONDS = 2_000, 20_000, 10.0
HERE = Path(__file__).resolve()
ROWS = HERE.with_name("results.csv")
DOCS = HERE.parents[2] / "docs"
PAGE, FIGURE = DOCS / "audited.md", DOCS / "figures" / "audited.svg"


@dataclass(frozen=True)
class Row:
    """A surrogate: its claim, both ends of its certified fidelity, its size and its price; or why there is none."""

    model: str
    method: str
    claim: float | None = None
    low: float | None = None
    high: float | None = None
    leaves: int | None = None
    labels: int | None = None
    seconds: float | None = None
    why_not: str = ""

    @property
    def too_high(self) -> bool:
        """Whether it claims more than the certified interval allows."""
        return self.claim is not None and self.high is not None and self.claim > self.high

    def cell(self) -> str:
        """Claim, interval and leaves, for a table."""
        if self.claim is None or self.low is None or self.high is None:
            return "-"
        sign = " ▲" if self.too_high else ""
        return f"{self.claim:.1%}{sign}; {100 * self.low:.1f}-{100 * self.high:.1f}; {self.leaves}"


def rows(models: Sequence[str], labels: int, tests: int, seconds: float) -> Iterator[Row]:
    for place, model in enumerate(models):
        case = Case(model, "marginals")
        space = case.space()
        batch = space.draw(labels, seed=1_000 + place)
        lesson = Lesson(case, space.encode(batch), case.target(batch), seconds, labels)
        for method in METHODS:
            began = time.process_time()
            found = made(method, lesson)
            taken = time.process_time() - began
            if isinstance(found, str):
                yield Row(model, method, why_not=found)
                continue
            told = ft.certify(found.predict, case.target, space, delta=0.05, seed=place, max_queries=tests)
            low, high = told.interval
            yield Row(model, method, found.claim, 1 - high, 1 - low, found.leaves, labels, round(taken, 2))


def summary(found: Sequence[Row]) -> Table:
    """A line for each method, over the models that it takes."""
    lines = []
    for method in dict.fromkeys(row.method for row in found):
        own = [row for row in found if row.method == method and row.claim is not None]
        if own:
            lines.append([
                method, f"{len(own)}", f"{sum(row.too_high for row in own)}",
                f"{max(max(0.0, (row.claim or 0) - (row.high or 0)) for row in own):.1%}",
                f"{median(row.low or 0 for row in own):.1%}", f"{median(row.leaves or 0 for row in own):g}",
                f"{median(row.seconds or 0 for row in own):.1f} s",
            ])  # fmt: skip
    heads = ["method", "models", "claims too much", "by at most", "certified, median", "leaves or rules", "time"]
    return Table(heads, lines)


def single(found: Sequence[Row]) -> Table:
    """A line for each model, a column for each method."""
    methods = list(dict.fromkeys(row.method for row in found))
    by = {(row.model, row.method): row for row in found}
    models = dict.fromkeys(row.model for row in found)
    return Table(["model", *methods], [[model, *(by[model, one].cell() for one in methods)] for model in models])


def page(found: Sequence[Row]) -> str:
    stamp = f"{datetime.now(UTC):%Y-%m-%d}, fidelitree at commit {commit()}"
    text = HERE.with_name("page.md").read_text(encoding="utf-8")
    return text.format(summary=summary(found).markdown(), single=single(found).markdown(), stamp=stamp)


def write(found: Sequence[Row]) -> None:
    """The page and its figure."""
    draw(found, FIGURE)
    PAGE.write_text(page(found), encoding="utf-8")


def kept() -> list[Row]:
    """What was measured last."""
    with ROWS.open(newline="", encoding="utf-8") as file:
        return [Row(**{name: _read(name, text) for name, text in one.items()}) for one in csv.DictReader(file)]


def _read(name: str, text: str) -> Any:
    if name in ("model", "method", "why_not"):
        return text
    return None if text == "" else int(text) if name in ("leaves", "labels") else float(text)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.audit", description=__doc__)
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=MODELS, metavar="NAME")
    parser.add_argument("--write", action="store_true", help="write the page, its figure and all numbers")
    parser.add_argument("--smoke", action="store_true", help="one model, few labels: shows that everything runs")
    parser.add_argument("--page", action="store_true", help="write the page anew from the numbers that were kept")
    options = parser.parse_args()
    if options.page:
        write(kept())
        return
    if options.write and (options.smoke or ABSENT or options.models != list(MODELS)):
        parser.error(f"--write needs all models and all methods; missing: {', '.join(ABSENT) or 'none'}")
    sizes = (("Seeds",), 200, 500, 2.0) if options.smoke else (options.models, LABELS, TESTS, SECONDS)
    found = []
    for row in rows(*sizes):
        found.append(row)
        print(f"{row.model:16} {row.method:22} {row.cell()} {row.why_not}".rstrip(), flush=True)
    print(summary(found).text())
    print(f"not installed: {', '.join(ABSENT)}" if ABSENT else "all methods were there")
    if options.write:
        with ROWS.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(asdict(found[0])), lineterminator="\n")
            writer.writeheader()
            writer.writerows(asdict(row) for row in found)
        write(found)


if __name__ == "__main__":
    main()
