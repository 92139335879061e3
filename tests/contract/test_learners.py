"""What every learner of the literature must do; they are found in the registry, and none is exempt unless named."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree import theory
from fidelitree.learners import LEARNERS, Learner
from fidelitree.learners.lesson import LIMITS
from mixed import MIXED
from small import true_error

# C4.5 prunes by a rule of thumb, STreeD's trees are shallow, and a function that is not monotone may correlate with no
# bit: no error at all is not what these are made for.
INEXACT = {"c45", "streed", "monotone_top_down"}
BITS = ft.ProductSpace.bernoulli(14, 0.4)  # more inputs than are asked unasked
SHALLOW = {"halving"}  # it counts no trees deeper than 3
FEW = ft.ProductSpace.bernoulli(5)
Answers = Callable[[Any], Any]


@pytest.fixture(params=LEARNERS.values(), ids=lambda learner: learner.name)
def learner(request: pytest.FixtureRequest) -> Learner:
    found: Learner = request.param
    if found.library is not None:
        pytest.importorskip(found.library)
    return found


@pytest.fixture
def answers(learner: Learner) -> Answers:
    """A chain of five leaves as a callable that nobody can look into; of four where trees must be shallow."""
    target = ft.targets.chain(BITS, 4 if learner.name in SHALLOW else 5, seed=3)
    return lambda batch: np.asarray(target.predict(batch))


def test_one_signature(learner: Learner) -> None:
    given = list(inspect.signature(learner.learn).parameters.values())
    assert [one.name for one in given[:5]] == ["target", "space", "epsilon", "delta", "seed"]
    assert given[5].kind is inspect.Parameter.VAR_KEYWORD
    assert len(given) == 6
    assert learner.learn.__name__ == learner.name
    assert getattr(ft.learners, learner.name) is learner.learn


def test_the_file_names_its_paper_its_time_and_its_end(learner: Learner) -> None:
    text = inspect.getdoc(inspect.getmodule(learner.learn)) or ""
    assert "Running time:" in text
    assert "Where its guarantee ends:" in " ".join(text.split())
    assert any(character.isdigit() for character in learner.paper) or learner.name == "optimal"


def test_its_certificate_is_valid_and_its_answers_are_counted(learner: Learner, answers: Answers) -> None:
    asked = 0

    def watched(batch: Any) -> Any:
        nonlocal asked
        asked += len(batch)
        return answers(batch)

    result = learner.learn(watched, BITS, 0.1, 0.05, 1)
    certificate = result.certificate
    assert certificate.holds
    assert result.reason == "certified"
    assert true_error(result.tree, answers, BITS) <= certificate.error_bound <= 0.1
    assert (certificate.tree_digest, certificate.space_digest) == (result.tree.digest, BITS.digest)
    assert result.queries.paid == asked
    assert sum(certificate.queries.values()) == result.queries.asked
    if certificate.method == "sequential":
        assert certificate.samples >= theory.labels_to_test(0.1, 0.05), "inputs that come again are drawn, not asked"
        assert result.queries.asked <= (BITS.points or 0)
        assert certificate.level is not None
        assert certificate.level <= 0.05
    else:
        assert certificate.delta == 0


def test_same_seed_same_result(learner: Learner, answers: Answers) -> None:
    one, two = (learner.learn(answers, BITS, 0.1, 0.05, 7) for _ in range(2))
    assert one.tree == two.tree
    assert one.certificate == two.certificate
    assert one.queries == two.queries


@pytest.mark.parametrize("label", [0, "spam"])
def test_a_constant_is_one_leaf(learner: Learner, label: int | str) -> None:
    for epsilon in (0.0, 0.1):
        result = learner.learn(lambda batch: np.full(len(batch), label), FEW, epsilon)
        assert result.certificate.holds
        assert (result.tree.size, result.tree.predict(np.zeros((1, 5))).tolist()) == (1, [label])


def test_one_variable_is_two_leaves(learner: Learner) -> None:
    result = learner.learn(lambda batch: batch[:, 3] == 1, FEW, 0.0)
    assert result.certificate.error_bound == 0
    assert result.certificate.method == "exact"
    assert (result.tree.size, result.tree.feature.tolist()) == (2, [3, -1, -1])


def test_no_error_where_none_is_allowed(learner: Learner) -> None:
    target = ft.targets.hidden_weighted_bit(5)
    result = learner.learn(target, FEW, 0.0)
    error = true_error(result.tree, target, FEW)
    assert result.certificate.error_bound == pytest.approx(error, abs=1e-12)
    assert result.certificate.holds == (error == 0)
    assert error == 0 or learner.name in INEXACT


@pytest.mark.parametrize("most", [60, 700])
def test_a_budget_of_queries(learner: Learner, answers: Answers, most: int) -> None:
    if learner.asks == "everything":
        with pytest.raises(ft.ParameterError, match=r"all inputs must be asked.*raise max_queries"):
            learner.learn(answers, BITS, 0.05, max_queries=most)
        return
    result = learner.learn(answers, BITS, 0.05, max_queries=most)
    assert result.queries.asked <= most
    assert result.certificate.error_bound >= 0.05 or result.certificate.holds
    assert true_error(result.tree, answers, BITS) <= result.certificate.error_bound


def test_a_budget_of_leaves(learner: Learner) -> None:
    result = learner.learn(ft.targets.majority(5), FEW, 0.0, max_leaves=4)
    assert result.tree.size <= 4
    assert not result.certificate.holds
    assert true_error(result.tree, ft.targets.majority(5), FEW) == pytest.approx(result.certificate.error_bound)


def test_a_budget_of_time(learner: Learner, answers: Answers) -> None:
    with pytest.raises(ft.ParameterError, match="max_queries and max_seconds must allow some labels"):
        learner.learn(answers, BITS, 0.05, max_seconds=0)


def test_it_tells_an_observer(learner: Learner, answers: Answers) -> None:
    events: list[Any] = []
    result = learner.learn(answers, BITS, 0.1, observer=events.append)
    assert type(events[-1]).__name__ == "Finished"
    assert (events[-1].size, events[-1].reason) == (result.tree.size, "certified")


def test_any_features_or_a_message(learner: Learner) -> None:
    def target(batch: Any) -> Any:
        return np.asarray(batch[MIXED.names[0]]) == np.asarray(batch[MIXED.names[0]])[0]

    if learner.bits_only:
        with pytest.raises(ft.ParameterError, match="space must hold bits only for this learner; feature"):
            learner.learn(target, MIXED, 0.1)
        assert learner.why_not(MIXED) == "not all features are bits"
    elif learner.asks == "everything":
        with pytest.raises(ft.ParameterError, match="space must have finitely many inputs for all of them to be asked"):
            learner.learn(target, MIXED, 0.1)
        assert "are too many to ask them all" in str(learner.why_not(MIXED))
    else:
        assert learner.why_not(MIXED) is None
        assert learner.learn(lambda batch: np.zeros(len(next(iter(batch.values()))), int), MIXED, 0.1).tree.size == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"epsilon": 5}, "epsilon must be at least 0 and below 1; got 5 - did you mean 0.05?"),
        ({"delta": 0}, "delta must be above 0 and below 1; got 0"),
        ({"seed": -1}, "seed must be at least 0; got -1"),
        ({"max_leaves": 0}, "max_leaves must be at least 1; got 0"),
        (
            {"max_depth": 3},
            f"a learner's options must be its own or {', '.join(LIMITS)}; got 'max_depth'",
        ),
    ],
)
def test_wrong_arguments(learner: Learner, answers: Answers, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ft.ParameterError) as error:
        learner.learn(answers, BITS, **wrong)
    assert message in str(error.value)


def test_too_many_inputs_for_no_error(learner: Learner) -> None:
    with pytest.raises(ft.ParameterError, match="are more than 1,048,576"):
        learner.learn(lambda batch: batch[:, 0], ft.ProductSpace.bernoulli(30), 0.0)
