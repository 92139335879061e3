"""Slow, obvious twins of what the package computes; exact when the biases are Fractions.

A target is a truth table: a tuple of labels 0 and 1, indexed by an integer whose bit i is feature i's value. A region
is a tuple with one entry a feature: 0, 1 or None where the feature is free. ``biases[i]`` is Pr[x_i = 1]. What has
probability 0 does not count: a target that is constant on its support needs no tree.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

Number = int | float | Fraction
Table = Sequence[int]
Region = tuple[int | None, ...]


# --- inputs and regions ----------------------------------------------------------------------------------------------


def value(index: int, i: int) -> int:
    return (index >> i) & 1


def whole(biases: Sequence[Number]) -> Region:
    return (None,) * len(biases)


def regions(n: int) -> Iterator[Region]:
    return itertools.product((0, 1, None), repeat=n)


def free(region: Region) -> list[int]:
    return [i for i, fixed in enumerate(region) if fixed is None]


def restrict(region: Region, i: int, v: int) -> Region:
    return (*region[:i], v, *region[i + 1 :])


def chance(biases: Sequence[Number], i: int, v: int) -> Number:
    return biases[i] if v else 1 - biases[i]


def mass(biases: Sequence[Number], region: Region) -> Number:
    return math.prod(chance(biases, i, fixed) for i, fixed in enumerate(region) if fixed is not None)


def inputs(biases: Sequence[Number], region: Region) -> list[tuple[int, Number]]:
    """Every input of the region with its probability given the region (defined for regions of mass 0 too)."""
    found: list[tuple[int, Number]] = [(0, 1)]
    for i, fixed in enumerate(region):
        if fixed is None:
            found = [(x | v << i, w * chance(biases, i, v)) for v in (0, 1) for x, w in found]
        else:
            found = [(x | fixed << i, w) for x, w in found]
    return found


# --- what a target looks like inside a region ------------------------------------------------------------------------


def mean(f: Table, biases: Sequence[Number], region: Region | None = None) -> Number:
    region = whole(biases) if region is None else region
    return sum(w for x, w in inputs(biases, region) if f[x])


def error(f: Table, biases: Sequence[Number], region: Region | None = None) -> Number:
    m = mean(f, biases, region)
    return min(m, 1 - m)


def gini(f: Table, biases: Sequence[Number], region: Region | None = None) -> Number:
    m = mean(f, biases, region)
    return 2 * m * (1 - m)


def variance(f: Table, biases: Sequence[Number], region: Region | None = None) -> Number:
    return 2 * gini(f, biases, region)


def influence(f: Table, biases: Sequence[Number], i: int, region: Region | None = None) -> Number:
    """Pr[f(x) != f(x with feature i drawn again)]; a fixed feature has none."""
    region = whole(biases) if region is None else region
    if region[i] is not None:
        return 0
    changed: Number = 0
    for x, w in inputs(biases, region):
        for v in (0, 1):
            if f[x] != f[x & ~(1 << i) | v << i]:
                changed += w * chance(biases, i, v)
    return changed


def total_influence(f: Table, biases: Sequence[Number], region: Region | None = None) -> Number:
    return sum(influence(f, biases, i, region) for i in range(len(biases)))


# --- the best trees, by dynamic program over subcubes ----------------------------------------------------------------


class Optima(NamedTuple):
    depth: Number
    average_depth: Number
    largest_average_depth: Number
    leaves: Number


def optima(f: Table, biases: Sequence[Number]) -> Optima:
    here = whole(biases)
    averages = _best(f, biases, lambda i, low, high: 1 + _average(biases, i, low, high))
    depths = _best(f, biases, lambda i, low, high: 1 + max(_possible(biases, i, low, high)))
    leaves = _best(f, biases, lambda i, low, high: sum(_possible(biases, i, low, high)), at_leaf=1)
    possible = [region for region in regions(len(biases)) if mass(biases, region) > 0]
    return Optima(depths(here), averages(here), max(averages(region) for region in possible), leaves(here))


def least_expected_cost(f: Table, biases: Sequence[Number], costs: Sequence[Number]) -> Number:
    """Least expected sum of the costs of the features that a tree for f reads."""
    best = _best(f, biases, lambda i, low, high: costs[i] + _average(biases, i, low, high))
    return best(whole(biases))


def _average(biases: Sequence[Number], i: int, low: Number, high: Number) -> Number:
    return (1 - biases[i]) * low + biases[i] * high


def _possible(biases: Sequence[Number], i: int, low: Number, high: Number) -> list[Number]:
    return [child for v, child in enumerate((low, high)) if chance(biases, i, v) > 0]


def _best(
    f: Table, biases: Sequence[Number], combine: Callable[[int, Number, Number], Number], at_leaf: Number = 0
) -> Callable[[Region], Number]:
    memory: dict[Region, Number] = {}

    def best(region: Region) -> Number:
        if region not in memory:
            if error(f, biases, region) == 0:
                memory[region] = at_leaf
            else:
                memory[region] = min(
                    combine(i, best(restrict(region, i, 0)), best(restrict(region, i, 1))) for i in free(region)
                )
        return memory[region]

    return best


# --- Algorithm 1 -----------------------------------------------------------------------------------------------------


class Split(NamedTuple):
    """One step: the leaf that was split, on what, its score, and cost and error of the tree before the step."""

    leaf: Region
    feature: int
    score: Number
    cost: Number
    error: Number


def build_top_down(f: Table, biases: Sequence[Number], epsilon: Number = 0) -> list[Split]:
    """Algorithm 1: split the leaf and feature of the largest score until the error is at most epsilon.

    Equal scores go to the leaf made first, then to the lowest feature.
    """
    leaves = [whole(biases)]
    best = {leaf: _best_split(f, biases, leaf) for leaf in leaves}
    cost, wrong = total_influence(f, biases), error(f, biases)
    steps: list[Split] = []
    while wrong > epsilon:
        leaf = max(leaves, key=lambda candidate: best[candidate][0])
        score, i = best[leaf]
        if score == 0:
            break
        steps.append(Split(leaf, i, score, cost, wrong))
        children = [restrict(leaf, i, 0), restrict(leaf, i, 1)]
        at = leaves.index(leaf)
        leaves[at:] = [*leaves[at + 1 :], *children]
        best |= {child: _best_split(f, biases, child) for child in children}
        cost = cost - score
        wrong += sum(mass(biases, c) * error(f, biases, c) for c in children) - mass(biases, leaf) * error(
            f, biases, leaf
        )
    return steps


def _best_split(f: Table, biases: Sequence[Number], leaf: Region) -> tuple[Number, int]:
    scores = [(mass(biases, leaf) * influence(f, biases, i, leaf), i) for i in free(leaf)]
    return max(scores, key=lambda pair: (pair[0], -pair[1]), default=(0, 0))


# --- the family behind the large counter-examples --------------------------------------------------------------------


@dataclass(frozen=True)
class SelectorParity:
    """x0 AND parity(Y^b): r blocks of k fair bits; b is the first block with one of its s selectors at 1, else r.

    Features: x0, the selectors block by block, the blocks' bits. Everything is exact and in closed form; the tree that
    reads x0, the selectors in order until one is 1, then the block, has the depth and average depth given here, so
    the best depths are at most these.
    """

    r: int
    k: int
    s: int
    eta: Fraction

    @property
    def depth(self) -> int:
        return 1 + self.s * (self.r - 1) + self.k

    @property
    def n(self) -> int:
        return self.depth + self.k * (self.r - 1)

    @cached_property
    def selector_biases(self) -> list[Fraction]:
        """One bias for each block but the last; rounded to four decimals as THEORY does, so the blocks nearly tie."""
        exact = [1 - (1 - 1 / (self.r - b + 1)) ** (1 / self.s) for b in range(1, self.r)]
        return [Fraction(round(p * 10_000), 10_000) for p in exact]

    @cached_property
    def reached(self) -> list[Fraction]:
        """For each block: the probability that no earlier block is selected."""
        passed = itertools.accumulate(((1 - p) ** self.s for p in self.selector_biases), Fraction.__mul__)
        return [Fraction(1), *passed]

    @cached_property
    def weights(self) -> list[Fraction]:
        """Probability of each block to be the one that counts."""
        return [here - later for here, later in itertools.pairwise(self.reached)] + [self.reached[-1]]

    @cached_property
    def selector_caps(self) -> list[Fraction]:
        """Largest influence, inside x0 = 1, of a selector of each block when Y bits only were read.

        It decides something if no earlier selector is 1 and no other of its block, and the two blocks' parities
        differ: for sure once these were read, half the time before.
        """
        return [2 * p * (1 - p) ** self.s * reach for p, reach in zip(self.selector_biases, self.reached, strict=False)]

    @cached_property
    def selectors_read(self) -> Fraction:
        """Expected number of selectors that the tree reads inside x0 = 1 (A in THEORY)."""
        pairs = zip(self.selector_biases, self.reached, strict=False)
        return sum((reach * (1 - p) ** t for p, reach in pairs for t in range(self.s)), Fraction(0))

    @property
    def average_depth(self) -> Fraction:
        return 1 + self.eta * (self.selectors_read + self.k)

    @property
    def inner_influence(self) -> Fraction:
        """Total influence inside x0 = 1 before anything else is read."""
        return (self.k + self.s * sum(self.selector_caps, Fraction(0))) / 2

    @property
    def reads_blocks_first(self) -> bool:
        """Whether Algorithm 1 reads every Y bit of a leaf before any selector.

        A Y bit of an unread block has influence w_b/2 inside x0 = 1, whatever Y bits were read.
        """
        return max(self.selector_caps) < min(self.weights) / 2 and self.eta < Fraction(1, 2)

    @cached_property
    def error_after_blocks(self) -> Fraction:
        """Error inside x0 = 1 when all Y bits and nothing else were read: E[min(W_0, W_1)] over fair parities."""
        smaller = Fraction(0)
        for parities in itertools.product((0, 1), repeat=self.r):
            odd = sum((w for w, parity in zip(self.weights, parities, strict=True) if parity), Fraction(0))
            smaller += min(odd, 1 - odd)
        return smaller / (1 << self.r)

    @property
    def error_after_blocks_at_least(self) -> float:
        """(1 - sqrt(sum w^2))/2, by Cauchy and Schwarz: E[min(W_0, W_1)] = (1 - E|sum of +-w_b|)/2."""
        return (1 - math.sqrt(math.fsum(w * w for w in self.weights))) / 2

    @property
    def biases(self) -> list[Fraction]:
        selectors = [p for p in self.selector_biases for _ in range(self.s)]
        return [self.eta, *selectors, *[Fraction(1, 2)] * (self.k * self.r)]

    def label(self, x: Sequence[int]) -> int:
        selectors, bits = x[1 : 1 + self.s * (self.r - 1)], x[1 + self.s * (self.r - 1) :]
        chosen = next((t // self.s for t, selector in enumerate(selectors) if selector), self.r - 1)
        return x[0] * (sum(bits[chosen * self.k : (chosen + 1) * self.k]) % 2)

    @property
    def table(self) -> tuple[int, ...]:
        return tuple(self.label([value(x, i) for i in range(self.n)]) for x in range(2**self.n))


# --- e-values --------------------------------------------------------------------------------------------------------


def e_value(errors: int, samples: int, epsilon: Fraction) -> Fraction:
    """The bet against "the error is at least epsilon", from its definition.

    A quarter is on error 0, the rest on errors q in (0, epsilon) with density 2 (1 - q/epsilon)/epsilon; each wins
    the likelihood of what was seen at q over its likelihood at epsilon.
    """
    won = Fraction(3, 4) * _average_likelihood(errors, samples, epsilon)
    if errors == 0:
        won += Fraction(1, 4)
    return won / _likelihood(errors, samples, epsilon)


def e_value_below(errors: int, samples: int, epsilon: Fraction) -> Fraction:
    """The bet against "the error is at most epsilon", spread evenly over the errors q in (epsilon, 1)."""
    average = sum(
        (-1) ** i * math.comb(samples - errors, i) * (1 - epsilon ** (errors + i + 1)) / Fraction(errors + i + 1)
        for i in range(samples - errors + 1)
    )
    return average / (1 - epsilon) / _likelihood(errors, samples, epsilon)


def log_e_value(errors: int, samples: int, epsilon: float, points: int = 1_000_000) -> float:
    """The logarithm of `e_value` for large numbers: the middle of each of many slices of (0, epsilon)."""
    share = (np.arange(points) + 0.5) / points
    right = samples - errors
    logs = np.log(2 * (1 - share)) + errors * np.log(share) + right * (np.log1p(-epsilon * share) - np.log1p(-epsilon))
    top = float(logs.max())
    won = math.log(0.75) + top + math.log(float(np.exp(logs - top).mean()))
    return won if errors else float(np.logaddexp(won, math.log(0.25) - right * math.log1p(-epsilon)))


def _likelihood(errors: int, samples: int, q: Fraction) -> Fraction:
    return q**errors * (1 - q) ** (samples - errors)


def _average_likelihood(errors: int, samples: int, epsilon: Fraction) -> Fraction:
    """Over the triangle: (1-q)^m is written out, and each power q^t has the mean 2 epsilon^t (1/(t+1) - 1/(t+2))."""
    right = samples - errors
    return sum(
        (-1) ** i * math.comb(right, i) * 2 * epsilon**t * (Fraction(1, t + 1) - Fraction(1, t + 2))
        for i, t in ((i, errors + i) for i in range(right + 1))
    )


# --- trees for labelled rows -----------------------------------------------------------------------------------------


class Row(NamedTuple):
    bits: tuple[int, ...]
    code: int
    weight: Number


def least_cost(rows: Sequence[Row], penalties: Sequence[Number], depth: int) -> Number:
    """Cheapest tree up to a depth: weight of the rows it gets wrong, plus a penalty for each split."""
    splits = [cost_from(rows, penalties, depth, i) for i in range(len(penalties))] if depth else []
    return min([wrong_as_leaf(rows), *splits])


def cost_from(rows: Sequence[Row], penalties: Sequence[Number], depth: int, i: int) -> Number:
    """Cheapest tree up to a depth that splits on feature i first."""
    sides = ([row for row in rows if row.bits[i] == v] for v in (0, 1))
    return penalties[i] + sum(least_cost(side, penalties, depth - 1) for side in sides)


def wrong_as_leaf(rows: Sequence[Row]) -> Number:
    """Weight of the rows that the best single label gets wrong."""
    return sum(row.weight for row in rows) - max(
        (sum(row.weight for row in rows if row.code == code) for code in {row.code for row in rows}), default=0
    )


# --- circuits --------------------------------------------------------------------------------------------------------


def run_network(gates: Sequence[tuple[int, int]], literal: int, bits: Sequence[int]) -> int:
    """One output of a network of ANDs for one input, gate by gate (see fidelitree.targets.circuits.network)."""
    signals = [0, *bits]
    for one, two in gates:
        signals.append((signals[one >> 1] ^ one & 1) & (signals[two >> 1] ^ two & 1))
    return signals[literal >> 1] ^ literal & 1


def run_cover(rows: Sequence[tuple[str, str]], output: int, bits: Sequence[int]) -> int:
    """One output of a PLA for one input: 1 iff a row with a 1 for the output covers it."""
    covers = [all(sign in ("-", str(bit)) for sign, bit in zip(signs, bits, strict=True)) for signs, _ in rows]
    return int(any(covered and marks[output] == "1" for covered, (_, marks) in zip(covers, rows, strict=True)))


# --- trees of mixed features -----------------------------------------------------------------------------------------


def stored_answer(data: dict[str, Any], row: dict[str, Any]) -> Any:
    """The label of one input, by walking down a tree as it is stored; ``row`` has the user's values by name."""
    node = data["nodes"][0]
    while "test" in node:
        test, feature = node["test"], data["features"][node["test"]["feature"]]
        found = row[feature["name"]]
        if "is" in test:
            yes = found == 1
        elif "at most" in test:
            missing = found is None or math.isnan(found)
            yes = test["missing"] if missing else found <= float.fromhex(test["at most"])
        else:
            yes = found in [feature["values"][code] for code in test["in"]]
        node = data["nodes"][node["yes" if yes else "no"]]
    return data["labels"]["values"][node["label"]]


