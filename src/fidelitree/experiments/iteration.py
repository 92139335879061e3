"""The paper's Figure 1: one iteration of Algorithm 2 in three steps, drawn from a run.

The run is that of `practical_top_down`: the same streams, sets and splits. It is watched on its way, because a result
does not keep how many samples each leaf held.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fidelitree.asking.counted import Counted
from fidelitree.asking.events import nobody
from fidelitree.display.canvas import figure
from fidelitree.runs.paper import SampledJudge, SetSizes, probe_of
from fidelitree.search.grow import Evidence, grow
from fidelitree.search.sampled_probes import Shelf
from fidelitree.search.trace import SplitRecord, Trace
from fidelitree.spaces.product import ProductSpace
from fidelitree.targets.random_trees import balanced
from fidelitree.trees.growing import GrowingLeaf, GrowingTree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fidelitree import theory

SPACE, DEPTH = ProductSpace.bernoulli(6, 0.3), 3
EPSILON, DELTA = 0.1, 0.1
LEAVES = 3  # of the tree that the iteration starts with
_CHOSEN, _OTHER, _INK = "#e69f00", "#dce9f5", "#404040"


class LeafSamples(NamedTuple):
    """What a leaf has: samples that label it, samples that test it."""

    labels: int
    tests: int


Path = tuple[tuple[int, int], ...]
"""Features with the values that lead to a leaf."""
Samples = dict[Path, LeafSamples]


@dataclass(frozen=True)
class Iteration:
    """Scores and samples of a tree, the split it got, the samples after that, and after new ones were drawn."""

    schedule: str
    scores: Mapping[Path, np.ndarray[tuple[int], np.dtype[np.float64]]]
    before: Samples
    chosen: Path
    feature: int
    parted: Samples
    after: Samples
    pairs: tuple[int, int]
    splits: Sequence[SplitRecord]

    @property
    def children(self) -> list[Path]:
        """The two leaves that were made."""
        return [path for path in self.after if path not in self.before]


@dataclass(frozen=True)
class LeafRow:
    """One leaf at one step; the best feature and its score before the split."""

    step: int
    leaf: str
    label_samples: int
    test_samples: int
    feature: str = ""
    score: float | None = None


def path_of(leaf: GrowingLeaf) -> Path:
    """How a leaf is reached."""
    return tuple((feature, int(value)) for feature, value in leaf.region.restrictions.items())


class _Watching(SampledJudge):
    """A judge that remembers what every leaf held."""

    def __init__(self, counted: Counted, sizes: SetSizes, seed: int, trace: Trace) -> None:
        self.shelf, self.bare = Shelf(), GrowingTree(counted.space)
        super().__init__(counted, sizes, seed, trace, self.shelf)
        self.parted: dict[int, Samples] = {}
        self.full: dict[int, Samples] = {}
        self.scores: dict[int, dict[Path, np.ndarray[tuple[int], np.dtype[np.float64]]]] = {}

    def part(self, made: Sequence[GrowingLeaf]) -> None:
        super().part(made)
        self.parted[self.bare.size] = self._samples()

    def enough(self, bare: GrowingTree, evidence: Mapping[int, Evidence]) -> bool:
        self.full[bare.size] = self._samples()
        self.scores[bare.size] = {path_of(bare.leaves[number]): what.scores for number, what in evidence.items()}
        return super().enough(bare, evidence)

    def _samples(self) -> Samples:
        return {path_of(leaf): LeafSamples(*self.held(leaf.number)) for leaf in self.bare.leaves.values()}


def watched(schedule: theory.Schedule, seed: int) -> Iteration:
    """Run Algorithm 2 on a balanced target; its iteration that starts with three leaves."""
    counted = Counted(balanced(SPACE, DEPTH, seed), SPACE)
    sizes, trace = SetSizes(len(SPACE), EPSILON, DELTA, schedule), Trace(counted, nobody)
    judge = _Watching(counted, sizes, seed, trace)
    grow(judge.bare, probe_of(counted, sizes, seed, judge.shelf), judge, counted.budget, trace.split)
    split = trace.records[LEAVES - 1]
    chosen = tuple((feature, int(value)) for feature, value in split.leaf.restrictions.items())
    return Iteration(
        schedule=schedule,
        scores=judge.scores[LEAVES],
        before=judge.full[LEAVES],
        chosen=chosen,
        feature=split.feature,
        parted=judge.parted[LEAVES + 1],
        after=judge.full[LEAVES + 1],
        pairs=(sizes.pairs(LEAVES), sizes.pairs(LEAVES + 1)),
        splits=trace.records,
    )


def rows(seen: Iteration) -> list[LeafRow]:
    """A line for each leaf at each step."""
    found = []
    for path, held in seen.before.items():
        best = int(seen.scores[path].argmax())
        found.append(LeafRow(1, _words(path), *held, f"x{best}", float(seen.scores[path][best])))
    for step, samples in ((2, seen.parted), (3, seen.after)):
        found += [LeafRow(step, _words(path), *held) for path, held in samples.items()]
    return found


def summary(seen: Iteration) -> list[str]:
    """The three steps in words."""
    old, (no, yes) = seen.before[seen.chosen], (seen.parted[path] for path in seen.children)
    added = [sum(held[kind] for held in seen.after.values()) for kind in (0, 1)]
    added = [total - sum(held[kind] for held in seen.parted.values()) for kind, total in enumerate(added)]
    steps = [
        f"of {LEAVES} leaves and {len(SPACE)} variables, {_words(seen.chosen)} and x{seen.feature} score best, ",
        f"its {old.labels:,} samples for labels part into {no.labels:,} and {yes.labels:,}, ",
        f"{added[0]:,} new samples for labels and {added[1]:,} for tests reach the leaves; ",
    ]
    steps[0] += f"{seen.scores[seen.chosen][seen.feature]:.4f}"
    steps[1] += f"its {old.tests:,} for tests into {no.tests:,} and {yes.tests:,}"
    steps[2] += f"pairs for each variable go from {seen.pairs[0]:,} to {seen.pairs[1]:,}"
    return [f"Step {number}: {text}" for number, text in enumerate(steps, 1)]


def drawn(seen: Iteration) -> Figure:
    """Three trees side by side: the best split, samples that part, samples that are new."""
    picture, axes = figure(1, 3, 3.9)
    best = {path: int(scores.argmax()) for path, scores in seen.scores.items()}
    texts = [
        {
            path: f"{_held(held)}\nx{best[path]}: {seen.scores[path][best[path]]:.4f}"
            for path, held in seen.before.items()
        },
        {path: _held(held) for path, held in seen.parted.items()},
        {
            path: f"{held.labels:,} (+{held.labels - seen.parted[path].labels:,})\n"
            f"{held.tests:,} (+{held.tests - seen.parted[path].tests:,})"
            for path, held in seen.after.items()
        },
    ]
    marked = [[seen.chosen], seen.children, list(seen.after)]
    titles = (
        f"Step 1: leaf and variable with the best score (x{seen.feature})",
        "Step 2: the leaf's samples are parted",
        "Step 3: new samples for every leaf",
    )
    for place, text, chosen, title in zip(axes[0], texts, marked, titles, strict=True):
        _tree(place, text, chosen)
        place.set_title(title, fontsize=11)
    picture.supxlabel(
        "In each leaf: samples that label it, samples that test it; in step 1 its best variable with the estimated "
        f"score. {seen.schedule.capitalize()} schedule, n = {len(SPACE)}, p = 0.3, epsilon = {EPSILON:g}.",
        fontsize=9,
    )
    return picture


def _held(held: LeafSamples) -> str:
    return f"{held.labels:,}\n{held.tests:,}"


def _words(path: Path) -> str:
    return " ".join(f"x{feature}={value}" for feature, value in path) or "root"


def _tree(place: Axes, texts: Mapping[Path, str], marked: Sequence[Path]) -> None:
    spots = _spots(list(texts))
    for path, (x, y) in spots.items():
        if path:
            above = spots[path[:-1]]
            place.plot([above[0], x], [above[1], y], color="0.6", lw=1.2, zorder=1)
            place.text(
                (above[0] + x) / 2,
                (above[1] + y) / 2,
                f"{path[-1][1]}",
                fontsize=9,
                color=_INK,
                zorder=2,
                ha="center",
                va="center",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
            )
        if path in texts:
            box = {"boxstyle": "round,pad=0.35", "facecolor": _CHOSEN if path in marked else _OTHER, "edgecolor": _INK}
        else:
            box = {"boxstyle": "circle,pad=0.3", "facecolor": "white", "edgecolor": _INK}
        feature = next((longer[len(path)][0] for longer in texts if longer[: len(path)] == path != longer), None)
        place.text(x, y, texts.get(path, f"x{feature}"), ha="center", va="center", fontsize=9, bbox=box, zorder=3)
    place.set(xlim=(-0.6, max(x for x, _ in spots.values()) + 0.6), ylim=(min(y for _, y in spots.values()) - 0.5, 0.4))
    place.axis("off")


def _spots(leaves: Sequence[Path]) -> dict[Path, tuple[float, float]]:
    """Leaves side by side, at their depth; every other node between its children."""
    ordered = sorted(leaves, key=lambda path: [value for _, value in path])
    spots = {path: (float(x), -float(len(path))) for x, path in enumerate(ordered)}
    inner = {path[:length] for path in leaves for length in range(len(path))}
    for path in sorted(inner, key=len, reverse=True):
        below = [x for one, (x, _) in spots.items() if len(one) == len(path) + 1 and one[: len(path)] == path]
        spots[path] = (sum(below) / len(below), -float(len(path)))
    return spots
