"""The paper's false statements, each with its smallest counter-example, in exact fractions.

The large counter-examples (THEORY's selector-parity family) cannot be run. For them: the closed forms are compared with
brute force on small members, Algorithm 1's order is watched on members of up to 14 bits, and the inequality chain is
followed in fractions. Logarithms come from ``decimal`` with 50 digits, which rounds correctly.
"""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

import reference
from fidelitree import theory
from fidelitree.experiments.errata import checks
from reference import SelectorParity

if TYPE_CHECKING:
    from collections.abc import Iterator

HALF = Fraction(1, 2)
DICTATOR = (0, 1)
NOR_2 = (1, 0, 0, 0)
AND_3 = (0, 0, 0, 0, 0, 0, 0, 1)
XOR_2 = (0, 1, 1, 0)

FIRST = SelectorParity(21, 100, 5, Fraction(131, 100_000))  # Theorem 1.1, n = 2201
SMALLEST = SelectorParity(12, 44, 4, Fraction(398, 100_000))  # Theorem 1.1, n = 573
GADGET_27 = SelectorParity(4, 5, 2, Fraction(1, 1_000))  # Lemma 4.5
SLOW = SelectorParity(160, 160, 5, Fraction(1, 1_000))  # Lemma 4.6


@pytest.fixture(autouse=True)
def fifty_digits() -> Iterator[None]:
    with localcontext() as context:
        context.prec = 50
        yield


def decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def ln(x: Fraction) -> Decimal:
    return decimal(x).ln()


# --- small ones ------------------------------------------------------------------------------------------------------


def test_c_1_is_off_by_a_factor_of_two() -> None:
    p = [HALF]
    best = reference.optima(DICTATOR, p)
    assert reference.influence(DICTATOR, p, 0) == HALF
    assert reference.variance(DICTATOR, p) / best.average_depth == 1
    assert reference.gini(DICTATOR, p) / best.average_depth == HALF  # the corrected floor is attained
    assert theory.influence_floor_lemma_c_1_printed(1, 1) == 1
    assert theory.influence_floor_lemma_c_1_corrected(1, 1) == 0.5


def test_a_leaf_can_have_a_larger_best_average_depth_than_the_whole() -> None:
    p = [Fraction(1, 10), Fraction(9, 10), Fraction(9, 10)]
    best = reference.optima(AND_3, p)
    leaf = reference.optima(AND_3[1::2], p[1:])  # x0 = 1
    assert best.average_depth == Fraction(119, 100)
    assert leaf.average_depth == best.largest_average_depth == Fraction(190, 100)
    constant = reference.optima(AND_3[0::2], p[1:])
    assert p[0] * leaf.average_depth + (1 - p[0]) * constant.average_depth <= best.average_depth


def test_lemma_4_4_fails_at_the_first_step() -> None:
    epsilon = Fraction(3, 10)
    (step,) = reference.build_top_down(DICTATOR, [HALF], epsilon)
    best = reference.optima(DICTATOR, [HALF])
    assert step.error == HALF > epsilon
    assert step.score == HALF < 2 * epsilon / best.average_depth == Fraction(6, 10)
    assert step.score >= max(epsilon / best.largest_average_depth, 2 * epsilon**2 / best.average_depth)
    assert theory.score_floor_lemma_4_4_printed(1, 0.3, 1) == 0.6
    assert theory.score_floor_lemma_4_4_corrected(1, 0.3, 1, 1) == 0.3


def test_lemma_4_4_fails_without_its_2_on_four_bits() -> None:
    """x0 AND NOR(x1, x2, x3): no reading of the factor 2 escapes."""
    f = tuple(int(x == 1) for x in range(16))
    p = [Fraction(1, 20), *[Fraction(1, 5)] * 3]
    best = reference.optima(f, p)
    first, second, *_ = reference.build_top_down(f, p)
    assert (first.feature, second.leaf) == (0, (1, None, None, None))
    assert (second.error, second.score) == (Fraction(244, 10_000), Fraction(1024, 100_000))
    assert best.average_depth == Fraction(1122, 1000)
    assert second.score < second.error / (2 * best.average_depth)
    assert second.score >= second.error / (2 * best.largest_average_depth)


