"""Compiles the kernels of src/fidelitree/trees/kernels: one library for every CPython from 3.11 on (the stable ABI).

Without a C compiler the wheel is pure Python, and NumPy does the kernels' work; FIDELITREE_REQUIRE_COMPILER=1 makes
that an error. A wheel holds only the library that was compiled for it. An editable install compiles beside the
sources, and so does ``python hatch_build.py``.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run by hand
    BuildHookInterface = object

KERNELS = Path(__file__).resolve().parent / "src" / "fidelitree" / "trees" / "kernels"
LIBRARY = "_native.abi3.so"
# No -march and no contraction to fused multiply-add: the same seed gives the same tree on every machine.
FLAGS = ["-std=c11", "-O3", "-fPIC", "-ffp-contract=off", "-fno-math-errno", "-fvisibility=hidden", "-Wall", "-Wextra"]


def command(library: Path) -> list[str] | str:
    """The compiler's command line; a text says why there is none."""
    if os.name != "posix" or sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "kernels are compiled for CPython with its global lock, on Linux and macOS"
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    if shutil.which(compiler[0]) is None:
        return f"there is no C compiler {compiler[0]!r}"
    headers = sysconfig.get_path("include")
    if not Path(headers, "Python.h").is_file():
        return "Python's header files are not installed"
    link = ["-bundle", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared"]
    extra = shlex.split(os.environ.get("CFLAGS", ""))
    sources = sorted(str(path) for path in KERNELS.glob("*.c"))
    return [*compiler, *FLAGS, *extra, f"-I{headers}", *link, *sources, "-lm", "-o", str(library)]


def compile_kernels(folder: Path) -> str | None:
    """Write the library into a folder, where none is left from before; the reason where that cannot be done."""
    library = folder / LIBRARY
    library.unlink(missing_ok=True)
    line = command(library)
    if isinstance(line, list):
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        problem = None if done.returncode == 0 else f"the compiler failed:\n{done.stderr}"
    else:
        problem = line
    if problem and os.environ.get("FIDELITREE_REQUIRE_COMPILER") == "1":
        raise RuntimeError(f"FIDELITREE_REQUIRE_COMPILER=1, but {problem}")
    return problem


class Kernels(BuildHookInterface):
    """What hatchling calls while it builds a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and hand over the library; ``version`` is "editable" or "standard"."""
        if version == "editable":
            problem = compile_kernels(KERNELS)
        else:
            self.folder = Path(tempfile.mkdtemp())
            problem = compile_kernels(self.folder)
            if not problem:
                build_data["force_include"][str(self.folder / LIBRARY)] = f"fidelitree/trees/kernels/{LIBRARY}"
        if problem:
            self.app.display_warning(f"fidelitree without compiled kernels: {problem}")
        elif version != "editable":
            build_data["pure_python"] = False
            build_data["tag"] = f"cp311-abi3-{_platform()}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Clean up."""
        if version != "editable":
            shutil.rmtree(self.folder)


def _platform() -> str:
    from packaging.tags import platform_tags  # it comes with hatchling

    return next(tag for tag in platform_tags() if not tag.startswith(("manylinux", "musllinux")))


if __name__ == "__main__":
    if found := compile_kernels(KERNELS):
        sys.exit(found)
