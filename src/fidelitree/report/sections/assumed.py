"""The inputs that a certificate is about: how they are drawn, in words, and every feature with its histogram."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fidelitree.display.wording import Html, counted, row, section, table, tag
from fidelitree.spaces.describe import histogram

if TYPE_CHECKING:
    from fidelitree.spaces.world import World

_SHOWN = 60


def assumed(world: World) -> Html:
    """A sentence about the world, and a table of its features."""
    told = world.describe()
    rows = [row(x.kind, x.values, histogram(x.shares), head=x.name) for x in told.lines[:_SHOWN]]
    rest = len(told.lines) - len(rows)
    shown = table(("Feature", "Kind", "Values", "Shares"), rows, "The features of an input")
    return section(
        "inputs",
        "Which inputs it is about",
        tag("p", how_drawn(world), class_="note"),
        tag("p", f"{told.fit[0].upper()}{told.fit[1:]}: the larger, the better.", class_="note") if told.fit else None,
        tag("div", shown, class_="scroll assumed", tabindex=0),
        tag("p", f"And {counted(rest, 'more feature')}.", class_="note") if rest else None,
    )


def how_drawn(world: World) -> str:
    """The kind of world, for somebody who does not know its name."""
    assumes = "; ".join(world.assumes)
    end = f" In the certificate's words: {assumes}." if assumes else ""
    if world.independent is not None:
        return (
            "Features are drawn independently of each other, each from its own distribution. So there may be "
            f"combinations that no real input has.{end}"
        )
    if world.table is not None:
        return f"Inputs are the rows of a table. The table shows each feature by itself.{end}"
    fitted = "It was fitted to a table, and features go together as they do there." if world.fit is not None else ""
    together = fitted or "Features depend on each other as they do there."
    return f"Inputs are {world.in_words}. {together} The list shows each feature by itself.{end}"
