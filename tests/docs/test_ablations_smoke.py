"""`python -m benchmarks.ablations` would run."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from benchmarking import importable, run


def test_benchmark_prints_a_line_for_each_ablation_and_suite() -> None:
    done = run("benchmarks.ablations", "no local search in the archive", "STEPS_ON_THE_WAY = 0", "--smoke")
    assert done.returncode == 0, done.stderr
    suites = re.findall(r"^(\w+): \d of 1 runs certified$", done.stdout, flags=re.MULTILINE)
    assert suites == ["bits", "tables", "frontier"]
    lines = re.findall(r"^  (.+?)  +\d of 1 differ; certified", done.stdout, flags=re.MULTILINE)
    assert lines == ["no local search in the archive", "no local search in the archive", "STEPS_ON_THE_WAY = 0"]


def test_unknown_name_is_refused_with_the_names_there_are() -> None:
    done = run("benchmarks.ablations", "no luck")
    assert done.returncode == 2
    assert "NAME must be one of bits, small, " in done.stderr
    assert "; got no luck\n" in done.stderr


def test_changes_are_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    importable(monkeypatch)
    from benchmarks.ablations import Change, changed

    owner = SimpleNamespace(number=1)
    with changed([Change(owner, "number", 2)]):
        assert owner.number == 2
    assert owner.number == 1
