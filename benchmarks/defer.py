"""How much of a model a small tree can answer: ``python -m benchmarks.defer [NAME ...] [--labels N] [--few]``.

Sixteen models over the product of their marginals, on which no tree of 64 leaves errs on at most 5 %. Each line is one
run of ``distill(defer=True)`` at epsilon = .05: the certified coverage within 30 and within 64 leaves, and how much the
tree really answers, and how well, on fresh inputs. ``--plain`` adds what the best tree that defers nothing reaches.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

import fidelitree as ft
from benchmarks import subjects
from benchmarks.frontier.cases import bundled, estimator
from benchmarks.report import Bar, Section, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EPSILON, LABELS, FRESH = 0.05, 50_000, 40_000
SMALL, LARGE = 30, 64
KINDS = ("forest", "boosting", "logistic", "network")
BARS = ((SMALL, 0.65, 1 / 2), (LARGE, 0.8, 1 / 3))


@cache
def german(kind: str) -> subjects.Subject:
    """A model of german-credit, 112 bits."""
    table = np.loadtxt(subjects.DATA / "tables" / "pystreed_bin_german-credit.csv")
    model = estimator(kind).fit(table[:, 1:], table[:, 0])
    return subjects.over_rows(f"german {kind}", lambda rows: model.predict(rows).astype(int), table[:, 1:])


MODELS: dict[str, Callable[[], subjects.Subject]] = {
    "bank boosting": subjects.bank,
    **{f"german {kind}": partial(german, kind) for kind in ("forest", "logistic", "network")},
    **{
        f"cancer {kind}": partial(bundled, "breast_cancer", kind)
        for kind in ("forest", "boosting", "logistic", "network")
    },
    **{f"wine {kind}": partial(bundled, "wine", kind) for kind in KINDS},
    "dermatology": subjects.xgboost_dermatology,
    "digits network": partial(bundled, "digits", "network"),
    "digits boosting, seven classes": partial(bundled, "digits", "boosting", 7),
    "digits boosting, eight classes": partial(bundled, "digits", "boosting", 8),
}


def over_marginals(subject: subjects.Subject) -> tuple[Callable[[Any], Any], ft.ProductSpace]:
    """The model as a function of a table, and its inputs."""
    assert subject.rows is not None
    space = ft.ProductSpace.from_data(subject.table(subject.rows))
    if subject.model is not None:
        return subject.model, space

    def target(batch: Any) -> Any:
        columns = [batch] if isinstance(batch, np.ndarray) else [np.asarray(batch[name]) for name in subject.features]
        return subject.target(np.column_stack(columns).astype(np.float64))

    return target, space


def measured(name: str, labels: int, plain: bool) -> list[str]:
    """One line of the table."""
    target, space = over_marginals(MODELS[name]())
    began = time.process_time()
    found = ft.distill(target, space, EPSILON, defer=True, max_queries=labels, max_leaves=LARGE)
    seconds = time.process_time() - began
    points = [] if found.frontier is None else list(found.frontier)
    told = [
        max((p.certificate.coverage or 0 for p in points if p.leaves <= most), default=0.0) for most in (SMALL, LARGE)
    ]
    batch = space.draw(FRESH, seed=987_654)
    given, truth = found.tree.predict(batch), np.asarray(target(batch))
    own = np.asarray(given != ft.DEFER)
    error = float((given[own] != truth[own]).mean()) if own.any() else 0.0
    line = [name, *(f"{share:.3f}" for share in told), f"{found.leaves}", f"{own.mean():.3f}", f"{error:.4f}"]
    line += [f"{int(found.queries.asked):,}", f"{seconds:.0f} s"]
    if plain:
        front = ft.frontier(target, space, max_queries=labels, max_leaves=LARGE)
        line.append(f"{min(point.error_bound for point in front):.3f}")
    return line


def lines(names: list[str], labels: int, plain: bool, processes: int) -> Iterator[list[str]]:
    with ProcessPoolExecutor(processes) as pool:
        for line in pool.map(measured, names, [labels] * len(names), [plain] * len(names)):
            print("  ".join(line), flush=True)
            yield line


def section(rows: list[list[str]], labels: int, plain: bool) -> Section:
    """The table and its bars; these are about all sixteen at full size."""
    judged, bars = len(rows) == len(MODELS) and labels == LABELS, []
    for place, (most, share, part) in enumerate(BARS, start=1):
        reached = sum(float(row[place]) >= share for row in rows)
        met = reached >= part * len(MODELS) if judged else None
        what = f"certified coverage of at least {share:g} within {most} leaves on {part:.0%} of the models"
        bars.append(Bar(what, f"{reached} of {len(rows)}", met))
    names = ["model", f"{SMALL} leaves", f"{LARGE} leaves", "leaves", "answers", "error there", "labels", "processor"]
    table = Table([*names, *(["plain error"] if plain else [])], rows)
    return Section("defer", f"certified coverage at epsilon {EPSILON:g}, {labels:,} labels", [table], bars)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defer", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one or more of {', '.join(MODELS)}")
    parser.add_argument("--labels", type=int, default=LABELS, help="of each run (default %(default)s)")
    parser.add_argument("--few", action="store_true", help="one model, few labels: shows that it runs")
    parser.add_argument("--plain", action="store_true", help="also what trees reach that defer nothing")
    parser.add_argument("--processes", type=int, default=1, help="(default %(default)s)")
    chosen = parser.parse_args()
    if unknown := sorted(set(chosen.names) - set(MODELS)):
        parser.error(f"NAME must be one of {', '.join(MODELS)}; got {', '.join(unknown)}")
    names, labels = chosen.names or list(MODELS), chosen.labels
    if chosen.few:
        names, labels = ["wine logistic"], 1_500
    rows = list(lines(names, labels, chosen.plain, chosen.processes))
    print("\n" + section(rows, labels, chosen.plain).text())


if __name__ == "__main__":
    main()
