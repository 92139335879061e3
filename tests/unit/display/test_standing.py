"""How a result stands: one of three, the same words everywhere."""

from __future__ import annotations

import dataclasses

import pytest

import fidelitree as ft
from fidelitree.display.card import standing
from fidelitree.report import render

SPACE = ft.ProductSpace.bernoulli(11)
RESULT = ft.distill(ft.targets.multiplexer(3), SPACE, 0.1)


@pytest.mark.parametrize(
    ("epsilon", "bound", "exact", "state", "words"),
    [
        (0.1, 0.1, False, "met", "certified, goal met"),
        (0.1, 0.108, False, "missed", "certified at 89.2% agreement, goal missed"),
        (0.1, 1.0, False, "nothing", "nothing certified"),
        (None, 0.108, False, "met", "certified at 89.2% agreement"),
        (None, 1.0, False, "nothing", "nothing certified"),
        (0.0, 0.0, True, "met", "certified, goal met"),
        (0.0, 0.5, True, "missed", "certified at 50% agreement, goal missed"),
        (0.0, 1.0, True, "missed", "certified at 0% agreement, goal missed"),
    ],
)
def test_the_three_states(epsilon: float | None, bound: float, exact: bool, state: str, words: str) -> None:
    found = standing(epsilon, bound, exact)
    assert (found.state, found.words) == (state, words)
    assert found.badge == f"{'✓' if state == 'met' else '✗'} {words.capitalize()}"


@pytest.mark.parametrize(("epsilon", "bound"), [(0.1, 0.09), (0.05, 0.09), (0.05, 1.0), (None, 0.2)])
def test_report_and_cards_say_the_same(epsilon: float | None, bound: float) -> None:
    certificate = dataclasses.replace(RESULT.certificate, epsilon=epsilon, error_bound=bound)
    result = dataclasses.replace(RESULT, certificate=certificate)
    badge = certificate.standing.badge
    assert badge in certificate._repr_html_()
    assert badge in result._repr_html_()
    page = render(result.contents)
    assert badge in page
    assert "Not certified" not in page
    assert (certificate.standing.state == "met") is certificate.holds
