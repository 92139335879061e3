"""What each learner does that the others do not."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
import reference
from fidelitree.asking.limits import BudgetSpent
from fidelitree.exact.engine import exact_subfunction
from fidelitree.learners import LEARNERS
from fidelitree.learners import halving as halving_door
from fidelitree.learners.blanc_gupta_lange_tan import _NoisyTable
from fidelitree.learners.blanc_lange_qiao_tan import _Parts
from fidelitree.learners.c45 import c45
from fidelitree.learners.consistent import FittingTrees
from fidelitree.learners.lesson import Lesson
from fidelitree.learners.lowest_rank import fit as fit_rank
from fidelitree.learners.mehta_raghavan import fit as fit_restrictions
from fidelitree.search.labelled import FeatureColumns, Labelled
from fidelitree.search.questions import Steps
from fidelitree.spaces.features import IsOne
from mixed import MIXED
from small import cube, true_error

S = ft.ProductSpace.bernoulli
halving_module: Any = sys.modules[halving_door.__module__]
MAJORITY_7 = ft.targets.majority(7)(cube(7)).tolist()


def labelled(target: Any, space: ft.ProductSpace, held: bool = False) -> Labelled:
    inner = cube(len(space))
    return Labelled(space, [0, 1], inner, np.asarray(target(inner)).astype(np.intp), np.ones(len(inner)), held)


def rank(tree: ft.Tree, node: int = 0) -> int:
    if tree.feature[node] < 0:
        return 0
    one, two = sorted(rank(tree, int(side[node])) for side in (tree.no, tree.yes))
    return two + (one == two)


@pytest.mark.parametrize("seed", range(8))
def test_find_has_the_smallest_rank(seed: int) -> None:
    table = np.random.default_rng(seed).integers(0, 2, 16)
    if table.min() == table.max():
        pytest.skip("a constant")
    data = labelled(ft.targets.TruthTable(table), S(4))
    tree, open_question = fit_rank(data, 64, lambda: None)
    assert open_question == "", "every smaller rank was ruled out"
    assert tree.predict(data.inner).tolist() == data.codes.tolist()
    assert rank(tree) == reference.least_rank(
        [(row.tolist(), int(code)) for row, code in zip(data.inner, data.codes, strict=True)]
    )


def test_find_always_fits_and_says_what_is_not_proven() -> None:
    """Parity of 7 has rank 7, which no search reaches."""
    data = labelled(ft.targets.parity(7), S(7))
    tree, open_question = fit_rank(data, 64, lambda: None)
    assert tree.predict(data.inner).tolist() == data.codes.tolist()
    assert (rank(tree), open_question) == (7, "a greedy tree fits, and rank 5 was not ruled out")
    short = ft.learners.lowest_rank(ft.targets.parity(4), S(4), 0.0, rank=2)
    assert (short.certificate.error_bound, rank(short.tree)) == (0, 4)
    assert short.reason == "certified; a greedy tree fits, and rank 3 was not ruled out"
    with pytest.raises(ft.ParameterError, match="rank must be a whole number; got 'two'"):
        ft.learners.lowest_rank(ft.targets.parity(4), S(4), rank="two")


def test_restrictions_to_full_depth_are_the_frontier() -> None:
    target = ft.targets.tribes(2, 3)
    for epsilon in (0.3, 0.1, 0.02):
        best = ft.learners.optimal(target, S(6), epsilon).tree
        assert ft.learners.mehta_raghavan(target, S(6), epsilon).tree.size == best.size
        assert fit_restrictions(labelled(target, S(6)), epsilon, 6).size == best.size


def test_restrictions_of_too_many_sets_of_values_need_a_depth() -> None:
    space = ft.ProductSpace([ft.Categorical(name, range(12)) for name in "ab"])
    labels = np.random.default_rng(0).integers(0, 2, (12, 12))

    def target(batch: Any) -> Any:
        return labels[batch["a"], batch["b"]]

    with pytest.raises(ft.ParameterError, match="depth must be given where 2 features matter"):
        ft.learners.mehta_raghavan(target, space, 0.1)
    assert ft.learners.mehta_raghavan(target, space, 0.3, depth=2).certificate.epsilon == 0.3


def test_restrictions_of_some_depth_lead_to_trees_of_that_depth() -> None:
    tree = fit_restrictions(labelled(ft.targets.majority(7), S(7)), 0.0, 3)
    assert tree.depth == 3
    assert true_error(tree, ft.targets.majority(7), S(7)) == reference.least_error(MAJORITY_7, [0.5] * 7, 3)


def test_the_most_influential_features_need_not_be_enough() -> None:
    """Selector-parity: the selectors come last by influence, and with all candidates they are found."""
    target = ft.targets.selector_parity(2, 2, 2)
    few = ft.learners.blanc_lange_qiao_tan(target, S(8), 0.0, candidates=1)
    many = ft.learners.blanc_lange_qiao_tan(target, S(8), 0.0, candidates=5)
    assert (few.tree.size, many.tree.size) == (64, 28)


def test_more_candidates_are_never_worse_and_a_cut_search_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten candidates had an error of .25 where one has none: the cap was spent on the first branches."""
    monkeypatch.setattr(sys.modules[_Parts.__module__], "_MOST", 700)
    target = ft.targets.selector_parity(2, 2, 3)
    found = [ft.learners.blanc_lange_qiao_tan(target, S(10), 0.0, candidates=c) for c in (1, 2, 10)]
    sizes = [result.tree.size for result in found]
    assert [result.certificate.error_bound for result in found] == [0, 0, 0]
    assert sizes == sorted(sizes, reverse=True)
    assert found[0].reason == "certified"
    assert found[-1].reason == "certified; with 2 candidates the search was cut at 700 restrictions"


