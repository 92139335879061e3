"""Monotone targets from labels alone: the low-degree part of the spectrum over the bits that correlate.

R. O'Donnell, R. A. Servedio, *Learning monotone decision trees in polynomial time*, SIAM Journal on Computing 37
(2007). A monotone function with a tree of s leaves has total influence at most sqrt(log2 s) (of flips), and a bit's
influence is its correlation with the label. So almost all of its spectrum lies on few bits and at low degree: the
coefficients of all sets of up to ``degree`` bits that correlate are estimated, and the sign of their sum is the
hypothesis. Labelled inputs alone. Improper: it returns a function (`LearntFunction`), which `certify` has tested.

Running time: (bits that correlate)^degree for each label. Where its guarantee ends: monotone targets, fair bits (their
result holds for any constant product distribution), with a degree of O(sqrt(log s)/epsilon); here the degree is at
most 4 unless told, bits at most 24, and other targets may correlate with no bit at all.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from fidelitree.errors import check_count
from fidelitree.learners.lesson import FIRST, Lesson
from fidelitree.learners.spectrum import (
    Polynomial,
    Teach,
    characters,
    check_two,
    coefficients,
    improper,
    labels_of,
    plus_minus,
)

if TYPE_CHECKING:
    from fidelitree.search.questions import Steps

_MOST_BITS, _MOST_SETS, _DEVIATIONS = 24, 4_096, 3.0


@improper
def odonnell_servedio(*, degree: int = 4) -> Teach:
    """The sign of the low-degree part over bits that correlate, certified as a function.

    >>> from fidelitree import ProductSpace
    >>> from fidelitree.targets import tribes
    >>> odonnell_servedio(tribes(2, 2), ProductSpace.bernoulli(4), 0.1).certificate.holds
    True
    """
    degree = check_count("degree", degree)

    def steps(lesson: Lesson) -> Steps[Polynomial]:
        wanted = FIRST
        best = Polynomial(lesson.product, (), {})
        while True:
            lesson.watch()
            data, last = yield from lesson.labels(wanted)
            check_two(lesson)
            values, taught = plus_minus(data.codes), data.growing
            inner, biases = data.inner[taught], lesson.product.biases
            shares = np.abs((values[taught][:, None] * characters(inner, biases)).mean(axis=0))
            order = np.argsort(-shares, kind="stable")[:_MOST_BITS]
            bits = [int(i) for i in order if shares[i] > _DEVIATIONS / np.sqrt(len(inner))]
            sets = [()] + [some for size in range(1, degree + 1) for some in combinations(sorted(bits), size)]
            told = coefficients(values[taught], inner, biases, sets[:_MOST_SETS])
            noise = 1 / np.sqrt(len(inner))
            for size in range(1, degree + 1):
                kept = {some: c for some, c in told.items() if len(some) <= size and abs(c) > noise}
                found = Polynomial(lesson.product, labels_of(lesson), kept)
                if best.labels != found.labels or found.error(data) < best.error(data):
                    best = found
            if best.error(data) <= data.aim(lesson.epsilon) or last or lesson.late:
                return best
            wanted *= 2

    return steps
