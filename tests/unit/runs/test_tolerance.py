"""Targets that answer numbers: certificates within a tolerance, every door, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import fidelitree as ft

if TYPE_CHECKING:
    from pathlib import Path

SPACE = ft.ProductSpace([
    ft.Numeric("age", 0, 10), ft.Categorical("job", {"a": 0.5, "b": 0.3, "c": 0.2}), ft.Boolean("own", 0.4),
])  # fmt: skip
TOLERANCE = 2.0


def price(batch: Any) -> Any:
    return batch["age"] * 1.5 + np.where(batch["job"] == "a", 3.25, 0) - 2 * batch["own"]


def far(tree: ft.Tree, rows: int = 40_000, space: Any = SPACE) -> float:
    """The share of fresh inputs on which a tree is too far away."""
    batch = space.draw(rows, seed=99)
    return float((np.abs(tree.predict(batch) - price(batch)) > TOLERANCE).mean())


def test_leaves_hold_numbers_and_the_certificate_keeps_its_word() -> None:
    found = ft.distill(price, SPACE, 0.1, tolerance=TOLERANCE)
    assert found.certificate.holds
    assert found.certificate.tolerance == TOLERANCE
    assert found.tree.labels.dtype == np.float64
    assert far(found.tree) <= found.certificate.error_bound
    assert "this tree is within 2 of the target on at least" in str(found.certificate)
    assert found.certificate.confusion is None


def test_a_wide_tolerance_takes_a_constant_and_a_narrow_one_more_leaves() -> None:
    sizes = [ft.distill(price, SPACE, 0.1, tolerance=width).leaves for width in (20, 4, 1)]
    assert sizes[0] == 1
    assert sizes[0] < sizes[1] < sizes[2]


def test_a_step_function_is_found_exactly() -> None:
    found = ft.distill(lambda batch: np.where(batch["age"] > 4, 7.25, -1.5), SPACE, 0.01, tolerance=0.1)
    assert found.leaves == 2
    assert found.tree.labels == pytest.approx([-1.5, 7.25], abs=0.01)
    assert found.certificate.errors == 0


def test_bits_answer_numbers_too() -> None:
    space = ft.ProductSpace.bernoulli(6)
    found = ft.distill(lambda batch: batch @ np.array([4.0, 2, 1, 0, 0, 0]), space, 0.05, tolerance=0.6)
    assert found.certificate.holds
    assert found.leaves <= 8


def test_every_point_of_a_frontier_is_within_its_bounds() -> None:
    curve = ft.frontier(price, SPACE, tolerance=TOLERANCE, max_queries=3_000)
    assert len(curve) > 3
    for point in curve:
        low, high = point.interval
        assert low - 0.01 <= far(point.tree) <= high + 0.01
    assert ft.distill(price, SPACE, None, tolerance=TOLERANCE, max_queries=3_000).certificate.tolerance == TOLERANCE


def test_budgets_end_a_run_with_a_bound() -> None:
    found = ft.distill(price, SPACE, 0.01, tolerance=0.5, max_queries=400)
    assert not found.certificate.holds
    assert found.certificate.error_bound < 1
    assert found.queries.asked <= 400
    assert ft.distill(price, SPACE, 0.1, tolerance=1, max_leaves=3, max_queries=2_000).leaves <= 3


@pytest.mark.parametrize("how", [{"prefer": "leaves"}, {"deterministic": False}, {"retries": 1}])
def test_other_ways_of_asking(how: dict[str, Any]) -> None:
    found = ft.distill(price, SPACE, 0.15, tolerance=TOLERANCE, max_queries=8_000, **how)
    assert found.certificate.holds
    assert far(found.tree) <= 0.15


def test_worlds_and_tables_go_with_it() -> None:
    random = np.random.default_rng(0)
    age = random.random(600) * 10
    table = {"age": age, "job": random.choice(list("abc"), 600), "own": random.random(600) < age / 10}
    for world in (table, ft.Rows(table, blend=0.2), ft.Mixture.from_data(table), ft.Rows(table)):
        found = ft.distill(price, world, 0.2, tolerance=TOLERANCE)
        assert found.certificate.holds
        if world is table:
            real = found.certificate.real_rows
            assert real is not None
            kept = found.space.kept
            assert kept is not None
            batch = kept.batch(kept.inner)
            assert real.errors == (np.abs(found.tree.predict(batch) - price(batch)) > TOLERANCE).sum()


def test_certify_takes_two_regressors() -> None:
    near = ft.certify(lambda batch: price(batch) + 1.9, price, SPACE, 0.05, tolerance=TOLERANCE, seed=0)
    assert near.holds
    assert near.errors == 0
    away = ft.certify(lambda batch: price(batch) + 2.1, price, SPACE, 0.05, tolerance=TOLERANCE, seed=0)
    assert not away.holds
    half = ft.certify(lambda batch: price(batch) + 4 * batch["own"], price, SPACE, tolerance=TOLERANCE, seed=0)
    assert half.interval[0] < 0.4 < half.interval[1]


def test_a_stored_result_is_made_again_and_tested_again(tmp_path: Path) -> None:
    found = ft.distill(price, SPACE, 0.1, tolerance=TOLERANCE, journal=tmp_path / "journal.db")
    found.save(tmp_path)
    report = ft.verify(tmp_path, price)
    assert report.holds, report
    assert all(check.passed for check in report.checks)
    assert report.fresh is not None
    assert report.fresh.tolerance == TOLERANCE
    again = ft.distill(price, SPACE, 0.1, tolerance=TOLERANCE)
    assert (again.tree, again.certificate) == (found.tree, found.certificate)
    page = found.report(tmp_path / "page.html").read_text()
    assert "within 2 of the target" in page


def test_a_score_with_a_threshold_is_a_classifier() -> None:
    found = ft.distill(price, SPACE, 0.1, threshold=9)
    assert found.certificate.holds
    assert found.tree.labels.tolist() == [0, 1]
    batch = SPACE.draw(20_000, seed=5)
    assert (found.tree.predict(batch) != (price(batch) > 9)).mean() <= 0.1
    with pytest.raises(ft.TargetError, match="threshold needs one score for each input"):
        ft.distill(lambda batch: np.zeros((len(batch["own"]), 2)), SPACE, threshold=0.5)


def test_a_regressor_as_it_comes() -> None:
    random = np.random.default_rng(0)
    inputs = random.random((500, 3))
    model = LinearRegression().fit(inputs, inputs @ np.array([3.0, 1, 0]))
    found = ft.distill(model, random.random((400, 3)), 0.2, tolerance=0.5)
    assert found.certificate.holds


@pytest.mark.parametrize(("how", "rule"), [
    ({"tolerance": 0}, "tolerance must be above 0"),
    ({"tolerance": -1}, "tolerance must be above 0"),
    ({"tolerance": "wide"}, "tolerance must be"),
    ({"tolerance": float("nan")}, "tolerance must be"),
    ({"tolerance": float("inf")}, "tolerance must be above 0 and finite.* got inf - leave it out"),
    ({"tolerance": 1, "epsilon": 0}, "epsilon must be above 0 where a tolerance is given"),
    ({"tolerance": 1, "strategy": "smallest"}, 'strategy must be "auto" where a tolerance is given'),
    ({"threshold": "high"}, "threshold must be"),
])  # fmt: skip
def test_what_makes_no_sense_is_refused(how: dict[str, Any], rule: str) -> None:
    with pytest.raises(ft.ParameterError, match=rule):
        ft.distill(price, SPACE, **how)


def test_numbers_without_a_tolerance_are_told_both_ways_out() -> None:
    with pytest.raises(ft.TargetError, match=r"Return classes, not scores .* threshold=.* tolerance="):
        ft.distill(price, SPACE)


def test_answers_must_be_finite_numbers() -> None:
    with pytest.raises(ft.TargetError, match=r"answers must be finite numbers.* the target answered nan in row"):
        ft.distill(lambda batch: np.where(batch["age"] > 5, np.nan, 1.0), SPACE, tolerance=1)
    with pytest.raises(ft.TargetError, match=r"answered 1\.7e\+308 in row 0 - answer in a larger unit"):
        ft.distill(lambda batch: np.full(len(batch["age"]), 1.7e308), SPACE, tolerance=1)
    with pytest.raises(ft.TargetError, match="answers must be numbers where a tolerance is given"):
        ft.distill(lambda batch: batch["job"], SPACE, tolerance=1)


def test_a_tolerance_and_a_threshold_are_not_both_given() -> None:
    for door in (ft.distill, ft.frontier):
        with pytest.raises(ft.ParameterError, match="tolerance must be left out where threshold is given"):
            door(lambda batch: batch[:, 0] / 2, ft.ProductSpace.bernoulli(3), tolerance=0.1, threshold=0.2)


def test_every_leaf_has_its_errors_and_the_report_shows_them(tmp_path: Path) -> None:
    found = ft.distill(price, SPACE, 0.2, tolerance=TOLERANCE)
    assert found.leaf_labels is not None
    wrong = found.leaf_labels.wrong(found.tree).sum() * len(found.answers or ())
    assert round(wrong) == found.certificate.errors
    assert sum(one.wrong for one in found.leaf_errors) == found.certificate.errors
    page = found.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Both answer numbers. The tree is right where it is within 2 of the target" in page
    assert "more than 2 away" in page
    assert "No answers were kept" not in page


def test_a_stored_frontier_of_numbers_is_read_back(tmp_path: Path) -> None:
    front = ft.frontier(price, SPACE, tolerance=TOLERANCE, max_leaves=5, max_queries=1_500)
    front.save(tmp_path / "front")
    again = ft.Frontier.load(tmp_path / "front")
    assert [point.leaf_labels is not None for point in again] == [True] * len(front)
    assert again[-1].leaf_errors == front[-1].leaf_errors


def test_production_numbers_are_right_within_the_tolerance() -> None:
    space = ft.ProductSpace([ft.Numeric("x", 0, 1)])
    found = ft.distill(lambda batch: 10 * batch["x"], space, 0.1, tolerance=2, max_queries=2_000)
    monitor, rows = ft.Monitor(found), space.draw(500, seed=3)
    monitor.see(rows, 10 * rows["x"])
    assert monitor.alarm is None
    monitor.see(rows, 10 * rows["x"] + 5)
    assert monitor.alarm is not None


def test_a_limit_above_the_number_of_inputs_ends_a_run() -> None:
    """No tree of numbers is known to be right by knowing all answers, so repeats must count, or it would never end."""
    space = ft.ProductSpace([ft.Numeric.from_values(name, np.arange(1, 6)) for name in "abc"])

    def odd(batch: Any) -> Any:
        return sum(batch[name] for name in "abc") % 2 * 10.0 + 0.37 * batch["a"]

    assert ft.distill(odd, space, 0.05, tolerance=0.1, max_queries=150).queries.asked <= 150
