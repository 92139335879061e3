"""How far a tree is from a target that answers numbers, on average: a bound beside the tolerance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fidelitree.display.wording import at_least, counted
from fidelitree.errors import ParameterError, check_number
from fidelitree.theory.sequential import level_in, mean_bound

if TYPE_CHECKING:
    from fidelitree.certificates.certificate import Certificate
    from fidelitree.trees.answers import Answers
    from fidelitree.trees.tree import Tree


@dataclass(frozen=True)
class MeanError:
    """With probability at least 1 - delta, tree and target are on average at most ``bound`` apart.

    ``mean`` is how far this tree and the target were apart on ``samples`` test inputs. Delta is one of its own, beside
    the certificate's.
    """

    bound: float
    mean: float
    samples: int
    delta: float

    def __str__(self) -> str:
        seen = f"{self.mean:.4g} on {counted(self.samples, 'fresh input')}"
        return f"On average it is at most {self.bound:.4g} away, with {at_least(self.delta)} confidence ({seen})."


def mean_error(
    trees: tuple[Tree, Tree], answers: Answers, certificate: Certificate, ends: tuple[float, float], delta: float
) -> MeanError:
    """The bound for the answers that an attempt has counted; ``ends`` are those of the target's numbers.

    ``trees`` are the one that is told of and the one that was tested, most often the same.

    Every attempt has its share of delta, as for its certificate. A tree that was not tested itself is as far away as
    that one, but where they differ: there it may be as far away as any.
    """
    low, high = (check_number(name, end) for name, end in zip(("low", "high"), ends, strict=True))
    if not low < high or not math.isfinite(high - low):
        raise ParameterError(
            f"low must be below high, and both finite: the target's numbers lie between them; got {low:g} and {high:g}"
        )
    odd = answers.labels[(answers.labels < low) | (answers.labels > high)]
    if len(odd):
        raise ParameterError(f"low and high must be ends of all that the target answers; it answered {odd[0]:g}")
    own, tested = trees
    numbers = tested.labels.astype(np.float64)
    widest = float(np.maximum(high - numbers, numbers - low).max())
    far = np.abs(tested.predict_inner(answers.inputs) - answers.labels)
    level = level_in(certificate.ledger, certificate.attempt, delta)
    bound = widest * min(1.0, mean_bound(far / widest, level) + certificate.differs)
    mean = float(np.abs(own.predict_inner(answers.inputs) - answers.labels).mean())
    return MeanError(bound, mean, len(far), delta)
