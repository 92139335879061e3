"""Do trees that are certified over a fitted world agree with the model on real rows? python -m benchmarks.transfer.

A model is fitted to half of the rows of a table, a world to a quarter, and a quarter is kept. For each world: how many
leaves the smallest tree has that is certified at an error, and the errors of trees with few leaves: over the world, as
estimated by the tests, and on the kept rows. Real tables are read from FIDELITREE_DATA.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from dataclasses import dataclass
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

if TYPE_CHECKING:
    from collections.abc import Callable

WORLDS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "marginals": ft.ProductSpace.from_data,
    "Chow-Liu": ft.ChowLiu.from_data,
    "mixture": ft.Mixture.from_data,
    **{f"blend {rho:g}": lambda table, rho=rho: ft.Rows(table, blend=rho) for rho in (0.05, 0.1, 0.2, 0.3)},
    "rows": ft.Rows,
}
EPSILONS, SIZES = (0.1, 0.05), (8, 16)
LABELS, MOST = 6_000, 64
SLACK = 0.02
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
    """One world of one case: leaves by epsilon (None: not reached), world's and real error by size."""

    world: str
    leaves: dict[float, int | None]
    certified: dict[float, float]
    """The error on kept rows of the tree that is certified at each epsilon."""
    inside: dict[int, float]
    real: dict[int, float]
    gain: float | None
    """Held-out log-likelihood per row beyond that of independent features."""


def measured(world: str, model: Any, table: pd.DataFrame, kept: pd.DataFrame, labels: int = LABELS) -> Found:
    space = WORLDS[world](table)
    front = ft.frontier(model, space, max_queries=labels, max_leaves=MOST)
    truth = model.predict(kept)
    errors = {point.leaves: float((point.tree.predict(kept) != truth).mean()) for point in front}
    reached = {epsilon: next((p for p in front if p.error_bound <= epsilon), None) for epsilon in EPSILONS}
    at = {size: front.at(leaves=size) for size in SIZES}
    return Found(
        world,
        {epsilon: None if point is None else point.leaves for epsilon, point in reached.items()},
        {epsilon: errors[point.leaves] for epsilon, point in reached.items() if point is not None},
        {size: _estimate(point) for size, point in at.items()},
        {size: errors[point.leaves] for size, point in at.items()},
        None if space.fit is None else space.fit.world - space.fit.product,
    )


def _estimate(point: ft.Distillation) -> float:
    """The share of test inputs that a tree got wrong."""
    counts = point.certificate
    return (counts.errors or 0) / max(1, counts.samples)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=6, help="how many tables (default %(default)s)")
    parser.add_argument("--worlds", nargs="*", default=list(WORLDS), help="which worlds (default: all)")
    parser.add_argument("--labels", type=int, default=LABELS, help="of each run (default %(default)s)")
    chosen = parser.parse_args()
    found: dict[str, list[Found]] = {world: [] for world in chosen.worlds}
    for name, (table, label) in list(tables().items())[: chosen.tables]:
        order = np.random.default_rng(1).permutation(len(table))
        half, rest = np.split(order, [len(order) // 2])
        made, kept = np.array_split(rest, 2)
        for kind, model in MODELS.items():
            fitted = model().fit(table.iloc[half], np.asarray(label)[half])
            for world in chosen.worlds:
                begun = time.perf_counter()
                one = measured(world, fitted, table.iloc[made], table.iloc[kept], chosen.labels)
                found[world].append(one)
                print(f"{name}, {kind}: {_line(one)}, {time.perf_counter() - begun:.0f} s", flush=True)
    print(_summary(found))


def _line(one: Found) -> str:
    leaves = ", ".join(f"{one.leaves[epsilon] or '-'} leaves at {epsilon:g}" for epsilon in EPSILONS)
    errors = ", ".join(f"{size}: world {one.inside[size]:.3f} real {one.real[size]:.3f}" for size in SIZES)
    gain = "" if one.gain is None else f", gain {one.gain:.2f}"
    return f"{one.world}: {leaves}; {errors}{gain}"


def _summary(found: dict[str, list[Found]]) -> str:
    """One line a world: leaves against rows, errors on kept rows, and how often the world was honest."""
    lines = ["", "world | leaves at .1 against rows | kept / certified at .1 | real at 8 / 16 | real <= world + .02"]
    for world, cases in found.items():
        ratios = [
            math.log(one.leaves[0.1] / rows.leaves[0.1])
            for one, rows in zip(cases, found.get("rows", cases), strict=True)
            if one.leaves[0.1] and rows.leaves[0.1]
        ]
        kept = [one.certified[0.1] / 0.1 for one in cases if 0.1 in one.certified]
        real = " / ".join(f"{np.mean([one.real[size] for one in cases]):.3f}" for size in SIZES)
        honest = sum(one.real[16] <= one.inside[16] + SLACK for one in cases)
        leaves = f"{math.exp(np.mean(ratios)):.2f} ({len(ratios)} cases)" if ratios else "-"
        said = f"{np.mean(kept):.2f}, at most {max(kept):.2f}" if kept else "-"
        lines.append(f"{world} | {leaves} | {said} | {real} | {honest} of {len(cases)}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
