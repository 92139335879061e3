"""Every page and example does what it says, and says everything that the command line has."""

from __future__ import annotations

import re
import runpy
import secrets
import shutil
from typing import TYPE_CHECKING

import pytest

from console import check_command, command_lines
from documents import ROOT, DocumentError, pages, run_page
from fidelitree.cli import app

if TYPE_CHECKING:
    from pathlib import Path


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("document", [*pages(), *sorted(ROOT.glob("examples/**/*.py"))], ids=_name)
def test_document_does_what_it_says(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With fresh seeds, as a reader has them: a page that shows numbers of a run gives its seed."""
    monkeypatch.setattr("fidelitree.spaces.draw.fresh_seed", lambda: secrets.randbits(53))
    if document.suffix == ".md":
        run_page(document, tmp_path)
    else:
        shutil.copytree(document.parent, tmp_path, dirs_exist_ok=True)
        monkeypatch.chdir(tmp_path)
        runpy.run_path(document.name, run_name="__main__")


def test_every_command_is_documented() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages())
    lines = command_lines(app)
    assert any(line.startswith("experiment ") for line in lines), "experiments are choices or commands of the CLI"
    missing = [line for line in sorted(lines) if not re.search(rf"fidelitree {re.escape(line)}(?![\w-])", text)]
    assert missing == [], "no page mentions these"


# The runner itself: each fault planted in a page must turn it red.

GOOD = """
```python
x = 2
print(x)
print("and", x)
```

```text
2
...
```

```python
print(x + 1)
```

Prose between the two: not compared.

```text
anything
```

```console
$ echo one two \\
    three
one two three
$ WORD=four echo "five"
five
$ echo b | cat
b
$ make test
```

<!-- not run: it would fail -->

```python title="failing.py"
raise SystemExit
```

```text title="words.txt"
one
```

```console
$ cat failing.py words.txt
raise SystemExit
one
```
"""

FAULTS = {
    "wrong output": (
        "```python\nprint(1)\n```\n```text\n2\n```",
        "page.md:5: the page shows\n2\n--- but .* printed\n1",
    ),
    "too little": ("```python\nprint(1)\nprint(2)\n```\n```output\n1\n```", "page.md:6"),
    "wrong console output": ("```console\n$ echo 1\n1\n$ echo 2\n3\n```", "page.md:5: the page shows\n3"),
    "failing command": ("```console\n$ cat nowhere\n```", "page.md:2: cat nowhere: ended with 1"),
    "no such target": ("```console\n$ make coffee\n```", "no such target in the Makefile: coffee"),
    "no such extra": ("```console\n$ pip install 'fidelitree[plot,wings]'\n```", "no such extra in .*: wings"),
    "no such file": (
        "```console\n$ python examples/nowhere.py\n```",
        "no such file in the repository: examples/nowhere",
    ),
    "no such module": ("```console\n$ python -m nowhere\n```", "no such module: nowhere"),
    "unknown program": ("```console\n$ reboot\n```", "knows no way to check 'reboot'"),
    "no command": ("```console\nonly output\n```", "needs a command"),
}


def _run(text: str, folder: Path) -> None:
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    run_page(page, folder)


def test_runner_accepts_a_true_page(tmp_path: Path) -> None:
    _run(GOOD, tmp_path)


@pytest.mark.parametrize("fault", FAULTS)
def test_runner_refuses_a_false_page(fault: str, tmp_path: Path) -> None:
    text, message = FAULTS[fault]
    with pytest.raises(DocumentError, match=f"(?s){message}"):
        _run(text, tmp_path)


def test_runner_refuses_code_that_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        _run("```python\n1 / 0\n```", tmp_path)
    with pytest.raises(SyntaxError):
        _run("<!-- not run: slow -->\n\n```python\n1 /\n```", tmp_path)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("fidelitree experiment size-vs-epsilon --colour red", "no such option: --colour"),
        ("fidelitree brew", "no such command: brew"),
    ],
)
def test_unrun_commands_are_checked(command: str, message: str) -> None:
    check_command("fidelitree experiment size-vs-epsilon --repetitions 6 --out=results")
    with pytest.raises(ValueError, match=message):
        check_command(command)
