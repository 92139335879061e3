"""`ft.verify`: what it checks, what it asks, and what it cannot know."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.targets import majority

SPACE = ft.ProductSpace.bernoulli(14, 0.3)


def target(batch: Any) -> Any:
    return batch[:, 0] & (batch[:, 1] | batch[:, 2])


def changed(folder: Path, **entries: Any) -> None:
    path = folder / "certificate.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**data, **entries}), encoding="utf-8")


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    ft.distill(target, SPACE, 0.05).save(tmp_path)
    return tmp_path


def test_a_folder_is_checked_without_asking_anybody(kept: Path) -> None:
    found = ft.verify(kept)
    assert [check.passed for check in found.checks] == [True, True, True]
    assert (found.consistent, found.holds, found.contradicted, found.fresh) == (True, True, False, None)


def test_the_target_is_asked_about_fresh_inputs(kept: Path) -> None:
    found = ft.verify(kept, target, seed=5)
    assert found.holds
    assert found.fresh is not None
    assert (found.fresh.seed, found.fresh.epsilon, found.fresh.protocol) == (5, 0.05, "separate")
    assert found.fresh == ft.certify(ft.Tree.load(kept / "tree.json"), target, SPACE, 0.05, seed=5)


def test_a_substitute_for_the_tree_that_was_tested_is_checked_too(tmp_path: Path) -> None:
    result = next(
        result
        for seed in range(200)
        if (result := ft.distill(majority(9), ft.ProductSpace.bernoulli(9, 0.1), 0.2, seed=seed)).certificate.differs
    )
    result.save(tmp_path)
    assert ft.verify(tmp_path).holds
    changed(tmp_path, differs=0.15)
    assert not ft.verify(tmp_path).consistent


def test_a_fixed_certificate_follows_from_its_counts(tmp_path: Path) -> None:
    ft.practical_top_down(majority(3), ft.ProductSpace.bernoulli(3), 0.2, 0.2).save(tmp_path)
    assert ft.verify(tmp_path).checks[2].passed is True
    changed(tmp_path, error_bound=0.001)
    assert ft.verify(tmp_path).checks[2].passed is False
    changed(tmp_path, samples=0, errors=0, error_bound=1.0, holds=False)
    assert ft.verify(tmp_path).checks[2].passed is True


def test_an_exact_error_needs_the_target(tmp_path: Path) -> None:
    ft.distill(majority(5), ft.ProductSpace.bernoulli(5), 0).save(tmp_path)
    alone = ft.verify(tmp_path)
    assert [check.passed for check in alone.checks] == [True, True, None]
    assert "only the target itself can confirm that" in str(alone)
    assert ft.verify(tmp_path, majority(5)).holds
    wrong = ft.verify(tmp_path, lambda batch: batch[:, 0])
    assert wrong.contradicted
    assert not wrong.holds


@pytest.mark.parametrize(
    ("entries", "position"),
    [
        ({"tree_digest": "0"}, 0),
        ({"space_digest": "0"}, 1),
        ({"errors": 3}, 2),
        ({"samples": 60}, 2),
        ({"attempt": 2, "attempts": 9}, 2),
        ({"level": 0.5}, 2),
        ({"delta": 0.01}, 2),
        ({"error_bound": 0.01}, 2),
    ],
)
def test_each_entry_that_was_changed_is_found_out(kept: Path, entries: dict[str, Any], position: int) -> None:
    changed(kept, **entries)
    found = ft.verify(kept, target)
    assert [check.passed for check in found.checks].index(False) == position
    assert found.fresh is None, "a folder that contradicts itself is not worth a query"
    assert str(found).endswith("This folder contradicts itself: do not rely on it.")


def test_a_bound_may_promise_less_than_it_could(kept: Path) -> None:
    changed(kept, error_bound=0.2, holds=False)
    assert ft.verify(kept).consistent
    assert not ft.verify(kept).holds


def test_without_a_space_one_must_be_given(kept: Path) -> None:
    (kept / "space.json").unlink()
    assert ft.verify(kept).checks[1].passed is None
    with pytest.raises(ft.ParameterError, match=r"holds no space.json: give the space that the result is about"):
        ft.verify(kept, target)
    assert ft.verify(kept, target, space=SPACE, seed=1).holds
    assert ft.verify(kept, space=ft.ProductSpace.bernoulli(14, 0.4)).checks[1].passed is False


def test_what_was_certified_without_an_epsilon_is_what_is_tested(tmp_path: Path) -> None:
    ft.distill(target, SPACE, None, max_queries=400).save(tmp_path)
    found = ft.verify(tmp_path, target, seed=1)
    assert found.fresh is not None
    assert found.fresh.epsilon == found.certificate.error_bound


def test_nothing_certified_is_nothing_to_confirm(tmp_path: Path) -> None:
    result = ft.distill(target, SPACE, 0.05, max_queries=20)
    assert result.certificate.error_bound == 1
    result.save(tmp_path)
    with pytest.raises(ft.ParameterError, match="nothing was certified in this folder, so there is nothing that"):
        ft.verify(tmp_path, target)


def test_undecided_is_neither_yes_nor_no(kept: Path) -> None:
    found = ft.verify(kept, target, seed=1, max_queries=10)
    assert (found.contradicted, found.holds) == (False, False)
    assert str(found).endswith(
        "Undecided: 10 test inputs are too few for what was promised; more queries may decide it."
    )


def test_an_error_near_to_what_was_promised_is_said_to_be_so(tmp_path: Path) -> None:
    ft.distill(lambda batch: batch[:, 0], SPACE, 0.05).save(tmp_path)
    changed(tmp_path, epsilon=0.3, error_bound=0.3)
    found = ft.verify(tmp_path, lambda batch: batch[:, 0] & (1 - batch[:, 1]), seed=1, max_queries=40)
    assert (found.contradicted, found.holds) == (False, False)
    assert str(found).endswith(
        "Undecided: the tree's error is too near to what was promised; more queries may decide it."
    )


@pytest.mark.parametrize("told_by", ["certificate and run", "certificate", "run"])
def test_the_fresh_certificate_of_a_noisy_target_is_never_exact(tmp_path: Path, told_by: str) -> None:
    """Three bits could all be asked, which would take one answer of a noisy target for all of them."""
    space, noise = ft.ProductSpace.bernoulli(3), np.random.default_rng(0)

    def noisy(batch: Any) -> Any:
        return batch[:, 0] ^ (noise.random(len(batch)) < 0.01)

    ft.distill(noisy, space, 0.2, deterministic=False).save(tmp_path)
    if told_by == "certificate":
        (tmp_path / "run.json").unlink()
    if told_by == "run":
        changed(tmp_path, assumes=["the target is deterministic", "inputs follow the stated product distribution"])
    found = ft.verify(tmp_path, noisy, seed=1)
    assert found.fresh is not None
    assert found.fresh.method == "sequential"
    assert "deterministic" not in str(found.fresh)


NASTY = (0, -1, 1, 2, 7, 2**62, 2**63, 10**400, 5e-324, 1e-300, 0.999, 1.0, 1e308, None, True, "1", {}, {"a": "b"}, [])


@pytest.mark.parametrize("method", ["sequential", "fixed"])
@pytest.mark.parametrize("protocol", ["separate", "prequential"])
@pytest.mark.parametrize(
    "entry",
    [
        "delta",
        "epsilon",
        "error_bound",
        "samples",
        "errors",
        "attempt",
        "attempts",
        "level",
        "differs",
        "seed",
        "queries",
    ],
)
def test_a_damaged_certificate_is_refused_or_judged(kept: Path, entry: str, protocol: str, method: str) -> None:
    whole = json.loads((kept / "certificate.json").read_text(encoding="utf-8"))
    for value in NASTY:
        changed(kept, **{**whole, "method": method, "protocol": protocol, entry: value})
        for holds in (True, False):
            changed(kept, holds=holds)
            with suppress(ft.ParameterError, ft.FormatError):
                assert ft.verify(kept, target, seed=1, max_queries=20).consistent in (True, False)


def test_it_prints_as_sentences(kept: Path) -> None:
    found = ft.verify(kept)
    made = found.certificate
    assert made.level is not None
    counts = f"{made.errors} errors among {made.samples} test inputs"
    assert str(found).splitlines() == [
        "yes the tree is the one that the certificate names",
        "yes the space is the one that the certificate names",
        f"yes the bound {made.error_bound:.6g} follows from {counts}, at level {made.level:.4g}",
        f"The stored certificate is consistent: {made}",
    ]
    assert str(replace(found, fresh=found.certificate)).splitlines()[-1].startswith("The target confirms the stored")


def test_the_level_of_a_standing_attempt_is_that_of_its_ledger(tmp_path: Path) -> None:
    weights = np.linspace(-1, 1.5, 30)
    result = ft.distill(lambda rows: rows @ weights > 3, ft.ProductSpace.bernoulli(30), 0.01, max_queries=1_000)
    assert result.certificate.ledger == "standing"
    result.save(tmp_path)
    assert ft.verify(tmp_path).consistent
    changed(tmp_path, ledger="run")
    assert not ft.verify(tmp_path).consistent
