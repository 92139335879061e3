"""Fourier coefficients of a target of bits, the ones that are large, and polynomials as hypotheses.

Over bits of bias p_i the characters are products of (x_i - p_i)/sqrt(p_i (1 - p_i)); for fair bits these are parities.
A target of two labels is +1 and -1. What is learnt here is the sign of a polynomial: a function, not a tree. It is
certified as any predictor is, by `certify`, which draws inputs that nobody could foresee.

`large` is the search of E. Kushilevitz and Y. Mansour (1991): the weight of all sets that agree with a prefix on the
first k features is E[f(y x) f(z x) chi(y) chi(z)], where y and z are two beginnings and x is one end. So prefixes whose
weight is small are given up, and few are left. The same inputs serve all prefixes of one length, and any function of
the label besides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import update_wrapper
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import BudgetSpent
from fidelitree.errors import ParameterError
from fidelitree.learners.lesson import Lesson, check_bits
from fidelitree.runs.agree.audit import certify
from fidelitree.search.questions import Ask, Steps
from fidelitree.spaces.draw import Stream, draw

if TYPE_CHECKING:
    from fidelitree.certificates.certificate import Certificate
    from fidelitree.search.labelled import Labelled
    from fidelitree.spaces.product import ProductSpace

Floats = NDArray[np.float64]
Coefficients = Mapping[tuple[int, ...], float]
_MOST_PREFIXES = 512


@dataclass(frozen=True)
class Polynomial:
    """The sign of a polynomial over characters, above a threshold: the second of two labels, else the first.

    >>> from fidelitree import ProductSpace
    >>> parity = Polynomial(ProductSpace.bernoulli(3), (0, 1), {(0, 1): 1.0})
    >>> parity.predict(np.array([[0, 1, 1], [1, 1, 0]])).tolist(), str(parity)
    ([0, 1], 'a polynomial of 1 term, degree 2')
    """

    space: ProductSpace
    labels: tuple[Any, ...]
    coefficients: Coefficients
    threshold: float = 0.0

    @property
    def degree(self) -> int:
        """Of the largest term."""
        return max(map(len, self.coefficients), default=0)

    def values(self, bits: NDArray[Any]) -> Floats:
        """The polynomial at some inputs."""
        told = characters(bits, self.space.biases)
        total = np.zeros(len(bits))
        for some, coefficient in self.coefficients.items():
            total += coefficient * told[:, list(some)].prod(axis=1)
        return total

    def predict(self, bits: NDArray[Any]) -> NDArray[Any]:
        """Labels of inputs, rows by features."""
        if len(self.labels) == 1:
            return np.full(len(bits), self.labels[0])
        return np.array(self.labels)[(self.values(np.asarray(bits)) > self.threshold).astype(np.intp)]

    def error(self, data: Labelled) -> float:
        """The share of the judging rows' weight that it gets wrong."""
        rows = data.judging
        wrong = self.predict(data.inner[rows]) != np.array(data.labels)[data.codes[rows]]
        return float(data.weights[rows][wrong].sum() / data.weights[rows].sum())

    def __str__(self) -> str:
        terms = len(self.coefficients)
        return f"a polynomial of {terms:,} term{'s' * (terms != 1)}, degree {self.degree}"


@dataclass(frozen=True)
class LearntFunction:
    """What an improper learner returns: a function, not a tree, and the certificate of an audit.

    ``queries`` are labels by purpose, those of the audit included; ``predict`` labels inputs.
    """

    function: Polynomial
    certificate: Certificate
    queries: Mapping[str, int]
    reason: str

    def predict(self, bits: NDArray[Any]) -> NDArray[Any]:
        """Labels of inputs."""
        return self.function.predict(bits)


Teach = Callable[[Lesson], Steps[Polynomial]]


