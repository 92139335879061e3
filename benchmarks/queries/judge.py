"""Bars that several benchmarks share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.queries.runs import Summary, number
from benchmarks.report import Bar

if TYPE_CHECKING:
    from collections.abc import Mapping


def at_most(what: str, limit: float, measured: float, smoke: bool) -> Bar:
    """A median that must not exceed its limit."""
    return Bar(f"{what}: at most {number(limit)}", number(measured), None if smoke else measured <= limit)


def no_worse_than_cart(found: Mapping[tuple[str, str], Summary], smoke: bool) -> Bar:
    """Neither queries nor leaves of `auto` more than 10 % above CART's, on any cell where both ran."""
    worse, compared = [], 0
    for (cell, method), ours in found.items():
        if method == "auto" and (cell, "CART") in found:
            cart, compared = found[cell, "CART"], compared + 1
            for what, mine, its in (("queries", ours.asked, cart.asked), ("leaves", ours.leaves, cart.leaves)):
                if mine > 1.1 * its:
                    worse.append(f"{cell}: {number(mine)} {what}, CART {number(its)}")
    said = "; ".join(worse) or f"{compared} cells"
    return Bar("auto never more than 10 % above CART in queries or leaves", said, None if smoke else not worse)
