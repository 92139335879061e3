"""`make campaign` at a small size: every way to a certificate, and each planted fault is seen.

One line of the campaign accuses certificates that just keep their word with probability ALARM = 1e-4; with fixed seeds
it does so always or never.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):  # benchmarks/__init__.py sets them
        monkeypatch.setenv(f"{library}_NUM_THREADS", "1")


QUICK = (
    "certify",
    "auto",
    "auto, not deterministic",
    "auto, epsilon None",
    "practical_top_down",
    "certify, patched predictor",
)
SLOW = (
    "auto, prefer leaves",
    "influence",
    "smallest",
    "auto, any features",
    "auto, rows of a table",
    "auto, rows held out of a fit",
    "auto, extended three times",
)
FEW = {"auto, numbers": 1, "certify": 36, "certify, patched predictor": 36, "auto": 12, "practical_top_down": 12}
CURVES = ("frontier, all points", "deferring, all points")
WORLDS = (
    "auto, mixtures",
    "auto, samplers",
    "auto, neighbours of rows",
    "auto, numbers",
    "auto, missing numbers",
    "auto, Chow-Liu trees",
)
BEFORE = (  # a run that comes after another one
    "auto, patched target",
    "auto, cached target",
    "auto, replayed seeds",
    "certify, replayed seeds",
    "auto, interrupted counting",
    "diff, patched target",
    "auto, rows kept from a fit",
    "auto, duplicated rows",
    "auto, grouped rows",
)
HOSTILE = ("auto, scribbling target", "auto, re-used buffer", "auto, NUL labels")


@pytest.mark.parametrize("door", [*QUICK, *SLOW, *CURVES, *WORLDS, *HOSTILE, *BEFORE])
def test_certificates_keep_their_word(door: str, soak: bool) -> None:
    from benchmarks.campaign.judge import Line, perform, runs_of

    count = (600 if door in QUICK else 120) if soak else FEW.get(door, 4)
    line = Line.of(door, 0.2, map(perform, runs_of(door, 0.2, count)))
    assert line.certificates > 0
    assert not line.broken
    assert 0 < line.bound <= 1


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value encountered")  # a faulty run's own
def test_each_planted_fault_is_seen(soak: bool) -> None:
    from benchmarks.campaign.faults import FAULTS
    from benchmarks.campaign.judge import Line, perform, runs_of

    for fault, (_, door) in FAULTS.items():
        if door in CURVES and not soak:
            continue  # it shows in one run of nine; test_frontier_together and test_defer_keeps_its_word show it sooner
        runs, verdicts = map(perform, runs_of(door, 0.05, 400 if door in CURVES else 120, fault)), []
        while more := list(islice(runs, 10)):
            verdicts += more
            if Line.of(fault, 0.05, verdicts).broken:
                break
        assert Line.of(fault, 0.05, verdicts).broken, fault


def test_the_families_are_what_they_say() -> None:
    from benchmarks.campaign.targets import FAMILIES, case, cube, places

    assert np.array_equal(places(cube()), np.arange(len(cube())))
    for family in FAMILIES:
        found = case(family, 0.1, 7)
        assert set(found.labels.tolist()) <= {0, 1}
        assert found.weights().sum() == pytest.approx(1)
        error = found.error(found.rival)
        if family in ("textbook", "random", "edge", "quiet"):
            assert 1 < error / 0.1 < 1.05
        assert error > 0.1
        again = case(family, 0.1, 7)
        assert np.array_equal(again.labels, found.labels)
