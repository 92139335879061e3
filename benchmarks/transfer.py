"""Do trees that are certified over a fitted world agree with the model on real rows? python -m benchmarks.transfer.

A model is fitted to half of the rows of a table, a world to a quarter, and a quarter is kept. For each world: how many
leaves the smallest tree has that is certified at an error, and the errors of trees with few leaves: over the world, as
estimated by the tests, and on the kept rows. Small tables are split several times, and errors averaged: an error on 45
rows is known to some .03 only, and the question is one of .02. Real tables are read from FIDELITREE_DATA.

The bars are judged at the end, line by line. With --keep FILE each measurement is written down at once, and none is
made twice, so that it can be done in pieces.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import fidelitree as ft
from benchmarks.machine import describe
from benchmarks.report import Bar, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PAGE = Path(__file__).resolve().with_suffix(".md")
OPENING = """\
# Do certificates over fitted worlds transfer?

Written by `python -m benchmarks.transfer --write`: {runs} frontiers of at most {labels:,} labels and {most} leaves.
Six tables, a forest and gradient boosting for each. The model is fitted to half of the rows, the world to a quarter,
and a quarter is kept. Tables of a few hundred rows are split several times, because an error on 45 rows is known to
some .03 only{once}. Measured on {machine}.

*Honest* is a world where the error on kept rows is at most .02 above the error over the world, both with 16 leaves.
*Leaves* are those of the smallest tree that is certified at .1 or .05, against those over the rows themselves where
both are certified (in brackets: in how many cases). A quarter of a small table is too few rows to certify anything on,
so *measured* compares the smallest trees whose measured error is at most .1. *Kept error / .1* is the error on kept
rows of the tree that is certified at .1, on average and at most.
"""
CASES = """\
In each case, *world* and *kept* are errors with 8 and 16 leaves, *s.e.* is the standard error of the last one, and
*gain* the held-out log-likelihood per row beyond that of independent columns, the least of all splits. A line without
leaves is one where the error was not certified with so few labels, or rows.
"""

WORLDS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "marginals": ft.ProductSpace.from_data,
    "Chow-Liu": ft.ChowLiu.from_data,
    "mixture": ft.Mixture.from_data,
    **{f"blend {rho:g}": lambda table, rho=rho: ft.Rows(table, blend=rho) for rho in (0.05, 0.1, 0.2, 0.3)},
    "rows": ft.Rows,
}
EPSILONS, SIZES = (0.1, 0.05), (8, 16)
HONEST, FITTED, BEYOND, LARGER = {"Chow-Liu": 11, "mixture": 10}, ("Chow-Liu", "mixture"), 1.2, 2.5  # bars
LABELS, MOST = 2_500, 32
SLACK = 0.02
KEPT, SPLITS = 600, 8  # so many kept rows in all are looked for, in so many splits at most
DATA = Path(os.environ.get("FIDELITREE_DATA", "../shared/data"))


def tables() -> dict[str, tuple[pd.DataFrame, Any]]:
    """Six tables of measurements, customers and people, each with its label."""
    cancer, wine, patients = (
        load(as_frame=True, return_X_y=True)
        for load in (datasets.load_breast_cancer, datasets.load_wine, datasets.load_diabetes)
    )
    bank = pd.read_csv(DATA / "tables" / "bank_marketing_11162.csv").sample(4_000, random_state=0)
    found = {
        "breast cancer": cancer,
        "wine": wine,
        "diabetes, above the median": (patients[0], patients[1] > patients[1].median()),
        "bank": (bank.drop(columns="deposit"), bank["deposit"]),
    }
    for name in ("COMPAS-ProPublica", "HTRU2"):
        table = pd.read_csv(DATA / "forests" / f"{name}.full.csv")
        table = table.sample(min(len(table), 4_000), random_state=0)
        found[name] = table.iloc[:, :-1], table.iloc[:, -1]
    return found


def _numbered(model: Any) -> Any:
    """A model of any table: categories become numbers."""
    text = make_column_selector(dtype_exclude="number")
    coded = (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), text)
    return make_pipeline(make_column_transformer(coded, remainder="passthrough"), model)


MODELS: dict[str, Callable[[], Any]] = {
    "forest": lambda: _numbered(RandomForestClassifier(60, random_state=0)),
    "boosting": lambda: _numbered(HistGradientBoostingClassifier(max_iter=60, random_state=0)),
}


@dataclass(frozen=True)
class Found:
    """One world of one case, by one split: leaves by epsilon (None: not reached), world's and real error by size."""

    case: str
    world: str
    split: int
    leaves: list[int | None]
    certified: list[float | None]
    """The error on kept rows of the tree that is certified at each epsilon."""
    bounds: list[float | None]
    """And the error that is certified for that very tree."""
    measured: int | None
    """Leaves of the smallest tree whose measured error over the world is at most the first epsilon."""
    inside: list[float]
    real: list[float]
    kept: int
    gain: float | None
    """Held-out log-likelihood per row beyond that of independent features."""
    seconds: float


