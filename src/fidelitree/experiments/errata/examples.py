"""Counter-examples as sentences, with every number computed on the spot.

The size theorems fail on `theory.SelectorParity`: x0 AND the parity of a block that rare selectors pick.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fidelitree import theory
from fidelitree.experiments.errata.small import FREE, Study, study
from fidelitree.theory import SelectorParity

Describe = Callable[[Study, int], str]
Large = tuple[str, int]
"""The sentence, and the number of features of a target whose numbers do contradict the statement; 0 if none does."""


def target(t: Study, row: int) -> str:
    """The function as an OR of its ones, and its biases."""
    ones = [x for x in range(2**t.n) if t.tables[row, x]]
    terms = [" AND ".join(("" if x >> i & 1 else "NOT ") + f"x{i}" for i in range(t.n)) for x in ones]
    biases = ", ".join(f"{p / t.unit:g}" for p in t.tenths)
    return f"f = {' OR '.join(terms)}, p = ({biases})"


def lemma_c_1(t: Study, row: int) -> str:
    """Largest influence against Var/Delta."""
    variance, average = 2 * t.gini[row], t.average_depth[row]
    return (
        f"{target(t, row)}: largest influence {t.influences[row].max():g} < "
        f"Var/Delta = {variance:g}/{average:g} = {variance / average:g}"
    )


def average_depth_of_leaves(t: Study, row: int) -> str:
    """A region whose best tree is deeper on average."""
    averages = [t.spreads[row, at] / m if (m := t.mass[at]) else 0 for at in range(len(t.mass))]
    at = max(range(len(averages)), key=averages.__getitem__)
    path = ", ".join(f"x{i} = {v}" for i, v in enumerate(t.regions[at]) if v != FREE)
    return f"{target(t, row)}: Delta_opt = {averages[0]:g}, but the leaf {path} has {averages[at]:g}"


def empty_first_phase(t: Study, row: int) -> str:
    """Lemma 4.7 where J_1 = 0, with a split still to make."""
    influence, depth, error = t.influence[row], t.depth[row], t.error[row]
    epsilon = (influence / depth + error) / 2
    return (
        f"{target(t, row)}, epsilon = {epsilon:g}: Inf = {influence:g} <= epsilon D = {epsilon * depth:g}, so J_1 = 0 "
        f"and J_1 e^(Delta D) = 0, but the error is {error:g} > epsilon and a split is made"
    )


def lemma_4_4() -> Large:
    """Four bits, after the first split of Algorithm 1; the floor is taken without the 2 that comes from Lemma C.1."""
    table = np.zeros((1, 16), np.int64)
    table[0, 1] = 1  # x0 AND none of the others
    t = study((1, 4, 4, 4), 20, table)
    score, _, error = (float(values[0, 1]) for values in t.growth)
    floor = error / (2 * float(t.average_depth[0]))
    text = (
        f"{target(t, 0)}, the tree that reads x0 (j = 2): error {error:g} and score {score:g} < error/(j Delta) = "
        f"{floor:.5f}, so it fails for epsilon just below {error:g}, also without the 2"
    )
    return text, t.n * (score < floor)


# --- too large to run: x0 AND a parity of a selected block -----------------------------------------------------------


def lemma_4_5() -> Large:
    """After x0 was read: two leaves, one of them constant."""
    t = SelectorParity(4, 5, 2, 0.001)
    score = t.open_share * float(max(t.weights.max(), t.selector_caps.max())) / 2
    printed = theory.score_floor_lemma_4_5_printed(2, t.open_share * t.inner_influence, t.depth, t.average_depth)
    text = f"the tree that reads x0 (j = 2): score {score:.9f} < {printed:.9f}, which is {printed / score:.4f} times it"
    return f"{_member(t)}, {text}", t.n * (score < printed)


def lemma_4_6() -> Large:
    """The cost falls only as fast as block bits are read."""
    t = SelectorParity(160, 160, 5, 0.001)
    epsilon = t.open_share / 100
    steps = t.log_first_phase(epsilon)
    printed = theory.log_steps_lemma_4_6_printed(t.depth, t.average_depth, epsilon)
    return f"{_member(t)}, epsilon = {epsilon:g}: ln J_1 >= {steps:.2f} > {printed:.2f}", t.n * (steps > printed)


def lemma_4_7() -> Large:
    """With J_1 = 0 read as 1, as Lemma 4.6 has it."""
    eta = 0.001
    t, epsilon = SelectorParity(4, 8, 4, eta), 0.28 * eta
    size, printed = t.log_greedy_size(epsilon), theory.log_steps_lemma_4_7_printed(1, t.depth, t.average_depth)
    text = (
        f"{_member(t)}, epsilon = {epsilon:g}: Inf = {t.influence:.5f} <= epsilon D = {epsilon * t.depth:.5f}, so "
        f"J_1 = 0, and with max(J_1, 1) ln J >= {size:.2f} > {printed:.2f}"
    )
    return text, t.n * (size > printed and t.influence <= epsilon * t.depth)


def theorem_1_1() -> Large:
    """A member with a margin of a quarter; then the smallest one known."""
    eta, small = 0.00131, 0.00398
    first, n = _size(SelectorParity(21, 100, 5, eta), eta / 10, theory.log_size_theorem_1_1_printed)
    smallest, least = _size(SelectorParity(12, 44, 4, small), 0.387 * small, theory.log_size_theorem_1_1_printed)
    return f"{first}; smallest known: {smallest}", min(n, least)


def abstract() -> Large:
    """The same family with k = 5r; 48 is the least r."""
    return _size(growing(48), 1 / 4800, theory.log_size_abstract_printed)


def theorem_5_1() -> Large:
    """Algorithm 1 takes splits within 1/4 of the best, too; 78 is the least r."""
    return _size(growing(78), 1 / 7800, theory.log_size_theorem_5_1_printed)


def growing(r: int) -> SelectorParity:
    """Members whose greedy trees have logarithms of order r^2, while the printed bounds have r or r log r."""
    return SelectorParity(r, 5 * r, 5, 1 / (10 * r))


def no_constant(r: int = 300) -> str:
    """One large member against the three printed bounds: no constant in the exponent repairs them."""
    t, epsilon = growing(r), 1 / (100 * r)
    bounds = [
        f"{printed(t.depth, t.average_depth, epsilon):,.0f} ({name})"
        for name, printed in (
            ("Theorem 1.1", theory.log_size_theorem_1_1_printed),
            ("Theorem 5.1", theory.log_size_theorem_5_1_printed),
            ("abstract", theory.log_size_abstract_printed),
        )
    ]
    return f"{_member(t)}, epsilon = {epsilon:.4g}: ln size >= {t.log_greedy_size(epsilon):,.0f} > {', '.join(bounds)}"


def _size(t: SelectorParity, epsilon: float, printed: Callable[[float, float, float], float]) -> Large:
    size, bound = t.log_greedy_size(epsilon), printed(t.depth, t.average_depth, epsilon)
    return f"{_member(t)}, epsilon = {epsilon:.4g}: ln size >= {size:.2f} > {bound:.2f}", t.n * (size > bound)


def _member(t: SelectorParity) -> str:
    shape = f"F(r={t.r}, k={t.k}, s={t.s}, eta={t.eta:.4g})"
    return f"{shape} with n = {t.n}, D = {t.depth}, Delta = {t.average_depth:.5g}"


# --- sentences of another kind ---------------------------------------------------------------------------------------


def lemma_5_2() -> Large:
    """One pair for each feature of a fair x0 XOR x1; x0 is split if its pair changed or x1's did not."""
    pairs = [(x, v) for x in range(4) for v in (0, 1)]

    def changed(i: int, x: int, v: int) -> bool:
        return (x >> i & 1) != v  # a parity changes exactly when the value does

    seen = [b for a in pairs for b in pairs if changed(0, *a) >= changed(1, *b)]
    mean = sum(changed(1, *b) and not b[0] & 1 for b in seen) / len(seen)
    text = (
        f"holds for a fixed leaf, as it is said. Not for a leaf chosen by the same pairs: f = x0 XOR x1, fair, one "
        f"pair a feature: where x0 was split, the estimate of (x0 = 0, x1) averages {mean:.4f}, the score is 0.25"
    )
    return text, 0
