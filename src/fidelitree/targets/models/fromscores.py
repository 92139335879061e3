"""Labels from scores: many models answer numbers, one for each class or one for all.

A tree's leaf holds a label, so a rule must turn scores into one: ``"argmax"`` or ``"argmin"`` (the position of the
largest or smallest of several scores, the first of equals), or a number (1 where the only score is above it, else 0).
``"score"`` keeps the only score as it is, for runs with a tolerance or a threshold: what regressors do by themselves.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import ParameterError, TargetError, check_number, warn
from fidelitree.targets.models.estimator import Estimator
from fidelitree.targets.models.model import Model
from fidelitree.targets.models.remote import OnTerms, terms_of

Rule = str | float
SCORE = "score"
_TELLING = 64  # answers of 0 and 1 that are taken for labels
_WAY_OUT = "give the score of one class: lambda rows: model.predict_proba(rows)[:, 1]"


class Above(OnTerms):
    """A classifier made of a target that answers one score for each input: 1 where it is above a threshold, else 0.

    Of a fitted classifier of two classes, or its ``predict``, the score is that of the second class: see `scored`.

    >>> Above(lambda batch: np.array([0.2, 0.7]), 0.5)(None).tolist()
    [0, 1]
    """

    def __init__(self, target: Any, threshold: float) -> None:
        self.threshold = check_number("threshold", threshold)
        self.target = self.inside = scored(target)
        said = getattr(target, "name", None) or getattr(target, "__qualname__", None) or type(target).__qualname__
        self.name = f"{said} > {self.threshold:g}"
        self._seen: dict[float, int] | None = {0.0: 0, 1.0: 0}  # answers so far, until one is neither

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
                f"threshold needs one score for each input; the target answered {scores.dtype} of shape "
                f"{scores.shape} - {_WAY_OUT}"
            )
        if self._seen is not None:
            self._look_for_labels(scores)
        return labels_of(scores, self.threshold)

    def _look_for_labels(self, scores: NDArray[Any]) -> None:
        """Refuse whole numbers, and doubt fractions, if all answers so far are 0 or 1: any cut does the same."""
        assert self._seen is not None, "labels are looked for until a score is neither 0 nor 1"
        for value in self._seen:
            self._seen[value] += int(np.count_nonzero(scores == value))
        if np.any((scores != 0) & (scores != 1)):
            self._seen = None
        elif all(self._seen.values()) and sum(self._seen.values()) >= _TELLING:
            told = f"the target answered 0 and 1 only, {sum(self._seen.values())} times: these are labels, not scores"
            self._seen = None
            if scores.dtype.kind != "f":
                raise ParameterError(f"threshold needs scores, and {told} - {_WAY_OUT}; or leave threshold out")
            warn(f"threshold may do nothing: {told} - {_WAY_OUT}")


class SecondClass:
    """The score of a fitted classifier for the second of its two classes: a probability, or a decision function."""

    def __init__(self, model: Any, received: Callable[[Any], Any] | None = None) -> None:
        self.model, self.received = model, received
        self.method = "predict_proba" if hasattr(model, "predict_proba") else "decision_function"

    def __call__(self, batch: Any) -> NDArray[Any]:
        scores = np.asarray(getattr(self.model, self.method)(batch if self.received is None else self.received(batch)))
        return scores[:, 1] if scores.ndim == 2 and scores.shape[1] == 2 else scores


def scored(target: Any) -> Any:
    """The target as one that answers scores: a fitted classifier answers that of its second class.

    Models whose labels are a cut of one score answer the score. What answers several scores is refused.

    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0]], ["no", "yes"])
    >>> scored(model.predict)(np.array([[0.5]])).round(2).tolist()
    [0.5]
    """
    owner = getattr(target, "__self__", None) if getattr(target, "__name__", "") == "predict" else None
    model = target.model if isinstance(target, Estimator) else owner
    classes = getattr(model, "classes_", None)
    if classes is not None:
        name = type(model).__name__
        if not isinstance(classes, np.ndarray) or classes.ndim != 1 or len(classes) != 2:
            raise ParameterError(f"threshold must be left out for {name}, which has more than two classes - {_WAY_OUT}")
        if not (hasattr(model, "predict_proba") or hasattr(model, "decision_function")):
            raise ParameterError(
                f"threshold must be left out for {name}, which answers labels and has neither predict_proba nor "
                f"decision_function"
            )
        return SecondClass(model, target.received if isinstance(target, Estimator) else None)
    rule = getattr(target, "rule", None) if isinstance(target, Model) else None
    if isinstance(rule, float):
        target = copy.copy(target)
        target.rule = SCORE
        target.classes = None
    elif rule not in (None, SCORE):
        raise ParameterError(f"threshold must be left out for a model with labels={rule!r} - {_WAY_OUT}")
    return target


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
