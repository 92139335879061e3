"""The table of both answers: which label is lost, how far a constant gets, and the levels of its intervals."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from commandline import run
from fidelitree.certificates.confusion import MOST, Confusion, share_of_level
from fidelitree.display.wording import percent
from fidelitree.theory.sequential import RUN, STANDING, error_bound, interval, level_of_attempt
from mixed import MIXED

if TYPE_CHECKING:
    from pathlib import Path

BITS = ft.ProductSpace.bernoulli(11)
MUX = ft.targets.multiplexer(3)


def lender(batch: Any) -> Any:
    """Declines so seldom that a tree may never do it."""
    seldom = (batch["job"] == "pilot") & (batch["age"] > 80)
    return np.where(seldom, "decline", np.where(batch["age"] > 40, "yes", "no"))


def test_a_run_counts_its_own_tests() -> None:
    result = ft.distill(lender, MIXED, 0.15, seed=1)
    table, answers = result.certificate.confusion, result.answers
    assert table is not None
    assert answers is not None
    pairs = Counter(zip(answers.labels.tolist(), result.tree.predict_inner(answers.inputs).tolist(), strict=True))
    assert {(cell.target, cell.tree): cell.count for cell in table.cells} == dict(pairs)
    assert table.tests == len(answers) >= result.certificate.samples
    assert table.wrong == sum(count for (one, two), count in pairs.items() if one != two)
    rows = Counter(answers.labels.tolist())
    assert all(cell.of == rows[cell.target] for cell in table.cells)
    substitute = result.tree.size if result.certificate.differs else None
    assert table.level == share_of_level(result.certificate.attempt, substitute)


def test_a_lost_label_is_said_in_words() -> None:
    result = ft.distill(lender, MIXED, 0.15, seed=1)
    assert "decline" not in {result.tree.labels[code] for code in result.tree.code[result.tree.feature < 0]}
    lines = result.certificate.sentences(result.tree.size)
    assert lines[0].startswith("A constant answer ")
    assert any(line.startswith("The tree never answers: decline (") for line in lines)
    assert len(lines) <= 3


def rarely(batch: Any) -> Any:
    """A class of 2.7% of inputs."""
    return np.where(batch["age"] < 18 + 72 * 0.027, "fair", "ok")


def test_a_rare_answer_that_is_lost_is_said_everywhere(tmp_path: Path) -> None:
    """The bare leaf `ok` was certified at 95%, and no word about the other answer in ``print``."""
    result = ft.distill(rarely, MIXED, 0.1, seed=0)
    assert result.tree.size == 1
    lost = result.certificate.confusion.never[0]
    share = percent(lost.count / result.certificate.confusion.target.inputs)
    line = f"The tree never answers: fair ({share} of inputs: "
    assert line in str(result)
    assert line in result.card()
    assert line in result._repr_html_()
    assert line in result.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert line in " ".join(result.certificate.sentences(1))
    assert result.certificate.to_dict()["confusion"]["never"][0]["label"] == "fair"
    result.save(tmp_path / "kept")
    assert line in run("show", tmp_path / "kept").out


def test_a_frontier_says_it_of_its_knee() -> None:
    curve = ft.frontier(rarely, MIXED, seed=0, max_queries=1_500, max_leaves=1)
    assert "Of 1 leaf: The tree never answers: fair (" in str(curve)
    assert "never answers: fair (" in curve._repr_html_()
    both = ft.frontier(rarely, MIXED, seed=0, max_queries=1_500)
    assert both.knee.leaves == 2
    assert "never answers" not in str(both)


def test_a_lost_answer_is_counted_among_inputs_that_the_line_names() -> None:
    """The certificate said 118 tests, and the line 3 of 190, without a word about the others."""
    table = Confusion.of({("ok", "ok"): 110, ("ask", "ok"): 8}, 0.05, target={"ok": 180, "ask": 10})
    assert table is not None
    assert table.never_answers(1) == [
        "The tree never answers: ask (5.3% of inputs: 10 of all 190 test inputs of the run)."
    ]
    same = Confusion.of({("ok", "ok"): 110, ("ask", "ok"): 8}, 0.05)
    assert same is not None
    assert same.never_answers(1) == ["The tree never answers: ask (6.8% of inputs: 8 of 118)."]


def test_many_lost_answers_share_a_line() -> None:
    counts = {(f"label {number}", "ok"): 1 for number in range(8)}
    table = Confusion.of({("ok", "ok"): 92, **counts}, 0.05)
    assert table is not None
    (line,) = table.never_answers(1)
    assert line.startswith("The tree never answers: label 0 (1% of inputs: 1 of 100), label 1 (")
    assert line.endswith("label 4 (1% of inputs: 1 of 100) and 3 more.")
    known = Confusion.of({("ok", "ok"): 0.973, ("fair", "ok"): 0.027}, None)
    assert known is not None
    assert known.never_answers(1) == ["The tree never answers: fair (2.7% of inputs)."]


def test_a_single_leaf_says_that_a_constant_is_all_it_takes() -> None:
    result = ft.distill(lambda batch: np.where(batch.sum(axis=1) > 10, "rare", "usual"), BITS, 0.1)
    assert result.tree.size == 1
    assert "The tree is a single leaf: a constant is all it takes." in result.certificate.sentences(1)
    missed = ft.distill(ft.targets.parity(11), BITS, 0.01, max_leaves=1, max_queries=300)
    assert missed.tree.size == 1
    assert "all it takes" not in " ".join(missed.certificate.sentences(1)), "it does not take the goal"


@pytest.mark.parametrize("run", ["Algorithm 1", "all inputs", "a circuit", "an audit of a tree", "a counted audit"])
def test_known_answers_have_shares_and_no_intervals(run: str) -> None:
    majority, space = ft.targets.majority(3), ft.ProductSpace.bernoulli(3)
    runs = {
        "Algorithm 1": lambda: ft.build_top_down(MUX, BITS, 0.1).certificate,
        "all inputs": lambda: ft.distill(majority, space, 0.3).certificate,
        "a circuit": lambda: (
            ft.distill(ft.targets.expression("(a & b) | (c & d)"), ft.ProductSpace.bernoulli(4), 0.3).certificate
        ),
        "an audit of a tree": lambda: ft.certify(
            ft.Tree.constant(space, 0), ft.build_top_down(majority, space, 0).tree, space
        ),
        "a counted audit": lambda: ft.certify(lambda batch: np.zeros(len(batch), int), majority, space),
    }
    certificate = runs[run]()
    table = certificate.confusion
    assert table is not None
    assert table.level is None
    assert table.wrong == pytest.approx(certificate.error_bound, abs=1e-12)
    assert sum(cell.count for cell in table.cells) == pytest.approx(1)
    low, high = table.constant_error
    assert low == high
    assert all(ends[0] == ends[1] for ends in map(table.share, table.cells))


def test_an_audit_tells_the_same() -> None:
    """A predictor that is no tree: labels that it never gave in the tests, in other words."""
    certificate = ft.certify(lambda batch: np.array(["no"] * len(batch["age"])), lender, MIXED, 0.05, seed=2)
    table = certificate.confusion
    assert table is not None
    assert (table.tests, table.wrong) >= (certificate.samples, certificate.errors)
    assert table.level == pytest.approx(0.05)
    text = " ".join(certificate.sentences(None))
    assert f"The predictor never answers in {table.tests} test inputs: yes (" in text


def test_levels_add_up_to_five_percent() -> None:
    shares = [
        share_of_level(j, s, ledger)
        for j in range(1, 200)
        for s in (None, *range(1, 400))
        for ledger in (RUN, STANDING)
    ]
    assert 0.048 < sum(shares) < 0.05


def test_the_constant_pays_for_being_chosen() -> None:
    found = Confusion.of({("a", "a"): 60, ("b", "a"): 30, ("c", "c"): 10}, 0.01)
    assert found is not None
    low, high = found.constant_error
    assert low == pytest.approx(1 - error_bound(60, 100, 0.025))
    assert high == pytest.approx(error_bound(40, 99, level_of_attempt(3, 0.025)))
    assert high > interval(40, 100, 0.05)[1]


def test_many_labels_stay_short() -> None:
    """A thousand labels: the largest cells of each kind are listed, and the rest is counted."""
    pairs = {(label, label % 7): 1 + label % 13 for label in range(1000)}
    found = Confusion.of(pairs, 0.05)
    assert found is not None
    assert len(found.cells) <= 2 * MOST
    assert len(found.never) == MOST
    assert (found.cells_in_all, found.never_in_all) == (1000, 993)
    assert found.target.labels == 1000
    lines = found.sentences(True, 20)
    assert len(lines) == 2
    assert lines[1].endswith(" and 988 more.")
    text = found.lines()
    assert len(text) < 20
    assert "and 984 more pairs of labels" in text


def test_nothing_tested_has_no_table() -> None:
    assert Confusion.of({}, 0.05) is None
    certificate = ft.certify(MUX, lambda batch: batch[:, 0] & 1, BITS, max_seconds=0)
    assert certificate.confusion is None
    assert certificate.sentences(None) == []