def test_lemma_4_4_without_its_2_holds_on_up_to_three_bits() -> None:
    """By brute force over a grid of biases of its own; the library's grid is finer."""
    for n in (1, 2, 3):
        for p in itertools.product([Fraction(1, 20), Fraction(1, 3), Fraction(4, 5)], repeat=n):
            for number in range(0, 2 ** (2**n), 1 if n < 3 else 37):
                f = tuple(number >> x & 1 for x in range(2**n))
                average = reference.optima(f, list(p)).average_depth
                for j, step in enumerate(reference.build_top_down(f, list(p)), 1):
                    assert step.score >= step.error / (j * average)


def test_theorem_1_1_holds_for_full_binary_targets_and_fair_paths() -> None:
    """Delta* is Delta in both regimes that the paper highlights: full trees under any biases, paths under fair bits."""
    for p in [(HALF, HALF, HALF), (Fraction(1, 20), HALF, Fraction(4, 5)), (Fraction(1, 3),) * 3]:
        for number in range(0, 256, 5):
            f = tuple(number >> x & 1 for x in range(8))
            best = reference.optima(f, list(p))
            assert best.depth != best.average_depth or best.largest_average_depth == best.average_depth
    for number in checks.path_functions(3)[::4]:
        f = tuple(number >> x & 1 for x in range(8))
        assert reference.optima(f, [HALF] * 3).largest_average_depth <= Fraction(7, 4)


def test_lemma_4_7_fails_on_45_bits_with_the_maximum_of_lemma_4_6() -> None:
    member = SelectorParity(4, 8, 4, Fraction(1, 1_000))
    epsilon = member.eta * Fraction(28, 100)
    assert (member.n, member.depth, round(float(member.average_depth), 4)) == (45, 21, 1.0158)
    assert member.reads_blocks_first
    assert member.eta * member.error_after_blocks > epsilon
    influence = member.eta * (1 - member.eta) + member.eta * member.inner_influence
    assert influence <= epsilon * member.depth  # so J_1 = 0, read as 1
    assert greedy_is_larger_than(member, member.depth * decimal(member.average_depth))
    assert round(member.k * member.r * Decimal(2).ln(), 2) == Decimal("22.18")
    assert round(member.depth * decimal(member.average_depth), 2) == Decimal("21.33")


def test_no_constant_in_the_exponent_repairs_the_printed_bounds() -> None:
    """On F(r, 5r, 5, 1/(10r)) the least size over the printed exponent grows with r, so it passes every constant."""
    ratios = []
    for r in (75, 150, 300):
        member, epsilon = growing(r), growing(r).eta / 10
        assert member.reads_blocks_first
        assert member.average_depth < Fraction(176, 100)
        assert member.depth == 10 * r - 4
        exponent = member.depth * decimal(member.average_depth)
        printed = (exponent * printed_base(member, epsilon), exponent * (1 + ln(1 / epsilon)))
        ratios.append([5 * r * r * Decimal(2).ln() / bound for bound in printed])
    for one, two in itertools.pairwise(ratios):
        assert two[0] > Decimal("1.9") * one[0]  # r^2 over r
        assert two[1] > Decimal("1.7") * one[1]  # r^2 over r log r


def test_lemma_4_7_fails_when_the_first_phase_is_empty() -> None:
    p, epsilon = [Fraction(3, 10)] * 2, Fraction(3, 10)
    depth = reference.optima(NOR_2, p).depth
    assert reference.total_influence(NOR_2, p) == Fraction(588, 1000) <= epsilon * depth  # so J_1 = 0
    steps = reference.build_top_down(NOR_2, p, epsilon)
    assert len(steps) == 1 > 0 * math.exp(depth)
    star = float(reference.optima(NOR_2, p).largest_average_depth)
    assert theory.log_steps_lemma_4_7_printed(0, float(depth), star) == -math.inf
    assert math.log(len(steps)) < theory.log_steps_lemma_4_7_corrected(0, float(depth), star)


def test_proof_of_lemma_4_1_has_twice_the_influence_of_one_bit() -> None:
    p = Fraction(1, 5)
    assert reference.total_influence(DICTATOR, [p]) == 2 * p * (1 - p) != 4 * p * (1 - p)


