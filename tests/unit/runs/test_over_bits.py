"""Runs over bits: what counts for a certificate is counted before it teaches, and comes as the space gives it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from chances import plausible
from fidelitree.certificates.attempts import Attempts
from fidelitree.search.archive import Archive
from fidelitree.trees.tree import Tree
from small import Bits

ALARM = 1e-7

# --- the protocol: what is counted, and when


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """Openings, countings and lessons of a run, in order."""
    events: list[tuple[str, Any]] = []
    count, opened, add = Attempts.count, Attempts.open, Archive.add

    def counting(self: Attempts, batch: Bits, labels: Any, asked: Any = None) -> Any:
        events.append(("count", batch.tobytes()))
        return count(self, batch, labels, asked)

    def opening(self: Attempts, tree: Tree, *told: Any, **named: Any) -> Any:
        events.append(("open", tree))
        return opened(self, tree, *told, **named)

    def learning(self: Archive, inner: Bits, codes: Any) -> None:
        events.append(("learn", inner.tobytes()))
        add(self, inner, codes)

    monkeypatch.setattr(Attempts, "count", counting)
    monkeypatch.setattr(Attempts, "open", opening)
    monkeypatch.setattr(Archive, "add", learning)
    return events


@pytest.mark.parametrize("p", [0.5, 0.1])
def test_an_answer_is_counted_before_it_teaches_and_never_after(log: list[tuple[str, Any]], p: float) -> None:
    space = ft.ProductSpace.bernoulli(12, p)
    attempts = 0
    for seed in range(4):
        log.clear()
        result = ft.distill(ft.targets.balanced(space, 4, seed), space, 0.1, 0.05, seed=seed)
        kinds = [kind for kind, _ in log]
        first = kinds.index("open")
        assert set(kinds[:first]) == {"learn"}
        lessons = {position for position, kind in enumerate(kinds) if kind == "learn" and position > first}
        counts = {position for position, kind in enumerate(kinds) if kind == "count"}
        assert lessons <= {position + 1 for position in counts}
        assert counts - {position - 1 for position in lessons} <= {len(log) - 1}, "only the last teaches nobody"
        assert all(log[position][1] == log[position - 1][1] for position in lessons)
        certified = result.certificate
        trees = list(dict.fromkeys(tree for kind, tree in log if kind == "open"))
        assert certified.attempts == len(trees), "a tree has one attempt"
        since = log.index(("open", trees[certified.attempt - 1]))
        own = [data for kind, data in log[since:] if kind == "count"]
        counted = [batch[at : at + 12] for batch in own for at in range(0, len(batch), 12)]
        assert certified.samples == len(counted), "all that was drawn since it was opened, and nothing else"
        attempts += certified.attempts
    assert attempts > 4, "some runs open several attempts"


def test_an_attempt_counts_only_what_comes_after_it_was_opened() -> None:
    """A constant makes no mistake: 40 answers certify it, whatever was asked before."""
    for seed in range(5):
        result = ft.distill(lambda batch: np.zeros(len(batch), int), ft.ProductSpace.bernoulli(12), 0.1, seed=seed)
        assert result.certificate.samples == 40
        assert result.certificate.attempts == 1
        assert result.queries.asked["label"] > 0


def test_what_is_counted_follows_the_space(log: list[tuple[str, Any]]) -> None:
    """Whatever made a run look where ones are rare. False alarm below 1e-5."""
    n, ones, rows = 12, np.zeros(12, int), 0
    space = ft.ProductSpace.bernoulli(n, 0.1)
    for seed in range(40):
        log.clear()
        ft.distill(lambda batch: batch[:, 0] & batch[:, 1], space, 0.1, seed=seed)
        for kind, data in log:
            if kind == "count":
                batch = np.frombuffer(data, np.uint8).reshape(-1, n)
                ones, rows = ones + batch.sum(axis=0), rows + len(batch)
    assert rows >= 40 * 40
    assert all(plausible(int(count), rows, 0.1, ALARM) for count in ones)
    assert not any(plausible(int(count), rows, 0.25, ALARM) for count in ones), "the check can see a difference"


def test_no_attempt_is_opened_for_the_same_tree_twice(log: list[tuple[str, Any]]) -> None:
    space = ft.ProductSpace.bernoulli(11)
    result = ft.distill(ft.targets.majority(11), space, 0.15, seed=2, max_queries=250)
    opened = [tree for kind, tree in log if kind == "open"]
    assert len(opened) >= len(set(opened))
    assert result.certificate.attempts == len(set(opened)) or result.certificate.ledger == "standing"


@pytest.mark.parametrize("epsilon", [5e-324, 1e-300, 1e-17])
def test_an_epsilon_that_is_lost_in_rounding_ends_with_what_was_reached(epsilon: float) -> None:
    result = ft.distill(lambda rows: rows[:, 0] & rows[:, 1], ft.ProductSpace.bernoulli(10), epsilon, max_queries=400)
    assert not result.certificate.holds
    assert result.error_bound < 0.05


def test_labels_stand_in_increasing_order_in_the_tree() -> None:
    """Whatever order they were seen in."""
    space = ft.ProductSpace.bernoulli(10)
    words = np.array(["zero", "one", "many"])
    result = ft.distill(lambda rows: words[np.minimum(rows[:, :2].sum(axis=1), 2)], space, 0.1)
    assert result.tree.labels.tolist() == ["many", "one", "zero"]
    assert result.tree.predict(np.array([[1, 1] + [0] * 8, [0] * 10])).tolist() == ["many", "zero"]


def test_a_function_of_many_small_effects_is_certified_with_fewer_leaves_than_it_is_learnt_with() -> None:
    """A list of literals: its first few suffice, and the learner's own tree fits them all."""
    space = ft.ProductSpace.bernoulli(30)

    def target(batch: Any) -> Any:
        return batch[:, :12].argmax(axis=1) % 2

    results = [ft.distill(target, space, 0.1, seed=seed) for seed in range(7)]
    assert all(result.certificate.holds for result in results)
    assert max(result.tree.size for result in results) < 12
    assert np.median([int(result.queries.asked) for result in results]) < 500


def test_where_no_tree_is_in_sight_all_inputs_are_asked_before_they_were_asked_for_twice() -> None:
    space = ft.ProductSpace.bernoulli(9)
    labels = np.random.default_rng(5).integers(0, 2, 512)

    def target(batch: Any) -> Any:
        return labels[batch.astype(np.intp) @ (1 << np.arange(9))]

    result = ft.distill(target, space, 0.02, seed=1)
    assert result.certificate.holds
    assert result.certificate.method == "exact"
    assert result.queries.asked <= 1.2 * 512
