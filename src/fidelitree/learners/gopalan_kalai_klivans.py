"""The best polynomial of bounded spectral norm, by gradient steps that read large coefficients; for any target.

P. Gopalan, A. T. Kalai, A. R. Klivans, *Agnostically learning decision trees*, STOC 2008. Minimise E|f - g| over
polynomials g whose coefficients add up to at most ``norm`` in absolute value: a tree of s leaves has norm at most s. A
step adds the large coefficients of sign(f - g), found by the search of Kushilevitz and Mansour, and projects back. The
sign of the result, above the best threshold, is the hypothesis. Queries of the learner's own choice; all steps read the
same answers. Improper: it returns a function (`LearntFunction`), which `certify` has tested.

Running time: as for `kushilevitz_mansour`, times ``rounds``. Where its guarantee ends: for fair bits and poly(norm,
1/epsilon) queries the error is at most epsilon above that of the best tree of so many leaves, whatever the target is;
here there are 2^12 pairs and 32 rounds, and the norm is a number that you may give (16).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import check_count
from fidelitree.learners.spectrum import (
    Coefficients,
    Floats,
    Halves,
    Polynomial,
    Teach,
    check_two,
    coefficients,
    improper,
    labels_of,
    plus_minus,
    signs,
)

if TYPE_CHECKING:
    from fidelitree.learners.lesson import Lesson
    from fidelitree.search.questions import Steps

_LABELS, _PAIRS, _LEAST = 4_096, 1 << 12, 1 / 8


@improper
def gopalan_kalai_klivans(*, norm: int = 16, rounds: int = 32) -> Teach:
    """The sign of the best polynomial of bounded norm, certified as a function.

    >>> from fidelitree import ProductSpace
    >>> from fidelitree.targets import majority
    >>> found = gopalan_kalai_klivans(majority(3), ProductSpace.bernoulli(3), 0.1)
    >>> found.certificate.holds
    True
    """
    norm, rounds = check_count("norm", norm), check_count("rounds", rounds)

    def steps(lesson: Lesson) -> Steps[Polynomial]:
        data, _ = yield from lesson.labels(_LABELS)
        halves = yield from Halves.ask(lesson, _PAIRS)
        data, _ = yield from lesson.labels(_LABELS)
        check_two(lesson)
        space, values, taught = lesson.product, plus_minus(data.codes), data.growing
        best = found = Polynomial(space, labels_of(lesson), {})
        for number in range(rounds):
            lesson.watch()
            now = found

            def residue(bits: NDArray[np.uint8], codes: NDArray[np.intp], now: Polynomial = now) -> Floats:
                return np.sign(signs(lesson, codes) - now.values(bits))

            sets = halves.large(residue, _LEAST)
            left = np.sign(values - found.values(data.inner))[taught]
            step = coefficients(left, data.inner[taught], space.biases, sets)
            rate = 1 / np.sqrt(number + 1)
            moved = dict(found.coefficients)
            for some, value in step.items():
                moved[some] = moved.get(some, 0.0) + rate * value
            found = Polynomial(space, labels_of(lesson), projected(moved, norm))
            found = _thresholded(found, data.inner[taught], values[taught])
            best = min(best, found, key=lambda one: one.error(data))
            if best.error(data) <= data.aim(lesson.epsilon) or not sets:
                break
        return best

    return steps


def projected(told: Coefficients, norm: float) -> dict[tuple[int, ...], float]:
    """The nearest coefficients that add up to at most ``norm``: all are moved towards 0 by the same amount.

    >>> projected({(0,): 2.0, (1,): -1.0}, 2)
    {(0,): 1.5, (1,): -0.5}
    """
    sizes = np.sort(np.abs(list(told.values())))[::-1]
    if sizes.sum() <= norm:
        return {some: value for some, value in told.items() if value}
    excess = (np.cumsum(sizes) - norm) / np.arange(1, len(sizes) + 1)
    less = float(excess[np.flatnonzero(sizes > excess)[-1]])
    kept = {some: float(np.sign(value) * max(abs(value) - less, 0)) for some, value in told.items()}
    return {some: value for some, value in kept.items() if value}


def _thresholded(found: Polynomial, inner: NDArray[np.uint8], values: Floats) -> Polynomial:
    """With the threshold that has the fewest mistakes."""
    at = found.values(inner)
    order = np.argsort(at, kind="stable")
    # below a cut the first label is said: mistakes are +1 below and -1 above
    mistakes = np.concatenate([[0], np.cumsum(values[order])]) + (values < 0).sum()
    cut = int(mistakes.argmin())
    ends = np.concatenate([[at.min() - 1], at[order], [at.max() + 1]])
    return Polynomial(found.space, found.labels, found.coefficients, float(ends[cut] + ends[cut + 1]) / 2)
