"""`make mutants` would run: one change each, killed or explained, and no reason outlives its mutant."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from benchmarking import ROOT, importable, run

if TYPE_CHECKING:
    from types import ModuleType


@pytest.fixture
def changes(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    importable(monkeypatch)
    from benchmarks.mutants import changes

    return changes


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a = b < c", ["a = b <= c", "a = b >= c"]),
        ("a = b + c * d", ["a = b - c * d", "a = b + c / d"]),
        ("a = 3", ["a = 4", "a = 2"]),
        ("a = 0.5", ["a = 1.0", "a = 0.25"]),
        ("a = b and (not c)", ["a = b or not c", "a = b and c"]),
        ("a = f(b, c, d=e)", ["a = f(c, b, d=e)", "a = f(b, c)"]),
        ("a.b = min(c)", ["pass", "a.b = max(c)"]),
        ("while a:\n    b += c", ["while False:", "pass", "b -= c"]),
        ("def f(a: int=1):\n    return a", ["def f(a: int=2):", "def f(a: int=0):", "return None"]),
        ("assert a > 0, 'text'", []),
        ("if a:\n    raise b", ["if True:", "if False:", "pass"]),
    ],
)
def test_one_place_is_changed_at_a_time(source: str, expected: list[str], changes: ModuleType) -> None:
    assert [mutant.now for mutant in changes.mutants(source)] == expected


def test_a_run_counts_what_it_tried_and_says_what_survived() -> None:
    done = run("benchmarks.mutants", "--most", "3", "spaces/region")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^all: 3 mutants(, \d killed)?(, \d explained)?; \d+ s$", done.stdout, flags=re.MULTILINE)


def test_every_module_has_its_tests(changes: ModuleType) -> None:
    from benchmarks.mutants.bench import TESTS, original

    files = {f"tests/unit/{name}.py" for names in TESTS.values() for name in names}
    assert [name for name in sorted(files) if not (ROOT / name).is_file()] == []
    assert all(any(changes.mutants(original(module))) for module in TESTS)


def test_every_reason_belongs_to_a_mutant(changes: ModuleType) -> None:
    from benchmarks.mutants.__main__ import EXPLAINED, described, listed
    from benchmarks.mutants.bench import original

    reasons = listed(EXPLAINED)
    modules = {text.split(".py")[0] for text in reasons}
    found = {described(module, mutant) for module in modules for mutant in changes.mutants(original(module))}
    assert reasons - found == set()
