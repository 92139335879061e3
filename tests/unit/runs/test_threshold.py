"""`threshold=`: scores become labels at every door, and labels are not taken for scores."""

from __future__ import annotations

import inspect
import pickle
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, IsolationForest
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM
from sklearn.tree import DecisionTreeClassifier

import fidelitree as ft
from fidelitree.errors import DoubtWarning
from fidelitree.learners import id3
from fidelitree.targets import Estimator
from fidelitree.targets.models.fromscores import Above, Rule, check_rule, labels_of, scored
from fidelitree.targets.models.model import Model, ModelColumns
from fidelitree.testing import assert_agrees

if TYPE_CHECKING:
    from pathlib import Path

SPACE = ft.ProductSpace([ft.Numeric("x", 0, 1), ft.Numeric("y", 0, 1)], batch="pandas")
X = np.random.default_rng(0).random((400, 2))
BITS = ft.ProductSpace.bernoulli(6)


def fitted(model: Any) -> Any:
    return model.fit(SPACE.draw(400, seed=1), np.where(SPACE.draw(400, seed=1)["x"] > 0.5, "yes", "no"))


@pytest.fixture(scope="module")
def logistic() -> Any:
    table = SPACE.draw(2_000, seed=1)
    random = np.random.default_rng(2)
    labels = np.where(table["x"] + 0.3 * random.standard_normal(2_000) > 0.5, "yes", "no")
    return LogisticRegression().fit(table, labels)


def test_a_classifier_is_cut_at_its_probability(logistic: Any) -> None:
    """It was cut at its labels: three thresholds gave the same certified tree."""
    wanted = {t: logistic.predict_proba(SPACE.draw(20_000, seed=3))[:, 1] > t for t in (0.05, 0.27, 0.9)}
    assert len({int(labels.sum()) for labels in wanted.values()}) == 3
    for t, labels in wanted.items():
        for target in (logistic, logistic.predict, Estimator(logistic)):
            found = ft.distill(target, SPACE, epsilon=0.1, threshold=t, seed=0)
            assert np.mean(found.predict(SPACE.draw(20_000, seed=3)) != labels) <= 0.1, (t, target)


def test_other_scores(logistic: Any) -> None:
    table = SPACE.draw(50, seed=4)
    for model in (fitted(Perceptron()), fitted(RidgeClassifier())):
        assert scored(model.predict)(table).tolist() == model.decision_function(table).tolist()
    pipeline = fitted(make_pipeline(StandardScaler(), GradientBoostingClassifier(n_estimators=3)))
    assert scored(Estimator(pipeline))(table).tolist() == pipeline.predict_proba(table)[:, 1].tolist()
    kept = pickle.loads(pickle.dumps(Above(logistic.predict, 0.3)))
    assert kept(table).tolist() == (logistic.predict_proba(table)[:, 1] > 0.3).astype(int).tolist()


def test_models_without_one_score_are_refused(logistic: Any) -> None:
    way_out = r"lambda rows: model\.predict_proba\(rows\)\[:, 1\]"
    three = LogisticRegression().fit(X, np.digitize(X[:, 0], [0.3, 0.6]))
    for target in (three, three.predict):
        with pytest.raises(ft.ParameterError, match=rf"LogisticRegression, which has 3 classes, not two - .*{way_out}"):
            ft.distill(target, SPACE, threshold=0.5)
    with pytest.raises(ft.ParameterError, match="LabelsOnly, which answers labels and has neither"):
        Above(LabelsOnly().predict, 0.5)
    with pytest.raises(ft.TargetError, match=rf"answered float64 of shape .* - .*{way_out}"):
        ft.distill(logistic.predict_proba, SPACE, threshold=0.5)


class Listed:
    """A classifier of its own kind, whose classes are a list."""

    classes_ = [0, 1]  # noqa: RUF012 - as others write it

    def predict(self, batch: Any) -> Any:
        return (self.predict_proba(batch)[:, 1] > 0.5).astype(int)

    def predict_proba(self, batch: Any) -> Any:
        return np.column_stack([1 - np.asarray(batch["x"]), batch["x"]])


def test_a_detector_of_outliers_is_cut_at_its_decision_function() -> None:
    """Its labels, -1 and 1, were cut: all thresholds gave the same tree, or a constant one."""
    table, fresh = SPACE.draw(500, seed=1), SPACE.draw(2_000, seed=3)
    for model in (IsolationForest(n_estimators=10, random_state=0).fit(table), OneClassSVM().fit(table)):
        middle = float(np.median(model.decision_function(fresh)))
        for target in (model.predict, Estimator(model)):
            assert Above(target, middle)(fresh).mean() == pytest.approx(0.5, abs=0.01)


def test_classes_may_be_a_list() -> None:
    assert (
        Above(Listed().predict, 0.2)(SPACE.draw(100, seed=4)).tolist()
        == (np.asarray(SPACE.draw(100, seed=4)["x"]) > 0.2).astype(int).tolist()
    )


def test_a_classifier_of_one_class_is_told_so() -> None:
    model = DecisionTreeClassifier().fit(X, np.zeros(len(X), int))
    with pytest.raises(ft.ParameterError, match="DecisionTreeClassifier, which has one class, not two"):
        Above(model.predict, 0.5)


class Rated(Model):
    """A model whose labels are a rule applied to scores, as boosters and ONNX models have it."""

    name = "rated"
    columns = ModelColumns(None, None)

    def __init__(self, rule: Rule) -> None:
        self.rule = check_rule(rule)

    def labels(self, batch: Any) -> Any:
        return labels_of(np.asarray(batch["x"]) ** 2, self.rule)


