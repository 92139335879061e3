"""All learners side by side: rows, table, CSV, plot, limits, messages."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.events import LearnerBegan
from fidelitree.learners import LEARNERS
from fidelitree.learners import compare as comparing

if TYPE_CHECKING:
    from pathlib import Path

S = ft.ProductSpace.bernoulli
MUX = ft.targets.multiplexer(2)
NAMES = ["distill", "smallest", "id3", "optimal", "top_down"]


@pytest.fixture(scope="module")
def found() -> ft.Comparison:
    return ft.compare(MUX, S(6), 0.1, learners=NAMES)


def test_every_learner_has_a_row_with_the_truth(found: ft.Comparison) -> None:
    assert [row.learner for row in found.rows] == NAMES
    for row in found.rows:
        result = found.results[row.learner]
        assert (row.leaves, row.depth, row.queries) == (result.tree.size, result.tree.depth, result.queries.asked)
        assert row.certified
        assert row.error == pytest.approx(ft.tree_error(result.tree, MUX, S(6)))
        assert row.error <= row.error_bound <= 0.1
        assert row.seconds is not None


def test_the_frontier_is_below_all_of_them(found: ft.Comparison) -> None:
    assert found.frontier is not None
    for row in found.rows:
        assert row.leaves is not None
        assert row.error is not None
        assert found.frontier[min(row.leaves, len(found.frontier)) - 1] <= row.error + 1e-12
    assert int(np.argmax(found.frontier <= 0.1)) + 1 == found.results["optimal"].tree.size


def test_as_text_and_as_csv(found: ft.Comparison) -> None:
    lines = str(found).splitlines()
    assert lines[0].split() == ["learner", "queries", "leaves", "depth", "certified", "error", "seconds", "remark"]
    assert [line.split()[0] for line in lines[1:]] == NAMES
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [row["learner"] for row in rows] == NAMES
    assert rows[0]["certified"] == "True"


def test_files(found: ft.Comparison, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    paths = found.save(tmp_path / "out")
    assert [path.name for path in paths] == ["comparison.txt", "comparison.csv", "comparison.svg"]
    assert paths[0].read_text(encoding="utf-8") == f"{found}\n"
    assert "exact frontier" in [text.get_text() for text in found.plot().axes[0].get_legend().get_texts()]


def test_without_matplotlib_the_plot_is_left_out(
    found: ft.Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*args: Any) -> Any:
        raise ft.errors.MissingExtraError("figures need matplotlib")

    monkeypatch.setattr(comparing, "figure", missing)
    assert [path.name for path in found.save(tmp_path)] == ["comparison.txt", "comparison.csv"]


def test_what_does_not_apply_says_why() -> None:
    space = ft.ProductSpace([ft.Numeric("x", 0, 1), ft.Categorical("c", ["a", "b"])])

    def target(batch: Any) -> Any:
        return (batch["x"] > 0.5) & (batch["c"] == "a")

    found = ft.compare(target, space, 0.1, learners=["top_down", "optimal", "id3"])
    rows = {row.learner: row for row in found.rows}
    assert rows["top_down"].remark == "not all features are bits"
    assert rows["optimal"].remark == "infinitely many inputs are too many to ask them all"
    assert rows["id3"].certified
    assert rows["id3"].error is None
    assert found.frontier is None
    assert set(found.results) == {"id3"}
    assert " - " in str(found)


def test_a_learner_that_refuses_is_not_the_end() -> None:
    found = ft.compare(ft.targets.parity(17), S(17), 0.4, learners=["optimal", "top_down"], max_queries=5_000)
    assert "all inputs must be asked" in found.rows[0].remark
    assert found.rows[1].queries is not None
    assert found.rows[1].queries <= 5_000


def test_numbers_that_32_bits_cannot_hold_are_compared() -> None:
    values = ft.Numeric.from_values("a", [-1e300, 0, 1, 1e300])
    for space in (ft.ProductSpace([values, ft.Boolean("b")]), ft.ProductSpace([ft.Numeric("a", -1e300, 7e300)])):
        found = ft.compare(lambda batch: batch["a"] > 1e100, space, 0.1, learners=["distill", "id3", "cart", "streed"])
        assert [(row.learner, row.leaves, row.certified) for row in found.rows] == [
            (name, 2, True) for name in ("distill", "id3", "cart", "streed")
        ]


def test_an_observer_must_be_callable() -> None:
    with pytest.raises(ft.ParameterError, match=r"observer must be callable: .* got 3"):
        ft.compare(MUX, S(6), observer=3)


class Stopping:
    """A target that is interrupted at every call after some."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def __call__(self, batch: Any) -> Any:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return batch[:, 0]


