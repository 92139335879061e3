"""Total Sobol indices: how many rows of the target fidelitree needs for SALib's accuracy.

SALib's Saltelli design asks N (n + 2) rows: two sets of N Sobol points, and hybrids of the two for every feature.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

import fidelitree as ft
from benchmarks.report import Bar, Section, Table

Floats = NDArray[np.float64]

SEEDS = 20
BITS = 20
BARS = {"multiplexer": 0.35, "majority": 0.7}
JUDGED = (256, 512, 1024), (64, 128)
POINTS = tuple(sorted(sum(JUDGED, ())))
NOTHING = 1e-12


def salib(target: ft.targets.Textbook, points: int, seed: int) -> tuple[Floats, int]:
    """Total indices by SALib's Sobol sampler and estimator, and the rows they took."""
    from SALib.analyze import sobol as analyze
    from SALib.sample import sobol as sample

    names = [f"x{i}" for i in range(target.n)]
    problem = {"num_vars": target.n, "names": names, "bounds": [[0, 1]] * target.n}
    inputs = sample.sample(problem, points, calc_second_order=False, seed=seed)
    labels = 2.0 * target((inputs < 0.5).astype(np.uint8)) - 1
    # The resamples are for intervals, which are not compared here.
    found = analyze.analyze(problem, labels, calc_second_order=False, num_resamples=2, seed=seed)
    return np.asarray(found["ST"]), len(inputs)


def ours(target: ft.targets.Textbook, rows: int, seed: int) -> Floats:
    """Total indices by `analyze`; every row is paid for."""
    found = ft.analyze(target, ft.ProductSpace.bernoulli(target.n), max_queries=rows, seed=seed)
    if found.exact or found.queries.paid > rows:
        raise RuntimeError(f"{rows} rows were allowed, without enumerating; {found.queries.paid} were paid")
    return found.total_indices


def root_mean_square(errors: list[Floats]) -> float:
    """Over seeds and features."""
    error = math.sqrt(float(np.mean(np.square(errors))))
    return 0.0 if error < NOTHING else error


def rows_for(error: float, curve: dict[int, float]) -> float | None:
    """Rows at which our curve comes down to an error, between neighbouring points on double logarithmic paper."""
    before: tuple[int, float] | None = None
    for rows, reached in curve.items():
        if reached <= error:
            if before is None or reached in (0, error):
                return rows
            along = math.log(before[1] / error) / math.log(before[1] / reached)
            return before[0] * (rows / before[0]) ** along
        before = rows, reached
    return None


def compare(name: str, target: ft.targets.Textbook, points: tuple[int, ...], seeds: int) -> list[list[str | float]]:
    """For each size of SALib's design: name, N, its rows, its error, our error with as many rows, our share of rows."""
    truth = ft.analyze(target, ft.ProductSpace.bernoulli(target.n), max_queries=1 << target.n).total_indices
    theirs = {}
    for count in points:
        runs = [salib(target, count, seed) for seed in range(seeds)]
        theirs[count] = runs[0][1], root_mean_square([found - truth for found, _ in runs])
    most, steps = max(rows for rows, _ in theirs.values()), 4
    counts = {int(most / 2 ** (k / steps)) for k in range(steps * 6 + 1)}
    counts |= {int(share * rows) for rows, _ in theirs.values() for share in (BARS[name], 1)}
    curve = {
        rows: root_mean_square([ours(target, rows, seed) - truth for seed in range(seeds)])
        for rows in sorted(counts)
        if rows >= 4 * (target.n + 1)
    }
    table: list[list[str | float]] = []
    for count, (rows, error) in theirs.items():
        needed = rows_for(error, curve)
        table.append([name, count, rows, error, curve[rows], math.inf if needed is None else needed / rows])
    return table


def run(smoke: bool) -> Section:
    """Both functions of the promise, over all sizes of SALib's design."""
    functions = {
        "multiplexer": ft.targets.multiplexer(3 if smoke else 4),
        "majority": ft.targets.majority(11 if smoke else BITS),
    }
    rows, bars = [], []
    for name, target in functions.items():
        found = compare(name, target, (16,) if smoke else POINTS, 2 if smoke else SEEDS)
        rows += [
            [
                str(who),
                f"{n}",
                f"{paid:,}",
                f"{error:.4f}",
                f"{mine:.4f}",
                "more" if share == math.inf else f"{share:.2f}",
            ]
            for who, n, paid, error, mine, share in found
        ]
        for sizes in JUDGED:
            judged = {n: share for _, n, _, _, _, share in found if smoke or n in sizes}
            bars.append(
                Bar(
                    f"SALib's error with at most {BARS[name]} of its rows on {name}, N = {', '.join(map(str, sizes))}",
                    ", ".join(f"{share:.2f} at N = {n}" for n, share in judged.items()),
                    None if smoke else max(judged.values()) <= BARS[name],
                )
            )
    remark = (
        f"n = {BITS} fair bits, labels -1 and 1, root mean square error of all total indices over {SEEDS} seeds, no "
        "memory of answers; SALib with its Sobol sampler and N (n + 2) rows, fidelitree by analyze(max_queries=rows). "
        "The last column is the share of SALib's rows at which our curve reaches SALib's error, between measured "
        "points. "
        "Sobol points are balanced on small sets of bits. So at small N, where no tree can be grown yet, they make up "
        "for some of what re-drawn bits lose, and our share is above the bar; and from N = 1,024 on they add up the "
        "multiplexer without any error, which takes us trees without any error."
    )
    headings = ["target", "N", "rows", "SALib", "fidelitree, same rows", "rows for SALib's error"]
    return Section("sobol", "total Sobol indices, rows for the same error", [Table(headings, rows)], bars, remark)
