"""No run has the same test inputs as another one unless somebody asks for that: doors, learners and commands."""

from __future__ import annotations

import inspect
import json
import secrets
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from commandline import run
from fidelitree import learners, testing
from fidelitree.certificates.certificate import ASSUMES_UNFORESEEN
from fidelitree.cli import app

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SPACE = ft.ProductSpace.bernoulli(12)
TREE = ft.Tree.build(SPACE, [(0, 1, 2), 0, 1], [0, 1])


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """As outside of tests: `conftest` makes all seeds 0."""
    monkeypatch.setattr("fidelitree.spaces.draw.fresh_seed", lambda: secrets.randbits(53))


def target(bits: np.ndarray) -> np.ndarray:
    return bits[:, 0] | (bits[:, 1] & bits[:, 2])


def other(bits: np.ndarray) -> np.ndarray:
    return bits[:, 0] & bits[:, 3]


DOORS: dict[str, Callable[..., Any]] = {
    "analyze": lambda **more: ft.analyze(target, SPACE, method="sampled", max_queries=500, **more),
    "certify": lambda **more: ft.certify(TREE, target, SPACE, epsilon=0.3, **more),
    "compare": lambda **more: ft.compare(target, SPACE, 0.2, learners=["id3"], **more),
    "diff": lambda **more: ft.diff(target, other, SPACE, max_queries=600, **more),
    "distill": lambda **more: ft.distill(target, SPACE, 0.1, **more),
    "errors_by_class": lambda **more: ft.errors_by_class(TREE, target, SPACE, max_queries=300, **more)[0],
    "frontier": lambda **more: ft.frontier(target, SPACE, max_queries=600, max_leaves=4, **more),
    "practical_top_down": lambda **more: ft.practical_top_down(target, SPACE, 0.3, 0.2, max_queries=20_000, **more),
}
LEARNERS = sorted(learners.LEARNERS)


def public() -> dict[str, inspect.Signature]:
    """Every public function, and every method of a public class that somebody calls with a seed of his own."""
    found: dict[str, Any] = {name: getattr(ft, name) for name in ft.__all__}
    found |= {f"learners.{name}": getattr(learners, name) for name in LEARNERS}
    found |= {f"testing.{name}": getattr(testing, name) for name in testing.__all__}
    found |= {f"{name}.draw": one.draw for name, one in list(found.items()) if hasattr(one, "draw")}
    functions = {name: one for name, one in found.items() if inspect.isfunction(one)}
    return {name: inspect.signature(one) for name, one in functions.items()}


def test_a_fresh_seed_is_the_default_of_every_door_and_learner() -> None:
    seeds = {name: one.parameters["seed"].default for name, one in public().items() if "seed" in one.parameters}
    assert {name for name, default in seeds.items() if default is not None} == set()
    assert {*DOORS, "verify"} <= set(seeds)
    assert {f"learners.{name}" for name in LEARNERS} <= set(seeds)
    assert "seed" not in public()["testing.assert_agrees"].parameters


def test_a_fresh_seed_is_the_default_of_every_command() -> None:
    taken = set()
    for command in app.registered_commands:
        assert command.callback is not None
        name = command.name or command.callback.__name__
        lines = run(name, "--help").out.splitlines()
        told = [place for place, line in enumerate(lines) if "--seed" in line and line.strip(" │").startswith("--seed")]
        if told:
            taken.add(name)
            words = " ".join(lines[told[0] : told[0] + 3])
            assert "[default: " not in words.partition("--")[2].partition("--")[0], f"{name}: {words}"
    assert {"analyze", "certify", "compare", "diff", "distill", "experiment", "frontier", "verify"} <= taken


def seed_of(made: Any) -> int:
    """What a result says."""
    if isinstance(made, ft.Frontier):
        made = made[0]
    found = made.certificate if isinstance(made, ft.Distillation) else made
    assert isinstance(found.seed, int)
    return found.seed


def told(made: Any) -> str:
    """What a result says otherwise, seconds aside."""
    if isinstance(made, ft.Comparison):
        return ", ".join(f"{row.learner} {row.queries} {row.leaves} {row.error_bound}" for row in made.rows)
    return str(made)


