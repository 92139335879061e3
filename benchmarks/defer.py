"""How much of a model a small tree can answer: ``python -m benchmarks.defer [NAME ...] [--labels N] [--few]``.

Candidates are the models of the tables of leaves and frontiers, and four kinds of models of scikit-learn's bundled
tables and of german credit, over the product of their marginals. Those count that
``distill(model, space, 0.05, max_queries=50_000, max_leaves=64)`` does not certify (``--plain`` tries it again). The
bars are judged on the first sixteen in alphabetical order, and on all. Each line is one run of ``distill(defer=True)``
at epsilon = .05: the certified coverage within 30 and within 64 leaves, and how much the largest tree really answers,
and how well, on fresh inputs.
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
from fidelitree.spaces.features import Numeric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EPSILON, LABELS, FRESH = 0.05, 50_000, 40_000
SMALL, LARGE = 30, 64
FIRST = 16
KINDS = ("forest", "boosting", "logistic", "network")
BARS = ((SMALL, 0.65, 1 / 2), (LARGE, 0.8, 1 / 3))


@cache
def german(kind: str) -> subjects.Subject:
    """A model of german-credit, 112 bits."""
    table = np.loadtxt(subjects.DATA / "tables" / "pystreed_bin_german-credit.csv")
    model = estimator(kind).fit(table[:, 1:], table[:, 0])
    return subjects.over_rows(f"german {kind}", lambda rows: model.predict(rows).astype(int), table[:, 1:])


CANDIDATES: dict[str, Callable[[], subjects.Subject]] = {
    **{f"{name} forest": partial(subjects.forest, name) for name in subjects.FORESTS},
    **{f"cancer {kind}": partial(bundled, "breast_cancer", kind) for kind in KINDS},
    **{f"{table} {kind}": partial(bundled, table, kind) for table in ("digits", "iris", "wine") for kind in KINDS},
    **{f"german {kind}": partial(german, kind) for kind in KINDS},
    "agaricus boosting": subjects.xgboost_agaricus,
    "bank boosting": subjects.bank,
    "cancer LightGBM": subjects.lightgbm_breast_cancer,
    "dermatology boosting": subjects.xgboost_dermatology,
    "digits boosting, seven classes": partial(bundled, "digits", "boosting", 7),
    "digits boosting, eight classes": partial(bundled, "digits", "boosting", 8),
    "iris ONNX": subjects.onnx_iris,
    "TestNetwork2": subjects.onnx_network,
}
CERTIFIED = (
    *("agaricus boosting", "Breast-Cancer forest", "COMPAS forest", "dermatology boosting", "HTRU2 forest"),
    *("iris boosting", "iris forest", "iris ONNX", "TestNetwork2", "wine boosting"),
)
"""What is certified at .05 with no leaf that defers."""
MODELS = [name for name in sorted(CANDIDATES, key=str.lower) if name not in CERTIFIED]


def over_marginals(subject: subjects.Subject) -> tuple[Callable[[Any], Any], ft.ProductSpace]:
    """The model as a function of a table, and its inputs."""
    if subject.uniform:
        boxes = zip(subject.features, subject.marginals, strict=True)
        space = ft.ProductSpace([Numeric(name, *map(float, ends)) for name, ends in boxes])
    else:
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
    target, space = over_marginals(CANDIDATES[name]())
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
        whole = ft.distill(target, space, EPSILON, max_queries=labels, max_leaves=LARGE)
        line.append(f"{whole.certificate.error_bound:.3f}")
    return line


def lines(names: list[str], labels: int, plain: bool, processes: int) -> Iterator[list[str]]:
    with ProcessPoolExecutor(processes) as pool:
        for line in pool.map(measured, names, [labels] * len(names), [plain] * len(names)):
            print("  ".join(line), flush=True)
            yield line


def section(rows: list[list[str]], labels: int, plain: bool) -> Section:
    """The table and its bars; these are about whole lists at full size."""
    judged, bars = [row[0] for row in rows] == MODELS and labels == LABELS, []
    for some in (rows[:FIRST], rows)[: 2 if len(rows) > FIRST else 1]:
        for place, (most, share, part) in enumerate(BARS, start=1):
            reached = sum(float(row[place]) >= share for row in some)
            met = reached >= part * len(some) if judged else None
            what = f"certified coverage of at least {share:g} within {most} leaves on {part:.0%} of {len(some)} models"
            bars.append(Bar(what, f"{reached} of {len(some)}", met))
    names = ["model", f"{SMALL} leaves", f"{LARGE} leaves", "leaves", "answers", "error there", "labels", "processor"]
    table = Table([*names, *(["plain error"] if plain else [])], rows)
    return Section("defer", f"certified coverage at epsilon {EPSILON:g}, {labels:,} labels", [table], bars)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defer", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one or more of {', '.join(CANDIDATES)}")
    parser.add_argument("--labels", type=int, default=LABELS, help="of each run (default %(default)s)")
    parser.add_argument("--few", action="store_true", help="one model, few labels: shows that it runs")
    parser.add_argument("--plain", action="store_true", help="also what trees reach that defer nothing")
    parser.add_argument("--processes", type=int, default=1, help="(default %(default)s)")
    chosen = parser.parse_args()
    if unknown := sorted(set(chosen.names) - set(CANDIDATES)):
        parser.error(f"NAME must be one of {', '.join(CANDIDATES)}; got {', '.join(unknown)}")
    names, labels = chosen.names or MODELS, chosen.labels
    if chosen.few:
        names, labels = ["wine logistic"], 1_500
    rows = list(lines(names, labels, chosen.plain, chosen.processes))
    print("\n" + section(rows, labels, chosen.plain).text())


if __name__ == "__main__":
    main()
