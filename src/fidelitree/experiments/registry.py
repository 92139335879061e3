"""The experiments by name: run one, write its files, say what came out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fidelitree import theory
from fidelitree.errors import ParameterError
from fidelitree.experiments import pictures, sizes, tables
from fidelitree.experiments.sizes import BIASES, FAMILIES, Row

Advance = Callable[[int, int], None]
"""Told how many of how many steps are done."""


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
    """The files an experiment wrote, and its result in a few lines."""

    files: list[Path]
    summary: list[str] = field(default_factory=list)


def run(name: str, settings: Settings, advance: Advance) -> Report:
    """Run one experiment by its name."""
    if name not in EXPERIMENTS:
        raise ParameterError(f"experiment must be one of {', '.join(EXPERIMENTS)}; got {name!r}")
    settings.out.mkdir(parents=True, exist_ok=True)
    return EXPERIMENTS[name](settings, advance)


def _size_vs_epsilon(settings: Settings, advance: Advance) -> Report:
    return _sizes("epsilon", settings, advance)


def _size_vs_dimension(settings: Settings, advance: Advance) -> Report:
    return _sizes("n", settings, advance)


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
    files = [tables.save(rows, settings.out / f"{name}.csv")]
    files += pictures.save(pictures.sizes_figure(rows, axis), settings.out, name)
    return Report(files, _sizes_summary(rows, axis))


def _sizes_summary(rows: Sequence[Row], axis: str) -> list[str]:
    places = sorted({getattr(row, axis) for row in rows})
    lines = [f"{'leaves (mean)':<20}" + "".join(f"{axis} = {place:<8g}" for place in places)]
    for family in FAMILIES:
        for p in BIASES:
            cells = [[r for r in rows if (r.family, r.p, getattr(r, axis)) == (family, p, place)] for place in places]
            means = "".join(f"{np.mean([r.size for r in cell]):<{len(axis) + 11}.1f}" for cell in cells)
            lines.append(f"{family:<11}p = {p:<5}{means}")
    wrong = sum(row.error > row.epsilon for row in rows)
    asked = sum(row.asked for row in rows)
    lines.append(f"{wrong} of {len(rows)} trees have an error above epsilon; {asked:,} label queries in all")
    return lines


EXPERIMENTS: dict[str, Callable[[Settings, Advance], Report]] = {
    "size-vs-epsilon": _size_vs_epsilon,
    "size-vs-dimension": _size_vs_dimension,
}
