"""The command line on real circuits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import fidelitree as ft
from commandline import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_an_output_of_priority_gets_an_exact_certificate(data_file: Callable[[str], Path], tmp_path: Path) -> None:
    pytest.importorskip("oxidd")
    circuit = data_file("circuits/epfl/priority.aig")
    done = run("distill", circuit, "--output", 0, "--epsilon", 0.01, "--out", tmp_path)
    assert done.code == 0
    certificate = ft.Certificate.from_json((tmp_path / "certificate.json").read_text(encoding="utf-8"))
    assert (certificate.method, certificate.delta) == ("exact", 0)
    assert certificate.error_bound <= 0.01
    assert "Exact: this tree agrees with the target on " in done.out
    confirmed = run("verify", tmp_path, "--target", circuit, "--output", 0)
    assert confirmed.code == 0
    assert "The target confirms the tree" in confirmed.out
