"""certify audits anything that predicts, on inputs that nobody can train for."""

from __future__ import annotations

import hashlib
import secrets
import sys
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.events import Event, TreeJudged, UnderTest
from fidelitree.runs.agree import audit
from fidelitree.runs.agree.claim import FEW, HowFar, patience_of
from fidelitree.spaces.draw import Stream, draw
from fidelitree.theory.sequential import error_bound

SPACE = ft.ProductSpace.bernoulli(20, 0.3)
TARGET = ft.targets.balanced(SPACE, 4, seed=1)


def asked_target(batch: np.ndarray) -> np.ndarray:
    """The target as a stranger's callable: nothing about it is known."""
    return TARGET.predict(batch)


def first_bit(batch: np.ndarray) -> np.ndarray:
    return batch[:, 0]


class Model:
    def predict(self, batch: np.ndarray) -> np.ndarray:
        return TARGET.predict(batch)


@pytest.mark.parametrize("predictor", [TARGET, asked_target, Model()], ids=["tree", "callable", "estimator"])
def test_a_perfect_predictor_is_certified_without_an_error(predictor: object) -> None:
    certificate = ft.certify(predictor, asked_target, SPACE, 0.1, 0.05, seed=0)
    assert certificate.holds
    assert (certificate.errors, certificate.method, certificate.protocol) == (0, "sequential", "separate")
    assert certificate.samples == certificate.queries["certify"] == 35


def test_a_bad_predictor_is_shown_to_be_bad_and_the_bound_is_true() -> None:
    constant = ft.Tree.constant(SPACE, 0)
    certificate = ft.certify(constant, asked_target, SPACE, 0.05, 0.05, seed=0)
    assert not certificate.holds
    assert "NOT certified" in str(certificate)
    assert certificate.error_bound >= ft.tree_error(constant, TARGET, SPACE) > 0.2
    assert certificate.samples < 200


def undecided(batch: np.ndarray) -> np.ndarray:
    """Wrong about every tenth input, whatever it is: neither side of epsilon = 0.1 can ever be shown."""
    return np.arange(len(batch)) % 10 == 4


def never(batch: np.ndarray) -> np.ndarray:
    return np.zeros(len(batch), bool)


@pytest.mark.parametrize(("limit", "samples"), [(None, 1031), (20, 20), (500, 487), (2000, 1943)])
def test_an_undecided_audit_ends_when_patience_or_the_budget_does(limit: int | None, samples: int) -> None:
    """Patience is 64 ln(1/delta)/epsilon = 1030.04 answers; of a limit some rows go to inputs that are asked again."""
    certificate = ft.certify(undecided, never, SPACE, 0.1, 0.2, seed=3, max_queries=limit)
    assert certificate.samples == samples
    assert 0.09 * samples < certificate.errors < 0.11 * samples


@pytest.mark.parametrize(("wrong", "asked"), [(11, 40), (12, 35)])
def test_an_audit_ends_when_the_error_is_shown_to_be_too_large(wrong: int, asked: int) -> None:
    """Among the first 35, the e-value against "at most 0.1" is 92.7 after 11 errors and 417 after 12; 400 are enough.

    That is where the lower end, at its share of delta, is above epsilon.
    """
    certificate = ft.certify(
        lambda batch: np.arange(len(batch)) < wrong, never, SPACE, 0.1, 0.05, seed=0, max_queries=40
    )
    assert certificate.queries == {"certify": asked}
    assert certificate.errors == (12 if wrong == 12 else 11 + 5)
    assert certificate.interval[0] > 0.1, "by all answers, those of the last look too"


@pytest.mark.parametrize("within", [0.05, 0.02])
def test_without_a_claim_both_ends_of_the_error_come_close(within: float) -> None:
    certificate = ft.certify(undecided, never, SPACE, seed=3, within=within)
    low, high = certificate.interval
    assert high - low <= 2 * within
    assert low < 0.1 < high == certificate.error_bound
    assert (certificate.epsilon, certificate.ledger, certificate.level) == (None, "interval", 0.025)
    assert certificate.samples < 5 * 1.96**2 * 0.1 * 0.9 / within**2, "5 times what a number fixed beforehand takes"
    assert ft.Certificate.from_json(certificate.to_json()) == certificate


