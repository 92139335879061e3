"""`python -m benchmarks.house` counts what it says it counts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = {
    "__init__.py": "from pluggy import top\n",
    "top.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pluggy import lazy\nfrom . import left\n",
    "left.py": "import pluggy.right\n",
    "right.py": "from pluggy.left import x\nfrom .inner.low import y\n",
    "inner/__init__.py": "",
    "inner/low.py": "def f():\n    from pluggy import top\n    return top\n",
    "lazy.py": "from pluggy.inner import low\n",
    "inner/top.py": "",
    "py.typed": "",
}


def test_a_small_package_is_counted_right(tmp_path: Path) -> None:
    for name, text in PACKAGE.items():
        path = tmp_path / "pluggy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "benchmarks.house", str(tmp_path / "pluggy")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=True)
    lines = done.stdout.splitlines()
    column = lines[0].index("fidelitree") + len("fidelitree")
    found = {line[:24].strip(): line[column:].split()[0] for line in lines[2:14]}
    assert found == {
        "top-level entries": "7",
        "rooms": "5",
        "modules": "8",
        "lines": "12",
        "longest import chain": "4",  # the package, top, left with right, low
        "mean fan-out": "0.75",
        "fan-out with types": "0.88",
        "cycles": "1",
        "longest file": "4",
        "longest function": "3",
        "stems used twice or more": "1",
        "layers": "-",
    }
