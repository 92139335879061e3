"""Where mutants are tried: a copy of the library, and the tests of each module."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import resource
import shutil
import signal
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
JOURNAL = tuple(f"asking/journal/test_{name}" for name in ("coding", "run", "journal", "opening"))
TESTS: dict[str, tuple[str, ...]] = {  # below tests/unit, the quickest first
    "asking/journal/exporting": (*JOURNAL, "asking/journal/test_exporting"),
    "asking/journal/journal": (*JOURNAL, "asking/test_journalled"),
    "asking/journal/opening": JOURNAL,
    "asking/journal/records": JOURNAL,
    "asking/journal/run": JOURNAL,
    "asking/journalled": ("asking/test_journalled",),
    "certificates/attempts": ("certificates/test_attempts",),
    "certificates/certificate": (
        "certificates/test_certificate",
        "display/test_card",
        "certificates/test_certificate_json",
    ),
    "runs/agree/audit": ("runs/test_audit", "runs/test_audit_entropy", "runs/test_audit_journal", "spaces/test_rows"),
    "runs/goal": ("runs/test_goal",),
    "spaces/region": ("spaces/test_region",),
    "theory/sequential": ("theory/test_sequential", "theory/test_binomial"),
    "trees/tree": ("trees/test_tree", "trees/test_treefile", "display/test_drawing"),
    "trees/treefile": ("trees/test_treefile", "trees/test_tree"),
}
LOADED = ["hypothesis", "narwhals", "numpy", "pandas", "polars", "pyarrow.parquet", "pytest", "scipy.special"]
OPTIONS = ["-xq", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of what is loaded
MEMORY = 8 << 30  # of a mutant that fills it


def original(module: str) -> str:
    """The text of a module as it is."""
    return (ROOT / "src" / "fidelitree" / f"{module}.py").read_text(encoding="utf-8")


class Bench:
    """A copy of the library and its tests; the library is changed in one place at a time."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        for part in ("src", "tests"):
            shutil.copytree(ROOT / part, self.folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        self.processes = multiprocessing.get_context("forkserver")
        self.processes.set_forkserver_preload(LOADED)

    def write(self, module: str, source: str) -> None:
        """Let a module have this text; what was compiled in the same second must not be mistaken for it."""
        path = self.folder / "src" / "fidelitree" / f"{module}.py"
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)
        path.write_text(source, encoding="utf-8")

    def outcome(self, module: str, source: str, seconds: float) -> str:
        """Whether the tests of a module pass with this text."""
        self.write(module, source)
        tests = [f"tests/unit/{name}.py" for name in TESTS[module]]
        process = self.processes.Process(target=_perform, args=(self.folder, tests))
        process.start()
        process.join(seconds)
        if process.exitcode is None:
            assert process.pid is not None, "it was started"
            os.killpg(process.pid, signal.SIGKILL)
            process.join()
            return "too slow"
        return "killed" if process.exitcode else "survived"


def _perform(folder: Path, tests: list[str]) -> None:
    """In a process and a group of its own: the tests of that folder with its library."""
    import pytest

    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.path.insert(0, str(folder / "src"))
    os.environ["PYTHONPATH"] = str(folder / "src")
    os.chdir(folder)
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        os._exit(pytest.main([*OPTIONS, f"--basetemp={folder / 'temporary'}", *tests]))