def test_an_interrupt_ends_the_comparison_and_not_one_learner_alone() -> None:
    found = ft.compare(Stopping(2), S(20), 0.001, learners=["id3", "cart", "top_down"])
    assert [(row.learner, row.remark) for row in found.rows] == [("id3", "interrupted")]
    assert found.interrupted
    assert found.frontier is None
    assert not ft.compare(MUX, S(6), learners=["id3"]).interrupted


def test_an_interrupt_before_a_learner_was_answered_keeps_the_rows_before() -> None:
    def stop(event: Any) -> None:
        if isinstance(event, LearnerBegan) and event.learner == "cart":
            raise KeyboardInterrupt

    found = ft.compare(MUX, S(6), 0.1, learners=["id3", "cart", "top_down"], observer=stop)
    assert [row.learner for row in found.rows] == ["id3"]
    assert set(found.results) == {"id3"}
    assert found.interrupted


def test_an_interrupt_before_anything_is_passed_on() -> None:
    with pytest.raises(KeyboardInterrupt):
        ft.compare(Stopping(0), S(20), 0.1, learners=["id3", "cart"])


def test_options_of_one_learner() -> None:
    found = ft.compare(MUX, S(6), 0.0, learners=["top_down", "id3"], options={"top_down": {"size": 3}})
    assert [row.leaves for row in found.rows] == [3, 18]
    assert not found.rows[0].certified


def test_all_learners_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "_learnt", lambda name, *rest: f"{name} was called")
    events: list[Any] = []
    found = ft.compare(MUX, S(6), observer=events.append)
    assert [row.remark for row in found.rows] == [f"{name} was called" for name in (*comparing.OURS, *LEARNERS)]
    assert [event.learner for event in events if isinstance(event, LearnerBegan)] == [*comparing.OURS, *LEARNERS]
    assert events[0].number == 1
    assert events[0].of == len(found.rows)


def test_true_errors_of_a_black_box_are_no_surprise() -> None:
    asked: set[bytes] = set()

    def target(batch: Any) -> Any:
        asked.update(row.tobytes() for row in batch)  # some come again, to see that answers do
        return batch[:, 0]

    found = ft.compare(target, S(16), 0.1, learners=["id3"])
    assert found.rows[0].error is None
    assert found.frontier is None
    assert len(asked) == found.rows[0].queries


def test_rows_of_a_table() -> None:
    rng = np.random.default_rng(0)
    rows = ft.Rows({"a": rng.random(3000) < 0.5, "b": rng.random(3000) < 0.5})
    found = ft.compare(lambda batch: np.asarray(batch["a"]), rows, 0.1, learners=["id3", "optimal"])
    assert found.rows[0].certified
    assert str(found).splitlines()[-1] == (
        "Assumes: the rows are independent of each other; the target was not fitted to them."
    )
    assert "Assumes" not in found.to_csv()
    assert found.rows[1].remark == "it chooses its own inputs, and these are rows of a table with 2 features"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"learners": ["gini"]}, "learners must be one of distill, smallest, top_down"),
        ({"options": {"gini": {}}}, "got 'gini'"),
        ({"epsilon": 5}, "epsilon must be at least 0 and below 1; got 5"),
        ({"delta": 0}, "delta must be above 0 and below 1; got 0"),
    ],
)
def test_wrong_arguments(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ft.ParameterError) as error:
        ft.compare(MUX, S(6), **wrong)
    assert message in str(error.value)