def test_lemma_5_2_is_lost_when_the_leaf_was_chosen_from_the_same_pairs() -> None:
    """One pair a feature on the fair x0 XOR x1. Where x0 wins, the estimate of (x0 = 0, x1) averages 1/6, not 1/4."""
    p = [HALF, HALF]
    leaf = (0, None)
    score = reference.mass(p, leaf) * reference.influence(XOR_2, p, 1, leaf)
    pairs = list(itertools.product(range(4), (0, 1)))  # an input, and the value drawn again: all equally likely

    def changed(i: int, x: int, again: int) -> bool:
        return XOR_2[x] != XOR_2[x & ~(1 << i) | again << i]

    def estimate(x: int, again: int) -> bool:
        return changed(1, x, again) and not x & 1

    fixed = Fraction(sum(estimate(*pair) for pair in pairs), len(pairs))
    chosen = [second for first in pairs for second in pairs if changed(0, *first) >= changed(1, *second)]
    assert fixed == score == Fraction(1, 4)
    assert Fraction(sum(estimate(*pair) for pair in chosen), len(chosen)) == Fraction(1, 6)


# --- true and tight --------------------------------------------------------------------------------------------------


def test_fair_dictator_attains_both_halves_of_lemma_4_2() -> None:
    p = [HALF]
    best = reference.optima(DICTATOR, p)
    assert reference.total_influence(DICTATOR, p) == best.depth * reference.gini(DICTATOR, p)
    assert reference.total_influence(DICTATOR, p) == best.average_depth / 2
    assert theory.influence_cap_corrected(1) == 0.5


@pytest.mark.parametrize("n", [2, 3, 4])
def test_fair_parity_attains_lemma_4_2_too(n: int) -> None:
    parity = tuple(x.bit_count() % 2 for x in range(2**n))
    p = [HALF] * n
    best = reference.optima(parity, p)
    assert best.depth == best.average_depth == n
    assert reference.total_influence(parity, p) == best.average_depth / 2 == best.depth * reference.gini(parity, p)


def test_biased_dictator_attains_gini_at_most_influence_and_c_2() -> None:
    p = [Fraction(1, 5)]
    assert reference.gini(DICTATOR, p) == reference.total_influence(DICTATOR, p)
    assert reference.influence(DICTATOR, [HALF], 0) == reference.gini(DICTATOR, [HALF]) == HALF


# --- the family: closed forms and order, on members that can be run --------------------------------------------------

SMALL = [(2, 1, 3), (2, 2, 3), (2, 3, 3), (3, 1, 4), (2, 3, 5)]


def selectors(member: SelectorParity) -> range:
    return range(1, 1 + member.s * (member.r - 1))


@pytest.mark.parametrize("shape", [(2, 1, 3), (2, 2, 3), (3, 1, 2)], ids=str)
def test_closed_forms_of_the_family_agree_with_brute_force(shape: tuple[int, int, int]) -> None:
    member = SelectorParity(*shape, Fraction(1, 10))
    f, p = member.table, member.biases
    inner = reference.restrict(reference.whole(p), 0, 1)
    assert len(p) == member.n
    assert reference.total_influence(f, p, inner) == member.inner_influence
    influences = [reference.influence(f, p, i, inner) for i in range(member.n)]
    assert [influences[i] * 2 for i in selectors(member)] == [c for c in member.selector_caps for _ in range(member.s)]
    assert influences[selectors(member).stop :] == [w / 2 for w in member.weights for _ in range(member.k)]
    assert reference.influence(f, p, 0) == member.eta * (1 - member.eta)

    def read(x: int) -> int:  # by the tree that takes x0, the selectors in order, then the block
        values = [reference.value(x, i) for i in selectors(member)]
        return 1 + reference.value(x, 0) * ([*values, 1].index(1) + (1 in values) + member.k)

    depths = [(read(x), w) for x, w in reference.inputs(p, reference.whole(p))]
    assert max(depth for depth, _ in depths) == member.depth
    assert sum(w * depth for depth, w in depths) == member.average_depth


@pytest.mark.parametrize("shape", SMALL, ids=str)
def test_algorithm_1_reads_all_blocks_before_any_selector(shape: tuple[int, int, int]) -> None:
    member = SelectorParity(*shape, Fraction(1, 10))
    epsilon = member.eta * member.error_after_blocks * Fraction(99, 100)
    steps = reference.build_top_down(member.table, member.biases, epsilon)
    first = next(t for t, step in enumerate(steps) if step.feature in selectors(member))
    assert member.reads_blocks_first
    assert steps[0].feature == 0
    assert first + 1 == 2 ** (member.k * member.r) + 1  # leaves at that moment
    assert steps[first].error == member.eta * member.error_after_blocks


def test_algorithm_1_reads_all_blocks_first_with_14_bits() -> None:
    member = SelectorParity(2, 5, 3, Fraction(1, 10))
    assert member.n == 14
    epsilon = float(member.eta * member.error_after_blocks) * 0.99
    steps = reference.build_top_down(member.table, [float(p) for p in member.biases], epsilon)
    assert next(t for t, step in enumerate(steps) if step.feature in selectors(member)) == 2**10