def test_a_small_space_is_counted_where_no_claim_is_made() -> None:
    space = ft.ProductSpace.bernoulli(12, 0.3)
    certificate = ft.certify(lambda batch: batch[:, 0], lambda batch: batch[:, 1], space)
    assert certificate.interval == (certificate.error_bound,) * 2
    assert certificate.error_bound == pytest.approx(2 * 0.3 * 0.7)


def test_two_trees_are_compared_exactly_at_any_number_of_features() -> None:
    space = ft.ProductSpace.bernoulli(3000, 0.3)
    one, two = ft.targets.balanced(space, 3, seed=1), ft.targets.balanced(space, 3, seed=2)
    certificate = ft.certify(one, two, space, 0.9)
    assert certificate.method == "exact"
    assert certificate.delta == 0
    assert certificate.error_bound == ft.tree_error(one, two, space)
    assert certificate.samples == 0


def test_a_small_space_is_enumerated_where_that_is_cheaper() -> None:
    space = ft.ProductSpace.bernoulli(5, 0.3)
    majority = ft.targets.majority(5)
    certificate = ft.certify(ft.Tree.constant(space, 0), majority, space, 0.05, 0.05)
    assert (certificate.method, certificate.samples) == ("exact", 32)
    assert certificate.error_bound == pytest.approx(ft.analyze(majority, space).mean, abs=1e-15)


@pytest.mark.parametrize(("values", "method"), [(35, "exact"), (36, "sequential")])
def test_drawing_is_preferred_where_it_is_cheaper(values: int, method: str) -> None:
    """35 answers without an error certify 0.1 at 0.0475, the share of the upper end."""
    space = ft.ProductSpace([ft.Categorical("job", {f"job {i}": 1 / values for i in range(values)})])
    certificate = ft.certify(lambda batch: batch["job"], lambda batch: batch["job"], space, 0.1, 0.05, seed=0)
    assert (certificate.method, certificate.samples) == (method, 35)


@pytest.mark.parametrize(("limit", "method", "asked"), [(32, "exact", 32), (31, "sequential", 31)])
def test_a_space_is_counted_within_the_budget_only(limit: int, method: str, asked: int) -> None:
    space = ft.ProductSpace.bernoulli(5)
    certificate = ft.certify(first_bit, first_bit, space, 0.05, 0.05, seed=0, max_queries=limit)
    assert (certificate.method, certificate.queries) == (method, {"certify": asked})


def test_an_exact_error_that_rounding_puts_above_one_is_one() -> None:
    space = ft.ProductSpace.bernoulli(5, 0.2)  # the 32 probabilities add up to 1.0000000000000007
    assert ft.certify(lambda batch: 1 - batch[:, 0], first_bit, space, 0.1).error_bound == 1


def test_a_table_is_always_counted() -> None:
    space = ft.ProductSpace.bernoulli(12)
    table = ft.targets.TruthTable(np.arange(2**12) % 2)
    certificate = ft.certify(lambda batch: batch[:, 0], table, space, 0.1)
    assert (certificate.method, certificate.error_bound) == ("exact", 0.0)


def test_epsilon_0_needs_a_space_that_can_be_enumerated() -> None:
    space = ft.ProductSpace.bernoulli(10)
    assert ft.certify(lambda b: b[:, 0], lambda b: b[:, 0], space, 0).holds
    with pytest.raises(ft.ParameterError, match=r"epsilon must be above 0 where 2\^10 inputs are too many to ask all"):
        ft.certify(lambda b: b[:, 0], lambda b: b[:, 0], space, 0, max_queries=1023)
    with pytest.raises(ft.ParameterError, match=r"epsilon must be above 0 where 2\^40 inputs are too many to ask all"):
        ft.certify(lambda b: b[:, 0], lambda b: b[:, 0], ft.ProductSpace.bernoulli(40), 0)


def test_epsilon_0_asks_a_moderate_number_unless_more_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "ENUMERATE_UNASKED", 1 << 5)
    assert ft.certify(first_bit, first_bit, ft.ProductSpace.bernoulli(5), 0).samples == 32
    larger = ft.ProductSpace.bernoulli(6)
    with pytest.raises(ft.ParameterError, match=r"2\^6 inputs are too many to ask all"):
        ft.certify(first_bit, first_bit, larger, 0)
    assert ft.certify(first_bit, first_bit, larger, 0, max_queries=64).samples == 64


