"""Published results about learners, run again: where each rule finds the smallest tree, and where it does not.

Every figure is exact: all inputs are asked, no error is allowed, and what is counted is leaves.

- *juntas*: A. Brutzkus, A. Daniely, E. Malach, *ID3 learns juntas for smoothed product distributions*, COLT 2020. When
  every bit's bias is moved a little at random, all features that matter correlate with the label, and ID3 splits on
  nothing else; on a parity of fair bits nothing does.
- *selector-parity*: G. Blanc, J. Lange, L.-Y. Tan 2020. The selectors' influence is small, so influence greedy reads
  the parities of both branches first.
- *impurity*: multiplexers and parities, where Gini and entropy see nothing at the root and influence sees everything.
- *hard-instances*: in the manner of C. Koch, C. Strassle, L.-Y. Tan, *Properly learning decision trees with queries is
  NP-hard*, FOCS 2023: whether the bits indicate an edge of a graph. Their smallest tree knows a smallest vertex cover.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from fidelitree import learners, targets
from fidelitree.errors import MissingExtraError
from fidelitree.spaces.product import ProductSpace
from fidelitree.targets import Target, Textbook, TruthTable

if TYPE_CHECKING:
    from fidelitree.runs.result import Distillation

SMOOTHING = 0.1  # how far a bias is moved from 1/2 at most
_LEARNERS: dict[str, Callable[..., Distillation]] = {
    "influence": learners.top_down,
    "id3": learners.id3,
    "cart": learners.cart,
    "blanc_lange_qiao_tan": partial(learners.blanc_lange_qiao_tan, candidates=2),
}


@dataclass(frozen=True)
class LeavesRow:
    """Leaves of zero error, by rule; None where a rule gave up before, or what it needs is not installed."""

    target: str
    biases: str
    optimum: int
    influence: int | None
    id3: int | None
    cart: int | None
    blanc_lange_qiao_tan: int | None


Case = tuple[str, Target, str, ProductSpace]


def juntas(repetitions: int, seed: int) -> Iterator[Case]:
    """Functions of the last 2 to 4 of 12 bits: parities and random ones; fair bits, and biases moved at random."""
    random = np.random.default_rng(seed)
    for number in range(repetitions):
        for k in (2, 3, 4):
            random_table = random.integers(0, 2, 1 << k)
            parity = np.array([place.bit_count() % 2 for place in range(1 << k)])
            for kind, table in (("parity", parity), ("random", random_table)):
                target = TruthTable(np.repeat(table, 1 << (12 - k)))
                moved = 0.5 + random.uniform(-SMOOTHING, SMOOTHING, 12)
                name = f"{kind} of {k} in 12, {number}"
                yield name, target, "fair", ProductSpace.bernoulli(12)
                yield name, target, "smoothed", ProductSpace.bernoulli(12, moved)


def selector_parity(repetitions: int, seed: int) -> Iterator[Case]:
    """Two parities of 2, 3 and 4 bits, chosen by a tribes of four."""
    yield from (_fair(targets.selector_parity(2, 2, k)) for k in (2, 3, 4))


def impurity(repetitions: int, seed: int) -> Iterator[Case]:
    """Multiplexers, a parity among other bits, and a majority, where the tables turn."""
    functions = [targets.multiplexer(2), targets.multiplexer(3), targets.parity(10, 4), targets.majority(9)]
    yield from (_fair(function) for function in functions)


def hard_instances(repetitions: int, seed: int) -> Iterator[Case]:
    """Edges of stars, cycles and complete graphs, with and without marks."""
    for vertices in (6, 8):
        for name, graph in (("star", targets.star), ("cycle", targets.cycle), ("complete", targets.complete)):
            yield _fair(targets.is_edge(vertices, graph(vertices)), f"edge of a {name} of {vertices}")
    yield _fair(targets.is_edge_marked(5, targets.star(5)), "marked edge of a star of 5")


def _fair(function: Textbook, name: str = "") -> Case:
    return name or function.name, function, "fair", ProductSpace.bernoulli(function.n)


PLANS: dict[str, Callable[[int, int], Iterator[Case]]] = {
    "juntas": juntas,
    "selector-parity": selector_parity,
    "impurity": impurity,
    "hard-instances": hard_instances,
}


def row(case: Case) -> LeavesRow:
    """All rules on one target."""
    name, target, biases, space = case
    sizes: dict[str, int | None] = {}
    for rule, learn in _LEARNERS.items():
        try:
            found = learn(target, space, 0.0)
            sizes[rule] = found.tree.size if found.certificate.holds else None
        except MissingExtraError:
            sizes[rule] = None
    return LeavesRow(name, biases, learners.optimal(target, space).tree.size, **sizes)


def summary(rows: list[LeavesRow]) -> list[str]:
    """A line for each target, and where which rule found the optimum."""
    head = f"{'target':<28}{'bits':<10}{'optimum':>8}{'influence':>11}{'id3':>7}{'cart':>7}{'search':>8}"
    lines = [head]
    for one in rows:
        influence, entropy, gini, search = (
            "-" if size is None else str(size) for size in (one.influence, one.id3, one.cart, one.blanc_lange_qiao_tan)
        )
        lines.append(f"{one.target:<28}{one.biases:<10}{one.optimum:>8}{influence:>11}{entropy:>7}{gini:>7}{search:>8}")
    for biases in dict.fromkeys(one.biases for one in rows):
        mine = [one for one in rows if one.biases == biases]
        found = {rule: sum(getattr(one, rule) == one.optimum for one in mine) for rule in _LEARNERS}
        told = ", ".join(f"{rule} {count}" for rule, count in found.items())
        lines.append(f"the optimum was found on {biases} bits, of {len(mine)} targets: {told}")
    return lines
