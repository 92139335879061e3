"""Decision diagrams: functions of hundreds of bits, about which everything is known.

A node tests a bit and leads to two smaller functions; bits are tested in one order on every path, and no function is
there twice (Bryant, 1986). So what is known about a node is known wherever it occurs:

- the masses of its labels are sums over its two children, found when the node is made;
- how often two functions disagree is found by walking down both at once, each pair of nodes once;
- re-drawing a bit changes the label at a node that tests it iff its two children disagree, so the influences of all
  bits are one pass over the nodes, each weighed by the probability of reaching it.

Every label has sums of its own, without subtractions: a label of mass 1e-30 is not lost beside one of mass 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np

from fidelitree.errors import NoDiagramError
from fidelitree.exact.subfunction import Floats, Subfunction
from fidelitree.trees.tree import Tree

if TYPE_CHECKING:
    from fidelitree.spaces.features import Test
    from fidelitree.spaces.product import ProductSpace

_ROUNDING = 1e-9
PAIR_LIMIT = 1 << 21
"""Disagreements that are remembered: about 400 MB."""


class Nodes:
    """All nodes made so far, each function once, by number; the first are the constants, one for each label.

    ``order`` holds the features that are tested, first to last.
    """

    def __init__(self, order: Sequence[int], labels: int) -> None:
        self.order = list(order)
        self._level = [len(self.order)] * labels
        self._no, self._yes = list(range(labels)), list(range(labels))
        self._known: dict[tuple[int, int, int], int] = {}

    def node(self, level: int, no: int, yes: int) -> int:
        """The function that tests ``order[level]`` and goes on with ``no`` or ``yes``."""
        if no == yes:
            return no
        found = self._known.get((level, no, yes))
        if found is None:
            found = self._known[level, no, yes] = len(self._level)
            self._level.append(level)
            self._no.append(no)
            self._yes.append(yes)
            self._describe(level, no, yes)
        return found

    def _describe(self, level: int, no: int, yes: int) -> None:
        """What else is to be known of the node that was made last."""


class Diagram(Nodes):
    """All nodes made so far; a function is the number of its top node, which is larger than those below it.

    ``order`` holds the features that are tested, first to last. The first nodes are the constants, one for each label.

    >>> diagram = Diagram(ProductSpace.bernoulli(2), [1, 0])
    >>> x0 = diagram.node(1, 0, 1)
    >>> either = diagram.node(0, x0, 1)
    >>> diagram.masses(either), diagram.influences(either).tolist()
    ([0.25, 0.75], [0.25, 0.25])
    """

    def __init__(self, space: ProductSpace, order: Sequence[int], labels: int = 2) -> None:
        super().__init__(order, labels)
        self.features, self.labels = len(space), labels
        biases = space.biases
        self._bias = [float(biases[feature]) for feature in order]
        self._level_of = {feature: level for level, feature in enumerate(order)}
        self._masses = [[float(constant == label) for constant in range(labels)] for label in range(labels)]
        self._apart: dict[tuple[int, int], float] = {}

    def _describe(self, level: int, no: int, yes: int) -> None:
        p = self._bias[level]
        for masses in self._masses:
            masses.append((1 - p) * masses[no] + p * masses[yes])

    def masses(self, root: int) -> list[float]:
        """The probability of each label."""
        return [masses[root] for masses in self._masses]

    def heaviest(self, root: int) -> int:
        """The most probable label, the first among equals."""
        return int(np.argmax(self.masses(root)))

    def mistakes(self, root: int) -> float:
        """The probability of all other labels."""
        return sum(sorted(self.masses(root))[:-1])

    def sides(self, node: int) -> tuple[int, tuple[int, float], tuple[int, float]]:
        """The feature that a node tests, and both children with their shares."""
        level = self._level[node]
        return self.order[level], (self._no[node], 1 - self._bias[level]), (self._yes[node], self._bias[level])

    def size(self, root: int) -> int:
        """Number of nodes of a function, constants not counted."""
        return len(self._below(root, len(self.order)))

    def nodes(self, root: int) -> Iterator[tuple[int, int, int, int]]:
        """All nodes of a function, children before parents: node, place of its test in the order, both children."""
        return (
            (node, self._level[node], self._no[node], self._yes[node]) for node in self._below(root, len(self.order))
        )

    def restrict(self, root: int, feature: int) -> tuple[int, int]:
        """The functions that are left where a feature is 0, and where it is 1."""
        bottom = self._level_of.get(feature)
        if bottom is None:
            return root, root
        halves: list[int] = []
        above = self._below(root, bottom + 1)
        for children in (self._no, self._yes):
            became: dict[int, int] = {}
            for node in above:
                if self._level[node] == bottom:
                    became[node] = children[node]
                else:
                    no, yes = self._no[node], self._yes[node]
                    became[node] = self.node(self._level[node], became.get(no, no), became.get(yes, yes))
            halves.append(became.get(root, root))
        return halves[0], halves[1]

    def influences(self, root: int) -> Floats:
        """For every feature, the probability that re-drawing it changes the value of a function."""
        out = np.zeros(self.features)
        below = self._below(root, len(self.order))
        self._settle((self._no[node], self._yes[node]) for node in below)
        reached = dict.fromkeys([*range(self.labels), *below], 0.0) | {root: 1.0}
        for node in reversed(below):
            level, no, yes, mass = self._level[node], self._no[node], self._yes[node], reached[node]
            p = self._bias[level]
            reached[no] += mass * (1 - p)
            reached[yes] += mass * p
            out[self.order[level]] += mass * 2 * p * (1 - p) * self._disagreement(no, yes)
        return out

    def _below(self, root: int, bottom: int) -> list[int]:
        """Nodes of a function that test one of the first ``bottom`` features, children before parents."""
        found: set[int] = set()
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if self._level[node] < bottom and node not in found:
                found.add(node)
                waiting += [self._no[node], self._yes[node]]
        return sorted(found)

    def _disagreement(self, one: int, two: int) -> float:
        """Probability that two functions differ, once `_settle` has heard of them."""
        if one == two:
            return 0.0
        if one > two:
            one, two = two, one
        if one >= self.labels:
            return self._apart[one, two]
        return sum(masses[two] for label, masses in enumerate(self._masses) if label != one)

    def _settle(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Find out how often the functions of each pair disagree: pairs from the top down, sums from the bottom up."""
        if len(self._apart) > PAIR_LIMIT:
            self._apart.clear()
        by_level: list[dict[tuple[int, int], None]] = [{} for _ in self.order]
        for pair in pairs:
            self._file(by_level, *pair)
        seen = 0
        for level, found in enumerate(by_level):
            seen += len(found)
            if seen > PAIR_LIMIT:
                raise NoDiagramError(
                    f"influences must compare at most {PAIR_LIMIT:,} pairs of nodes of a diagram; a diagram of "
                    f"{len(self._level):,} nodes needs more"
                )
            for pair in found:
                for one, two in zip(*self._children(level, *pair), strict=True):
                    self._file(by_level, one, two)
        for level in range(len(by_level) - 1, -1, -1):
            p = self._bias[level]
            for pair in by_level[level]:
                (no, yes), (other_no, other_yes) = self._children(level, *pair)
                here = (1 - p) * self._disagreement(no, other_no) + p * self._disagreement(yes, other_yes)
                self._apart[pair] = here

    def _file(self, by_level: list[dict[tuple[int, int], None]], one: int, two: int) -> None:
        """Put a pair that is not known yet where its first test is."""
        if one > two:
            one, two = two, one
        if one >= self.labels and one != two and (one, two) not in self._apart:
            by_level[min(self._level[one], self._level[two])][one, two] = None

    def _children(self, level: int, one: int, two: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Where each of two functions goes on once a level has been tested."""
        first = (self._no[one], self._yes[one]) if self._level[one] == level else (one, one)
        second = (self._no[two], self._yes[two]) if self._level[two] == level else (two, two)
        return first, second


class DiagramSubfunction(Subfunction):
    """A function of bits inside a region; ``labels`` are those of the whole function."""

    def __init__(self, diagram: Diagram, root: int, labels: list[Any]) -> None:
        self.diagram, self.root, self.labels = diagram, root, labels

    def label_probabilities(self) -> Floats:
        """Known since the node was made."""
        return np.array(self.diagram.masses(self.root))

    def influences(self) -> Floats:
        """One pass over the nodes below."""
        return self.diagram.influences(self.root)

    def unfolded(self, space: ProductSpace, epsilon: float, most: int) -> tuple[Tree, float] | None:
        """The tree of its own paths, and its error: those with most mistakes go on, until at most epsilon is left.

        None where that takes more than so many leaves.
        """
        nodes: list[tuple[int, int, int] | int] = [self.diagram.heaviest(self.root)]
        open_ends = [(-self.diagram.mistakes(self.root), self.root, 0, 1.0)]
        left = -open_ends[0][0]
        while open_ends and left > epsilon * (1 - _ROUNDING):
            if len(nodes) >= 2 * most - 1:
                return None
            lost, node, place, reached = heappop(open_ends)  # of equal ones the lowest: its paths end soonest
            feature, *sides = self.diagram.sides(node)
            nodes[place] = feature, len(nodes), len(nodes) + 1
            left += lost
            for child, share in sides:
                mistakes = reached * share * self.diagram.mistakes(child)
                left += mistakes
                if mistakes:
                    heappush(open_ends, (-mistakes, child, len(nodes), reached * share))
                nodes.append(self.diagram.heaviest(child))
        return Tree.build(space, nodes, self.labels), math.fsum(-end[0] for end in open_ends)

    def split(self, test: Test) -> tuple[DiagramSubfunction, DiagramSubfunction]:
        """The nodes above the test are made anew, those below are shared."""
        no, yes = (
            DiagramSubfunction(self.diagram, half, self.labels)
            for half in self.diagram.restrict(self.root, test.feature)
        )
        return no, yes
