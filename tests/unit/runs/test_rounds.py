"""``prefer="rounds"``: few large batches, counted in every run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.certificates.attempts import Attempts
from fidelitree.targets import multiplexer, tribes


def hidden(target: Any) -> Any:
    """The same as a black box: a textbook function is one that can be looked up."""

    def asked(batch: Any) -> Any:
        return target(batch)

    return asked


def counted_calls(target: Any) -> tuple[Any, list[int]]:
    calls: list[int] = []

    def asked(batch: Any) -> Any:
        calls.append(len(batch))
        return target(batch)

    return asked, calls


@pytest.mark.parametrize("prefer", ["queries", "rounds"])
def test_rounds_are_the_calls_that_wait_for_each_other(prefer: Any) -> None:
    target, calls = counted_calls(multiplexer(3))
    found = ft.distill(target, ft.ProductSpace.bernoulli(11), epsilon=0.1, prefer=prefer)
    assert found.queries.rounds == len(calls)
    assert int(found.queries.paid) == sum(calls)


def test_few_rounds_for_some_more_labels() -> None:
    space = ft.ProductSpace.bernoulli(20)
    target, labels = hidden(multiplexer(4)), []
    for seed in range(100, 109):
        usual = ft.distill(target, space, epsilon=0.1, seed=seed)
        found = ft.distill(target, space, epsilon=0.1, prefer="rounds", seed=seed)
        assert found.certificate.holds
        assert found.queries.rounds <= 8 < usual.queries.rounds
        labels.append((int(found.queries.asked), int(usual.queries.asked)))
    of_rounds, of_others = np.median(labels, axis=0)
    assert of_rounds <= 1.5 * of_others
    again = ft.distill(target, space, epsilon=0.1, prefer="rounds", seed=108)
    assert again.tree.digest == found.tree.digest


def test_large_trees_take_few_rounds_too() -> None:
    """Batches grow with what is missing: tribes 3 x 5 takes trees of 100 leaves and more, and some 3 000 labels."""
    space = ft.ProductSpace.bernoulli(15)
    found = [ft.distill(hidden(tribes(3, 5)), space, epsilon=0.1, prefer="rounds", seed=seed) for seed in range(9)]
    assert all(one.certificate.holds for one in found)
    assert np.median([one.queries.rounds for one in found]) <= 8 + 1, "one of them checks that answers repeat"
    assert np.median([int(one.queries.asked) for one in found]) <= 4_500


def test_the_inputs_on_a_walk_are_asked_together() -> None:
    target = hidden(lambda batch: batch[:, 3] & (batch[:, 50] | batch[:, 70]))
    usual, few = (
        ft.distill(target, ft.ProductSpace.bernoulli(100), epsilon=0.1, prefer=prefer)
        for prefer in ("queries", "rounds")
    )
    assert few.certificate.holds
    assert few.queries.rounds <= 8 < usual.queries.rounds


def test_walks_where_no_search_sees_anything() -> None:
    target = hidden(lambda batch: batch[:, [2, 5, 11, 17, 23, 29]].sum(1) % 2)
    found = ft.distill(target, ft.ProductSpace.bernoulli(30), epsilon=0.1, prefer="rounds")
    assert found.certificate.holds
    assert found.tree.size == 64


def test_over_any_features() -> None:
    space = ft.ProductSpace([ft.Numeric("age", 18, 90), ft.Boolean("owner", 0.3)])
    target, calls = counted_calls(lambda batch: np.where(batch["age"] > 40, "old", "young"))
    found = ft.distill(target, space, epsilon=0.05, prefer="rounds")
    assert found.certificate.holds
    assert found.queries.rounds == len(calls) <= 5


def test_numbers_take_few_rounds_too() -> None:
    space = ft.ProductSpace([ft.Numeric("age", 18, 90), ft.Boolean("owner", 0.3)])

    def price(batch: Any) -> Any:
        return np.where(np.asarray(batch["age"]) > 40, 2.5, 1.0) + np.where(np.asarray(batch["owner"]), 4.0, 0.0)

    target, calls = counted_calls(price)
    found = ft.distill(target, space, epsilon=0.1, tolerance=0.1, prefer="rounds", seed=1)
    assert found.certificate.holds
    assert found.tree.size == 4
    assert found.queries.rounds == len(calls) <= 6


@pytest.mark.parametrize("features", [20, 60])
def test_the_same_seed_gives_the_same(features: int) -> None:
    target, space = hidden(multiplexer(3)), ft.ProductSpace.bernoulli(features)

    asked: list[bytes] = []

    def padded(batch: Any) -> Any:
        asked[-1] += np.asarray(batch).tobytes()
        return target(batch[:, :11])

    found = []
    for seed in (4, 4, 5):
        asked.append(b"")
        found.append(ft.distill(padded, space, epsilon=0.1, prefer="rounds", seed=seed))
    assert (found[0].tree.digest, found[0].queries) == (found[1].tree.digest, found[1].queries)
    assert asked[0] == asked[1] != asked[2]


@pytest.mark.parametrize("features", [20, 60])
def test_an_attempt_counts_nothing_that_came_before_it(features: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a round is taken in by halves: a tree that the first half taught does not count the second."""
    opened, portions = list[tuple[Any, int]](), [0]
    count, open_one = Attempts.count, Attempts.open

    def opening(self: Any, tree: Any, *more: Any, **told: Any) -> Any:
        attempt = open_one(self, tree, *more, **told)
        opened.append((attempt, portions[0] - attempt.samples))
        return attempt

    def counting(self: Any, inner: Any, *more: Any) -> Any:
        portions[0] += len(inner)
        return count(self, inner, *more)

    monkeypatch.setattr(Attempts, "open", opening)
    monkeypatch.setattr(Attempts, "count", counting)
    target = hidden(tribes(2, 5))
    several = 0
    for seed in range(8):
        opened.clear()
        found = ft.distill(
            lambda batch: target(batch[:, :10]), ft.ProductSpace.bernoulli(features), 0.05, prefer="rounds", seed=seed
        )
        assert found.certificate.holds
        assert all(attempt.samples == portions[0] - before for attempt, before in opened)
        several += len(opened) > 1
    assert several, "some runs open more than one"


