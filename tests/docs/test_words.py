"""Pages are written in short sentences of plain words, and hold few measurements: logs lie under benchmarks/."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prose import BANNED, MOST_WORDS, sentences, words

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
MOST_ROWS = 12
LONG = {  # pages of the laboratory, and pages that programs write, which have longer sentences: never more
    "comparison.md": 2, "diff.md": 5, "errata.md": 7, "learners.md": 13, "paper.md": 9,
    "proofs.md": 7, "theory.md": 25, "tight.md": 8,
}  # fmt: skip
NUMBER = re.compile(r"[<>]?\s*[\d.,]+(?:e-?\d+)?\s*(?:%|s|ms|µs|x|MB)?")


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT / "docs" if page.is_relative_to(ROOT / "docs") else ROOT))


def measured(page: str) -> int:
    """Rows of tables in which two cells or more are numbers."""
    prose = page.partition("<!-- Everything below is written by")[0]
    prose = re.sub(r"^(`{3,}).*?^\1", "", prose, flags=re.DOTALL | re.MULTILINE)
    rows = (line.strip("|").split("|")[1:] for line in prose.splitlines() if line.startswith("|"))
    return sum(sum(bool(NUMBER.fullmatch(cell.strip())) for cell in row) >= 2 for row in rows)


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_sentences_are_short(page: Path) -> None:
    found = [one for one in sentences(page.read_text(encoding="utf-8")) if words(one) > MOST_WORDS]
    assert len(found) <= LONG.get(_name(page), 0), "\n".join(found)


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_words_are_plain(page: Path) -> None:
    text = " ".join(sentences(page.read_text(encoding="utf-8")))
    assert [word for word in BANNED if re.search(rf"\b{word}\b", text, re.IGNORECASE)] == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_a_page_is_no_log(page: Path) -> None:
    assert measured(page.read_text(encoding="utf-8")) <= MOST_ROWS


def test_what_is_long_banned_or_a_log_is_noticed() -> None:
    """Code counts as one word, a list's points are sentences of their own, tables and code are not read."""
    long = " ".join(["word"] * (MOST_WORDS + 1))
    assert [words(one) for one in sentences(f"Short `{long}` one. And {long}.\n\n| {long} |\n\n```\n{long}\n```")] == [
        3,
        24,
    ]
    assert [words(one) for one in sentences("- One two\n- Three\n\nFour: see [five six](seven.md). Eight.")] == [
        2,
        1,
        4,
        1,
    ]
    assert measured("| a | 1 | 2.5 % |\n| b | 1 | - |\n| c | 3 s | 4 MB |") == 2