def improper(teach: Callable[..., Teach]) -> Callable[..., LearntFunction]:
    """What a learner of functions does with a lesson, as a function of a target, like `learner`."""

    def learn(
        target: Any, space: Any, epsilon: float = 0.05, delta: float = 0.05, seed: int | None = None, **options: Any
    ) -> LearntFunction:
        own = {name: options.pop(name) for name in list(options) if name in (teach.__kwdefaults__ or {})}
        steps = teach(**own)
        lesson = Lesson.begin(target, space, (epsilon, delta, seed), options)
        check_bits(lesson.space)
        try:
            found, reason = lesson.session.run(steps(lesson)), "learnt"
        except BudgetSpent as stop:
            if not lesson.counted.book.seen:
                raise ParameterError("max_queries and max_seconds must allow some labels; there were none") from None
            found, reason = Polynomial(lesson.product, (lesson.counted.book.seen[0],), {}), str(stop)
        left = lesson.counted.left
        most = None if left is None else max(1, left)
        certificate = certify(found, target, space, epsilon, delta, seed=seed, max_queries=most)
        spent = dict(lesson.counted.queries.asked)
        spent["certify"] = spent.get("certify", 0) + sum(certificate.queries.values())
        return LearntFunction(found, certificate, spent, reason)

    update_wrapper(learn, teach, ("__module__", "__name__", "__qualname__", "__doc__"))
    del learn.__wrapped__  # type: ignore[attr-defined]  # its signature is not that of the function behind it
    return learn


def characters(bits: NDArray[Any], biases: Floats) -> Floats:
    """The character of each feature at each input; 0 where a bit never changes."""
    spread = np.sqrt(biases * (1 - biases))
    return np.asarray(np.where(spread > 0, (bits - biases) / np.where(spread > 0, spread, 1), 0))


def signs(lesson: Lesson, codes: NDArray[np.intp]) -> Floats:
    """Labels as -1 and +1, in the order of the labels; a third label is refused."""
    check_two(lesson)
    ranks = np.array(lesson.counted.book.ranks(), np.intp)
    return plus_minus(ranks[codes])


def check_two(lesson: Lesson) -> None:
    """Refuse more than two labels."""
    labels = len(lesson.counted.book.seen)
    if labels > 2:
        raise ParameterError(f"target must have at most two labels for this learner; got {labels}")


def plus_minus(ranks: NDArray[np.intp]) -> Floats:
    """Places among two labels as -1 and +1."""
    return np.where(ranks == 1, 1.0, -1.0)


def labels_of(lesson: Lesson) -> tuple[Any, ...]:
    """The labels seen, in order."""
    return tuple(lesson.counted.book.sorted())


@dataclass(frozen=True)
class Halves:
    """For each k two inputs that agree from feature k on, and their labels: what the search reads."""

    biases: Floats
    pairs: tuple[tuple[NDArray[Any], NDArray[Any]], ...]
    codes: tuple[tuple[NDArray[np.intp], NDArray[np.intp]], ...]

    @classmethod
    def ask(cls, lesson: Lesson, rows: int) -> Steps[Halves]:
        """So many pairs for each k."""
        n, whole = len(lesson.product), lesson.product.whole
        stream = Stream.named(lesson.goal.seed, "grow").child("halves", rows)
        pairs, codes = [], []
        for k in range(1, n + 1):
            one, two = (np.ascontiguousarray(draw(whole, stream.child(k, side), 0, rows).T) for side in range(2))
            two[:, k:] = one[:, k:]
            answered = yield Ask(np.concatenate([one, two]), "grow")
            pairs.append((one, two))
            codes.append((answered.codes[:rows], answered.codes[rows:]))
        return cls(lesson.product.biases, tuple(pairs), tuple(codes))

    def large(self, value: Callable[[NDArray[Any], NDArray[np.intp]], Floats], least: float) -> list[tuple[int, ...]]:
        """Sets whose coefficient is likely to be at least ``least``; ``value`` is a function of input and label."""
        prefixes: list[tuple[int, ...]] = [()]
        for k, ((one, two), (here, there)) in enumerate(zip(self.pairs, self.codes, strict=True), 1):
            product = value(one, here) * value(two, there)
            tell_one, tell_two = (characters(side[:, :k], self.biases[:k]) for side in (one, two))
            weights = {}
            for prefix in (more for known in prefixes for more in (known, (*known, k - 1))):
                chi = tell_one[:, list(prefix)].prod(axis=1) * tell_two[:, list(prefix)].prod(axis=1)
                weights[prefix] = float((product * chi).mean())
            heavy = sorted((p for p, w in weights.items() if w >= least**2 / 2), key=lambda p: -weights[p])
            prefixes = heavy[:_MOST_PREFIXES]
        return prefixes


def coefficients(
    values: Floats, bits: NDArray[Any], biases: Floats, sets: list[tuple[int, ...]]
) -> dict[tuple[int, ...], float]:
    """Estimates from inputs as they are drawn."""
    told = characters(bits, biases)
    return {some: float((values * told[:, list(some)].prod(axis=1)).mean()) for some in sets}
