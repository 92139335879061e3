"""`python -m benchmarks.diff` would run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_benchmark_prints_its_figures() -> None:
    command = [sys.executable, "-m", "benchmarks.diff", "--few", "--part", "random"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    assert "2 of 2 certified, 0 false" in done.stdout
