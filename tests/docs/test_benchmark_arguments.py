"""Benchmarks refuse a command line before they measure anything, and say why."""

from __future__ import annotations

import pytest

from benchmarking import refused

PAGE = {
    "--write needs all benchmarks at full size: give it alone": [
        ("benchmarks", "--smoke --write"),
        ("benchmarks", "predict --write"),
        ("benchmarks.queries", "--smoke --write"),
        ("benchmarks.queries", "small --write"),
    ],
    "--write needs all models at full size": [
        ("benchmarks.frontier", "--smoke --write"),
        ("benchmarks.frontier", "--quick --write"),
    ],
    "--write needs all rows at full size": [
        ("benchmarks.leaves", "--smoke --write"),
        ("benchmarks.leaves", "--names bank --write"),
    ],
    "--write needs both parts at full size": [
        ("benchmarks.smallest", "--smoke --write"),
        ("benchmarks.smallest", "circuits --write"),
    ],
}
PAGES = [(module, line, message) for message, lines in PAGE.items() for module, line in lines]


@pytest.mark.parametrize(("module", "line", "message"), PAGES)
def test_page_is_written_from_a_full_run_only(
    module: str, line: str, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(module, tuple(line.split()), monkeypatch)
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("module", "line", "messages"),
    [
        ("benchmarks.frontier", "--models trees", ["NAME must be one of COMPAS, Seeds, "]),
        ("benchmarks.leaves", "--names bank museum", ["NAME must be one of COMPAS, Seeds", "; got museum"]),
        (
            "benchmarks.queries",
            "large huge",
            ["NAME must be one of small, large, known, certificate, time, honesty, workload, tables, juntas; got huge"],
        ),
        ("benchmarks.smallest", "trees", ["NAME must be one of circuits, workload; got trees"]),
        (
            "benchmarks.mutants",
            "binomials",
            ["MODULE must be one of asking/journal/exporting, ", ", trees/treefile; got binomials\n"],
        ),
    ],
)
def test_unknown_name_is_refused_with_the_names_there_are(
    module: str, line: str, messages: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(module, tuple(line.split()), monkeypatch)
    said = capsys.readouterr().err
    assert [message for message in messages if message not in said] == []