def test_the_authors_least_influence_leaves_weak_features_alone() -> None:
    space = S(3)
    lesson = Lesson.begin(ft.targets.TruthTable([0, 1, 0, 1, 0, 1, 0, 0]), space, (0.1, 0.05, 0), {})
    root = exact_subfunction(lesson.counted, space.whole, 8)
    key: frozenset[tuple[int, int]] = frozenset()
    assert _Parts(lesson, 0.0).look(root, key)[1] == [0, 1, 2]
    assert _Parts(lesson, 0.2).look(root, key)[1] == [0]  # x0 has 3/8, the others 1/8
    strict = ft.learners.blanc_lange_qiao_tan(ft.targets.majority(9), S(9), 0.05, size=2)
    assert strict.reason != "certified", "with so small a size no tree is deep enough"
    assert strict.tree.depth <= 6


def test_a_size_budget_is_kept() -> None:
    target = ft.targets.majority(9)
    grown = ft.learners.top_down(target, S(9), 0.05, size=30)
    assert grown.tree == ft.build_top_down(target, S(9), 0.0, max_leaves=30).tree
    assert ft.learners.monotone_top_down(target, S(9), 0.05, size=12).tree.size == 12


def test_influence_is_correlation_where_the_target_is_monotone() -> None:
    target = ft.targets.tribes(2, 4)
    for epsilon in (0.2, 0.05, 0.0):
        by_influence = ft.learners.top_down(target, S(8, 0.3), epsilon)
        by_correlation = ft.learners.monotone_top_down(target, S(8, 0.3), epsilon)
        assert by_correlation.tree.size == by_influence.tree.size


def test_sampled_influences_find_what_no_correlation_shows() -> None:
    result = ft.learners.top_down(lambda batch: batch[:, :3].sum(axis=1) % 2, S(16), 0.05, max_seconds=60)
    assert result.certificate.holds
    assert result.tree.size == 8
    assert "grow" in result.queries.asked


def test_pessimistic_pruning_undoes_what_noise_did() -> None:
    rng = np.random.default_rng(0)
    noise = rng.random(1 << 12) < 0.05

    def noisy(batch: Any) -> Any:
        place = (batch.astype(np.int64) << np.arange(12)).sum(axis=1)
        return batch[:, 0] ^ noise[place]

    assert c45(noisy, S(12), 0.1).tree.size < ft.learners.id3(noisy, S(12), 0.1).tree.size / 3


def test_numbers_and_categories_become_columns() -> None:
    columns = FeatureColumns.one_hot(MIXED)
    kinds = {feature.kind for feature in MIXED}
    assert {"categorical", "boolean", "numeric"} == kinds
    values = sum(len(feature.values) for feature in MIXED if feature.values)
    assert len(columns.tests) == values + sum(1 for feature in MIXED if not feature.values)


def test_any_features_are_learnt() -> None:
    space = ft.ProductSpace(
        [ft.Categorical("job", ["clerk", "nurse", "pilot"]), ft.Numeric("age", 18, 90), ft.Boolean("owner", 0.3)]
    )

    def target(batch: Any) -> Any:
        young = batch["age"] <= 40
        return np.where(young & (batch["job"] == "nurse"), "yes", "no")

    for name in ("id3", "c45", "cart", "lowest_rank", "mehta_raghavan", "streed"):
        if LEARNERS[name].why_not(space) is None:
            result = LEARNERS[name].learn(target, space, 0.1, 0.05, 0)
            assert result.certificate.holds, name
            assert result.tree.size <= 8, name


