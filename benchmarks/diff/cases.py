"""The subjects: a forest with a patch, random patches of a rule over mixed features, two forests trained apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import fidelitree as ft

_MANY = 400_000  # inputs by which the true shares are known


@dataclass(frozen=True)
class Case:
    """Two targets over one space; ``truth`` says how often they differ, about."""

    name: str
    old: Any
    new: Any
    space: Any

    def truth(self) -> float:
        batch = self.space.draw(_MANY // 4 if self.name == "forests" else _MANY, seed=999)
        return float(np.mean(np.asarray(self.old(batch)) != np.asarray(self.new(batch))))


def forests() -> tuple[Any, Any, Any, Any]:
    """A forest of 50 on eight columns of breast cancer, two more on halves of the rows, and the marginals."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier

    found = load_breast_cancer(as_frame=True)
    rows, labels = found.data.iloc[:, :8], found.target
    made = [RandomForestClassifier(50, random_state=0).fit(rows, labels)]
    made += [RandomForestClassifier(50, random_state=1 + k).fit(rows.iloc[k::2], labels.iloc[k::2]) for k in (0, 1)]
    return *(one.predict for one in made), ft.ProductSpace.from_data(rows)


def patched(model: Any, space: Any) -> Case:
    """Texture above 24 and radius below 12 answered 0: 2.1 % of inputs change."""

    def new(batch: Any) -> Any:
        answers = np.array(model(batch))
        answers[(batch["mean texture"] > 24) & (batch["mean radius"] < 12)] = 0
        return answers

    return Case("patch", model, new, space)


SPACE = ft.ProductSpace(
    [
        *(ft.Boolean(f"flag{k}", p) for k, p in enumerate((0.5, 0.3, 0.2, 0.5))),
        ft.Categorical("job", {"clerk": 0.4, "nurse": 0.3, "pilot": 0.2, "judge": 0.1}),
        ft.Categorical("region", dict.fromkeys("abcdefgh", 0.125)),
        *(ft.Numeric(f"score{k}", 0, 1) for k in range(3)),
        ft.Numeric.from_values("age", np.random.default_rng(5).normal(45, 15, 500).round(1)),
        ft.Numeric.from_values("children", [0, 0, 0, 1, 1, 2, 2, 3, 4]),
    ]
)


def rule(batch: Any) -> Any:
    """A model that no small tree equals."""
    total = batch["flag0"] * 0.4 + batch["score0"] + batch["score1"] * batch["flag1"] - (batch["job"] == "nurse") * 0.3
    return (total + 0.01 * batch["age"] * batch["score2"] > 0.9).astype(int)


def random_patch(seed: int) -> Case:
    """One to three conditions that change .2 to 10 % of inputs."""
    rng = np.random.default_rng(seed)
    batch = SPACE.draw(100_000, seed=seed)
    while True:
        chosen = rng.choice(len(SPACE), size=rng.integers(1, 4), replace=False)
        conditions = [_condition(int(i), rng) for i in chosen]
        answer = int(rng.integers(2))

        def new(batch: Any, conditions: Any = conditions, answer: int = answer) -> Any:
            inside = np.logical_and.reduce([one(batch) for one in conditions])
            return np.where(inside, answer, rule(batch))

        if 0.002 <= np.mean(new(batch) != rule(batch)) <= 0.1:
            return Case(f"random {seed}", rule, new, SPACE)


def _condition(i: int, rng: np.random.Generator) -> Any:
    feature = SPACE.features[i]
    if feature.kind == "boolean":
        value = int(rng.integers(2))
        return lambda batch: batch[feature.name] == value
    if feature.kind == "categorical":
        some = list(rng.choice(list(feature.values), size=rng.integers(1, 3), replace=False))
        return lambda batch: np.isin(batch[feature.name], some)
    cut, above = float(np.quantile(SPACE.draw(5_000, seed=3)[feature.name], rng.uniform(0.1, 0.9))), rng.random() < 0.5
    return lambda batch: (batch[feature.name] > cut) == above
