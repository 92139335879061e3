"""A run as a page: it grows with the events, ends by its button, and becomes the pages of its folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import fidelitree as ft
from fidelitree.asking.events import Asked, Finished, TreeJudged
from fidelitree.runs.live import LiveRun

if TYPE_CHECKING:
    from pathlib import Path


def points(live: LiveRun) -> int:
    return live.page("state", {}).body.count('class="point')


def test_the_curve_grows_with_the_run() -> None:
    live = LiveRun("A run: model", lambda: None)
    assert "No tree was judged yet." in live.page("state", {}).body
    live(Asked(100, 100))
    live(TreeJudged(100, 1, 0.4, 1.0))
    assert points(live) == 1
    assert "Nothing is certified yet." in live.page("state", {}).body
    live(TreeJudged(200, 5, 0.1, 0.15))
    live(TreeJudged(300, 5, 0.1, 0.12))
    assert points(live) == 2, "one for each size"
    body = live.page("state", {}).body
    assert "88.0%" in body
    assert '<meta http-equiv="refresh" content="1">' in body
    assert live.page("state", {}).framed
    assert not live.page("live", {}).framed


def test_the_button_is_ctrl_c_while_it_runs_and_closes_the_page_afterwards(tmp_path: Path) -> None:
    stopped: list[int] = []
    live = LiveRun("A run: model", lambda: stopped.append(1))
    assert 'src="state"' in live.page("", {}).body
    assert live.page("stop", {}).body == live.page("live", {}).body, "a link stops nothing"
    assert "best tree so far" in live.page("stop", {}, "").body
    assert (stopped, live.over.is_set()) == ([1], False)
    live(Finished(300, 5, 0.1, "interrupted"))
    assert "Ending: interrupted" in live.page("state", {}).body
    ft.distill(lambda batch: batch[:, 0], ft.ProductSpace.bernoulli(4)).save(tmp_path)
    live.ended(tmp_path)
    ended = live.page("state", {}).body
    assert "Ended: interrupted" in ended
    assert "refresh" not in ended
    assert "Results" in live.page("", {}).body
    assert live.page("nowhere", {}).status == 404
    assert "closed" in live.page("stop", {}, "").body
    assert (stopped, live.over.is_set()) == ([1], True)
