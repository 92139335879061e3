"""Runs over a table: real rows stand beside the certificate, and nothing learns from them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import fidelitree as ft
from commandline import run
from fidelitree.certificates.real_rows import RealRows
from fidelitree.errors import DoubtWarning
from fidelitree.runs.kept_rows import ASKED

if TYPE_CHECKING:
    from pathlib import Path


def table(rows: int = 1_600, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    age = random.integers(18, 90, rows)
    return pd.DataFrame({"age": age, "income": age * 100 + random.normal(0, 300, rows), "coin": random.random(rows)})


def rule(batch: pd.DataFrame) -> Any:
    return batch["age"].to_numpy() + batch["income"].to_numpy() / 100 > 90


def test_a_fitted_model_and_a_table_are_enough() -> None:
    train = table(seed=1)
    model = RandomForestClassifier(20, random_state=0).fit(train, rule(train))
    found = ft.distill(model, table(), 0.1)
    real = found.certificate.real_rows
    assert found.certificate.holds
    assert real is not None
    assert real.rows == ASKED == found.queries.asked["real rows"]
    kept = found.space.kept
    assert kept is not None
    asked = kept.batch(kept.inner[:ASKED])
    assert real.errors == (found.tree.predict(asked) != model.predict(asked)).sum()
    assert "one half of this table" in str(found.certificate)
    assert found.certificate.sentences(found.leaves)[0].startswith("On 500 real rows that were kept aside")


def test_a_booster_as_it_comes() -> None:
    xgboost = pytest.importorskip("xgboost")
    train = table(seed=1)
    data = xgboost.DMatrix(train, rule(train).astype(int))
    booster = xgboost.train({"objective": "binary:logistic", "verbosity": 0}, data, 5)
    found = ft.distill(booster, table(), 0.1)
    assert found.certificate.holds
    assert set(found.tree.labels) == {0, 1}


def test_what_has_no_predict_or_is_a_class_is_refused() -> None:
    with pytest.raises(ft.ParameterError, match="target must be callable"):
        ft.distill(3, table())
    with pytest.raises(ft.ParameterError, match="model must be a fitted model with a method predict; got <class"):
        ft.distill(DecisionTreeClassifier, table())
    with pytest.raises(ft.ParameterError, match="model must be fitted"):
        ft.distill(DecisionTreeClassifier(), table())


def test_real_rows_teach_nobody() -> None:
    """Other answers on the kept rows change the error there, and nothing else."""
    world = ft.distill(rule, table(), 0.1).space
    assert world.kept is not None
    kept = {tuple(row) for row in world.kept.inner.tolist()}

    def liar(batch: pd.DataFrame) -> Any:
        mine = np.array([tuple(row) in kept for row in batch.to_numpy(dtype=float).tolist()])
        return rule(batch) ^ mine

    honest = ft.distill(rule, table(), 0.1)
    with pytest.warns(DoubtWarning, match="or the model was fitted to rows of this table"):
        lying = ft.distill(liar, table(), 0.1)
    assert honest.tree == lying.tree
    assert honest.certificate.errors == lying.certificate.errors
    assert lying.certificate.real_rows is not None
    assert lying.certificate.real_rows.share > 0.8
    said = " ".join(lying.certificate.sentences(2))
    assert "that is certified over draws. So draws are not like the rows of this table, or" in said
    assert "these rows are not new to the model. Assumes:" in said


def test_every_point_of_a_frontier_has_its_error_on_real_rows() -> None:
    found = ft.frontier(rule, table(), max_queries=2_000)
    assert found.queries.asked["real rows"] == 400
    for point in found:
        real = point.certificate.real_rows
        assert real is not None
        assert real.rows == 400
        kept = point.space.kept
        assert kept is not None
        batch = kept.batch(kept.inner[:400])
        assert real.errors == (point.tree.predict(batch) != rule(batch)).sum()


def test_certify_analyze_and_compare_take_a_table() -> None:
    found = ft.certify(lambda batch: batch["age"].to_numpy() > 45, rule, table(), 0.2, seed=0)
    assert found.holds
    assert found.real_rows is not None
    assert found.real_rows.rows == ASKED
    assert ft.analyze(rule, table(), max_queries=3_000).influences[2] == 0
    rows = ft.compare(rule, table(), 0.1, learners=["distill", "id3"], max_seconds=30).rows
    assert all(row.certified for row in rows)


def test_a_small_budget_leaves_most_labels_to_the_run() -> None:
    found = ft.distill(rule, table(), 0.1, max_queries=200)
    assert found.queries.asked["real rows"] == 40
    assert found.queries.asked <= 200
    assert ft.distill(rule, table(), 0.1, max_queries=4).certificate.real_rows is None


def test_a_stored_result_is_made_again(tmp_path: Path) -> None:
    found = ft.distill(rule, table(), 0.1, journal=tmp_path / "journal.db")
    found.save(tmp_path)
    report = ft.verify(tmp_path)
    assert report.holds, report
    assert report.certificate.real_rows == found.certificate.real_rows
    page = found.report(tmp_path / "page.html").read_text()
    assert "real rows that were kept aside" in page
    assert "held-out log-likelihood per row" in page


def test_the_interval_is_clopper_and_pearsons() -> None:
    low, high = RealRows(500, 20).interval
    assert (round(low, 4), round(high, 4)) == (0.0246, 0.0611)
    assert RealRows(10, 0).interval[0] == 0
    assert RealRows(10, 10).interval[1] == 1


def test_an_estimate_within_the_certified_interval_is_no_news() -> None:
    """75.6% is above the lower end, 71%, and yet what 71% to 76.8% promises."""
    real = RealRows(500, 122)
    assert (
        "75.6% (71.5% to 79.4% with 95% confidence), in line with the 71% or more that"
        in real.sentences((0.232, 0.29))[0]
    )
    assert real.sentences((0.32, 0.4))[0].endswith(
        ", more than the 60% to 68% that is certified over draws. Assumes: the rows are independent of each other; the "
        "target was not fitted to them; neither the target nor the predictor was changed knowing them."
    )
    assert "in line with the 75.08% or more that" in real.sentences((0.1, 0.2492), "75.08%")[0]
    assert ", less than the 90% that is certified over draws." in real.sentences((0.05, 0.1))[0]
    assert "certified" not in real.sentences((0.0, 1.0))[0]


@pytest.mark.parametrize("entry", [3, {"rows": 5}, {"rows": 5, "errors": 6}, {"rows": 5, "errors": 0.5}])
def test_a_damaged_certificate_is_refused(entry: Any) -> None:
    data = ft.distill(rule, table(), 0.1).certificate.to_dict()
    assert data["real_rows"].pop("refutes") is False
    assert ft.Certificate.from_dict(data).real_rows == RealRows(**data["real_rows"])
    with pytest.raises(ft.FormatError, match="real_rows must hold"):
        ft.Certificate.from_dict({**data, "real_rows": entry})


def sums(rows: int = 1_000) -> pd.DataFrame:
    """Pairs of columns are independent, and yet the third follows from the other two: no tree of pairs draws that."""
    random = np.random.default_rng(7)
    a = random.integers(0, 200, rows)
    b = random.integers(0, 200, rows)
    return pd.DataFrame({"a": a, "b": b, "c": (a + b) % 200})


def adds_up(batch: pd.DataFrame) -> Any:
    return np.where((batch["a"] + batch["b"] - batch["c"]).to_numpy() % 200 == 0, "yes", "no")


REFUTED = r"real rows refute this certificate.*at least 9\d.* is certified, and on 500 rows .* on 0%.*ft\.Rows\(table\)"


def test_real_rows_that_refute_are_a_field_and_a_warning() -> None:
    with pytest.warns(DoubtWarning, match=REFUTED):
        found = ft.distill(adds_up, sums(), 0.1, seed=0)
    assert found.certificate.holds
    assert found.refuted_by_rows
    assert found.certificate.refuted_by_rows
    data = found.certificate.to_dict()
    assert data["real_rows"] == {"rows": 500, "errors": 500, "refutes": True}
    assert ft.Certificate.from_dict(data) == found.certificate
    with pytest.raises(
        ft.FormatError, match="real_rows says whether it refutes the bound, and its numbers say otherwise"
    ):
        ft.Certificate.from_dict({**data, "real_rows": {**data["real_rows"], "refutes": False}})
    with pytest.raises(ft.FormatError, match="refutes must be true or false"):
        ft.Certificate.from_dict({**data, "real_rows": {**data["real_rows"], "refutes": 0}})
    with pytest.warns(DoubtWarning, match=REFUTED):
        curve = ft.frontier(adds_up, sums(), seed=0, max_queries=3_000, max_leaves=3)
    assert curve.refuted_by_rows
    with pytest.warns(DoubtWarning, match=REFUTED):
        assert ft.certify(found.tree, adds_up, sums(), 0.1, seed=0).refuted_by_rows


def test_a_frontier_names_every_size_that_real_rows_refute() -> None:
    """The knee may be right about real rows, and a smaller tree that somebody picks be wrong about them."""
    space = ft.ProductSpace.bernoulli(14, 0.4)
    found = ft.frontier(lambda bits: bits[:, 0] | (bits[:, 1] & bits[:, 2]), space, max_queries=600, max_leaves=5)
    line = "On real rows that were kept aside, these sizes agree less often than is certified over draws: "
    assert line not in str(found)
    smaller = [point for point in found if point.leaves < found.knee.leaves]
    assert len(smaller) > 1
    assert all(point.certificate.standing.state != "nothing" for point in smaller)
    rows = RealRows(500, 500)
    told = [replace(point, certificate=replace(point.certificate, real_rows=rows)) for point in smaller]
    again = replace(found, points=(*told, *found.points[len(told) :]))
    assert not again.refuted_by_rows
    assert f"{line}{', '.join(str(point.leaves) for point in smaller)}." in str(again).splitlines()


def test_rows_that_refute_nothing_are_no_doubt() -> None:
    found = ft.distill(rule, table(), 0.1, seed=0)
    assert not found.refuted_by_rows
    assert found.certificate.to_dict()["real_rows"]["refutes"] is False
    assert not ft.distill(lambda bits: bits[:, 0], ft.ProductSpace.bernoulli(3)).refuted_by_rows


@pytest.mark.filterwarnings("always::fidelitree.errors.DoubtWarning")
def test_commands_end_with_a_code_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    sums().to_csv("sums.csv", index=False)
    code = "def adds_up(t):\n    return ((t['a'] + t['b'] - t['c']) % 20 == 0).map({True: 'yes', False: 'no'})\n"
    (tmp_path / "sums_model.py").write_text(code, encoding="utf-8")
    asked = ("sums_model:adds_up", "--data", "sums.csv", "--epsilon", 0.1)
    done = run("distill", *asked, "--out", "kept")
    assert done.code == 6
    assert "fidelitree: warning: real rows refute this certificate" in done.err
    assert "certify over rows with --rows, or draw otherwise: --mixture" in done.err
    told = run("distill", *asked, "--no-journal", "--out", "json", "--json")
    assert (told.code, told.json["certified"], told.json["refuted_by_rows"]) == (6, True, True)
    curve = run("frontier", *asked[:3], "--max-queries", 3_000, "--max-leaves", 3, "--out", "curve", "--json")
    assert (curve.code, curve.json["refuted_by_rows"]) == (6, True)
    assert "never answers: yes" in " ".join(curve.json["never"])
    assert run("certify", "kept", "sums_model:adds_up", "--data", "sums.csv", "--epsilon", 0.1).code == 6
    over_rows = run("distill", *asked, "--rows", "--out", "rows")
    assert over_rows.code == 0