@dataclass(frozen=True)
class Case:
    """A table with its label, and a model of it."""

    name: str
    table: pd.DataFrame
    label: Any
    model: Callable[[], Any]

    @property
    def splits(self) -> int:
        """As many as it takes to have seen enough kept rows."""
        return min(SPLITS, max(1, math.ceil(KEPT / (len(self.table) // 4))))

    def measured(self, world: str, split: int, labels: int) -> Found:
        begun = time.perf_counter()
        half, made, kept = self._parts(split)
        model = self.model().fit(self.table.iloc[half], np.asarray(self.label)[half])
        space = WORLDS[world](self.table.iloc[made])
        front = ft.frontier(model, space, max_queries=labels, max_leaves=MOST, seed=split)
        rows = self.table.iloc[kept]
        truth = model.predict(rows)
        errors = {point.leaves: float((point.tree.predict(rows) != truth).mean()) for point in front}
        reached = [next((p for p in front if p.error_bound <= epsilon), None) for epsilon in EPSILONS]
        at = [front.at(leaves=size) for size in SIZES]
        return Found(
            self.name,
            world,
            split,
            [None if point is None else point.leaves for point in reached],
            [None if point is None else errors[point.leaves] for point in reached],
            [None if point is None else point.error_bound for point in reached],
            next((point.leaves for point in front if _estimate(point) <= EPSILONS[0]), None),
            [_estimate(point) for point in at],
            [errors[point.leaves] for point in at],
            len(kept),
            None if space.fit is None else space.fit.world - space.fit.product,
            time.perf_counter() - begun,
        )

    def _parts(self, split: int) -> list[Any]:
        order = np.random.default_rng([1, split]).permutation(len(self.table))
        half, rest = np.split(order, [len(order) // 2])
        return [half, *np.array_split(rest, 2)]


def _estimate(point: ft.Distillation) -> float:
    """The share of test inputs that a tree got wrong."""
    counts = point.certificate
    return (counts.errors or 0) / max(1, counts.samples)


def cases(names: list[str] | None) -> list[Case]:
    """Six tables and two models of each; those whose names contain one of these."""
    every = [
        Case(f"{name}, {kind}", table, label, model)
        for name, (table, label) in tables().items()
        for kind, model in MODELS.items()
    ]
    return [one for one in every if not names or any(name in one.name for name in names)]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.transfer", description=__doc__)
    parser.add_argument("--cases", nargs="*", help="parts of names, such as wine or forest (default: all)")
    parser.add_argument("--worlds", nargs="*", default=list(WORLDS), help="which worlds (default: all)")
    parser.add_argument("--labels", type=int, default=LABELS, help="of each run (default %(default)s)")
    parser.add_argument("--splits", type=int, default=SPLITS, help="of a table, at most (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=math.inf, help="after which none is begun (default: no end)")
    parser.add_argument("--keep", type=Path, help="a file of measurements, read first and added to")
    parser.add_argument("--write", action="store_true", help="write transfer.md beside this program as well")
    return parser.parse_args()


def main() -> None:
    chosen, begun = arguments(), time.monotonic()
    known = chosen.keep is not None and chosen.keep.exists()
    found = [Found(**json.loads(line)) for line in chosen.keep.read_text().splitlines()] if known else []
    done = {(one.case, one.world, one.split) for one in found}
    for case in cases(chosen.cases):
        for split in range(min(case.splits, chosen.splits)):
            for world in chosen.worlds:
                if (case.name, world, split) in done or time.monotonic() - begun > chosen.seconds:
                    continue
                found.append(case.measured(world, split, chosen.labels))
                print(_line(found[-1]), flush=True)
                if chosen.keep is not None:
                    with chosen.keep.open("a") as file:
                        file.write(json.dumps(asdict(found[-1])) + "\n")
    judged = bars(means(found))
    print(f"\n{details(found).text()}\n\n{summary(found).text()}\n", *judged, sep="\n")
    if chosen.write:
        once = "; blends were run on one split of each table" if _blends_once(found) else ""
        opening = OPENING.format(
            runs=len(found), labels=chosen.labels, most=MOST, once=once, machine=describe()
        ).rstrip()
        listed = "\n".join(f"- {bar}" for bar in judged)
        parts = [opening, summary(found).markdown(), listed, CASES.rstrip(), details(found).markdown()]
        PAGE.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _blends_once(found: list[Found]) -> bool:
    return max((one.split for one in found if one.world.startswith("blend")), default=0) == 0


def _line(one: Found) -> str:
    leaves = ", ".join(f"{n or '-'} leaves at {epsilon:g}" for n, epsilon in zip(one.leaves, EPSILONS, strict=True))
    both = zip(SIZES, one.inside, one.real, strict=True)
    errors = ", ".join(f"{size}: world {inside:.3f} real {real:.3f}" for size, inside, real in both)
    gain = "" if one.gain is None else f", gain {one.gain:.2f}"
    return f"{one.case}, {one.split}, {one.world}: {leaves}; {errors}{gain}; {one.seconds:.0f} s"


@dataclass(frozen=True)
class Mean:
    """All splits of one case in one world."""

    case: str
    world: str
    leaves: list[float]
    """The median, infinite where most splits do not reach the error."""
    certified: list[float]
    beyond: float
    """The kept error of the tree that is certified at the first epsilon, against the error certified for it."""
    measured: float
    inside: list[float]
    real: list[float]
    spread: float
    """The standard error of the last real error: its binomial one, or that between splits where it is larger."""
    gain: float | None

    @property
    def honest(self) -> bool:
        return self.real[-1] <= self.inside[-1] + SLACK


def means(found: list[Found]) -> list[Mean]:
    groups: dict[tuple[str, str], list[Found]] = {}
    for one in found:
        groups.setdefault((one.case, one.world), []).append(one)
    return [_mean(*key, group) for key, group in groups.items()]


def _mean(case: str, world: str, group: list[Found]) -> Mean:
    sizes = [[math.inf if n is None else n for n in one.leaves] for one in group]
    certified = [[math.nan if error is None else error for error in one.certified] for one in group]
    bounds = [math.nan if one.bounds[0] is None else max(one.bounds[0], 1e-9) for one in group]
    inside, real = np.mean([one.inside for one in group], axis=0), np.mean([one.real for one in group], axis=0)
    alone = math.sqrt(real[-1] * (1 - real[-1]) / sum(one.kept for one in group))
    between = np.std([one.real[-1] - one.inside[-1] for one in group], ddof=1) if len(group) > 1 else 0.0
    gains = [one.gain for one in group if one.gain is not None]
    return Mean(
        case,
        world,
        np.median(sizes, axis=0).tolist(),
        [_known_mean(column) for column in zip(*certified, strict=True)],
        _known_mean([one[0] / bound for one, bound in zip(certified, bounds, strict=True)]),
        float(np.median([math.inf if one.measured is None else one.measured for one in group])),
        inside.tolist(),
        real.tolist(),
        max(alone, float(between) / math.sqrt(len(group))),
        min(gains) if gains else None,
    )


def _known_mean(numbers: Iterable[float]) -> float:
    known = [number for number in numbers if not math.isnan(number)]
    return float(np.mean(known)) if known else math.nan


def details(found: list[Found]) -> Table:
    """One row a case and world."""
    headings = ["case", "world", "leaves .1", "leaves .05", "world 8", "kept 8", "world 16", "kept 16", "s.e.", "gain"]
    rows = [
        [
            one.case,
            one.world,
            *(f"{n:g}" if n < math.inf else "-" for n in one.leaves),
            *(f"{error:.3f}" for pair in zip(one.inside, one.real, strict=True) for error in pair),
            f"{one.spread:.3f}",
            "-" if one.gain is None else f"{one.gain:.2f}",
        ]
        for one in means(found)
    ]
    return Table(headings, rows, names=2)


def summary(found: list[Found]) -> Table:
    """One line a world: leaves against rows, errors on kept rows, and how often the world was honest."""
    every, lines = means(found), []
    for world in dict.fromkeys(one.world for one in every):
        own = [one for one in every if one.world == world]
        against = [f"{mean:.2f} ({count})" if count else "-" for mean, count in _ratios(every, world)]
        kept = [error / 0.1 for error in (one.certified[0] for one in own) if not math.isnan(error)]
        real = [f"{np.mean([one.real[k] for one in own]):.3f}" for k in range(2)]
        said = f"{np.mean(kept):.2f} ({max(kept):.2f})" if kept else "-"
        lines.append([world, *against, said, *real, f"{sum(one.honest for one in own)} of {len(own)}"])
    ratios = ["leaves / rows' at .1", "at .05", "measured .1"]
    return Table(["world", *ratios, "kept error / .1 (most)", "kept 8", "kept 16", "honest"], lines)


def _ratios(every: list[Mean], world: str) -> list[tuple[float, int]]:
    """Geometric means of leaves against those over rows, and in how many cases both reach the error."""
    rows_of = {one.case: one for one in every if one.world == "rows"}
    pairs = [(one, rows_of[one.case]) for one in every if one.world == world and one.case in rows_of]
    found = []
    for leaves in (lambda one: one.leaves[0], lambda one: one.leaves[1], lambda one: one.measured):
        both = [(leaves(one), leaves(rows)) for one, rows in pairs]
        logs = [math.log(one / rows) for one, rows in both if max(one, rows) < math.inf]
        found.append((math.exp(np.mean(logs)) if logs else math.nan, len(logs)))
    return found


def bars(every: list[Mean]) -> list[Bar]:
    """What was asked for, line by line; nothing is judged before all cases are there."""
    full = len(MODELS) * len(tables())
    found = []
    for world in FITTED:
        own = [one for one in every if one.world == world]
        whole = len(own) == full
        honest, gain = sum(one.honest for one in own), min((one.gain or 0.0 for one in own), default=math.nan)
        least = f"{world}: error on kept rows at most the world's + {SLACK} in {HONEST[world]} of {full} cases"
        found.append(Bar(least, f"{honest} of {len(own)}", honest >= HONEST[world] if whole else None))
        (ratio, count), _, (other, more) = _ratios(every, world)
        measured = f"{ratio:.2f} in {count} cases where both are certified; measured {other:.2f} in {more}"
        met = ratio <= LARGER and other <= LARGER if whole and more else None
        found.append(Bar(f"{world}: at most {LARGER} times the leaves of rows at .1", measured, met))
        better = "above the product's on every table"
        found.append(
            Bar(f"{world}: held-out likelihood {better}", f"least gain {gain:.2f}", gain > 0 if whole else None)
        )
    blends = [one for one in every if one.world.startswith("blend") and not math.isnan(one.certified[0])]
    worst = max((one.certified[0] / EPSILONS[0] for one in blends), default=math.nan)
    own_bound = max((one.beyond for one in blends), default=math.nan)
    promise = f"blends: error on kept rows at most {BEYOND} times the certified one wherever .1 is reached"
    measured = f"at most {worst:.2f} of .1, {own_bound:.2f} of each tree's own bound, {len(blends)} cases"
    return [*found, Bar(promise, measured, worst <= BEYOND if blends else None)]


if __name__ == "__main__":
    main()
