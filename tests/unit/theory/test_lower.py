"""What no learner can do with less, against brute force on small cases."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import fidelitree as ft
import reference
from fidelitree import theory


def test_functions_of_small_trees_are_all_there() -> None:
    """Of all 256 functions of three bits, those whose best tree has depth 2 or less; a depth is that of any biases."""
    fair = [Fraction(1, 2)] * 3
    shallow = {f for f in itertools.product((0, 1), repeat=8) if reference.optima(f, fair).depth <= 2}
    assert {tuple(map(int, f)) for f in theory.functions_of(3, 2)} == shallow
    assert len(theory.functions_of(4, 0)) == 2
    with pytest.raises(ft.ParameterError, match="n must be at most 5 for all functions to be listed; got 6"):
        theory.functions_of(6, 2)


@pytest.mark.parametrize("epsilon", [0.02, 0.1, 0.2])
def test_a_packing_is_one(epsilon: float) -> None:
    functions = theory.functions_of(3, 2)
    count = theory.greedy_packing(functions, epsilon)
    assert 1 <= count <= len(functions)
    apart = (functions[:, None] != functions[None]).mean(axis=2) > 2 * epsilon
    best = 1  # no clique of trees that are far apart is larger than a colouring of the others allows
    left = list(range(len(functions)))
    taken: list[int] = []
    for one in left:
        if all(apart[one, other] for other in taken):
            taken.append(one)
    best = max(best, len(taken))
    assert count == best, "the greedy choice, in order"


def test_counted_parities_and_words_are_as_far_apart_as_is_said() -> None:
    bits = np.array(list(itertools.product((0, 1), repeat=5)))
    parities = [bits[:, some].sum(axis=1) % 2 for some in itertools.combinations(range(5), 3)]
    both = parities + [1 - one for one in parities]
    gaps = [np.mean(one != two) for one, two in itertools.combinations(both, 2)]
    assert min(gaps) == 0.5
    assert theory.packing_by_counting(5, 3, 0.1) == max(len(both), math.ceil(256 / 9))
    assert theory.packing_by_counting(3, 3, 0.1) == 29
    with pytest.raises(ft.ParameterError, match="depth must be at most n, 2; got 3"):
        theory.packing_by_counting(2, 3, 0.1)


def test_labels_of_tests_are_those_of_the_information_bound() -> None:
    assert theory.labels_to_test(0.1, 0.05) == pytest.approx(math.log(20) / -math.log(0.9))
    kl = 0.05 * math.log(0.5) + 0.95 * math.log(0.95 / 0.9)
    assert theory.labels_to_test(0.1, 0.05, 0.05) == pytest.approx(math.log(20) / kl)
    with pytest.raises(ft.ParameterError, match=r"error must be at least 0 and below epsilon, 0\.1; got 0\.2"):
        theory.labels_to_test(0.1, 0.05, 0.2)


def test_no_certificate_of_ours_beats_the_bound() -> None:
    """Trees of depth 2 over five bits: each run draws at least what anybody must; of 32 inputs many come again."""
    space = ft.ProductSpace.bernoulli(5)
    least = theory.label_lower_bound(5, 2, 0.1, 0.05)
    assert least == pytest.approx(28.43, abs=0.01)
    for seed in range(4):
        target = ft.targets.balanced(space, 2, seed).predict
        result = ft.learners.halving(target, space, 0.1, 0.05, seed)
        assert result.certificate.samples >= least