def test_no_more_inputs_are_counted_than_a_table_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "MOST_LISTED", 1 << 5)
    table = ft.targets.TruthTable(np.arange(2**5) % 2)
    assert ft.certify(first_bit, table, ft.ProductSpace.bernoulli(5), 0.3, seed=0).method == "exact"
    larger = ft.targets.TruthTable(np.arange(2**6) % 2)
    assert ft.certify(first_bit, larger, ft.ProductSpace.bernoulli(6), 0.3, seed=0).method == "sequential"


def test_a_predictor_is_known_by_what_it_says_about_inputs_that_anybody_can_draw() -> None:
    labels = TARGET.predict(draw(SPACE.whole, Stream("fingerprint"), 0, FEW).T)
    digest = hashlib.sha256(repr(labels.tolist()).encode()).hexdigest()
    certificate = ft.certify(asked_target, asked_target, SPACE, 0.1, seed=0)
    assert certificate.tree_digest == f"answers:{digest}"
    assert "this predictor agrees with the target on at least " in str(certificate)
    assert ": this tree agrees" in str(ft.certify(TARGET, asked_target, SPACE, 0.1, seed=0))


def test_the_certificate_says_what_was_asked_for_and_what_it_takes_for_granted() -> None:
    """Every test input was asked anew, so nothing is assumed about the target."""
    certificate = ft.certify(asked_target, asked_target, SPACE, 0.05, seed=7)
    assert (certificate.epsilon, certificate.delta, certificate.level) == (0.05, 0.05, 0.95 * 0.05)
    assert (certificate.seed, certificate.space_digest) == (7, SPACE.digest)
    assert certificate.assumes == ("inputs follow the stated product distribution",)


def test_a_target_that_fails_is_asked_again_only_where_that_is_wanted() -> None:
    calls: list[int] = []

    def fails_once(batch: np.ndarray) -> np.ndarray:
        calls.append(len(batch))
        if len(calls) == 1:
            raise ConnectionError("the line is dead")
        return asked_target(batch)

    with pytest.raises(ft.TargetError, match="the line is dead"):
        ft.certify(TARGET, fails_once, SPACE, 0.1, seed=0)
    calls.clear()
    assert ft.certify(TARGET, fails_once, SPACE, 0.1, seed=0, retries=1).holds


def test_an_observer_follows_the_audit() -> None:
    events: list[Event] = []
    certificate = ft.certify(undecided, never, SPACE, 0.1, 0.2, seed=3, max_queries=60, observer=events.append)
    assert [event for event in events if isinstance(event, UnderTest)] == [
        UnderTest(0, 0, 0, 0, 0.19, 20),
        UnderTest(20, 0, 2, 20, 0.19, 47),
    ]
    assert [event for event in events if isinstance(event, TreeJudged)] == [
        TreeJudged(20, 0, 2 / 20, error_bound(2, 20, 0.19)),
        TreeJudged(60, 0, 6 / 60, error_bound(6, 60, 0.19)),
    ]
    assert certificate.error_bound == error_bound(6, 60, 0.19)


