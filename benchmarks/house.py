"""How the house is built: files, imports and functions of fidelitree, beside those of a few well-kept packages.

    python -m benchmarks.house [FOLDER ...]

Peers are found where Python finds them, or in folders that are given, each a package with an ``__init__.py``. Nothing
is imported, only parsed. An import counts where it runs when the module is loaded: not inside a function, not under
``if TYPE_CHECKING``. A name that a package re-exports counts as an import of the package.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from statistics import mean

from benchmarks.report import Table

ROOT = Path(__file__).resolve().parents[1]
OURS = ROOT / "src" / "fidelitree"
PEERS = ("pluggy", "river", "aalpy")
DOORS = {"__init__.py", "py.typed"}
REMARK = """\
rooms: top-level entries without py.typed and __init__.py. chain: modules on the longest path of imports; a cycle counts
as one module, which flatters packages that have some. fan-out: modules of the package that a module imports, on
average; importing a module does not count as importing the packages around it; with types, imports under TYPE_CHECKING
count as well. cycles: groups of modules that import each other. stems: file names that two or more modules share,
__init__ and __main__ aside.
Not counted elsewhere: imports inside functions and under TYPE_CHECKING.\
"""
Graph = Mapping[str, set[str]]
Function = (ast.FunctionDef, ast.AsyncFunctionDef)


def modules(package: Path) -> dict[str, Path]:
    """Every module by its dotted name."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def loaded(node: ast.AST, types: bool = False) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that run when a module is loaded; with ``types``, those that serve its types too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for other in [*child.body, *child.orelse] if types else child.orelse:
                yield from loaded(ast.Module([other], []), types)
        elif not isinstance(child, (*Function, ast.Lambda)):
            yield from loaded(child, types)


def targets(found: ast.Import | ast.ImportFrom, module: str, is_package: bool) -> Iterator[tuple[str, str]]:
    """What an import names: the longer name, and the one to fall back on where that is no module."""
    if isinstance(found, ast.Import):
        yield from ((alias.name, alias.name) for alias in found.names)
        return
    base = found.module or ""
    if found.level:
        parts = module.split(".")
        kept = parts[: len(parts) - found.level + is_package]
        base = ".".join([*kept, base] if base else kept)
    yield from ((f"{base}.{alias.name}", base) for alias in found.names)


def imports(files: Mapping[str, Path], types: bool = False) -> dict[str, set[str]]:
    """Which modules of a package each of them imports."""
    graph: dict[str, set[str]] = {}
    for name, path in files.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        wanted = [pair for node in loaded(tree, types) for pair in targets(node, name, path.name == "__init__.py")]
        graph[name] = {long if long in files else base for long, base in wanted if long in files or base in files}
        graph[name].discard(name)
    return graph


def components(graph: Graph) -> list[set[str]]:
    """Strongly connected parts: a cycle is one of more than a module."""

    def reached(start: str) -> set[str]:
        seen, waiting = {start}, [start]
        while waiting:
            new = graph[waiting.pop()] - seen
            seen |= new
            waiting += new
        return seen

    below = {name: reached(name) for name in graph}
    parts = {frozenset(other for other in below[name] if name in below[other]) for name in graph}
    return [set(part) for part in sorted(parts, key=sorted)]


def longest_chain(graph: Graph) -> int:
    """Modules on the longest path; a cycle has no longest one, and counts as one module."""
    parts = components(graph)
    home = {name: number for number, part in enumerate(parts) for name in part}

    @cache
    def chain(number: int) -> int:
        below = {home[other] for name in parts[number] for other in graph[name]} - {number}
        return 1 + max((chain(other) for other in below), default=0)

    return max(map(chain, range(len(parts))))


def longest_function(files: Mapping[str, Path]) -> tuple[int, str]:
    """Lines and name of the longest function, its decorators and its docstring aside."""
    nodes = [node for path in files.values() for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    return max((_length(node), node.name) for node in nodes if isinstance(node, Function))


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    words = (first.end_lineno or 0) - first.lineno + 1 if told else 0
    return (node.end_lineno or 0) - node.lineno + 1 - words


def shared_stems(files: Mapping[str, Path]) -> list[str]:
    """File names that more than one module has."""
    counts = Counter(path.stem for path in files.values() if not path.stem.startswith("__"))
    return sorted(stem for stem, count in counts.items() if count > 1)


def layers(package: Path) -> str:
    """Layers of the first import-linter contract about the whole package."""
    if package != OURS:
        return "-"
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    return f"{next(len(one['layers']) for one in contracts if one.get('containers') == [package.name])}"


def measured(package: Path) -> dict[str, str]:
    """All figures of one package."""
    files = modules(package)
    graph = imports(files)
    entries = {path.name for path in package.iterdir() if path.name != "__pycache__"}
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files.values()}
    largest = max(files.values(), key=lambda path: lines[path])
    length, function = longest_function(files)
    return {
        "top-level entries": f"{len(entries)}",
        "rooms": f"{len(entries - DOORS)}",
        "modules": f"{len(files)}",
        "lines": f"{sum(lines.values()):,}",
        "longest import chain": f"{longest_chain(graph)}",
        "mean fan-out": f"{mean(map(len, graph.values())):.2f}",
        "fan-out with types": f"{mean(map(len, imports(files, types=True).values())):.2f}",
        "cycles": f"{sum(len(part) > 1 for part in components(graph))}",
        "longest file": f"{lines[largest]:,} ({largest.relative_to(package)})",
        "longest function": f"{length} ({function})",
        "stems used twice or more": f"{len(shared_stems(files))}",
        "layers": layers(package),
    }


def folder_of(name: str) -> Path | None:
    """Where a package is installed."""
    spec = find_spec(name)
    return None if spec is None or not spec.submodule_search_locations else Path(spec.submodule_search_locations[0])


def main(given: list[str]) -> None:
    """Print one column for each package, then the stems of ours."""
    packages, absent = {OURS.name: OURS}, []
    packages |= {path.name: path for path in map(Path.resolve, map(Path, given))}
    for name in PEERS:
        found = packages.get(name) or folder_of(name)
        if found is None:
            absent.append(name)
        else:
            packages[name] = found
    figures = {name: measured(path) for name, path in packages.items()}
    rows = [[what, *[figures[name][what] for name in figures]] for what in figures[OURS.name]]
    print(Table(["", *figures], rows).text())
    print(f"\nstems of ours: {', '.join(shared_stems(modules(OURS))) or 'none'}\n\n{REMARK}")
    if absent:
        print(f"\nnot installed here, and no folder given: {', '.join(absent)}")


if __name__ == "__main__":
    main(sys.argv[1:])
