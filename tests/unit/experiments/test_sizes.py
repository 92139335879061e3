"""The cells of the paper's two figures, and what one run of a cell reports."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import fidelitree as ft
from fidelitree.experiments import sizes
from fidelitree.experiments.sizes import PlannedRun, Row, run_cell

QUICK = PlannedRun("balanced", 0.5, 4, 2, 0.3, 0, "printed", 0)


def test_the_first_figure_has_the_papers_grid() -> None:
    cells = sizes.size_vs_epsilon("printed", 6, 0)
    assert len(cells) == 3 * 3 * 5 * 6
    assert {cell.n for cell in cells} == {20}
    assert sorted({cell.epsilon for cell in cells}) == [0.10, 0.15, 0.20, 0.25, 0.30]
    assert {cell.p for cell in cells} == {0.5, 0.3, 0.1}
    space = ft.ProductSpace.bernoulli(20)
    assert {cell.target(space).size for cell in cells} == {16}
    assert {cell.target(space).depth for cell in cells if cell.family == "balanced"} == {4}
    assert {cell.target(space).depth for cell in cells if cell.family != "balanced"} == {15}


def test_the_second_figure_has_the_papers_grid() -> None:
    cells = sizes.size_vs_dimension("corrected", 6, 0)
    assert len(cells) == 3 * 3 * 5 * 6
    assert sorted({cell.n for cell in cells}) == [3, 4, 5, 6, 7]
    assert {cell.epsilon for cell in cells} == {0.15}
    sizes_of = {(cell.family, cell.n): cell.target(ft.ProductSpace.bernoulli(cell.n)).size for cell in cells}
    assert [sizes_of["balanced", n] for n in range(3, 8)] == [8] * 5
    for family in sizes.EXITS:
        assert [sizes_of[family, n] for n in range(3, 8)] == [4, 5, 6, 7, 8], "as many leaves as n allows"


def test_six_targets_go_along_the_whole_axis_under_every_bias_and_both_schedules() -> None:
    space = ft.ProductSpace.bernoulli(20)
    printed, corrected = (sizes.size_vs_epsilon(schedule, 6, 0) for schedule in ("printed", "corrected"))
    for family in sizes.FAMILIES:
        cells = [cell for cell in printed if cell.family == family]
        found = {(cell.p, cell.epsilon): [] for cell in cells}
        for cell in cells:
            found[cell.p, cell.epsilon].append(cell.target(space).digest)
        six = found[0.5, 0.1]
        assert len(set(six)) == 6
        assert all(digests == six for digests in found.values())
    digests = [cell.target(space).digest for cell in printed]
    assert [cell.target(space).digest for cell in corrected] == digests
    assert {cell.target(space).digest for cell in sizes.size_vs_epsilon("printed", 6, 1)}.isdisjoint(digests)


def test_the_two_chains_differ_in_their_exits_alone() -> None:
    """What one answers about an input, the other answers about its complement."""
    space = ft.ProductSpace.bernoulli(7)
    one, zero = (dataclasses.replace(QUICK, family=family, n=7, depth=3).target(space) for family in sizes.EXITS)
    inputs = space.draw(200, seed=1)
    assert (one.predict(inputs) == zero.predict(1 - inputs)).all()
    assert one != zero


@pytest.mark.parametrize("schedule", ["printed", "corrected"])
@pytest.mark.parametrize("family", sizes.FAMILIES)
def test_a_row_reports_its_run_exactly(family: str, schedule: str) -> None:
    cell = dataclasses.replace(QUICK, family=family, schedule=schedule, p=0.3)
    row = run_cell(cell)
    space = ft.ProductSpace.bernoulli(4, 0.3)
    target = cell.target(space)
    again = ft.practical_top_down(target, space, 0.3, 0.1, seed=0, schedule=schedule)
    assert (row.size, row.depth, row.asked) == (again.tree.size, again.tree.depth, again.queries.asked)
    assert row.error == ft.tree_error(again.tree, target, space) <= row.certified <= 0.3
    assert row.target_size == target.size
    assert row.constant_error == pytest.approx(ft.analyze(target, space).error)
    assert row.constant_suffices == (row.constant_error <= 0.3)
    assert (row.family, row.p, row.n, row.epsilon, row.schedule) == (family, 0.3, 4, 0.3, schedule)


def without_time(rows: list[Row]) -> list[Row]:
    return [dataclasses.replace(row, seconds=0) for row in rows]


CELLS = [
    dataclasses.replace(QUICK, family=family, n=n, epsilon=epsilon)
    for family in ("chain-1", "balanced")
    for n, epsilon in ((4, 0.3), (3, 0.4))
]


def test_rows_come_in_the_order_of_their_cells_and_progress_is_told() -> None:
    steps: list[int] = []
    rows = sizes.run(CELLS, 1, lambda: steps.append(1))
    assert [(row.family, row.n) for row in rows] == [(cell.family, cell.n) for cell in CELLS]
    assert len(steps) == 4


def test_workers_may_finish_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads stand in for processes: a test runner has threads itself, and forking it would be unwise."""
    monkeypatch.setattr(sizes, "ProcessPoolExecutor", ThreadPoolExecutor)
    steps: list[int] = []
    rows = sizes.run(CELLS, 2, lambda: steps.append(1))
    assert without_time(rows) == without_time(sizes.run(CELLS, 1, lambda: None))
    assert len(steps) == 4


def test_cells_that_wait_are_given_up_when_it_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them were run first."""
    begun, ended = list[PlannedRun](), threading.Event()

    def run_slowly(cell: PlannedRun) -> Row:
        begun.append(cell)
        if len(begun) > 1:
            ended.wait(60)
        return run_cell(cell)

    def interrupt() -> None:
        threading.Timer(0.2, ended.set).start()
        raise KeyboardInterrupt

    monkeypatch.setattr(sizes, "ProcessPoolExecutor", ThreadPoolExecutor)
    monkeypatch.setattr(sizes, "run_cell", run_slowly)
    with pytest.raises(KeyboardInterrupt):
        sizes.run(10 * CELLS, 2, interrupt)
    assert len(begun) < 10


def test_two_processes_give_the_rows_of_one() -> None:
    code = (
        "import dataclasses; from fidelitree.experiments import sizes\n"
        "if __name__ == '__main__':\n"
        "    cells = sizes.size_vs_dimension('printed', 1, 0)[:4]\n"
        "    done = []\n"
        "    one, two = (sizes.run(cells, jobs, lambda: done.append(1)) for jobs in (1, 2))\n"
        "    print([dataclasses.replace(row, seconds=0) for row in one] == "
        "[dataclasses.replace(row, seconds=0) for row in two], len(done))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True 8"


def test_running_again_gives_the_same_rows() -> None:
    one, two = (without_time(sizes.run(CELLS[:2], 1, lambda: None)) for _ in range(2))
    assert one == two
