"""Runs the documents: what a page says is done, and what it shows is compared with what was printed.

- the `python` blocks of a page run in order in one namespace and one temporary folder;
- a `text` or `output` block directly after a `python` block is what that block prints;
- a line `$ ...` of a `console` block is run, and the lines under it are what it prints (see console.py);
- a block with `title="NAME"` after its language is also written to the file NAME of that folder;
- a line that is only `...` stands for any number of lines;
- a block right under the comment `<!-- not run: reason -->` is checked (it compiles, its options exist), but not run.

`python tests/documents.py PAGE ...` runs pages and writes what was printed into them. Read the difference: a page says
in words, too, what it shows.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

from console import check_command, commands, is_run, run_command

ROOT = Path(__file__).resolve().parents[1]
TITLE = re.compile(r'title="([\w.-]+)"')


class DocumentError(AssertionError):
    """A page says something that is not so."""


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file that it is, its text, the line of the page that its text starts on."""

    language: str
    file: str | None
    text: str
    line: int
    runs: bool  # False right under a "not run" comment
    follows_block: bool  # nothing but blank lines between it and the fence before


def pages(root: Path = ROOT) -> list[Path]:
    """The Markdown files that are run: beside the Makefile, in docs, in examples."""
    return sorted([*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("examples/**/*.md")])


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found, before, comment = [], "", ""
    for token in MarkdownIt().parse(text):
        if token.type == "fence" and token.map is not None:
            language = token.info.split()[0] if token.info.strip() else ""
            title, runs = TITLE.search(token.info), not comment.startswith("<!-- not run:")
            found.append(Block(language, title and title[1], token.content, token.map[0] + 2, runs, before == "fence"))
        before, comment = token.type, token.content if token.type == "html_block" else ""
    return found


@dataclass(frozen=True)
class Shown:
    """Lines that a page shows as printed: the page, the number of the first one, their text."""

    page: Path
    line: int
    text: str

    @property
    def where(self) -> str:
        return f"{self.page.name}:{self.line}"


Judge = Callable[[Shown, str], None]
"""What is done with lines that are shown, and with what was printed."""


def run_page(page: Path, folder: Path, judge: Judge | None = None) -> None:
    """Run every block of a page inside a folder, which is the current one while it lasts."""
    judge = compare if judge is None else judge
    namespace: dict[str, object] = {"__name__": "__main__"}
    printed: str | None = None  # by the python block just above
    with contextlib.chdir(folder):
        for block in blocks(page.read_text(encoding="utf-8")):
            if block.file is not None:
                Path(block.file).write_text(block.text, encoding="utf-8")
            elif block.language in ("text", "output") and block.follows_block and printed is not None:
                judge(Shown(page, block.line, block.text), printed)
            printed = run_python(block, page, namespace) if block.language == "python" else None
            if block.language == "console":
                run_console(block, page, folder, judge)


def run_python(block: Block, page: Path, namespace: dict[str, object]) -> str | None:
    """Run a block as part of its page, so that a traceback shows the page's own line; return what it printed."""
    code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
    if not block.runs:
        return None
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(code, namespace)
    return output.getvalue()


def run_console(block: Block, page: Path, folder: Path, judge: Judge) -> None:
    """Run each command of a block, or check it, and judge the lines shown under it."""
    lines = block.text.splitlines()
    for offset, command, shown in commands(block.text):
        where = f"{page.name}:{block.line + offset}"
        try:
            if not (block.runs and is_run(command)):
                check_command(command)
                continue
            printed = run_command(command, folder)
        except ValueError as problem:
            raise DocumentError(f"{where}: {command}: {problem}") from None
        if shown:
            last = next(number for number in range(offset, len(lines)) if not lines[number].endswith("\\"))
            judge(Shown(page, block.line + last + 1, shown), printed)


def compare(shown: Shown, printed: str) -> None:
    """The lines shown are the lines printed, blanks at line ends aside; `...` stands for any number of lines."""
    expected = [line.rstrip() for line in shown.text.rstrip().splitlines()]
    actual = [line.rstrip() for line in printed.rstrip().splitlines()]
    pattern = "".join("(?:.*\n)*?" if line.strip() == "..." else re.escape(line + "\n") for line in expected)
    if not re.fullmatch(pattern, "".join(line + "\n" for line in actual)):
        wanted, got = "\n".join(expected), "\n".join(actual)
        raise DocumentError(f"{shown.where}: the page shows\n{wanted}\n--- but this was printed\n{got}")


def mended(shown: str, printed: str) -> list[str] | None:
    """What a page should show: all that was printed, or as many lines before and after one `...` as it shows now."""
    expected, actual = shown.rstrip().splitlines(), [line.rstrip() for line in printed.rstrip().splitlines()]
    gaps = [number for number, line in enumerate(expected) if line.strip() == "..."]
    if not gaps:
        return actual
    after = len(expected) - 1 - gaps[0]
    if len(gaps) > 1 or gaps[0] + after > len(actual):
        return None
    return [*actual[: gaps[0]], expected[gaps[0]], *(actual[-after:] if after else [])]


def write_page(page: Path) -> list[str]:
    """Write what is printed into a page; the places that somebody must look at."""
    changes: list[tuple[Shown, list[str]]] = []
    left: list[str] = []

    def note(shown: Shown, printed: str) -> None:
        try:
            compare(shown, printed)
        except DocumentError as difference:
            found = mended(shown.text, printed)
            left.append(str(difference)) if found is None else changes.append((shown, found))

    with tempfile.TemporaryDirectory() as folder:
        run_page(page, Path(folder), note)
    lines = page.read_text(encoding="utf-8").splitlines()
    for shown, found in reversed(changes):
        start = shown.line - 1
        lines[start : start + len(shown.text.rstrip().splitlines())] = found
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return left


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(f"{name}: written", *write_page(Path(name).resolve()), sep="\n")
