"""The program itself: Ctrl-C is answered in one line from the very first import on."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from fidelitree.__main__ import INTERRUPTED as INTERRUPTED_CODE
from fidelitree.cli.ending import Code

ROOT = Path(__file__).parents[2]
ENTRY = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]["fidelitree"]
MODULE, FUNCTION = ENTRY.split(":")

INTERRUPTED = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.argv = ["fidelitree", "--help"]
from {module} import {function}
sys.exit({function}())
"""


@pytest.mark.parametrize("name", ["fidelitree.cli", "typer", "fidelitree.cli.distill", "fidelitree.cli.verify"])
def test_ctrl_c_while_it_imports_is_one_line(name: str) -> None:
    """What a console script does, interrupted when it imports a module."""
    code = INTERRUPTED.format(name=name, module=MODULE, function=FUNCTION)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == "fidelitree: interrupted before there was anything to certify\n"
    assert (done.returncode, done.stdout) == (Code.INTERRUPTED, "")


def test_where_ctrl_c_is_ignored_it_stays_so() -> None:
    """As a shell starts a program in the background."""
    code = INTERRUPTED.format(name="typer", module=MODULE, function=FUNCTION)
    ignored = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n{code}"
    done = subprocess.run([sys.executable, "-c", ignored], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage" in done.stdout


def test_the_code_is_that_of_the_command_line() -> None:
    assert INTERRUPTED_CODE == Code.INTERRUPTED


def test_the_package_can_be_run_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "fidelitree", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("fidelitree ")
