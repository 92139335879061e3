"""The experiments by name: run one, write its files, say what came out."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fidelitree import theory
from fidelitree.errors import ParameterError
from fidelitree.experiments import errata, iteration, pictures, published, sizes
from fidelitree.experiments.sizes import BIASES, FAMILIES, Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fidelitree.theory.bounds import WorkedExample

EPSILONS = (0.3, 0.1, 0.03, 0.01)
DEPTHS = tuple(range(1, 21))
FEATURES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256)
Advance = Callable[[int, int], None]
"""Told how many of how many steps are done."""


def worked_examples(
    epsilons: Sequence[float] = EPSILONS, depths: Sequence[int] = DEPTHS, features: Sequence[int] = FEATURES
) -> list[WorkedExample]:
    """Complete trees of 2^depth leaves and paths over so many features, at every epsilon; bounds as logarithms."""
    balanced = [theory.balanced_example(2**depth, epsilon) for epsilon in epsilons for depth in depths]
    return balanced + [theory.path_example(n, epsilon) for epsilon in epsilons for n in features]


def save_rows(rows: Sequence[Any], path: Path) -> Path:
    """Write dataclass rows, one column for each field."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(rows[0])], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
    return path


def save_text(lines: Sequence[str], path: Path) -> Path:
    """Write the lines that the command also prints."""
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@dataclass(frozen=True)
class Settings:
    """What a user may choose about an experiment."""

    out: Path
    repetitions: int = 6
    schedule: theory.Schedule = "corrected"
    seed: int = 0
    jobs: int = 1


@dataclass(frozen=True)
class Report:
    """The files an experiment wrote, its result in a few lines, and the seed of what it drew, if it drew anything."""

    files: list[Path]
    summary: list[str] = field(default_factory=list)
    seed: int | None = None


def run(name: str, settings: Settings, advance: Advance) -> Report:
    """Run one experiment by its name."""
    if name not in EXPERIMENTS:
        raise ParameterError(f"experiment must be one of {', '.join(EXPERIMENTS)}; got {name!r}")
    settings.out.mkdir(parents=True, exist_ok=True)
    return EXPERIMENTS[name](settings, advance)


def _written(
    settings: Settings, name: str, rows: Sequence[Any], figures: Mapping[str, Figure], lines: list[str]
) -> Report:
    """Rows as a table, figures by what their names add to the experiment's, and the summary."""
    files = [save_rows(rows, settings.out / f"{name}.csv")]
    for suffix, picture in figures.items():
        files += pictures.save(picture, settings.out, name + suffix)
    return Report([*files, save_text(lines, settings.out / f"{name}.txt")], lines)


def _sizes(axis: str, settings: Settings, advance: Advance) -> Report:
    plan = sizes.size_vs_epsilon if axis == "epsilon" else sizes.size_vs_dimension
    cells = plan(settings.schedule, settings.repetitions, settings.seed)
    done = 0

    def one_more() -> None:
        nonlocal done
        done += 1
        advance(done, len(cells))

    rows = sizes.run(cells, settings.jobs, one_more)
    name = f"{'size-vs-epsilon' if axis == 'epsilon' else 'size-vs-dimension'}-{settings.schedule}"
    papers = pictures.sizes_figure(rows, axis, ["leaves"])
    figures = {"-paper": papers, "": pictures.sizes_figure(rows, axis)}
    return replace(_written(settings, name, rows, figures, _sizes_summary(rows, axis)), seed=settings.seed)


def _sizes_summary(rows: Sequence[Row], axis: str) -> list[str]:
    lines = [f"{'target':<10}{'p':<6}{axis:<9}{'leaves':<14}{'label queries':<15}largest error"]
    for cell in _cells(rows, axis):
        one, sizes_of = cell[0], [row.size for row in cell]
        leaves = f"{np.mean(sizes_of):.1f} ± {np.std(sizes_of):.1f}"
        asked, error = np.mean([row.asked for row in cell]), max(row.error for row in cell)
        lines.append(f"{one.family:<10}{one.p:<6}{getattr(one, axis):<9g}{leaves:<14}{asked:<15,.0f}{error:.4f}")
    wrong = sum(row.error > row.epsilon for row in rows)
    total = sum(row.asked for row in rows)
    lines.append(f"{wrong} of {len(rows)} trees have an error above epsilon; {total:,} label queries in all")
    return lines


