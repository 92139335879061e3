"""What the curves must show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from statistics import fmean, median

from benchmarks.frontier.cases import Case
from benchmarks.frontier.peers import PEERS
from benchmarks.frontier.trial import MOST, OURS, SIZES, Trial
from benchmarks.report import Bar

Errors = Mapping[tuple[str, int], float]
TIGHT, SLACK = 1.15, 0.01  # how close a bound must be to the true error
WORST, MEAN, MEAN_LARGE = 1.03, 0.95, 0.93
SMALL = 1e-4  # an error of that much or less is none: ratios of nothing say nothing
DEAR, DEARER, LOW = 1.3, 1.6, 0.03  # labels against `distill` alone, and where the error is low


def medians(trials: Iterable[Trial]) -> dict[tuple[str, int], float]:
    """Of true errors, over seeds; without the sizes that a peer was not always in time for."""
    trials = list(trials)
    keys = [key for key in trials[0].errors if all(key in one.errors for one in trials)]
    return {key: median(one.errors[key] for one in trials) for key in keys}


def ratio(errors: Errors, size: int) -> float:
    """Our error over that of the best peer."""
    best = min(errors[name, size] for name in PEERS if (name, size) in errors)
    return (errors[OURS, size] + SMALL) / (best + SMALL)


def all_bars(by_case: Mapping[Case, list[Trial]]) -> list[Bar]:
    """Every bar."""
    found = {case: medians(trials) for case, trials in by_case.items()}
    ratios = {(case, size): ratio(errors, size) for case, errors in found.items() for size in SIZES[1:]}
    high = {key: value for key, value in ratios.items() if value > WORST}
    return [
        _all(f"at every size at most {WORST:g} of the best peer's error", high, len(ratios)),
        _mean(f"geometric mean at most {MEAN:g}", ratios.values(), MEAN),
        _mean(f"8 to 64 leaves: at most {MEAN_LARGE:g}", [v for (_, s), v in ratios.items() if s >= 8], MEAN_LARGE),
        *_promises([one for trials in by_case.values() for one in trials]),
    ]


def _all(promise: str, broken: Mapping[tuple[Case, int], float], total: int) -> Bar:
    said = "; ".join(f"{case}, {size} leaves: {value:.3f}" for (case, size), value in broken.items())
    return Bar(promise, said or f"{total} sizes", not broken)


def _mean(promise: str, ratios: Iterable[float], limit: float) -> Bar:
    mean = math.exp(fmean(map(math.log, ratios)))
    return Bar(promise, f"{mean:.3f}", mean <= limit)


def _promises(trials: list[Trial]) -> list[Bar]:
    """What each run must keep."""
    drawn = [one for one in trials if one.case.over != "rows"]  # a table may have too few rows
    loose = [
        f"{one.case}, {size}: {one.bounds[size]:.4f} for {one.errors[OURS, size]:.4f}"
        for one in drawn
        for size in SIZES
        if one.bounds[size] > TIGHT * one.errors[OURS, size] + SLACK
    ]
    false = [
        f"{one.case}, {size}" for one in drawn for size in SIZES if one.errors[OURS, size] > one.bounds[size] + 0.0005
    ]
    few = [f"{one.case}: {one.points}" for one in trials if one.points < 6]
    many = [f"{one.case}: {one.learnt + one.tested:,}" for one in trials if one.learnt + one.tested > MOST]
    return [
        Bar(f"every bound at most {TIGHT:g} of the true error + {SLACK:g}", "; ".join(loose) or "all", not loose),
        Bar("every bound true, as far as fresh inputs can tell", "; ".join(false) or "all", not false),
        Bar("at least six sizes", "; ".join(few) or "all", not few),
        Bar(f"at most {MOST:,} labels", "; ".join(many) or "all", not many),
        _alone(trials),
    ]


def _alone(trials: list[Trial]) -> Bar:
    compared, dear = 0, []
    for one in trials:
        if one.alone is not None:
            compared += 1
            limit = DEARER if one.errors[OURS, SIZES[-1]] < LOW else DEAR
            share = (one.learnt + one.tested) / one.alone
            dear += [f"{one.case}: {share:.2f}"] if share > limit else []
    promise = f"all labels at most {DEAR:g} of what distill takes alone for the largest, {DEARER:g} below {LOW:g}"
    return Bar(promise, "; ".join(dear) or f"{compared} runs", not dear if compared else None)
