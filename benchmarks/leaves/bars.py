"""What the table must show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from benchmarks.leaves.cases import LARGE, SMALL, Case
from benchmarks.leaves.trial import OURS, Found
from benchmarks.report import Bar

Results = Mapping[tuple[Case, str], Found]
MANY = "CART, 100 000"
SEVERAL = 5  # leaves from which on ratios are taken
LIMITS = {("LightGBM", 0.1): 80, ("dermatology", 0.1): 24, ("dermatology", 0.05): 48, ("bank", 0.1): 40}
SECONDS = 30


def all_bars(found: Results, smoke: bool) -> list[Bar]:
    """Every bar; none of them is judged at smoke size."""
    ours = [result for (_, method), result in found.items() if method == OURS]
    bars = [
        _never_more(found),
        *[_ratio(found, peer, limit) for peer, limit in (("CART", 0.85), ("CART, pruned", 0.90))],
        _few_labels(found),
        *_limits(found),
        Bar(f"at most {SECONDS} s a row", f"{_slowest(ours)}", max(one.seconds for one in ours) <= SECONDS),
        _true(found.values()),
    ]
    return [Bar(bar.promise, bar.measured, None) for bar in bars] if smoke else bars


def _pairs(found: Results, peer: str) -> list[tuple[Found, Found]]:
    """Ours and the peer's, where the peer certified a tree."""
    both = ((result, found.get((case, peer))) for (case, method), result in found.items() if method == OURS)
    return [(one, other) for one, other in both if other is not None and other.certified]


def _never_more(found: Results) -> Bar:
    pairs = _pairs(found, "CART")
    worse = [
        f"{one.case}: {one.tree.size if one.certified else 'none'} against {other.tree.size}"
        for one, other in pairs
        if not one.certified or one.tree.size > other.tree.size + 1
    ]
    return Bar("in no row more than CART + 1 leaf", "; ".join(worse) or f"{len(pairs)} rows", not worse)


def _ratio(found: Results, peer: str, limit: float) -> Bar:
    pairs = [pair for pair in _pairs(found, peer) if pair[0].certified and _several(found, pair[0].case)]
    mean = _geometric(pairs)
    rows = f"{len(pairs)} rows where CART needs at least {SEVERAL} leaves"
    return Bar(f"leaves against {peer}: geometric mean at most {limit:g}", f"{mean:.3f} over {rows}", mean <= limit)


def _several(found: Results, case: Case) -> bool:
    cart = found[case, "CART"]
    return not cart.certified or cart.tree.size >= SEVERAL


def _few_labels(found: Results) -> Bar:
    pairs = [pair for pair in _pairs(found, MANY) if pair[0].certified and pair[1].tree.size >= SEVERAL]
    mean = _geometric(pairs)
    promise = f"with {SMALL:,} labels at most .95 of CART's leaves with 100 000, geometric mean"
    return Bar(promise, f"{mean:.3f} over {len(pairs)} rows", mean <= 0.95)


def _geometric(pairs: Sequence[tuple[Found, Found]]) -> float:
    return math.exp(fmean(math.log(one.tree.size / other.tree.size) for one, other in pairs)) if pairs else math.nan


def _limits(found: Results) -> list[Bar]:
    bars = []
    for (name, epsilon), limit in LIMITS.items():
        result = found.get((Case(name, epsilon, LARGE), OURS))
        if result is not None:
            said = f"{result.tree.size}" if result.certified else f"none certified; bound {result.bound:.3f}"
            met = result.certified and result.tree.size <= limit
            bars.append(Bar(f"{name} at {epsilon:g} with {LARGE:,} labels: at most {limit} leaves", said, met))
    return bars


def _slowest(ours: Sequence[Found]) -> str:
    slowest = max(ours, key=lambda result: result.seconds)
    return f"{slowest.seconds:.1f} s, {slowest.case}"


def _true(results: Iterable[Found]) -> Bar:
    judged = [result for result in results if not math.isnan(result.error)]
    false = [
        f"{one.case}, {one.method}: {one.error:.4f} above {one.bound:.4f}" for one in judged if one.error > one.bound
    ]
    return Bar("every certificate true", "; ".join(false) or f"{len(judged)} certificates", not false)
