"""How a run ends early: with an honest tree, a bound that is true, and the reason.

Bounds of sampled runs are asked for at delta = 1e-7, so that a false one is a bug: each is wrong with probability
below 1e-7, and this file looks at fewer than 500.
"""

from __future__ import annotations

import itertools
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import fidelitree as ft
from fidelitree.asking import limits as budget
from fidelitree.asking.events import Event, Finished
from small import Bits, seen_by, true_error

if TYPE_CHECKING:
    from pathlib import Path

SPACE = ft.ProductSpace.bernoulli(6, [0.5, 0.3, 0.6, 0.5, 0.4, 0.5])
TARGET = ft.targets.multiplexer(2)
DELTA = 1e-7
ALGORITHMS = ["build", "printed", "corrected"]
algorithms = pytest.mark.parametrize("algorithm", ALGORITHMS)
sampled = pytest.mark.parametrize("algorithm", ALGORITHMS[1:])


def distil(algorithm: str, epsilon: float = 0.12, target: Any = TARGET, **options: Any) -> ft.Distillation:
    if algorithm == "build":
        return ft.build_top_down(target, SPACE, epsilon, **options)
    return ft.practical_top_down(target, SPACE, epsilon, DELTA, schedule=algorithm, **options)


def honest(result: ft.Distillation) -> bool:
    error = true_error(result.tree, TARGET, SPACE)
    exact = result.certificate.method == "exact"
    right = result.certificate.error_bound == pytest.approx(error) if exact else error <= result.certificate.error_bound
    whole = len(result.trace) == result.tree.size - 1 and result.certificate.tree_digest == result.tree.digest
    return bool(right) and whole


@algorithms
def test_a_run_that_is_let_alone_ends_with_its_certificate(algorithm: str) -> None:
    result = distil(algorithm)
    assert result.reason == "good enough"
    assert result.certificate.holds
    assert honest(result)


@algorithms
@pytest.mark.parametrize("most", [1, 2, 3, 4])
def test_max_leaves_ends_it_with_what_that_tree_is_worth(algorithm: str, most: int) -> None:
    result = distil(algorithm, max_leaves=most)
    assert result.tree.size == most
    assert result.reason == f"max_leaves = {most}"
    assert not result.certificate.holds
    assert honest(result)


@sampled
def test_max_queries_is_never_exceeded_and_ends_it_honestly(algorithm: str) -> None:
    whole = distil(algorithm, 0.2)
    first = int(ft.theory.label_samples(1, 0.2, DELTA))
    sizes = set()
    for limit in range(first, int(whole.queries.asked) + 1, (int(whole.queries.asked) - first) // 23):
        result = distil(algorithm, 0.2, max_queries=limit)
        assert result.queries.asked <= limit
        assert result.reason in (f"max_queries = {limit}", "good enough")
        assert result.certificate.holds == (result.certificate.error_bound <= 0.2)
        assert honest(result)
        assert result.certificate.samples == result.queries.asked["certify"] or result.tree.size < whole.tree.size
        sizes.add(result.tree.size)
    assert len(sizes) > 2


@sampled
def test_a_budget_for_labels_alone_certifies_a_constant(algorithm: str, tmp_path: Path) -> None:
    """Both sets of the first tree grow together: a budget that ends there leaves a bound that `verify` can follow."""
    whole = int(ft.theory.label_samples(1, 0.2, DELTA))
    bounds = []
    for limit, tests in ((32, 16), (150, 64), (550, 256), (whole + 142, 4_096)):
        result = distil(algorithm, 0.2, max_queries=limit)
        assert (result.tree.size, result.certificate.holds) == (1, False)
        assert result.certificate.samples == tests
        assert honest(result)
        result.save(tmp_path / str(limit))
        assert ft.verify(tmp_path / str(limit)).consistent
        bounds.append(result.certificate.error_bound)
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] < true_error(result.tree, TARGET, SPACE) + 0.15


