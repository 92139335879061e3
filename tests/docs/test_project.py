"""The rules that a machine can check: one version, small files, nothing of the machine they were written on."""

from __future__ import annotations

import ast
import os
import re
import statistics
import subprocess
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

import fidelitree
from console import make_targets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))

# The public doors gather many keyword-only arguments at once; inside, six are enough.
DOORS = {
    "paper.py": {"build_top_down", "practical_top_down"},
    "analyze.py": {"analyze"},
    "audit.py": {"certify"},
    "by_class.py": {"errors_by_class"},
    "compare.py": {"compare"},
    "diff.py": {"diff"},
    "distill.py": {"distill"},
    "frontier.py": {"frontier"},
    "sklearn.py": {"__init__"},
    "testing.py": {"assert_agrees"},
    "verify.py": {"verify"},
    # Kernels: Triton passes no records, so each pointer and each size is an argument of its own.
    "fused.py": {
        "_balanced_bit",
        "_eight",
        "_paired",
        "changes_inside",
        "changes_outside",
        "draw_balanced",
        "draw_bits",
        "hybrids",
        "settle_ties",
        "tally",
        "walk",
    },
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def test_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[?v?(\d[^\s\]]*)", changelog, flags=re.MULTILINE)
    assert newest is not None, "CHANGELOG.md has no entry '## VERSION'"
    assert newest[1] == fidelitree.__version__
    assert project["dynamic"] == ["version"]  # hatch reads it off the source: there is one place for it


def test_files_are_short() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    # One file by itself, for readers who do not trust it: split or dense, it would be harder to check.
    verifier = "src/fidelitree/certificates/standalone.py"
    assert {name: length for name, length in lengths.items() if length > (1_300 if name == verifier else 500)} == {}
    assert statistics.median(lengths.values()) <= 150


def test_a_class_name_stands_for_one_thing() -> None:
    # The verifier shares no code, and has small twins of some classes: it has to call them something.
    others = [path for path in SOURCES if path.name != "standalone.py"]
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in others]
    counts = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert [name for name, count in counts.items() if count > 1 and not name.startswith("_")] == []


def _functions() -> Iterator[tuple[Path, Function]]:
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, Function):
                yield path, node


def _length(node: Function) -> int:
    """Lines of a function, its docstring aside: a door explains each of its arguments there."""
    first = node.body[0]
    told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return node.end_lineno - node.lineno + 1 - (first.end_lineno - first.lineno + 1) * told


def test_functions_are_short() -> None:
    lengths = {
        f"{path.name}:{node.name}": _length(node)
        if node.name in DOORS.get(path.name, ())
        else node.end_lineno - node.lineno + 1
        for path, node in _functions()
    }
    assert {name: length for name, length in lengths.items() if length > 60} == {}


def _parameters(node: Function) -> int:
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


def test_functions_have_at_most_six_parameters() -> None:
    many = [(path.name, node.name) for path, node in _functions() if _parameters(node) > 6]
    assert [f"{file}:{name}" for file, name in many if name not in DOORS.get(file, ())] == []


def _own_files() -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_file_names_a_machine() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git clone, so there is no list of the project's files")
    folder = re.compile(r"(?<![\w./])/(?:work|root|opt|home|Users)/\w")
    index = re.compile(r"pypi\.org|pythonhosted\.org|npmjs\.org|debian\.org|--(?:extra-)?index-url|--(?:find)-links")
    found = []
    for path in _own_files():
        text = path.read_bytes().decode("utf-8", errors="ignore")
        found += [f"{path.relative_to(ROOT)}: {match[0]}" for p in (folder, index) for match in p.finditer(text)]
    assert found == []


def test_contributing_lists_every_folder_of_tests() -> None:
    folders = {path.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").rglob("test_*.py")}
    rows = re.findall(r"^\| `(\w+)/` \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(rows) == sorted(folders)


def test_tests_that_are_listed_as_slow_are_there() -> None:
    lines = (ROOT / "tests" / "slow.txt").read_text(encoding="utf-8").splitlines()
    listed = [line.partition("[")[0].split("::") for line in lines if not line.startswith("#")]
    gone = [name for file, *_, name in listed if f"def {name}" not in (ROOT / file).read_text(encoding="utf-8")]
    assert gone == []


def test_makefile_offers_its_targets() -> None:
    assert make_targets() >= {"help", "run", "check", "test", "soak", "bench", "docs", "lint", "clean"}


def test_ci_runs_make_test() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert script.read_text(encoding="utf-8").rstrip().endswith("exec make test")


def test_what_is_absent_is_skipped_or_fails(absent: Callable[[str], NoReturn], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIDELITREE_REQUIRE", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no data"):
        absent("no data")
    monkeypatch.setenv("FIDELITREE_REQUIRE", "1")
    with pytest.raises(pytest.fail.Exception, match="no data, and FIDELITREE_REQUIRE=1"):
        absent("no data")
