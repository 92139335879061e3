"""The page: every kind of result has one, it says what the certificate says, and it stands alone."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.counted import Queries, Tally
from fidelitree.report import Contents, render
from fidelitree.report.contents import Shares
from fidelitree.report.sections.assumed import assumed
from fidelitree.report.sections.checking import files_of
from mixed import MIXED, some_inputs
from reports import HOSTILE

BITS = ft.ProductSpace.bernoulli(11)
MUX = ft.targets.multiplexer(3)
VOID = {"br", "hr", "input", "meta"}


class Reader(HTMLParser):
    """The words of a page, and whether every element that is opened is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.open):
            self.words += data.split()

    @property
    def text(self) -> str:
        return " ".join(self.words)


def text(result: ft.Distillation) -> str:
    reader = Reader(render(result.contents))
    assert reader.open == []
    return reader.text


def mixed_target(batch: Any) -> Any:
    return np.where((batch["age"] > 40) & (batch["job"] != "pilot") | (batch["income"] > 60), "yes", "no")


def test_a_certified_result() -> None:
    result = ft.distill(MUX, BITS, 0.1)
    shown = text(result)
    assert "✓ Certified, goal met An error of at most 10% was asked for." in shown
    agreement = result.certificate.agreement
    assert f"A tree with 16 leaves that answers as the target does on at least {agreement} of inputs." in shown
    assert " ".join(str(result.certificate).splitlines()) in shown
    assert "up to one run in 20 may promise too much. Among runs that reach their goal, the share can be" in shown
    assert "fitted to these rows" not in shown
    tests = result.certificate.samples
    assert f"Nobody knows: the tree got every one of its {tests} test inputs right." in shown
    asked = result.queries.asked.by_purpose
    assert f"Testing the tree {asked['certify']}" in shown
    assert f"Following mistakes to features that matter {asked['walk']}" in shown
    assert (
        f"{result.queries.asked} labels were used; the target answered {result.queries.paid} rows, some of them again "
        "to check that answers repeat."
    ) in shown
    assert "ft.distill(target, space, epsilon=0.1, delta=0.05, seed=0)" in shown
    assert result.tree.digest in shown
    assert result.certificate.space_digest in shown
    assert "The run ended because the error asked for was certified." in shown
    assert str(result.tree).split("\n")[3].strip() in shown


def test_numbers_come_near_and_are_not_the_same() -> None:
    found = ft.distill(lambda batch: batch["age"] / 7, MIXED, 0.2, tolerance=3)
    headline = f"A tree with {found.leaves} leaves that is within 3 of the target on at least "
    assert headline in text(found)
    assert "within 3 of the target" in text(found).partition(headline)[2]


def test_a_result_that_is_not_certified_says_so_first() -> None:
    result = ft.distill(ft.targets.majority(11), BITS, 0.01, max_queries=260, seed=9)
    shown = text(result)
    made = result.certificate
    assert f"✗ Certified at {made.agreement} agreement, goal missed An error of at most 1% was asked for" in shown
    assert f"what could be certified is {made.error_at_most}." in shown
    assert f"Tested on {made.samples} fresh inputs: this tree disagreed on {made.errors}." in shown
    assert f"Of {made.samples} test inputs the tree got {made.errors} wrong. This is where they fell." in shown
    assert f"They differ on {made.errors} of {made.samples} fresh inputs." in shown
    assert "The certificate counts" not in shown, "all tables count what the sentence counts"
    assert "The run ended because of this: max_queries = 260." in shown
    assert "Share of the error" in shown


def test_nothing_certified_is_no_number() -> None:
    result = ft.distill(MUX, BITS, 0.01, max_queries=40)
    shown = text(replace(result, certificate=replace(result.certificate, error_bound=1.0)))
    assert "about which nothing could be certified" in shown
    assert "Agreement unknown" in shown


