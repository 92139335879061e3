"""`python -m benchmarks.audit` would run, and the page is the one that the kept numbers make."""

from __future__ import annotations

from benchmarks.audit.__main__ import PAGE, kept, single, summary

from benchmarking import run


def test_the_benchmark_audits_the_methods_that_are_there() -> None:
    done = run("benchmarks.audit", "--smoke")
    assert done.returncode == 0, done.stderr
    assert "Seeds            fidelitree" in done.stdout
    assert "claims too much" in done.stdout


def test_the_page_holds_the_numbers_that_were_measured() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert summary(kept()).markdown() in text
    assert single(kept()).markdown() in text
    assert len({row.model for row in kept()}) == 12
