"""The formulas of proofs/Statements.v, in fractions, and the functions that compute them in floats.

The machine checks the proofs of the formulas; that the library computes the same formulas is checked here.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fidelitree import theory
from fidelitree.theory import sequential

if TYPE_CHECKING:
    from collections.abc import Callable

    Moments = Callable[[int, int], Fraction]

PROOFS = Path(__file__).resolve().parents[2] / "proofs"
RATES = [Fraction(1, 100), Fraction(1, 20), Fraction(1, 10), Fraction(3, 10), Fraction(1, 2), Fraction(9, 10)]
COUNTS = [(errors, right) for errors in (0, 1, 2, 5, 12) for right in (0, 1, 3, 17, 60)]


def triangle(a: int, b: int) -> Fraction:
    return Fraction(2 * math.factorial(a) * math.factorial(b + 1), math.factorial(a + b + 2))


def even(a: int, b: int) -> Fraction:
    return Fraction(math.factorial(a) * math.factorial(b), math.factorial(a + b + 1))


def upper(a: int, b: int) -> Fraction:
    return Fraction(a == 0, 4) + Fraction(3, 4) * triangle(a, b)


def e_value(moments: Moments, epsilon: Fraction, errors: int, right: int) -> Fraction:
    """The e-value of the statements, by the recursion of ``bet``."""
    ratio = 1 / (1 - epsilon)

    @cache
    def bet(a: int, b: int, c: int) -> Fraction:
        return bet(a + 1, b, c - 1) + ratio * bet(a, b + 1, c - 1) if c else moments(a, b)

    return bet(errors, 0, right)


def integral(coefficients: dict[int, Fraction], top: Fraction) -> Fraction:
    """Of a polynomial over (0, top)."""
    return sum((c * top ** (i + 1) / (i + 1) for i, c in coefficients.items()), Fraction(0))


def likelihood(errors: int, right: int) -> dict[int, Fraction]:
    """q^errors (1 - q)^right as a polynomial in q."""
    return {errors + i: Fraction((-1) ** i * math.comb(right, i)) for i in range(right + 1)}


def log(number: Fraction) -> float:
    """Natural logarithm, from 40 digits."""
    with localcontext() as context:
        context.prec = 40
        return float((Decimal(number.numerator) / Decimal(number.denominator)).ln())


@pytest.mark.parametrize("epsilon", RATES)
@pytest.mark.parametrize(("errors", "right"), COUNTS)
def test_log_e_value_is_the_proved_one(errors: int, right: int, epsilon: Fraction) -> None:
    proved = e_value(upper, epsilon, errors, right)
    assert sequential.log_e_value(errors, errors + right, float(epsilon)) == pytest.approx(log(proved), abs=1e-9)


@pytest.mark.parametrize("epsilon", RATES)
@pytest.mark.parametrize(("errors", "right"), COUNTS)
def test_its_lower_twin_is_the_proved_one_with_errors_and_right_answers_exchanged(
    errors: int, right: int, epsilon: Fraction
) -> None:
    proved = e_value(even, 1 - epsilon, right, errors)
    assert sequential.log_e_value_below(errors, errors + right, float(epsilon)) == pytest.approx(log(proved), abs=1e-9)


@pytest.mark.parametrize(("errors", "right"), [(0, 0), (0, 5), (1, 0), (2, 7), (5, 12)])
@pytest.mark.parametrize("epsilon", RATES)
def test_e_values_are_the_integrals_of_the_statement(errors: int, right: int, epsilon: Fraction) -> None:
    at_epsilon = epsilon**errors * (1 - epsilon) ** right
    plain = likelihood(errors, right)
    shifted = {i + 1: c for i, c in plain.items()}
    spread = 2 / epsilon * (integral(plain, epsilon) - integral(shifted, epsilon) / epsilon)
    assert e_value(upper, epsilon, errors, right) * at_epsilon == Fraction(errors == 0, 4) + Fraction(3, 4) * spread
    assert e_value(even, epsilon, errors, right) * at_epsilon == integral(plain, epsilon) / epsilon


@pytest.mark.parametrize("epsilon", [Fraction(1, 20), Fraction(1, 10), Fraction(3, 10)])
@pytest.mark.parametrize("level", [Fraction(1, 20), Fraction(3, 100)])
@pytest.mark.parametrize("errors", [0, 1, 3])
def test_samples_needed_is_where_the_proved_rule_first_accepts(errors: int, epsilon: Fraction, level: Fraction) -> None:
    needed = sequential.samples_needed(errors, float(epsilon), float(level))
    assert level * e_value(upper, epsilon, errors, needed - errors) >= 1
    assert level * e_value(upper, epsilon, errors, needed - errors - 1) < 1


def test_an_opener_that_counts_certifies_falsely_with_chance_3_in_8() -> None:
    """The game of proofs/Opener.v: a fair coin, level 1/4, all of the bet on error 0, three inputs."""

    def false_bound(answers: tuple[bool, ...], counted: int) -> bool:
        opened = answers.index(True) + 1 if True in answers else len(answers)
        seen = [answers[opened - counted : end] for end in range(opened, len(answers) + 1)]
        return any(all(run) and Fraction(1, 4) * (1 / (1 - Fraction(1, 2))) ** len(run) >= 1 for run in seen)

    chances = [
        sum(Fraction(false_bound(a, counted), 8) for a in product((True, False), repeat=3)) for counted in (0, 1)
    ]
    assert chances == [Fraction(1, 8), Fraction(3, 8)]


SIZES = [
    (Fraction(inf), Fraction(depth), Fraction(star), Fraction(eps), Fraction(kappa))
    for inf, depth, star in [("1/2", 4, 3), ("3/10", 4, 3), ("1/50", 7, 2), (2, 9, "9/2"), ("7/4", 3, "5/2")]
    for eps in ("1/10", "1/4", "1/100")
    for kappa in (1, "1/4")
]


@pytest.mark.parametrize(("influence", "depth", "star", "epsilon", "kappa"), SIZES)
def test_form_1_is_the_proved_one(
    influence: Fraction, depth: Fraction, star: Fraction, epsilon: Fraction, kappa: Fraction
) -> None:
    ratio, exponent = influence / (epsilon * depth), depth * star / kappa
    proved = float(exponent) * (1 + log(ratio)) if ratio >= 1 else float(exponent * ratio)
    ours = theory.log_size_corrected_by_influence(*map(float, (influence, depth, star, epsilon, kappa)))
    assert ours == pytest.approx(proved, rel=1e-12)


@pytest.mark.parametrize("labels", [2, 3, 10])
@pytest.mark.parametrize(("influence", "depth", "average", "epsilon", "kappa"), SIZES)
def test_forms_2_and_3_are_the_proved_ones(
    influence: Fraction, depth: Fraction, average: Fraction, epsilon: Fraction, kappa: Fraction, labels: int
) -> None:
    two = 2 if labels <= 2 else 1
    second = influence * average / (two * kappa * epsilon**2)
    floats = float(epsilon), float(kappa)
    ours = theory.log_size_corrected_without_depth(float(influence), float(average), *floats, labels=labels)
    assert ours == pytest.approx(float(second), rel=1e-12)
    effective = min(depth, average / (two * epsilon))
    third = float(effective**2 / kappa) * (1 + log(average / (two * epsilon * effective)))
    assert theory.log_size_corrected_by_depths(float(depth), float(average), *floats, labels=labels) == pytest.approx(
        third, rel=1e-12
    )


def test_influence_cap_and_score_floors_are_the_proved_ones() -> None:
    leaves, error, cost, depth, average, star = 7, Fraction(1, 8), Fraction(2, 3), 5, Fraction(7, 3), Fraction(13, 4)
    assert theory.influence_cap_corrected(float(average), 3) == pytest.approx(float((1 - Fraction(1, 3)) * average))
    floor = max(error / (leaves * star), 2 * error**2 / (leaves * average))
    ours = theory.score_floor_lemma_4_4_corrected(leaves, float(error), float(average), float(star))
    assert ours == pytest.approx(float(floor), rel=1e-12)
    floor = max(cost / (leaves * depth * star), 2 * cost**2 / (leaves * depth**2 * average))
    ours = theory.score_floor_lemma_4_5_corrected(leaves, float(cost), depth, float(average), float(star))
    assert ours == pytest.approx(float(floor), rel=1e-12)


def test_statements_are_short_and_without_proofs_and_every_theorem_is_listed_without_axioms() -> None:
    files = {file.name: file.read_text(encoding="utf-8") for file in PROOFS.glob("*.v")}
    assert len(files["Statements.v"].splitlines()) <= 150
    assert not re.search(r"(?m)^ *(Proof|Lemma|Theorem|Axiom|Hypothes|Parameter)", files["Statements.v"])
    assert sum(len(text.splitlines()) for text in files.values()) <= 2000
    assert not any(re.search(r"\b(Admitted|admit|Axiom|Parameter)\b", text) for text in files.values())
    asked = re.findall(r"Print Assumptions (\w+)\.", files["Check.v"])
    axioms = (PROOFS / "axioms.txt").read_text(encoding="utf-8")
    printed = re.findall(r"(?m)^(?:Closed under the global context|Axioms:)$", axioms)
    resting = [name for name, said in zip(asked, printed, strict=True) if said == "Axioms:"]
    assert resting == ["real_logarithm", "real_sizes"]