@sampled
def test_a_budget_that_allows_no_answer_is_refused(algorithm: str) -> None:
    for options in ({"max_queries": 0}, {"max_queries": 10}, {"max_seconds": 0}):
        with pytest.raises(ft.ParameterError) as caught:
            distil(algorithm, **options)
        assert str(caught.value) == (
            "max_queries must allow the first 16 labels, max_seconds the time for them; the budget ended before the "
            "target had answered anything"
        )


@algorithms
def test_max_seconds_ends_it_honestly(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that strikes at every look: the run ends after any number of looks."""
    sizes = set()
    for limit in range(2, 90, 3):
        looks = itertools.count(int(time.monotonic()))
        with monkeypatch.context() as patch:
            patch.setattr(budget, "time", SimpleNamespace(monotonic=lambda looks=looks: next(looks)))
            result = distil(algorithm, 0.05 if algorithm == "build" else 0.2, max_seconds=limit)
        assert result.reason in (f"max_seconds = {limit}", "good enough")
        assert honest(result)
        sizes.add(result.tree.size)
    assert len(sizes) > 2


@algorithms
def test_an_observer_may_interrupt(algorithm: str) -> None:
    sizes = set()
    for last in range(1, 8):
        seen: list[Event] = []

        def watch(event: Event, seen: list[Event] = seen, last: int = last) -> None:
            seen.append(event)
            if len(seen) == last:
                raise KeyboardInterrupt

        result = distil(algorithm, observer=watch)
        assert result.reason == "interrupted"
        assert honest(result)
        assert not result.certificate.holds
        sizes.add(result.tree.size)
    assert sizes == {1, 2, 3, 4}


@sampled
def test_a_target_may_be_interrupted(algorithm: str) -> None:
    sizes = set()
    for last in range(2, 40, 3):
        calls = iter(range(10**9))

        def tired(batch: Bits, calls: Any = calls, last: int = last) -> Any:
            if next(calls) == last:
                raise KeyboardInterrupt
            return TARGET(batch)

        result = distil(algorithm, 0.2, target=tired)
        assert result.reason in ("interrupted", "good enough")
        assert honest(result)
        sizes.add(result.tree.size)
    assert len(sizes) > 2


def test_an_interrupt_before_the_first_answer_is_only_that() -> None:
    def tired(batch: Bits) -> Any:
        raise KeyboardInterrupt

    for algorithm in ALGORITHMS:
        with pytest.raises(KeyboardInterrupt):
            distil(algorithm, target=tired)


@algorithms
def test_an_observer_sees_everything_in_order(algorithm: str) -> None:
    seen: list[Any] = []
    result = distil(algorithm, observer=seen.append)
    splits = result.tree.size - 1
    assert seen_by(seen) == ["TreeJudged", *["SplitMade", "TreeJudged"] * splits, "Finished"]
    assert [event.size for event in seen[::2][: splits + 1]] == list(range(1, splits + 2))
    assert [event.asked for event in seen] == sorted(event.asked for event in seen)
    assert seen[-1] == Finished(result.queries.asked, result.tree.size, result.certificate.error_bound, result.reason)
    for event, record in zip(seen[1:-1:2], result.trace, strict=True):
        assert (event.leaf, event.test) == (str(record.leaf), f"x{record.feature} = 1")
        assert (event.score, event.size, event.asked) == (record.score, record.size, record.asked)
    for event, record in zip(seen[2:-1:2], result.trace, strict=True):
        assert event.error == record.error <= event.error_bound


@algorithms
def test_watching_does_not_change_the_result(algorithm: str) -> None:
    alone, watched = distil(algorithm), distil(algorithm, observer=lambda event: None)
    assert watched.tree == alone.tree
    assert watched.trace == alone.trace
    assert watched.certificate == alone.certificate
    assert watched.queries == alone.queries


@algorithms
def test_an_observer_that_fails_is_not_hidden(algorithm: str) -> None:
    def fails(event: Event) -> None:
        raise RuntimeError("no screen")

    with pytest.raises(RuntimeError, match="no screen"):
        distil(algorithm, observer=fails)


def test_an_exact_run_that_has_no_time_is_one_leaf() -> None:
    result = distil("build", 0, max_seconds=0)
    assert (result.tree.size, result.reason) == (1, "max_seconds = 0")
    assert honest(result)
