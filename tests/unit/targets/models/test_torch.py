"""Models of torch as targets, with NumPy's batches and on their device; the CPU is the device of these tests."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.counted import Counted
from fidelitree.asking.on_device import OnDevice
from fidelitree.errors import ParameterError, TargetError
from fidelitree.runs.analysis import stars
from fidelitree.trees.tree import Tree

torch = pytest.importorskip("torch")
nn = torch.nn


def network(features: int, outputs: int = 3) -> Any:
    """A small module with whole numbers for weights, whose first layer writes into its input."""
    torch.manual_seed(3)
    model = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(features, 8), nn.ReLU(inplace=True), nn.Linear(8, outputs))
    with torch.no_grad():
        for values in model.parameters():
            values.copy_(torch.randint(-3, 4, values.shape))
    return model


def both(model: Any, **how: Any) -> tuple[Any, Any]:
    """The same target, counted on its device and asked the usual way."""
    there = ft.targets.torch(model, **how)
    there.counts_there = True
    return there, there.__call__


def test_labels_are_the_largest_scores() -> None:
    model, batch = network(4), np.random.default_rng(0).integers(0, 2, (50, 4)).astype(np.uint8)
    target = ft.targets.torch(model, "cpu", batch_size=7)
    scores = model(torch.tensor(batch, dtype=torch.float32)).detach().numpy()
    assert target(batch).tolist() == scores.argmax(1).tolist()
    assert ft.targets.torch(model, labels="argmin")(batch).tolist() == scores.argmin(1).tolist()
    assert target({f"x{i}": batch[:, i] for i in range(4)}).tolist() == target(batch).tolist()
    assert repr(target) == "<TorchModel Sequential>"
    assert not target.model.training
    assert pickle.loads(pickle.dumps(target))(batch).tolist() == target(batch).tolist()


def test_one_score_needs_a_number() -> None:
    batch = np.array([[0.0], [1.0], [2.0]])
    assert ft.targets.torch(lambda x: x, labels=1.0)(batch).tolist() == [0, 0, 1]
    assert ft.targets.torch(lambda x: x[:, 0], labels="score")(batch).tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(ParameterError, match=r"labels must be a number where a model answers one score .* got None"):
        ft.targets.torch(lambda x: x)(batch)


def test_truth_values_and_whole_numbers_stay_what_they_are() -> None:
    batch = np.array([[0.0], [3.0]])
    assert ft.targets.torch(lambda x: x[:, 0] > 1)(batch).tolist() == [False, True]
    assert ft.targets.torch(lambda x: x[:, 0].long() - 2)(batch).tolist() == [-2, 1]
    with pytest.raises(TargetError, match="without a rule for scores"):
        ft.targets.torch(lambda x: x.long()[:, 0], labels=0.5)(batch)


@pytest.mark.parametrize("answer", [lambda x: x[:1], lambda x: None, lambda x: x[:, :, None]])
def test_answers_must_be_one_for_each_input(answer: Any) -> None:
    with pytest.raises(TargetError, match="a label, or scores, for each input"):
        ft.targets.torch(answer)(np.zeros((3, 2)))


def test_what_is_none_is_refused() -> None:
    with pytest.raises(ParameterError, match="model must be a module of torch"):
        ft.targets.torch(3)
    with pytest.raises(ParameterError, match="device must be one that torch has here; got 'moon'"):
        ft.targets.torch(network(2), "moon")
    with pytest.raises(ParameterError, match=r"dtype must be a type of torch, such as torch.float32; got 'half'"):
        ft.targets.torch(network(2), dtype="half")


@pytest.mark.parametrize("p", [0.5, 0.3])
@pytest.mark.parametrize("rule", [{"epsilon": 0.45}, {"within": 0.02}, {"epsilon": 1e-4, "max_queries": 20_000}])
def test_audits_are_the_same_there(p: float, rule: dict[str, Any]) -> None:
    space = ft.ProductSpace.bernoulli(20, p)
    tree = Tree.build(space, [(0, 1, 2), 0, (3, 3, 4), 1, 2], [0, 1, 2])
    there, here = both(network(20), batch_size=9_000)
    assert ft.certify(tree, there, space, seed=3, **rule) == ft.certify(tree, here, space, seed=3, **rule)


@pytest.mark.parametrize("kind", ["int64", "float64"])
def test_a_buffer_that_is_used_again_and_a_batch_that_is_written_into_change_nothing(kind: str) -> None:
    buffers: dict[int, Any] = {}

    def hostile(x: Any) -> Any:
        answer = (x[:, 0] + x[:, 1] * x[:, 2] >= 1).to(getattr(torch, kind))
        x.zero_()
        return buffers.setdefault(len(x), torch.empty_like(answer)).copy_(answer)

    rule = {"labels": "score"} if kind == "float64" else {}
    target, batch = ft.targets.torch(hostile, batch_size=16, **rule), np.random.default_rng(1).integers(0, 2, (64, 3))
    assert target(batch).tolist() == (batch[:, 0] + batch[:, 1] * batch[:, 2] >= 1).astype(int).tolist()
    if kind == "int64":
        space = ft.ProductSpace.bernoulli(12, 0.4)
        there, here = both(hostile, batch_size=64)
        honest = ft.targets.torch(lambda x: (x[:, 0] + x[:, 1] * x[:, 2] >= 1).long(), batch_size=64)
        found = [ft.practical_top_down(one, space, 0.2, 0.1, seed=2) for one in (there, here, honest)]
        assert found[0].tree == found[1].tree == found[2].tree
        assert found[0].certificate == found[1].certificate == found[2].certificate


def test_a_long_audit_looks_seldom_and_counts_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fidelitree.runs.agree.audit.block_rows", lambda features: 64)
    monkeypatch.setattr("fidelitree.runs.agree.device_tests.block_rows", lambda features: 64)
    space, looks = ft.ProductSpace.bernoulli(13), []
    there, here = both(lambda x: x[:, 0] > 0, batch_size=200)
    tree = Tree.build(space, [(0, 1, 2), 0, 1], [False, True])
    found = [ft.certify(tree, target, space, 1e-3, seed=1, observer=looks.append) for target in (there, here)]
    assert found[0] == found[1]
    assert found[0].holds
    judged = [look.asked for look in looks if type(look).__name__ == "TreeJudged"]
    there_alone = judged[: judged.index(64, 1)]
    assert there_alone[:8] == [64, 128, 192, 256, 320, 384, 448, 512]
    assert len(there_alone) < 30  # of 58 blocks


@pytest.mark.parametrize("limit", [{"max_leaves": 3}, {"max_queries": 9_000}, {"max_queries": 60_000}])
def test_algorithm_2_grows_the_same_tree_there(limit: dict[str, Any]) -> None:
    space = ft.ProductSpace.bernoulli(6, 0.4)
    there, here = both(network(6))
    one, two = (ft.practical_top_down(target, space, 0.25, 0.2, **limit) for target in (there, here))
    assert (one.tree.digest, one.certificate, one.queries) == (two.tree.digest, two.certificate, two.queries)
    assert one.reason == two.reason


def test_the_printed_schedule_too() -> None:
    space = ft.ProductSpace.bernoulli(3)
    there, here = both(network(3))
    one, two = (ft.practical_top_down(t, space, 0.4, 0.3, schedule="printed", max_leaves=2) for t in (there, here))
    assert (one.tree.digest, one.certificate) == (two.tree.digest, two.certificate)


@pytest.mark.parametrize(("features", "given"), [(20, None), (20, {"x3": 1}), (300, None)])
def test_influences_are_the_same_there(features: int, given: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stars, "MOST_BYTES", 1_000)
    space = ft.ProductSpace.bernoulli(features, 0.3)
    there, here = both(network(features))
    one, two = (ft.analyze(t, space, given, method="sampled", max_queries=6_000) for t in (there, here))
    assert one.influences.tolist() == two.influences.tolist()
    assert one.intervals.tolist() == two.intervals.tolist()
    assert one.label_probabilities.tolist() == two.label_probabilities.tolist()
    assert one.queries == two.queries


def test_what_is_no_label_ends_a_run() -> None:
    space = ft.ProductSpace.bernoulli(13)
    tree = Tree.constant(space, 0)
    there, _ = both(lambda x: torch.where(x[:, :2] > 0, torch.nan, 1.0))
    with pytest.raises(TargetError, match=r"the model answered NaN for \d+ inputs"):
        ft.certify(tree, there, space, 0.1, seed=1)
    with pytest.raises(TargetError, match="NaN has no label"):
        there(np.ones((2, 13)))
    far, _ = both(lambda x: x[:, 0].long() - 1)
    with pytest.raises(TargetError, match="labels on a device must be whole numbers from 0 to 255"):
        ft.certify(tree, far, space, 0.1, seed=1)


def test_a_model_that_fails_says_so() -> None:
    there, _ = both(nn.Linear(5, 2))
    with pytest.raises(TargetError, match="the target raised RuntimeError on a batch of"):
        ft.certify(Tree.constant(ft.ProductSpace.bernoulli(13), 0), there, ft.ProductSpace.bernoulli(13), 0.1)


def test_the_usual_way_is_gone_where_it_must_be() -> None:
    space = ft.ProductSpace.bernoulli(3)
    there, here = both(network(3))
    assert OnDevice.of(Counted(there, space)) is not None
    assert OnDevice.of(Counted(here, space)) is None
    mixed = ft.ProductSpace([ft.Boolean("a"), ft.Numeric("b", 0, 1)])
    assert OnDevice.of(Counted(there, mixed)) is None
    there.counts_there = False
    assert OnDevice.of(Counted(there, space)) is None
    text = Tree.constant(ft.ProductSpace.bernoulli(13), "no")
    with pytest.raises(ParameterError, match="predictor must answer labels of the target's kind"):
        ft.certify(text, both(network(13))[0], ft.ProductSpace.bernoulli(13), 0.1)


def test_time_is_kept_there_too() -> None:
    space = ft.ProductSpace.bernoulli(13)
    there, _ = both(lambda x: x[:, 0] > 0)
    found = ft.certify(Tree.constant(space, False), there, space, 1e-9, seed=1, max_seconds=0)
    assert (found.samples, found.holds) == (0, False)


def test_dropout_left_on_is_noticed_there_too() -> None:
    space = ft.ProductSpace.bernoulli(20)
    there, _ = both(lambda x: (nn.functional.dropout(x, 0.3).sum(dim=1) > 10).long())
    for door in (
        lambda: ft.practical_top_down(there, space, 0.2, 0.2, seed=0),
        lambda: ft.analyze(there, space, seed=0),
    ):
        with pytest.raises(
            ft.TargetError, match=r"answered an input differently .* The input: x0 = [01], .*model\.eval"
        ):
            door()


def test_what_answers_the_same_is_asked_again_142_times_there_and_counts_the_same() -> None:
    space = ft.ProductSpace.bernoulli(6, 0.4)
    there, here = both(network(6))
    paid = [ft.practical_top_down(one, space, 0.25, 0.2, seed=0, max_leaves=2).queries.paid for one in (there, here)]
    assert paid[0]["check"] == paid[1]["check"] == 142
