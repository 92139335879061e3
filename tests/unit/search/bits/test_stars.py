"""Stars find the first test of a tree that is deeper than a look-ahead sees, and cost nothing where none is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from driving import driven
from fidelitree.search.bits import regions
from fidelitree.search.bits.learner import BitLearner
from fidelitree.search.bits.regions import RegionLearner
from fidelitree.search.bits.sketch import predict
from fidelitree.search.bits.stars import CENTRES, DrawnRegion, most_influential

if TYPE_CHECKING:
    from collections.abc import Callable

Bits = np.ndarray
Codes = np.ndarray
Target = Callable[[Bits], Codes] if TYPE_CHECKING else Any


class Deep:
    """A complete tree whose features are all different along a path; its leaves have the parity of their path."""

    def __init__(self, n: int, depth: int, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        self.depth, self.tests = depth, np.zeros(2**depth - 1, np.intp)
        for node in range(len(self.tests)):
            above, part = set[int](), node
            while part:
                part = (part - 1) // 2
                above.add(int(self.tests[part]))
            self.tests[node] = random.choice(sorted({*range(n)} - above))

    def __call__(self, bits: Bits) -> Codes:
        node = np.zeros(len(bits), np.intp)
        for _ in range(self.depth):
            node = 2 * node + 1 + bits[np.arange(len(bits)), self.tests[node]]
        return np.bitwise_count(node + 1).astype(np.intp) % 2


class Asked:
    """Answers of a target, and every input that it was asked about."""

    def __init__(self, target: Target) -> None:
        self.target, self.inputs = target, list[bytes]()

    def __call__(self, bits: Bits) -> Codes:
        self.inputs += [row.tobytes() for row in bits]
        return np.asarray(self.target(bits), np.intp)


def drawn(n: int, rows: int, seed: int = 1) -> Bits:
    return np.random.default_rng(seed).integers(0, 2, (rows, n)).astype(np.uint8)


def learnt(target: Target, n: int, rows: int, learner: Any = None) -> tuple[Any, Asked]:
    """A learner that was told so many answers, 16 at a time."""
    found, asked = learner or RegionLearner(n, np.random.default_rng(3)), Asked(target)
    for part in np.array_split(drawn(n, rows), rows // 16):
        driven(found.learn(part, np.asarray(target(part), np.intp)), asked)
    return found, asked


def star(target: Target, centres: Bits, features: list[int]) -> tuple[int | None, Asked]:
    asked = Asked(target)
    learner = BitLearner(centres.shape[1], np.random.default_rng(0))
    codes = np.asarray(target(centres), np.intp)
    learner.pool.add(centres, codes)
    return driven(most_influential(DrawnRegion(centres, codes, learner.answers), features), asked), asked


@pytest.mark.parametrize("seed", range(8))
def test_a_star_finds_the_root_of_a_tree_of_depth_7(seed: int) -> None:
    """Over 60 features the root is twice as influential as any other."""
    target = Deep(60, 7, seed)
    found, asked = star(target, drawn(60, CENTRES), list(range(60)))
    assert found == target.tests[0]
    assert len(asked.inputs) < CENTRES * 60 / 2, "what is clearly behind is no longer flipped"


def test_only_the_features_that_race_are_flipped() -> None:
    target, centres = Deep(20, 6), drawn(20, 16)
    features = [int(target.tests[0]), 3, 4]
    _, asked = star(target, centres, features)
    near = {row.tobytes() for row in centres}
    for row in asked.inputs:
        bits = np.frombuffer(row, np.uint8)
        apart = (bits != centres).sum(axis=1)
        assert apart.min() == 1 or row in near
        assert int(np.flatnonzero(bits != centres[apart.argmin()])[0]) in features


def test_known_answers_are_not_asked_again() -> None:
    target = Deep(20, 7)
    _, asked = learnt(target, 20, 1_600)
    told = {row.tobytes() for row in drawn(20, 1_600)}
    assert len(asked.inputs) > 100
    assert len(set(asked.inputs)) == len(asked.inputs)
    assert len(told & set(asked.inputs)) < 5, "only inputs that come later may be the same"


def test_no_feature_of_a_majority_is_worth_a_split() -> None:
    found, asked = star(lambda bits: bits.sum(axis=1) > 100, drawn(201, 48), list(range(201)))
    assert found is None
    assert len(asked.inputs) <= CENTRES // 4 * 201


def test_a_region_where_all_features_matter_at_once_is_given_up() -> None:
    found, asked = star(lambda bits: bits.sum(axis=1) % 2, drawn(20, 48), list(range(20)))
    assert found is None
    assert len(asked.inputs) <= CENTRES // 4 * 20


def test_without_two_labels_there_is_nothing_to_find() -> None:
    found, asked = star(lambda bits: bits[:, 0] * 0, drawn(20, 48), list(range(20)))
    assert (found, asked.inputs) == (None, [])


def test_a_feature_that_hardly_varies_is_worth_little() -> None:
    """Its flip always changes the label, but it is hardly ever drawn as 1; the other one decides more often."""
    centres = drawn(6, 40)
    centres[:, 0] = 0
    centres[0, 0] = 1
    found, _ = star(lambda bits: bits[:, 0] ^ (bits[:, 1] & bits[:, 2]), centres, [0, 1, 3])
    assert found == 1


PARITIES = [(20, 4), (20, 6), (60, 5), (60, 6)]


@pytest.mark.parametrize(("n", "bits_of_it"), PARITIES)
@pytest.mark.parametrize("kind", ["parity", "junta"])
def test_stars_cost_nothing_on_parities_and_juntas(n: int, bits_of_it: int, kind: str) -> None:
    table = np.random.default_rng(5).integers(0, 2, 1 << bits_of_it)
    if kind == "parity":
        table = np.bitwise_count(np.arange(1 << bits_of_it)) % 2

    def target(bits: Bits) -> Codes:
        return np.asarray(table[bits[:, 2 : 2 + bits_of_it].astype(np.intp) @ (1 << np.arange(bits_of_it))], np.intp)

    found, with_stars = learnt(target, n, 800)
    _, without = learnt(target, n, 800, BitLearner(n, np.random.default_rng(3)))
    assert with_stars.inputs == without.inputs
    assert found.divided_by is None


@pytest.mark.parametrize("n", [20, 60])
def test_a_deep_tree_is_divided_at_its_root_and_learnt(n: int) -> None:
    target = Deep(n, 7, 2)
    found, asked = learnt(target, n, 1_920)
    fresh = drawn(n, 4_000, 9)
    assert found.divided_by == target.tests[0]
    assert np.mean(predict(found.sketch, fresh) != target(fresh)) < 0.1
    assert 0 <= 1_920 + len(asked.inputs) - found.known < 10, "but for inputs that were drawn later, too"


def test_the_same_seed_asks_the_same() -> None:
    one, two = (learnt(Deep(60, 7), 60, 960) for _ in range(2))
    assert one[1].inputs == two[1].inputs
    assert one[0].sketch == two[0].sketch


def test_the_sketch_stays_the_same_object_while_nothing_changes() -> None:
    target = Deep(20, 7)
    found, _ = learnt(target, 20, 1_600)
    assert found.divided_by is not None
    assert found.sketch is found.sketch


def test_what_both_sides_are_split_by_is_put_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first race is made to end with a wrong feature; both sides then find the right one."""
    target, wrong, races = Deep(20, 7), [], []
    root = int(target.tests[0])

    def race(stars: DrawnRegion, features: list[int]) -> Any:
        races.append(features)
        if len(races) == 1:
            wrong.append(next(feature for feature in features if feature not in target.tests[:7]))
            return wrong[0]
        return (yield from most_influential(stars, features))

    monkeypatch.setattr(regions, "most_influential", race)
    found, _ = learnt(target, 20, 1_920)
    assert wrong != [root]
    assert found.divided_by == root
