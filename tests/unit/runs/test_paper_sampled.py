"""Algorithm 2: its three sets have the sizes of both schedules, it stops where it should, and the seed decides."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

import fidelitree as ft
from fidelitree import theory
from fidelitree.asking.counted import Counted
from fidelitree.runs import paper
from fidelitree.search.sampled_probes import Shelf
from small import Bits

if TYPE_CHECKING:
    from collections.abc import Callable

N, EPSILON, DELTA = 6, 0.2, 0.1
SPACE = ft.ProductSpace.bernoulli(N, [0.5, 0.3, 0.6, 0.5, 0.4, 0.5])
TARGET = ft.targets.multiplexer(2)
schedules = pytest.mark.parametrize("schedule", ["printed", "corrected"])


def run(schedule: str, **options: object) -> ft.Distillation:
    return ft.practical_top_down(TARGET, SPACE, EPSILON, DELTA, schedule=schedule, **options)


def test_printed_sets_hold_what_the_pseudocode_draws() -> None:
    """j is raised before M(j + 1) - M(j) is drawn: M(1) + M(j + 1) - M(2) for a tree of j leaves."""
    result = run("printed")
    j = result.tree.size
    assert j >= 4

    def held(size: Callable[[int], int]) -> int:
        return size(1) + size(j + 1) - size(2)

    assert result.queries.asked["label"] == held(lambda k: theory.label_samples(k, EPSILON, DELTA))
    assert result.queries.asked["certify"] == held(lambda k: theory.test_samples(k, EPSILON, DELTA))
    pairs = held(lambda k: theory.score_pairs(k, DELTA, EPSILON, N, "printed"))
    assert result.queries.asked["grow"] == 2 * N * pairs


def test_corrected_sets_are_topped_up_for_the_tree_they_serve() -> None:
    result = run("corrected")
    j = result.tree.size
    assert j >= 4
    assert result.queries.asked["label"] == theory.label_samples(j, EPSILON, DELTA)
    assert result.queries.asked["certify"] == theory.test_samples(j, EPSILON, DELTA)
    assert result.queries.asked["grow"] == fresh_queries(result)


def fresh_queries(result: ft.Distillation) -> int:
    """Every leaf ever made has p_l M_S pairs (rounded up) for the last tree it was in; one query more than features."""
    lived_until = {"-" * N: 1}
    for record in result.trace:
        lived_until[str(record.leaf)] = record.size - 1
        for side in record.leaf.split(record.test):
            lived_until[str(side)] = result.tree.size
    total = 0
    for leaf, size in lived_until.items():
        mass = math.prod(
            SPACE.features[i].mass(int(value)) for i, value in sorted_by_split(leaf, result) if value != "-"
        )
        pairs = theory.score_pairs(size, DELTA, EPSILON, N, "corrected")
        total += math.ceil(mass * pairs) * (leaf.count("-") + 1)
    return total


def sorted_by_split(leaf: str, result: ft.Distillation) -> list[tuple[int, str]]:
    """The restrictions in the order of the path, so that the product is rounded as the region's is."""
    path = [r.feature for r in result.trace if all(a in ("-", b) for a, b in zip(str(r.leaf), leaf, strict=True))]
    return [(i, leaf[i]) for i in dict.fromkeys(path)]


@schedules
def test_it_stops_at_three_quarters_of_epsilon_and_not_before(schedule: str) -> None:
    result = run(schedule)
    sizes = paper.SetSizes(N, EPSILON, DELTA, schedule)
    for record in result.trace:
        errors = round(record.error * sizes.tests(record.size))
        allowed = 3 * EPSILON / 4 * theory.test_samples(record.size, EPSILON, DELTA)
        assert (errors <= allowed) == (record.size == result.tree.size)
    assert result.reason == "good enough"
    assert result.certificate.holds


