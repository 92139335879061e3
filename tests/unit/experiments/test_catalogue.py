"""Experiments by name: their files, their summaries, and an unknown name."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np
import pytest

import fidelitree as ft
from fidelitree import theory
from fidelitree.experiments import errata, iteration, sizes
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
def test_a_figure_is_a_table_the_papers_picture_a_larger_one_and_a_summary(
    name: str, cells: object, places: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sizes, name.replace("-", "_"), cells)
    steps: list[tuple[int, int]] = []
    settings = Settings(tmp_path / "out", repetitions=2, schedule="printed")
    report = run(name, settings, lambda done, total: steps.append((done, total)))
    kinds = (".csv", "-paper.png", "-paper.svg", ".png", ".svg", ".txt")
    assert files_of(report) == [f"{name}-printed{kind}" for kind in kinds]
    assert all(path.stat().st_size > 500 for path in report.files)
    with report.files[0].open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 36
    assert steps == [(done, 36) for done in range(1, 37)]
    assert len(report.summary) == 1 + 3 * 3 * 2 + 1, "a line for each cell of the figure"
    assert [line.split()[2] for line in report.summary[1:3]] == places
    sizes_of = [int(row["size"]) for row in rows[:2]]
    assert f"{np.mean(sizes_of):.1f} ± {np.std(sizes_of):.1f}" in report.summary[1]
    assert report.files[-1].read_text(encoding="utf-8").splitlines() == report.summary
    wrong = sum(float(row["error"]) > float(row["epsilon"]) for row in rows)
    asked = sum(int(row["asked"]) for row in rows)
    assert report.summary[-1] == f"{wrong} of 36 trees have an error above epsilon; {asked:,} label queries in all"


def test_the_bounds_are_a_table_two_pictures_and_a_summary(tmp_path: Path) -> None:
    report = run("bounds", Settings(tmp_path), lambda done, total: None)
    assert files_of(report) == ["bounds.csv", "bounds.png", "bounds.svg", "bounds.txt"]
    assert len(report.summary) > 2
    assert "printed" in report.summary[0]
    assert "corrected" in report.summary[0]


def test_the_errata_say_what_holds_first_and_what_holds_instead(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = [
        errata.Erratum("What holds", "Lemma 1", "holds", "error <= cost", 100, 0, 0, "", "the same", 0),
        errata.Erratum("The one error", "Lemma 2", "fails", "score >= 1", 9, 4, 1, "a dictator", "score >= 1/2", 0),
        errata.Erratum("Slips", "Theorem 3", "slip", "size <= e", 9, 0, 21, "n = 21", "size <= e^2", 0),
    ]
    monkeypatch.setattr(errata, "rows", lambda: rows)
    report = run("errata", Settings(tmp_path), lambda done, total: None)
    assert files_of(report) == ["errata.csv", "errata.png", "errata.svg", "errata.txt"]
    assert report.summary[:11] == [
        "What holds",
        "  holds Lemma 1: error <= cost",
        "",
        "The one error",
        "  fails Lemma 2: score >= 1",
        "        a dictator",
        "        instead: score >= 1/2",
        "",
        "Slips",
        "  slip  Theorem 3: size <= e",
        "        n = 21",
    ]
    assert report.summary[-1] == "violations of the forms that are said to hold: 0"
    assert not any("of 3 statements" in line for line in report.summary), "nothing is counted"


def test_the_tight_exponent_has_a_ratio_that_stays(tmp_path: Path) -> None:
    report = run("tight-exponent", Settings(tmp_path), lambda done, total: None)
    assert files_of(report) == [f"tight-exponent.{kind}" for kind in ("csv", "png", "svg", "txt")]
    ratios = [line.split()[-1] for line in report.summary[1:]]
    assert ratios == ["0.0192", "0.0186", "0.0183", "0.0182", "0.0181", "0.0181"]


@pytest.mark.parametrize("schedule", ["printed", "corrected"])
def test_the_iteration_is_one_of_the_run(schedule: theory.Schedule, tmp_path: Path) -> None:
    report = run("iteration", Settings(tmp_path, schedule=schedule), lambda done, total: None)
    assert files_of(report) == [f"iteration-{schedule}.{kind}" for kind in ("csv", "png", "svg", "txt")]
    seen = iteration.watched(schedule, 0)
    target = ft.targets.balanced(iteration.SPACE, iteration.DEPTH, 0)
    result = ft.practical_top_down(
        target, iteration.SPACE, iteration.EPSILON, iteration.DELTA, seed=0, schedule=schedule
    )
    assert tuple(seen.splits) == result.trace, "the run of practical_top_down, split for split"
    split = result.trace[iteration.LEAVES - 1]
    assert dict(seen.chosen) == dict(split.leaf.restrictions)
    scores = {path: leaf.max() for path, leaf in seen.scores.items()}
    assert max(scores, key=lambda path: scores[path]) == seen.chosen
    assert scores[seen.chosen] == split.score == seen.scores[seen.chosen][seen.feature]
    for kind in (0, 1):
        old, children = seen.before[seen.chosen][kind], [seen.parted[path][kind] for path in seen.children]
        assert sum(children) == old > 0
        assert all(seen.parted[path][kind] == seen.before[path][kind] for path in seen.before if path in seen.parted)
        assert all(seen.after[path][kind] > held[kind] for path, held in seen.parted.items())
    sums = [
        tuple(sum(held[kind] for held in samples.values()) for kind in (0, 1)) for samples in (seen.before, seen.after)
    ]
    held = [
        (theory.label_samples(j, 0.1, 0.1), theory.test_samples(j, 0.1, 0.1)) for j in range(1, iteration.LEAVES + 3)
    ]
    if schedule == "corrected":
        assert sums == held[2:4]
    else:  # as printed: M(1) + M(j + 1) - M(2)
        assert sums == [tuple(np.add(held[0], held[j]) - held[1]) for j in (3, 4)]
    places = iteration.drawn(seen).axes
    assert [place.get_title()[:7] for place in places] == ["Step 1:", "Step 2:", "Step 3:"]
    texts = [{text.get_text() for text in place.texts} for place in places]
    assert (
        f"{seen.before[seen.chosen][0]:,}\n{seen.before[seen.chosen][1]:,}\nx{seen.feature}: {split.score:.4f}"
        in texts[0]
    )
    assert f"{split.score:.4f}" in report.summary[0]


def test_an_unknown_experiment_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        run("nonsense", Settings(tmp_path), lambda done, total: None)
    assert str(caught.value) == f"experiment must be one of {', '.join(EXPERIMENTS)}; got 'nonsense'"
