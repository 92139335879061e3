"""Trials that were measured before, one line of JSON each: a run adds those that are missing, another goes on.

A line says with what it was measured and at which commit. Trials of other settings are left alone; those of other
commits count, and the page names the commits.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.frontier.cases import Case
from benchmarks.frontier.trial import Settings, Trial
from benchmarks.machine import commit

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "results" / "frontier.jsonl"


@dataclass
class KeptTrials:
    """The trials of one file that were measured with some settings."""

    path: Path
    settings: Settings

    def __post_init__(self) -> None:
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        found = [record for record in map(json.loads, lines) if record["settings"] == asdict(self.settings)]
        self.trials = {(trial.case, trial.seed): trial for trial in (_read(record["trial"]) for record in found)}
        self.commits = sorted({record["commit"] for record in found})
        commit()  # sources may change while trials run

    def add(self, trial: Trial) -> None:
        """Append a trial to the file, so that the next run need not repeat it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        record = {"commit": commit(), "settings": asdict(self.settings), "trial": _written(trial)}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        self.trials[trial.case, trial.seed] = trial
        self.commits = sorted({*self.commits, commit()})


def _written(trial: Trial) -> dict[str, Any]:
    errors = [[name, size, error] for (name, size), error in trial.errors.items()]
    return {**asdict(trial), "bounds": list(trial.bounds.items()), "errors": errors}


def _read(record: dict[str, Any]) -> Trial:
    errors = {(name, size): error for name, size, error in record["errors"]}
    return Trial(**{**record, "case": Case(**record["case"]), "bounds": dict(record["bounds"]), "errors": errors})
