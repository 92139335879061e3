"""Every parameter of every public door, given every odd value: it works, or the error is our own."""

from __future__ import annotations

import inspect
import os
import tempfile
import time
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import fidelitree as ft
from fidelitree import learners, targets
from fidelitree.errors import RAISED, FidelitreeError
from odd import ODD, doors, first

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDER = tempfile.TemporaryDirectory()
DOORS = doors(Path(_FOLDER.name))
SECONDS = 5.0
"""Of processor time for one call; nearly all take a thousandth of it, and an endless one must be seen."""
EXEMPT = {("observer", "class"): "an observer is the user's own code: what it raises is handed on as it is"}


def parameters(name: str) -> list[str]:
    """All parameters that a door can be told."""
    door, good = DOORS[name]
    named = [p.name for p in inspect.signature(door).parameters.values() if p.kind is not p.VAR_KEYWORD]
    return [*named, *(key for key in good if key not in named)]


@pytest.mark.parametrize("name", DOORS)
def test_odd_values_work_or_are_refused_in_our_own_words(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some values name files
    door, good = DOORS[name]
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        door(**good)
        for parameter in parameters(name):
            for odd, make in ODD.items():
                if (parameter, odd) not in EXEMPT and (said := _foreign(door, {**good, parameter: make()})):
                    wrong.append(f"{name}({parameter}={odd}): {said}")
    assert not wrong, "\n".join(wrong)


def _foreign(door: Any, arguments: dict[str, Any]) -> str:
    """What went wrong that we have no word for."""
    began = time.process_time()
    try:
        door(**arguments)
    except FidelitreeError as error:
        if not str(error):
            return "an error without words"
    except RAISED as error:
        return f"{type(error).__name__} {error!s:.80}"
    taken = time.process_time() - began
    return f"{taken:.1f} s" if taken > SECONDS else ""


def test_the_doors_are_all_there() -> None:
    """A new public function, learner or feature must join the table, or say here why not."""
    functions = {name for name in ft.__all__ if callable(getattr(ft, name)) and name[0].islower()}
    assert functions <= set(DOORS)
    assert {f"learners.{name}" for name in learners.LEARNERS} <= set(DOORS)
    assert {"Boolean", "Categorical", "Numeric", "ProductSpace", "Rows", "Progress"} <= set(DOORS)


@contextmanager
def no_file_descriptors() -> Iterator[None]:
    """As if this process had no file descriptor left; the limit itself is the system's."""
    held = []
    try:
        while True:
            held.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        assert len(held) > 100  # the limit of the fixture
    try:
        yield
    finally:
        for number in held:
            os.close(number)


@pytest.fixture(name="few_descriptors")
def _few_descriptors() -> Iterator[None]:
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(256, hard), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("few_descriptors")
@pytest.mark.parametrize(
    "name",
    ["Tree.load", "Tree.save", "from_file", "read_circuit", "verify", "Distillation.save", "Distillation.report"],
)
def test_without_file_descriptors_the_error_is_our_own(name: str) -> None:
    door, good = DOORS[name]
    door(**good)
    with no_file_descriptors(), pytest.raises(FidelitreeError, match=r"[Tt]oo many open files|unable to open"):
        door(**good)


@pytest.mark.usefixtures("few_descriptors")
def test_without_file_descriptors_neither_journal_nor_command_raises_a_foreign_error(tmp_path: Path) -> None:
    space = ft.ProductSpace.bernoulli(3)
    ft.distill(first, space, journal=tmp_path / "warm.db")
    with no_file_descriptors():
        with pytest.raises(ft.JournalError, match="cannot be written"):
            ft.distill(first, space, journal=tmp_path / "journal.db")
        with pytest.raises(ft.TargetError, match="cannot be started: Too many open files"):
            ft.distill(targets.Command("cat"), space)
    assert ft.distill(first, space, journal=tmp_path / "journal.db").certificate.holds


@pytest.mark.parametrize("path", ["/dev/null", "/dev/zero", "/dev/full"])
def test_a_device_is_no_journal(path: str) -> None:
    with pytest.raises(FidelitreeError, match="journal"):
        ft.distill(first, ft.ProductSpace.bernoulli(3), journal=path)


def test_a_file_without_end_is_refused() -> None:
    with pytest.raises(FidelitreeError, match="larger than the 16 MB that a space file may have"):
        ft.ProductSpace.from_file("/dev/zero")