def test_rows_of_a_table() -> None:
    rng = np.random.default_rng(1)
    rows = ft.Rows({"a": rng.random(4000) < 0.5, "b": rng.random(4000)})

    def target(batch: Any) -> Any:
        return np.asarray(batch["a"]) & (np.asarray(batch["b"]) > 0.25)

    result = ft.learners.id3(target, rows, 0.1)
    assert result.certificate.holds
    assert result.tree.size == 3
    with pytest.raises(
        ft.ParameterError, match="epsilon must be above 0 where inputs are rows of a table with 2 features; got 0"
    ):
        ft.learners.id3(target, rows, 0.0)
    assert LEARNERS["top_down"].why_not(rows) == "not all features are bits"
    assert (
        LEARNERS["optimal"].why_not(rows) == "it chooses its own inputs, and these are rows of a table with 2 features"
    )


def test_the_optimum_says_what_it_cannot_do() -> None:
    with pytest.raises(ft.ParameterError, match="objective must be one of leaves, depth, average_depth; got 'size'"):
        ft.learners.optimal(ft.targets.majority(3), S(3), objective="size")
    with pytest.raises(ft.ParameterError, match=r'epsilon must be 0 with objective="average_depth"; got 0\.1'):
        ft.learners.optimal(ft.targets.majority(3), S(3), 0.1, objective="average_depth")
    with pytest.raises(ft.ParameterError, match="at most 43,046,721 restrictions can be solved"):
        ft.learners.optimal(ft.targets.majority(17), S(17))
    with pytest.raises(ft.ParameterError, match="epsilon must be 0 where 15 features matter"):
        ft.learners.optimal(ft.targets.parity(15), S(15), 0.01)


def test_the_optimum_within_limits() -> None:
    target = ft.targets.majority(9)
    few = ft.learners.optimal(target, S(9), 0.0, max_leaves=108)
    assert few.certificate.error_bound == ft.learners.optimal(target, S(9), 0.1).certificate.error_bound
    shallow = ft.learners.optimal(target, S(9), 0.25, objective="depth")
    assert shallow.tree.depth == 5


def test_time_may_end_the_search_for_an_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    target = ft.targets.majority(9)
    start, clock = time.monotonic(), iter(range(10_000))
    monkeypatch.setattr("fidelitree.asking.limits.time.monotonic", lambda: start + next(clock))
    result = ft.learners.optimal(target, S(9), max_seconds=40)
    assert result.reason == "max_seconds = 40"
    assert result.certificate.error_bound == 0
    assert result.tree.size == 252


