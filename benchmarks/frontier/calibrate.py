"""How errors fall from the first labels to the last, on models that no table reports.

`python -m benchmarks.frontier.calibrate` prints `GAINS` of `runs/forecast`: by leaves, the mean of
ln(error in the end / cross-validated error at 400 labels), both with ``EASE`` added, and its deviation beyond chance.
Of the models some are small trees, which trees learn soon, and some have many classes, which no small tree learns.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

import fidelitree as ft
from benchmarks.frontier.cases import estimator
from benchmarks.frontier.trial import SIZES
from fidelitree.runs.forecast import EASE, cross_validated
from fidelitree.runs.input_source import source_of
from fidelitree.search.labelled import Binning
from fidelitree.search.local.iterated import Refiner

FIRST, LAST, FRESH = 400, 8_000, 20_000
STEPS = 10  # of the search in the end: as for the brief ones on the way
KINDS = ("forest", "boosting", "logistic", "network")
LEAST = 0.05  # deviation that is left to the unknown
USUAL, MODELS = 20, 36  # those that are neither, and all


def made(number: int) -> tuple[ft.ProductSpace, NDArray[np.float64], NDArray[np.intp]]:
    """Inputs of a synthetic table's marginals, and the answers of a model that was fitted to it."""
    import pandas as pd
    from sklearn.datasets import make_classification

    rng = np.random.default_rng(number)
    features, classes = int(rng.integers(4, 30)), int(rng.choice([2, 2, 3, 5]))
    informative = int(rng.integers(3, min(features, 8) + 1))
    kind = KINDS[number % len(KINDS)]
    if number >= USUAL and number % 2:
        kind = "tree"
    elif number >= USUAL:
        features, informative, classes = int(rng.integers(20, 60)), 16, int(rng.integers(6, 11))
    inputs, labels = make_classification(
        800,
        features,
        n_informative=informative,
        n_redundant=0,
        n_classes=classes,
        n_clusters_per_class=1,
        flip_y=0.02,
        class_sep=float(rng.uniform(0.6, 2)),
        random_state=number,
    )
    model = estimator(kind).fit(inputs, labels)
    space = ft.Rows(pd.DataFrame(inputs, columns=[f"x{i}" for i in range(features)])).product
    inner = source_of(space, number).label(LAST + FRESH)
    return space, inner, np.asarray(model.predict(inner), np.intp)


def changes(number: int) -> list[tuple[float, float]]:
    """For each size the cross-validated error of the first labels, and the true error in the end."""
    space, inner, codes = made(number)
    first = cross_validated(space, inner[:FIRST], codes[:FIRST], SIZES)
    binning = Binning.of(space, inner)
    search = Refiner(binning.coded(codes[:LAST], slice(LAST)), 0)
    for size in SIZES[1:]:
        search.improve_at(size, STEPS)
    trees = [search.with_leaves(size).tree for size in SIZES]
    judge = binning.coded(codes[LAST:], slice(LAST, None))
    return [(errors / FIRST, judge.errors(tree) / FRESH) for errors, tree in zip(first, trees, strict=True)]


def main() -> None:
    """Print the table."""
    found = []
    for number in range(MODELS):
        found.append(changes(number))
        print(number, *(f"{before:.4f}>{after:.4f}" for before, after in found[-1]), file=sys.stderr, flush=True)
    before, after = np.array(found).transpose(2, 1, 0)
    logs, chance = np.log((after + EASE) / (before + EASE)), before * (1 - before) / FIRST / (before + EASE) ** 2
    for size, line, noise in zip(SIZES, logs, chance, strict=True):
        beyond = max(LEAST**2, float(line.var(ddof=1) - noise.mean())) ** 0.5
        print(f"    {size}: ({line.mean():.2f}, {beyond:.2f}),")


if __name__ == "__main__":
    main()
