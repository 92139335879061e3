"""Numbers that pages state in words are those that stand beside them, or in the log of what measured them."""

from __future__ import annotations

import csv
import re
import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from markdown_it import MarkdownIt

from documents import pages

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
SPENT = re.compile(r"(?<!up to )(?<![\d,])(\d[\d,]*) (?:calls|labels|leaves|queries|questions|times)\b")
NUMBER = re.compile(r"\d[\d,_]*(?:\.\d+)?")
SOURCE = re.compile(r"`[^`]*(?:benchmarks|pytest|experiment)[^`]*`")
LOGS = [
    "docs/audited.md",
    "docs/comparison.md",
    *(str(log.relative_to(ROOT)) for log in ROOT.glob("benchmarks/**/*.md")),
]
LOGS.remove("benchmarks/audit/page.md")  # a form, which is filled in by its program


def _plain(number: str) -> str:
    return number.replace(",", "").replace("_", "")


def invented(page: str) -> Iterator[tuple[str, str]]:
    """Counts of ten and more, in prose about what was printed, that were not printed; and the prose."""
    tokens = MarkdownIt().enable("table").parse(page)
    shown = "\n".join(
        one.content for one in tokens if one.type == "fence" or (one.type == "inline" and one.level > 3)
    )  # cells of tables lie deeper than paragraphs
    known = {_plain(found) for found in NUMBER.findall(shown)}
    printed = False
    for one in tokens:
        if one.type == "fence":
            printed = one.info.split()[:1] in (["text"], ["output"])
        elif one.type == "heading_open":
            printed = False
        elif one.type == "inline" and printed and not SOURCE.search(one.content):
            counts = {_plain(found) for found in SPENT.findall(one.content)}
            yield from ((count, one.content) for count in sorted(counts - known) if int(count) >= 10)


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_counts_in_prose_are_those_that_were_printed(page: Path) -> None:
    assert list(invented(page.read_text(encoding="utf-8"))) == []


def test_an_invented_count_is_noticed() -> None:
    page = "```python\nrun()\n```\n\n```text\n296 labels\n```\n\nIt took {} calls.\n"
    assert list(invented(page.format("296"))) == []
    assert [count for count, _ in invented(page.format("1,304"))] == ["1304"]
    assert list(invented(page.format("1,304") + "\n| a | b |\n|---|---|\n| 1,304 | 2 |\n")) == []


def test_the_first_screen_of_the_site_is_that_of_the_readme() -> None:
    fences = [
        [one.content for one in MarkdownIt().parse((ROOT / name).read_text(encoding="utf-8")) if one.type == "fence"]
        for name in ("README.md", "docs/index.md")
    ]
    assert fences[0][:2] == fences[1][:2]


@pytest.mark.parametrize("log", LOGS)
def test_a_log_names_the_commit_that_was_measured(log: str) -> None:
    assert re.search(r"fidelitree at\s+commit [0-9a-f]{7}", (ROOT / log).read_text(encoding="utf-8")), log


MEASURED = [page for page in pages() if re.search(r"`python -m benchmarks", page.read_text(encoding="utf-8"))]
ONLY_NAMED = {"CONTRIBUTING.md", "CHANGELOG.md", "learners.md"}  # pages that name a benchmark, and no figure of it


@pytest.mark.parametrize("page", [one for one in MEASURED if one.name not in ONLY_NAMED], ids=lambda page: page.name)
def test_a_page_with_measurements_names_the_commit(page: Path) -> None:
    assert re.search(r"\bcommit [0-9a-f]{7}", page.read_text(encoding="utf-8")), page.name


def test_the_readme_counts_the_runs_of_the_campaign() -> None:
    measured: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "measured.py"))
    runs = measured["counted"](measured["campaign"](), "runs")
    for name in ("README.md", "docs/index.md"):
        assert re.findall(r"\[([\d,]+) hostile runs\]", (ROOT / name).read_text(encoding="utf-8")) == [f"{runs:,}"]


def test_words_about_the_audit_are_those_of_its_rows() -> None:
    with (ROOT / "benchmarks" / "audit" / "results.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["claim"]]
    audited = {
        (row["model"], row["method"]): {name: float(row[name]) for name in ("claim", "low", "high")} for row in rows
    }
    ours = {model: row for (model, method), row in audited.items() if method == "fidelitree"}

    def count(method: str, of: str) -> int:
        own = [(row, ours[model]) for (model, who), row in audited.items() if who == method]
        return sum(
            {
                "too high": row["claim"] > row["high"],
                "better": row["low"] > us["high"],
                "worse": row["high"] < us["low"],
            }[of]
            for row, us in own
        )

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"scikit-learn's tree was too high on {count('scikit-learn tree', 'too high')}," in text
    assert f"the figure that trustee prints on {count('trustee', 'too high')}, a certificate on none" in text
    assert count("fidelitree", "too high") == 0
    page = (ROOT / "docs" / "audited.md").read_text(encoding="utf-8")
    assert f"On {count('imodels FIGS', 'better')} of the 12 models FIGS agrees clearly more often" in page
    better, worse = (count("scikit-learn tree", how) for how in ("better", "worse"))
    assert f"The tree of scikit-learn does so on {better}, and is worse on {worse}." in page
