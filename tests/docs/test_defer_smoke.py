"""`python -m benchmarks.defer` would run."""

from __future__ import annotations

from benchmarking import run


def test_benchmark_prints_its_table_and_its_bars() -> None:
    done = run("benchmarks.defer", "--few")
    assert done.returncode == 0, done.stderr
    assert "defer: certified coverage at epsilon 0.05, 1,500 labels" in done.stdout
    assert done.stdout.count("not judged at smoke size") == 2
