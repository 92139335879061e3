"""Methods that make a surrogate from labelled inputs, each with the fidelity that it, or its user, would report.

A method gets the same labelled inputs as all others. A quarter of them is held out, and the score there is the claim,
as in most notebooks: sizes are chosen by the same score. trustee and TE2Rules report a fidelity of their own.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fidelitree as ft
from benchmarks.frontier.cases import Case
from benchmarks.frontier.peers import contree
from benchmarks.leaves.peers import Labelled, streed_tree
from fidelitree.search.labelled import FeatureColumns
from fidelitree.trees.nested import build, simplest

Array = NDArray[Any]
SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
FAILS = (ValueError, RuntimeError, TypeError, AttributeError, IndexError, KeyError)


@dataclass(frozen=True)
class Surrogate:
    """What certify takes, the claim, and how large it is: leaves, or rules."""

    predict: Callable[[Any], Array]
    claim: float
    leaves: int


@dataclass(frozen=True)
class Lesson:
    """Inputs with their labels, as inner values and as columns of numbers."""

    case: Case
    inner: Array
    labels: Array
    seconds: float
    queries: int

    @property
    def data(self) -> Labelled:
        space = self.case.space()
        return Labelled(getattr(space, "product", space), self.inner, self.labels, 0.1)

    @property
    def columns(self) -> FeatureColumns[Any]:
        return FeatureColumns.one_hot(self.data.space)

    @property
    def codes(self) -> tuple[Array, Array]:
        classes, codes = np.unique(self.labels, return_inverse=True)
        return classes, codes

    def matrix(self) -> Array:
        return np.asarray(self.columns.of(self.inner), np.float64)

    def surrogate(self, predict: Callable[[Array], Array], claim: float | None, leaves: int) -> Surrogate:
        """From columns and codes to batches and labels; without a claim of its own, the held-out score is it."""
        (classes, codes), columns, space = self.codes, self.columns, self.data.space

        def answer(batch: Any) -> Array:
            return classes[np.asarray(predict(np.asarray(columns.of(space.encode(batch)), np.float64))).astype(int)]

        if claim is None:
            held = self.data.held
            claim = float((predict(self.matrix()[held]).astype(int) == codes[held]).mean())
        return Surrogate(answer, claim, leaves)


def fidelitree(lesson: Lesson) -> Surrogate:
    """The smallest error that as many labels certify: tests are among them."""
    found = ft.distill(lesson.case.target, lesson.case.space(), None, max_queries=lesson.queries, max_leaves=64)
    return Surrogate(found.tree.predict, 1 - found.error_bound, found.leaves)


def validated(lesson: Lesson) -> Surrogate:
    """scikit-learn's tree, its size chosen on held-out labels."""
    from sklearn.tree import DecisionTreeClassifier

    inputs, (_, codes), held = lesson.matrix(), lesson.codes, lesson.data.held
    trees = [
        DecisionTreeClassifier(max_leaf_nodes=size, random_state=0).fit(inputs[~held], codes[~held]) for size in SIZES
    ]
    best = max(trees, key=lambda tree: (tree.score(inputs[held], codes[held]), -tree.get_n_leaves()))
    return lesson.surrogate(best.predict, None, int(best.get_n_leaves()))


def trustee(lesson: Lesson) -> Surrogate:
    """trustee with its own settings: the tree that it explains with, and the fidelity that it reports of it."""
    from trustee import ClassificationTrustee

    inputs, (_, codes) = lesson.matrix(), lesson.codes
    known = {row.tobytes(): code for row, code in zip(inputs, codes, strict=True)}

    class Expert:
        """The target's answers to inputs that were labelled: it asks about no others."""

        def predict(self, rows: Any) -> Array:
            return np.array([known[row.tobytes()] for row in np.asarray(rows, np.float64)])

    np.random.seed(0)  # noqa: NPY002 - it draws from the global generator
    found = ClassificationTrustee(expert=Expert())
    found.fit(inputs, codes, samples_size=0.3, verbose=False)
    tree, _, _, fidelity = found.explain()
    return lesson.surrogate(tree.predict, float(fidelity), int(tree.get_n_leaves()))