def _cells(rows: Sequence[Row], axis: str) -> list[list[Row]]:
    places = sorted({getattr(row, axis) for row in rows})
    return [
        [row for row in rows if (row.family, row.p, getattr(row, axis)) == (family, p, place)]
        for family in FAMILIES
        for p in BIASES
        for place in places
    ]


def _bounds(settings: Settings, advance: Advance) -> Report:
    rows = worked_examples()
    lines = ["ln of the size bounds        leaves  printed (Thm 1.1)  corrected (best form)"]
    for row in rows:
        if row.epsilon == 0.1 and row.leaves in (16, 17, 65, 1024):
            name = f"{row.name}, epsilon = {row.epsilon:g}"
            lines.append(f"{name:<29}{row.leaves:<8}{row.theorem_1_1_printed:<19.1f}{row.corrected:.1f}")
    return _written(settings, "bounds", rows, {"": pictures.bounds_figure(rows)}, lines)


def _errata(settings: Settings, advance: Advance) -> Report:
    rows = errata.rows()
    return _written(settings, "errata", rows, {"": pictures.errata_figure(rows)}, errata.lines(rows))


def _iteration(settings: Settings, advance: Advance) -> Report:
    seen = iteration.watched(settings.schedule, settings.seed)
    rows, lines = iteration.rows(seen), iteration.summary(seen)
    made = _written(settings, f"iteration-{settings.schedule}", rows, {"": iteration.drawn(seen)}, lines)
    return replace(made, seed=settings.seed)


@dataclass(frozen=True)
class TightRow:
    """One member of the family that needs the exponent: what greedy has at least, and what the theorem allows."""

    r: int
    n: int
    depth: int
    average_depth: float
    influence: float
    log_target_size: float
    lower: float
    upper: float


def tight_rows() -> list[TightRow]:
    """Selected parities of k = 5r bits with s = 5 selectors a block, at epsilon .1."""
    members = [theory.SelectorParity(r, 5 * r, 5) for r in (10, 20, 40, 80, 160, 320)]
    return [
        TightRow(
            t.r, t.n, t.depth, t.average_depth, t.influence, t.log_size, t.log_greedy_size(0.1), t.log_size_bound(0.1)
        )
        for t in members
    ]


def _tight(settings: Settings, advance: Advance) -> Report:
    rows = tight_rows()
    lines = [f"{'r':>4}{'features':>10}{'D':>7}{'Delta':>9}{'ln s':>9}{'ln size >=':>13}{'<=':>13}{'ratio':>8}"]
    lines += [
        f"{row.r:>4}{row.n:>10,}{row.depth:>7,}{row.average_depth:>9,.1f}{row.log_target_size:>9,.1f}"
        f"{row.lower:>13,.1f}{row.upper:>13,.1f}{row.lower / row.upper:>8.4f}"
        for row in rows
    ]
    return _written(settings, "tight-exponent", rows, {"": pictures.tight_figure(rows)}, lines)


def _published(name: str, settings: Settings, advance: Advance) -> Report:
    cases = list(published.PLANS[name](settings.repetitions, settings.seed))
    rows = []
    for case in cases:
        rows.append(published.row(case))
        advance(len(rows), len(cases))
    return replace(_written(settings, name, rows, {}, published.summary(rows)), seed=settings.seed)


EXPERIMENTS: dict[str, Callable[[Settings, Advance], Report]] = {
    "size-vs-epsilon": partial(_sizes, "epsilon"),
    "size-vs-dimension": partial(_sizes, "n"),
    "iteration": _iteration,
    "bounds": _bounds,
    "errata": _errata,
    "tight-exponent": _tight,
    **{name: partial(_published, name) for name in published.PLANS},
}
