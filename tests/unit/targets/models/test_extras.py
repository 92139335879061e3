"""Optional dependencies are loaded when needed, and named when missing."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from fidelitree.errors import MissingExtraError, need

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_there_is_loaded() -> None:
    assert need("math", "none", "sums") is math


def test_what_is_missing_names_the_extra() -> None:
    with pytest.raises(MissingExtraError) as error:
        need("no_such_library.part", "magic", "spells")
    assert str(error.value) == (
        "spells need no_such_library, which is not installed; install it with: pip install 'fidelitree[magic]'"
    )


def test_a_library_that_lacks_something_says_what(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "incomplete_library.py").write_text("import its_own_dependency")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="its_own_dependency"):
        need("incomplete_library", "magic", "spells")


def test_targets_load_no_optional_library() -> None:
    optional = [
        "joblib",
        "lightgbm",
        "onnxruntime",
        "pandas",
        "polars",
        "pyarrow",
        "sklearn",
        "skops",
        "torch",
        "xgboost",
    ]
    program = f"import fidelitree.targets, sys; print([name for name in {optional} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
