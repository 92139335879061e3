"""What changed between two targets: bounds that are true, borders that are exact, endings that are said."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.access import Call
from fidelitree.asking.journal.exporting import info
from fidelitree.asking.limits import Budget, Running
from fidelitree.runs.agree import diff
from fidelitree.runs.agree.diff_growing import ChangeExplorer
from fidelitree.runs.agree.diff_testing import Changed, level_of, level_together
from fidelitree.runs.agree.difference import SAME
from fidelitree.runs.agree.pair import Pair, paired
from fidelitree.runs.input_source import BoxDraws, source_of
from fidelitree.spaces.features import IsIn, IsOne
from fidelitree.spaces.region import Region
from fidelitree.targets import balanced
from journals import MIXED

if TYPE_CHECKING:
    from pathlib import Path

BITS = ft.ProductSpace.bernoulli(10)


def plain(batch: Any) -> Any:
    return np.where((batch["age"] > 50) | (batch["owner"] == 1), "yes", "no")


def patched(batch: Any) -> Any:
    inside = (batch["age"] > 61.3) & (batch["job"] == "clerk")
    return np.where(inside, "no", plain(batch))


def pair_of_both() -> Pair:
    with paired((plain, patched), MIXED, Running(), Call("diff", 0, True, {"deterministic": True}), Budget()) as pair:
        return pair


def test_a_patch_is_found_with_its_borders() -> None:
    found = ft.diff(plain, patched, MIXED)
    assert found.explained
    assert found.leaves <= 4
    assert found.reason == "certified"
    batch = MIXED.draw(50_000, seed=3)
    old, changed = plain(batch), plain(batch) != patched(batch)
    flagged = found.flags(batch, old.tolist())
    assert (flagged == changed).mean() > 0.9995
    assert found.changed[0] <= changed.mean() <= found.changed[1]
    assert "yes -> no" in str(found.tree)
    assert found.examples
    assert all((one["old"], one["new"]) == ("yes", "no") for one in found.examples)


def test_where_trees_of_many_sizes_are_tested_one_may_be_certified(monkeypatch: pytest.MonkeyPatch) -> None:
    """It said that no small tree explains the changes, with one in hand that does."""
    monkeypatch.setattr(diff._Comparison, "_hopeless", lambda self: True)
    found = ft.diff(plain, patched, MIXED)
    assert found.explained
    assert found.reason == "certified"


def test_the_same_seed_gives_the_same_difference() -> None:
    one, two = (ft.diff(plain, patched, MIXED, seed=4) for _ in range(2))
    assert (one.tree.digest, one.changed, dict(one.queries.asked)) == (
        two.tree.digest,
        two.changed,
        dict(two.queries.asked),
    )


def test_nothing_changed() -> None:
    found = ft.diff(plain, plain, MIXED, epsilon=0.01)
    assert found.holds
    assert (found.leaves, found.changed[0]) == (1, 0.0)
    assert found.reason == "at most epsilon changed"
    assert found.queries.asked == 483  # as many as an upper end at 19/20 of delta/3 takes


def test_what_no_small_tree_explains_is_said() -> None:
    """A tenth of all inputs, scattered: trees of several sizes come with the little that they reach."""

    def scattered(batch: Any) -> Any:
        noise = (batch.astype(np.int64) @ (1 << np.arange(batch.shape[1]))) * 2654435761 % 1000
        return batch[:, 0] ^ (noise < 100)

    found = ft.diff(lambda batch: batch[:, 0], scattered, ft.ProductSpace.bernoulli(40), max_queries=6_000)
    assert not found.explained
    assert found.changed[0] > found.epsilon
    assert found.unexplained > 0.05
    assert "changed where it does not say so" in str(found)


def test_a_budget_ends_it_with_what_is_known() -> None:
    found = ft.diff(plain, patched, MIXED, max_queries=60)
    assert found.reason == "max_queries = 60"
    assert found.queries.asked <= 60
    assert not found.holds


def test_two_trees_are_compared_exactly(tmp_path: Path) -> None:
    one, two = (balanced(BITS, 3, seed=seed) for seed in (1, 2))
    found = ft.diff(one, two, BITS)
    assert found.exact
    assert found.changed[0] == found.changed[1] == pytest.approx(ft.tree_error(one, two, BITS))
    assert (found.precision, found.recall, int(found.queries.asked)) == (1.0, 1.0, 0)
    batch = BITS.draw(2_000)
    assert (found.flags(batch, one.predict(batch).tolist()) == (one.predict(batch) != two.predict(batch))).all()
    smaller = ft.diff(one, two, BITS, max_leaves=4)
    flagged = smaller.flags(batch, one.predict(batch).tolist())
    assert smaller.leaves <= 4
    assert flagged.mean() > 0
    changed = one.predict(batch) != two.predict(batch)
    assert (flagged & changed).sum() / flagged.sum() == pytest.approx(smaller.precision, abs=0.05)
    assert (flagged & changed).sum() / changed.sum() == pytest.approx(smaller.recall, abs=0.05)
    for name, tree in (("one", one), ("two", two)):
        ft.distill(tree.predict, BITS, epsilon=0.05).save(tmp_path / name)
    stored = ft.diff(tmp_path / "one", tmp_path / "two")
    assert stored.exact


def test_arguments_are_checked() -> None:
    with pytest.raises(ft.ParameterError, match="precision must be above 0 and below 1; got 1"):
        ft.diff(plain, plain, MIXED, precision=1)
    with pytest.raises(ft.ParameterError, match="space must say where inputs come from"):
        ft.diff(plain, plain)
    with pytest.raises(ft.TargetError, match="labels must be of one kind"):
        ft.diff(plain, lambda batch: batch["owner"], MIXED)
    with pytest.raises(ft.ParameterError, match="old must hold labels of the old target"):
        ft.diff(plain, patched, MIXED).flags(MIXED.draw(1), ["maybe"])


def test_levels_add_up_to_a_third() -> None:
    for opened in (0, 1, 5):
        in_turn = sum(level_of(number, 1.0) for number in range(1, opened + 1))
        assert in_turn + 9 * level_together(opened, 9, 1.0) == pytest.approx(1 / 3)


def test_an_interval_holds_both_ends() -> None:
    changed = Changed(0.05)
    changed.count(30, 1_000)
    assert changed.interval[0] < 0.03 < changed.interval[1]
    assert changed.certifies(0.1)
    assert not changed.certifies(0.01)


def test_an_interrupt_finds_changes_and_inputs_together() -> None:
    """Before every instruction: changes were counted without their inputs."""
    found = set()
    for number in range(1, 200):
        changed, left = Changed(0.05), iter(range(number))
        changed.count(30, 1_000)

        def trace(frame: Any, event: str, argument: Any, left: Any = left) -> Any:
            if not frame.f_code.co_filename.endswith("sequential.py"):
                return None
            frame.f_trace_opcodes = True
            if next(left, None) is None:
                sys.settrace(None)
                raise KeyboardInterrupt
            return trace

        usual = sys.gettrace()
        sys.settrace(trace)
        try:
            changed.count(4, 8)
            break
        except KeyboardInterrupt:
            found.add(changed.counts)
        finally:
            sys.settrace(usual)
    assert found == {(30, 1_000), (34, 1_008)}


def test_draws_inside_what_is_flagged_are_as_the_space_draws_them() -> None:
    """Two flagged leaves that share one box, and a third: every leaf is reached as often as its mass says."""
    pair = pair_of_both()
    explorer = ChangeExplorer(pair, MIXED, 8)
    pair.ask(explorer.boxes.draw(MIXED.whole, 100), "label")
    owner = next(i for i, name in enumerate(explorer.extended.names) if name == "owner")
    tree = _three_leaves(explorer, owner)
    counts: dict[int, int] = {}
    for _ in range(200):
        inner, leaves = explorer.inside(tree, 24)
        old, _ = pair.ask(inner, "certify")
        reached = tree.reached_inner(explorer.extend(inner, old))
        for leaf in reached[reached == leaves].tolist():
            counts[leaf] = counts.get(leaf, 0) + 1
    batch = explorer.boxes.draw(MIXED.whole, 60_000)
    old, _ = pair.ask(batch, "label")
    everywhere = tree.reached_inner(explorer.extend(batch, old))
    flagged = [leaf for leaf, _ in explorer.flagged_leaves(tree)]
    masses = np.array([(everywhere == leaf).mean() for leaf in flagged])
    found = np.array([counts.get(leaf, 0) for leaf in flagged])
    assert found / found.sum() == pytest.approx(masses / masses.sum(), abs=0.03)


def _three_leaves(explorer: ChangeExplorer, owner: int) -> ft.Tree:
    nodes = [(IsOne(owner), 1, 4), (IsIn(0, frozenset({0})), 2, 3), 0, 1, 2]
    return ft.Tree.build(explorer.extended, nodes, ["a -> b", "c -> d", SAME])


def test_report_and_data(tmp_path: Path) -> None:
    found = ft.diff(plain, patched, MIXED)
    page = found.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "What changed between old and new" in page
    assert "yes -&gt; no" in page
    told = json.loads(found.to_json())
    assert told["precision"] == found.precision >= 0.9
    assert "| owner | job |" in found.markdown()


def number(batch: Any) -> Any:
    return 0.37 * batch["age"]


def dearer(batch: Any) -> Any:
    return number(batch) + 0.01 + 5.5 * ((batch["age"] > 61.3) & (batch["job"] == "clerk"))


def test_numbers_change_by_more_than_a_tolerance() -> None:
    found = ft.diff(number, dearer, MIXED, tolerance=0.5)
    assert found.explained
    assert found.leaves == 3
    assert "the old number -> a higher one" in str(found.tree)
    batch = MIXED.draw(20_000, seed=3)
    changed = np.abs(number(batch) - dearer(batch)) > 0.5
    assert found.changed[0] <= changed.mean() <= found.changed[1]
    assert (found.flags(batch, ["the old number"] * 20_000) == changed).mean() > 0.9995
    assert all(one["new"] - one["old"] == pytest.approx(5.51) for one in found.examples)
    assert ft.diff(number, lambda batch: number(batch) + 0.01, MIXED, tolerance=0.5, epsilon=0.01).holds


def test_trees_of_numbers_are_compared_within_a_tolerance() -> None:
    one, two = (ft.Tree.build(BITS, [(0, 1, 2), 0, 1], [0.25, high]) for high in (1.5, 1.75))
    assert ft.diff(one, two, BITS).changed == (0.5, 0.5)
    assert ft.diff(one, two, BITS, tolerance=0.5).changed == (0.0, 0.0)


class Failing:
    """A model that is gone after some inputs."""

    def __init__(self, model: Any, most: int) -> None:
        self.model, self.left, self.asked = model, most, 0

    def __call__(self, batch: Any) -> Any:
        rows = len(batch["age"])
        if rows > self.left:
            raise RuntimeError("gone")
        self.left, self.asked = self.left - rows, self.asked + rows
        return self.model(batch)


def test_a_journal_keeps_what_both_have_answered(tmp_path: Path) -> None:
    """The new model fails after the old one has answered a batch: nobody is asked about it again."""
    whole = ft.diff(plain, patched, MIXED)
    old, new = Failing(plain, 10**6), Failing(patched, 0)
    for more in (200, 100):
        new.left = more
        with pytest.raises(ft.TargetError, match="make the same call again, and it goes on from there"):
            ft.diff(old, new, MIXED, journal=tmp_path / "run.db")
    new.left = 10**6
    found = ft.diff(old, new, MIXED, journal=tmp_path / "run.db")
    assert (found.tree.digest, found.changed, found.precision, found.recall, found.examples) == (
        whole.tree.digest,
        whole.changed,
        whole.precision,
        whole.recall,
        whole.examples,
    )
    assert found.queries.asked == whole.queries.asked
    again = 2 * 16  # inputs that a resumed run asks once more
    assert (old.asked, new.asked) == (whole.queries.paid + again, whole.queries.paid + again)
    ft.diff(old, new, MIXED, journal=tmp_path / "run.db")
    assert (old.asked, new.asked) == (whole.queries.paid + 3 * 16, whole.queries.paid + 3 * 16)
    kept = info(tmp_path / "run.db")
    assert kept.by_purpose["old certify"] == kept.by_purpose["new certify"] > 0
    assert kept.answers == 2 * whole.queries.paid
    with pytest.raises(ft.FidelitreeError, match="belongs to another one"):
        ft.diff(Failing(patched, 10**6), new, MIXED, journal=tmp_path / "run.db")


def test_a_journal_of_numbers_goes_on(tmp_path: Path) -> None:
    early = ft.diff(number, dearer, MIXED, tolerance=0.5, max_queries=100, journal=tmp_path / "run.db")
    assert early.reason == "max_queries = 100"
    found = ft.diff(number, dearer, MIXED, tolerance=0.5, journal=tmp_path / "run.db")
    assert found.to_dict() == ft.diff(number, dearer, MIXED, tolerance=0.5).to_dict()


def test_workers_find_the_same_difference() -> None:
    with ThreadPoolExecutor(2) as pool:
        found = ft.diff(plain, patched, MIXED, executor=pool, batch_size=100)
    assert found.to_dict() == ft.diff(plain, patched, MIXED).to_dict()
    with pytest.raises(ft.ParameterError, match="timeout must be None where the target runs in this process"):
        ft.diff(plain, patched, MIXED, timeout=3)


def test_models_and_tables_are_taken_as_they_are() -> None:
    class Model:
        def predict(self, batch: Any) -> Any:
            return plain(batch)

    assert ft.diff(Model(), plain, MIXED.draw(300), epsilon=0.01).holds


def test_tests_come_from_one_part_of_the_rows_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of neighbours of rows, draws inside what is flagged are neighbours of the rows that tests are drawn from."""
    table = {"x": np.arange(400.0), "job": np.array(["clerk", "nurse"] * 200)}
    world = ft.Rows(table, blend=0.1)
    tested, used = source_of(world, 0).world, set()

    def seen(boxes: BoxDraws, box: Region) -> float:
        used.add(boxes._world.digest)
        return real(boxes, box)

    real = BoxDraws.mass
    monkeypatch.setattr(BoxDraws, "mass", seen)

    def new(batch: Any) -> Any:
        return (batch["x"] > 100) & ~((batch["x"] > 250) & (batch["job"] == "nurse"))

    found = ft.diff(lambda batch: batch["x"] > 100, new, world, max_queries=6_000, precision=0.97, recall=0.8)
    assert found.explained
    assert used == {tested.digest}


