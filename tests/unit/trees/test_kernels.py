"""How the compiled kernels are built and found: a stale or broken library never goes unnoticed."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from fidelitree.errors import ParameterError
from fidelitree.trees import kernels

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = Path(kernels.__file__).parents[2]


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.delenv("FIDELITREE_REQUIRE_COMPILER", raising=False)
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _built(hook: ModuleType, version: str) -> tuple[dict[str, object], list[str]]:
    """What the hook hands to hatchling, and what it warns of."""
    warnings: list[str] = []
    # With hatchling at hand `app` is a property, without it nothing at all.
    kind = type("Step", (hook.Kernels,), {"app": SimpleNamespace(display_warning=warnings.append)})
    step = kind.__new__(kind)
    data: dict[str, object] = {"force_include": {}}
    step.initialize(version, data)
    step.finalize(version, data, "")
    return data, warnings


def test_no_compiler_makes_a_pure_wheel(hook: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    data, warnings = _built(hook, "standard")
    assert data == {"force_include": {}}
    assert warnings == ["fidelitree without compiled kernels: there is no C compiler 'no-such-compiler'"]
    stale = tmp_path / hook.LIBRARY
    stale.write_bytes(b"from an earlier build")
    assert hook.compile_kernels(tmp_path) == "there is no C compiler 'no-such-compiler'"
    assert not stale.exists()
    monkeypatch.setenv("FIDELITREE_REQUIRE_COMPILER", "1")
    with pytest.raises(RuntimeError, match="FIDELITREE_REQUIRE_COMPILER=1, but there is no C compiler"):
        hook.compile_kernels(tmp_path)


def test_a_wheel_takes_only_what_was_just_compiled(hook: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(problem := hook.command(Path("unused")), str):
        pytest.skip(problem)
    monkeypatch.setattr(hook, "_platform", lambda: "some_machine")
    data, warnings = _built(hook, "standard")
    ((source, place),) = data.pop("force_include").items()  # type: ignore[attr-defined]
    assert place == f"fidelitree/trees/kernels/{hook.LIBRARY}"
    assert hook.KERNELS not in Path(source).parents
    assert data == {"pure_python": False, "tag": "cp311-abi3-some_machine"}
    assert warnings == []


def test_a_compiler_that_fails_is_told(hook: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CC", "false")
    assert hook.compile_kernels(tmp_path).startswith("the compiler failed:")


def test_an_editable_install_compiles_in_place(
    hook: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(hook, "compile_kernels", lambda folder: None if folder == hook.KERNELS else "elsewhere")
    assert _built(hook, "editable") == ({"force_include": {}}, [])


@pytest.mark.parametrize(("there", "wanted", "used"), [(True, "", True), (True, "numpy", False), (False, "", False)])
def test_the_library_is_used_where_it_is(monkeypatch: pytest.MonkeyPatch, there: bool, wanted: str, used: bool) -> None:
    monkeypatch.setattr(kernels, "find_spec", lambda name: object() if there else None)
    assert kernels.chosen(wanted) is used


def test_wishes_that_cannot_be_met(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match=r"FIDELITREE_KERNELS must be numpy or compiled; got 'fast'"):
        kernels.chosen("fast")
    monkeypatch.setattr(kernels, "find_spec", lambda name: None)
    with pytest.raises(ParameterError, match=r"FIDELITREE_KERNELS=compiled needs the compiled kernels"):
        kernels.chosen("compiled")


@pytest.mark.parametrize("content", [b"", b"no library at all"])
def test_a_broken_library_is_an_error(tmp_path: Path, content: bytes) -> None:
    skip = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(PACKAGE, tmp_path / "fidelitree", ignore=skip)
    line = [sys.executable, "-c", "from fidelitree.trees import kernels; print(kernels.compiled)"]
    environment = {"PYTHONPATH": str(tmp_path)}
    without = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    assert without.stdout == "False\n"
    (tmp_path / "fidelitree" / "trees" / "kernels" / "_native.abi3.so").write_bytes(content)
    broken = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    assert broken.returncode == 1
    assert "ImportError" in broken.stderr
