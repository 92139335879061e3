"""The door: every public name is there, loaded when it is first used."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fidelitree as ft
from fidelitree import errors


def test_every_public_name_can_be_reached() -> None:
    for name in ft.__all__:
        assert getattr(ft, name) is getattr(ft, name)
    assert dir(ft) == sorted(ft.__all__)
    assert ft.__all__ == sorted(ft.__all__, key=lambda name: (not name.isupper(), name))  # constants first


def test_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="module 'fidelitree' has no attribute 'nonsense'"):
        _ = ft.nonsense


def test_importing_the_package_loads_no_heavy_dependency() -> None:
    code = (
        "import sys, fidelitree; print(*sorted({'numpy', 'scipy', 'matplotlib', 'rich', 'sklearn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


_WITHOUT_METADATA = """
import sys, importlib.metadata
sys.path[:0] = {folders!r}
def missing(name):
    raise importlib.metadata.PackageNotFoundError(name)
importlib.metadata.version = importlib.metadata.distribution = missing
import fidelitree as ft
assert ft.__file__.startswith({folders!r}[0]), ft.__file__
space = ft.ProductSpace.bernoulli(3)
result = ft.distill(lambda batch: batch[:, 0], space, journal={journal!r})
print(ft.__version__, result.certificate.versions["fidelitree"], result.certificate.holds)
"""


def test_a_copied_folder_without_metadata_keeps_its_results(tmp_path: Path) -> None:
    home = Path(ft.__file__).parent
    shutil.copytree(home, tmp_path / "fidelitree", ignore=shutil.ignore_patterns("__pycache__"))
    folders = [str(tmp_path), *(path for path in sys.path if path.endswith("site-packages"))]
    code = _WITHOUT_METADATA.format(folders=folders, journal=str(tmp_path / "journal.db"))
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == [ft.__version__, ft.__version__, "True"], done.stderr


@pytest.mark.parametrize(
    ("error", "standard"),
    [
        (errors.ParameterError, ValueError),
        (errors.FormatError, ValueError),
        (errors.TargetError, Exception),
        (errors.MissingExtraError, ImportError),
    ],
)
def test_errors_share_our_base_and_the_standard_one(error: type[Exception], standard: type[Exception]) -> None:
    assert issubclass(error, errors.FidelitreeError)
    assert issubclass(error, standard)
