"""Runs whose trees may defer: coverage with its certificate, stored, verified, shown."""

import json
import subprocess
import sys
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.certificates.attempts import Attempts
from fidelitree.runs.coverage_goal import CoverageGoal, Shape
from fidelitree.runs.learning import QUERIES
from fidelitree.trees.answers import DEFER

BITS = ft.ProductSpace.bernoulli(12)
COIN = np.random.default_rng(5).integers(0, 2, 1 << 10)


def half(bits):
    """A dictator where x0 = 1, and a coin for every input elsewhere."""
    places = bits[:, 2:].astype(int) @ (1 << np.arange(10))
    return np.where(bits[:, 0] == 1, bits[:, 1], COIN[places])


def error_where_it_answers(tree):
    rows = (np.arange(1 << 12)[:, None] >> np.arange(12) & 1).astype(np.uint8)
    found = tree.predict(rows)
    own = found != DEFER
    return float((found[own] != half(rows)[own]).mean()), float(own.mean())


def checking(folder):
    return [sys.executable, "-I", "-S", folder / "verify.py", folder]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("defer")
    found = ft.distill(half, BITS, 0.05, defer=True, max_queries=1_500, max_leaves=8, journal=folder / "journal.db")
    found.save(folder / "result")
    return found, folder / "result"


def test_half_is_answered_and_the_rest_deferred(made):
    found, _ = made
    error, coverage = error_where_it_answers(found.tree)
    told = found.certificate
    assert told.holds
    assert found.reason == "certified"
    assert error <= told.error_bound <= 0.05
    assert coverage == pytest.approx(told.coverage, abs=1e-12)
    assert told.coverage >= 0.5
    assert told.drawn > told.samples
    assert "coverage >= " in repr(found)
    assert found.queries.asked <= 1_500


def test_the_curve_is_leaves_against_coverage(made):
    found, _ = made
    curve = found.frontier
    shares = [point.certificate.coverage for point in curve]
    assert shares == sorted(shares)
    assert all(point.certificate.error_bound <= 0.05 for point in curve)
    assert str(curve).splitlines()[0] == "leaves    answers at least  at most"
    assert "coverage" in repr(curve)
    assert curve.rows()[0]["coverage"] == shares[0]
    assert [point.leaves for point in curve if point.certificate.epsilon is not None] == [found.leaves]


def test_the_folder_is_confirmed_three_ways(made):
    _, folder = made
    for answers in (False, True):
        found = ft.verify(folder, answers=answers)
        assert found.holds, str(found)
    done = subprocess.run(checking(folder), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1].strip()) == (0, "confirmed"), done.stdout
    again = ft.verify(folder, target=half)
    assert again.holds
    assert again.fresh.coverage == pytest.approx(again.certificate.coverage)
    assert ft.Frontier.load(folder).points[0].tree.defers


