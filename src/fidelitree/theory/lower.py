"""What no learner can do with less: labels that any certified distillation needs.

Two reasons, whichever is larger. *Testing*: to tell an error of 0 from one of epsilon at confidence 1 - delta takes
about ln(1/delta)/KL labels, with KL(0 || epsilon) = -ln(1 - epsilon). *Learning*: if M trees of the class are pairwise
more than 2 epsilon apart, a learner that ends within epsilon of each of them tells them apart; each label has two
values, so it needs log2 M of them in the worst case, and less by log2(1/(1 - delta)) where it may fail. The first is
about inputs drawn: one that comes again is drawn again, though a target that repeats itself need not be asked.

>>> round(labels_to_test(0.1, 0.05), 1), labels_to_learn(1024, 0.05)
(28.4, 9.93)
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import ParameterError, check_count, check_delta, check_epsilon

_EXACT = 5  # features up to which the functions of small trees are listed


def labels_to_test(epsilon: float, delta: float, error: float = 0.0) -> float:
    """Labels that any test needs to certify epsilon for a tree of a smaller error (the lower limit of THEORY 4(a))."""
    epsilon, delta = check_epsilon(epsilon), check_delta(delta)
    if not 0 <= error < epsilon:
        raise ParameterError(f"error must be at least 0 and below epsilon, {epsilon:g}; got {error!r}")
    apart = (1 - error) * math.log((1 - error) / (1 - epsilon))
    return math.log(1 / delta) / (apart + (error * math.log(error / epsilon) if error else 0.0))


def labels_to_learn(packing: int, delta: float) -> float:
    """Labels that tell apart so many trees, all more than 2 epsilon apart, with probability 1 - delta."""
    delta = check_delta(delta)
    return round(max(0.0, math.log2(check_count("packing", packing)) + math.log2(1 - delta)), 2)


def functions_of(n: int, depth: int) -> NDArray[np.bool_]:
    """All functions of trees of at most a depth over n bits, one row each; n at most 5.

    >>> len(functions_of(3, 1)), len(functions_of(3, 2))
    (8, 62)
    """
    if check_count("n", n) > _EXACT:
        raise ParameterError(f"n must be at most {_EXACT} for all functions to be listed; got {n}")
    inputs = np.arange(1 << n)
    known = {np.zeros(1 << n, np.bool_).tobytes(), np.ones(1 << n, np.bool_).tobytes()}
    for _ in range(check_count("depth", depth, least=0)):
        below = [np.frombuffer(one, np.bool_) for one in known]
        for i in range(n):
            yes = (inputs >> i & 1).astype(np.bool_)
            ones = {np.where(yes, f, False).tobytes() for f in below}
            zeros = {np.where(yes, False, f).tobytes() for f in below}
            parts = [np.frombuffer(one, np.bool_) for one in zeros]
            known |= {(np.frombuffer(one, np.bool_) | part).tobytes() for one in ones for part in parts}
    return np.array([np.frombuffer(one, np.bool_) for one in sorted(known)])


def greedy_packing(functions: NDArray[np.bool_], epsilon: float) -> int:
    """Functions that are pairwise more than 2 epsilon apart, taken one by one: a packing, if not the largest."""
    left, taken = functions, 0
    while len(left):
        taken += 1
        left = left[(left != left[0]).mean(axis=1) > 2 * check_epsilon(epsilon)]
    return taken


def packing_by_counting(n: int, depth: int, epsilon: float) -> int:
    """At least so many trees of a depth over n fair bits are more than 2 epsilon apart: the larger of two families.

    Parities of different sets of ``depth`` bits, and their complements, are at least 1/2 apart. And where the tests of
    a complete tree are fixed, its labels are a word of 2^depth bits, of which two trees differ in the share by which
    they are apart: at least all words over the size of a ball are far apart (Gilbert and Varshamov).

    >>> packing_by_counting(12, 3, 0.1)
    440
    """
    n, depth, epsilon = check_count("n", n), check_count("depth", depth), check_epsilon(epsilon)
    if depth > n:
        raise ParameterError(f"depth must be at most n, {n}; got {depth}")
    words = 1 << depth
    ball = sum(math.comb(words, k) for k in range(math.floor(2 * epsilon * words) + 1))
    parities = 2 * math.comb(n, depth) if epsilon < 0.25 else 1
    return max(1, parities, -(-(1 << words) // ball))


def label_lower_bound(n: int, depth: int, epsilon: float, delta: float) -> float:
    """The larger of both reasons, for targets that are trees of a depth over n fair bits."""
    small = n <= _EXACT and depth <= 2
    packing = greedy_packing(functions_of(n, depth), epsilon) if small else packing_by_counting(n, depth, epsilon)
    return max(labels_to_test(epsilon, delta), labels_to_learn(packing, delta))
