"""`ft.verify`: what it checks, what it asks, and what it cannot know."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.certificates.consistency import UNCHECKED
from fidelitree.runs.agree.verify import most_asked
from fidelitree.targets import majority
from fidelitree.theory.sequential import error_bound

if TYPE_CHECKING:
    from pathlib import Path

SPACE = ft.ProductSpace.bernoulli(14, 0.3)


def target(batch: Any) -> Any:
    return batch[:, 0] & (batch[:, 1] | batch[:, 2])


def changed(folder: Path, **entries: Any) -> None:
    """Somebody who forges a certificate writes down its digest, too."""
    path, run = folder / "certificate.json", folder / "run.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**data, **entries}), encoding="utf-8")
    told = json.loads(run.read_text(encoding="utf-8"))
    told["files"]["certificate.json"] = hashlib.sha256(path.read_bytes()).hexdigest()
    run.write_text(json.dumps(told), encoding="utf-8")


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    ft.distill(target, SPACE, 0.05).save(tmp_path)
    return tmp_path


def test_without_answers_and_without_a_target_nothing_is_decided(kept: Path) -> None:
    found = ft.verify(kept)
    assert [check.passed for check in found.checks] == [True, True, True, True, True, True, None]
    assert (found.consistent, found.undecided, found.holds, found.contradicted) == (True, True, False, False)
    assert found.fresh is None
    assert found.checks[-1].sentence.endswith("no journal is stored here")


def test_the_target_is_asked_about_fresh_inputs(kept: Path) -> None:
    found = ft.verify(kept, target, seed=5)
    assert found.holds
    assert found.fresh is not None
    assert (found.fresh.seed, found.fresh.epsilon, found.fresh.protocol) == (5, 0.05, "separate")
    assert found.fresh == ft.certify(ft.Tree.load(kept / "tree.json"), target, SPACE, 0.05, seed=5)


def test_only_what_is_confirmed_is_true(kept: Path) -> None:
    """Who writes `if ft.verify(folder)` must not be told of a forged folder that all is well."""
    assert not ft.verify(kept)
    assert ft.verify(kept, target, seed=5)
    changed(kept, error_bound=0.001)
    assert not ft.verify(kept)
    assert not ft.verify(kept, target, seed=5)


def test_a_substitute_for_the_tree_that_was_tested_is_checked_too(tmp_path: Path) -> None:
    space = ft.ProductSpace.bernoulli(12, 0.2)
    asked = ft.targets.balanced(space, 4, seed=5)
    runs = (ft.distill(asked, space, 0.1, seed=seed) for seed in range(50))
    result = next(result for result in runs if result.certificate.differs)
    result.save(tmp_path)
    assert ft.verify(tmp_path, asked, seed=1).holds
    differs = ft.verify(tmp_path).checks[3]
    assert differs.passed
    assert differs.sentence.startswith("the tree differs from the one that was tested on ")
    changed(tmp_path, differs=0.9 * result.certificate.differs)
    assert ft.verify(tmp_path).checks[2].passed, "a larger bound than it must be is no contradiction"
    assert ft.verify(tmp_path).checks[3].passed is False
    changed(tmp_path, differs=result.certificate.differs, tested_digest=result.tree.digest)
    assert ft.verify(tmp_path).checks[3].passed is False
    (tmp_path / "tested.json").unlink()
    assert ft.verify(tmp_path).checks[3].passed is None


def test_a_fixed_certificate_follows_from_its_counts(tmp_path: Path) -> None:
    ft.practical_top_down(majority(3), ft.ProductSpace.bernoulli(3), 0.2, 0.2).save(tmp_path)
    assert ft.verify(tmp_path).checks[2].passed is True
    changed(tmp_path, error_bound=0.001)
    assert ft.verify(tmp_path).checks[2].passed is False
    changed(tmp_path, samples=0, errors=0, error_bound=1.0, holds=False)
    assert ft.verify(tmp_path).checks[2].passed is True


def test_what_every_door_saves_is_consistent(tmp_path: Path) -> None:
    """Algorithms 1 and 2 wrote no costs into their certificates, and `verify` said that costs had been changed."""
    space = ft.ProductSpace.bernoulli(5)
    doors = (ft.build_top_down(majority(5), space, 0.1), ft.practical_top_down(majority(5), space, 0.3, 0.3))
    for number, result in enumerate((*doors, ft.distill(majority(5), space), ft.learners.cart(majority(5), space))):
        result.save(tmp_path / str(number))
        assert ft.verify(tmp_path / str(number)).consistent


def test_an_exact_error_needs_the_target(tmp_path: Path) -> None:
    ft.distill(majority(5), ft.ProductSpace.bernoulli(5), 0).save(tmp_path)
    alone = ft.verify(tmp_path)
    assert alone.checks[2].passed is None
    assert "only the target itself can confirm that" in str(alone)
    assert alone.undecided
    assert not alone.holds
    assert ft.verify(tmp_path, majority(5)).holds
    wrong = ft.verify(tmp_path, lambda batch: batch[:, 0])
    assert wrong.contradicted
    assert not wrong.holds


def test_an_exact_error_is_computed_again(tmp_path: Path) -> None:
    ft.distill(majority(5), ft.ProductSpace.bernoulli(5), 0).save(tmp_path)
    changed(tmp_path, epsilon=0.05, error_bound=0.01)
    assert "the table of answers belongs to the certificate" in str(ft.verify(tmp_path)), "it is exact, too"
    changed(tmp_path, confusion=None)
    run = tmp_path / "run.json"
    run.write_text(run.read_text(encoding="utf-8").replace('"epsilon": 0.0', '"epsilon": 0.05'), encoding="utf-8")
    found = ft.verify(tmp_path, majority(5))
    assert found.consistent
    assert found.fresh is not None
    assert found.fresh.holds, "the error is below epsilon, and yet not what the certificate says"
    assert found.contradicted
    assert not found.holds


@pytest.mark.parametrize(
    ("entries", "position"),
    [
        ({"tree_digest": "0"}, 0),
        ({"space_digest": "0"}, 1),
        ({"errors": 3}, 2),
        ({"samples": 60}, 2),
        ({"attempt": 5, "attempts": 9}, 2),
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
    found = ft.verify(kept, target, seed=1)
    assert not found.undecided
    assert not found.holds


@pytest.mark.parametrize("entry", ["epsilon", "delta", "seed", "deterministic", "asked"])
def test_a_call_that_is_not_the_certificates_is_found_out(kept: Path, entry: str) -> None:
    run = kept / "run.json"
    told = json.loads(run.read_text(encoding="utf-8"))
    run.write_text(json.dumps({**told, entry: False}), encoding="utf-8")
    found = ft.verify(kept, target)
    assert [check.passed for check in found.checks[:4]] == [True, True, True, False]
    assert found.checks[3].sentence == f"call and costs are those of the certificate: {entry} is not the same"
    assert found.fresh is None
    del told[entry]
    run.write_text(json.dumps(told), encoding="utf-8")
    assert ft.verify(kept).checks[3].passed is None


@pytest.mark.parametrize("name", ["certificate.json", "report.html", "space.json", "trace.csv", "tree.json"])
def test_a_file_that_has_changed_is_named(kept: Path, name: str) -> None:
    with (kept / name).open("a", encoding="utf-8") as file:
        file.write("\n")
    found = ft.verify(kept)
    assert found.checks[4].sentence == f"the files are as they were saved: {name} is not"
    assert not found.consistent


def test_a_report_may_be_missing_and_a_trace_may_not(kept: Path) -> None:
    (kept / "report.html").unlink()
    assert ft.verify(kept).checks[4].passed
    (kept / "trace.csv").unlink()
    assert str(ft.verify(kept).checks[4]) == "-   the files are as they were saved: trace.csv is not here"


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
    result = ft.distill(target, SPACE, 0.05, max_queries=1)
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


def test_the_limit_is_enough_for_an_honest_certificate(tmp_path: Path) -> None:
    """A bound may be near to the error, where 256 ln(1/delta)/epsilon labels often do not decide."""
    space = ft.ProductSpace([ft.Numeric(name, 0, 1) for name in "xyzuvw"])

    def waves(batch: Any) -> Any:
        return np.sin(7 * batch["x"]) + 2 * batch["y"] * batch["z"] - batch["u"] > 0.3

    found = ft.frontier(waves, space, 0.4, max_queries=30_000, max_leaves=2, seed=3)
    found.save(tmp_path)
    tests = [ft.verify(tmp_path, waves, seed=seed).fresh for seed in range(3)]
    assert all(test is not None and test.holds for test in tests)
    before = 256 * np.log(1 / 0.4) / found.knee.certificate.error_bound
    assert max(test.queries["certify"] for test in tests if test is not None) > before


def test_the_limit_is_many_times_the_tests_of_a_run() -> None:
    """With 5,000 errors among 60,000 and a bound just above, 256 ln(1/delta)/epsilon were 9,000 labels, and no use."""
    bound = error_bound(5_000, 60_000, 0.007)
    near = ft.Certificate(bound, 0.05, bound, 60_000, 5_000, "sequential", "", "")
    assert 9 * 60_000 < (most_asked(near) or 0) < 20 * 60_000
    far = replace(near, epsilon=0.2)
    assert most_asked(far) == most_asked(replace(far, errors=None)) == np.ceil(256 * np.log(20) / 0.2)
    assert most_asked(replace(near, differs=1.0)) == np.ceil(256 * np.log(20) / bound), "nothing is left to tell"


def test_an_error_near_to_what_was_promised_is_said_to_be_so(tmp_path: Path) -> None:
    ft.distill(lambda batch: batch[:, 0], SPACE, 0.05).save(tmp_path)
    changed(tmp_path, epsilon=0.3, error_bound=0.3)
    (tmp_path / "frontier.json").unlink()  # it knows better
    run = tmp_path / "run.json"
    run.write_text(run.read_text(encoding="utf-8").replace('"epsilon": 0.05', '"epsilon": 0.3'), encoding="utf-8")
    found = ft.verify(tmp_path, lambda batch: batch[:, 0] & (1 - batch[:, 1]), seed=1, max_queries=40)
    assert (found.contradicted, found.holds) == (False, False)
    assert str(found).endswith(
        "Undecided: the tree's error is too near to what was promised; more queries may decide it."
    )


@pytest.mark.parametrize("told_by", ["certificate and run", "certificate"])
def test_the_fresh_certificate_of_a_noisy_target_is_never_exact(tmp_path: Path, told_by: str) -> None:
    """Three bits could all be asked, which would take one answer of a noisy target for all of them."""
    space, noise = ft.ProductSpace.bernoulli(3), np.random.default_rng(0)

    def noisy(batch: Any) -> Any:
        return batch[:, 0] ^ (noise.random(len(batch)) < 0.01)

    ft.distill(noisy, space, 0.2, deterministic=False).save(tmp_path)
    if told_by == "certificate":
        (tmp_path / "run.json").unlink()
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


def test_the_bound_follows_from_the_tested_trees_errors_and_the_difference(tmp_path: Path) -> None:
    """The certificate counts the tree that is here, and its sentence stands some lines below."""
    for seed in range(20):
        found = ft.distill(target, SPACE, 0.2, seed=seed)
        told = found.certificate
        if told.tested_errors not in (None, told.errors):
            break
    found.save(tmp_path)
    line = next(line for line in str(ft.verify(tmp_path)).splitlines() if "follows from" in line)
    assert f"from {told.tested_errors} errors of the tree that was tested among" in line
    assert line.endswith(f", and from {told.differs:.6g} on which it differs from this tree")
    assert f"this tree disagreed on {told.errors}." in str(told)


def test_it_prints_as_sentences(kept: Path) -> None:
    found = ft.verify(kept)
    made = found.certificate
    assert made.level is not None
    counts = f"{made.errors} errors among {made.samples} test inputs"
    points = json.loads((kept / "frontier.json").read_text(encoding="utf-8"))["points"]
    ways = "Give the target (--target), to test the tree on fresh inputs; or run with journal=, to keep the answers."
    assert str(found).splitlines() == [
        "yes the tree is the one that the certificate names",
        "yes the space is the one that the certificate names",
        f"yes the bound {made.error_bound:.6g} follows from {counts}, at level {made.level:.4g}",
        "yes call and costs are those of the certificate",
        "yes the files are as they were saved",
        f"yes all {len(points)} points of the frontier: tree, bound, answers and costs fit each other",
        "-   the answers in the journal lead to this tree and this certificate: no journal is stored here",
        f"    verify.py in this folder is the genuine file of fidelitree {ft.__version__}",
        f"not checked: {', '.join(UNCHECKED)}",
        f"Undecided: nothing here confirms the certificate. {ways}",
    ]
    last = str(replace(found, fresh=made)).splitlines()[-1]
    assert last == "The target confirms the tree; the counts of the stored certificate are not checked."
    found = replace(found, checks=found.checks[:-1])
    assert str(found).endswith(f"\nThe stored answers confirm the certificate.\n{made}")
    last = str(replace(found, fresh=made))
    assert last.endswith(f"\nThe stored answers and the target confirm the certificate.\n{made}")


def test_the_level_of_a_standing_attempt_is_that_of_its_ledger(tmp_path: Path) -> None:
    weights = np.linspace(-1, 1.5, 30)
    asked = 0

    def interrupted(rows: Any) -> Any:
        nonlocal asked
        asked += len(rows)
        if asked > 250:
            raise KeyboardInterrupt
        return rows @ weights > 3

    result = ft.distill(interrupted, ft.ProductSpace.bernoulli(30), 0.01)
    assert result.certificate.ledger == "standing"
    result.save(tmp_path)
    assert ft.verify(tmp_path).consistent
    changed(tmp_path, ledger="run")
    assert not ft.verify(tmp_path).consistent
