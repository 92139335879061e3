"""`python -m benchmarks.smallest` would run: its tables and bars are printed at toy size."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarking import run


def test_benchmark_prints_its_tables_and_its_bars(data_dir: Path) -> None:
    done = run("benchmarks.smallest", "--smoke")
    assert done.returncode == 0, done.stderr
    for name in ("circuits", "workload"):
        section = re.search(rf"^{name}: .+\n\n(.+)\n([- ]+)\n((?:.+\n)+)\n((?:bar: .+\n)+)", done.stdout, re.MULTILINE)
        assert section is not None, f"no table of {name} in\n{done.stdout}"
        assert all(re.search(r"\d", row) for row in section[3].splitlines())
        assert all("not judged at smoke size (" in bar for bar in section[4].splitlines())
