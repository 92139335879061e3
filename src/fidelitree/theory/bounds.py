"""What the paper promises, as numbers: sample sizes, size bounds, worked examples.

Every function names its statement. *Printed* is the paper's own formula, kept for comparison and never a guarantee.
*Corrected* is what holds in general. Size bounds are natural logarithms, because the sizes overflow.

Words used throughout: ``depth`` and ``average_depth`` belong to the best tree of the target (D_opt, Delta_opt),
``largest_average_depth`` is the largest best average depth over all regions (Delta*), ``influence`` is the target's
total influence, and ``kappa`` says how good every split is: its score is at least kappa times the best one (1 for
Algorithm 1, 1/4 for Algorithm 2).

>>> score_pairs(16, 0.1, 0.1, 20), label_samples(16, 0.1, 0.1), test_samples(16, 0.1, 0.1)
(614571, 286770, 33986)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from fidelitree.errors import ParameterError, check_choice, check_count, check_delta, check_epsilon, check_range

Schedule = Literal["printed", "corrected"]
SCHEDULES = ("printed", "corrected")

# --- sample sizes of Algorithm 2 -------------------------------------------------------------------------------------


def score_pairs(j: int, delta: float, epsilon: float, n: int, schedule: Schedule = "printed") -> int:
    """Pairs for each feature that rank every split of a tree of ``j`` leaves within 1/4 (M_S, section 5.2).

    Corrected: growth goes on until the error is below epsilon/2, so the scores must be told apart at that level; and
    of j live leaves up to 2j - 1 were made, each chosen from its parent's pairs, so the union is twice as long.
    """
    j, n = check_count("j", j), check_count("n", n)
    delta, epsilon = check_delta(delta), _positive_epsilon(epsilon)
    check_choice("schedule", schedule, SCHEDULES)
    events, level = (4, epsilon) if schedule == "printed" else (8, epsilon / 2)
    return _whole(lambda: 12 * (j + 1) * n / level * math.log(events * j * j * (j + 1) * n / delta))


def label_samples(j: int, epsilon: float, delta: float) -> int:
    """Inputs that label the leaves within epsilon/8 of the best labels (M_LL: Lemma 5.3 with j + 1 leaves)."""
    j, epsilon, delta = check_count("j", j), _positive_epsilon(epsilon), check_delta(delta)
    return _whole(lambda: 128 * ((j + 1) * math.log(2) + math.log(16 * j * j / delta)) / epsilon**2)


def test_samples(j: int, epsilon: float, delta: float) -> int:
    """Inputs that tell an error of 5 epsilon/8 from one of epsilon (M_EE: Lemma 5.4)."""
    j, epsilon, delta = check_count("j", j), _positive_epsilon(epsilon), check_delta(delta)
    return _whole(lambda: 32 / epsilon**2 * math.log(16 * j * j / delta))


def queries_of_schedule(
    leaves: int, n: int, epsilon: float, delta: float, count: Literal["stated", "drawn"] = "stated"
) -> int:
    """Label queries of Algorithm 2 with the printed sample sizes when it ends with ``leaves`` leaves.

    Each of n features has pairs of its own, two queries a pair. ``"stated"`` takes the sizes M(leaves) that the text
    asks for. ``"drawn"`` adds up what the pseudocode draws: it raises j before it draws M(j + 1) - M(j), so its sets
    hold M(1) + M(leaves + 1) - M(2).
    """
    leaves, n = check_count("leaves", leaves), check_count("n", n)
    check_choice("count", count, ("stated", "drawn"))

    def held(size: Callable[[int], int]) -> int:
        return size(leaves) if count == "stated" else size(1) + size(leaves + 1) - size(2)

    pairs = held(lambda j: score_pairs(j, delta, epsilon, n))
    labels = held(lambda j: label_samples(j, epsilon, delta))
    return 2 * n * pairs + labels + held(lambda j: test_samples(j, epsilon, delta))


def _whole(size: Callable[[], float]) -> int:
    """A sample size, rounded up; one that floats cannot hold is refused."""
    try:
        return math.ceil(size())
    except (OverflowError, ZeroDivisionError):
        raise ParameterError(
            "epsilon and delta must be larger: the sample sizes of Algorithm 2 would have more than 300 digits"
        ) from None


# --- size bounds, as printed -----------------------------------------------------------------------------------------


def log_size_theorem_1_1_printed(depth: float, average_depth: float, epsilon: float) -> float:
    """Logarithm of Theorem 1.1's size for Algorithm 1. Holds where Delta* = Delta; **false** in general."""
    depth, average_depth = _check_depths(depth, average_depth)
    return _log_power(average_depth, depth, check_epsilon(epsilon)) * average_depth * depth


