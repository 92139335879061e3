"""`make bench-leaves` would run: its table and its bars are printed at toy size, and the peers are what they say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from benchmarking import importable, run


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> Any:
    importable(monkeypatch)
    from benchmarks.leaves import peers

    return peers


@pytest.fixture
def labelled(peers: Any) -> Any:
    """Numbers, bits and categories, and labels that a small tree gives."""
    random = np.random.default_rng(0)
    inner = np.column_stack([random.normal(size=4_000), random.integers(0, 2, 4_000), random.integers(0, 3, 4_000)])
    space = ft.ProductSpace(
        [ft.Numeric("size", -9, 9), ft.Boolean("owner"), ft.Categorical("job", ["clerk", "nurse", "pilot"])]
    )
    labels = np.where(inner[:, 0] <= 0.5, inner[:, 1] == 1, inner[:, 2] == 1).astype(int)
    return peers.Labelled(space, inner, labels, 0.05)


def test_benchmark_prints_its_table_and_its_bars(data_dir: Path) -> None:
    done = run("benchmarks.leaves", "--smoke", "--names", "COMPAS")
    assert done.returncode == 0, done.stderr
    section = re.search(r"^leaves: .+\n\n(.+)\n([- ]+)\n((?:.+\n)+)\n((?:bar: .+\n)+)", done.stdout, re.MULTILINE)
    assert section is not None, f"no table in\n{done.stdout}"
    rows = [re.split(r"  +", row) for row in section[3].splitlines()]
    assert {"fidelitree", "CART", "CART, pruned"} <= {row[3] for row in rows}
    assert {row[1] for row in rows} == {"marginals", "rows"}
    assert all((row[8] == "-") == (row[1] == "rows") for row in rows), "of rows there are no fresh ones"
    assert all("not judged at smoke size (" in bar for bar in section[4].splitlines())


def test_cut_back_tree_is_the_tree_that_grew_so_far(peers: Any, labelled: Any) -> None:
    noisy = labelled.labels ^ (np.random.default_rng(1).random(4_000) < 0.1)
    data = peers.Labelled(labelled.space, labelled.inner, noisy, 0.05)
    large = peers.Cart(data, ~data.held, max_leaf_nodes=60)
    shares = large.held_out()
    assert len(shares) == large.leaves == 60
    for leaves in (1, 2, 7, 30, 60):
        small = peers.Cart(data, ~data.held, max_leaf_nodes=max(leaves, 2))
        tree = large.tree(leaves)
        assert tree.size <= leaves
        answers = tree.predict_inner(data.inner[data.held])
        assert shares[leaves - 1] == pytest.approx((answers != noisy[data.held]).mean())
        if leaves > 1:
            assert np.array_equal(answers, small.model.predict(small.columns.of(data.inner[data.held])))


def test_every_peer_finds_a_small_tree(peers: Any, labelled: Any) -> None:
    for method, candidates in peers.PEERS.items():
        trees = candidates(labelled, 20.0)
        assert [tree.size for tree in trees] == sorted({tree.size for tree in trees})
        wrong = (trees[-1].predict_inner(labelled.inner) != labelled.labels).mean()
        assert wrong <= 0.05, method
        assert trees[-1].size <= 6, method
