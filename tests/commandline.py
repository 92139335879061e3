"""Runs the command line inside the test's own process, and makes small targets for it."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from fidelitree import cli

if TYPE_CHECKING:
    from pathlib import Path

TARGETS = """
import numpy as np

def alarm(batch):
    return batch[:, 3] & (batch[:, 0] | batch[:, 1] & batch[:, 2])

def parity(batch):
    return batch.sum(axis=1) % 2

def loan(table):
    return np.where((np.asarray(table["age"]) > 40) & (np.asarray(table["job"]) == "nurse"), "yes", "no")

def other(table):
    return np.where(np.asarray(table["age"]) > 70, "yes", "no")

def price(table):
    return 0.5 * np.asarray(table["age"]) + 10.25 * (np.asarray(table["job"]) == "pilot")

def digits(table):
    return (np.asarray(table["label"]) * 7919) % 10 // 5

def fails(batch):
    raise RuntimeError("the database is gone")

def quits(batch):
    raise SystemExit(0)

count = 0

def interrupted(batch):
    global count
    count += len(batch)
    if count > 400:
        raise KeyboardInterrupt
    return parity(batch)

def never(batch):
    raise KeyboardInterrupt
"""
BITS = ("--bernoulli", "0.5", "--features", "12")


@dataclass(frozen=True)
class Done:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run(*arguments: object) -> Done:
    """Run `fidelitree ARGUMENTS`; an exception that no command should let out is raised here."""
    done = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}).invoke(cli.app, list(map(str, arguments)))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


def refused(*arguments: object, code: int = 2) -> str:
    """The one line that a command ends with when it cannot do what it is asked."""
    done = run(*arguments)
    assert done.code == code, done
    assert done.out == ""
    lines = done.err.splitlines()
    assert len(lines) == 1, done.err
    assert lines[0].startswith("fidelitree: ")
    return lines[0].removeprefix("fidelitree: ")


def people(folder: Path) -> Path:
    """A table of ages, jobs and owners, with the label that a model was made for."""
    rows = [f"{18 + 7 * i % 61},{('clerk', 'nurse', 'pilot')[i % 3]},{i % 2 == 0},{i}" for i in range(240)]
    path = folder / "people.csv"
    path.write_text("\n".join(["age,job,owner,label", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder but for the module `aims` of targets, which is forgotten afterwards."""
    (tmp_path / "aims.py").write_text(TARGETS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "aims", raising=False)
    return tmp_path