@pytest.mark.parametrize(
    ("name", "value"), [("coverage", 0.9), ("drawn", 1_000_000), ("samples", 100), ("errors", 3), ("error_bound", 0.01)]
)
def test_forged_numbers_are_refused_by_both(made, tmp_path, name, value):
    _, folder = made
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    told = json.loads((copy / "certificate.json").read_text())
    assert told[name] != value, "this is no forgery"
    told[name] = value
    (copy / "certificate.json").write_text(json.dumps(told))
    run_file = json.loads((copy / "run.json").read_text())
    del run_file["files"]
    (copy / "run.json").write_text(json.dumps(run_file))
    done = subprocess.run(checking(copy), capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stdout
    assert not ft.verify(copy, answers=True).consistent


def test_the_report_says_which_inputs_are_deferred(made, tmp_path):
    found, _ = made
    page = found.report(tmp_path / "report.html").read_text()
    assert "What it leaves to the target" in page
    assert "Certified coverage" in page
    assert "that answers at least" in page


def test_an_audit_tells_of_coverage_too(made):
    found, _ = made
    told = ft.certify(found.tree, half, BITS, 0.08, seed=3)
    assert told.holds
    assert told.coverage == pytest.approx(found.certificate.coverage)
    with pytest.raises(ft.ParameterError, match="epsilon must be above 0 where the tree defers; got 0"):
        ft.certify(found.tree, half, BITS, 0)


def test_the_same_seed_gives_the_same_tree(made):
    found, _ = made
    again = ft.distill(half, BITS, 0.05, defer=True, max_queries=1_500, max_leaves=8)
    assert again.tree == found.tree
    assert again.certificate.error_bound == found.certificate.error_bound


def test_an_easy_target_is_answered_everywhere():
    found = ft.distill(lambda bits: bits[:, 0] & bits[:, 1], BITS, 0.1, defer=True, max_queries=500, max_leaves=4)
    assert found.certificate.coverage == 1
    assert not found.tree.defers
    assert found.certificate.holds


def test_a_coin_everywhere_is_nil():
    found = ft.distill(
        lambda bits: COIN[bits[:, 2:].astype(int) @ (1 << np.arange(10))],
        BITS,
        0.02,
        defer=True,
        max_queries=400,
        max_leaves=4,
    )
    assert found.tree.label(0) is DEFER
    assert found.certificate.coverage == 0
    assert not found.certificate.holds
    assert found.reason.startswith("coverage is nil")
    assert "Coverage is nil" in str(found)


def test_rows_of_a_table_have_a_bound_in_the_place_of_a_mass():
    random = np.random.default_rng(2)
    table = {f"x{i}": random.integers(0, 2, 6_000).astype(float) for i in range(12)}
    space = ft.Rows(table, numeric=list(table))
    found = ft.distill(lambda batch: half(np.column_stack(list(batch.values()))), space, 0.1, defer=True, max_leaves=4)
    told = found.certificate
    assert told.holds
    share = float((found.tree.predict(table) != DEFER).mean())
    assert 0 < told.coverage < share
    assert told.ends[0] == 0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"epsilon": 0}, "epsilon must be above 0 with defer=True"),
        ({"epsilon": None}, "epsilon must be a number with defer=True"),
        ({"strategy": "smallest"}, 'strategy must be "auto" with defer=True'),
        ({"tolerance": 0.5}, "tolerance must be None with defer=True"),
        ({"defer": "yes"}, "defer must be True or False"),
    ],
)
def test_what_does_not_go_together_is_refused(more, message):
    with pytest.raises(ft.ParameterError, match=message):
        ft.distill(half, BITS, **{"defer": True, **more})


def test_leaves_are_deferred_worst_first_and_joined():
    tree = ft.Tree.build(BITS, [(0, 1, 2), (1, 3, 4), 0, 0, 1], [0, 1])
    grown = np.array([[30, 28], [20, 25], [90, 1]])
    held = np.array([[10, 10], [10, 10], [60, 0]])
    found = Shape(BITS, tree, [0, 1], grown, held).candidate(lambda coverage, rows: np.full(len(coverage), 0.05))
    assert found.tree.size == 2
    assert (found.coverage, found.error) == (0.6, 0.0)
    assert str(found.tree).splitlines() == ["x0 = 0: ask the target", "x0 = 1: 0"]


def test_more_doubt_answers_less():
    random = np.random.default_rng(0)
    tree = ft.Tree.build(BITS, [(0, 1, 2), (1, 3, 4), (2, 5, 6), 0, 1, 0, 1], [0, 1])
    wrong = np.array([0, 20, 60, 100])
    counts = np.stack([1_000 - wrong, wrong], axis=1)[random.permutation(4)]
    goal = CoverageGoal(0.05, [4], QUERIES, seed=0)
    loop = SimpleNamespace(
        source=SimpleNamespace(tests_left=5_000),
        counted=SimpleNamespace(left=5_000),
        attempts=SimpleNamespace(delta=0.05),
    )
    shape = Shape(BITS, tree, [0, 1], counts, counts)
    found = [shape.candidate(partial(goal._aim, loop, doubt)) for doubt in (0.0, 1.2, 3.0, 6.0)]
    shares = [one.coverage for one in found]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > shares[-1]
    assert all(one.error <= 0.05 for one in found)


def test_production_rows_that_are_deferred_break_no_promise(made):
    found, folder = made
    rows = BITS.draw(2_000, seed=5)
    for result in (found, folder):
        monitor = ft.Monitor(result)
        monitor.see(rows, half(rows))
        assert monitor.alarm is None
        assert 0 < monitor.watched[0].rows < len(rows)


