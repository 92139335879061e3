"""Labels from scores: many models answer numbers, one for each class or one for all.

A tree's leaf holds a label, so a rule must turn scores into one: ``"argmax"`` or ``"argmin"`` (the position of the
largest or smallest of several scores, the first of equals), or a number (1 where the only score is above it, else 0).
``"score"`` keeps the only score as it is, for runs with a tolerance or a threshold: what regressors do by themselves.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import ParameterError, TargetError, check_number
from fidelitree.targets.models.remote import OnTerms, terms_of

Rule = str | float
SCORE = "score"


class Above(OnTerms):
    """A classifier made of a target that answers one score for each input: 1 where it is above a threshold, else 0.

    >>> Above(lambda batch: np.array([0.2, 0.7]), 0.5)(None).tolist()
    [0, 1]
    """

    def __init__(self, target: Any, threshold: float) -> None:
        self.target, self.threshold = target, check_number("threshold", threshold)
        self.inside = target
        said = getattr(target, "name", None) or getattr(target, "__qualname__", None) or type(target).__qualname__
        self.name = f"{said} > {self.threshold:g}"

    @property
    def terms(self) -> Any:
        """Those on which the target is asked."""
        return terms_of(self.target)

    def __call__(self, batch: Any) -> Any:
        scores = self.target(batch)
        return self._later(scores) if inspect.isawaitable(scores) else self._labels(scores)

    async def _later(self, scores: Any) -> NDArray[Any]:
        return self._labels(await scores)

    def _labels(self, answered: Any) -> NDArray[Any]:
        scores = np.asarray(answered)
        if scores.dtype.kind not in "bifu" or scores.size != len(scores):
            raise TargetError(
                f"threshold needs one score for each input; the target answered {scores.dtype} of shape {scores.shape}"
            )
        return labels_of(scores, self.threshold)


def check_rule(rule: Any) -> Rule:
    """One of the three words, or a number."""
    if rule in ("argmax", "argmin", SCORE):
        return str(rule)
    if isinstance(rule, str):
        raise ParameterError(
            f"labels must be 'argmax', 'argmin', 'score' or a number, the score above which 1 is; got {rule!r}"
        )
    return check_number("labels", rule)


def rule_for(objective: str, known: Mapping[str, Rule], labels: Any) -> Rule:
    """The rule that the caller asks for, or else the one that the model's objective implies."""
    if labels is not None:
        return check_rule(labels)
    if objective not in known:
        raise ParameterError(
            f"labels must be given for a model with objective {objective!r}, which answers scores: 'argmax', 'argmin', "
            f"'score' (the number itself), or the number above which a score means 1"
        )
    return known[objective]


def classes_of(rule: Rule, scores: int) -> tuple[int, ...] | None:
    """The labels that a rule can give for so many scores; None where their number is not known (0), or has no end."""
    if rule == SCORE:
        return None
    count = scores if isinstance(rule, str) else 2
    return tuple(range(count)) or None


def labels_of(scores: NDArray[Any], rule: Rule) -> NDArray[Any]:
    """The label of every row of scores, or the only score itself.

    >>> labels_of(np.array([[0.1, 0.7, 0.2], [0.5, 0.5, 0.0]]), "argmax").tolist()
    [1, 0]
    >>> labels_of(np.array([0.5, 0.6]), 0.5).tolist()
    [0, 1]
    """
    if bad := int(np.isnan(scores).sum()):
        raise TargetError(f"the model answered NaN {bad} times among {scores.size} scores, and NaN has no label")
    if isinstance(rule, str) and rule != SCORE:
        if scores.ndim != 2 or scores.shape[1] < 2:
            raise ParameterError(
                f"labels={rule!r} needs several scores for each input; the model answered shape {scores.shape}. "
                f"Give a number: 1 where the score is above it"
            )
        return np.asarray(np.argmax(scores if rule == "argmax" else -scores, axis=1), np.int64)
    if scores.size != len(scores):
        raise ParameterError(
            f"labels={rule!r} needs one score for each input; the model answered shape {scores.shape}. "
            f"Say labels='argmax' or labels='argmin'"
        )
    alone = scores.reshape(-1)
    return alone.astype(np.float64) if isinstance(rule, str) else (alone > rule).astype(np.int64)