def test_a_run_without_tests_is_not_exact() -> None:
    result = ft.distill(MUX, BITS, 0.01, max_queries=40)
    untested = replace(result.certificate, samples=0, errors=0, error_bound=1.0, confusion=None)
    shown = text(replace(result, certificate=untested, leaf_labels=None))
    assert "✗ Nothing certified" in shown
    assert "Method sequential, but no input was tested" in shown
    assert "exact" not in shown.partition("Make it again")[2].partition("Inputs")[0]
    exact = text(ft.build_top_down(ft.targets.majority(3), ft.ProductSpace.bernoulli(3), 0))
    assert "Method exact: every input was counted" in exact


def test_which_label_is_lost_and_how_easy_it_was() -> None:
    def rare(batch: Any) -> Any:
        return np.where(batch["age"] > 88, "decline", mixed_target(batch))

    result = ft.distill(rare, MIXED, 0.2, seed=1)
    shown, table = text(result), result.certificate.confusion
    assert table is not None
    assert re.search(r"A constant answer \w+ would be wrong on [\d.]+% to [\d.]+% of inputs", shown)
    assert "The tree never answers: decline (" in shown
    for cell in table.cells:
        wrong = " (wrong)" if cell.wrong else ""
        assert f"{cell.target} {cell.tree}{wrong} {cell.count} of {cell.of} " in shown
    assert "Each interval holds with 95% confidence on its own; none is part of the certificate." in shown


def test_leaves_come_with_counts_and_those_with_few_tests_are_joined() -> None:
    result = ft.distill(MUX, BITS, 0.01, max_queries=210)
    shown = text(result)
    errors = result.leaf_errors
    assert any(entry.share is None for entry in errors)
    for entry in errors:
        if entry.wrong and entry.share is not None:
            assert f"{entry.counts}: " in shown
        elif entry.wrong:
            assert f"{len(entry.nodes)} leaves with fewer than 20 test inputs each – " in shown


def test_the_best_within_a_budget() -> None:
    shown = text(ft.distill(MUX, BITS, None, max_queries=400))
    assert "A tree of every size was asked for; this is the knee of the curve." in shown


def test_an_exact_result() -> None:
    perfect = text(ft.distill(ft.targets.majority(5), ft.ProductSpace.bernoulli(5), 0))
    assert "A tree with 20 leaves that answers exactly as the target does, on every input." in perfect
    assert "Confidence 100%" in perfect
    assert "one run in" not in perfect
    assert "Nowhere: the tree has no error at all." in perfect
    assert "none: nothing was drawn" in perfect
    close = text(ft.build_top_down(ft.targets.majority(5), ft.ProductSpace.bernoulli(5), 0.1))
    assert re.search(r"The tree is wrong on exactly [\d.]+% of inputs", close)
    assert "nor that every split is the best one" not in close


def test_rows_of_a_table() -> None:
    result = ft.distill(mixed_target, ft.Rows(MIXED.batch(some_inputs(MIXED, 2_000))), 0.1)
    shown = text(result)
    assert "counted over rows like those of the table" in shown
    assert "Not for a target fitted to these rows. It may know them by heart, and answer new rows worse." in shown
    assert " ".join(str(result.certificate).splitlines()) in shown
    assert "share of test rows that reach it" in shown
    assert "from the table's columns, one by one" in shown
    assert "twice the error" not in shown, "that is known of product spaces only"
    assert "rows of a table with 5 features" in shown
    unknown = Reader(render(replace(result.contents, leaf_labels=None))).text
    assert "No answers were kept that could tell." in unknown
    assert "Each line is a condition; its inputs go on" in unknown


def test_the_algorithms_of_the_paper() -> None:
    space = ft.ProductSpace.bernoulli(3)
    for result in (
        ft.build_top_down(ft.targets.majority(3), space, 0),
        ft.practical_top_down(ft.targets.majority(3), space, 0.3, 0.2),
        ft.distill(MUX, BITS, 0.1, strategy="influence"),
    ):
        page = render(result.contents)
        assert result.contents.by_leaves
        assert ">leaves</text>" in page
        assert "Error after each split" in page


def test_a_noisy_target() -> None:
    noise = np.random.default_rng(0)
    result = ft.distill(lambda b: MUX(b) ^ (noise.random(len(b)) < 0.02), BITS, 0.1, deterministic=False)
    assert "changes its mind" not in text(result)