def log_size_theorem_5_1_printed(depth: float, average_depth: float, epsilon: float) -> float:
    """Logarithm of Theorem 5.1's size, for splits within 1/4 of the best. **False** in general."""
    return 4 * log_size_theorem_1_1_printed(depth, average_depth, epsilon)


def log_size_abstract_printed(depth: float, average_depth: float, epsilon: float) -> float:
    """Logarithm of the abstract's size, exp(Delta D log(e/epsilon)). **False** in general, on the same targets."""
    depth, average_depth = _check_depths(depth, average_depth)
    epsilon = check_epsilon(epsilon)
    if not depth:
        return 0.0
    return average_depth * depth * (1 - math.log(epsilon)) if epsilon else math.inf


# --- size bounds that hold -------------------------------------------------------------------------------------------


def log_size_corrected_by_influence(
    influence: float, depth: float, largest_average_depth: float, epsilon: float, kappa: float = 1.0
) -> float:
    """Theorems 1.1 and 5.1, corrected, form 1: ln (e Inf/(epsilon D))^(D Delta*/kappa), for any number of labels.

    Where Inf is below epsilon D it is Inf Delta*/(kappa epsilon). Delta* takes Delta_opt's place because a leaf may be
    harder than the whole target. For Algorithm 2 pass epsilon/2: only then does it stop for sure. For the tree of
    ``strategy="influence"`` pass epsilon/4: it may split a little past error epsilon. The proof is checked by a machine
    (proofs/Sizes.v).
    """
    influence = _check_at_least("influence", influence)
    depth, largest_average_depth = _check_depths(depth, largest_average_depth, "largest_average_depth")
    epsilon, kappa = check_epsilon(epsilon), _check_kappa(kappa)
    if not influence:
        return 0.0
    if influence < epsilon * depth:  # below its start the logarithm goes on as its tangent
        return influence * largest_average_depth / (kappa * epsilon)
    return _log_power(influence, depth, epsilon) * depth * largest_average_depth / kappa


def log_size_corrected_without_depth(
    influence: float, average_depth: float, epsilon: float, kappa: float = 1.0, labels: int = 2
) -> float:
    """Theorems 1.1 and 5.1, corrected, form 2: Inf Delta/(2 kappa epsilon^2); Delta for Delta/2 with more labels."""
    influence = _check_at_least("influence", influence)
    average_depth = _check_at_least("average_depth", average_depth)
    epsilon, kappa = check_epsilon(epsilon), _check_kappa(kappa)
    if not influence:
        return 0.0
    return influence * average_depth * _share(labels) / (kappa * epsilon**2) if epsilon else math.inf


def log_size_corrected_by_depths(
    depth: float, average_depth: float, epsilon: float, kappa: float = 1.0, labels: int = 2
) -> float:
    """Theorems 1.1 and 5.1, corrected, form 3, which knows D and Delta of the best tree only.

    With D_e = min(D, Delta/(2 epsilon)): ln size <= D_e^2 (1 + ln(Delta/(2 epsilon D_e)))/kappa, as form 1 gives with
    Delta* <= D up to that depth and form 2 beyond it. With more than two labels Delta stands for Delta/2.
    """
    depth, average_depth = _check_depths(depth, average_depth)
    epsilon, kappa, top = check_epsilon(epsilon), _check_kappa(kappa), average_depth * _share(labels)
    if not depth:
        return 0.0
    if not epsilon:
        return math.inf
    effective = min(depth, top / epsilon)
    return effective**2 * (1 + math.log(top / (epsilon * effective))) / kappa


def influence_cap_corrected(average_depth: float, labels: int = 2) -> float:
    """Lemma 4.2, corrected: total influence is at most (1 - 1/K) Delta; a fair dictator attains it."""
    labels = check_count("labels", labels, least=2)
    return _check_at_least("average_depth", average_depth) * (1 - 1 / labels)


# --- the lemmas' floors and phases -----------------------------------------------------------------------------------


def influence_floor_lemma_c_1_printed(variance: float, average_depth: float) -> float:
    """Lemma C.1 as printed: some feature has influence Var/Delta. A slip: off by 2 for this influence."""
    return _check_at_least("variance", variance) / _check_above("average_depth", average_depth)


def influence_floor_lemma_c_1_corrected(variance: float, average_depth: float) -> float:
    """Lemma C.1, corrected: some feature has influence G/Delta = Var/(2 Delta)."""
    return influence_floor_lemma_c_1_printed(variance, average_depth) / 2