def test_in_every_leaf_of_block_bits_the_influences_are_those_of_the_chain() -> None:
    member = SelectorParity(2, 2, 3, Fraction(1, 10))
    f, p = member.table, member.biases
    for step in reference.build_top_down(f, p, member.eta * member.error_after_blocks):
        if step.leaf[0] is None or any(step.leaf[i] is not None for i in selectors(member)):
            continue
        for i in reference.free(step.leaf):
            influence = reference.influence(f, p, i, step.leaf)
            if i in selectors(member):
                assert influence <= member.selector_caps[(i - 1) // member.s]
            else:
                assert influence == member.weights[(i - selectors(member).stop) // member.k] / 2


def test_with_two_selectors_the_order_is_lost() -> None:
    """What THEORY warns of: the condition on the selectors' influence is needed."""
    member = SelectorParity(3, 1, 2, Fraction(1, 10))
    steps = reference.build_top_down(member.table, member.biases)
    assert not member.reads_blocks_first
    assert next(t for t, step in enumerate(steps) if step.feature in selectors(member)) < 2**3


def test_cauchy_and_schwarz_bound_the_error_from_below() -> None:
    for shape in (*SMALL, (12, 1, 4)):
        member = SelectorParity(*shape, HALF)
        assert member.error_after_blocks_at_least <= member.error_after_blocks


# --- the family: the chains that nobody can run ----------------------------------------------------------------------


def test_lemma_4_5_fails_on_27_bits() -> None:
    """After x0 there are j = 2 leaves, one of them constant; the cost is eta times the inner influence."""
    member = GADGET_27
    assert (member.n, member.depth) == (27, 12)
    best = max(*member.weights, *member.selector_caps) / 2  # nothing but x0 was read
    score, cost = member.eta * best, member.eta * member.inner_influence
    printed = cost / (2 * member.depth * member.average_depth)
    assert score < printed
    assert Fraction(1_001, 1_000) < printed / score < Fraction(1_002, 1_000)
    assert float(score) < theory.score_floor_lemma_4_5_printed(2, float(cost), 12, float(member.average_depth))


def exceeds_log(blocks: int, member: SelectorParity, base: Fraction, factor: int = 1) -> bool:
    """Whether 2^blocks > base^(factor D Delta), by logarithms."""
    exponent = factor * member.depth * decimal(member.average_depth)
    return blocks * Decimal(2).ln() > exponent * ln(base) + Decimal("1e-30")


def test_lemma_4_6_fails_on_the_family() -> None:
    """While Y bits only are read, cost >= (eta/2)(k - max w x average depth read), and 2^average depth <= leaves."""
    member, epsilon = SLOW, SLOW.eta / 100
    assert member.reads_blocks_first
    target_cost = epsilon * member.depth / member.eta
    bits = (member.k - 2 * target_cost) / max(member.weights)  # to be read on average before the cost is that small
    assert bits < member.k * member.r
    assert exceeds_log(math.floor(bits), member, member.average_depth / (epsilon * member.depth))


def printed_base(member: SelectorParity, epsilon: Fraction) -> Decimal:
    """Logarithm of e Delta/(epsilon D), which is more than e in all the cases here."""
    ratio = member.average_depth / (epsilon * member.depth)
    assert ratio > 1
    return 1 + ln(ratio)


def greedy_is_larger_than(member: SelectorParity, log_size: Decimal) -> bool:
    return member.k * member.r * Decimal(2).ln() > log_size


def test_theorem_1_1_fails_on_2201_bits() -> None:
    member, epsilon = FIRST, FIRST.eta / 10
    assert (member.n, member.depth, round(float(member.average_depth), 4)) == (2201, 201, 1.2001)
    assert member.reads_blocks_first
    # error >= eta (1 - sqrt(sum w^2))/2 > epsilon = eta/10, without the root
    assert sum(w * w for w in member.weights) < Fraction(8, 10) ** 2
    printed = member.depth * decimal(member.average_depth) * printed_base(member, epsilon)
    assert greedy_is_larger_than(member, printed)
    assert round(printed, 2) == Decimal("1162.58")
    assert round(member.k * member.r * Decimal(2).ln(), 1) == Decimal("1455.6")


def test_the_first_and_blunter_chain_of_2201_bits() -> None:
    """beta = fewest blocks with (1 - their weight)/2 <= epsilon/eta; ln size >= (k beta - 1) ln 2."""
    heaviest = sorted(FIRST.weights, reverse=True)
    beta = next(b for b in range(FIRST.r) if (1 - sum(heaviest[:b])) / 2 <= Fraction(1, 10))
    assert beta == 17
    assert round((FIRST.k * beta - 1) * Decimal(2).ln(), 2) == Decimal("1177.66")


def test_theorem_1_1_fails_on_573_bits() -> None:
    member = SMALLEST
    epsilon = member.eta * Fraction(387, 1_000)
    assert (member.n, member.depth) == (573, 89)
    assert member.reads_blocks_first
    assert member.eta * member.error_after_blocks > epsilon
    printed = member.depth * decimal(member.average_depth) * printed_base(member, epsilon)
    assert greedy_is_larger_than(member, printed)
    assert round(member.k * member.r * Decimal(2).ln(), 2) == Decimal("365.98")
    assert 365 < printed < Decimal("365.31")


def growing(r: int) -> SelectorParity:
    return SelectorParity(r, 5 * r, 5, Fraction(1, 10 * r))


def test_theorem_5_1_fails_on_the_family() -> None:
    """Algorithm 1 itself picks splits within 1/4 of the best, so its size must obey Theorem 5.1 too."""

    def violated(r: int) -> bool:
        member, epsilon = growing(r), growing(r).eta / 10
        assert member.reads_blocks_first
        assert sum(w * w for w in member.weights) < Fraction(8, 10) ** 2
        exponent = 4 * member.depth * decimal(member.average_depth)
        return greedy_is_larger_than(member, exponent * printed_base(member, epsilon))

    assert not violated(77)
    assert violated(78)
    assert violated(120)


def test_abstract_fails_on_the_family() -> None:
    def violated(r: int) -> bool:
        member, epsilon = growing(r), growing(r).eta / 10
        assert member.reads_blocks_first
        assert sum(w * w for w in member.weights) < Fraction(8, 10) ** 2
        printed = member.depth * decimal(member.average_depth) * (1 + ln(1 / epsilon))
        return greedy_is_larger_than(member, printed)

    assert not violated(47)
    assert violated(48)
    assert violated(60)


@pytest.mark.parametrize(
    ("member", "ratio"),
    [(FIRST, Fraction(1, 10)), (SMALLEST, Fraction(387, 1_000)), (growing(78), Fraction(1, 10))],
    ids=lambda item: f"n={item.n}" if isinstance(item, SelectorParity) else "",
)
def test_corrected_forms_allow_what_the_family_does(member: SelectorParity, ratio: Fraction) -> None:
    """With depths no larger than the best ones: Lemma 4.2 says Delta >= 2 Inf, for the whole and inside x0 = 1."""
    influence = float(member.eta * (1 - member.eta + member.inner_influence))
    star = depth = float(2 * member.inner_influence)
    epsilon, average = float(member.eta * ratio), 2 * influence
    size = member.k * member.r * math.log(2)
    assert size < theory.log_size_corrected_by_influence(influence, depth, star, epsilon)
    assert size < theory.log_size_corrected_without_depth(influence, average, epsilon)
    assert size < theory.log_size_corrected_by_depths(depth, average, epsilon)


# --- run time --------------------------------------------------------------------------------------------------------


def test_run_time_is_not_linear_in_the_number_of_features() -> None:
    """The paper's O(J log J n log n log(1/delta)/epsilon^2) samples: what is drawn over that is not bounded."""
    j, epsilon, delta = 16, 0.1, 0.1

    def over(n: int) -> float:
        claimed = j * math.log(j) * n * math.log(n) * math.log(1 / delta) / epsilon**2
        return n * theory.score_pairs(j, delta, epsilon, n) / claimed

    for n in (10**2, 10**4, 10**6, 10**8):
        assert over(100 * n) > 50 * over(n)


@pytest.mark.parametrize("epsilon", [0.3, 0.01, 1e-6])
@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-200])
def test_corrected_run_time_is_right_up_to_a_constant(epsilon: float, delta: float) -> None:
    for j, n in itertools.product((1, 16, 10**4), (1, 20, 10**5)):
        corrected = j * n**2 * math.log(j * n / delta) / epsilon + (j + math.log(1 / delta)) / epsilon**2
        assert 24 < theory.queries_of_schedule(j, n, epsilon, delta) / corrected < 400