def test_a_rule_for_scores_gives_way_to_the_threshold() -> None:
    table, model = SPACE.draw(300, seed=5), Rated(0.5)
    for threshold in (0.04, 0.81):
        assert Above(model, threshold)(table).tolist() == (table["x"] ** 2 > threshold).astype(int).tolist()
    assert model.rule == 0.5
    assert Above(Rated("score"), 0.3)(table).sum() == (table["x"] ** 2 > 0.3).sum()
    with pytest.raises(ft.ParameterError, match="threshold must be left out for a model with labels='argmax'"):
        Above(Rated("argmax"), 0.3)


class LabelsOnly:
    """A classifier without scores."""

    classes_ = np.array([0, 1])

    def predict(self, batch: Any) -> Any:
        return np.zeros(len(batch), int)


@pytest.mark.parametrize("labels", [bool, int])
def test_labels_are_not_taken_for_scores(labels: type) -> None:
    with pytest.raises(
        ft.TargetError, match=r"threshold needs scores, and the target answered 0 and 1 only, \d+ times"
    ):
        ft.distill(lambda batch: np.asarray(batch["x"] > 0.5, labels), SPACE, threshold=0.3)


@pytest.mark.parametrize("values", [(-1, 1), (1, 2), (0, 5)])
def test_any_two_whole_values_are_labels(values: tuple[int, int]) -> None:
    low, high = values
    with pytest.raises(
        ft.TargetError, match=rf"the target answered {low} and {high} only, \d+ times: these are labels"
    ):
        ft.distill(lambda batch: np.where(np.asarray(batch["x"]) > 0.5, high, low), SPACE, threshold=0.3)


@pytest.mark.parametrize(("kind", "labels"), [(bool, True), (int, True), (float, False)])
def test_a_single_value_is_a_label_if_it_is_no_fraction(kind: type, labels: bool) -> None:
    target = Above(lambda batch: np.full(len(batch), 1, kind), 0.3)
    if not labels:
        assert target(np.zeros(100)).all()
        return
    with pytest.raises(ft.ParameterError, match="the target answered 1 only, 100 times: these are labels, not scores"):
        target(np.zeros(100))


def test_fractions_that_are_labels_are_doubted() -> None:
    with pytest.warns(DoubtWarning, match="threshold may do nothing: the target answered 0 and 1 only"):
        found = ft.distill(lambda batch: np.asarray(batch["x"] > 0.5, float), SPACE, threshold=0.3, seed=0)
    assert found.certificate.holds


def test_counts_are_scores() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ft.distill(lambda batch: np.floor(3 * np.asarray(batch["x"])).astype(int), SPACE, threshold=0.5, seed=0)
    assert found.certificate.holds


def score(batch: Any) -> Any:
    return np.asarray(batch["x"]) ** 2


def bits(batch: Any) -> Any:
    return batch.sum(axis=1) / 6


def test_every_door_takes_it(tmp_path: Path) -> None:
    found = ft.distill(score, SPACE, threshold=0.25, seed=0)
    assert ft.certify(found.tree, score, SPACE, 0.1, threshold=0.25, seed=0).holds
    assert not ft.certify(found.tree, score, SPACE, 0.1, threshold=0.64, seed=0).holds
    change = ft.diff(found.tree, score, SPACE, threshold=0.64, seed=0)
    assert change.changed[0] > 0.1
    half = ft.diff(score, lambda batch: np.asarray(batch["x"]) / 2, SPACE, threshold=0.25, epsilon=0.02, seed=0)
    assert half.holds
    assert ft.analyze(score, SPACE, threshold=0.25).labels == [0, 1]
    classes = ft.errors_by_class(found.tree, score, SPACE, threshold=0.25, seed=0)
    assert min(one.recall[1] for one in classes) > 0.9
    found.save(tmp_path / "kept")
    assert ft.verify(tmp_path / "kept", score, threshold=0.25, seed=0).holds
    assert assert_agrees(score, tmp_path / "kept", threshold=0.25).holds
    with pytest.raises(AssertionError, match="no longer agrees"):
        assert_agrees(score, tmp_path / "kept", threshold=0.64)
    assert ft.frontier(score, SPACE, threshold=0.25, seed=0, max_queries=600).knee.leaves == 2


def test_so_do_the_papers_algorithms_and_the_learners() -> None:
    exact = ft.build_top_down(bits, BITS, 0.0, threshold=0.4)
    assert exact.predict(np.array([[1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0]], np.uint8)).tolist() == [1, 0]
    drawn = ft.practical_top_down(lambda batch: batch[:, 0] / 2, BITS, 0.2, 0.1, seed=0, threshold=0.4)
    assert drawn.tree.size == 2
    assert id3(lambda batch: batch[:, 0] / 2, BITS, 0.0, threshold=0.4).tree.size == 2
    assert ft.compare(bits, BITS, 0.2, learners=["id3"], threshold=0.4).rows[0].certified


def test_no_door_is_forgotten() -> None:
    doors = (ft.distill, ft.frontier, ft.certify, ft.diff, ft.analyze, ft.verify, ft.errors_by_class, ft.compare)
    for door in (*doors, ft.build_top_down, ft.practical_top_down, assert_agrees):
        assert "threshold" in inspect.signature(door).parameters, door


def test_tolerance_and_numbers_do_not_go_with_it() -> None:
    tree = ft.Tree.constant(SPACE, 1)
    for call in (ft.certify, ft.diff):
        with pytest.raises(ft.ParameterError, match="tolerance must be left out where threshold is given"):
            call(tree, score, SPACE, tolerance=0.1, threshold=0.2)
    with pytest.raises(ft.ParameterError, match="threshold must be left out with numbers=True"):
        ft.analyze(score, SPACE, numbers=True, threshold=0.2)
