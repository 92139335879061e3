"""The paper's algorithms where not all features are bits: Algorithm 1 if inputs can be listed, an error elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fidelitree as ft

SPACE = ft.ProductSpace(
    [
        ft.Boolean("owner", 0.5),
        ft.Categorical("job", ["clerk", "nurse", "pilot"]),
        ft.Numeric.from_values("rooms", [1, 2, 3, 4, 5, 6]),
    ]
)
ENDLESS = ft.ProductSpace([ft.Numeric("age", 18, 90)])


def target(batch: Any) -> Any:
    pilots = batch["job"] == "pilot"
    return np.where(pilots & (batch["rooms"] > 4), "large", np.where(batch["owner"] == 1, "own", "rent"))


def test_algorithm_1_finds_cuts_and_sets() -> None:
    result = ft.build_top_down(target, SPACE, 0)
    assert str(result.tree).splitlines() == [
        "owner = 0",
        "    job in {clerk, nurse}: rent",
        "    job = pilot",
        "        rooms <= 4.5: rent",
        "        rooms > 4.5: large",
        "owner = 1",
        "    job in {clerk, nurse}: own",
        "    job = pilot",
        "        rooms <= 4.5: own",
        "        rooms > 4.5: large",
    ]
    assert result.certificate.holds
    assert result.certificate.error_bound == 0
    assert (result.certificate.samples, result.certificate.method) == (36, "exact")


def test_the_trace_names_its_tests() -> None:
    seen: list[Any] = []
    result = ft.build_top_down(target, SPACE, 0.1, observer=seen.append)
    assert [record.cost for record in result.trace] == sorted([record.cost for record in result.trace], reverse=True)
    texts = [event.test for event in seen if hasattr(event, "test")]
    assert texts[0] == "owner = 1"
    assert len(texts) == len(result.trace) == result.tree.size - 1


def test_a_space_without_end_is_refused() -> None:
    with pytest.raises(ft.ParameterError) as caught:
        ft.build_top_down(lambda batch: batch["age"] > 30, ENDLESS, 0.1)
    assert str(caught.value) == (
        "build_top_down must ask about all inputs, and the space has infinitely many inputs; where not all features "
        "are bits it asks about 1,048,576 at most, or up to 4,194,304 with max_queries. distill draws inputs"
    )


def test_algorithm_2_is_for_bits() -> None:
    with pytest.raises(ft.ParameterError) as caught:
        ft.practical_top_down(lambda batch: batch["age"] > 30, ENDLESS, 0.1, 0.1)
    assert str(caught.value) == (
        "practical_top_down needs a space of bits, as the paper has it; got ProductSpace([Numeric('age', 18, 90)])  "
        "# 1 features - distill takes any features"
    )


def test_the_error_of_a_tree_needs_inputs_that_can_be_listed() -> None:
    with pytest.raises(ft.ParameterError) as caught:
        ft.tree_error(ft.Tree.constant(ENDLESS, 1), lambda batch: batch["age"] > 30, ENDLESS)
    assert str(caught.value) == (
        "target must be a tree, or have at most 2^20 inputs for its error to be exact; got infinitely many inputs. "
        "certify draws inputs instead"
    )
