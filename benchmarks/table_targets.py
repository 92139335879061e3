"""Targets over numbers and categories, every one made anew from a seed: rules, trees, and models that were fitted.

They use nothing of fidelitree but the public names that release 0.1.0 has, too, so that both can be given the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fidelitree as ft

Array = NDArray[Any]
Batch = dict[str, Array]
Target = Callable[[Batch], Array]
Made = tuple[Target, ft.ProductSpace]
Draw = Callable[[int], Array]
LEAST = 0.2  # share of the rarer label: below, a constant is nearly good enough
SAMPLE, TRAINING = 4_096, 1_500
MIDDLE = (0.15, 0.85)  # quantiles between which a threshold lies
NOISE = 0.05  # of the labels that a model is fitted to
CATEGORIES = "abcdefg"


def _numbers(random: np.random.Generator, n: int) -> list[tuple[Any, Draw]]:
    """Numbers between 0 and 1, each with a way to draw it."""
    return [(ft.Numeric(f"x{i}", 0, 1), random.random) for i in range(n)]


def _mixed(random: np.random.Generator, n: int) -> list[tuple[Any, Draw]]:
    """By turns a number of an interval, one of a skewed table, a category and a bit."""
    kinds = (_interval, _skewed, _category, _bit)
    return [kinds[i % len(kinds)](random, f"x{i}") for i in range(n)]


def _interval(random: np.random.Generator, name: str) -> tuple[Any, Draw]:
    return ft.Numeric(name, 0, 100), lambda rows: random.uniform(0, 100, rows)


def _skewed(random: np.random.Generator, name: str) -> tuple[Any, Draw]:
    values = random.lognormal(3, 1, 400)
    return ft.Numeric.from_values(name, values), lambda rows: random.choice(values, rows)


def _category(random: np.random.Generator, name: str) -> tuple[Any, Draw]:
    names = list(CATEGORIES[: random.integers(3, len(CATEGORIES) + 1)])
    shares = random.dirichlet(np.full(len(names), 4.0))
    feature = ft.Categorical(name, dict(zip(names, map(float, shares), strict=True)))
    return feature, lambda rows: random.choice(names, rows, p=shares)


def _bit(random: np.random.Generator, name: str) -> tuple[Any, Draw]:
    p = float(random.uniform(0.3, 0.7))
    return ft.Boolean(name, p), lambda rows: (random.random(rows) < p).astype(np.uint8)


def _condition(random: np.random.Generator, name: str, column: Array) -> Target:
    """A number above a quantile, one of some categories, or a bit; or not."""
    turned = bool(random.integers(2))
    if column.dtype.kind == "U":
        names = np.unique(column)
        some = random.choice(names, random.integers(1, len(names)), replace=False)
        return lambda batch: np.isin(batch[name], some) != turned
    cut = np.quantile(column, random.uniform(*MIDDLE)) if len(np.unique(column)) > 2 else 0.5
    return lambda batch: (batch[name] > cut) != turned


def rules(random: np.random.Generator, n: int, size: int) -> Made:
    """So many rules of one to three conditions over numbers, categories and bits, the first that applies decides."""

    def make(sample: Batch) -> Target:
        names, listed = list(sample), []
        for k in range(size):
            chosen = random.choice(n, min(n, random.integers(1, 4)), replace=False)
            listed.append((k % 2, [_condition(random, names[i], sample[names[i]]) for i in chosen]))

        def target(batch: Batch) -> Array:
            rows = len(batch[names[0]])
            labels = np.full(rows, size % 2)
            for label, conditions in reversed(listed):
                labels[np.logical_and.reduce([condition(batch) for condition in conditions])] = label
            return labels

        return target

    return _frequent(random, _mixed(random, n), make)


def trees(random: np.random.Generator, n: int, depth: int) -> Made:
    """A complete tree of thresholds over numbers, sibling leaves of opposite labels."""

    def make(sample: Batch) -> Target:
        features, cuts = random.integers(n, size=2**depth - 1), random.uniform(*MIDDLE, size=2**depth - 1)
        first = random.integers(0, 2, 2 ** (depth - 1))
        labels = np.stack([first, 1 - first], axis=1).ravel()

        def target(batch: Batch) -> Array:
            values = np.column_stack(list(batch.values()))
            node = np.zeros(len(values), np.intp)
            for _ in range(depth):
                node = 2 * node + 1 + (values[np.arange(len(values)), features[node]] > cuts[node])
            return np.asarray(labels[node - len(features)])

        return target

    return _frequent(random, _numbers(random, n), make)


def logistic(random: np.random.Generator, n: int, size: int) -> Made:
    """The sign of a weighted sum of so many of the numbers."""

    def make(sample: Batch) -> Target:
        weights = np.zeros(n)
        weights[random.choice(n, size, replace=False)] = random.normal(0, 1, size)
        middle = weights.sum() / 2 + random.normal(0, 0.1)
        return lambda batch: (np.column_stack(list(batch.values())) @ weights > middle).astype(int)

    return _frequent(random, _numbers(random, n), make)


def boosted(random: np.random.Generator, n: int, size: int) -> Made:
    """Gradient boosting of so many rounds, fitted to noisy labels of a smooth function."""
    from sklearn.ensemble import GradientBoostingClassifier

    return _fitted(random, n, GradientBoostingClassifier(n_estimators=size, max_depth=3, random_state=0))


def forests(random: np.random.Generator, n: int, size: int) -> Made:
    """A random forest of so many trees, fitted in the same way."""
    from sklearn.ensemble import RandomForestClassifier

    return _fitted(random, n, RandomForestClassifier(n_estimators=size, max_depth=6, random_state=0))


def _fitted(random: np.random.Generator, n: int, model: Any) -> Made:
    """A model of what two numbers say together, and two more on their own."""

    def make(sample: Batch) -> Target:
        values = np.column_stack(list(sample.values()))[:TRAINING]
        first, second, third, fourth = (values[:, i] for i in random.permutation(n)[np.arange(4) % n])
        score = np.sin(4 * first) * (second - 0.5) + 0.7 * (third - 0.5) + 0.4 * (fourth > random.uniform(*MIDDLE))
        labels = (score > np.quantile(score, random.uniform(0.35, 0.65))) ^ (random.random(len(values)) < NOISE)
        model.fit(values, labels.astype(int))
        return lambda batch: np.asarray(model.predict(np.column_stack(list(batch.values()))))

    return _frequent(random, _numbers(random, n), make)


def _frequent(random: np.random.Generator, columns: list[tuple[Any, Draw]], make: Callable[[Batch], Target]) -> Made:
    """Made again until both labels are frequent."""
    while True:
        sample = {feature.name: draw(SAMPLE) for feature, draw in columns}
        target = make(sample)
        if LEAST <= target(sample).mean() <= 1 - LEAST:
            return target, ft.ProductSpace([feature for feature, _ in columns])


FAMILIES: dict[str, Callable[[np.random.Generator, int, int], Made]] = {
    "rules": rules,
    "numeric trees": trees,
    "logistic regressions": logistic,
    "boosted models": boosted,
    "forests": forests,
}
"""Of each, a generator, how many features and the size that the family is about."""
