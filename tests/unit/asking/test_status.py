"""How a run is doing, in words: what is shown grows with what is known."""

from __future__ import annotations

from fidelitree.asking.events import Asked, Finished, TreeJudged, UnderTest
from fidelitree.asking.progress import RunStatus
from fidelitree.theory.sequential import error_bound


def line(status: RunStatus, seconds: float) -> str:
    return ", ".join(status.parts(seconds))


def test_the_line_grows_with_what_is_known() -> None:
    status = RunStatus(0.05)
    assert line(status, 0) == "0 labels, nothing certified yet, 0:00"
    status.see(Asked(500, 480))
    assert line(status, 10) == "500 labels, nothing certified yet, 50 labels/s, 0:10"
    status.see(TreeJudged(500, 7, 0.04, 1.0))
    assert line(status, 10) == "500 labels, 7 leaves, error about 0.04, nothing certified yet, 50 labels/s, 0:10"
    status.see(UnderTest(500, 9, 1, 200, 0.03, 150))
    certified = f"certified {error_bound(1, 200, 0.03):.3g} of 0.05"
    assert line(status, 10) == (
        f"500 labels, 9 leaves, error about 0.04, {certified}, 50 labels/s, 0:10, at least 0:03 left"
    )
    status.see(Finished(500, 8, 0.04, "certified"))
    assert line(status, 3725) == "500 labels, 8 leaves, error about 0.04, certified 0.04 of 0.05, 0 labels/s, 1:02:05"


def test_a_bound_that_was_certified_stays() -> None:
    status = RunStatus()
    status.see(UnderTest(100, 3, 0, 100, 0.05, 10))
    best = line(status, 0)
    status.see(UnderTest(130, 3, 9, 130, 0.05, 90))
    assert f"certified {error_bound(0, 100, 0.05):.3g}" in best
    assert f"certified {error_bound(0, 100, 0.05):.3g}" in line(status, 0)


def test_the_time_left_is_never_more_than_a_budget_allows() -> None:
    status = RunStatus(None, (1000, 600.0))
    status.see(Asked(500, 500))
    assert line(status, 100).endswith("nothing certified yet, 5 labels/s, 1:40, at most 1:40 left")
    status.see(UnderTest(500, 9, 0, 100, 0.05, 10**6))
    assert line(status, 100).endswith("5 labels/s, 1:40, at least 1:40 left")
    assert line(status, 590).endswith("9:50, at least 0:10 left")


def test_an_audit_has_no_leaves_to_show() -> None:
    status = RunStatus(0.05)
    status.see(UnderTest(0, 0, 0, 0, 0.05, 58))
    status.see(TreeJudged(58, 0, 0.0, 0.06))
    assert line(status, 1) == "58 labels, error about 0, certified 0.06 of 0.05, 58 labels/s, 0:01, at least 0:01 left"
