"""The compiled search and its twin in Python find the same trees, number by number; bad arguments are refused."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from fidelitree.asking.limits import go_on
from fidelitree.search.local import compiled
from fidelitree.search.local.coded import Coded
from fidelitree.search.local.grown import Grown, flat
from fidelitree.search.local.iterated import Refiner
from fidelitree.search.local.moves import Reference
from fidelitree.search.local.splitmix import Splitmix
from fidelitree.search.local.splits import xlogx
from fidelitree.spaces.features import AtMost, IsIn
from fidelitree.trees import kernels
from labelled import multiplexer

needed = pytest.mark.skipif(not kernels.compiled, reason="there are no compiled kernels; python hatch_build.py")


def rows_of(seed: int) -> Coded:
    """Rows over features of many kinds: constant, with groups of bins, all subsets, sets in order of share."""
    random = np.random.default_rng(seed)
    rows, features, classes = int(random.integers(20, 700)), int(random.integers(1, 8)), int(random.integers(2, 5))
    ordered = (random.random(features) < 0.6).tolist()
    some = {True: [1, 2, 3, 9, 30, 400, 900], False: [1, 2, 3, 4, 8, 10, 13, 70]}
    sizes = [int(random.choice(some[order])) for order in ordered]
    bins = np.stack([random.integers(size, size=rows) for size in sizes]).astype(np.uint16)
    pattern = sum(bins[f].astype(np.intp) * (f + 3) // max(1, sizes[f] // 2) for f in range(features))
    codes = np.where(random.random(rows) < 0.1, random.integers(classes, size=rows), pattern % classes)
    return Coded(bins, ordered, sizes, codes, np.ones(rows))


def found(rows: Coded, seed: int) -> list[Any]:
    refiner = Refiner(rows, seed)
    if seed % 2:
        refiner.leave_out_noise()
    refiner.improve((0.0, 0.03, 0.1)[seed % 3], 40)
    refiner.improve_at(5, 10)
    points = [(point.leaves, point.errors, point.share, point.tree) for point in refiner.points()]
    return [*points, refiner.steps]


@needed
@pytest.mark.every(5)  # the twin takes a second and a half; 5 has no divisor in common with what seeds stand for
@pytest.mark.parametrize("seed", range(24))
def test_both_ways_find_the_same_trees(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(seed)
    fast = found(rows, seed)
    monkeypatch.setattr(kernels, "compiled", False)
    assert found(rows, seed) == fast


@needed
def test_both_ways_grow_alike_where_labels_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    bins = random.integers(60, size=(2, 500)).astype(np.uint16)
    rows = Coded(bins, [False, True], [60, 60], bins[0].astype(np.intp) // 2, np.ones(500))
    fast = found(rows, 0)
    monkeypatch.setattr(kernels, "compiled", False)
    assert found(rows, 0) == fast


@needed
@pytest.mark.parametrize("seed", range(6))
def test_both_ways_find_the_same_trees_over_bits(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns of two bins are counted 64 rows at a time."""
    rows = rows_of(seed)
    bins = np.concatenate([rows.bins % 2, rows.bins // 2 % 2])
    bits = Coded(bins, [True] * len(bins), [2] * len(bins), rows.codes, rows.weights)
    fast = found(bits, seed)
    monkeypatch.setattr(kernels, "compiled", False)
    assert found(bits, seed) == fast


@needed
def test_weights_and_many_values_are_searched_in_python() -> None:
    rows = rows_of(0)
    assert compiled.compiled(rows)
    assert not compiled.compiled(dataclasses.replace(rows, weights=np.full(len(rows.codes), 0.5)))
    assert not compiled.compiled(dataclasses.replace(rows, bins=rows.bins.astype(np.uint32)))


def test_the_logarithm_is_as_good_as_another() -> None:
    values = np.concatenate([np.arange(2000.0), np.geomspace(1e-12, 1e12, 500)])
    exact = values * np.log(np.maximum(values, 1e-300))
    assert np.abs(xlogx(values) - exact).max() <= 4 * np.spacing(np.abs(exact)).max()
    np.testing.assert_allclose(xlogx(values), exact, rtol=1e-14, atol=1e-15)


def test_arrays_and_tuples_are_the_same_tree() -> None:
    tree = (AtMost(1, 3), (IsIn(0, frozenset([0, 2])), 0, 1), (IsIn(5, frozenset([3])), 1, 2))
    shape = flat(tree, 1)
    counts = np.eye(3)[[0, 0, 0, 1, 0, 1, 2]]
    assert Grown(shape, counts).nested() == tree


ROWS = multiplexer(200, 1)


def native_table(**other: Any) -> Any:
    chosen = other.pop("chosen", range(6))
    names = ("bins", "codes", "sizes", "ordered", "chosen", "xlogx", "classes", "most")
    given = dict(
        zip(
            names,
            (
                ROWS.bins,
                ROWS.codes.astype(np.int32),
                np.array(ROWS.sizes, np.int32),
                np.array(ROWS.ordered),
                np.array(list(chosen), np.int32),
                xlogx(np.arange(201.0)),
                3,
                200,
            ),
            strict=True,
        )
    )
    return kernels.native.table(*{**given, **other}.values())


@needed
@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"codes": np.full(200, 3, np.int32)}, "codes must be below"),
        ({"codes": np.zeros(199, np.int32)}, "codes must have one entry a row"),
        ({"sizes": np.full(6, 2, np.int32)}, "bins must be below the sizes"),
        ({"sizes": np.zeros(6, np.int32)}, "1 to 65536 bins"),
        ({"most": 0}, "must be a group"),
        ({"classes": 1 << 26}, "too many bins and classes"),
        ({"chosen": [2, 1]}, "increasing order"),
        ({"chosen": [5, 6]}, "increasing order"),
        ({"xlogx": np.zeros(7)}, "xlogx must have"),
        ({"classes": 0}, "must be a class|codes must"),
        ({"bins": np.zeros((0, 0), np.uint16)}, "a row and a feature"),
    ],
)
def test_rows_that_do_not_fit_are_refused(other: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        native_table(**other)


@needed
def test_arrays_of_other_kinds_are_refused() -> None:
    with pytest.raises(TypeError, match="bins must be an aligned array of kind u, 2 bytes an entry, 2 axes"):
        native_table(bins=ROWS.bins.astype(np.int32))
    with pytest.raises(ValueError, match="not C-contiguous"):
        native_table(bins=ROWS.bins[:, ::2])
    with pytest.raises(ValueError, match="PyCapsule_GetPointer"):
        kernels.native.table_cart(object(), 3, go_on)  # type: ignore[arg-type]


def broken_shapes() -> list[tuple[np.ndarray[Any, Any], ...]]:
    shape = flat((AtMost(1, 3), (IsIn(0, frozenset([0, 2])), 0, 1), 1), 1)
    changes = [(0, 0, 6), (2, 0, 0), (2, 0, 5), (2, 1, -1), (3, 1, 1), (0, 2, 1), (0, 0, -1)]
    found = []
    for array, node, value in changes:
        parts = [part.copy() for part in shape]
        parts[array][node] = value
        found.append(tuple(parts))
    cut_off = tuple(part[:-1] for part in shape[:4])
    wide = np.zeros((1, 2), np.uint64)
    nothing = tuple(part[:0].copy() for part in shape[:4])
    return [*found, (*cut_off, shape[4]), (*shape[:4], wide), (*nothing, shape[4])]


@needed
@pytest.mark.parametrize("shape", broken_shapes())
def test_trees_that_are_none_are_refused(shape: Any) -> None:
    table = native_table()
    for call in (
        lambda: kernels.native.table_fit(table, shape, 1.0, go_on),
        lambda: kernels.native.table_descend(table, shape, 1.0, 0, 5, True, go_on),
        lambda: kernels.native.table_prune(table, shape, np.zeros(len(shape[0])), go_on),
    ):
        with pytest.raises(ValueError, match="a tree must be nodes in preorder"):
            call()


@needed
def test_a_price_must_be_a_number() -> None:
    with pytest.raises(ValueError, match="price must be a number from 0"):
        kernels.native.table_fit(native_table(), flat(0, 1), float("nan"), go_on)


@needed
def test_a_watch_ends_a_long_search() -> None:
    class EnoughError(Exception):
        pass

    looks = 0

    def watch() -> None:
        nonlocal looks
        looks += 1
        if looks == 3:
            raise EnoughError

    rows = multiplexer(20_000, 3, noise=0.3)
    search = compiled.Compiled(rows, range(6), watch)
    with pytest.raises(EnoughError):
        search.descend(search.cart(400), 0.6, 100_000, Splitmix(0), True)


def test_what_the_search_draws_is_known() -> None:
    stream = Splitmix(1)
    assert [stream.below(10), stream.below(1000)] == [5, 745]
    assert 0 <= min(Splitmix(seed).below(3) for seed in range(50)) < max(Splitmix(s).below(3) for s in range(50)) == 2


def test_the_twin_searches_weighted_rows() -> None:
    rows = dataclasses.replace(ROWS, weights=np.full(200, 0.5))
    tree = Reference(rows, range(6), go_on).cart(5)
    assert tree.leaves == 5
    assert rows.errors(tree.nested()) == tree.errors
