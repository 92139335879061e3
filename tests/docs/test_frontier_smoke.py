"""`python -m benchmarks.frontier` would run: its tables and bars are printed at toy size."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.frontier", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)


def test_benchmark_prints_its_tables_and_its_bars(data_dir: Path) -> None:
    done = run("--smoke")
    assert done.returncode == 0, done.stderr
    for name, rows in (("frontiers", 9), ("forecasts", 1)):
        section = re.search(
            rf"^{name}: .+\n\n(.+)\n([- ]+)\n((?:.+\n)+)\n((?:.*\n)*?)((?:bar: .+\n)+)", done.stdout, re.MULTILINE
        )
        assert section is not None, f"no table of {name} in\n{done.stdout}"
        assert len(section[3].splitlines()) == rows
        assert all(re.search(r"\d", row) for row in section[3].splitlines())
        assert all("not judged at smoke size (" in bar for bar in section[5].splitlines())


@pytest.mark.parametrize("arguments", [("--smoke", "--write"), ("--quick", "--write")])
def test_page_is_written_from_a_full_run_only(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert "--write needs all models at full size" in done.stderr


def test_unknown_name_is_refused_with_the_names_there_are() -> None:
    done = run("--models", "trees")
    assert done.returncode == 2
    assert "NAME must be one of COMPAS, Seeds, " in done.stderr
