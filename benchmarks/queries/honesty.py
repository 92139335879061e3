"""How often a certificate is false."""

from __future__ import annotations

from collections import defaultdict
from functools import partial

from benchmarks.queries import large, small
from benchmarks.queries.runs import Cell, Run, perform, progress, workers
from benchmarks.queries.settings import DELTA, EPSILON, Settings
from benchmarks.report import Bar, Section, Table
from fidelitree.theory.sequential import upper_bound

LEVEL = 0.05
CHUNK = 100
LARGEST = 2_000  # features: a run beyond takes seconds
FIRST = 1_000  # targets and seeds of their own: the other sections use smaller numbers


def contests(settings: Settings) -> list[tuple[Cell, str]]:
    """Every cell with both strategies."""
    deep = [cell for cell, _ in large.cells(settings) if cell.n <= LARGEST and "depth 4" in cell.name]
    return [(cell, strategy) for cell in small.cells(settings) + deep for strategy in small.STRATEGIES]


def perform_one(chosen: list[tuple[Cell, str]], settings: Settings, number: int) -> tuple[str, Run]:
    """The cells take turns; every run has a target of its own."""
    cell, strategy = chosen[number % len(chosen)]
    return strategy, perform(cell, strategy, settings, FIRST + number // len(chosen))


def run(settings: Settings) -> Section:
    chosen = contests(settings)
    wanted = len(chosen) if settings.smoke else settings.runs
    found: dict[str, list[Run]] = defaultdict(list)
    done = certified = 0
    with workers(settings) as each:
        while certified < wanted and done < 2 * wanted:
            step = min(CHUNK, wanted - certified)
            for strategy, one in each(partial(perform_one, chosen, settings), range(done, done + step)):
                found[strategy] += [one] if one.certified else []
                certified += one.certified
            done += step
            progress(f"honesty: {certified} certified of {done}")
    groups = {**found, "both": [one for runs in found.values() for one in runs]}
    table = []
    for name, runs in groups.items():
        false = sum(one.error > EPSILON for one in runs)
        worst = max((one.error for one in runs), default=0.0)
        share, bound = false / max(1, len(runs)), upper_bound(false, max(1, len(runs)), LEVEL)
        table.append(
            [name, f"{len(runs):,}", f"{false}", f"{100 * share:.2f} %", f"{100 * bound:.2f} %", f"{worst:.4f}"]
        )
    bar = Bar(
        f"share of false certificates below delta = {100 * DELTA:g} %, by its upper bound",
        f"{share * 100:.2f} %, at most {bound * 100:.2f} %",
        None if settings.smoke else bound < DELTA,
    )
    headings = ["strategy", "certified runs", "false", "share", "upper bound", "largest true error"]
    remark = (
        f"Over {len(chosen) // 2} cells (all of small, depth 4 of large up to n = {LARGEST:,}) and both strategies in "
        f"turn, {done:,} runs, each with a fresh target; true errors exact, tree against tree. The upper bound is "
        "Clopper and Pearson's at 95 %. Certificates may fail with probability up to delta."
    )
    return Section("honesty", "how often a certificate is false", [Table(headings, table)], [bar], remark)