def test_a_tree_of_one_leaf_and_an_empty_trace() -> None:
    space = ft.ProductSpace.bernoulli(30)
    result = ft.build_top_down(ft.Tree.constant(space, "always"), space, 0)
    assert result.trace == ()
    shown = text(result)
    assert "A tree with 1 leaf that answers exactly" in shown
    assert "One leaf: the same answer for every input." in shown
    assert "no feature has any influence on it" in shown
    assert "No label was asked for." in shown
    assert "After 0 labels the tree had 1 leaf" in shown
    assert 'role="img"' not in render(result.contents), "nothing to draw"


def test_what_is_read_back_from_files_has_a_page_too() -> None:
    """No trace, no answers, no call: a certificate and a tree are enough."""
    result = ft.distill(MUX, BITS, 0.1)
    bare = Contents(result.tree, BITS, result.certificate, Queries(Tally.of({}), Tally.of({})))
    reader = Reader(render(bare))
    assert f"at least {result.certificate.agreement} of inputs" in reader.text
    assert "ft.distill" not in reader.text


def test_repeats_are_not_paid_for() -> None:
    result = ft.distill(MUX, BITS, 0.1)
    queries = Queries(Tally.of({"certify": 10, "other": 1}), Tally.of({"certify": 8, "other": 1}))
    shown = Reader(render(replace(result.contents, queries=queries))).text
    assert "11 labels were used; the target answered 9 rows: repeated inputs are answered from memory." in shown
    assert "other 1" in shown


def test_many_features_are_folded_away() -> None:
    space = ft.ProductSpace.bernoulli(30)
    result = ft.build_top_down(ft.targets.balanced(space, 4, seed=1), space, 0)
    assert re.search(r"\d+ more features?", text(result))
    assert "features that the tree does not ask about" in text(result)


def test_names_are_inert_and_data_is_closed() -> None:
    space = ft.ProductSpace.bernoulli(2, names=[HOSTILE, "<img src=x onerror=alert(1)>"])
    result = ft.distill(lambda bits: np.where(bits[:, 0] & bits[:, 1], HOSTILE, "<b>"), space, 0)
    page = render(result.contents)
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert "<img" not in page
    assert "<b>" not in page
    assert "alert(1)&lt;/script&gt;" in page


def test_the_page_asks_for_nothing() -> None:
    page = render(ft.distill(MUX, BITS, 0.1).contents)
    assert re.search(r"(?:src|href)=\"(?!#)", page) is None
    assert not re.search(r"@import|url\(|https?:|fetch\(|XMLHttpRequest|WebSocket|innerHTML|eval\(", page)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src &#x27;none&#x27;; script-src &#x27;sha256-")


def test_the_same_result_gives_the_same_bytes(tmp_path: Path) -> None:
    result = ft.distill(mixed_target, MIXED, 0.1)
    one, two = (result.report(at, date="today") for at in (tmp_path / "one.html", str(tmp_path / "two.html")))
    assert one == tmp_path / "one.html"
    assert one.read_bytes() == two.read_bytes()


def test_names_of_the_model_and_the_day_come_first(tmp_path: Path) -> None:
    result = ft.distill(MUX, BITS, 0.1)
    about = {
        "title": "Audit of <March>",
        "target_name": "The selector",
        "notes": "Signed by nobody.",
        "date": "2026-11-17",
    }
    reader = Reader(result.report(tmp_path / "page.html", **about).read_text(encoding="utf-8"))
    assert "<title>Audit of &lt;March&gt;</title>" in (tmp_path / "page.html").read_text(encoding="utf-8")
    shown = reader.text.partition("Audit of <March> Model ")[2]
    assert shown.startswith("The selector Inputs a product of 11 features, 2^11 inputs Written 2026-11-17 Signed by")
    least = f"on at least {result.certificate.agreement} of inputs."
    assert f"A tree with 16 leaves that answers as The selector does {least}" in shown
    assert f"Model {result.run['target']} Inputs" in text(result), "what the run knows, where nobody says more"
    dated = result.report(tmp_path / "dated.html", date=dt.date(2026, 1, 2)).read_text(encoding="utf-8")
    assert "2026-01-02" in dated


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"title": 3}, "title must be text that UTF-8 can hold; got 3"),
        ({"date": 2026}, "date must be text that UTF-8 can hold; got 2026"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, about: dict[str, Any], message: str) -> None:
    result = ft.distill(MUX, BITS, 0.1)
    with pytest.raises(ft.ParameterError, match=re.escape(message)):
        result.report(tmp_path / "page.html", **about)
    assert not (tmp_path / "page.html").exists()


