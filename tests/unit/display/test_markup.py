"""Whatever is not marked as HTML is escaped."""

from __future__ import annotations

import json
import re

import pytest

from fidelitree.display.wording import Html, embedded, join, tag
from reports import HOSTILE


def test_text_and_attributes_are_escaped() -> None:
    assert tag("p", '<b> & "c"', title="\"><script>'") == (
        '<p title="&quot;&gt;&lt;script&gt;&#x27;">&lt;b&gt; &amp; &quot;c&quot;</p>'
    )


def test_html_is_not_escaped_twice() -> None:
    inner = tag("b", "x < y")
    assert isinstance(inner, Html)
    assert tag("p", inner, None, 3) == "<p><b>x &lt; y</b>3</p>"
    assert join("&", inner) == "&amp;<b>x &lt; y</b>"


def test_attributes_that_are_none_or_false_are_left_out() -> None:
    assert (
        tag("i", class_="a", aria_label="b", hidden=True, open=False, id=None)
        == '<i class="a" aria-label="b" hidden></i>'
    )


@pytest.mark.parametrize("name", [HOSTILE, "<!--", "]]>", "\u2028\u2029", "&lt;", 'quote " and \\ slash', "é\u0000"])
def test_embedded_data_cannot_leave_its_block_and_can_be_read(name: str) -> None:
    block = embedded("scene", {name: [1.5, None, name]})
    body = re.fullmatch(r'<script type="application/json" id="scene">(.*)</script>', block)
    assert body is not None
    assert not set("<>&\u2028\u2029") & set(body[1])
    assert json.loads(body[1]) == {name: [1.5, None, name]}


def test_what_json_does_not_know_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        embedded("scene", float("nan"))
