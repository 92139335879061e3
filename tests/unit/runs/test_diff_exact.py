"""Differences that are known exactly, against a count over all inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import fidelitree as ft
from fidelitree.errors import MissingExtraError
from fidelitree.runs.agree import diff_exact
from fidelitree.targets.circuits import expression

NAMES = [f"x{i}" for i in range(18)]
SPACE = ft.ProductSpace.bernoulli(18, np.linspace(0.2, 0.8, 18).tolist(), names=NAMES)
PLAIN = "(x0 & x1) | (x2 & ~x3) | (x4 & x5 & x6)"
PATCH = f"({PLAIN}) & ~(x10 & x11) | x12 & x13 & x14 & x15"


def counted(space: Any, old: Any, new: Any, found: ft.Difference) -> tuple[float, float, float]:
    """Share, precision and recall over every input, each weighed by its probability."""
    inner = space.whole.inputs(0, space.points)
    batch = space.batch(inner)
    before, after = np.asarray(old(batch)), np.asarray(new(batch))
    weights, changed = space.chances(inner), before != after
    flagged = found.flags(batch, before.tolist())
    both = weights[flagged & changed].sum()
    return weights[changed].sum(), both / weights[flagged].sum(), both / weights[changed].sum()


@pytest.mark.parametrize("most", [64, 5])
def test_two_circuits(most: int) -> None:
    old, new = expression(PLAIN, NAMES), expression(PATCH, NAMES)
    found = ft.diff(old, new, SPACE, max_leaves=most)
    assert found.exact
    assert found.leaves <= most
    assert (int(found.queries.asked), found.reason) == (0, "both are circuits")
    truth = counted(SPACE, old, new, found)
    assert (found.changed[1], found.precision, found.recall) == pytest.approx(truth)
    assert found.changed[0] == found.changed[1]
    assert [one.leaves for one in found.curve] == sorted({one.leaves for one in found.curve})
    assert found.explained == (most == 64)
    assert ("changed where it does not say so" in str(found)) == (found.recall < 1)


def test_a_change_that_no_draw_would_show() -> None:
    rare = f"({PLAIN}) ^ ({' & '.join(NAMES)})"
    found = ft.diff(expression(PLAIN, NAMES), expression(rare, NAMES), SPACE)
    assert found.changed[0] == pytest.approx(np.prod(np.linspace(0.2, 0.8, 18)))
    assert (found.leaves, found.precision, found.recall) == (19, 1.0, 1.0)


def test_equal_circuits() -> None:
    found = ft.diff(expression(PLAIN, NAMES), expression(f"~~({PLAIN})", NAMES), SPACE)
    assert (found.changed, found.holds, found.leaves) == ((0.0, 0.0), True, 1)


def test_without_diagrams_inputs_are_drawn_or_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: Any) -> Any:
        raise MissingExtraError("not here")

    monkeypatch.setattr(diff_exact, "build_diagram", missing)
    old, new = expression(PLAIN, NAMES), expression(PATCH, NAMES)
    found = ft.diff(old, new, SPACE)
    assert (found.exact, found.reason) == (True, "every input was asked")
    assert (found.changed[1], found.precision, found.recall) == pytest.approx(counted(SPACE, old, new, found))
    wide = [f"x{i}" for i in range(30)]
    drawn = ft.diff(expression(PLAIN, wide), expression(PATCH, wide), ft.ProductSpace.bernoulli(30, names=wide))
    assert not drawn.exact


FEW = ft.ProductSpace(
    [
        ft.Boolean("owner", 0.3),
        ft.Categorical("job", {"clerk": 0.5, "nurse": 0.3, "pilot": 0.2}),
        ft.Numeric.from_values("children", [0, 0, 0, 1, 1, 2, 3]),
        ft.Numeric.from_values("rooms", [1, 2, 2, 3, 3, 4, 5, 6]),
    ]
)


def old_rule(batch: Any) -> Any:
    return np.where((batch["rooms"] > 3) | (batch["owner"] == 1), "yes", "no")


def new_rule(batch: Any) -> Any:
    return np.where((batch["job"] != "clerk") & (batch["children"] <= 1), "maybe", old_rule(batch))


def test_few_inputs_are_all_asked() -> None:
    found = ft.diff(old_rule, new_rule, FEW)
    assert found.exact
    assert (int(found.queries.asked), found.reason) == (144, "every input was asked")
    assert (found.changed[1], found.precision, found.recall) == pytest.approx(counted(FEW, old_rule, new_rule, found))
    assert found.leaves == 3
    assert "no -> maybe" in str(found.tree)
    assert len(found.examples) == 10
    assert not ft.diff(old_rule, new_rule, FEW, max_queries=100).exact
    assert not ft.diff(old_rule, new_rule, FEW, deterministic=False, max_queries=200).exact


def test_two_forests_over_few_inputs() -> None:
    batch = FEW.draw(300)
    rows = np.column_stack([batch["owner"], batch["job"] == "nurse", batch["children"], batch["rooms"]])
    labels = old_rule(batch)
    labels[::9] = "no"
    made = [RandomForestClassifier(10, random_state=k).fit(rows[k::2], labels[k::2]) for k in (0, 1)]

    def asked(forest: Any) -> Any:
        def target(batch: Any) -> Any:
            return forest.predict(
                np.column_stack([batch["owner"], batch["job"] == "nurse", batch["children"], batch["rooms"]])
            )

        return target

    old, new = map(asked, made)
    found = ft.diff(old, new, FEW)
    assert found.exact
    assert found.changed[0] > 0
    assert (found.changed[1], found.precision, found.recall) == pytest.approx(counted(FEW, old, new, found))