@pytest.mark.parametrize("door", DOORS)
def test_the_seed_of_a_run_is_fresh_and_recorded_and_repeats_it(door: str) -> None:
    one, two = DOORS[door](), DOORS[door]()
    assert seed_of(one) != seed_of(two)
    again = DOORS[door](seed=seed_of(one))
    assert seed_of(again) == seed_of(one)
    if door != "certify":  # whose test inputs depend on the tree as well, and whose sentence says that a seed was given
        said = told(again).replace(f"; {ASSUMES_UNFORESEEN}", "").replace(f"Assumes: {ASSUMES_UNFORESEEN}.\n", "")
        assert said == told(one)


@pytest.mark.parametrize("name", ["bshouty_haddad_zaknoon", "c45", "disagreement", "id3", "streed", "top_down"])
def test_so_is_the_seed_of_a_learner(name: str) -> None:
    wide = ft.ProductSpace.bernoulli(30)
    made = [getattr(learners, name)(target, wide, 0.2) for _ in range(2)]
    assert len({seed_of(one) for one in made}) == 2


@pytest.mark.parametrize("door", ["distill", "frontier", "certify", "diff"])
def test_a_seed_that_was_given_is_an_assumption(door: str) -> None:
    for more, named in (({}, False), ({"seed": 3}, True)):
        made = DOORS[door](**more)
        made = made[0] if isinstance(made, ft.Frontier) else made
        certificate = made.certificate if isinstance(made, ft.Distillation) else made
        assert (ASSUMES_UNFORESEEN in certificate.assumes) == named
        assert (ASSUMES_UNFORESEEN in str(certificate)) == named


def test_the_seed_is_in_journal_folder_and_output(tmp_path: Path) -> None:
    found = ft.distill(target, SPACE, 0.1, journal=tmp_path / "run.db")
    seed = found.certificate.seed
    found.save(tmp_path / "kept")
    assert json.loads((tmp_path / "kept" / "certificate.json").read_text())["seed"] == seed
    assert json.loads((tmp_path / "kept" / "run.json").read_text())["seed"] == seed
    assert str(seed) in run("journal", "info", tmp_path / "run.db").out
    assert str(found).endswith(f"; seed {seed}")
    assert ft.distill(target, SPACE, 0.1, journal=tmp_path / "run.db").certificate.seed == seed, "the run that goes on"


def test_a_cache_before_a_model_that_was_replaced_does_not_help_the_old_tree() -> None:
    """The service answers what it knows from its cache; only inputs that nobody has asked about meet the new model."""
    cache: dict[bytes, int] = {}
    wide = ft.ProductSpace.bernoulli(40)

    def served(model: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
        def answer(bits: np.ndarray) -> np.ndarray:
            fresh = model(bits)
            return np.array(
                [cache.setdefault(row.tobytes(), int(label)) for row, label in zip(bits, fresh, strict=True)]
            )

        return answer

    old = ft.distill(served(target), wide, 0.1)
    assert old.certificate.holds
    new = ft.distill(served(lambda bits: 1 - target(bits)), wide, 0.1)
    assert new.certificate.holds
    rows = np.random.default_rng(0).integers(0, 2, (2_000, 40), np.uint8)
    assert np.mean(new.tree.predict(rows) == 1 - target(rows)) > 0.85, "the tree is one of the new model"


def test_a_repaired_model_meets_other_inputs_in_the_next_diff() -> None:
    """The new model is repaired where the last `diff` saw a change; the next one says what is so all the same."""
    wide = ft.ProductSpace.bernoulli(40)
    met: set[bytes] = set()

    def new(bits: np.ndarray) -> np.ndarray:
        changed = (bits[:, :5].sum(axis=1) == 5) & np.array([row.tobytes() not in met for row in bits])
        seen.update(row.tobytes() for row in bits[changed])
        return np.where(changed, 1 - target(bits), target(bits))

    seen: set[bytes] = set()
    missed = 0
    for _ in range(4):
        low, high = ft.diff(target, new, wide, max_queries=2_000).changed
        missed += not low <= 1 / 32 <= high
        met |= seen
    assert missed <= 2, "with the same inputs the second and all further ones would miss it"
