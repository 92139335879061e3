"""Every public name explains itself: each parameter in one line, the same words wherever it stands, and an example."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

import pytest

import fidelitree as ft

if TYPE_CHECKING:
    from collections.abc import Callable

ENTRY = re.compile(r"^ {4}\*{0,2}(\w+): (\S.*)$", flags=re.MULTILINE)
MAKERS = ("ProductSpace.bernoulli", "ProductSpace.from_data", "ChowLiu.from_data", "Mixture.from_data",
          "Numeric.from_values")  # fmt: skip
# What means something else at one door, and is therefore told in other words.
OTHERWISE = {
    "analyze": {"delta", "max_queries", "seed"},
    "build_top_down": {"epsilon", "max_queries", "space", "target"},
    "certify": {"epsilon", "within"},
    "compare": {"epsilon", "max_queries", "max_seconds", "seed"},
    "diff": {"epsilon", "space"},
    "distill": {"epsilon", "prefer"},
    "errors_by_class": {"tree", "within"},
    "frontier": {"prefer"},
    "practical_top_down": {"epsilon", "seed", "space", "target"},
    "tree_error": {"space", "target", "tree"},
    "verify": {"max_queries", "space", "target"},
}


def _public() -> dict[str, Callable[..., Any]]:
    named = {name: getattr(ft, name) for name in ft.__all__}
    named |= {name: getattr(getattr(ft, name.split(".")[0]), name.split(".")[1]) for name in MAKERS}
    return {name: one for name, one in named.items() if inspect.isroutine(one) or inspect.isclass(one)}


PUBLIC = _public()
ERRORS = {name for name, one in PUBLIC.items() if isinstance(one, type) and issubclass(one, Exception)}


def sections(doc: str) -> dict[str, str]:
    """The parts of a docstring in Google's style, by their titles."""
    parts = re.split(r"^(Args|Attributes|Returns|Raises|Examples):\n", inspect.cleandoc(doc), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def entries(doc: str) -> dict[str, str]:
    """What is said of each parameter."""
    found = sections(doc)
    return dict(ENTRY.findall(found.get("Args", "") + found.get("Attributes", "")))


def parameters(one: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(one).parameters if name not in ("self", "cls")]


@pytest.mark.parametrize("name", sorted(PUBLIC.keys() - ERRORS))
def test_every_parameter_is_described(name: str) -> None:
    doc = inspect.getdoc(PUBLIC[name]) or ""
    assert list(entries(doc)) == parameters(PUBLIC[name]), "described, against what it takes"
    needed = {"Returns", "Raises"} if inspect.isroutine(PUBLIC[name]) else set()
    assert needed | {"Examples"} <= sections(doc).keys()


@pytest.mark.parametrize("name", sorted(ERRORS))
def test_every_error_says_what_went_wrong(name: str) -> None:
    assert len((inspect.getdoc(PUBLIC[name]) or "").split()) > 3


def test_a_parameter_is_told_in_the_same_words_everywhere() -> None:
    told: dict[str, set[str]] = {}
    for name, one in PUBLIC.items():
        if inspect.isroutine(one):
            for parameter, words in entries(inspect.getdoc(one) or "").items():
                if parameter not in OTHERWISE.get(name, ()):
                    told.setdefault(parameter, set()).add(words)
    shared = {"target", "space", "delta", "seed", "deterministic", "max_queries", "journal", "observer"}
    assert shared <= told.keys()
    assert {parameter: words for parameter, words in told.items() if len(words) > 1} == {}


def test_what_is_not_described_is_noticed() -> None:
    def door(space: Any, delta: float) -> None:
        """One line.

        Args:
            space: Where inputs come from.

        Returns:
            Nothing.
        """

    assert (list(entries(door.__doc__ or "")), parameters(door)) == (["space"], ["space", "delta"])
    assert sections(door.__doc__ or "").keys() == {"Args", "Returns"}
