"""``prefer="rounds"``: few large batches, counted in every run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
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
    assert few.queries.rounds <= 10 < usual.queries.rounds


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