def figs(lesson: Lesson) -> Surrogate:
    """Sums of small trees, their number of splits chosen on held-out labels."""
    from imodels import FIGSClassifier

    inputs, (_, codes), held = lesson.matrix(), lesson.codes, lesson.data.held
    found = [FIGSClassifier(max_rules=rules, random_state=0).fit(inputs[~held], codes[~held]) for rules in (4, 12, 24)]
    best = max(found, key=lambda model: (model.predict(inputs[held]) == codes[held]).mean())
    return lesson.surrogate(best.predict, None, int(best.complexity_) + len(best.trees_))


def skope(lesson: Lesson) -> Surrogate:
    """Rules of the kind of skope-rules, in the version that imodels keeps alive; two classes only."""
    from imodels import SkopeRulesClassifier

    inputs, (_, codes), held = lesson.matrix(), lesson.codes, lesson.data.held
    found = SkopeRulesClassifier(random_state=0).fit(inputs[~held], codes[~held])
    return lesson.surrogate(found.predict, None, len(found.rules_))


def te2rules(lesson: Lesson) -> Surrogate:
    """Rules from inside a forest of scikit-learn with two classes; the fidelity is on the inputs they come from."""
    from te2rules.explainer import ModelExplainer

    model = getattr(lesson.case.subject.target, "__self__", None)
    inputs, (classes, codes) = lesson.matrix(), lesson.codes
    if type(model).__name__ != "RandomForestClassifier" or len(classes) != 2:
        raise ValueError("it reads forests and boosting of scikit-learn with two classes")
    names = [f"x{i}" for i in range(inputs.shape[1])]
    found = ModelExplainer(model, names)
    rules = found.explain(inputs.tolist(), codes.tolist(), num_stages=1)
    return lesson.surrogate(
        lambda rows: np.asarray(found.predict(rows.tolist())), float(found.get_fidelity()[0]), len(rules)
    )


def pystreed(lesson: Lesson) -> Surrogate:
    """The tree with the fewest errors of depth 3, over tests at ten quantiles of every number."""
    data, held = lesson.data, lesson.data.held
    columns = FeatureColumns.binary(data.space, data.inner)
    classes, codes = lesson.codes
    inputs = columns.of(data.inner).astype(np.int32)
    nested = streed_tree(inputs[~held], codes[~held], columns, max_depth=3, time_limit=lesson.seconds)
    if nested is None:
        raise RuntimeError(f"no tree within {lesson.seconds:g} s")
    return _of_tree(lesson, build(data.space, simplest(nested), classes))


def pycontree(lesson: Lesson) -> Surrogate:
    """The tree with the fewest errors of depth 3, or 2 where time is up, over every threshold."""
    data, held = lesson.data, lesson.data.held
    found = contree(Labelled(data.space, data.inner[~held], data.labels[~held], 0.1), (2, 4, 8), lesson.seconds)
    if not found:
        raise RuntimeError(f"no tree within {lesson.seconds:g} s")
    return _of_tree(lesson, found[max(found)])


def _of_tree(lesson: Lesson, tree: ft.Tree) -> Surrogate:
    held = lesson.data.held
    claim = float((tree.predict_inner(lesson.inner[held]) == lesson.labels[held]).mean())
    return Surrogate(tree.predict, claim, tree.size)


_ALL: dict[str, tuple[Callable[[Lesson], Surrogate], str]] = {
    "fidelitree": (fidelitree, "fidelitree"),
    "scikit-learn tree": (validated, "sklearn"),
    "trustee": (trustee, "trustee"),
    "imodels FIGS": (figs, "imodels"),
    "skope-rules (imodels)": (skope, "imodels"),
    "TE2Rules": (te2rules, "te2rules"),
    "pystreed": (pystreed, "pystreed"),
    "pycontree": (pycontree, "pycontree"),
}
METHODS = {name: make for name, (make, package) in _ALL.items() if find_spec(package)}
ABSENT = [name for name, (_, package) in _ALL.items() if not find_spec(package)]


def made(name: str, lesson: Lesson) -> Surrogate | str:
    """What a method makes, or why it makes nothing; its own messages are not ours."""
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            return METHODS[name](lesson)
        except FAILS as error:
            return " ".join(str(error).split())[:100] or type(error).__name__
