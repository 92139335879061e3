"""The door: every public name is there, loaded when it is first used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import fidelitree as ft
from fidelitree import errors


def test_every_public_name_can_be_reached() -> None:
    for name in ft.__all__:
        assert getattr(ft, name) is getattr(ft, name)
    assert dir(ft) == sorted(ft.__all__) == ft.__all__


def test_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="module 'fidelitree' has no attribute 'nonsense'"):
        _ = ft.nonsense


def test_importing_the_package_loads_no_heavy_dependency() -> None:
    code = (
        "import sys, fidelitree; print(*sorted({'numpy', 'scipy', 'matplotlib', 'rich', 'sklearn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


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