def test_an_interrupt_before_the_first_answer_is_passed_on() -> None:
    def stop(batch: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ft.learners.id3(stop, S(20), 0.1)


def test_an_interrupt_later_leaves_what_there_is() -> None:
    calls = 0

    def target(batch: Any) -> Any:
        nonlocal calls
        calls += len(batch) > 20  # not those that ask some inputs again
        if calls > 4:  # 256 labels in three portions, and one of a test
            raise KeyboardInterrupt
        return batch[:, 0]

    result = ft.learners.id3(target, S(20), 0.001)
    assert result.reason == "interrupted"
    assert not result.certificate.holds
    assert result.tree.size == 2


def test_an_interrupt_while_what_is_left_of_a_budget_is_used_is_told() -> None:
    calls = 0

    def target(batch: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return batch[:, 0]

    lesson = Lesson.begin(target, S(20), (0.1, 0.05, 0), {"max_queries": 100})

    def teach() -> Steps[str]:
        data, _ = yield from lesson.labels(50)
        lesson.propose(ft.Tree.constant(S(20), 0), data)
        raise BudgetSpent("max_seconds = 1")

    assert lesson.run(teach).reason == "max_seconds = 1, then interrupted"


def test_labels_are_shared_fairly_with_tests() -> None:
    lesson = Lesson.begin(ft.targets.parity(20), S(20), (0.1, 0.05, 0), {"max_queries": 100})
    data, last = lesson.session.run(lesson.labels(256))
    assert (len(data.codes), last) == (60, True)
    assert (data.growing.sum(), data.judging.sum()) == (45, 15)


def test_columns_of_numbers_that_32_bits_cannot_hold_are_finite() -> None:
    space = ft.ProductSpace([ft.Numeric("a", -1e300, 7e300), ft.Boolean("b"), ft.Categorical("c", ["u", "v"])])
    found = FeatureColumns.one_hot(space).of(np.array([[-1e300, 0, 1], [0.5, 1, 0], [7e300, 1, 1]]))
    largest = float(np.float32(np.sqrt(np.finfo(np.float32).max)))
    assert found.tolist() == [[-largest, 0, 0, 1], [0.5, 1, 1, 0], [largest, 1, 0, 1]]
    only = ft.ProductSpace([ft.Categorical("c", ["u", "v"])])
    assert FeatureColumns.one_hot(only).of(np.array([[0.0], [1.0]])).tolist() == [[1, 0], [0, 1]]


def test_noise_weighs_what_many_bits_do_together_less() -> None:
    """Majority of 9 at .05: 165 leaves with noise, 225 by influence alone; without noise it is influence."""
    target = ft.targets.majority(9)
    assert ft.learners.blanc_gupta_lange_tan(target, S(9), 0.05).tree.size == 165
    plain = ft.learners.blanc_gupta_lange_tan(target, S(9), 0.05, noise=0)
    assert plain.tree.size == ft.learners.top_down(target, S(9), 0.05).tree.size == 225
    with pytest.raises(ft.ParameterError, match="noise must be at least 0 and at most 1; got 2"):
        ft.learners.blanc_gupta_lange_tan(target, S(9), noise=2)


def test_noisy_influence_is_what_its_definition_says() -> None:
    """By summing over all pairs of inputs, biased bits."""
    table, biases, noise = np.random.default_rng(5).integers(0, 2, 8), [0.3, 0.6, 0.5], 0.4
    space = S(3, biases)
    lesson = Lesson.begin(ft.targets.TruthTable(table), space, (0.0, 0.05, 0), {})
    scores = _NoisyTable.of(lesson, noise).influences()

    def change(x: int, i: int) -> int:
        return int(table[x | 1 << i]) - int(table[x & ~(1 << i)])

    for i in range(3):
        total = 0.0
        for x in range(8):
            for y in range(8):
                chance = 1.0
                for j, p in enumerate(biases):
                    here, there = x >> j & 1, y >> j & 1
                    again = (1 - noise) * (here == there) + noise * (p if there else 1 - p)
                    chance *= (p if here else 1 - p) * ((p if there else 1 - p) if j == i else again)
                total += chance * change(x, i) * change(y, i)
        assert scores[i] == pytest.approx(2 * biases[i] * (1 - biases[i]) * total)


@pytest.mark.parametrize("name", ["halving", "bshouty_haddad_zaknoon", "disagreement"])
def test_a_tree_of_small_depth_is_found(name: str) -> None:
    """Of 13 bits, six matter: the multiplexer, with eight leaves of depth 3."""
    multiplexer = ft.targets.multiplexer(2)
    result = LEARNERS[name].learn(lambda batch: multiplexer(batch[:, 3:9]), S(13), 0.1, 0.05, 1)
    assert (result.tree.size, result.tree.depth, result.reason) == (8, 3, "certified")
    assert set(result.tree.feature.tolist()) == {-1, 3, 4, 5, 6, 7, 8}
    learning = result.queries.asked - result.queries.asked["certify"]
    assert learning <= {"halving": 40, "bshouty_haddad_zaknoon": 400, "disagreement": 60}[name]


def test_halving_counts_trees_as_a_list_of_them_would() -> None:
    """All trees of depth 2 over 3 bits, written out: how many fit, and how many say 1 about each input."""
    inputs = cube(3).astype(np.uint8)
    answers = [(1, 0), (6, 1)]
    count = halving_module._Count(inputs, 2)

    def trees(depth: int, free: tuple[int, ...]) -> list[Any]:
        leaves: list[Any] = [0, 1]
        if depth:
            for i in free:
                below = trees(depth - 1, tuple(j for j in free if j != i))
                leaves += [(i, no, yes) for no in below for yes in below]
        return leaves

    def says(tree: Any, row: Any) -> int:
        while isinstance(tree, tuple):
            tree = tree[2] if row[tree[0]] else tree[1]
        return int(tree)

    possible = trees(2, (0, 1, 2))
    for place, code in answers:
        count.add(inputs[place], code)
        possible = [tree for tree in possible if says(tree, inputs[place]) == code]
    shares = [sum(says(tree, row) for tree in possible) / len(possible) for row in inputs]
    best = count.best()
    assert best is not None
    assert max(shares[best], 1 - shares[best]) == pytest.approx(min(max(one, 1 - one) for one in shares))


def test_fitting_trees_agree_with_trying_all() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        rows, codes = rng.integers(0, 2, (6, 4)).astype(bool), rng.integers(0, 2, 6)
        fitting = FittingTrees([IsOne(i) for i in range(4)], lambda: None)
        for row, code in zip(rows, codes.tolist(), strict=True):
            fitting.add(row, code)
        told = [reference.Row(tuple(map(int, row)), int(code), 1) for row, code in zip(rows, codes, strict=True)]
        for depth in range(4):
            fits = reference.least_cost(told, [0] * 4, depth) == 0
            assert (fitting.tree(depth) is not None) == fits
            one_more = rng.integers(0, 2, 4).astype(bool)
            other = [*told, reference.Row(tuple(map(int, one_more)), 1, 1)]
            both = len(set(codes.tolist())) == 2
            if both:
                assert fitting.contested(one_more, 0, depth) == (reference.least_cost(other, [0] * 4, depth) == 0)
