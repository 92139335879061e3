"""``certify``: audit a tree, or any predictor, that somebody else made."""

from __future__ import annotations

import hashlib
import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.budget import Budget, BudgetSpent
from fidelitree.certificate import Certificate
from fidelitree.checks import check_delta, check_epsilon
from fidelitree.draw import Stream, block_rows, draw, fresh_seed
from fidelitree.errors import ParameterError
from fidelitree.events import Observer, TreeJudged, nobody
from fidelitree.exact.engine import ENUMERATE_UNASKED, free_of_charge
from fidelitree.exact.error import known_error
from fidelitree.region import Region
from fidelitree.sequential import Bet, log_e_value_below
from fidelitree.space import ProductSpace
from fidelitree.targets.counting import Counted, Target
from fidelitree.targets.table import MAX_FEATURES, enumerate_inputs
from fidelitree.tree import Tree

PATIENCE = 64  # how many times ln(1/delta)/epsilon answers an undecided audit may take
FINGERPRINT = 4096  # inputs on which a predictor that has no digest of its own is told from others


def certify(
    predictor: Any,
    target: Target,
    space: ProductSpace,
    epsilon: float = 0.05,
    delta: float = 0.05,
    *,
    seed: int | None = None,
    max_queries: int | None = None,
    max_seconds: float | None = None,
    observer: Observer = nobody,
) -> Certificate:
    """Whether a predictor agrees with the target on at least 1 - epsilon of inputs, with confidence 1 - delta.

    ``predictor`` is a tree, any callable from a batch to labels, or anything with a ``predict`` method. Test inputs
    come from a stream of their own, keyed by the seed (the machine's entropy unless you give one) and by the
    predictor itself, so that nobody can train for them. The audit ends as soon as the error is certified to be at most
    epsilon, or shown to be above it; undecided, after 64 ln(1/delta)/epsilon answers or ``max_queries``. Where all
    inputs can be asked for less, and where trees and circuits are compared, the certificate is exact.

    >>> from fidelitree.targets import majority
    >>> print(certify(Tree.constant(ProductSpace.bernoulli(3), 1), majority(3), ProductSpace.bernoulli(3)))
    This tree disagrees with the target on exactly 0.5 of all inputs (an error of 0.05 was asked for and is NOT \
certified), provided that the target is deterministic and inputs follow the stated product distribution.
    """
    epsilon, delta = check_epsilon(epsilon), check_delta(delta)
    counted = Counted(target, space, budget=Budget(max_queries=max_queries, max_seconds=max_seconds))
    audit = _Audit(counted, _prediction(predictor), epsilon, delta)
    digest = predictor.digest if isinstance(predictor, Tree) else audit.fingerprint()
    if (error := known_error(predictor, target, space)) is not None:
        return audit.exact(digest, error)
    if audit.can_enumerate():
        return audit.exact(digest, audit.count_all())
    if epsilon == 0:
        raise ParameterError(f"epsilon must be above 0 where 2^{len(space)} inputs are too many to ask all; got 0")
    chosen = fresh_seed() if seed is None else seed
    bet = audit.test(Stream.named(chosen, "certify").child(digest), observer)
    return Certificate(
        epsilon,
        delta,
        bet.error_bound,
        bet.samples,
        bet.errors,
        "sequential",
        digest,
        space.digest,
        seed=chosen,
        seed_chosen=seed is not None,
        queries=dict(counted.queries.asked),
    )


def _prediction(predictor: Any) -> Target:
    """How to ask a predictor for labels."""
    found = getattr(predictor, "predict", predictor)
    if not callable(found):
        raise ParameterError(f"predictor must be a tree, a callable, or have a predict method; got {predictor!r}")
    return found  # type: ignore[no-any-return]


@dataclass(frozen=True)
class _Audit:
    """One predictor against one target."""

    counted: Counted
    predict: Target
    epsilon: float
    delta: float

    def predictions(self, batch: NDArray[np.uint8]) -> NDArray[Any]:
        """The predictor's labels, one for each input."""
        labels = np.asarray(self.predict(batch))
        if labels.shape != (len(batch),):
            raise ParameterError(
                f"predictor must give one label per input: it received {len(batch)} inputs and answered an array of "
                f"shape {labels.shape}"
            )
        return labels

    def fingerprint(self) -> str:
        """A digest of a predictor that has none: what it says about inputs that anybody can draw."""
        whole = Region.whole(self.counted.space)
        labels = self.predictions(draw(whole, Stream("fingerprint"), 0, FINGERPRINT).T)
        return hashlib.sha256(repr(labels.tolist()).encode()).hexdigest()

    def can_enumerate(self) -> bool:
        """Whether asking about every input is free, or no dearer than drawing."""
        features, limit = len(self.counted.space), self.counted.budget.max_queries
        if features > MAX_FEATURES or (limit is not None and 1 << features > limit):
            return False
        if free_of_charge(self.counted):
            return True
        if self.epsilon == 0:
            return 1 << features <= (ENUMERATE_UNASKED if limit is None else limit)
        return 1 << features <= Bet(self.delta).needed_for(self.epsilon)

    def count_all(self) -> float:
        """The error over every input, each weighed by its probability."""
        space, whole = self.counted.space, Region.whole(self.counted.space)
        wrong, points, rows = 0.0, 1 << len(space), block_rows(len(space))
        for start in range(0, points, rows):
            batch = enumerate_inputs(whole, start, min(start + rows, points))
            missed = batch[self._mistakes(batch)]
            wrong += float(np.where(missed, space.biases, 1 - space.biases).prod(axis=1).sum())
        return wrong

    def exact(self, digest: str, error: float) -> Certificate:
        """The certificate of an error that is known."""
        asked, space = self.counted.queries.asked, self.counted.space
        bound = min(1.0, error)
        return Certificate(
            self.epsilon, 0.0, bound, int(asked), None, "exact", digest, space.digest, queries=dict(asked)
        )

    def test(self, stream: Stream, observer: Observer) -> Bet:
        """Inputs as they come, until the error is certified, or shown to be too large, or patience ends."""
        bet = Bet(self.delta)
        whole = Region.whole(self.counted.space)
        patience = math.ceil(PATIENCE * math.log(1 / self.delta) / self.epsilon)
        for block in itertools.count():
            left = self.counted.left
            ends = (bet.needed_for(self.epsilon), patience - bet.samples, patience if left is None else left)
            rows = min(*ends, block_rows(len(self.counted.space)))
            if rows <= 0 or self._too_large(bet):
                return bet
            try:
                wrong = self._mistakes(draw(whole, stream, block, rows).T)
            except (BudgetSpent, KeyboardInterrupt):
                return bet
            bet.count(int(wrong.sum()), rows)
            observer(TreeJudged(self.counted.asked, 0, bet.errors / bet.samples, bet.error_bound))
        raise AssertionError("patience ends every audit")

    def _mistakes(self, batch: NDArray[np.uint8]) -> NDArray[np.bool_]:
        labels = self.counted.labels(self.counted.ask(batch, "certify"))
        return np.asarray(self.predictions(batch) != labels)

    def _too_large(self, bet: Bet) -> bool:
        """Whether the error is shown to be above epsilon."""
        against = log_e_value_below(bet.errors, bet.samples, self.epsilon)
        return against >= math.log(1 / self.delta)
