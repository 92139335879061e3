"""`make bench-queries` would run: every benchmark prints its tables at toy size, and the families are what they say."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

import fidelitree as ft
from benchmarking import importable, run

NAMES = ("small", "large", "known", "certificate", "time", "honesty", "workload", "juntas")


@pytest.fixture(scope="module")
def printed() -> str:
    done = run("benchmarks.queries", "--smoke")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(autouse=True)
def benchmarks_are_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    importable(monkeypatch)


def section(name: str, printed: str) -> re.Match[str]:
    found = re.search(
        rf"^{name}: .+\n\n(.+)\n([- ]+)\n((?:.+\n)+)\n((?:.*\n)*?)((?:bar: .+\n)+)", printed, re.MULTILINE
    )
    assert found is not None, f"no table of {name} in\n{printed}"
    return found


@pytest.mark.parametrize("name", NAMES)
def test_benchmark_prints_its_table_and_its_bars(name: str, printed: str) -> None:
    found = section(name, printed)
    assert all(re.search(r"\d", row) for row in found[3].splitlines())
    assert all("not judged at smoke size (" in bar for bar in found[5].splitlines())


def test_same_seed_prints_the_same(printed: str) -> None:
    one, two = (run("benchmarks.queries", "--smoke", "honesty", "certificate", "--seed", "5").stdout for _ in range(2))
    assert one == two
    assert section("honesty", one)[3] != section("honesty", printed)[3], "of seed 0"


@pytest.mark.parametrize("p", [0.5, 0.1])
def test_families(p: float) -> None:
    from benchmarks.queries.targets import alt, generator, iid, merged, par

    space = ft.ProductSpace.bernoulli(8, p)
    inputs = np.array(list(itertools.product((0, 1), repeat=8)), np.uint8)
    for number in range(10):
        one, two, three = (family(space, 3, generator(0, "test", number)) for family in (iid, alt, par))
        assert min(ft.tree_error(ft.Tree.constant(space, label), one, space) for label in (0, 1)) > 0.2
        assert merged(two, space) == two
        assert two.size == three.size == 8
        assert len(set(three.feature[three.feature >= 0].tolist())) == 3
        used = sorted(set(three.feature[three.feature >= 0].tolist()))
        assert np.array_equal(three.predict(inputs), inputs[:, used].sum(axis=1) % 2)
        small = merged(one, space)
        assert small.size <= one.size
        assert np.array_equal(small.predict(inputs), one.predict(inputs))


def test_peers_are_certified_by_labels_that_they_were_not_fitted_to() -> None:
    from benchmarks.queries import peers
    from benchmarks.queries.targets import generator, iid

    space = ft.ProductSpace.bernoulli(8)
    target = iid(space, 3, generator(0, "peers", 0))
    asked: list[bytes] = []

    def counting(batch: np.ndarray) -> np.ndarray:
        asked.extend(row.tobytes() for row in batch)
        return target.predict(batch)

    tree, labels = peers.buy(peers.cart, counting, space, np.random.default_rng(0))
    assert tree is not None
    assert labels == len(set(asked)) > 100, "each of the 256 inputs counts once, as for us"
    assert len(asked) > 100 + 30
    coin, wide = np.random.default_rng(1), ft.ProductSpace.bernoulli(24)
    nothing, labels = peers.buy(
        peers.cart, lambda batch: coin.integers(0, 2, len(batch)), wide, np.random.default_rng(0), most=400
    )
    assert nothing is None
    assert labels >= 400


def test_forest_votes_and_ties_go_to_the_smallest_class(tmp_path: Path) -> None:
    from benchmarks.queries.forests import read

    head = "DATASET_NAME: x\nNB_TREES: 2\nNB_FEATURES: 2\nNB_CLASSES: 2\nFormat: node / ...\n"
    leaves = "1 LN -1 -1 -1 -1 1 0\n2 LN -1 -1 -1 -1 1 1\n"
    trees = [f"\n[TREE {k}]\nNB_NODES: 3\n0 IN 1 2 {k} 0.5 0 -1\n{leaves}" for k in range(2)]
    path = tmp_path / "forest.txt"
    path.write_text(head + "".join(trees), encoding="utf-8")
    forest = read(path)
    assert forest.n == 2
    assert forest(np.array([[0, 0], [0, 1], [1, 0], [1, 1]])).tolist() == [0, 0, 0, 1]


def test_path_of_the_certificate_stops_where_the_bet_accepts() -> None:
    from benchmarks.queries.certificate import LEVEL, enough, stops

    from fidelitree.theory.sequential import accepts

    for errors in (0, 1, 4):
        assert accepts(errors, enough(errors, 0.1), 0.1, LEVEL)
        assert not accepts(errors, enough(errors, 0.1) - 1, 0.1, LEVEL)
    jumped = stops(0.05, 0.1, 400, np.random.default_rng(0))
    walked = []
    random = np.random.default_rng(1)
    for _ in range(400):
        errors = samples = 0
        while not accepts(errors, samples, 0.1, LEVEL):
            samples += 1
            errors += int(random.random() < 0.05)
        walked.append(samples)
    spread = np.hypot(jumped.std(), np.std(walked)) / 20
    assert abs(jumped.mean() - np.mean(walked)) < 4 * spread