def score_floor_lemma_4_4_printed(leaves: int, epsilon: float, average_depth: float) -> float:
    """Lemma 4.4 as printed: above error epsilon, the best score is 2 epsilon/(j Delta). **False** from 4 bits on."""
    leaves, epsilon = check_count("leaves", leaves), check_epsilon(epsilon)
    return 2 * epsilon / (leaves * _check_above("average_depth", average_depth))


def score_floor_lemma_4_4_corrected(
    leaves: int, epsilon: float, average_depth: float, largest_average_depth: float
) -> float:
    """Lemma 4.4, corrected: the best score is at least max(epsilon/(j Delta*), 2 epsilon^2/(j Delta))."""
    leaves, epsilon = check_count("leaves", leaves), check_epsilon(epsilon)
    average_depth = _check_above("average_depth", average_depth)
    largest_average_depth = _check_above("largest_average_depth", largest_average_depth)
    return max(epsilon / largest_average_depth, 2 * epsilon**2 / average_depth) / leaves


def score_floor_lemma_4_5_printed(leaves: int, cost: float, depth: float, average_depth: float) -> float:
    """Lemma 4.5 as printed: the best score is at least cost/(j D Delta). **False** from 27 features on."""
    leaves, cost = check_count("leaves", leaves), _check_at_least("cost", cost)
    return cost / (leaves * _check_above("depth", depth) * _check_above("average_depth", average_depth))


def score_floor_lemma_4_5_corrected(
    leaves: int, cost: float, depth: float, average_depth: float, largest_average_depth: float
) -> float:
    """Lemma 4.5, corrected: the best score is at least max(cost/(j D Delta*), 2 cost^2/(j D^2 Delta))."""
    leaves, cost = check_count("leaves", leaves), _check_at_least("cost", cost)
    depth, average_depth = _check_above("depth", depth), _check_above("average_depth", average_depth)
    largest_average_depth = _check_above("largest_average_depth", largest_average_depth)
    share = cost / depth
    return max(share / largest_average_depth, 2 * share**2 / average_depth) / leaves


def log_steps_lemma_4_6_printed(depth: float, average_depth: float, epsilon: float) -> float:
    """Lemma 4.6 as printed: ln of the splits until the cost is epsilon D. **False** in general."""
    depth, average_depth = _check_depths(depth, average_depth)
    return (_log_power(average_depth, depth, check_epsilon(epsilon)) - 1) * depth * average_depth if depth else 0.0


def log_steps_lemma_4_6_corrected(
    influence: float, depth: float, largest_average_depth: float, epsilon: float
) -> float:
    """Lemma 4.6, corrected: no split at all (-inf), or fewer than (Inf/(epsilon D))^(D Delta*) of them."""
    influence = _check_at_least("influence", influence)
    depth, largest_average_depth = _check_depths(depth, largest_average_depth, "largest_average_depth")
    if influence <= check_epsilon(epsilon) * depth:
        return -math.inf
    return (_log_power(influence, depth, epsilon) - 1) * depth * largest_average_depth


def log_steps_lemma_4_7_printed(first_phase: int, depth: float, average_depth: float) -> float:
    """Lemma 4.7 as printed: ln(J_1 e^(Delta D)), -inf when J_1 = 0. **False** from 45 bits on, also with J_1 = 1."""
    first_phase = check_count("first_phase", first_phase, least=0)
    depth, average_depth = _check_depths(depth, average_depth)
    return math.log(first_phase) + depth * average_depth if first_phase else -math.inf


def log_steps_lemma_4_7_corrected(first_phase: int, depth: float, largest_average_depth: float) -> float:
    """Lemma 4.7, corrected: fewer than (J_1 + 1) e^((D - 1) Delta*) splits in all."""
    first_phase = check_count("first_phase", first_phase, least=0)
    depth, largest_average_depth = _check_depths(depth, largest_average_depth, "largest_average_depth")
    return math.log(first_phase + 1) + max(depth - 1, 0) * largest_average_depth


# --- worked examples of the appendix ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class WorkedExample:
    """One tree of the appendix "Worked Examples": ln of the sizes that the paper prints, and of those that hold."""

    name: str
    leaves: int
    depth: int
    average_depth: float
    epsilon: float
    theorem_1_1_printed: float
    abstract_printed: float
    corrected_by_influence: float
    corrected_without_depth: float
    corrected_by_depths: float

    @property
    def corrected(self) -> float:
        """The best of the three forms; all of them hold."""
        return min(self.corrected_by_influence, self.corrected_without_depth, self.corrected_by_depths)


