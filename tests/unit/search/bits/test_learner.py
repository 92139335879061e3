"""The learner keeps up with the answers, and believes in a feature only when it has seen it matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from driving import driven
from fidelitree.search.bits.learner import SEARCH_ALL, BitLearner
from fidelitree.search.bits.sketch import predict
from fidelitree.trees.nested import size
from small import Bits, bits_asked, cube

if TYPE_CHECKING:
    from collections.abc import Callable

Codes = np.ndarray


class Junta:
    """A target of a few of n features, with two or more labels, that counts what a learner asks it."""

    def __init__(self, n: int, relevant: list[int], function: Callable[[Bits], Codes]) -> None:
        self.n, self.relevant, self._function = n, relevant, function
        self.asked: list[bytes] = []

    def __call__(self, bits: Bits) -> Codes:
        return np.asarray(self._function(bits[:, self.relevant].astype(np.int64)), np.intp)

    def ask(self, bits: Bits) -> Codes:
        assert bits.dtype == np.uint8
        assert bits.shape == (1, self.n)
        self.asked.append(bits.tobytes())
        return self(bits)


FUNCTIONS: dict[str, Callable[[Bits], Codes]] = {
    "parity": lambda x: x.sum(axis=1) % 2,
    "and": lambda x: x.min(axis=1),
    "choice": lambda x: np.where(x[:, 0], x[:, 1], x[:, 2]),
    "sum": lambda x: x.sum(axis=1),
}
sizes = pytest.mark.parametrize("n", [3, 8, 24, 25, 60, 300])
functions = pytest.mark.parametrize("function", FUNCTIONS)


def junta(n: int, function: str) -> Junta:
    relevant = np.random.default_rng(n).permutation(n)[:3].tolist()
    return Junta(n, relevant, FUNCTIONS[function])


def learner_of(target: Junta) -> BitLearner:
    return BitLearner(target.n, np.random.default_rng(1))


def batches(n: int, count: int, rows: int = 16) -> list[Bits]:
    return list(np.random.default_rng(n + 1).integers(0, 2, (count, rows, n)).astype(np.uint8))


@sizes
@functions
def test_no_feature_is_believed_to_matter_that_does_not(n: int, function: str) -> None:
    target = junta(n, function)
    learner = learner_of(target)
    for batch in batches(n, 12):
        driven(learner.learn(batch, target(batch)), target.ask)
        assert len(set(learner.relevant)) == len(learner.relevant)
        assert set(learner.relevant) <= set(target.relevant)


@sizes
@functions
def test_it_ends_with_the_target_itself(n: int, function: str) -> None:
    """Twelve batches are plenty: each input shows the junta one of eight cells, and no cell is left out."""
    target = junta(n, function)
    learner = learner_of(target)
    for batch in batches(n, 12):
        driven(learner.learn(batch, target(batch)), target.ask)
    fresh = np.random.default_rng(n + 2).integers(0, 2, (500, n)).astype(np.uint8)
    assert learner.sketch is not None
    assert predict(learner.sketch, fresh).tolist() == target(fresh).tolist()
    assert size(learner.sketch) == {"parity": 8, "and": 4, "choice": 4, "sum": 8}[function]


@sizes
@functions
def test_it_says_which_answers_its_tree_had_wrong(n: int, function: str) -> None:
    target = junta(n, function)
    learner = learner_of(target)
    for count, batch in enumerate(batches(n, 6)):
        before = learner.sketch
        wrong = driven(learner.learn(batch, target(batch)), target.ask)
        assert wrong.all() if count == 0 else wrong.tolist() == (predict(before, batch) != target(batch)).tolist()


@sizes
@functions
def test_every_mistake_is_learnt(n: int, function: str) -> None:
    """What it was told is in the pool, and after a few batches nothing of it is answered wrongly any more."""
    target = junta(n, function)
    learner = learner_of(target)
    told: set[bytes] = set()
    for batch in batches(n, 8):
        driven(learner.learn(batch, target(batch)), target.ask)
        told |= {row.tobytes() for row in batch}
    pool = learner.pool
    assert {row.astype(np.uint8).tobytes() for row in pool.bits} == told | set(target.asked)
    assert pool.codes.tolist() == target(pool.bits.astype(np.uint8)).tolist()
    assert len(set(target.asked)) == len(target.asked), "nothing is asked twice"
    assert predict(learner.sketch, pool.bits).tolist() == pool.codes.tolist()


def test_an_input_that_is_wrong_again_and_again_is_learnt_in_the_end() -> None:
    """One input of eight is not worth the three splits it takes, until it was wrong often enough."""
    target = Junta(3, [0, 1, 2], FUNCTIONS["and"])
    learner = learner_of(target)
    rows = cube(3)
    driven(learner.learn(rows, target(rows)), target.ask)
    assert learner.sketch == 0
    lessons = 0
    while driven(learner.learn(rows, target(rows)), target.ask).any():
        lessons += 1
    assert 1 <= lessons <= 3
    assert size(learner.sketch) == 4


def test_right_answers_change_neither_the_tree_nor_what_is_asked() -> None:
    target = junta(60, "choice")
    learner = learner_of(target)
    for batch in batches(60, 12):
        driven(learner.learn(batch, target(batch)), target.ask)
    sketch, asked, stored = learner.sketch, len(target.asked), learner.pool.size
    more = batches(61, 1)[0][:, :60]
    assert not driven(learner.learn(more, target(more)), target.ask).any()
    assert learner.sketch is sketch
    assert len(target.asked) == asked
    assert learner.pool.size == stored + len(more)


@pytest.mark.parametrize("n", [24, 60, 300])
def test_finding_three_features_takes_a_few_walks(n: int) -> None:
    """At most four walks' worth: three that find something, and one hybrid each for mistakes that teach nothing."""
    target = junta(n, "parity")
    learner = learner_of(target)
    for batch in batches(n, 12):
        driven(learner.learn(batch, target(batch)), target.ask)
    assert len(target.asked) <= 4 * np.ceil(np.log2(n)) + 8
    assert set(learner.relevant) == set(target.relevant)


