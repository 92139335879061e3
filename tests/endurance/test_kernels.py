"""The compiled kernels under AddressSanitizer and UndefinedBehaviorSanitizer, with unsound arguments too."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import kernel_fuzzing

ROOT = Path(__file__).resolve().parents[2]
FULL = 4_000
FLAGS = "-O0 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"


def test_nothing_is_touched_that_is_not_the_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, soak: bool
) -> None:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    monkeypatch.delenv("FIDELITREE_REQUIRE_COMPILER", raising=False)
    monkeypatch.setenv("CFLAGS", FLAGS)
    line = hook.command(tmp_path / hook.LIBRARY)
    if isinstance(line, str):
        pytest.skip(line)
    runtime = subprocess.run([line[0], "-print-file-name=libasan.so"], capture_output=True, text=True, check=False)
    if not Path(runtime.stdout.strip()).is_absolute():
        pytest.skip("the compiler has no AddressSanitizer")
    assert hook.compile_kernels(tmp_path) is None
    calls = FULL if soak else FULL // 20
    script = [sys.executable, kernel_fuzzing.__file__, str(tmp_path / hook.LIBRARY), str(calls), "1"]
    options = {
        "LD_PRELOAD": runtime.stdout.strip(),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    done = subprocess.run(script, env={**os.environ, **options}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    made, sound = map(int, done.stdout.split())
    assert made / 5 < sound < made, "some calls are sound, some are refused"