NUMBERS = ft.ProductSpace([ft.Numeric("a", 0, 1), ft.Numeric("b", 0, 1)])


def test_where_everything_changed_one_leaf_says_so() -> None:
    """It said that no small tree explains the changes, because one leaf was no tree."""
    found = ft.diff(lambda x: (x["a"] > 0.5).astype(int), lambda x: 1 - (x["a"] > 0.5).astype(int), NUMBERS)
    assert found.reason == "certified"
    assert found.explained
    assert found.leaves == 1
    assert str(found).splitlines()[0] in ("0 -> 1 or 1 -> 0", "1 -> 0 or 0 -> 1")
    assert "A tree of 1 leaf says where" in str(found)
    assert found.queries.asked < 1_000
    bits = ft.ProductSpace.bernoulli(4)
    exact = ft.diff(lambda x: x[:, 0], lambda x: 1 - x[:, 0], bits)
    assert exact.exact
    assert "A tree of 1 leaf says where: 100% of what it flags has changed" in str(exact)


def test_most_changed_is_not_everything_changed() -> None:
    coin = lambda x: (np.modf(np.sin(x["a"] * 91.7 + x["b"] * 47.3) * 9_999)[0] > -0.4).astype(int)  # noqa: E731
    found = ft.diff(lambda x: np.zeros(len(x["a"]), int), coin, NUMBERS, max_queries=3_000)
    assert not found.explained
    assert 0.5 < found.changed[0] < found.changed[1] < 0.9


def test_labels_with_bars_and_lines_stay_inside_a_table_of_markdown() -> None:
    label = lambda x, cut: np.where(x["a"] > cut, "p|q\nr", "s")  # noqa: E731
    found = ft.diff(lambda x: label(x, 0.5), lambda x: label(x, 0.4), NUMBERS)
    rows = [line for line in found.markdown().splitlines() if line.startswith("| 0.")]
    assert rows
    assert all(line.replace("\\|", "").count("|") == 5 and line.endswith(" p\\|q r |") for line in rows)
