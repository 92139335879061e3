"""What a target is like inside a region: exact where it may be, with intervals where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
import reference
from chances import too_many
from fidelitree.spaces.region import Region
from fidelitree.trees.tree import Tree
from small import Bits, assignments, cube

if TYPE_CHECKING:
    from collections.abc import Callable

BIASES = [0.5, 0.3, 0.8, 0.1]
SPACE = ft.ProductSpace.bernoulli(4, BIASES)
TABLE = np.random.default_rng(6).integers(0, 2, 16).tolist()


def names(region: reference.Region) -> dict[str, int]:
    return {f"x{i}": value for i, value in enumerate(region) if value is not None}


def test_inside_every_region_it_is_what_the_reference_says() -> None:
    for region in assignments(4):
        found = ft.analyze(ft.targets.TruthTable(TABLE), SPACE, names(region))
        influences = [reference.influence(TABLE, BIASES, i, region) for i in range(4)]
        np.testing.assert_allclose(found.influences, influences, rtol=1e-12, atol=1e-15)
        assert found.total_influence == pytest.approx(sum(influences), rel=1e-12)
        assert found.gini == pytest.approx(reference.gini(TABLE, BIASES, region), abs=1e-12)
        assert found.error == pytest.approx(reference.error(TABLE, BIASES, region), abs=1e-12)
        if len(found.labels) == 2:
            assert found.mean == pytest.approx(reference.mean(TABLE, BIASES, region), abs=1e-12)
            assert found.variance == pytest.approx(reference.variance(TABLE, BIASES, region), abs=1e-12)
        assert found.exact
        assert np.array_equal(found.intervals, np.stack([found.influences] * 2, axis=1))


def test_more_labels_have_a_gini_and_an_error_but_no_mean() -> None:
    found = ft.analyze(lambda batch: np.array(["a", "b", "c"])[batch[:, 0] + batch[:, 1]], SPACE)
    assert found.labels == ["a", "b", "c"]
    np.testing.assert_allclose(found.label_probabilities, [0.35, 0.5, 0.15])
    assert found.gini == pytest.approx(1 - 0.35**2 - 0.5**2 - 0.15**2)
    assert found.error == pytest.approx(0.5)
    with pytest.raises(ft.ParameterError, match="mean needs a target with two labels; this one has 3"):
        _ = found.mean
    with pytest.raises(ft.ParameterError, match="mean needs a target with two labels"):
        _ = found.variance


def test_a_constant_has_nothing_of_anything() -> None:
    found = ft.analyze(lambda batch: np.ones(len(batch)), SPACE)
    assert (found.gini, found.error) == pytest.approx((0, 0), abs=1e-15)
    assert (found.total_influence, found.labels) == (0.0, [1])
    with pytest.raises(ft.ParameterError, match="this one has 1"):
        _ = found.mean


def test_up_to_4096_points_are_enumerated_unasked() -> None:
    def first(batch: Bits) -> Any:
        return batch[:, 0]

    found = ft.analyze(first, ft.ProductSpace.bernoulli(12))
    assert (found.exact, dict(found.queries.paid)) == (True, {"enumerate": 4096, "check": 142})
    assert not ft.analyze(first, ft.ProductSpace.bernoulli(13)).exact
    assert ft.analyze(first, ft.ProductSpace.bernoulli(13), {"x5": 1}).exact
    assert ft.analyze(first, ft.ProductSpace.bernoulli(13), max_queries=8192).exact


@pytest.mark.parametrize(("n", "limit"), [(3, 7), (13, 8191), (40, 41), (40, 5000)])
def test_max_queries_is_never_exceeded(n: int, limit: int) -> None:
    found = ft.analyze(lambda batch: batch[:, 0], ft.ProductSpace.bernoulli(n), max_queries=limit)
    assert not found.exact
    assert limit - (n + 1) < found.queries.paid <= limit
    assert dict(found.queries.asked) == {"analyze": found.queries.asked}


def test_tables_and_trees_are_exact_at_any_size() -> None:
    space = ft.ProductSpace.bernoulli(1000, 0.3)
    tree = Tree.build(space, [(7, 1, 2), 0, (999, 3, 4), 0, 1], [0, 1])
    found = ft.analyze(tree, space)
    assert found.exact
    assert np.flatnonzero(found.influences).tolist() == [7, 999]
    assert found.influences[7] == pytest.approx(0.3 * 2 * 0.3 * 0.7)
    assert found.mean == pytest.approx(0.09)
    table = ft.targets.TruthTable(ft.targets.majority(14)(cube(14)))
    assert ft.analyze(table, ft.ProductSpace.bernoulli(14), max_queries=10).exact


def test_estimates_flip_every_free_bit_of_the_drawn_inputs() -> None:
    space = ft.ProductSpace.bernoulli(20, [0.5, 0.3, *[0.5] * 18])
    found = ft.analyze(lambda batch: batch[:, 0] ^ batch[:, 1], space, {"x5": 1}, max_queries=20_000)
    assert not found.exact
    assert found.influences[:2].tolist() == [0.5, 2 * 0.3 * 0.7], "every flip of x0 or x1 changes the label"
    assert not found.influences[2:].any()
    assert (found.intervals[:, 0] <= found.influences).all()
    assert (found.influences <= found.intervals[:, 1]).all()
    assert found.queries.asked == 20 * ((20_000 - 142) // 20)


def test_estimates_know_labels_and_their_shares() -> None:
    space = ft.ProductSpace.bernoulli(20)
    found = ft.analyze(lambda batch: np.where(batch[:, :10].all(axis=1), "rare", "common"), space, max_queries=4000)
    assert found.labels == ["common", "rare"], "flips are answers too"
    assert found.label_probabilities.sum() == pytest.approx(1)


def test_the_seed_decides_an_estimate() -> None:
    def one(seed: int) -> list[float]:
        space = ft.ProductSpace.bernoulli(15)
        return ft.analyze(ft.targets.majority(15), space, max_queries=1600, seed=seed).influences.tolist()

    assert one(3) == one(3) != one(4)


def test_an_analysis_prints_the_most_influential_first() -> None:
    space = ft.ProductSpace.bernoulli(3, names=["owner", "u", "x"])
    found = ft.analyze(lambda batch: batch[:, 1] & (batch[:, 0] | batch[:, 2]), space)
    assert str(found).splitlines() == [
        "influence of each feature (exact); total 0.6250",
        "u      0.3750",
        "owner  0.1250",
        "x      0.1250",
    ]
    wide = ft.analyze(lambda batch: batch[:, 1], ft.ProductSpace.bernoulli(20), max_queries=2100)
    assert str(wide).startswith("influence of each feature (estimated, seed 0); total 0.5000\nx1   0.5000  [0.4")


BAD: list[tuple[Callable[[], object], str]] = [
    (lambda: ft.analyze(None, SPACE), "target must be callable: a batch of inputs in, labels out; got None"),
    (lambda: ft.analyze(min, SPACE, {"y": 1}), "feature must be one of the space's names (x0, x1, x2, x3); got 'y'"),
    (lambda: ft.analyze(min, SPACE, {"x1": 2}), "given['x1'] must be 0 or 1; got 2"),
    (lambda: ft.analyze(min, SPACE, "x1"), "given must map feature names to values, as in {'x3': 1}; got 'x1'"),
    (lambda: ft.analyze(min, SPACE, delta=5), "delta must be above 0 and below 1; got 5 - did you mean 0.05?"),
    (lambda: ft.analyze(min, SPACE, max_queries=-1), "max_queries must be at least 0; got -1"),
    (
        lambda: ft.analyze(min, ft.ProductSpace.bernoulli(2, [0.0, 0.5]), {"x0": 1}),
        "given must name a region of positive probability; 1- has probability 0",
    ),
    (
        lambda: ft.analyze(min, ft.ProductSpace.bernoulli(30), {"x0": 1}, max_queries=29),
        "max_queries must allow one input and its 29 flips; got 29, needed 30",
    ),
    (
        lambda: ft.analyze(ft.targets.TruthTable([0, 1]), SPACE),
        "space must have the truth table's 1 features; got 4",
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_arguments_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        call()
    assert str(caught.value) == message


def test_a_broken_target_is_told_what_is_wrong() -> None:
    with pytest.raises(ft.TargetError, match="Return classes, not scores or probabilities"):
        ft.analyze(lambda batch: batch.mean(axis=1), ft.ProductSpace.bernoulli(20))


def test_regions_that_say_the_same_are_analysed_alike() -> None:
    one, two = ({"x0": 1, "x3": 0}, {"x3": False, "x0": True})
    table = ft.targets.TruthTable(TABLE)
    assert Region.of(SPACE, one) == Region.of(SPACE, two)
    assert np.array_equal(ft.analyze(table, SPACE, one).influences, ft.analyze(table, SPACE, two).influences)


def test_method_decides_between_exact_and_sampled() -> None:
    large = ft.ProductSpace.bernoulli(20)
    tree = ft.targets.balanced(large, 3, seed=0)
    assert ft.analyze(tree, large).exact
    assert not ft.analyze(tree, large, method="sampled", max_queries=2100).exact
    with pytest.raises(
        ft.ParameterError, match=r"method must not be 'exact' where .*: 1,048,576 inputs are more than 4,096"
    ):
        ft.analyze(lambda batch: batch[:, 0], large, method="exact")
    with pytest.raises(ft.ParameterError, match=r"method must be one of auto, exact, sampled; got 'guess'"):
        ft.analyze(tree, large, method="guess")  # type: ignore[arg-type]


AGES = ft.ProductSpace(
    [ft.Numeric("age", 18, 90), ft.Categorical("job", ["clerk", "nurse", "pilot", "chef"]), ft.Boolean("owner", 0.25)]
)


def older_pilots(batch: dict[str, np.ndarray]) -> np.ndarray:
    return (batch["age"] > 54) & (batch["job"] == "pilot") & (batch["owner"] == 1)


def test_influences_of_any_features_are_estimated() -> None:
    """5 intervals, each wrong with probability at most 1e-6/6."""
    found = ft.analyze(older_pilots, AGES, max_queries=40_000, delta=1e-6, seed=1)
    true = [2 * 0.25 * 0.25 * 0.25, 2 * 3 / 16 / 8, 2 * 0.25 * 0.75 / 8]
    assert not found.exact
    for (low, high), value in zip(found.intervals, true, strict=True):
        assert low <= value <= high
        assert high - low < 0.03
    assert found.queries.asked == (40_000 - 142) // 4 * 4


def test_influences_inside_a_region_of_any_features() -> None:
    given = {"age": (36, 72), "job": {"pilot", "nurse"}, "owner": 1}
    found = ft.analyze(older_pilots, AGES, given, max_queries=30_000, delta=1e-6, seed=2)
    for (low, high), value in zip(found.intervals, [0.25, 0.25, 0.0], strict=True):
        assert low <= value <= high
    assert found.influences[2] == 0


def test_a_finite_space_of_any_features_is_analysed_exactly() -> None:
    space = ft.ProductSpace([ft.Numeric.from_values("rooms", [1, 2, 3, 4]), ft.Boolean("owner", 0.25)])
    found = ft.analyze(lambda batch: (batch["rooms"] > 3) & (batch["owner"] == 1), space)
    assert found.exact
    assert found.influences.tolist() == pytest.approx([2 * 0.25 * 0.75 * 0.25, 2 * 0.25 * 0.75 * 0.25])


def test_one_input_and_its_changes_must_be_allowed() -> None:
    with pytest.raises(ft.ParameterError) as caught:
        ft.analyze(older_pilots, AGES, max_queries=3)
    assert str(caught.value) == "max_queries must allow one input and its 3 changes; got 3, needed 4"


def table(rows: int, seed: int) -> dict[str, np.ndarray]:
    """Age and salary go together; job stands alone."""
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 10, rows)
    return {"age": age, "salary": age // 5, "job": rng.choice(["clerk", "nurse"], rows, p=[0.25, 0.75])}


def promoted(batch: dict[str, np.ndarray]) -> np.ndarray:
    return (batch["salary"] == 1) & (batch["job"] == "nurse")


def test_rows_take_a_feature_of_another_row() -> None:
    """3 intervals, together wrong with probability 1e-6; the truth is about rows like those of the table."""
    found = ft.analyze(promoted, ft.Rows(table(4000, 0)), delta=1e-6)
    assert not found.exact
    for (low, high), influence in zip(found.intervals, [0, 0.75 * 0.5, 0.5 * 2 * 0.25 * 0.75], strict=True):
        assert low <= influence <= high
        assert high - low < 0.12
    assert found.influences[0] == 0
    assert found.queries.asked == 2000 * 4, "every row serves once, as an input or to give its values"
    assert found.mean == pytest.approx(0.375, abs=0.06)


def test_rows_are_joint_where_a_product_is_not() -> None:
    """Is the salary what the age says? Always, in the table; half the time over the product of its marginals."""

    def fits(batch: dict[str, np.ndarray]) -> np.ndarray:
        return batch["salary"] == batch["age"] // 5

    rows = ft.Rows(table(2000, 1))
    joint, product = ft.analyze(fits, rows), ft.analyze(fits, rows.product)
    assert joint.label_probabilities.max() == 1
    assert product.label_probabilities.max() == pytest.approx(0.5, abs=0.01)
    assert joint.influences[:2].tolist() == pytest.approx([0.5, 0.5], abs=0.06)


def test_rows_inside_a_region_only() -> None:
    seen: list[dict[str, np.ndarray]] = []

    def target(batch: dict[str, np.ndarray]) -> np.ndarray:
        seen.append(batch)
        return promoted(batch)

    rows = ft.Rows(table(1000, 2))
    given = {"age": (6, 9), "job": "nurse"}
    found = ft.analyze(target, rows, given, max_queries=300)
    assert all(batch["age"].min() >= 6 and set(batch["job"]) == {"nurse"} for batch in seen)
    assert found.influences.tolist() == [0, 0, 0], "all of them are promoted"
    assert found.queries.asked == 300 - 300 // 20, "age and salary can change, the job cannot"
    assert ft.analyze(target, rows, given, max_queries=300, seed=0).influences.tolist() == found.influences.tolist()


def test_over_rows_it_says_what_it_assumes() -> None:
    """Intervals were printed alone, also where they are false for rows of one person."""
    rows, grouped = ft.Rows(table(1000, 2)), ft.Rows(table(1000, 2), groups=np.arange(1000) // 4)
    found = ft.analyze(promoted, rows, max_queries=300)
    assert (
        str(found)
        .splitlines()[0]
        .endswith(". Assumes: the rows are independent of each other; the target was not fitted to them")
    )
    assert "the groups of rows are independent of each other" in str(ft.analyze(promoted, grouped, max_queries=300))
    assert "Assumes" not in str(ft.analyze(older_pilots, AGES, max_queries=300))


def test_what_cannot_change_is_not_asked_about() -> None:
    """Neither over rows nor over a product, and its influence is known to be 0."""
    rows = ft.Rows(table(1000, 2))
    only = ft.analyze(promoted, rows, {"age": 7, "salary": 1, "job": "nurse"})
    assert only.intervals.tolist() == [[0, 0]] * 3
    assert only.queries.asked == np.count_nonzero((rows.inner[:, 0] == 7) & (rows.inner[:, 2] == 1)) // 2
    found = ft.analyze(older_pilots, AGES, {"job": "pilot"}, max_queries=3000)
    assert found.intervals[1].tolist() == [0, 0]
    assert found.queries.asked == (3000 - 142) // 3 * 3, "an input and two changes"


def test_too_few_rows_and_too_few_queries_are_refused() -> None:
    rows = ft.Rows(table(50, 3))
    with pytest.raises(ft.ParameterError) as caught:
        ft.analyze(promoted, rows, max_queries=3)
    assert str(caught.value) == "max_queries must allow one input and its 3 changes; got 3, needed 4"
    single = ft.Rows({"age": np.array([1, 2, 3]), "job": np.array(["clerk", "nurse", "clerk"])})
    with pytest.raises(ft.ParameterError) as caught:
        ft.analyze(lambda batch: batch["age"] > 1, single, {"age": 1, "job": "nurse"})
    assert str(caught.value) == (
        "given must leave at least two rows of the table; 0 of 3 are inside 1 <= age <= 1 and job = nurse"
    )


def test_intervals_over_rows_hold_together() -> None:
    """200 tables of 40 rows, delta .3; 94 misses have probability 1e-7 if it holds just so."""
    missed = 0
    for seed in range(200):
        found = ft.analyze(promoted, ft.Rows(table(40, 100 + seed)), delta=0.3, seed=seed)
        truth = np.array([0, 0.75 * 0.5, 0.5 * 2 * 0.25 * 0.75])
        missed += bool(((truth < found.intervals[:, 0]) | (truth > found.intervals[:, 1])).any())
    assert not too_many(missed, 200, 0.3, 1e-7)
