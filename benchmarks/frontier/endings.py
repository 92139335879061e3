"""Runs that had nothing to say in 0.1.0: each must leave a curve, and no point of it may be worse than CART's."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import fidelitree as ft
from benchmarks.frontier.cases import ENDED_EMPTY, Case
from benchmarks.frontier.peers import best_first
from benchmarks.frontier.trial import DELTA, labelled, true_errors
from benchmarks.report import Bar, Section, Table

if TYPE_CHECKING:
    import argparse

POINTS = 5
WORSE = 1.03  # of CART's error: more than that, and its tree dominates ours
SECONDS = (15.0, 30.0)


def section(options: argparse.Namespace) -> Section:
    """`distill` at epsilon = 0.05, without a limit and with little time."""
    lines, few, dominated = [], [], []
    limits: list[dict[str, Any]] = [{}, *({"max_seconds": seconds} for seconds in SECONDS)]
    for model in ENDED_EMPTY if not options.quick else list(ENDED_EMPTY)[:1]:
        for more in limits if not options.quick else limits[1:2]:
            case, started = Case(model, "marginals"), time.process_time()
            found = ft.distill(case.target, case.space(), 0.05, DELTA, **more)
            seconds, curve = time.process_time() - started, found.frontier
            how = f"{more['max_seconds']:g} s" if more else "no limit"
            points = [] if curve is None else list(curve)
            few += [f"{model}, {how}: {len(points)}"] if len(points) < POINTS else []
            ratios = _against_cart(case, points, int(found.queries.asked), options.fresh)
            dominated += [f"{model}, {how}, {size} leaves: {one:.2f}" for size, one in ratios.items() if one > WORSE]
            worst = max(ratios.values(), default=float("nan"))
            told = [f"{found.queries.asked:,}", f"{len(points)}", f"{found.leaves}", f"{found.error_bound:.3f}"]
            lines.append([model, how, *told, f"{worst:.2f}", f"{seconds:.0f}"])
    headings = ["model", "limit", "labels", "points", "leaves", "bound", "worst against CART", "seconds"]
    bars = [
        Bar(f"at least {POINTS} points", "; ".join(few) or "all", not few),
        Bar("no point is dominated by CART's from as many labels", "; ".join(dominated) or "all", not dominated),
    ]
    return Section("endings", "runs that cannot reach epsilon", [Table(headings, lines, 2)], bars)


def _against_cart(case: Case, points: list[ft.Distillation], labels: int, fresh: int) -> dict[int, float]:
    """By size, our true error over that of CART's tree with as many leaves, grown from as many labels."""
    sizes = [point.leaves for point in points if point.leaves > 1]
    if not sizes:
        return {}
    carts = best_first(labelled(case, 0, labels), sizes, 0.0)
    errors = true_errors(case, [*(point.tree for point in points if point.leaves > 1), *carts.values()], 0, fresh)
    pairs = zip(sizes, errors[: len(sizes)], errors[len(sizes) :], strict=True)
    return {size: ours / cart for size, ours, cart in pairs}