def slow_influence(rows: np.ndarray, chances: np.ndarray, answers: np.ndarray, i: int) -> float:
    """Probability that re-drawing feature i changes the label, by looking at all pairs of listed inputs."""
    total = 0.0
    others = np.nan_to_num(np.delete(rows, i, axis=1), nan=1e300)
    for row, chance, answer in zip(range(len(rows)), chances, answers, strict=True):
        alike = (others == others[row]).all(axis=1)
        if chance:
            total += chance * chances[alike & (answers != answer)].sum() / chances[alike].sum()
    return total


# --- rows as numbers of bins ----------------------------------------------------------------------------------------


class Binned(NamedTuple):
    """A row whose features are numbers of bins."""

    bins: tuple[int, ...]
    code: int
    weight: Number


def passes(row: Binned, feature: int, test: int | frozenset[int]) -> bool:
    return row.bins[feature] in test if isinstance(test, frozenset) else row.bins[feature] <= test


def binned_tests(ordered: Sequence[bool], sizes: Sequence[int]) -> list[tuple[int, int | frozenset[int]]]:
    """Every threshold of every ordered feature, every set of bins of the others that is not empty and not all."""
    tests: list[tuple[int, int | frozenset[int]]] = []
    for feature, (in_order, size) in enumerate(zip(ordered, sizes, strict=True)):
        if in_order:
            tests += [(feature, t) for t in range(size - 1)]
        else:
            tests += [
                (feature, frozenset(chosen))
                for k in range(1, size)
                for chosen in itertools.combinations(range(size), k)
            ]
    return tests


