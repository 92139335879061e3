"""The reference of commands is what the commands say."""

from __future__ import annotations

import runpy

from documents import ROOT

SCRIPT = runpy.run_path(str(ROOT / "docs" / "command_reference.py"))


def test_the_page_is_current() -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert text == SCRIPT["page"](text), "write it anew: python docs/command_reference.py"


def test_every_option_of_a_command_is_in_it() -> None:
    page = "\n".join(SCRIPT["reference"](SCRIPT["app"]))
    for wanted in (
        "## fidelitree distill",
        "`--strategy auto\\|influence\\|smallest`",
        "`--prefer queries\\|leaves`",
        "Default: 0.05.",
        "`--given FEATURE=WHAT`",
    ):
        assert wanted in page
