"""Writes the rooms of ARCHITECTURE.md from the import contract and the docstrings: python docs/architecture.py"""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "ARCHITECTURE.md"
SOURCE = ROOT / "src" / "fidelitree"
BEGIN, END = "<!-- rooms: written by docs/architecture.py -->\n", "<!-- end of rooms -->\n"


def layers() -> list[list[str]]:
    """The rooms of each layer of the contract, the highest first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = project["tool"]["importlinter"]["contracts"]
    return [layer.split(" | ") for layer in contract["layers"]]


def table() -> Iterator[str]:
    """One row for each room, line by line."""
    yield from ("| layer | room | what it is | its files |", "|---|---|---|---|")
    for number, rooms in enumerate(layers(), 1):
        for room in rooms:
            yield f"| {number} | `{room}` | {summary(room)} | {', '.join(f'`{name}`' for name in files(room))} |"


def summary(room: str) -> str:
    """The first line of a room's docstring, without its full stop."""
    path = SOURCE / room / "__init__.py" if (SOURCE / room).is_dir() else SOURCE / f"{room}.py"
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert docstring is not None, "ruff asks for one"
    return docstring.splitlines()[0].removesuffix(".").replace("``", "`").replace("|", "\\|")


def files(room: str) -> list[str]:
    """Modules and packages inside a room."""
    found = [path for path in (SOURCE / room).glob("[!_]*") if path.suffix == ".py" or (path / "__init__.py").exists()]
    return sorted(path.stem if path.suffix else f"{path.name}/" for path in found)


def page(text: str) -> str:
    """The page with the table as it must be."""
    before, rest = text.split(BEGIN)
    return "".join([before, BEGIN, *(f"{line}\n" for line in table()), END, rest.split(END)[1]])


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