def gini_mass(rows: Sequence[Binned]) -> float:
    """Weight of the rows times the chance that two of them, drawn by weight, have different codes."""
    total = sum(row.weight for row in rows)
    alike = sum(row.weight * other.weight for row in rows for other in rows if row.code == other.code)
    return float(total - alike / total) if total else 0.0


def binned_code(tree: object, row: Binned) -> int:
    """The label code that a nested tuple (test, no, yes) gives to a row; a test has a feature and codes or a cut."""
    while isinstance(tree, tuple):
        test, no, yes = tree
        tree = yes if passes(row, test.feature, test.codes if hasattr(test, "codes") else test.cut) else no
    assert isinstance(tree, int)
    return tree


# --- scores of tests -------------------------------------------------------------------------------------------------


def slow_drop(rows: np.ndarray, chances: np.ndarray, answers: np.ndarray, i: int, inside: np.ndarray) -> float:
    """q0 q1 (2 P_cross - P_in - P_out) of a test of feature i, by looking at all pairs that differ in i alone.

    ``inside`` says which rows pass the test. Rows are all inputs of a leaf with their probabilities given the leaf.
    """
    together = dict.fromkeys(("cross", "in", "out"), 0.0)
    differ = dict.fromkeys(("cross", "in", "out"), 0.0)
    others = np.delete(rows, i, axis=1)
    for row in range(len(rows)):
        alike = np.flatnonzero((others == others[row]).all(axis=1))
        for again in alike if chances[row] else ():
            chance = chances[row] * chances[again] / chances[alike].sum()
            kind = "cross" if inside[row] != inside[again] else "in" if inside[row] else "out"
            together[kind] += chance
            differ[kind] += chance * (answers[row] != answers[again])
    q1 = float(chances[inside].sum())
    cross, both_in, both_out = (differ[kind] / together[kind] if together[kind] else 0.0 for kind in differ)
    return q1 * (1 - q1) * (2 * cross - both_in - both_out)