def test_where_no_small_tree_will_do_the_ending_takes_few_rounds() -> None:
    coin = np.random.default_rng(1).integers(0, 2, 1 << 20)
    target, calls = counted_calls(lambda bits: coin[bits.astype(np.int64) @ (1 << np.arange(20))])
    found = ft.distill(target, ft.ProductSpace.bernoulli(20), epsilon=0.1, prefer="rounds", seed=0)
    assert not found.certificate.holds or found.certificate.error_bound > 0.1
    assert found.queries.rounds == len(calls) <= 40


def test_budgets_and_journals(tmp_path: Path) -> None:
    space = ft.ProductSpace.bernoulli(20)
    short = ft.distill(hidden(multiplexer(4)), space, epsilon=0.1, prefer="rounds", max_queries=150)
    assert short.queries.paid == short.queries.asked + short.queries.paid["check"] == 150
    assert short.reason == "max_queries = 150"
    whole = ft.distill(hidden(multiplexer(4)), space, epsilon=0.1, prefer="rounds", journal=tmp_path / "run.db")
    whole.save(tmp_path / "out")
    assert ft.verify(tmp_path / "out").holds
    tiny = ft.distill(hidden(multiplexer(2)), ft.ProductSpace.bernoulli(6), epsilon=0.01, prefer="rounds")
    assert tiny.certificate.method == "exact"


def test_what_it_cannot_be_combined_with() -> None:
    with pytest.raises(ft.ParameterError, match="prefer must be one of"):
        ft.distill(hidden(multiplexer(2)), ft.ProductSpace.bernoulli(6), epsilon=None, prefer="rounds")
    with pytest.raises(ft.ParameterError, match=r"prefer must be .queries. or .leaves. with defer=True; got .rounds."):
        ft.distill(hidden(multiplexer(2)), ft.ProductSpace.bernoulli(6), defer=True, prefer="rounds")


@pytest.mark.parametrize("p", [[0.5, 0.5, 1.0], [0.2, 1.0, 0.0, 0.5, 1.0, 1.0]])
def test_a_space_whose_inputs_are_all_known_is_learnt_although_a_split_costs_more_than_an_error(p: list[float]) -> None:
    """Four inputs occur, and one of them has another label: a tree that gets it wrong would do so for ever."""
    space = ft.ProductSpace.bernoulli(len(p), p)
    free = [i for i, share in enumerate(p) if 0 < share < 1]
    result = ft.distill(
        lambda bits: bits[:, free].all(axis=1), space, 0.02, prefer="rounds", deterministic=False, max_queries=5_000
    )
    assert result.certificate.holds
    assert result.tree.size == 3


@pytest.mark.parametrize("limit", [20, 30, 50])
def test_a_small_budget_keeps_labels_for_tests(limit: int) -> None:
    def target(bits: Any) -> Any:
        return (bits[:, 0] & bits[:, 1]) | bits[:, 2]

    space = ft.ProductSpace.bernoulli(20)
    found = ft.distill(target, space, epsilon=0.1, prefer="rounds", seed=3, max_queries=limit)
    assert found.certificate.error_bound < 1