def test_the_inputs_depend_on_the_predictor_as_well_as_on_the_seed() -> None:
    seen: list[bytes] = []

    def spy(batch: np.ndarray) -> np.ndarray:
        seen.append(np.ascontiguousarray(batch).tobytes())
        return asked_target(batch)

    ft.certify(ft.Tree.constant(SPACE, 0), spy, SPACE, 0.4, seed=5)
    ft.certify(ft.Tree.constant(SPACE, 0), spy, SPACE, 0.4, seed=5)
    assert seen[0] == seen[len(seen) // 2]
    first = len(seen)
    ft.certify(ft.Tree.constant(SPACE, 1), spy, SPACE, 0.4, seed=5)
    ft.certify(ft.Tree.constant(SPACE, 0), spy, SPACE, 0.4, seed=6)
    assert len({seen[0][:200], seen[first][:200]}) == 2
    assert seen[-1][:200] != seen[0][:200]


def test_without_a_seed_the_machines_entropy_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fidelitree.spaces.draw.fresh_seed", lambda: secrets.randbits(53))
    one, two = (ft.certify(TARGET, asked_target, SPACE, 0.1) for _ in range(2))
    assert one.seed != two.seed
    assert not one.seed_chosen
    assert ft.certify(TARGET, asked_target, SPACE, 0.1, seed=one.seed).seed_chosen


def test_a_budget_ends_the_audit_with_what_is_certified() -> None:
    events: list[Event] = []
    certificate = ft.certify(TARGET, asked_target, SPACE, 0.01, seed=0, max_queries=100, observer=events.append)
    assert certificate.samples == 100
    assert not certificate.holds
    assert 0.01 < certificate.error_bound < 0.06
    assert events[-1].asked == 100


def test_ctrl_c_and_time_end_it_too() -> None:
    def interrupt(event: Event) -> None:
        raise KeyboardInterrupt

    def stopping(batch: np.ndarray) -> np.ndarray:
        raise KeyboardInterrupt

    assert ft.certify(TARGET, stopping, SPACE, 0.1, seed=0).error_bound == 1
    assert ft.certify(TARGET, asked_target, SPACE, 0.1, seed=0, max_seconds=0).samples == 0
    with pytest.raises(KeyboardInterrupt):
        ft.certify(TARGET, asked_target, SPACE, 0.01, seed=0, observer=interrupt)


def test_errors_name_the_predictor() -> None:
    with pytest.raises(ft.ParameterError, match="predictor must be a tree, a callable, or have a predict"):
        ft.certify(3, asked_target, SPACE)
    with pytest.raises(ft.ParameterError, match="every batch: labels must be one per input: it received 4096"):
        ft.certify(lambda batch: batch, asked_target, SPACE)
    with pytest.raises(ft.ParameterError, match=r"epsilon must be at least 0 and below 1; got 5 - did you mean 0\.05"):
        ft.certify(TARGET, asked_target, SPACE, 5)
    with pytest.raises(ft.ParameterError, match="delta must be above 0"):
        ft.certify(TARGET, asked_target, SPACE, 0.1, 0)
    with pytest.raises(ft.ParameterError, match="space must be a ProductSpace"):
        ft.certify(TARGET, asked_target, 20)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"deterministic": "no"}, "deterministic must be True or False; got 'no'"),
        ({"observer": 3}, "observer must be callable: it is given one event after another; got 3"),
        ({"seed": -1}, "seed must be at least 0; got -1"),
        ({"seed": 1.5}, "seed must be a whole number; got 1.5"),
    ],
)
@pytest.mark.parametrize("target", [TARGET, asked_target], ids=["exact", "drawn"])
def test_arguments_are_refused_whatever_way_the_audit_takes(target: Any, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        ft.certify(TARGET, target, SPACE, **wrong)
    assert str(caught.value) == message


def test_time_that_ends_while_all_inputs_are_asked_certifies_nothing() -> None:
    def first(batch: np.ndarray) -> np.ndarray:
        return batch[:, 0]

    for epsilon in (0.05, 0):
        certificate = ft.certify(first, first, ft.ProductSpace.bernoulli(4), epsilon, max_seconds=0)
        assert (certificate.method, certificate.error_bound, certificate.holds) == ("sequential", 1.0, False)
        assert (certificate.errors, certificate.samples) == (0, 0)


def test_the_smallest_numbers_are_as_good_as_any() -> None:
    certificate = ft.certify(TARGET, asked_target, SPACE, 5e-324, 1e-200, seed=0, max_queries=10)
    assert (certificate.samples, certificate.error_bound, certificate.holds) == (10, 1.0, False)
    assert patience_of(64, 5e-324, 0.05) == patience_of(64, 0.05, 5e-324) == sys.maxsize
    assert patience_of(64, 0.1, 0.2) == np.ceil(64 * np.log(5) / 0.1)


def test_a_predictor_that_raises_is_named() -> None:
    def broken(batch: np.ndarray) -> np.ndarray:
        raise KeyError("age")

    with pytest.raises(ft.ParameterError) as caught:
        ft.certify(broken, asked_target, SPACE)
    assert str(caught.value) == "predictor must label every batch: it raised KeyError on a batch of 4096 inputs: 'age'"
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_predictor_that_ends_the_process_is_named() -> None:
    with pytest.raises(ft.ParameterError, match=r"^predictor must label every batch: it wanted to end the process"):
        ft.certify(lambda batch: sys.exit(0), asked_target, SPACE)


@pytest.mark.parametrize("dtype", [str, object])
def test_text_and_numbers_are_not_compared(dtype: type) -> None:
    def words(batch: np.ndarray) -> np.ndarray:
        return np.where(batch[:, 0] == 1, "yes", "no").astype(dtype)

    with pytest.raises(ft.ParameterError) as caught:
        ft.certify(words, asked_target, SPACE)
    assert str(caught.value) == "predictor must answer labels of the target's kind; it answers str, and the target int"
    with pytest.raises(ft.ParameterError, match="it answers int, and the target str"):
        ft.certify(TARGET, words, SPACE)
    assert ft.certify(lambda batch: asked_target(batch) == 1, asked_target, SPACE, seed=0).holds


@pytest.mark.parametrize(
    ("space", "rows"),
    [
        (ft.ProductSpace.bernoulli(8_192), 4_096),
        (ft.ProductSpace.bernoulli(65_536), 512),
        (ft.ProductSpace([ft.Numeric(f"x{k}", 0, 1) for k in range(2_048)]), 2_048),
    ],
    ids=["usual", "many", "numbers"],
)
def test_the_fingerprint_of_a_wide_space_takes_fewer_inputs(space: ft.ProductSpace, rows: int) -> None:
    received: list[int] = []

    def constant(batch: Any) -> np.ndarray:
        received.append(len(batch["x0"] if isinstance(batch, dict) else batch))
        return np.zeros(received[-1], int)

    ft.certify(constant, lambda batch: pytest.fail("asked"), space, max_queries=0)
    assert received == [rows]


ROOMS = ft.ProductSpace(
    [ft.Numeric.from_values("rooms", [1, 2, 2, 5]), ft.Categorical("job", {"clerk": 0.9, "nurse": 0.1})]
)
AGES = ft.ProductSpace([ft.Numeric("age", 18, 90), ft.Categorical("job", {"clerk": 0.9, "nurse": 0.1})])


def nurses(batch: dict[str, np.ndarray]) -> np.ndarray:
    return batch["job"] == "nurse"


def test_a_small_mixed_space_is_enumerated() -> None:
    for predictor in (ft.Tree.constant(ROOMS, False), lambda batch: np.zeros(len(batch["rooms"]), bool)):
        certificate = ft.certify(predictor, nurses, ROOMS, 0.05)
        assert (certificate.method, certificate.samples) == ("exact", 6)
        assert certificate.error_bound == pytest.approx(0.1, rel=1e-12)


def test_an_endless_space_is_drawn_from() -> None:
    certificate = ft.certify(lambda batch: batch["job"] != "clerk", nurses, AGES, 0.05, seed=0)
    assert (certificate.method, certificate.holds, certificate.errors) == ("sequential", True, 0)
    with pytest.raises(ft.ParameterError) as caught:
        ft.certify(nurses, nurses, AGES, 0)
    assert str(caught.value) == "epsilon must be above 0 where infinitely many inputs are too many to ask all; got 0"


def test_a_tree_of_another_space_is_refused() -> None:
    with pytest.raises(ft.ParameterError, match="space must have the tree's 2 features"):
        ft.certify(ft.Tree.constant(AGES, False), nurses, ROOMS)


def test_looks_that_cannot_end_an_audit_are_asked_together(monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[int] = []
    known: set[bytes] = set()

    def heard(batch: np.ndarray) -> np.ndarray:
        if not (found := {row.tobytes() for row in batch}) <= known:  # else they are asked again
            batches.append(len(batch))
        known.update(found)
        return batch[:, 0] & batch[:, 1]

    def audited() -> ft.Certificate:
        batches.clear()
        known.clear()
        return ft.certify(ft.Tree.constant(SPACE, 0), heard, SPACE, within=0.02, seed=4)

    together, rounds = audited(), len(batches)
    assert sum(batches) == together.samples
    monkeypatch.setattr(HowFar, "_narrow", lambda *arguments: True)
    assert audited() == together
    assert rounds <= 6
    assert len(batches) >= 10