# --- the smallest trees, by trying every test ------------------------------------------------------------------------


def least_error(f: Table, biases: Sequence[Number], depth: int, region: Region | None = None) -> Number:
    """The least error of a tree of so many levels, times the mass of its region."""
    region = whole(biases) if region is None else region
    best = mass(biases, region) * error(f, biases, region)
    if depth:
        for i in free(region):
            best = min(best, sum(least_error(f, biases, depth - 1, restrict(region, i, v)) for v in (0, 1)))
    return best


def least_leaves(answers: dict[tuple[int, ...], int], kinds: Sequence[str], one_value: bool) -> int:
    """Fewest leaves of a tree for a function of some values: ``kinds`` says of each feature what may be asked.

    A category is asked whether it is in a set (of one value, where ``one_value``), anything else whether it is at most
    a value. A number with a ``gap`` is -1 where it is missing, and missing ones may be on either side.
    """
    if len(set(answers.values())) == 1:
        return 1
    best = len(answers)
    for i, kind in enumerate(kinds):
        values = sorted({point[i] for point in answers})
        sizes = range(1, 2 if one_value else len(values))
        sets = [set(some) for size in sizes for some in itertools.combinations(values, size)]
        if kind != "categorical":
            known = [value for value in values if kind != "gap" or value >= 0]
            sets = [set(known[:k]) | also for k in range(len(known) + 1) for also in (set(), {-1})]
        for yes in sets:
            sides = [{point: a for point, a in answers.items() if (point[i] in yes) == side} for side in (False, True)]
            if all(sides):
                best = min(best, sum(least_leaves(side, kinds, one_value) for side in sides))
    return best