@schedules
def test_the_certificate_counts_test_inputs_at_the_level_of_the_tree(schedule: str) -> None:
    result = run(schedule, seed=4)
    certificate = result.certificate
    assert certificate.samples == result.queries.asked["certify"]
    assert certificate.errors == round(result.trace[-1].error * certificate.samples)
    level = DELTA / (8 * result.tree.size**2)
    assert certificate.error_bound == paper.upper_bound(certificate.errors, certificate.samples, level)
    assert (certificate.method, certificate.delta, certificate.seed) == ("fixed", DELTA, 4)
    assert certificate.split_quality is (schedule == "corrected")
    assert certificate.tree_digest == result.tree.digest


@schedules
def test_the_same_seed_gives_the_same_tree_and_queries(schedule: str) -> None:
    one, two, other = run(schedule, seed=7), run(schedule, seed=7), run(schedule, seed=8)
    assert one.tree == two.tree
    assert one.certificate == two.certificate
    assert one.trace == two.trace
    assert one.queries == two.queries
    assert [record.score for record in other.trace] != [record.score for record in one.trace]


def test_seed_0_and_the_corrected_schedule_are_what_nobody_has_to_ask_for() -> None:
    assert ft.practical_top_down(TARGET, SPACE, EPSILON, DELTA).trace == run("corrected", seed=0).trace


@schedules
def test_nothing_is_remembered(schedule: str) -> None:
    received = []
    result = ft.practical_top_down(
        lambda batch: received.append(len(batch)) or TARGET(batch), SPACE, EPSILON, DELTA, schedule=schedule
    )
    assert sum(received) == result.queries.paid > result.queries.asked > 10 * 2**N
    assert dict(result.queries.paid) == {**dict(result.queries.asked), "check": 142}


@schedules
def test_no_input_serves_two_purposes(schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Among 64 fair bits a repeat by chance has probability below 1e-8."""
    rows: dict[str, set[bytes]] = {"grow": set(), "label": set(), "certify": set()}
    ask = Counted.ask

    def listen(counted: Counted, batch: Bits, purpose: str, **more: bool) -> object:
        rows[purpose] |= {row.tobytes() for row in np.packbits(batch[:200], axis=1)}
        return ask(counted, batch, purpose, **more)

    monkeypatch.setattr(Counted, "ask", listen)
    space = ft.ProductSpace.bernoulli(64)
    ft.practical_top_down(lambda batch: batch[:, 0], space, 0.49, 0.5, schedule=schedule, max_leaves=2)
    assert min(map(len, rows.values())) >= 200
    assert rows["grow"] & rows["label"] == rows["grow"] & rows["certify"] == rows["label"] & rows["certify"] == set()


@schedules
@pytest.mark.parametrize("room", [0, 20_000])
def test_blocks_that_are_drawn_again_give_the_same_tree_as_blocks_that_are_held(
    schedule: str, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = run(schedule)
    monkeypatch.setattr(paper, "Shelf", lambda: Shelf(room))
    again = run(schedule)
    assert again.tree == held.tree
    assert again.trace == held.trace
    assert again.certificate == held.certificate


@schedules
def test_a_target_that_writes_into_its_batch_does_no_harm(schedule: str) -> None:
    def vandal(batch: Bits) -> np.ndarray:
        answers = TARGET(batch)
        batch[:] = 1 - batch
        return answers

    result = ft.practical_top_down(vandal, SPACE, EPSILON, DELTA, schedule=schedule)
    assert result.trace == run(schedule).trace
    assert result.tree == run(schedule).tree


@schedules
def test_a_target_that_uses_its_answer_again_does_no_harm(schedule: str) -> None:
    buffer = np.zeros(1 << 20, np.uint8)

    def thrifty(batch: Bits) -> np.ndarray:
        buffer[: len(batch)] = TARGET(batch)
        return buffer[: len(batch)]

    assert ft.practical_top_down(thrifty, SPACE, EPSILON, DELTA, schedule=schedule).trace == run(schedule).trace
