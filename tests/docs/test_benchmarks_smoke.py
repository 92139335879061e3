"""`make bench` would run: every benchmark prints its table at toy size. No test looks at a time."""

from __future__ import annotations

import re

import pytest

from benchmarking import ROOT, refused, run

FILES = sorted((ROOT / "benchmarks").glob("*.py"))
BENCHMARKS = [path.stem for path in FILES if "\ndef run(smoke: bool)" in path.read_text(encoding="utf-8")]


@pytest.fixture(scope="module")
def printed() -> str:
    done = run("benchmarks", "--smoke")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_machine_comes_first(printed: str) -> None:
    assert re.match(r"\d+ cores \(.*\), Python 3\.\d+\.\d+, NumPy \d+\.\d+", printed)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_benchmark_prints_its_table_and_its_bar(name: str, printed: str) -> None:
    table = r"(.+)\n([- ]+)\n((?:.+\n)+)\n"
    more = r"(?:.+\n[- ]+\n(?:.*\d.*\n)+\n)*"
    section = re.search(rf"^{name}: .+\n\n{table}{more}((?:bar: .+\n)+)", printed, flags=re.MULTILINE)
    assert section is not None, f"no table of {name} in\n{printed}"
    headings, rule, rows, bars = section.groups()
    assert len(rule) >= len(headings.rstrip())
    assert all(re.search(r"\d", row) for row in rows.splitlines())
    assert all("not judged at smoke size (" in bar for bar in bars.splitlines())


def test_unknown_name_is_refused_with_the_names_there_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refused("benchmarks", ("influence",), monkeypatch)
    said = capsys.readouterr().err
    listed = re.search(r"NAME must be one of (.+); got influence\n", said)
    assert listed is not None, said
    assert sorted(listed[1].split(", ")) == BENCHMARKS
