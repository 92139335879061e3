"""Runs that cannot fit into memory are refused before they cost anything; the others stay within their blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import fidelitree as ft
from fidelitree.asking import memory as needs
from fidelitree.asking.memory import Memory

if TYPE_CHECKING:
    from pathlib import Path


def never(batch: Any) -> Any:
    raise AssertionError("the target must not be asked")


def test_a_run_that_cannot_fit_says_so_before_it_asks_anything() -> None:
    with pytest.raises(ft.ParameterError, match=r"epsilon must be larger, or the features fewer.*answers.*GB") as error:
        ft.distill(never, ft.ProductSpace.bernoulli(20_000), 1e-8)
    assert "would fit" in str(error.value)


def test_a_budget_bounds_what_is_held() -> None:
    def first(batch: Any) -> Any:
        return batch[:, 0]

    result = ft.distill(first, ft.ProductSpace.bernoulli(20), 1e-8, max_queries=100)
    assert result.reason == "max_queries = 100"


def test_what_is_needed_is_a_base_and_so_much_an_answer() -> None:
    answers, each = 1_000_000, needs.bytes_per_answer(1_000)
    exactly = 2 * (needs.BASE_BYTES + answers * each)
    needs.check_fits(1_000, 1e-6, answers, machine=exactly)
    with pytest.raises(ft.ParameterError, match=r"1,000,000 answers, which with 1,000 features fill 4\.2 GB"):
        needs.check_fits(1_000, 1e-6, answers, machine=exactly - 2)


def test_what_it_says_would_fit_does() -> None:
    answers, machine = 10_000_000, 8 << 30
    with pytest.raises(ft.ParameterError, match=r"2\.2e-05 would fit"):
        needs.check_fits(2_000, 1e-6, answers, machine)
    needs.check_fits(2_000, 2.2e-5, round(answers / 22), machine)


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that does not say how large it is, and where its control groups would be."""
    monkeypatch.setattr(needs, "_GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(needs, "_MOUNTED", tmp_path)
    monkeypatch.setattr(needs, "_machine_bytes", needs._machine_bytes.__wrapped__)  # not what another test found
    monkeypatch.delattr("os.sysconf")
    return tmp_path


def check_allowed(gigabytes: int) -> None:
    with pytest.raises(ft.ParameterError, match=rf" {gigabytes}\.0 GB, half of this machine's"):
        needs.check_fits(1_000, 1e-6, 10_000_000)


@pytest.mark.parametrize(
    ("written", "gigabytes"), [("2147483648\n", 1), ("max\n", 4), ("9223372036854771712\n", 4), ("", 4), (None, 4)]
)
def test_a_container_has_less_memory_than_its_machine(written: str | None, gigabytes: int, groups: Path) -> None:
    (groups / "cgroup").write_text("0::/\n", encoding="ascii")
    if written is not None:
        (groups / "memory.max").write_text(written, encoding="ascii")
    check_allowed(gigabytes)


@pytest.mark.parametrize("limited", ["", "jobs", "jobs/run 7"])
@pytest.mark.parametrize(
    ("names", "root", "file"), [("", "", "memory.max"), ("memory", "memory", "memory.limit_in_bytes")]
)
def test_a_group_has_no_more_than_those_it_belongs_to(
    limited: str, names: str, root: str, file: str, groups: Path
) -> None:
    (groups / "cgroup").write_text(f"7:pids:/\n4:{names}:/jobs/run 7\n", encoding="ascii")
    (groups / root / "jobs" / "run 7").mkdir(parents=True)
    (groups / root / limited / file).write_text("2147483648\n", encoding="ascii")
    check_allowed(1)


@pytest.mark.parametrize("written", [None, "", "nothing of the kind\n", "\xff"])
def test_a_machine_that_does_not_say_how_large_it_is_counts_as_8_gb(written: str | None, groups: Path) -> None:
    if written is not None:
        (groups / "cgroup").write_text(written, encoding="latin-1")
    check_allowed(4)


@pytest.mark.parametrize(
    ("features", "capacity"), [(20, 1_000_000), (1_000, 971_000), (80_000, 26_400)], ids=["few", "many", "huge"]
)
def test_the_memory_of_answers_is_bounded_in_bytes(features: int, capacity: int) -> None:
    memory = Memory.within(needs.REMEMBERED_BYTES, ft.ProductSpace.bernoulli(features))
    assert memory.capacity == pytest.approx(capacity, rel=0.01)


def test_numbers_take_eight_bytes_each() -> None:
    space = ft.ProductSpace([ft.Numeric(f"x{k}", 0, 1) for k in range(100)])
    assert Memory.within(950_000, space).capacity == 1_000
