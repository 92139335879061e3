"""Benchmarks as tests start them: as a program, or in this process where a command line is only refused."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test import benchmarks; their package sets how many threads libraries may use, which ends with the test."""
    monkeypatch.syspath_prepend(str(ROOT))
    for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        monkeypatch.setenv(f"{library}_NUM_THREADS", "1")


def run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """``python -m MODULE ARGUMENTS`` in the repository."""
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)


def refused(module: str, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """``python -m MODULE ARGUMENTS`` ends with 2, and what it says is on the standard error of this process."""
    importable(monkeypatch)
    monkeypatch.setattr(sys, "argv", [module, *arguments])
    with pytest.raises(SystemExit) as ended:
        import_module(f"{module}.__main__").main()
    assert ended.value.code == 2
