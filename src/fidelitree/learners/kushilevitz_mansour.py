"""The large Fourier coefficients, found by queries; the sign of their sum is the hypothesis.

E. Kushilevitz, Y. Mansour, *Learning decision trees using the Fourier spectrum*, STOC 1991 (SIAM Journal on Computing
22, 1993). The coefficients of a tree of s leaves add up to at most s in absolute value, so those below epsilon/s can be
left out at the price of epsilon. Queries of the learner's own choice. Improper: it returns a function
(`LearntFunction`), which `certify` has tested.

Running time: poly(n, s, 1/epsilon); ``2 n`` queries for each of so many pairs, and 8/theta^4 pairs for coefficients of
theta, which is halved until held-out labels are content. Where its guarantee ends: fair bits (the authors'); for other
biases characters grow with 1/sqrt(p), and so does the number of pairs that would be needed. Here theta stops at 1/16,
and pairs at 2^14: the certificate tells what came of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fidelitree.learners.lesson import FIRST, Lesson
from fidelitree.learners.spectrum import Halves, Polynomial, Teach, coefficients, improper, labels_of, plus_minus, signs

if TYPE_CHECKING:
    from fidelitree.search.questions import Steps

_LEAST, _MOST_PAIRS = 1 / 16, 1 << 14


@improper
def kushilevitz_mansour(*, least: float = _LEAST) -> Teach:
    """The sign of the large coefficients' sum, certified as a function; ``least`` is the smallest to look for.

    >>> from fidelitree import ProductSpace
    >>> from fidelitree.targets import parity
    >>> found = kushilevitz_mansour(parity(20, 5), ProductSpace.bernoulli(20), 0.1)
    >>> print(found.function, found.certificate.holds)
    a polynomial of 1 term, degree 5 True
    """

    def steps(lesson: Lesson) -> Steps[Polynomial]:
        theta, rows = 0.5, FIRST
        while True:
            data, _ = yield from lesson.labels(rows)
            halves = yield from Halves.ask(lesson, min(_MOST_PAIRS, int(8 / theta**4)))
            data, last = yield from lesson.labels(max(rows, int(16 / theta**2)))  # labels that only halves have shown
            sets = halves.large(lambda bits, codes: signs(lesson, codes), theta)
            taught = data.growing
            values = plus_minus(data.codes)
            told = coefficients(values[taught], data.inner[taught], lesson.product.biases, sets)
            found = Polynomial(lesson.product, labels_of(lesson), told)
            if found.error(data) <= data.aim(lesson.epsilon) or theta <= least or last or lesson.late:
                return found
            theta /= 2

    return steps
