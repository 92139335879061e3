"""Runs the documents: what a page says is done, and what it shows is compared with what was printed.

- the `python` blocks of a page run in order in one namespace and one temporary folder;
- a `text` or `output` block directly after a `python` block is what that block prints;
- a line `$ ...` of a `console` block is run, and the lines under it are what it prints (see console.py);
- a block with `title="NAME"` after its language is also written to the file NAME of that folder;
- a line that is only `...` stands for any number of lines;
- a block right under the comment `<!-- not run: reason -->` is checked (it compiles, its options exist), but not run.
"""

from __future__ import annotations

import contextlib
import io
import re
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


def run_page(page: Path, folder: Path) -> None:
    """Run every block of a page inside a folder, which is the current one while it lasts."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    printed: str | None = None  # by the python block just above
    with contextlib.chdir(folder):
        for block in blocks(page.read_text(encoding="utf-8")):
            if block.file is not None:
                Path(block.file).write_text(block.text, encoding="utf-8")
            elif block.language in ("text", "output") and block.follows_block and printed is not None:
                compare(block.text, printed, f"{page.name}:{block.line}")
            printed = run_python(block, page, namespace) if block.language == "python" else None
            if block.language == "console":
                run_console(block, page, folder)


def run_python(block: Block, page: Path, namespace: dict[str, object]) -> str | None:
    """Run a block as part of its page, so that a traceback shows the page's own line; return what it printed."""
    code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
    if not block.runs:
        return None
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(code, namespace)
    return output.getvalue()


def run_console(block: Block, page: Path, folder: Path) -> None:
    """Run each command of a block, or check it, and compare its output with the lines shown under it."""
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
            compare(shown, printed, where)


def compare(shown: str, printed: str, where: str) -> None:
    """The lines shown are the lines printed, blanks at line ends aside; `...` stands for any number of lines."""
    expected = [line.rstrip() for line in shown.rstrip().splitlines()]
    actual = [line.rstrip() for line in printed.rstrip().splitlines()]
    pattern = "".join("(?:.*\n)*?" if line.strip() == "..." else re.escape(line + "\n") for line in expected)
    if not re.fullmatch(pattern, "".join(line + "\n" for line in actual)):
        wanted, got = "\n".join(expected), "\n".join(actual)
        raise DocumentError(f"{where}: the page shows\n{wanted}\n--- but this was printed\n{got}")
