"""What each mechanism and each number of the loop buys: the same runs with and without it, seed by seed.

    python -m benchmarks.ablations [NAME ...] [--seeds 8] [--first 52000] [--turns] [--smoke]

NAME is an ablation or a suite: named ablations run in named suites, all where none is named. A ratio is the figure
*without* the mechanism (or with the number at the value that is given) by the figure as the library is: above 1, the
mechanism saves labels or leaves. Each has its 95 % interval, over all pairs; a star marks what is beyond noise.
``cost`` is what a run weighs, labels^1.5 x leaves. The suites:

- ``bits``: eight kinds of functions, epsilon .1 and .05, as many seeds as are given;
- ``small``: three easy ones, epsilon .02 and .005, half as many seeds;
- ``tables``: five models of tables, epsilon .1, half as many seeds;
- ``frontier``: the same tables, 6,000 labels, a third of the seeds; errors and bounds are compared size by size;
- ``free``: two of them without a limit;
- ``depth``: trees of depth 8 (`benchmarks.depth`), epsilon .1, a third of the seeds;
- ``defer``: two tables, epsilon .05, 6,000 labels, a third of the seeds; here coverage counts.

A run of ``bits`` ends after 5,000 labels, one of ``tables`` after 12,000: what finds nothing without its mechanism
need not show for how long. The runs as the library is are made once, and serve for all ablations: where others use
the machine, processor times of two moments are not alike, and own times are compared with ``--turns`` only.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import FrozenInstanceError, replace
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np

import fidelitree as ft
from benchmarks import depth
from benchmarks.paired import BITS, _common, _distilled, _model, _of_curves, ratio
from fidelitree.runs import distill, economics, epsilon_goal, learning, loop
from fidelitree.runs.coverage_goal import CoverageGoal
from fidelitree.runs.epsilon_goal import EpsilonGoal
from fidelitree.runs.learning import EverySize
from fidelitree.runs.loop import Candidate, Focus, Loop
from fidelitree.runs.outcome import AsItIs
from fidelitree.search import archive
from fidelitree.search.bits import junta, learner
from fidelitree.search.bits.learner import BitLearner
from fidelitree.search.bits.regions import RegionLearner
from fidelitree.search.inquiry import BitInquiry, Inquiry

FIRST_SEED = 52_000
EPSILONS = 0.1, 0.05
MOST_OF_BITS, MOST_OF_TABLES, MOST_OF_DEFERRING = 5_000, 12_000, 6_000
SOME_BITS = (
    "tree of depth 4, n = 60, p = .3",
    "tree of depth 5, n = 20",
    "tree of depth 6, n = 20, p = .1",
    "parity of 4, n = 60, p = .3",
    "junta of 6, n = 60",
    "DNF of 5, n = 20",
    "threshold of 9, n = 20",
    "read-once, n = 20",
)
EASY_BITS = "parity of 4, n = 60, p = .3", "tree of depth 3, n = 20", "selector of 3, n = 60"
SOME_TABLES = ("wine forest", "wine boosting", "wine boosting, marginals", "breast_cancer forest", "credit boosting")
TWO_TABLES = "wine boosting, marginals", "credit boosting"
DEPTH, FEATURES = 8, 20
FIGURES = "labels", "leaves", "cost", "rounds", "coverage", "own time"
Result = dict[str, Any]
Pair = tuple[Result, Result]


# Suites: a case and a seed to a result.


def _bits(case: str, epsilon: float, seed: int) -> Result:
    n, p, make = BITS[case]
    target = make(np.random.default_rng([seed, sum(map(ord, case))]))
    return _weighed(target, ft.ProductSpace.bernoulli(n, p), seed, epsilon=epsilon, max_queries=MOST_OF_BITS)


def _tables(case: str, epsilon: float, seed: int) -> Result:
    return _weighed(*_model(case), seed, epsilon=epsilon, max_queries=MOST_OF_TABLES)


def _weighed(target: Any, space: Any, seed: int, **options: Any) -> Result:
    found = _distilled(target, space, seed, **options)
    return found | {"cost": found["labels"] ** economics.QUERIES.worth * found["leaves"]}


def _deep(case: str, epsilon: float, seed: int) -> Result:
    done = depth.measure(depth.BalancedTree(FEATURES, DEPTH, case, seed), FEATURES, epsilon, seed)
    figures = {"labels": float(done.queries), "leaves": done.leaves, "own time": done.seconds}
    return figures | {"certified": done.certified, "cost": done.queries**economics.QUERIES.worth * done.leaves}


def _curves(case: str, epsilon: float, seed: int) -> Result:
    return _of_curves(case, seed)


def _free(case: str, epsilon: float, seed: int) -> Result:
    return _of_curves(case, seed, None)


def _deferring(case: str, epsilon: float, seed: int) -> Result:
    target, space = _model(case)
    started = time.process_time()
    limits = {"max_queries": MOST_OF_DEFERRING, "max_leaves": 30}
    found = ft.distill(target, space, epsilon=epsilon, seed=seed, defer=True, **limits)
    return {
        "labels": float(found.queries.asked),
        "leaves": float(found.tree.size),
        "coverage": found.certificate.coverage,
        "certified": found.certificate.holds,
        "own time": time.process_time() - started,
    }


class Suite(NamedTuple):
    """Cases that are run for every seed, or for one in so many."""

    cases: Sequence[str]
    epsilons: Sequence[float]
    one_in: int
    run: Callable[[str, float, int], Result]


SUITES = {
    "bits": Suite(SOME_BITS, EPSILONS, 1, _bits),
    "small": Suite(EASY_BITS, (0.02, 0.005), 2, _bits),
    "tables": Suite(SOME_TABLES, (0.1,), 2, _tables),
    "frontier": Suite(SOME_TABLES, (0.1,), 3, _curves),
    "free": Suite(TWO_TABLES, (0.1,), 3, _free),
    "depth": Suite(depth.LABELS[:1], (0.1,), 3, _deep),
    "defer": Suite(TWO_TABLES, (0.05,), 3, _deferring),
}


# What is switched off.


class Change(NamedTuple):
    """An attribute of a module, a class or a value, and what it is to be for a while."""

    owner: Any
    name: str
    value: Any


class Ablation(NamedTuple):
    """A mechanism that is switched off, or a number that has another value."""

    suites: Sequence[str]
    changes: Sequence[Change]


@contextmanager
def changed(changes: Sequence[Change]) -> Iterator[None]:
    """Make changes, and take them back."""
    before = [vars(owner)[name] for owner, name, _ in changes]
    try:
        for one in changes:
            _assign(one)
        yield
    finally:
        for one, value in zip(changes, before, strict=True):
            _assign(one._replace(value=value))


def _assign(one: Change) -> None:
    try:
        setattr(one.owner, one.name, one.value)
    except FrozenInstanceError:
        object.__setattr__(one.owner, one.name, one.value)


def _open_at_once(goal: Any, run: Any) -> None:
    """Open what promises the cheapest ending, as soon as it is cheaper than what is under test."""
    options = [goal._opening(run, one) for one in goal.proposals(run)]
    best = min((one for one in options if one.way.rows < math.inf), key=lambda one: one.expected, default=None)
    if best is not None and best.expected < (goal._in_hand if goal._holds(run) else goal._running(run)):
        run.open(best.candidate)


_wanted, _search = EpsilonGoal.wanted, EpsilonGoal.search
NO_ARCHIVE = (
    Change(EpsilonGoal, "wanted", lambda goal, run: [] if run.inquiry.chooses else _wanted(goal, run)),
    Change(EpsilonGoal, "search", lambda goal, run: Focus([], 0) if run.inquiry.chooses else _search(goal, run)),
)
BITS_ONLY, BOTH, CURVES, FREE, DEFER = ("bits",), ("bits", "tables"), ("frontier",), ("frontier", "free"), ("defer",)
MECHANISMS = {
    "no inputs of its own choice": Ablation(BITS_ONLY, [Change(loop, "BitInquiry", lambda *_: Inquiry())]),
    "no tables of juntas": Ablation(BITS_ONLY, [Change(junta, "MOST", -1)]),
    "no look into mistakes": Ablation(BITS_ONLY, [Change(BitLearner, "_explain", lambda *_: iter(()))]),
    "no stars": Ablation(("depth",), [Change(RegionLearner, "_stalled", False)]),
    "no archive beside the inquiry": Ablation(BITS_ONLY, NO_ARCHIVE),
    "no local search in the archive": Ablation(BOTH, [Change(economics, "NEAR_STEPS", 0)]),
    "noise is searched, too": Ablation(("bits", "tables", "frontier"), [Change(archive, "SEARCH_ALL", math.inf)]),
    "no evidence for a successor": Ablation(BOTH, [Change(Loop, "_successor", lambda run, old, tree: Candidate(tree))]),
    "a table's spare answers are no evidence": Ablation(BITS_ONLY, [Change(BitInquiry, "confirmed", 0)]),
    "the best candidate at once": Ablation(BOTH, [Change(EpsilonGoal, "open", _open_at_once)]),
    "no substitutes": Ablation(BOTH, [Change(EpsilonGoal, "_substitutes_of", lambda goal, run, tree: AsItIs(tree))]),
    "no waiting for fewer leaves": Ablation(BOTH, [Change(EpsilonGoal, "_pays_to_wait", lambda *_: False)]),
    "whole tables are pruned, too": Ablation(BITS_ONLY, [Change(EpsilonGoal, "_tabular", lambda *_: False)]),
    "no longer portions for lucky trees": Ablation(
        ("bits", "small", "tables"), [Change(economics, "PART_OF_TEST", 0.0)]
    ),
    "no size is opened early": Ablation(FREE, [Change(economics, "SOONEST", math.inf)]),
    "no doubt": Ablation(DEFER, [Change(economics, "DOUBTS", 1)]),
    "no inquiry for trees that defer": Ablation(DEFER, [Change(CoverageGoal, "_substitutes", lambda *_: [])]),
}


def _number(
    name: str, suites: Sequence[str], *values: Any, owners: Sequence[Any] = (economics,)
) -> dict[str, Ablation]:
    """A number of economics at some values; others have taken it over under the same name."""
    return {
        f"{name} = {_short(one)}": Ablation(suites, [Change(owner, name, one) for owner in owners]) for one in values
    }


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | int) else str(value)


def _few(name: str, **values: Any) -> dict[str, Ablation]:
    """The portions of a run that ends with one tree."""
    value = next(iter(values.values()))
    changes = [Change(distill, kind, replace(vars(distill)[kind], **values)) for kind in ("FEW", "AS_DRAWN")]
    return {f"{name} = {_short(value)}": Ablation(BOTH, changes)}


def _refit(value: float) -> dict[str, Ablation]:
    changes = [Change(EverySize, "refit", value), Change(economics, "REFIT", value)]
    return {f"REFIT = {value}": Ablation(CURVES, changes)}


NUMBERS = {
    **_few("PART", share=economics.PART / 2),
    **_few("PART", share=economics.PART * 2),
    **_few("LEAST_FEW", least=economics.LEAST_FEW // 2),
    **_few("LEAST_FEW", least=economics.LEAST_FEW * 2),
    **_few("FIRST_FEW", first=economics.FIRST_FEW // 2),
    **_few("FIRST_FEW", first=economics.FIRST_FEW * 2),
    "REFIT_SOON = 1.125": Ablation(BOTH, [Change(EpsilonGoal, "refit", 1.125)]),
    "REFIT_SOON = 1.5": Ablation(BOTH, [Change(EpsilonGoal, "refit", 1.5)]),
    **_number("CURSE", BOTH, 0.0, 2.0),
    **_number("AIM", BOTH, 0.6, 1.0),
    **_number("UNLIKELY", BOTH, 0.025, 0.1),
    **_number("ENOUGH", BOTH, 3, 10, owners=(epsilon_goal, learner)),
    **_number("NEAR_STEPS", BOTH, 30, 120),
    **_number("BETWEEN", BOTH, 1.1, 1.4),
    **_number("SEARCH_FROM", BITS_ONLY, 0, 50, 200),
    **_number("FEWER", BITS_ONLY, 0.375),
    **_number("SPLIT", BITS_ONLY, 0.5, 1.0, owners=(learner,)),
    **_number("CROWDED", BITS_ONLY, 9.0, owners=(junta,)),
    **_number("SOONEST", CURVES, 1_000, 4_000),
    "GAIN = 0.015": Ablation(FREE, [Change(learning.QUERIES, "gain", 0.015)]),
    "GAIN = 0.06": Ablation(FREE, [Change(learning.QUERIES, "gain", 0.06)]),
    "STEPS = 0": Ablation(CURVES, [Change(learning.QUERIES, "steps", 0)]),
    "STEPS = 150": Ablation(CURVES, [Change(learning.QUERIES, "steps", 150)]),
    "STEPS = 600": Ablation(CURVES, [Change(learning.QUERIES, "steps", 600)]),
    **_number("STEPS_ON_THE_WAY", CURVES, 0, 15, 60),
    **_number("A_LEAF", CURVES, 50, 200),
    **_number("LEARNING", CURVES, 0.4, 0.8),
    **_refit(1.5),
    **_refit(3.0),
}
ABLATIONS = MECHANISMS | NUMBERS


# What comes of it.


class Runs:
    """All runs of a suite: as the library is, and with changes."""

    def __init__(self, suite: str, seeds: Sequence[int], smoke: bool) -> None:
        cases, epsilons, one_in, self._run = SUITES[suite]
        some = seeds[: max(1, len(seeds) // one_in)]
        asked = [(case, epsilon, seed) for case in cases for epsilon in epsilons for seed in some]
        self._asked = asked[: 1 if smoke else None]

    def usual(self) -> list[Result]:
        """As the library is."""
        return [self._run(*one) for one in self._asked]

    def beside(self, changes: Sequence[Change], known: Sequence[Result] | None) -> list[Pair]:
        """Each run with what is known of the usual one; in turns with it where nothing is."""
        pairs = []
        for place, one in enumerate(self._asked):
            usual = self._run(*one) if known is None else known[place]
            with changed(changes):
                pairs.append((usual, self._run(*one)))
        return pairs


def told(pairs: Sequence[Pair]) -> str:
    """How many runs came out otherwise, how many were certified, and all figures as ratios."""
    others = sum(any(one.get(name) != two.get(name) for name in ("labels", "leaves", "bounds")) for one, two in pairs)
    held = [sum(bool(pair[side]["certified"]) for pair in pairs) for side in (0, 1)]
    both = [pair for pair in pairs if pair[0]["certified"] and pair[1]["certified"]] or list(pairs)
    parts = [f"{others} of {len(pairs)} differ", f"certified {held[0]} -> {held[1]}"]
    parts += [_starred(name, [(one[name], two[name]) for one, two in both]) for name in FIGURES if name in both[0][0]]
    parts += [_starred(name, _by_size(both, name)) for name in ("bounds", "errors") if name in both[0][0]]
    return "; ".join(parts)


def _by_size(pairs: Sequence[Pair], name: str) -> list[tuple[float, float]]:
    """One figure a run: the mean ratio of all sizes that both curves have, which are not independent."""
    found = []
    for pair in pairs:
        logs = [math.log(two / one) for one, two in _common([pair], name) if one > 0 and two > 0]
        found += [(1.0, math.exp(fmean(logs)))] if logs else []
    return found


def _starred(name: str, figures: list[tuple[float, float]]) -> str:
    """A ratio, with a star if its interval is on one side of 1; times are never that sure."""
    logs = [math.log(two / one) for one, two in figures if one > 0 and two > 0]
    clear = len(logs) > 1 and abs(fmean(logs)) > 1.96 * stdev(logs) / math.sqrt(len(logs))
    return f"{name} {ratio(figures)}{'*' if clear and name != 'own time' else ''}"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ablations", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="ablations or suites; all when none is named")
    parser.add_argument("--seeds", type=int, default=8, help="of each case (default %(default)s)")
    parser.add_argument("--first", type=int, default=FIRST_SEED, help="the first seed (default %(default)s)")
    parser.add_argument("--smoke", action="store_true", help="one run of each suite: shows that everything works")
    parser.add_argument("--turns", action="store_true", help="each run beside its usual one: takes twice as long")
    chosen = parser.parse_intermixed_args()
    if unknown := sorted({*chosen.names} - {*ABLATIONS} - {*SUITES}):
        parser.error(f"NAME must be one of {', '.join([*SUITES, *ABLATIONS])}; got {', '.join(unknown)}")
    seeds = range(chosen.first, chosen.first + chosen.seeds)
    print(f"{chosen.seeds} seeds from {chosen.first}; ratios: without it by with it", flush=True)
    suites, wanted = ([name for name in some if name in chosen.names] or [*some] for some in (SUITES, ABLATIONS))
    for suite in suites:
        names = [name for name in wanted if suite in ABLATIONS[name].suites]
        if not names:
            continue
        runs = Runs(suite, seeds, chosen.smoke)
        usual = runs.usual()
        held = sum(bool(one["certified"]) for one in usual)
        print(f"{suite}: {held} of {len(usual)} runs certified", flush=True)
        for name in names:
            pairs = runs.beside(ABLATIONS[name].changes, None if chosen.turns else usual)
            print(f"  {name:<42}{told(pairs)}", flush=True)


if __name__ == "__main__":
    main()