def balanced_example(leaves: int, epsilon: float) -> WorkedExample:
    """Appendix, balanced: a complete tree, D = Delta = log2 of its leaves, under any product distribution.

    Delta* lies between Delta and D, so it is the same number and the printed theorem holds here.
    """
    leaves = check_count("leaves", leaves, least=2)
    depth = leaves.bit_length() - 1
    if leaves != 1 << depth:
        raise ParameterError(f"leaves must be a power of 2 for a complete tree; got {leaves}")
    return _example("balanced", leaves, depth, float(depth), check_epsilon(epsilon))


def path_example(n: int, epsilon: float) -> WorkedExample:
    """Appendix, path-like: n + 1 leaves, fair bits, D = n, Delta = 2 - 2^(1-n) exactly.

    A restricted path is a path with fewer features, so no region is harder than the whole and Delta* = Delta.
    """
    n = check_count("n", n)
    return _example("path", n + 1, n, path_average_depth(n), check_epsilon(epsilon))


def path_average_depth(n: int) -> float:
    """Average depth of a path on n fair bits: 2 - 2^(1-n), where the paper says "at most 2"."""
    return 2.0 - math.ldexp(1.0, 1 - check_count("n", n))


def _example(name: str, leaves: int, depth: int, average_depth: float, epsilon: float) -> WorkedExample:
    influence = influence_cap_corrected(average_depth)
    return WorkedExample(
        name,
        leaves,
        depth,
        average_depth,
        epsilon,
        theorem_1_1_printed=log_size_theorem_1_1_printed(depth, average_depth, epsilon),
        abstract_printed=log_size_abstract_printed(depth, average_depth, epsilon),
        corrected_by_influence=log_size_corrected_by_influence(influence, depth, average_depth, epsilon),
        corrected_without_depth=log_size_corrected_without_depth(influence, average_depth, epsilon),
        corrected_by_depths=log_size_corrected_by_depths(depth, average_depth, epsilon),
    )


# --- shared arithmetic and rules -------------------------------------------------------------------------------------


def _log_power(start: float, depth: float, epsilon: float) -> float:
    """Logarithm of max(e start/(epsilon D), e), the base of every bound in powers; infinite at epsilon 0."""
    if not depth or not start:
        return 1.0
    return 1 + max(math.log(start / (epsilon * depth)), 0.0) if epsilon else math.inf


def _share(labels: int) -> float:
    # Two labels: G = 2e(1-e) >= 2e^2. More: only G >= e, so the factor 1/2 of forms 2 and 3 is lost.
    return 0.5 if check_count("labels", labels, least=2) == 2 else 1.0


def _positive_epsilon(epsilon: float) -> float:
    number = check_epsilon(epsilon)
    if not number:
        raise ParameterError("epsilon must be above 0 where inputs are drawn; got 0 - use build_top_down for 0")
    return number


def _check_kappa(kappa: float) -> float:
    return check_range("kappa", kappa, "above 0 and at most 1", lambda number: 0 < number <= 1, percent=False)


def _check_at_least(name: str, value: float) -> float:
    return check_range(name, value, "finite and at least 0", lambda number: 0 <= number < math.inf, percent=False)


def _check_above(name: str, value: float) -> float:
    return check_range(name, value, "finite and above 0", lambda number: 0 < number < math.inf, percent=False)


def _check_depths(depth: float, average: float, name: str = "average_depth") -> tuple[float, float]:
    depth, average_number = _check_at_least("depth", depth), _check_at_least(name, average)
    if average_number > depth:
        raise ParameterError(f"{name} must be at most the depth, {depth:g}; got {average!r}")
    return depth, average_number


_EARLY, _STEP = 16, 4  # inputs of the first early look at a tree, and how many times as many the next one has


def early_looks(whole: int) -> Iterator[int]:
    """Sizes, fixed in advance, at which Algorithm 2 looks at its first tree before the set is whole."""
    size = _EARLY
    while size < whole:
        yield size
        size *= _STEP


def level_of_set(leaves: int, samples: int, delta: float) -> float:
    """What the bound of Algorithm 2 may spend on a tree and a test set of this size.

    An eighth of delta over the square of the number of leaves; the early looks at one leaf share another quarter. All
    together stay below delta / 2.
    """
    looks = list(early_looks(samples + 1)) if leaves == 1 else []
    return delta / (8 * leaves**2) / (2.0 ** (len(looks) - 1) if looks and looks[-1] == samples else 1.0)
