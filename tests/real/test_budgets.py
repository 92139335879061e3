"""The benchmark of runs that a time limit ends: twelve models, every kind of run, and a judge that sees a fault."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def runs(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT))
    for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):  # benchmarks/__init__.py sets them
        monkeypatch.setenv(f"{library}_NUM_THREADS", "1")
    from benchmarks import subjects
    from benchmarks.budgets import __main__ as runs

    monkeypatch.setattr(subjects, "DATA", data_dir)
    return runs


def test_three_hundred_runs_are_of_every_kind(runs: Any) -> None:
    made = runs.cases(300)
    assert len({case.model for case in made}) == 12
    assert {case.seconds for case in made} == {2, 5, 10}
    assert {case.epsilon for case in made} == {0.02, 0.05, 0.1}
    for over_rows in (False, True):
        kinds = {str(case.options) for case in made if case.over_rows == over_rows}
        assert len(kinds) == (3 if over_rows else 4)


def test_a_run_is_judged(runs: Any) -> None:
    case = next(case for case in runs.cases(300) if case.model == "HTRU2" and case.epsilon == 0.1)
    found = replace(runs.measured(case), seconds=0.5)
    assert found.result.certificate.holds
    assert found.violations == []
    assert replace(found, seconds=2 * case.seconds).violations == ["it took 2.00 times the limit"]
    paid = replace(found.result.queries, paid=type(found.result.queries.paid).of({"label": 500}))
    rich = replace(found, result=replace(found.result, queries=paid))
    bound = found.result.certificate.error_bound
    assert rich.violations == []
    assert replace(rich, error=bound - 0.2).violations == ["the bound is 0.200 above the error"]
    assert replace(rich, error=0.5, constant=0.3).violations == ["a constant has an error of 0.300"]
