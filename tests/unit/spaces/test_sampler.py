"""Samplers: what they may return, and what is noticed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.spaces.draw import Stream


def people(rows: int, rng: np.random.Generator) -> dict[str, Any]:
    age = rng.integers(18, 90, rows)
    return {"age": age, "job": np.where(rng.random(rows) < age / 90, "nurse", "clerk"), "owner": rng.random(rows) < 0.5}


LIKE = people(50, np.random.default_rng(0))


def test_draws_come_from_the_given_generator_alone() -> None:
    world = ft.Sampler(people, LIKE)
    bits = np.random.Philox(key=Stream.named(3, "draw").key, counter=[0, 0, 0, 0])
    expected = people(5, np.random.Generator(bits))
    assert {name: column.tolist() for name, column in world.draw(5, seed=3).items()} == {
        name: column.tolist() for name, column in expected.items()
    }


def test_numbers_need_not_be_in_the_example() -> None:
    world = ft.Sampler(lambda rows, rng: {"x": rng.normal(0, 100, rows)}, {"x": [0.5, 1.5]})
    assert np.ptp(world.draw(100)["x"]) > 10
    result = ft.distill(lambda batch: batch["x"] > 42, world, 0.05)
    assert result.certificate.holds
    assert "inputs are independent draws of this sampler" in str(result.certificate)


def test_the_digest_follows_what_is_drawn() -> None:
    world = ft.Sampler(people, LIKE)
    assert ft.Sampler(people, LIKE).digest == world.digest
    assert (
        ft.Sampler(lambda rows, rng: people(rows, np.random.default_rng(rng.integers(99))), LIKE).digest != world.digest
    )


def other(change: dict[str, Any]) -> Any:
    return lambda rows, rng: {**people(rows, rng), **change}


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (7, "draw must be a callable of rows and rng; got 7"),
        (other({"more": np.zeros(64)}), "draw must return the columns of the example, age, job, owner; .*: more$"),
        (lambda rows, rng: {"age": people(rows, rng)["age"]}, "or not all of them: job, owner"),
        (lambda rows, rng: {k: v[:-1] for k, v in people(rows, rng).items()}, "as it is asked for, 64; it returned 63"),
        (
            lambda rows, rng: {**people(rows, rng), "age": rng.random(rows)},
            "column 'age' as int64, .* returned float64",
        ),
        (lambda rows, rng: {**people(rows, rng), "job": ["pilot"] * rows}, "categories of the example in column 'job'"),
        (lambda rows, rng: {**people(rows, rng), "owner": ["no"] * rows}, "column 'owner' as bool, .* returned str"),
        (lambda rows, rng: people(rows, np.random.default_rng(0)), "draw must return new rows for another rng"),
        (lambda rows, rng: people(rows, np.random.default_rng()), "draw must return the same rows for an equal rng"),
        (lambda rows, rng: 1 / 0, "it raised ZeroDivisionError: division by zero"),
        (lambda rows, rng: "rows", "table must be a pandas, polars or arrow table"),
        (lambda rows: people(rows, np.random.default_rng(0)), "it raised TypeError"),
    ],
)
def test_what_a_sampler_must_not_do_is_noticed(draw: Any, message: str) -> None:
    with pytest.raises(ft.ParameterError, match=message):
        ft.Sampler(draw, LIKE)


def test_a_cursor_that_moves_on_is_noticed() -> None:
    rows_left = iter(range(10_000))

    def cursor(rows: int, rng: np.random.Generator) -> dict[str, Any]:
        return {"row": np.array([next(rows_left) for _ in range(rows)])}

    with pytest.raises(ft.ParameterError, match="keep no place in a file or a cursor"):
        ft.Sampler(cursor, {"row": [1, 2]})


def test_a_fault_in_the_middle_of_a_run_is_named() -> None:
    calls = []

    def tired(rows: int, rng: np.random.Generator) -> dict[str, Any]:
        calls.append(rows)
        return people(rows if len(calls) < 6 else rows // 2, rng)

    with pytest.raises(ft.ParameterError, match="draw must return as many rows as it is asked for"):
        ft.distill(lambda batch: batch["age"] % 7 > 2, ft.Sampler(tired, LIKE), 0.01)


def test_one_answer_only_is_a_distribution_too() -> None:
    world = ft.Sampler(lambda rows, rng: {"x": np.full(rows, 3)}, {"x": [3]})
    assert set(world.draw(5)["x"]) == {3}


def test_what_needs_masses_is_refused_with_the_way_out() -> None:
    world = ft.Sampler(people, LIKE)
    with pytest.raises(ft.ParameterError, match=r"space must say how a feature depends .* \(space\.product\)"):
        ft.analyze(lambda batch: batch["owner"], world)
    with pytest.raises(ft.ParameterError, match="space must be the sampler itself here"):
        type(world).from_dict(world.to_dict()).draw(3)
    with pytest.raises(ft.FormatError, match="it must be named by a digest; got 7"):
        type(world).from_dict({**world.to_dict(), "sampler": 7})


def test_a_sampler_that_forgets_its_generator_in_the_middle_of_a_run_is_noticed() -> None:
    calls: list[int] = []

    def forgetful(rows: int, rng: np.random.Generator) -> dict[str, Any]:
        calls.append(rows)
        return people(rows, rng if len(calls) < 5 else np.random.default_rng(0))

    with pytest.raises(ft.ParameterError, match="draw must return new rows for another rng"):
        ft.distill(lambda batch: batch["age"] % 7 > 2, ft.Sampler(forgetful, LIKE), 0.01, max_queries=5_000)


def test_a_sampler_with_a_memory_is_noticed_when_it_is_asked_again() -> None:
    calls: list[int] = []

    def ageing(rows: int, rng: np.random.Generator) -> dict[str, Any]:
        calls.append(rows)
        return {**people(rows, rng), "age": rng.integers(18, 90, rows) + len(calls) // 5}

    world = ft.Sampler(ageing, LIKE)
    world.draw(100, seed=1)
    world.draw(100, seed=2)
    with pytest.raises(ft.ParameterError, match="keep no place in a file or a cursor"):
        world.draw(100, seed=1)


def test_rows_that_are_equal_by_chance_are_no_fault() -> None:
    """A rare bit: most blocks of a hundred rows hold it in few places, and some are equal."""
    world = ft.Sampler(lambda rows, rng: {"rare": rng.random(rows) < 0.01}, {"rare": [True, False]})
    drawn = [world.draw(100, seed=seed)["rare"].tolist() for seed in range(60)]
    assert len({tuple(one) for one in drawn}) < 50
    with pytest.raises(ft.ParameterError, match="draw must return new rows for another rng"):
        ft.Sampler(lambda rows, rng: {"rare": np.arange(rows) % 50 == 7}, {"rare": [True, False]})


def test_features_may_be_listed_in_the_place_of_an_example() -> None:
    features = [ft.Numeric.from_values("age", [18, 90]), ft.Categorical("job", ["clerk", "nurse"]), ft.Boolean("owner")]
    world = ft.Sampler(people, features)
    assert world.names == ("age", "job", "owner")
    assert world.draw(100, seed=3)["age"].dtype == np.int64
    found = ft.distill(lambda batch: batch["age"] > 50, world, 0.05)
    assert found.certificate.holds
    assert found.leaves == 2
    with pytest.raises(ft.ParameterError, match="whole numbers in column 'age'; some are not"):
        ft.Sampler(lambda rows, rng: {**people(rows, rng), "age": rng.random(rows)}, features)
    with pytest.raises(ft.ParameterError, match=r"columns of the example, age, job; .*: owner$"):
        ft.Sampler(people, features[:2])
    with pytest.raises(ft.ParameterError, match="feature 'owner' must hold"):
        ft.Sampler(lambda rows, rng: {**people(rows, rng), "owner": ["no"] * rows}, features)
