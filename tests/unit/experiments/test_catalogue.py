"""Experiments by name: their files, their summaries, and an unknown name."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.experiments import errata, sizes
from fidelitree.experiments.catalogue import EXPERIMENTS, Report, Settings, run
from fidelitree.experiments.sizes import PlannedRun

if TYPE_CHECKING:
    from pathlib import Path


def quick(schedule: str, repetitions: int, seed: int) -> list[PlannedRun]:
    """The grid of the second figure with an epsilon and dimensions that take a second."""
    return [
        PlannedRun(family, p, n, 2, 0.3, repetition, schedule, seed)
        for family in sizes.FAMILIES
        for p in sizes.BIASES
        for n in (3, 4)
        for repetition in range(repetitions)
    ]


def quick_epsilon(schedule: str, repetitions: int, seed: int) -> list[PlannedRun]:
    return [
        PlannedRun(family, p, 3, 2, epsilon, repetition, schedule, seed)
        for family in sizes.FAMILIES
        for p in sizes.BIASES
        for epsilon in (0.3, 0.4)
        for repetition in range(repetitions)
    ]


def files_of(report: Report) -> list[str]:
    return [path.name for path in report.files]


@pytest.mark.parametrize(
    ("name", "cells", "places"),
    [
        ("size-vs-dimension", quick, ["3", "4"]),
        ("size-vs-epsilon", quick_epsilon, ["0.3", "0.4"]),
    ],
)
def test_a_figure_is_a_table_two_pictures_and_a_summary(
    name: str, cells: object, places: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sizes, name.replace("-", "_"), cells)
    steps: list[tuple[int, int]] = []
    settings = Settings(tmp_path / "out", repetitions=2, schedule="printed")
    report = run(name, settings, lambda done, total: steps.append((done, total)))
    assert files_of(report) == [f"{name}-printed.{kind}" for kind in ("csv", "png", "svg", "txt")]
    assert all(path.stat().st_size > 500 for path in report.files)
    with report.files[0].open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 24
    assert steps == [(done, 24) for done in range(1, 25)]
    assert len(report.summary) == 1 + 2 * 3 * 2 + 1, "a line for each cell of the figure"
    assert [line.split()[2] for line in report.summary[1:3]] == places
    sizes_of = [int(row["size"]) for row in rows[:2]]
    assert f"{np.mean(sizes_of):.1f} ± {np.std(sizes_of):.1f}" in report.summary[1]
    assert report.files[3].read_text(encoding="utf-8").splitlines() == report.summary
    wrong = sum(float(row["error"]) > float(row["epsilon"]) for row in rows)
    asked = sum(int(row["asked"]) for row in rows)
    assert report.summary[-1] == f"{wrong} of 24 trees have an error above epsilon; {asked:,} label queries in all"


def test_the_bounds_are_a_table_two_pictures_and_a_summary(tmp_path: Path) -> None:
    report = run("bounds", Settings(tmp_path), lambda done, total: None)
    assert files_of(report) == ["bounds.csv", "bounds.png", "bounds.svg", "bounds.txt"]
    assert len(report.summary) > 2
    assert "printed" in report.summary[0]
    assert "corrected" in report.summary[0]


def test_the_errata_say_what_is_false_and_what_holds_instead(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows = [
        errata.Erratum("Lemma 1", "true", "error <= cost", 100, 0, "", "the same", 0),
        errata.Erratum("Lemma 2", "false", "score >= 1", 100, 40, "fails for the dictator", "score >= 1/2", 0),
        errata.Erratum("Theorem 3", "false", "size <= e", 100, 0, "fails for n = 2201", "size <= e^2", 0),
    ]
    monkeypatch.setattr(errata, "rows", lambda: rows)
    report = run("errata", Settings(tmp_path), lambda done, total: None)
    assert files_of(report) == ["errata.csv", "errata.png", "errata.svg", "errata.txt"]
    assert report.summary == [
        "true  Lemma 1: error <= cost",
        "false Lemma 2: score >= 1",
        "      fails for the dictator",
        "      holds: score >= 1/2",
        "false Theorem 3: size <= e",
        "      fails for n = 2201",
        "      holds: size <= e^2",
        "2 of 3 statements are false as printed; violations of corrected forms: 0",
    ]


def test_an_unknown_experiment_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        run("nonsense", Settings(tmp_path), lambda done, total: None)
    assert str(caught.value) == f"experiment must be one of {', '.join(EXPERIMENTS)}; got 'nonsense'"
