"""Names and values as text: plain where that is clear."""

from __future__ import annotations

import pytest

from fidelitree.display.wording import shown


@pytest.mark.parametrize("value", ["age", "marital status", "<=50K", "a.b[0]", "Größe", "x:y", "in", "e-mail?"])
def test_clear_text_stays_as_it_is(value: str) -> None:
    assert shown(value) == value


@pytest.mark.parametrize(
    "value", ["", " a", "a ", "a\nb", "\x7f", "\u2028", "a, b", "{", "it's", "x <= 3", "a: b", "\\"]
)
def test_text_that_would_mislead_is_quoted(value: str) -> None:
    assert shown(value) == repr(value)


def test_other_values() -> None:
    assert [shown(value) for value in (1, 2.5, None, True, (1, "a"))] == ["1", "2.5", "None", "True", "(1, 'a')"]
