"""`python -m benchmarks.frontier` would run: its tables and bars are printed at toy size."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarking import run


def test_benchmark_prints_its_tables_and_its_bars(data_dir: Path) -> None:
    done = run("benchmarks.frontier", "--smoke")
    assert done.returncode == 0, done.stderr
    for name, rows in (("frontiers", 9), ("forecasts", 1)):
        section = re.search(
            rf"^{name}: .+\n\n(.+)\n([- ]+)\n((?:.+\n)+)\n((?:.*\n)*?)((?:bar: .+\n)+)", done.stdout, re.MULTILINE
        )
        assert section is not None, f"no table of {name} in\n{done.stdout}"
        assert len(section[3].splitlines()) == rows
        assert all(re.search(r"\d", row) for row in section[3].splitlines())
        assert all("not judged at smoke size (" in bar for bar in section[5].splitlines())
