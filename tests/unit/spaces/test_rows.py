"""Rows of a table: how they are read, parted and tested, and when there are too few."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fidelitree as ft
from fidelitree.spaces.draw import Stream
from fidelitree.spaces.rows import check_test_rows
from fidelitree.theory.sequential import Bet

RNG = np.random.default_rng(5)
AGE = RNG.integers(180, 900, 401) / 10
TABLE = pd.DataFrame(
    {
        "age": AGE,
        "job": RNG.choice(["clerk", "nurse", "pilot"], 401),
        "owner": RNG.random(401) < 0.3,
        "twice": AGE * 2,  # no product: the columns move together
    }
)
ROWS = ft.Rows(TABLE)


def test_rows_have_the_features_of_the_table() -> None:
    assert ROWS.product == ft.ProductSpace.from_data(TABLE)
    assert ROWS.names == ("age", "job", "owner", "twice")
    assert ROWS.features == ROWS.product.features
    assert ROWS.dtype == np.float64
    assert ROWS.count == 401
    assert repr(ROWS) == "<Rows: 401 rows of 4 features>"
    assert np.array_equal(ROWS.inner, ROWS.encode(TABLE))
    pd.testing.assert_frame_equal(ROWS.batch(ROWS.inner), TABLE)


@pytest.mark.parametrize(
    "table",
    [
        pl.from_pandas(TABLE),
        pl.from_pandas(TABLE).to_arrow(),
        {name: TABLE[name].to_numpy() for name in TABLE},
        TABLE.to_numpy(),
    ],
    ids=["polars", "arrow", "mapping", "2-D array"],
)
def test_every_kind_of_table_gives_the_same_rows(table: Any) -> None:
    assert np.array_equal(ft.Rows(table).inner, ROWS.inner)


def test_columns_may_be_declared() -> None:
    assert ft.Rows(TABLE, categorical=["age"]).features[0].kind == "categorical"
    assert ft.Rows(TABLE, numeric=["owner"]).features[2].kind == "numeric"


def test_bits_stay_bytes_and_are_copied() -> None:
    table = np.array([[True, False], [False, True]])
    rows = ft.Rows(table)
    table[:] = True
    assert rows.inner.dtype == np.uint8
    assert rows.inner.tolist() == [[1, 0], [0, 1]]


def sorted_rows(inner: np.ndarray) -> list[list[float]]:
    return sorted(inner.tolist())


def test_every_row_is_in_one_part() -> None:
    parts = ROWS.parts(seed=0)
    assert (len(parts.growing), len(parts.testing)) == (201, 200)
    assert sorted_rows(np.concatenate([parts.growing, parts.testing])) == sorted_rows(ROWS.inner)


def test_parts_are_chosen_by_the_seed() -> None:
    one, same, other = ROWS.parts(0), ROWS.parts(0), ROWS.parts(1)
    assert np.array_equal(one.testing, same.testing)
    assert np.array_equal(one.growing, same.growing)
    assert sorted_rows(one.testing) != sorted_rows(other.testing)


def test_places_are_those_of_the_parts() -> None:
    parts, (growing, testing) = ROWS.parts(3), ROWS.places(3)
    assert np.array_equal(ROWS.inner[growing], parts.growing)
    assert np.array_equal(ROWS.inner[testing], parts.testing)
    assert sorted([*growing, *testing]) == list(range(401))


def test_a_shuffle_is_a_permutation_by_its_stream() -> None:
    one, other = (ROWS.shuffled(Stream.named(seed, "certify")) for seed in (0, 1))
    assert sorted_rows(one) == sorted_rows(other) == sorted_rows(ROWS.inner)
    assert not np.array_equal(one, other)


def test_the_digest_tells_rows_from_marginals_and_from_other_rows() -> None:
    turned = TABLE.assign(job=TABLE["job"].to_numpy()[::-1])
    assert ft.Rows(turned).product == ROWS.product, "the marginals are the same"
    assert len({ROWS.digest, ft.Rows(turned).digest, ROWS.product.digest}) == 3
    assert ft.Rows(TABLE).digest == ROWS.digest


def older(batch: Any) -> Any:
    return np.where(batch["age"] > 50, "yes", "no")


def test_certify_asks_about_each_row_once() -> None:
    seen: list[Any] = []

    def target(batch: Any) -> Any:
        seen.append(batch)
        assert (batch["twice"] == 2 * batch["age"]).all(), "only rows of the table are asked"
        return older(batch)

    certificate = ft.certify(older, target, ROWS, 0.05, 0.05, seed=0)
    assert certificate.holds
    assert (certificate.samples, certificate.errors, certificate.method) == (
        Bet(0.95 * 0.05).needed_for(0.05),
        0,
        "sequential",
    )
    assert certificate.space_digest == ROWS.digest
    assert str(certificate).endswith(
        "Assumes: inputs are rows like those of this table; the rows are independent of each other; the "
        "target was not fitted to them; the predictor was not made from them."
    )
    asked = pd.concat(seen)
    again = asked.duplicated()
    assert len(asked[~again]) == certificate.samples
    assert again.sum() == certificate.samples // 20, "some are asked again, to see that answers repeat"
    labels = older(ROWS.batch(ROWS.shuffled(Stream("fingerprint"))))
    assert certificate.tree_digest == f"answers:{hashlib.sha256(repr(labels.tolist()).encode()).hexdigest()}"


def test_certify_ends_when_the_rows_do() -> None:
    """Wrong about a twentieth: neither shown to be good nor to be bad by 401 rows."""
    limit = np.sort(AGE)[-20]
    recorded = {"seed": 0, "entropy": "0" * 32}
    certificate = ft.certify(lambda batch: batch["age"] > 0, lambda batch: batch["age"] < limit, ROWS, 0.05, **recorded)
    assert certificate.queries == {"certify": 401}
    assert certificate.errors == np.count_nonzero(limit <= AGE)
    assert not certificate.holds


def test_certify_over_rows_takes_trees() -> None:
    from fidelitree.spaces.features import AtMost
    from fidelitree.trees.tree import Tree

    tree = Tree.build(ROWS.product, [(AtMost(0, 50.5), 1, 2), 1, 0], ["no", "yes"])
    certificate = ft.certify(tree, older, ROWS, 0.05, seed=3)
    assert certificate.holds
    assert certificate.tree_digest == tree.digest
    both = ft.certify(tree, tree, ROWS, 0.05, seed=3)
    assert both.method == "sequential", "what trees disagree on is known for the product only"


@pytest.mark.parametrize(
    ("epsilon", "message"),
    [
        (
            0.005,
            (
                "the table leaves 401 test rows, and certifying an error of 0.005 with confidence 0.95 takes at least "
                "727, even without a mistake - give more rows, or raise epsilon or delta"
            ),
        ),
        (0, "epsilon must be above 0 where inputs are rows of a table; got 0"),
    ],
)
def test_too_few_rows_are_refused_before_anything_is_asked(epsilon: float, message: str) -> None:
    def never(batch: Any) -> Any:
        raise AssertionError("asked")

    with pytest.raises(ft.ParameterError) as caught:
        ft.certify(never, never, ROWS, epsilon, 0.05)
    assert str(caught.value) == message


def test_just_enough_rows_are_accepted() -> None:
    needed = Bet(0.05).needed_for(0.1)
    check_test_rows(needed, 0.1, 0.05)
    with pytest.raises(ft.ParameterError, match=f"the table leaves {needed - 1} test rows"):
        check_test_rows(needed - 1, 0.1, 0.05)