def missed() -> ft.Distillation:
    return ft.distill(ft.targets.majority(11), BITS, 0.01, max_queries=260, seed=6)


def test_disagreements_are_shown_as_they_were_drawn() -> None:
    result = missed()
    found, shown = result.disagreements(), text(result)
    assert found
    assert f"They differ on {found.wrong} of {found.tests} fresh inputs." in shown
    head, rows = found.cells(10, 8)
    examples = shown.partition("Where they differ: examples")[2].partition("What the tree looks at")[0]
    assert " ".join([*head[:-2], "Tree answers Target answers", *rows[0]]) in examples
    assert " ".join(rows[min(9, len(found) - 1)]) in examples
    assert "There are none: target and tree agree on every input." in text(ft.build_top_down(MUX, BITS, 0))
    certain = ft.distill(MUX, BITS, 0.1, seed=0)
    assert f"agree on all {certain.certificate.samples} fresh inputs of the test" in text(certain)


@pytest.mark.parametrize(("made", "words"), [
    (ft.ProductSpace.from_data, "Features are drawn independently of each other"),
    (ft.Rows, "Inputs are the rows of a table."),
    (ft.ChowLiu.from_data, "Inputs are draws from a Chow-Liu tree over 5 features."),
])  # fmt: skip
def test_the_assumed_inputs_are_told_in_words(made: Any, words: str) -> None:
    world = made(MIXED.batch(some_inputs(MIXED, 2_000)))
    page = str(assumed(world))
    assert words in page
    assert page.count("<svg") == 5
    for line in world.describe().lines:
        assert line.values.replace("'", "&#x27;") in page


def test_every_label_has_its_row() -> None:
    result = ft.distill(mixed_target, MIXED, 0.2, seed=1)
    table = result.certificate.confusion
    assert table is not None
    shown = text(result)
    for label in ("yes", "no"):
        (right,) = (cell for cell in table.cells if cell.target == cell.tree == label)
        said = sum(cell.count for cell in table.cells if cell.tree == label)
        assert re.search(rf"{label} [\d.]+% [\d.]+% to [\d.]+% {right.count} of {said}", shown)


def test_the_files_of_the_page_are_those_of_the_tree() -> None:
    contents = missed().contents
    files = files_of(contents, Shares.of(contents))
    assert set(files) == {"tree.json", "rules.txt", "tree.sql", "tree.c", "leaves.csv", "disagreements.csv"}
    assert files["tree.json"] == contents.tree.to_json()
    assert files["tree.sql"] == ft.export.to_sql(contents.tree)
    assert len(files["rules.txt"].splitlines()) == contents.tree.size
    assert len(files["leaves.csv"].splitlines()) == contents.tree.size + 1
    assert contents.disagreements is not None
    assert files["disagreements.csv"] == contents.disagreements.to_csv()
    assert files_of(replace(contents, tree=ft.targets.balanced(BITS, 9)), Shares.of(contents)) == {}, "too large"


def test_a_large_tree_makes_a_page_of_moderate_size() -> None:
    space = ft.ProductSpace.bernoulli(14)
    tree = ft.targets.balanced(space, 11, seed=1)
    assert tree.size == 2048
    result = ft.distill(MUX, BITS, 0.1)
    page = render(replace(result.contents, tree=tree, world=space, leaf_labels=None))
    assert len(page) < 600_000


@pytest.mark.parametrize("name", ["page.html", "report.css", "report.js", "tree.js", "words.js"])
def test_the_files_of_the_page_are_short(name: str) -> None:
    lines = (Path(ft.__file__).parent / "report" / name).read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 400
    assert max(map(len, lines)) <= 125