def least_rank(rows: Sequence[tuple[Sequence[int], int]]) -> int:
    """The smallest rank of a tree of bits that fits all rows (Ehrenfeucht and Haussler), by trying every tree."""
    if len({label for _, label in rows}) == 1:
        return 0
    ranks = []
    for i in range(len(rows[0][0])):
        sides = [[row for row in rows if row[0][i] == v] for v in (0, 1)]
        if all(sides):
            one, two = sorted(least_rank(side) for side in sides)
            ranks.append(two + (one == two))
    return min(ranks)


def count_leaf_labels(tree: Any, inputs: Any, labels: Any, classes: list[Any]) -> list[list[int]]:
    """How many inner rows reach each leaf with each label: one row and one test at a time."""
    leaves = [node for node in range(len(tree.feature)) if tree.feature[node] < 0]
    counts = [[0] * len(classes) for _ in leaves]
    for row, label in zip(inputs, labels.tolist(), strict=True):
        node = 0
        while tree.feature[node] >= 0:
            test = tree.test(node)
            node = int((tree.yes if test.answers(row[[test.feature]])[0] else tree.no)[node])
        counts[leaves.index(node)][classes.index(label)] += 1
    return counts


def parts_everywhere(tree: Any, points: list[dict[int, float]]) -> bool:
    """Whether every test of a nested tree, (asks, no, yes) or a leaf, has points of its own on both sides."""
    if not isinstance(tree, tuple):
        return True
    asks, no, yes = tree
    sides = [[point for point in points if asks(point) == side] for side in (False, True)]
    return all(sides) and parts_everywhere(no, sides[0]) and parts_everywhere(yes, sides[1])