def test_doors_about_labels_alone_refuse_it(made):
    found, _ = made
    with pytest.raises(ft.ParameterError, match="tree must answer every input to become precision and recall"):
        ft.errors_by_class(found.tree, half, BITS)
    with pytest.raises(ft.ParameterError, match="tree must answer every input to become one side of a difference"):
        ft.diff(found.tree, half, BITS)


def test_a_coverage_that_is_forged_over_rows_is_refused_by_both(tmp_path):
    """It was confirmed by the file that shares no code, because it looked at what was claimed."""
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=3_000), "b": rng.normal(size=3_000)}
    noise = lambda column: (np.sin(1e5 * np.asarray(column)) > 0).astype(int)  # noqa: E731
    target = lambda batch: np.where(np.asarray(batch["a"]) > 0, 1, noise(batch["b"]))  # noqa: E731
    journal = tmp_path / "journal.db"
    found = ft.distill(target, ft.Rows(table), 0.1, defer=True, max_queries=2_000, max_leaves=2, journal=journal)
    assert 0.2 < found.certificate.coverage < 0.8
    found.save(tmp_path / "kept")
    assert subprocess.run(checking(tmp_path / "kept"), capture_output=True, check=False).returncode == 5, "rows"
    names = ("certificate.json", "frontier.json", "run.json")
    told, front, run = (json.loads((tmp_path / "kept" / name).read_text()) for name in names)
    same = (point["certificate"] for point in front["points"] if point["leaves"] == found.leaves)
    for one in (told, *same):
        one["coverage"] += 0.005
    del run["files"]
    for name, data in zip(names, (told, front, run), strict=True):
        (tmp_path / "kept" / name).write_text(json.dumps(data))
    done = subprocess.run(checking(tmp_path / "kept"), capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stdout
    assert not ft.verify(tmp_path / "kept", answers=True).consistent


@pytest.mark.parametrize(("world", "undecided"), [("table", False), ("mixture", False), ("neighbours", True)])
def test_worlds_are_checked_by_the_file_as_far_as_it_knows_them(tmp_path, world, undecided):
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=400), "b": rng.normal(size=400)}
    spaces = {
        "table": lambda: table,
        "mixture": lambda: ft.Mixture.from_data(table),
        "neighbours": lambda: ft.Rows(table, blend=0.1),
    }
    found = ft.distill(
        lambda batch: np.where(np.asarray(batch["a"]) > 0, 1, np.sin(1e5 * np.asarray(batch["b"])) > 0),
        spaces[world](),
        0.1,
        defer=True,
        max_queries=1_500,
        journal=tmp_path / "journal.db",
    )
    found.save(tmp_path / "kept")
    done = subprocess.run(checking(tmp_path / "kept"), capture_output=True, text=True, check=False)
    confirmed = 0 if found.certificate.holds else 3
    assert done.returncode == (5 if undecided else confirmed), done.stdout
    assert ft.verify(tmp_path / "kept", answers=True).consistent


def test_a_fallback_changes_no_label_of_the_tree(made):
    found, _ = made
    rows = BITS.draw(200, seed=1)

    class Model:
        def predict(self, batch):
            return np.full(len(batch), 0.5)

    said = found.tree.predict(rows, fallback=Model())
    own = found.tree.predict(rows)
    assert [type(one) for one, other in zip(said, own, strict=True) if other is not ft.DEFER][:1] == [int]
    assert 0.5 in said.tolist()
    with pytest.raises(ft.ParameterError, match="fallback must be a model, or a callable"):
        found.tree.predict(rows, fallback=3)


@pytest.mark.parametrize("limit", [500, 2_000])
def test_where_some_inputs_are_not_asked_every_tree_under_test_defers(monkeypatch, limit):
    """What is left of a batch is no draw from the whole space: a tree that answers everything must not count it."""
    batches = []
    count = Attempts.count

    def spied(self, batch, labels, asked=None):
        batches.append((asked is not None, {attempt.tree.defers for attempt in self.all}))
        return count(self, batch, labels, asked)

    monkeypatch.setattr(Attempts, "count", spied)
    ft.distill(half, BITS, 0.05, defer=True, max_queries=limit)
    assert any(partly for partly, _ in batches), "or the test shows nothing"
    assert all(kinds == {True} for partly, kinds in batches if partly)