def test_a_constant_is_one_leaf_and_no_query() -> None:
    target = Junta(40, [0], lambda x: np.full(len(x), 2))
    learner = learner_of(target)
    for batch in batches(40, 3):
        driven(learner.learn(batch, target(batch)), target.ask)
    assert learner.sketch == 2
    assert learner.relevant == target.asked == []


def test_one_feature_is_found_among_many() -> None:
    target = Junta(300, [123], lambda x: x[:, 0])
    learner = learner_of(target)
    batch = batches(300, 1)[0]
    driven(learner.learn(batch, target(batch)), target.ask)
    assert learner.relevant == [123]
    assert learner.sketch == bits_asked((123, 0, 1))
    assert len(target.asked) <= 9


def test_a_mistake_that_contradicts_nothing_is_looked_into() -> None:
    """The tree says x0, the target x0 AND x7; the mistake differs from all that is known in x1, which is known to
    matter somewhere else, so only a hybrid of the two shows that something else is behind it.
    """
    target = Junta(30, [0, 7], lambda x: x.min(axis=1))
    learner = learner_of(target)
    rows = np.ones((4, 30), np.uint8)
    rows[[1, 2, 3], [20, 21, 22]] = 0
    learner.pool.add(rows, target(rows))
    learner.sketch, learner.relevant = bits_asked((0, 0, 1)), [0, 1]
    mistake = np.zeros((1, 30), np.uint8)
    mistake[0, 0] = 1
    assert driven(learner.learn(mistake, target(mistake)), target.ask).tolist() == [True]
    assert learner.relevant == [0, 1, 7]
    assert 1 <= len(target.asked) <= 1 + 5


def test_a_feature_that_is_found_again_is_listed_once() -> None:
    target = Junta(8, [2], lambda x: x[:, 0])
    learner = learner_of(target)
    one, two = np.zeros(8, np.uint8), np.ones(8, np.uint8)
    for _ in range(5):
        driven(learner.walk(one, two, 0), target.ask)
    assert learner.relevant == [2]


def test_what_is_known_is_not_asked() -> None:
    target = Junta(3, [0, 1, 2], FUNCTIONS["parity"])
    learner = learner_of(target)
    for _ in range(3):  # seven splits for four errors pay once they were made again
        driven(learner.learn(cube(3), target(cube(3))), target.ask)
    assert predict(learner.sketch, cube(3)).tolist() == target(cube(3)).tolist()
    assert target.asked == []


def test_the_same_randomness_gives_the_same_tree_and_queries() -> None:
    runs = []
    for _ in range(2):
        target = junta(60, "sum")
        learner = learner_of(target)
        for batch in batches(60, 6):
            driven(learner.learn(batch, target(batch)), target.ask)
        runs.append((learner.sketch, learner.relevant, target.asked))
    assert runs[0] == runs[1]


def test_a_mistake_in_a_leaf_without_a_contradiction_is_only_stored() -> None:
    """A new label where nothing was seen before: there is no other input to walk from."""
    target = Junta(30, [0, 1], lambda x: x[:, 0] * (1 + x[:, 1]))
    learner = learner_of(target)
    learner.sketch = bits_asked((0, 0, 0))
    learner.relevant = [0]
    row = np.zeros((1, 30), np.uint8)
    row[0, 0] = 1
    assert driven(learner.learn(row, target(row)), target.ask).tolist() == [True]
    assert target.asked == []
    assert learner.sketch == 1


def test_more_features_than_it_looks_at_are_searched_once_all_of_them_matter() -> None:
    """Three bits choose one of eight parities: without a look ahead no test seems to help."""
    starts, sizes = [3, 6, 9, 12, 15, 18, 21, 23], [3, 3, 3, 3, 3, 3, 2, 2]

    def chosen(batch: Any) -> Any:
        address = batch[:, 0] + 2 * batch[:, 1] + 4 * batch[:, 2]
        parities = np.stack([batch[:, s : s + m].sum(axis=1) % 2 for s, m in zip(starts, sizes, strict=True)])
        return np.take_along_axis(parities, address[None].astype(np.intp), axis=0)[0]

    assert sum(sizes) + 3 == 25 > SEARCH_ALL
    result = ft.distill(chosen, ft.ProductSpace.bernoulli(25), 0.05, max_queries=4_000)
    assert result.certificate.holds
