"""Labels from scores: many models answer numbers, one for each class or one for all.

A tree's leaf holds a label, so a rule must turn scores into one: ``"argmax"`` or ``"argmin"`` (the position of the
largest or smallest of several scores, the first of equals), or a number (1 where the only score is above it, else 0).
``"score"`` keeps the only score as it is, for runs with a tolerance or a threshold: what regressors do by themselves.
"""

from __future__ import annotations

import copy
import inspect
from collections import Counter
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
_TELLING = 64  # answers with two whole values, or a single one, that are taken for labels
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
        self._seen: Counter[float] | None = Counter()  # whole answers so far, until there is another one, or a third

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
        """Refuse whole numbers, and doubt fractions, if answers so far have two whole values: cuts do the same.

        A single value is refused if it is a truth value or a whole number.
        """
        assert self._seen is not None, "labels are looked for until there is a score that is none"
        values, counts = np.unique(scores.astype(np.float64), return_counts=True)
        self._seen.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))
        known, whole = sorted(self._seen), scores.dtype.kind != "f"
        if len(known) > 2 or not all(value.is_integer() for value in known):
            self._seen = None
        elif self._seen.total() >= _TELLING and (len(known) > 1 or whole):
            named, times = " and ".join(f"{value:g}" for value in known), self._seen.total()
            told = f"the target answered {named} only, {times} times: these are labels, not scores"
            self._seen = None
            if whole:
                raise ParameterError(f"threshold needs scores, and {told} - {_WAY_OUT}; or leave threshold out")
            warn(f"threshold may do nothing: {told} - {_WAY_OUT}")


class SecondClass:
    """The score of a fitted classifier for the second of its two classes: a probability, or a decision function.

    That of a detector (-1 and 1) is its decision function: higher is more usual.
    """

    def __init__(self, model: Any, received: Callable[[Any], Any] | None = None, method: str = "") -> None:
        self.model, self.received = model, received
        self.method = method or ("predict_proba" if hasattr(model, "predict_proba") else "decision_function")

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
    classes, name = getattr(model, "classes_", None), type(model).__name__
    received = target.received if isinstance(target, Estimator) else None
    if classes is None and _decides(model):
        return SecondClass(model, received, "decision_function")
    if classes is not None:
        _check_two(classes, name)
        if not (hasattr(model, "predict_proba") or hasattr(model, "decision_function")):
            raise ParameterError(
                f"threshold must be left out for {name}, which answers labels and has neither predict_proba nor "
                f"decision_function"
            )
        return SecondClass(model, received)
    rule = getattr(target, "rule", None) if isinstance(target, Model) else None
    if isinstance(rule, float):
        target = copy.copy(target)
        target.rule = SCORE
        target.classes = None
    elif rule not in (None, SCORE):
        raise ParameterError(f"threshold must be left out for a model with labels={rule!r} - {_WAY_OUT}")
    return target


def _decides(model: Any) -> bool:
    """Whether a model without classes scores its inputs, as detectors of outliers do, whose labels are -1 and 1."""
    return callable(getattr(model, "predict", None)) and callable(getattr(model, "decision_function", None))


def _check_two(classes: Any, name: str) -> None:
    """Refuse a classifier that has not two classes, and whose answer is several labels."""
    try:
        found = np.asarray(classes)
    except ValueError:  # of several outputs, with different numbers of classes
        found = np.zeros((2, 2))
    if found.ndim != 1 or len(found) != 2:
        what = "several outputs" if found.ndim != 1 else "one class" if len(found) == 1 else f"{len(found)} classes"
        raise ParameterError(f"threshold must be left out for {name}, which has {what}, not two - {_WAY_OUT}")


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
